// What the relay guard knows: facts as readers read them, and orders as they were verified. Pure; `README.md` defines each. Times are monotonic ms
// unless named otherwise. After a start nothing is known. A value that was not sent is absent; null: it was read and means nothing.
import { type FeatureName, featureNames } from '../../src/core/events/event.ts';
import type { PersonsList } from '../../src/core/persons/owner-document.ts';
import { type Order, type OrderFact, type OrderSetup, verifyOrder } from './order.ts';

export const limits = {
  /** Largest ages that count: request for an input, fix, read-back of the warning output (profiles read it every 5 s). */
  ages: { inputMs: 600, fixMs: 2000, warningMs: 6000 },
  /** A longer gap between two steps is a hold-up: while a change waits one is due every 50 ms. What came in it is read within `unreadMs`. */
  steps: { gapMs: 200, leastMs: 20, unreadMs: 130 },
  movingKmh: 3,
  /** Signs: from which value on, and for how long. An analog sender and the vehicle bus show a turning engine, 1/min; the bus a moving vehicle, km/h. */
  signs: { rpm: [100, 10_000], busRpm: [300, 2000], busKmh: [3, 2000] },
  /** A motion input says movement until `pulseMs` after it was active, and rest after `quietMs`. Active so long without a drive it is stuck. */
  motion: { pulseMs: 3000, quietMs: 30_000, stuckMs: 600_000 },
  /** An order is carried out once its relay was read closed for so long after a permit. A closing that is read so soon after a permit is its own. */
  carriedMs: 4000,
  /** Permits so soon after the first are one try: a write that was not acknowledged is repeated. */
  tryMs: 2000,
  /** Least time between two closings of a relay, and most in an hour. A try counts as one. */
  pace: { betweenMs: 10_000, perHour: 6, hourMs: 3_600_000 },
} as const;

type InputName = 'ignition' | 'motion';
/** What a frame can write. `off`: value of the register that opens a relay; null: a coil. */
type Places = Readonly<{ unit: number; addresses: readonly number[]; off: number | null }>;

/** The installer's choices. Inputs that are not fitted are null; with `invert` the raw bit is 0 while it is active. */
export interface GuardSetup extends OrderSetup, Readonly<Record<InputName, { invert: boolean } | null>> {
  /** All that may be written to the units of the restrictive relays. `feature` null: it restricts nothing. */
  readonly outputs: readonly (Places & { readonly feature: FeatureName | null })[];
  /** A standing vehicle may be cut with the key on, after a warning of this length; infinite: it may not. */
  readonly warningMs: number;
  /** A motion input may stand for the position while there is none. */
  readonly mayLackFix: boolean;
}

interface Facts {
  readonly step: unknown;
  readonly inputs: { readonly askedMs: number | null } & { readonly [Name in InputName]?: boolean | null };
  readonly relays: { readonly [Name in FeatureName | 'warning']?: boolean | null };
  readonly sign: { readonly of: keyof typeof limits.signs; readonly value: number | null };
  /** One sentence of the receiver. `isFix`: its mode is a measured one; false: dead reckoning. Null: void, its speed may be an old one. */
  readonly speed: { readonly of: 'RMC' | 'VTG'; readonly kmh: number | null; readonly isFix: boolean | null };
  readonly clock: { readonly utcMs: number; readonly isSigned: boolean };
  readonly grants: { readonly grants: readonly string[] };
  /** The owner's list of persons that is in force; null: none. */
  readonly owner: { readonly list: PersonsList | null };
  readonly order: OrderFact;
}

type Fact<Kind extends keyof Facts> = { readonly kind: Kind; readonly atMs: number } & Facts[Kind];
export type GuardFact = { [Kind in keyof Facts]: Fact<Kind> }[keyof Facts];

const never = Number.NEGATIVE_INFINITY;
const unread = { isOn: null as boolean | null, sinceMs: never, permitMs: never, closedMs: [] as number[] };
/** A relay as last read, and since when; first permit of its newest try; newest times at which it closed or may have closed. */
type RelayFacts = Readonly<typeof unread>;

const unseen = {
  /** Newest fact; last step, and end of the last hold-up; the first step ends one. */
  newestMs: never,
  stepMs: never,
  heldUpMs: never,
  ignition: { isActive: null as boolean | null, askedMs: never },
  motion: { isActive: null as boolean | null, askedMs: never },
  /** Known samples of the motion input, and active ones among them: the newest, and the first of its row without a gap. */
  readMs: never,
  readSinceMs: never,
  activeMs: never,
  activeSinceMs: never,
  /** Newest RMC; `kmh` null: no fix, or without a speed. `fastMs`: when the receiver last showed more than `movingKmh`. */
  fix: { kmh: null as number | null, atMs: never },
  fastMs: never,
  /** When the last known reading of each showed movement; never: it showed none. */
  signs: { rpm: never, busRpm: never, busKmh: never },
  /** The warning output sounds since then; infinite: it does not, or is unknown. */
  warning: { sinceMs: Number.POSITIVE_INFINITY, atMs: never },
  relays: { enginecutoff: unread, cargoaccess: unread } as Readonly<Record<FeatureName, RelayFacts>>,
  orders: {} as Partial<Record<FeatureName, Order>>,
  /** Highest number of a verified envelope; one that is not higher is used. */
  counter: 0,
  grants: [] as readonly string[],
  list: null as PersonsList | null,
  clock: { utcMs: Number.MAX_VALUE, atMs: 0, isSigned: false },
};
export type GuardState = Readonly<typeof unseen>;
export const createGuard = (): GuardState => unseen;

function afterStep(state: GuardState, { atMs }: Fact<'step'>): GuardState {
  const gapMs = atMs - state.stepMs;
  if (gapMs < limits.steps.leastMs) return state;
  return { ...state, stepMs: atMs, heldUpMs: gapMs > limits.steps.gapMs ? atMs : state.heldUpMs };
}

/** A gap between samples ends their row. */
function afterMotion(state: GuardState, isActive: boolean, atMs: number): GuardState {
  const isGap = (lastMs: number): boolean => atMs - lastMs > limits.motion.pulseMs;
  const readSinceMs = isGap(state.readMs) ? atMs : state.readSinceMs;
  const activeSinceMs = isGap(state.activeMs) ? atMs : state.activeSinceMs;
  return { ...state, readMs: atMs, readSinceMs, ...(isActive ? { activeMs: atMs, activeSinceMs } : {}) };
}

function afterInputs(setup: GuardSetup, state: GuardState, fact: Fact<'inputs'>): GuardState {
  let next = state;
  // A request of later than its answer is none.
  const askedMs = fact.askedMs !== null && fact.askedMs <= fact.atMs ? fact.askedMs : never;
  for (const name of ['ignition', 'motion'] as const) {
    const [fitted, bit] = [setup[name], fact[name]];
    if (fitted === null || bit === undefined) continue;
    const isActive = bit === null ? null : bit !== fitted.invert;
    next = { ...next, [name]: { isActive, askedMs } };
    if (name === 'motion' && isActive !== null) next = afterMotion(next, isActive, fact.atMs);
  }
  return next;
}

function afterSpeed(state: GuardState, { of, kmh, isFix, atMs }: Fact<'speed'>): GuardState {
  const isFast = isFix !== null && kmh !== null && kmh > limits.movingKmh;
  const fix = of === 'RMC' ? { kmh: isFix === true ? kmh : null, atMs } : state.fix;
  return { ...state, fix, fastMs: isFast ? atMs : state.fastMs };
}

/** A reading that means nothing leaves the last one that does. */
function afterSign(state: GuardState, { of, value, atMs }: Fact<'sign'>): GuardState {
  if (value === null) return state;
  return { ...state, signs: { ...state.signs, [of]: value >= limits.signs[of][0] ? atMs : never } };
}

/** The state with another order of a feature; undefined: none. */
export const withOrder = (state: GuardState, feature: FeatureName, order?: Order): GuardState => {
  const { [feature]: _old, ...others } = state.orders;
  return { ...state, orders: order === undefined ? others : { ...others, [feature]: order } };
};

/** The state with other facts of a relay. @param closedMs when it closed, or may have; null: it did not. */
const withRelay = (state: GuardState, feature: FeatureName, seen: RelayFacts, closedMs: number | null) => {
  const all = closedMs === null ? seen.closedMs : [...seen.closedMs, closedMs].slice(-limits.pace.perHour);
  return { ...state, relays: { ...state.relays, [feature]: { ...seen, closedMs: all } } };
};

function afterRelays(state: GuardState, fact: Fact<'relays'>): GuardState {
  const { atMs, warning } = fact;
  const soundMs = warning === true ? Math.min(state.warning.sinceMs, atMs) : Number.POSITIVE_INFINITY;
  let next = warning === undefined ? state : { ...state, warning: { sinceMs: soundMs, atMs } };
  for (const feature of featureNames) {
    const isOn = fact[feature] ?? null;
    if (isOn === null) continue;
    const before = next.relays[feature];
    const isNew = before.isOn !== isOn;
    const isClosing = isNew && isOn && atMs - before.permitMs > limits.carriedMs;
    const sinceMs = isNew ? atMs : before.sinceMs;
    next = withRelay(next, feature, { ...before, isOn, sinceMs }, isClosing ? atMs : null);
    const order = next.orders[feature];
    // A lock that opened and closed is not opened again by the same order, and it is never carried out.
    if (feature === 'cargoaccess') next = before.isOn === true && !isOn ? withOrder(next, feature) : next;
    else if (order !== undefined && isOn && sinceMs < order.endMs)
      if (atMs - Math.max(sinceMs, order.permitMs) >= limits.carriedMs)
        next = withOrder(next, feature, { ...order, isCarried: true });
  }
  return next;
}

/** The state after a permit: whatever is read, the relay may close. */
export function afterPermit(state: GuardState, feature: FeatureName, permitMs: number): GuardState {
  const [before, order] = [state.relays[feature], state.orders[feature]];
  const isRepeated = permitMs - before.permitMs < limits.tryMs;
  const next = isRepeated ? state : withRelay(state, feature, { ...before, permitMs }, permitMs);
  return withOrder(next, feature, order && { ...order, permitMs });
}

/** Kept orders count at the start only: later the guard remembers by itself. No used number counts, nor a geozone behind a person's open order. */
function afterOrder(setup: GuardSetup, state: GuardState, fact: Fact<'order'>): GuardState {
  const isNew = fact.origin === 'new';
  const order = isNew || state.stepMs === never ? verifyOrder(fact, setup) : null;
  if (order === null || (order.isCarried && order.feature === 'cargoaccess')) return state;
  const { feature, id, kind, body } = order;
  if (body !== null && body.counter <= state.counter && isNew) return state;
  const next = body === null ? state : { ...state, counter: Math.max(body.counter, state.counter) };
  const before = state.orders[feature];
  if (body?.cancel === true) return before?.id === id && !before.isCarried ? withOrder(next, feature) : next;
  if (body?.state === '0') return withOrder(next, feature);
  if (kind === 'zone' && before?.kind === 'broker' && !before.isCarried) return next;
  // The same order once more gains no time.
  const endMs = before?.id === id ? Math.min(before.endMs, order.endMs) : order.endMs;
  return withOrder(next, feature, { ...order, endMs });
}

export function recordFact(setup: GuardSetup, before: GuardState, fact: GuardFact): GuardState {
  const state = fact.atMs > before.newestMs ? { ...before, newestMs: fact.atMs } : before;
  if (fact.kind === 'step') return afterStep(state, fact);
  if (fact.kind === 'inputs') return afterInputs(setup, state, fact);
  if (fact.kind === 'relays') return afterRelays(state, fact);
  if (fact.kind === 'speed') return afterSpeed(state, fact);
  if (fact.kind === 'order') return afterOrder(setup, state, fact);
  if (fact.kind === 'sign') return afterSign(state, fact);
  if (fact.kind === 'grants') return { ...state, grants: fact.grants };
  if (fact.kind === 'owner') return { ...state, list: fact.list };
  return state.clock.isSigned && !fact.isSigned ? state : { ...state, clock: fact };
}
