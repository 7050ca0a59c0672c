// Parts of the screens of a cut and an unlock: badge of its state, the vehicle as it is now, the course, the countdown.

import { useEffect, useState } from 'react';
import { cutWords } from '../../../../build/words/cut.ts';
import { presenceOf } from '../../../../src/core/presence.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Position } from '../../components/places/position.tsx';
import { Age, amountText, Badge, spanText, Time, timeText } from '../../components/texts.tsx';
import { useNow, useWords } from '../../components/use.ts';
import { relayStateOf, type Vehicle } from '../../state/fleet.ts';
import { type Step } from '../../state/orders/cut-course.ts';
import { type CutState, cutStateOf, type Relay, toneOf } from '../../state/orders/cut-view.ts';
import type { WordsWith } from '../../words/word-set.ts';
import { reasonWords } from './verdict-words.ts';

/** Of the screens of an order, and of the buttons that open them. */
export const relayIcons = { enginecutoff: 'power-off', cargoaccess: 'lock-open' } as const;

const stateIcons: Readonly<Record<CutState, IconName>> = {
  approval: 'user-check',
  requested: 'hourglass',
  sent: 'hourglass',
  received: 'hourglass',
  armed: 'hourglass',
  executing: 'hourglass',
  confirmed: 'shield-check',
  refused: 'ban',
  expired: 'timer-off',
  cancelled: 'undo-2',
  superseded: 'undo-2',
  unknown: 'circle-help',
};

export function CutStateBadge({ state }: { readonly state: CutState }) {
  const { states } = useWords(cutWords).order;
  const tone = toneOf(state);
  return (
    <Badge icon={stateIcons[state]} {...(tone === 'off' ? {} : { tone })}>
      {states[state]}
    </Badge>
  );
}

/** An unlocked cargo, else where a pending unlock stands. */
export function UnlockBadge({ vehicle }: { readonly vehicle: Vehicle }) {
  const { order, orders, relays } = useWords(cutWords);
  const { name, states } = relays.cargoaccess;
  const pending = vehicle.pendingUnlock ?? vehicle.ownUnlock;
  if (pending !== null)
    return (
      <Badge icon="hourglass" tone={pending === 'unknown' ? 'look' : 'busy'}>
        {orders.cargoaccess.noun}: {order.states[cutStateOf(pending)]}
      </Badge>
    );
  if (vehicle.cargo !== '1') return null;
  return (
    <Badge icon="lock-open" tone="busy">
      {name}: {states[1]}
    </Badge>
  );
}

interface VehicleFactsProps {
  readonly vehicle: Vehicle;
  /** Whose state as read back is shown. */
  readonly relay: Relay;
}

/** Where the vehicle is, how fast, whether it runs: from the stream, each with its age. */
export function VehicleFacts({ vehicle, relay }: VehicleFactsProps) {
  const all = useWords(cutWords);
  const { order: texts, orders, relays, vehicle: words, common, age, state } = all;
  const read = relayStateOf(vehicle, relay);
  const presence = presenceOf(vehicle);
  const fixAge = (
    <span className="age">
      <Age at={vehicle.fixS} />
    </span>
  );
  return (
    <dl className="pairs">
      <dt>{texts.where}</dt>
      <dd className="where">
        <Position vehicle={vehicle} hasZone isShort /> {vehicle.place === null ? null : fixAge}
      </dd>
      <dt>{words.speed}</dt>
      <dd>
        {vehicle.fixS === 0 || vehicle.speed === null ? (
          age.unknown
        ) : (
          <>
            <bdi>{amountText(vehicle.speed, 'kmh', all, 1)}</bdi> {fixAge}
          </>
        )}
      </dd>
      <dt>{words.ignition}</dt>
      <dd>{vehicle.ignition === null ? age.unknown : vehicle.ignition === '1' ? common.on : common.off}</dd>
      <dt>{orders[relay].relayNow}</dt>
      <dd>
        {read === null ? age.unknown : relays[relay].states[read === '1' ? 1 : 0]}{' '}
        <span className="age">{words.readBack}</span>
      </dd>
      <dt>{words.driver}</dt>
      <dd>{vehicle.driver || words.noDriver}</dd>
      <dt>{texts.lastSeen}</dt>
      <dd>
        <Age at={vehicle.heartbeatS} />
        {presence === null ? '' : ` · ${state[presence]}`}
      </dd>
    </dl>
  );
}

const stepIcons: Readonly<Record<Step['kind'], IconName>> = {
  done: 'circle-check',
  now: 'hourglass',
  later: 'circle-dashed',
  good: 'shield-check',
  bad: 'ban',
  off: 'undo-2',
};

function stepText(
  { name, by }: Step,
  relay: Relay,
  { order: { steps }, orders, persons }: WordsWith<[typeof cutWords]>,
): string {
  switch (name) {
    case 'executing':
      return orders[relay].executing;
    case 'waits_persons':
      return persons.step;
    case 'undone':
      return by === '' ? orders[relay].after.badge : orders[relay].after.step({ user: by });
    case 'asked':
    case 'approved':
      return steps[name]({ user: by });
    case 'refused':
      return by === '' ? steps.refused : steps.refusedBy({ user: by });
    case 'cancelled':
      return by === '' ? steps.cancelled : steps.cancelledBy({ user: by });
    default:
      return steps[name];
  }
}

interface CourseProps {
  readonly relay: Relay;
  readonly steps: readonly Step[];
  /** As the ledger has it. */
  readonly reason: string;
}

/** One line a state with its time; the present one in bold, later ones dashed. */
export function Course({ relay, steps, reason }: CourseProps) {
  const words = useWords(cutWords);
  const now = useNow();
  const { order: texts } = words;
  return (
    <section className="stack">
      <h3>{texts.course}</h3>
      <ol className="steps">
        {steps.map((step) => (
          <li key={`${step.name} ${step.by}`} {...(step.kind === 'done' ? {} : { className: step.kind })}>
            <Icon name={step.name === 'expired' ? 'timer-off' : stepIcons[step.kind]} />
            <span>{stepText(step, relay, words)}</span>
            {step.at === null ? <span /> : <Time at={step.at} />}
            {step.ownAt === null ? null : <p>{texts.ownClock({ time: timeText(step.ownAt) })}</p>}
            {step.name === 'asked' && reason !== '' ? (
              <p>
                {texts.reason}: {reasonWords(reason, relay, words)}
              </p>
            ) : null}
            {step.kind === 'now' && step.at !== null ? (
              <p>{texts.since({ span: spanText(now - step.at, words) })}</p>
            ) : null}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Announced when so many seconds are left. */
const announcedS = [600, 60] as const;

interface CountdownProps {
  readonly relay: Relay;
  /** Epoch seconds, as `ends`. */
  readonly began: number;
  readonly ends: number;
}

/** Time left as text in the first place. */
export function Countdown({ relay, began, ends }: CountdownProps) {
  const words = useWords(cutWords);
  const { order: texts, orders } = words;
  const { leftAnnounce } = orders[relay];
  const now = useNow();
  const leftS = Math.max(0, ends - now);
  const used = Math.min(100, Math.max(0, ((now - began) / Math.max(1, ends - began)) * 100));
  const [said, setSaid] = useState('');
  const mark = announcedS.find((one) => leftS === one) ?? null;
  useEffect(() => {
    if (mark !== null) setSaid(leftAnnounce({ span: spanText(mark, words) }));
  }, [mark, leftAnnounce, words]);
  return (
    <div className="expiry">
      <div className="row">
        <strong role="timer">
          <bdi>{spanText(leftS, words)}</bdi>
        </strong>
        <span className="muted">{texts.left}</span>
        <span className="push muted">{texts.ends({ time: timeText(ends) })}</span>
      </div>
      <progress value={used} max={100} aria-label={texts.used} />
      <p className="hidden" role="status">
        {said}
      </p>
    </div>
  );
}
