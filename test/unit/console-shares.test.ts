// Shares as the console judges them, and what the page of a share link makes of the messages of the service.

import { describe, expect, it } from 'vitest';
import type { Share, SharedView } from '../../broker/console/api/operations.ts';
import { skewOf } from '../../broker/console/state/age.ts';
import { chosenShares, expiresOf, standingOf } from '../../broker/console/state/shares/share-view.ts';
import {
  alive,
  down,
  ended,
  failed,
  firstState,
  positionsMost,
  shareLink,
  shareTokenOf,
  wayOf,
  withPosition,
  withTrack,
  withView,
} from '../../broker/console/state/shares/shared-view.ts';
import { languageIn } from '../../broker/console/words/base/page-words.ts';
import { agoText, spanText, unitText } from '../../broker/console/words/base/spans.ts';
import { sharePageTexts as ar } from '../../build/words/sharePage/ar.ts';
import { sharePageTexts as de } from '../../build/words/sharePage/de.ts';
import { sharePageTexts as en } from '../../build/words/sharePage/en.ts';
import { sharePageTexts as es } from '../../build/words/sharePage/es.ts';
import { sharePageTexts as fr } from '../../build/words/sharePage/fr.ts';
import { sharePageWords } from '../../build/words/sharePage.ts';
import { sentencesOf } from '../support/http/console-page.ts';

const token = `share-${'0f'.repeat(32)}`;
const nowS = 1_763_700_000;

const position = (timestamp: number, latitude = 43.6) => ({
  timestamp,
  latitude,
  longitude: -79.3,
  speed: 50,
  heading: 90,
});

const view = (change: Partial<SharedView> = {}): SharedView => ({
  status_code: '200',
  success: '1',
  kind: 'live',
  title: '',
  startTime: 0,
  endTime: 0,
  expires: nowS + 3600,
  position: position(nowS),
  ...change,
});

describe('the link of a share', () => {
  it('has the token in its fragment, which no browser sends', () => {
    const link = new URL(shareLink('https://fleet.example', token));
    expect(link.pathname + link.search).toBe('/console/share');
    expect(shareTokenOf(link.hash)).toBe(token);
  });

  it.each([
    '',
    '#',
    `#${token.slice(0, -1)}`,
    `#${token}0`,
    `#x${token}`,
    '#share-',
    `#${token.toUpperCase()}`,
  ])('with the fragment %j is incomplete', (fragment) => expect(shareTokenOf(fragment)).toBeNull());
});

describe('the page of a share link', () => {
  const begun = withView(firstState, view(), 0);

  it('begins with the last position, and keeps what is newer only', () => {
    expect(begun.positions).toEqual([position(nowS)]);
    expect(withPosition(begun, position(nowS, 1))).toBe(begun);
    expect(withPosition(begun, position(nowS - 5))).toBe(begun);
    expect(withPosition(begun, position(nowS + 5)).positions).toHaveLength(2);
    expect(withView(firstState, view({ position: null }), 0).positions).toEqual([]);
  });

  it(`keeps ${positionsMost} positions at most, the newest`, () => {
    let state = begun;
    for (let at = 1; at <= positionsMost; at += 1) state = withPosition(state, position(nowS + at));
    expect(state.positions).toHaveLength(positionsMost);
    expect(state.positions?.at(-1)?.timestamp).toBe(nowS + positionsMost);
  });

  it('is live only after a sign of life, and not after silence or a failure', () => {
    expect(begun.link).toBe('opening');
    const live = alive(begun, 5);
    expect(live).toMatchObject({ link: 'live', aliveMs: 5, fault: null });
    expect(down(live)).toMatchObject({ link: 'down', aliveMs: 5 });
    expect(failed(live, 'busy')).toMatchObject({ link: 'down', fault: 'busy' });
  });

  it('names the reason of an end as far as it is known', () => {
    const endOf = (state: typeof begun, s: number) => ended(state, s * 1000).end;
    expect(endOf(firstState, nowS)).toBe('unknown');
    expect(endOf(begun, nowS + 60)).toBe('revoked');
    expect(endOf(begun, nowS + 3600)).toBe('expired');
    // The clock of this computer is an hour behind that of the service.
    expect(endOf(withView(firstState, view(), 3600), nowS)).toBe('expired');
  });

  it('measures the clock of this computer against that of the service', () => {
    expect(skewOf('Fri, 21 Nov 2025 04:00:00 GMT', Date.parse('2025-11-21T04:01:00.000Z'))).toBe(-60);
    expect(skewOf(null, 0)).toBe(0);
    expect(skewOf('garbled', 0)).toBe(0);
  });

  it('draws the way as lines that break where nothing was reported for long', () => {
    const state = withTrack(withView(firstState, view({ kind: 'trip', position: null }), 0), [
      position(nowS),
      position(nowS + 10, 43.7),
      position(nowS + 5000, 44),
      position(nowS + 5010, 44.1),
    ]);
    expect(wayOf(state.positions ?? []).map((line) => line.length)).toEqual([2, 2]);
  });
});

describe('the language of the page of a share link', () => {
  it('is the first of the browser that there is, else English', () => {
    expect(languageIn(sharePageWords, ['nl-NL', 'de-AT', 'en'])).toBe('de');
    expect(languageIn(sharePageWords, ['nl', 'ar-EG'])).toBe('ar');
    expect(languageIn(sharePageWords, [])).toBe('en');
    expect(languageIn(sharePageWords, ['constructor', 'toString'])).toBe('en');
  });

  it.each([
    ['ar', ar],
    ['de', de],
    ['es', es],
    ['fr', fr],
  ] as const)('repeats no English sentence in %s', (_language, texts) => {
    const english = new Set(sentencesOf(en));
    expect(sentencesOf(texts).filter((text) => english.has(text))).toEqual([]);
    expect(texts.until({ time: 'x' })).not.toBe(en.until({ time: 'x' }));
  });

  it('says spans, ages and units by the language', () => {
    expect(spanText(125_000, 'en')).toBe('2 minutes');
    expect(spanText(1000, 'de')).toBe('1 Sekunde');
    expect(agoText(7, 'en')).toBe('7 seconds ago');
    expect(agoText(-3, 'en')).toBe('0 seconds ago');
    expect(unitText(54, 'kilometer-per-hour', 'fr')).toMatch(/^54\skm\/h$/);
    expect(agoText(7, ar.locale)).toMatch(/7/);
  });
});

describe('a share in the list', () => {
  const share = (change: Partial<Share>): Share => ({
    shareID: 'a',
    deviceID: 'van-01',
    kind: 'live',
    title: '',
    startTime: 0,
    endTime: 0,
    expires: nowS + 60,
    createdBy: 'olga',
    createdOn: nowS - 60,
    uses: 0,
    lastUsedOn: 0,
    revokedOn: 0,
    ...change,
  });

  it('is open until its time is over or it is revoked', () => {
    expect(standingOf(share({}), nowS)).toBe('open');
    expect(standingOf(share({ expires: nowS }), nowS)).toBe('expired');
    expect(standingOf(share({ revokedOn: nowS - 1, expires: nowS - 1 }), nowS)).toBe('revoked');
  });

  it('is found by state and by vehicle', () => {
    const all = [
      share({}),
      share({ shareID: 'b', expires: nowS - 1 }),
      share({ shareID: 'c', deviceID: 'van-02' }),
    ];
    const ids = (of: Omit<Parameters<typeof chosenShares>[1], 'nowS'>) =>
      chosenShares(all, { ...of, nowS }).map(({ shareID }) => shareID);
    expect(ids({ show: 'open', vehicle: null })).toEqual(['a', 'c']);
    expect(ids({ show: 'ended', vehicle: null })).toEqual(['b']);
    expect(ids({ show: 'all', vehicle: 'van-01' })).toEqual(['a', 'b']);
  });

  it('lasts as long as was chosen, and at most what a service with a later clock takes', () => {
    expect(expiresOf('4', nowS)).toBe(nowS + 4 * 3600);
    expect(expiresOf('168', nowS)).toBe(nowS + 7 * 86_400 - 60);
  });
});
