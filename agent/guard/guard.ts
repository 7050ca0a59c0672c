// The relay guard: asked at every write to the board, and the only maker of the permit that a write needs. Pure. It believes no conclusion of another
// module; the interlock's verdict is one more condition. A write that cannot close a restrictive relay passes unread.
import type { FeatureName } from '../../src/core/events/event.ts';
import { type GuardedRelay, type GuardSetup, type GuardState, limits, withOrder } from './facts.ts';
import { isGranted } from './order.ts';

type Numbers = { readonly [Name in 'address' | 'first' | 'value']?: number };
type Bits = { readonly on?: boolean; readonly values?: readonly (boolean | number)[] };
/** A frame to the board, by the names of `ModbusRequest`. Coils and registers are two address spaces. */
export type LineRequest = { readonly kind: string; readonly unit: number } & Numbers & Bits;

/** Proof that the guard was asked about a request. No other file makes one (`test/unit/guard-place.test.ts`). */
export class Permit<Request extends LineRequest = LineRequest> {
  protected readonly isMade = true;
  readonly request: Request;
  constructor(request: Request) {
    this.request = request;
  }
}

interface Asked<Request extends LineRequest = LineRequest> {
  readonly request: Request;
  readonly nowMs: number;
  /** Verdict of the interlock on closing this relay now. */
  isAllowed(feature: FeatureName): boolean;
}

/** Restrictive relays that a request writes, and whether it may close one. */
function touchedBy({ relays }: GuardSetup, { kind, unit, first, address, on, value, values }: LineRequest) {
  const isRegister = kind.startsWith('writeRegister');
  const all = values ?? [on ?? value ?? true];
  const written = (relay: GuardedRelay): readonly (boolean | number)[] =>
    kind.startsWith('read') || relay.unit !== unit || (relay.off !== null) !== isRegister
      ? []
      : all.filter((_value, at) => relay.addresses.includes((first ?? address ?? 0) + at));
  const hit = relays.filter((relay) => written(relay).length > 0);
  const mayClose = hit.some((relay) => written(relay).some((one) => one !== (relay.off ?? false)));
  return { hit: hit.map(({ feature }) => feature), mayClose };
}

/** Conditions on closing a relay, in the order of the answer. All must hold. `README.md` defines each. */
function conditionsOf(
  setup: GuardSetup,
  state: GuardState,
  feature: FeatureName,
  { nowMs, isAllowed }: Asked,
) {
  const { ignition, motion, fix, rpm, bus, warning, clock, activeMs, activeSinceMs } = state;
  const isYoung = ({ atMs }: { readonly atMs: number }, mostMs: number): boolean => nowMs - atMs <= mostMs;
  const hasFix = fix.kmh !== null && isYoung(fix, limits.fixMs);
  const isStuck = hasFix && nowMs - activeSinceMs >= limits.stuckMs && state.fastMs < activeSinceMs;
  const isMoved = (motion.isActive === true || nowMs - activeMs <= limits.pulseMs) && !isStuck;
  const isQuiet = motion.isActive === false && !isMoved;
  const hasRested = isQuiet && nowMs - Math.max(state.readSinceMs, activeMs) >= limits.quietMs;
  const askedMs = [ignition, motion].flatMap((input) => (input.isActive === null ? [] : [input.askedMs]));
  const turnsByRpm = isYoung(rpm, limits.rpmMs) && rpm.value !== null && rpm.value >= limits.engineRpm;
  const turnsByBus = isYoung(bus, limits.fixMs) && bus.rpm !== null && bus.rpm >= limits.busRpm;
  const isWarned = isYoung(warning, limits.warningMs) && nowMs - warning.sinceMs >= setup.warningMs;
  const order = state.orders[feature];
  const isCarried = order?.isCarried === true;
  const isAttended = order?.kind === 'attended';
  // An unknown time ends the life of an order of an earlier run, and of no other.
  const utcMs = clock.utcMs + (nowMs - clock.atMs);
  const isOver = order === undefined || nowMs >= order.endMs || utcMs >= order.untilUtcMs;
  const isCut = feature === 'enginecutoff';
  const key = ignition.isActive;
  // With the key on or unknown, receiver and motion input must agree.
  const isCutWithKey = key === true && isWarned && order?.kind === 'broker' && !isCarried;
  const mayHaveKey = hasFix && isQuiet && (isCut ? isCutWithKey : !isAttended);
  const closed = state.relays[feature]?.closedMs ?? [];
  const isRare = isCarried || nowMs - (closed.at(-limits.perHour) ?? -Infinity) >= limits.hourMs;
  return {
    order: order !== undefined && isGranted(order, state.grants, setup),
    expiry: isCarried || !isOver,
    inputs: askedMs.every((atMs) => nowMs - atMs <= limits.inputMs),
    holdup:
      nowMs - state.stepMs <= limits.gapMs &&
      askedMs.every((atMs) => atMs >= state.heldUpMs) &&
      (!hasFix || fix.atMs - limits.unreadMs >= state.heldUpMs),
    key: key === false || mayHaveKey,
    motion: !isMoved,
    speed: nowMs - state.fastMs > limits.fixMs,
    place: hasFix || (key === false && (isAttended || (setup.mayLackFix && hasRested))),
    engine: !isCut || key === true || !(turnsByRpm || turnsByBus),
    bus: !(isYoung(bus, limits.fixMs) && bus.kmh !== null && bus.kmh > limits.movingKmh),
    pace: isRare && closed.every((atMs) => nowMs - atMs >= limits.betweenMs),
    interlock: isAllowed(feature),
  };
}

/** `fault`: the guard failed. */
export type Refusal = keyof ReturnType<typeof conditionsOf> | 'fault';

export interface Answer<Request extends LineRequest = LineRequest> {
  readonly state: GuardState;
  /** Null: the frame is not sent, and `refusals` names the conditions that do not hold. */
  readonly permit: Permit<Request> | null;
  readonly refusals: readonly Refusal[];
  /** Restrictive relay that it would close; null: none. */
  readonly feature: FeatureName | null;
}

/** Answers a request. Never throws: a fault of the guard refuses what may close a relay. */
export function askGuard<Request extends LineRequest>(
  setup: GuardSetup,
  state: GuardState,
  asked: Asked<Request>,
): Answer<Request> {
  const { request } = asked;
  const { hit, mayClose } = touchedBy(setup, request);
  const [feature = null] = mayClose ? hit : [];
  try {
    if (feature === null) {
      // A safe write uses up an order that was carried out.
      const used = hit.filter((name) => state.orders[name]?.isCarried === true);
      const after = used.reduce((next, name) => withOrder(next, name), state);
      return { state: after, permit: new Permit(request), feature, refusals: [] };
    }
    if (hit.length > 1) throw new Error('one frame for several relays');
    const held = Object.entries(conditionsOf(setup, state, feature, asked));
    const refusals = held.filter(([, isMet]) => !isMet).map(([name]) => name as Refusal);
    return { state, permit: refusals.length === 0 ? new Permit(request) : null, feature, refusals };
  } catch {
    return { state, permit: mayClose ? null : new Permit(request), feature, refusals: ['fault'] };
  }
}
