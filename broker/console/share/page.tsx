// The page of a share link: until when, whether it is live, the map, and the same as text.
import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import type { SharePageTexts } from '../../../build/words/sharePage/en.ts';
import { distanceM } from '../../../src/core/geo/geo.ts';
import { formatTime } from '../../../src/core/words/format.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { useNearText } from '../components/places/use-near-text.ts';
import type { SharedPosition, ShareEnd, ShareState } from '../state/shares/shared-view.ts';
import type { Value } from '../state/value.ts';
import { agoText, spanText, unitText } from '../words/base/spans.ts';

// What the map of a share shows, as text: each value with its unit and age.

interface FactsProps {
  readonly state: ShareState;
  readonly texts: SharePageTexts;
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>
        <bdi>{children}</bdi>
      </dd>
    </div>
  );
}

function Nothing({ title, hint }: { readonly title: string; readonly hint?: string }) {
  return (
    <div className="empty">
      <Icon name="map" />
      <strong>{title}</strong>
      {hint === undefined ? null : <p>{hint}</p>}
    </div>
  );
}

/** Where it is: the nearest town in words, and the coordinates. */
function Spot({ at, texts }: { readonly at: SharedPosition; readonly texts: SharePageTexts }) {
  const near = useNearText(at, texts, (km) => unitText(km, 'kilometer', texts.locale));
  const coordinates = `${at.latitude.toFixed(5)}, ${at.longitude.toFixed(5)}`;
  return near === null ? (
    coordinates
  ) : (
    <>
      <bdi>{near}</bdi>{' '}
      <small className="muted nowrap">
        <bdi>{coordinates}</bdi>
      </small>
    </>
  );
}

/** @param nowS by the clock of the service. */
function LiveFacts({ state: { positions, link }, texts, nowS }: FactsProps & { readonly nowS: number }) {
  const { locale } = texts;
  const last = positions?.at(-1);
  // Without a connection it is not known, which the page says above.
  if (last === undefined && link === 'down') return null;
  if (last === undefined) return <Nothing title={texts.noPosition} hint={texts.noPositionHint} />;
  return (
    <>
      <dl className="facts" data-at={last.timestamp}>
        <Fact name={texts.reported}>{agoText(nowS - last.timestamp, locale)}</Fact>
        <Fact name={texts.speed}>
          {last.speed === null ? texts.speedUnknown : unitText(last.speed, 'kilometer-per-hour', locale)}
        </Fact>
        <Fact name={texts.place}>
          <Spot at={last} texts={texts} />
        </Fact>
      </dl>
      <small>{texts.way}</small>
    </>
  );
}

/** Along the positions, m. */
function lengthOf(positions: readonly SharedPosition[]): number {
  return positions.reduce((sum, position, at) => {
    const before = positions[at - 1];
    return before === undefined ? sum : sum + distanceM(before, position);
  }, 0);
}

function TripFacts({ state: { view, positions, fault }, texts }: FactsProps) {
  const { locale } = texts;
  if (view === null) return null;
  const timeOf = (seconds: number): string => formatTime(new Date(seconds * 1000), locale, 'day');
  if (positions?.length === 0) return <Nothing title={texts.noWay} />;
  return (
    <>
      <dl className="facts">
        <Fact name={texts.from}>{timeOf(view.startTime)}</Fact>
        <Fact name={texts.to}>{timeOf(view.endTime)}</Fact>
        {positions === null ? null : (
          <Fact name={texts.distance}>{unitText(lengthOf(positions) / 1000, 'kilometer', locale)}</Fact>
        )}
      </dl>
      {positions === null ? (
        <p className="muted" role="status">
          {fault === null ? texts.loading : `${texts.faults[fault]}. ${texts.faultHint}`}
        </p>
      ) : null}
    </>
  );
}

const ShareMap = lazy(async () => ({ default: (await import('./share-map.tsx')).ShareMap }));

/** The time of this computer in ms, anew each second. */
function useNowMs(): number {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

interface SaidProps {
  readonly icon: IconName;
  readonly title: string;
  readonly hint: string;
  readonly role: 'alert' | 'status';
}

function Said({ icon, title, hint, role }: SaidProps) {
  return (
    <div className="notice look" role={role}>
      <Icon name={icon} />
      <div>
        <strong>{title}</strong>
        <p className="muted">{hint}</p>
      </div>
    </div>
  );
}

const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = title;
  }, [title]);
};

const linkLooks = {
  opening: ['circle-dashed', 'badge'],
  live: ['signal', 'badge ok'],
  down: ['wifi-off', 'badge look'],
} as const;

/** Whether the page is live. The state is announced when it changes; the seconds beside it are not. */
function LinkState({ state, texts }: { readonly state: ShareState; readonly texts: SharePageTexts }) {
  const [icon, look] = linkLooks[state.link];
  return (
    <span className={look} role="status" data-link={state.link}>
      <Icon name={icon} />
      {texts.link[state.link]}
    </span>
  );
}

interface StateProps {
  readonly state: ShareState;
  readonly texts: SharePageTexts;
}

/** Why the page is not live, if it is not. */
function Disturbance({ state, texts, nowMs }: StateProps & { readonly nowMs: number }) {
  const { link, fault, aliveMs, view } = state;
  if (view?.kind === 'trip' || (link !== 'down' && fault === null)) return null;
  const hint =
    aliveMs === 0 ? texts.faultHint : texts.downHint({ span: spanText(nowMs - aliveMs, texts.locale) });
  return (
    <div className="notice look">
      <Icon name="triangle-alert" />
      <div>
        <strong role="alert">{fault === null ? texts.link.down : texts.faults[fault]}</strong>
        <p className="muted">{hint}</p>
      </div>
    </div>
  );
}

/** Nothing more is shown, and why: no place of a vehicle stays on a page whose share has ended. */
export function EndedPage({ end, texts }: { readonly end: ShareEnd; readonly texts: SharePageTexts }) {
  useTitle(texts.ends[end]);
  return (
    <main className="share">
      <h1>{texts.titles.none}</h1>
      <Said icon="ban" title={texts.ends[end]} hint={texts.endHints[end]} role="alert" />
    </main>
  );
}

function Beginning({ state, texts }: StateProps) {
  useTitle(texts.titles.none);
  return (
    <main className="share" aria-busy={state.fault === null}>
      <h1>{texts.titles.none}</h1>
      {state.fault === null ? (
        <p className="muted" role="status">
          {texts.loading}
        </p>
      ) : (
        <Said icon="wifi-off" title={texts.faults[state.fault]} hint={texts.faultHint} role="alert" />
      )}
    </main>
  );
}

function Shown({ state, texts }: StateProps) {
  const nowMs = useNowMs();
  const { view, positions, skewS } = state;
  const isTrip = view?.kind === 'trip';
  const title = view?.title || texts.titles[isTrip ? 'trip' : 'live'];
  useTitle(title);
  if (view === null) return null;
  const until = formatTime(new Date(view.expires * 1000), texts.locale, 'day');
  const last = positions?.at(-1);
  return (
    <main className="share">
      <header className="stack">
        <div className="row wrap">
          <h1>
            <bdi>{title}</bdi>
          </h1>
          {isTrip ? null : <LinkState state={state} texts={texts} />}
        </div>
        <p className="muted">
          {texts.until({ time: until })} · {isTrip ? texts.onlyTrip : texts.only}
        </p>
      </header>
      <Disturbance state={state} texts={texts} nowMs={nowMs} />
      {isTrip ? (
        <TripFacts state={state} texts={texts} />
      ) : (
        <LiveFacts state={state} texts={texts} nowS={nowMs / 1000 + skewS} />
      )}
      {last === undefined || positions === null ? null : (
        <Suspense>
          <ShareMap positions={positions} isTrip={isTrip} texts={texts} />
        </Suspense>
      )}
    </main>
  );
}

export function SharePage({
  state: value,
  texts,
}: {
  readonly state: Value<ShareState>;
  readonly texts: SharePageTexts;
}) {
  const state = useSyncExternalStore(value.subscribe, value.get);
  if (state.end !== null) return <EndedPage end={state.end} texts={texts} />;
  if (state.view === null) return <Beginning state={state} texts={texts} />;
  return <Shown state={state} texts={texts} />;
}
