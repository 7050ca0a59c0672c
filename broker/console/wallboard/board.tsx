// The board: what needs a person, how many vehicles are in which state, and where they are. It is read from five metres and needs no input.

import { type ReactNode, useMemo } from 'react';
import { tabWords } from '../../../build/words/tab.ts';
import { wallboardWords } from '../../../build/words/wallboard.ts';
import type { Alarm } from '../api/operations.ts';
import { Icon } from '../components/icon.tsx';
import { DrawnMark } from '../components/mark.tsx';
import { codeText, hourText, iconOf, spanText, timeText } from '../components/texts.tsx';
import { useNow, useServiceNow, useValue, useWords } from '../components/use.ts';
import { countText, usePicture } from '../components/view.tsx';
import { alarms, connection, vehicles } from '../service/live.ts';
import { session, skewS } from '../service/session.ts';
import { countsOf, type Vehicle, vehicleStates } from '../state/fleet.ts';
import {
  type BoardOrder,
  boardAlarms,
  boardOrders,
  expiryNoticeS,
  rowsMost,
} from '../state/wallboard/board-view.ts';
import { BoardMap } from './board-map.tsx';
import { staysOn } from './wake-lock.ts';

/** Since when nothing came, over everything else; nothing while the board is live. */
function Disturbance() {
  const words = useWords(wallboardWords);
  const { down, downHint, noAnswer, noAnswerHint } = words.wallboard;
  const now = useNow();
  const skew = useValue(skewS);
  const { state, aliveMs } = useValue(connection);
  if (state !== 'down') return null;
  const sinceS = aliveMs / 1000;
  const time = timeText((aliveMs === 0 ? now : sinceS) + skew);
  const span = spanText(aliveMs === 0 ? 0 : now - sinceS, words);
  return (
    <div className="board-notice">
      <Icon name="wifi-off" />
      <div>
        <strong>{aliveMs === 0 ? noAnswer({ time, span }) : down({ time, span })}</strong>
        <p role="alert">{aliveMs === 0 ? noAnswerHint : downHint({ time })}</p>
      </div>
    </div>
  );
}

function LinkState() {
  const words = useWords(wallboardWords);
  const now = useNow();
  const { state, aliveMs } = useValue(connection);
  const span = spanText(now - aliveMs / 1000, words);
  const text =
    state === 'live'
      ? words.stream.live({ span })
      : aliveMs === 0
        ? words.wallboard.opening
        : words.stream.down({ span });
  return (
    <span className="board-link" data-link={state}>
      <Icon name={state === 'live' ? 'signal' : 'wifi-off'} />
      {text}
    </span>
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

interface BoardProps {
  /** End of the token, epoch seconds. */
  readonly expiresS: number;
  onSetUp(): void;
}

/** State of the screen itself, in small type: the end of its token, and that it may go dark. */
function Foot({ expiresS, onSetUp }: BoardProps) {
  const words = useWords(wallboardWords);
  const { expires, mayGoDark, setUp } = words.wallboard;
  const leftS = expiresS - useServiceNow();
  return (
    <footer className="board-foot">
      {leftS > expiryNoticeS ? null : (
        <span className="look strong">{expires({ span: spanText(leftS, words) })}</span>
      )}
      {useValue(staysOn) ? null : <span className="muted">{mayGoDark}</span>}
      <button type="button" className="button" onClick={onSetUp}>
        {setUp}
      </button>
    </footer>
  );
}

export function Board(props: BoardProps) {
  const { wallboard: texts, common } = useWords(wallboardWords);
  const fleet = useValue(vehicles);
  const all = useMemo(() => [...fleet.values()], [fleet]);
  const now = useServiceNow();
  const { state } = useValue(connection);
  return (
    <main className="board" data-link={state}>
      <header className="board-head">
        <h1>
          {common.brand} · <bdi>{useValue(session)?.accountID ?? texts.title}</bdi>
        </h1>
        <LinkState />
        <time className="board-clock">{hourText(now)}</time>
      </header>
      <Disturbance />
      <States all={all} />
      <div className="board-lists">
        <Alarms />
        <Orders all={all} />
      </div>
      <BoardMap vehicles={all} />
      <Foot {...props} />
    </main>
  );
}
