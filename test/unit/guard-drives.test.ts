// Recorded drives of real receivers through the relay guard: with an order that stands and a key that reads off all the time (a broken wire), nothing
// is permitted while a sentence of the last two seconds shows more than 3 km/h; with the key on nothing at all is.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createNmeaState, decodeNmea } from '../../agent/core/gnss/nmea.ts';
import { factsOfSentences } from '../../agent/core/kernel/vehicle-guard.ts';
import { createGuard, type GuardFact, type GuardState, recordFact } from '../../agent/guard/facts.ts';
import { askGuard } from '../../agent/guard/guard.ts';
import { guardSetup, orderFact, utcMs } from '../support/guard/guard-rig.ts';
import { sharedData, sharedTitle } from '../support/machine/shared-data.ts';

const kmhOfKnots = 1.852;

/** Speed that a valid RMC shows, km/h; null: another sentence, or none. Decoded here by hand. */
function shownKmh(line: string): number | null {
  const [head = '', , status, , , , , knots = ''] = line.split(',');
  return head.endsWith('RMC') && status === 'A' && knots !== '' ? Number(knots) * kmhOfKnots : null;
}

/** Asks after each sentence, once a second; no permit is kept, so that none holds back the next. */
function replay(text: string, key: boolean) {
  const setup = { ...guardSetup, motion: null, mayLackFix: false };
  let state: GuardState = createGuard();
  let nmea = createNmeaState();
  let atMs = 0;
  let fastMs = Number.NEGATIVE_INFINITY;
  const permits: { readonly sinceFastMs: number }[] = [];
  const take = (fact: GuardFact): void => {
    state = recordFact(setup, state, fact);
  };
  take({ ...orderFact({ expiresMs: utcMs + 1e12 }), atMs });
  for (const line of text.split('\n')) {
    const kmh = shownKmh(line);
    if (kmh !== null) {
      for (let step = 0; step < 10; step += 1) {
        atMs += 100;
        take({ kind: 'step', atMs });
      }
      take({ kind: 'inputs', atMs, askedMs: atMs - 20, ignition: key });
    }
    const decoded = decodeNmea(nmea, new TextEncoder().encode(`${line}\n`));
    nmea = decoded.state;
    for (const fact of factsOfSentences(decoded.sentences, atMs)) take(fact);
    if (kmh === null) continue;
    if (kmh > 3) fastMs = atMs;
    const request = { kind: 'writeCoil', unit: 1, address: 0, on: true } as const;
    const { permit } = askGuard(setup, state, { request, nowMs: atMs, isAllowed: () => true });
    if (permit !== null) permits.push({ sinceFastMs: atMs - fastMs });
  }
  return { permits, seconds: atMs / 1000 };
}

describe.skipIf(sharedData('nmea') === null)(sharedTitle('recorded drives', 'nmea'), () => {
  const folder = sharedData('nmea');
  const files = folder === null ? [] : readdirSync(folder).filter((name) => name.endsWith('.nmea'));
  const drives = files.map((name) => readFileSync(new URL(`nmea/${name}`, folder ?? undefined), 'latin1'));

  it('get no permit while they move, and some while they stand', { timeout: 600_000 }, () => {
    const all = drives.map((text) => replay(text, false));
    const permits = all.flatMap((one) => one.permits);
    const seconds = all.reduce((sum, one) => sum + one.seconds, 0);
    console.log(`${drives.length} recordings, ${seconds} s, ${permits.length} permits`);
    expect(permits.filter(({ sinceFastMs }) => sinceFastMs <= 2000)).toEqual([]);
    expect(permits.length).toBeGreaterThan(100);
    expect(permits.length).toBeLessThan(seconds);
  });

  it('get none with the key on', { timeout: 600_000 }, () => {
    expect(drives.flatMap((text) => replay(text, true).permits)).toEqual([]);
  });
});
