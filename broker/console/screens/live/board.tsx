// The wallboard, a mode of the live map: what needs a person, how many vehicles are in which state, and where they are. It is read from
// five metres, needs no input, and takes a token that may read only. It stands outside of the shell, which has menus and commands.

import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { mapWords } from '../../../../build/words/map.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { wallboardWords } from '../../../../build/words/wallboard.ts';
import type { Alarm } from '../../api/operations.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { MapTools } from '../../components/map-tools.tsx';
import { DrawnMark } from '../../components/mark.tsx';
import { codeText, Empty, iconOf, momentText, spanText, timeText } from '../../components/texts.tsx';
import { useNow, useServiceNow, useTitle, useValue, useWords } from '../../components/use.ts';
import { useFleetMap } from '../../components/use-fleet-map.ts';
import { countText, usePicture } from '../../components/view.tsx';
import { checkBuild, isOutdated } from '../../service/build.ts';
import { alarms, connection, followFleet, vehicles } from '../../service/live.ts';
import { session, skewS } from '../../service/session.ts';
import { useConnectionText } from '../../shell/connection.tsx';
import { useBuildChecks } from '../../shell/new-version.tsx';
import { shownTheme } from '../../shell/theme.ts';
import { countsOf, type Vehicle, vehicleStates } from '../../state/fleet.ts';
import {
  type BoardOrder,
  boardAlarms,
  boardOrders,
  expiryNoticeS,
  rowsMost,
} from '../../state/wallboard/board-view.ts';
import { isInMiles } from '../../words/measures.ts';
import { access, beginAccess } from './board-access.ts';
import { keepAwayPage } from './board-away.ts';
import { SetUp } from './board-set-up.tsx';
import { useWakeLock } from './use-wake-lock.ts';
import '../../styles/wallboard.css';

interface NoticeProps {
  readonly icon: IconName;
  /** When it began, ms of this computer; 0: now. */
  readonly sinceMs: number;
  text(a: { readonly time: string; readonly span: string }): string;
  hint(a: { readonly time: string }): string;
}

/** Large, and with since when. */
function BoardNotice({ icon, sinceMs, text, hint }: NoticeProps) {
  const words = useWords();
  const now = useNow();
  const sinceS = sinceMs === 0 ? now : sinceMs / 1000;
  const time = timeText(sinceS + useValue(skewS));
  return (
    <div className="board-notice">
      <Icon name={icon} />
      <div>
        <strong>{text({ time, span: spanText(now - sinceS, words) })}</strong>
        <p role="alert">{hint({ time })}</p>
      </div>
    </div>
  );
}

/** Since when nothing came, over everything else; nothing while the board is live. */
function Disturbance() {
  const { down, downHint, noAnswer, noAnswerHint } = useWords(wallboardWords).wallboard;
  const { state, aliveMs } = useValue(connection);
  if (state !== 'down') return null;
  return (
    <BoardNotice
      icon="wifi-off"
      sinceMs={aliveMs}
      text={aliveMs === 0 ? noAnswer : down}
      hint={aliveMs === 0 ? () => noAnswerHint : downHint}
    />
  );
}

function States({ all }: { readonly all: readonly Vehicle[] }) {
  const words = useWords(wallboardWords);
  const { knowledge } = usePicture('vehicles');
  const counts = countsOf(all);
  return (
    <section aria-label={words.wallboard.states}>
      <dl className="board-states">
        {vehicleStates
          .filter((state) => state !== 'unknown' || counts.unknown > 0)
          .map((state) => (
            <div key={state} data-state={state} data-is-some={counts[state] > 0}>
              <dt>
                <DrawnMark form={state} ring="none" turn={20} />
                {words.state[state]}
              </dt>
              <dd>{countText(counts[state], knowledge)}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

interface ListProps {
  readonly kind: 'alarms' | 'orders';
  readonly title: string;
  /** How many are not shown. */
  readonly hidden: number;
  /** What stands below. */
  readonly note: string | null;
  readonly children: ReactNode;
}

function List({ kind, title, hidden, note, children }: ListProps) {
  const { more } = useWords(wallboardWords).wallboard;
  const rest = [...(hidden > 0 ? [more({ count: hidden })] : []), ...(note === null ? [] : [note])];
  return (
    <section className="board-list" aria-labelledby={`${kind}-title`}>
      <h2 id={`${kind}-title`}>{title}</h2>
      <ul>{children}</ul>
      {rest.length === 0 ? null : <p className="muted">{rest.join(' · ')}</p>}
    </section>
  );
}

function AlarmRow({ alarm }: { readonly alarm: Alarm }) {
  const words = useWords(wallboardWords);
  const now = useServiceNow();
  const { statusCode, priority, alarmState, owner, opened, deviceDisplayName, deviceID } = alarm;
  const look = priority === 'low' ? 'look' : alarmState === 'new' ? 'act' : 'act taken';
  return (
    <li className={`board-row ${look}`} data-alarm={alarmState}>
      <Icon name={iconOf(statusCode, 'octagon-alert')} />
      <strong>
        {codeText(statusCode, words)} · <bdi>{deviceDisplayName || deviceID}</bdi>
      </strong>
      <span>
        {alarmState === 'taken' ? words.wallboard.takenBy({ user: owner }) : words.alarms.states[alarmState]}{' '}
        · <bdi>{words.age.ago({ span: spanText(now - opened, words) })}</bdi>
      </span>
    </li>
  );
}

function Alarms() {
  const { wallboard: texts } = useWords(wallboardWords);
  const { shown, count, shelved } = boardAlarms(useValue(alarms).values());
  const isKnown = usePicture('alarms').knowledge === 'known';
  return (
    <List
      kind="alarms"
      title={count > 0 ? texts.alarms({ count }) : isKnown ? texts.noAlarms : texts.alarmsUnknown}
      hidden={count - shown.length}
      note={shelved === 0 ? null : texts.shelved({ count: shelved })}
    >
      {shown.map((alarm) => (
        <AlarmRow key={alarm.alarmID} alarm={alarm} />
      ))}
    </List>
  );
}

function OrderRow({ order }: { readonly order: BoardOrder }) {
  const { commands } = useWords(wallboardWords, tabWords);
  const { states: known, asked } = commands;
  const state = Object.entries(known).find(([name]) => name === order.state)?.[1] ?? order.state;
  return (
    <li className="board-row order">
      <Icon name={order.state === 'approval' ? 'user-check' : 'hourglass'} />
      <strong>
        {asked[order.asked]} · <bdi>{order.vehicleName}</bdi>
      </strong>
      <span>{state}</span>
    </li>
  );
}

function Orders({ all }: { readonly all: readonly Vehicle[] }) {
  const { wallboard: texts } = useWords(wallboardWords);
  const orders = boardOrders(all);
  const isKnown = usePicture('vehicles').knowledge === 'known';
  return (
    <List
      kind="orders"
      title={
        orders.length > 0
          ? texts.orders({ count: orders.length })
          : isKnown
            ? texts.noOrders
            : texts.ordersUnknown
      }
      hidden={Math.max(0, orders.length - rowsMost.orders)}
      note={null}
    >
      {orders.slice(0, rowsMost.orders).map((order) => (
        <OrderRow key={`${order.vehicleID} ${order.asked}`} order={order} />
      ))}
    </List>
  );
}

/** From this width on the style sheet scales the map up, so that its names are read from afar. */
const isLarge = matchMedia('(min-width: 1200px)');
const magnified = 2;
const fitMs = 30_000;
/** A place that a person has chosen is kept so long. */
const keptMs = 600_000;

/** The map shows all vehicles by itself, unless a person has moved it. */
function BoardMap({ all }: { readonly all: readonly Vehicle[] }) {
  const { wallboard: texts, live } = useWords(wallboardWords, mapWords);
  const movedMs = useRef(0);
  const handlers = {
    place: null,
    magnified: isLarge.matches ? magnified : 1,
    onSelect: () => undefined,
    onSeveral: () => undefined,
    onMove: () => {
      movedMs.current = Date.now();
    },
  };
  const { host, map, isImpossible } = useFleetMap(
    { ...handlers, isInMiles: isInMiles() },
    texts.map,
    useValue(shownTheme),
  );
  useEffect(() => map?.show(all, null), [map, all]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (Date.now() - movedMs.current > keptMs) map?.fit();
    }, fitMs);
    return () => clearInterval(timer);
  }, [map]);
  return (
    <div className="map board-map">
      {isImpossible ? (
        <Empty icon="map" title={live.noWebgl} />
      ) : (
        <>
          <div className="map-host" ref={host} dir="ltr" />
          <MapTools map={map} />
        </>
      )}
    </div>
  );
}

interface BoardProps {
  /** End of the token, epoch seconds. */
  readonly expiresS: number;
  /** The browser does not switch the screen off. */
  readonly staysOn: boolean;
  onSetUp(): void;
}

function Board({ expiresS, staysOn, onSetUp }: BoardProps) {
  const words = useWords(wallboardWords);
  const { wallboard: texts, common } = words;
  const fleet = useValue(vehicles);
  const all = useMemo(() => [...fleet.values()], [fleet]);
  const now = useServiceNow();
  const { state } = useValue(connection);
  const leftS = expiresS - now;
  return (
    <main className="board" data-link={state}>
      <header className="board-head">
        <h1>
          {common.brand} · <bdi>{useValue(session)?.accountID ?? texts.title}</bdi>
        </h1>
        <span className="board-link" data-link={state}>
          <Icon name={state === 'live' ? 'signal' : 'wifi-off'} />
          {useConnectionText()}
        </span>
        <time className="board-clock">{momentText(now, 'hour')}</time>
      </header>
      <Disturbance />
      <States all={all} />
      <div className="board-lists">
        <Alarms />
        <Orders all={all} />
      </div>
      <BoardMap all={all} />
      <footer className="board-foot">
        {leftS > expiryNoticeS ? null : (
          <span className="look strong">{texts.expires({ span: spanText(leftS, words) })}</span>
        )}
        {staysOn ? null : <span className="muted">{texts.mayGoDark}</span>}
        <button type="button" className="button" onClick={onSetUp}>
          {texts.setUp}
        </button>
      </footer>
    </main>
  );
}

const rebuildMs = 600_000;

/** A wallboard runs for weeks: when the service has another build, it loads that one. */
function useNewBuild(): void {
  useBuildChecks();
  useEffect(() => {
    void checkBuild();
    const timer = setInterval(() => void checkBuild(), rebuildMs);
    return () => clearInterval(timer);
  }, []);
  const isOld = useValue(isOutdated);
  useEffect(() => {
    if (isOld) location.reload();
  }, [isOld]);
}

/** A screen that is started while the service is away says so, from the first time on that it had access. */
function useAwayPage(hasAccess: boolean): void {
  const words = useWords(wallboardWords);
  const isDark = useValue(shownTheme) !== 'light';
  const title = words.error.unreachable;
  const hint = words.wallboard.noAnswerHint;
  useEffect(() => {
    if (hasAccess) void keepAwayPage({ title, hint }, isDark);
  }, [hasAccess, title, hint, isDark]);
}

beginAccess();

/** The board, that it has no access and since when, or how it is set up. */
export function BoardScreen() {
  const { wallboard: texts } = useWords(wallboardWords);
  const state = useValue(access);
  const [isSetUp, setSetUp] = useState(false);
  const hasAccess = state.kind === 'given';
  useTitle(texts.title);
  useNewBuild();
  useAwayPage(hasAccess);
  const staysOn = useWakeLock();
  // What is shown goes with the access.
  useEffect(() => (hasAccess ? followFleet() : undefined), [hasAccess]);
  const onSetUp = (): void => setSetUp(true);
  if (isSetUp || state.kind === 'none') return <SetUp onDone={() => setSetUp(false)} />;
  if (state.kind === 'given') return <Board {...state} staysOn={staysOn} onSetUp={onSetUp} />;
  const { sinceMs, kind } = state;
  const { ended, endedHint, noAnswer, noAnswerHint } = texts;
  return (
    <main className="board bare">
      <h1 className="hidden">{texts.title}</h1>
      {kind === 'ended' ? (
        <BoardNotice icon="lock" sinceMs={sinceMs} text={ended} hint={() => endedHint} />
      ) : (
        <BoardNotice icon="wifi-off" sinceMs={sinceMs} text={noAnswer} hint={() => noAnswerHint} />
      )}
      <button type="button" className="button secondary" onClick={onSetUp}>
        {texts.setUp}
      </button>
    </main>
  );
}
