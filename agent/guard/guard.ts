// The relay guard: asked at every write to the board, and the only maker of the permit that a write needs. Pure. It believes no conclusion of another
// module; the interlock's verdict is one more condition. A write that cannot close a restrictive relay passes unread.
import type { FeatureName } from '../../src/core/events/event.ts';
import { afterPermit, type GuardSetup, type GuardState, limits, withOrder } from './facts.ts';
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

/** Restrictive relays that a request writes, and whether it may close one. `isStray`: it writes what the set-up does not name, on a unit of theirs. */
function touchedBy({ outputs }: GuardSetup, { kind, unit, first, address, on, value, values }: LineRequest) {
  // Only the members that the line sends for this kind count. A number, such as the time of a pulse, opens no coil.
  const isCoil = !kind.startsWith('writeRegister');
  const isMany = kind === 'writeCoils' || kind === 'writeRegisters';
  const isRead = kind === 'readBits' || kind === 'readRegisters';
  const put = kind === 'writeCoil' ? on : value;
  const puts = isRead ? [] : isMany ? (values ?? [true]) : [put];
  // Unit 0 is every unit (Modbus over serial line, 2.2).
  const reached = outputs.filter((one) => one.unit === unit || (unit === 0 && one.feature !== null));
  const isAt = ({ addresses, off }: (typeof outputs)[number], at: number): boolean =>
    (off === null) === isCoil && addresses.includes(((isMany ? first : address) ?? 0) + at);
  const relays = reached.filter(({ feature }) => feature !== null);
  const isNamed = (unitAt: number, at: number) => reached.some((one) => one.unit === unitAt && isAt(one, at));
  const isStray = relays.some((one) => puts.some((_put, at) => !isNamed(one.unit, at)));
  const touched = reached.filter((one) => puts.some((_put, at) => isAt(one, at)));
  const closes = puts.some((to, at) => relays.some((one) => isAt(one, at) && to !== (one.off ?? false)));
  return { hit: touched.flatMap(({ feature }) => feature ?? []), isStray, mayClose: isStray || closes };
}

/** Conditions on closing a relay, in the order of the answer. All must hold. `README.md` defines each. */
function conditionsOf(setup: GuardSetup, state: GuardState, feature: FeatureName, asked: Asked) {
  const { nowMs, isAllowed } = asked;
  const { ignition, motion, fix, warning, clock, activeMs, activeSinceMs } = state;
  const isWithin = (atMs: number, mostMs: number): boolean => nowMs - atMs <= mostMs;
  const hasFix = fix.kmh !== null && isWithin(fix.atMs, limits.ages.fixMs);
  const isStuck = hasFix && nowMs - activeSinceMs >= limits.motion.stuckMs && state.fastMs < activeSinceMs;
  const isMoved = (motion.isActive === true || isWithin(activeMs, limits.motion.pulseMs)) && !isStuck;
  const isQuiet = motion.isActive === false && !isMoved;
  const hasRested = isQuiet && nowMs - Math.max(state.readSinceMs, activeMs) >= limits.motion.quietMs;
  const askedMs = [ignition, motion].flatMap((input) => (input.isActive === null ? [] : [input.askedMs]));
  const shows = (of: keyof typeof limits.signs): boolean => isWithin(state.signs[of], limits.signs[of][1]);
  const isWarned =
    isWithin(warning.atMs, limits.ages.warningMs) && nowMs - warning.sinceMs >= setup.warningMs;
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
  const { permitMs, closedMs } = state.relays[feature];
  const closed = closedMs.filter((atMs) => atMs !== permitMs || nowMs - permitMs >= limits.tryMs);
  return {
    order: order !== undefined && isGranted(order, state, setup, utcMs),
    expiry: isCarried || !isOver,
    inputs: askedMs.every((atMs) => isWithin(atMs, limits.ages.inputMs)),
    // A question of before a fact comes from a clock that went back.
    holdup:
      nowMs >= state.newestMs &&
      isWithin(state.stepMs, limits.steps.gapMs) &&
      askedMs.every((atMs) => atMs >= state.heldUpMs) &&
      (!hasFix || fix.atMs - limits.steps.unreadMs >= state.heldUpMs),
    key: key === false || mayHaveKey,
    motion: !isMoved,
    speed: !isWithin(state.fastMs, limits.ages.fixMs),
    place: hasFix || (key === false && (isAttended || (setup.mayLackFix && hasRested))),
    engine: !isCut || key === true || !(shows('rpm') || shows('busRpm')),
    bus: !shows('busKmh'),
    pace:
      closed.every((atMs) => nowMs - atMs >= limits.pace.betweenMs) &&
      nowMs - (closed.at(-limits.pace.perHour) ?? Number.NEGATIVE_INFINITY) >= limits.pace.hourMs,
    interlock: isAllowed(feature),
  };
}

/** `fault`: the guard failed. */
export type Refusal = keyof ReturnType<typeof conditionsOf> | 'fault';

/** Answers a request. Never throws: a fault of the guard refuses what may close a relay. `permit` null: `refusals` names what does not hold. */
export function askGuard<R extends LineRequest>(setup: GuardSetup, state: GuardState, asked: Asked<R>) {
  const { request, nowMs } = asked;
  const { hit, isStray, mayClose } = touchedBy(setup, request);
  const [feature = null] = hit;
  const answer = (after: GuardState, refusals: readonly Refusal[], isSent = refusals.length === 0) => {
    return { state: after, permit: isSent ? new Permit(request) : null, refusals, feature };
  };
  try {
    // A safe write uses up an order that was carried out.
    const used = hit.filter((name) => state.orders[name]?.isCarried === true);
    const after = used.reduce((next, name) => withOrder(next, name), state);
    if (!mayClose) return answer(after, []);
    if (feature === null || isStray || hit.length > 1) throw new Error('not one relay alone');
    const held = Object.entries(conditionsOf(setup, state, feature, asked));
    const refusals = held.filter(([, isMet]) => !isMet).map(([name]) => name as Refusal);
    return answer(refusals.length > 0 ? state : afterPermit(state, feature, nowMs), refusals);
  } catch {
    return answer(state, ['fault'], !mayClose);
  }
}
