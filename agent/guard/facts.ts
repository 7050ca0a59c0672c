// What the relay guard knows: facts as readers read them, and orders as they were verified. Pure; `README.md` defines each. Times are monotonic ms
// unless named otherwise. After a start nothing is known. A value that was not sent is absent; null: it was read and means nothing.
import { type FeatureName, featureNames } from '../../src/core/events/event.ts';
import { type Arrival, type Order, type OrderProof, type OrderSetup, verifyOrder } from './order.ts';

export const limits = {
  /** Largest ages that count: request for an input; fix and reading of the bus; analog engine speed; read-back of the warning output. */
  inputMs: 600,
  fixMs: 2000,
  rpmMs: 10_000,
  warningMs: 15_000,
  /** A longer gap between two steps is a hold-up: while a change waits one is due every 50 ms. What came in it is read within `unreadMs`. */
  gapMs: 200,
  stepMs: 20,
  unreadMs: 130,
  /** From here on a vehicle moves; an engine turns, by an analog sender and by the bus, 1/min. */
  movingKmh: 3,
  engineRpm: 100,
  busRpm: 300,
  /** A motion input says movement until `pulseMs` after it was active, and rest after `quietMs`. */
  pulseMs: 3000,
  quietMs: 30_000,
  /** One that was active for so long, while the receiver never showed movement, is stuck. */
  stuckMs: 600_000,
  /** An order is carried out once its relay was read closed for so long: a cut that is withdrawn on the wire may be tried again. */
  carriedMs: 4000,
  /** Least time between two closings of a relay, and most closings in an hour. */
  betweenMs: 10_000,
  perHour: 6,
  hourMs: 3_600_000,
} as const;

/** Where a restrictive relay is written. `off`: value of the register that opens it; null: it is a coil. */
export interface GuardedRelay {
  readonly feature: FeatureName;
  readonly unit: number;
  readonly addresses: readonly number[];
  readonly off: number | null;
}

/** The installer's choices. Inputs that are not fitted are null; with `invert` the raw bit is 0 while it is active. */
export interface GuardSetup extends OrderSetup {
  readonly relays: readonly GuardedRelay[];
  readonly ignition: { readonly invert: boolean } | null;
  readonly motion: { readonly invert: boolean } | null;
  /** A standing vehicle may be cut with the key on, after a warning of this length; infinite: it may not. */
  readonly warningMs: number;
  /** A motion input may stand for the position while there is none. */
  readonly mayLackFix: boolean;
}

type InputName = 'ignition' | 'motion';
interface Facts {
  readonly step: unknown;
  /** Raw bits. `askedMs`: when the last request that was answered was sent. */
  readonly inputs: { readonly askedMs: number | null } & { readonly [Name in InputName]?: boolean | null };
  /** Relays as read back; true: energised. */
  readonly relays: { readonly [Name in FeatureName | 'warning']?: boolean | null };
  /** Engine speed of an analog sender, 1/min. */
  readonly rpm: { readonly value: number | null };
  /** One sentence of the receiver. `isFix`: its mode is a measured one; false: dead reckoning. Null: void, its speed may be an old one. */
  readonly speed: { readonly of: 'RMC' | 'VTG'; readonly kmh: number | null; readonly isFix: boolean | null };
  /** Fastest fresh speed of the vehicle bus, and fresh speed of an engine that runs; null: none. */
  readonly bus: { readonly kmh: number | null; readonly rpm: number | null };
  /** UTC of the broker's signed welcome, or of an RMC. */
  readonly clock: { readonly utcMs: number; readonly isSigned: boolean };
  /** What geozones of the signed configuration ask for, as `grantOf` writes it. */
  readonly grants: { readonly grants: readonly string[] };
  readonly order: { readonly proof: OrderProof } & Arrival;
}

type Fact<Kind extends keyof Facts> = { readonly kind: Kind; readonly atMs: number } & Facts[Kind];
export type GuardFact = { [Kind in keyof Facts]: Fact<Kind> }[keyof Facts];

const never = Number.NEGATIVE_INFINITY;
const unseen = {
  /** Last step, and end of the last hold-up; the first step ends one. */
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
  rpm: { value: null as number | null, atMs: never },
  bus: { kmh: null as number | null, rpm: null as number | null, atMs: never },
  /** The warning output sounds since then; infinite: it does not, or is unknown. */
  warning: { sinceMs: Number.POSITIVE_INFINITY, atMs: never },
  relays: {} as Partial<Record<FeatureName, { isOn: boolean; sinceMs: number; closedMs: readonly number[] }>>,
  orders: {} as Partial<Record<FeatureName, Order>>,
  /** Highest number of a verified envelope; one that is not higher is used. */
  counter: 0,
  grants: [] as readonly string[],
  clock: { utcMs: Number.MAX_VALUE, atMs: 0, isSigned: false },
};
export type GuardState = Readonly<typeof unseen>;
export const createGuard = (): GuardState => unseen;

function afterStep(state: GuardState, { atMs }: Fact<'step'>): GuardState {
  const gapMs = atMs - state.stepMs;
  if (gapMs < limits.stepMs) return state;
  return { ...state, stepMs: atMs, heldUpMs: gapMs > limits.gapMs ? atMs : state.heldUpMs };
}

/** A gap between samples ends their row. */
function afterMotion(state: GuardState, isActive: boolean, atMs: number): GuardState {
  const isGap = (lastMs: number): boolean => atMs - lastMs > limits.pulseMs;
  const readSinceMs = isGap(state.readMs) ? atMs : state.readSinceMs;
  const activeSinceMs = isGap(state.activeMs) ? atMs : state.activeSinceMs;
  return { ...state, readMs: atMs, readSinceMs, ...(isActive ? { activeMs: atMs, activeSinceMs } : {}) };
}

function afterInputs(setup: GuardSetup, state: GuardState, fact: Fact<'inputs'>): GuardState {
  let next = state;
  for (const name of ['ignition', 'motion'] as const) {
    const [fitted, bit] = [setup[name], fact[name]];
    if (fitted === null || bit === undefined) continue;
    const isActive = bit === null ? null : bit !== fitted.invert;
    next = { ...next, [name]: { isActive, askedMs: fact.askedMs ?? never } };
    if (name === 'motion' && isActive !== null) next = afterMotion(next, isActive, fact.atMs);
  }
  return next;
}

function afterSpeed(state: GuardState, { of, kmh, isFix, atMs }: Fact<'speed'>): GuardState {
  const isFast = isFix !== null && kmh !== null && kmh > limits.movingKmh;
  const fix = of === 'RMC' ? { kmh: isFix === true ? kmh : null, atMs } : state.fix;
  return { ...state, fix, fastMs: isFast ? atMs : state.fastMs };
}

/** The state with another order of a feature; undefined: none. */
export const withOrder = (state: GuardState, feature: FeatureName, order?: Order): GuardState => {
  const { [feature]: _old, ...others } = state.orders;
  return { ...state, orders: order === undefined ? others : { ...others, [feature]: order } };
};

function afterRelays(state: GuardState, fact: Fact<'relays'>): GuardState {
  const { atMs, warning } = fact;
  const sinceMs = warning === true ? Math.min(state.warning.sinceMs, atMs) : Number.POSITIVE_INFINITY;
  let next = warning === undefined ? state : { ...state, warning: { sinceMs, atMs } };
  for (const feature of featureNames) {
    const isOn = fact[feature] ?? null;
    if (isOn === null) continue;
    const before = next.relays[feature];
    const closing = isOn && before?.isOn === false ? [atMs] : [];
    const closedMs = [...(before?.closedMs ?? []), ...closing].slice(-limits.perHour);
    const seen = { isOn, sinceMs: before?.isOn === isOn ? before.sinceMs : atMs, closedMs };
    next = { ...next, relays: { ...next.relays, [feature]: seen } };
    const order = next.orders[feature];
    // A lock that opened and closed is not opened again by the same order.
    if (feature === 'cargoaccess' && !isOn && before?.isOn === true) next = withOrder(next, feature);
    else if (order !== undefined && isOn && atMs - seen.sinceMs >= limits.carriedMs)
      next = withOrder(next, feature, { ...order, isCarried: true });
  }
  return next;
}

/** An envelope with a used number is not taken, nor an order of a geozone behind an open one of a person. */
function afterOrder(setup: GuardSetup, state: GuardState, fact: Fact<'order'>): GuardState {
  const order = verifyOrder(fact.proof, setup, fact);
  if (order === null || (order.counter <= state.counter && fact.origin === 'new')) return state;
  const { feature, counter, id, kind } = order;
  const next = kind === 'broker' ? { ...state, counter: Math.max(counter, state.counter) } : state;
  const before = state.orders[feature];
  if (order.state === 'cancel')
    return before?.id === id && !before.isCarried ? withOrder(next, feature) : next;
  if (order.state === '0') return withOrder(next, feature);
  if (kind === 'zone' && before?.kind === 'broker' && !before.isCarried) return next;
  // The same order once more gains no time.
  const endMs = before?.id === id ? Math.min(before.endMs, order.endMs) : order.endMs;
  return withOrder(next, feature, { ...order, endMs });
}

/** The state after a fact. */
export function recordFact(setup: GuardSetup, state: GuardState, fact: GuardFact): GuardState {
  if (fact.kind === 'step') return afterStep(state, fact);
  if (fact.kind === 'inputs') return afterInputs(setup, state, fact);
  if (fact.kind === 'relays') return afterRelays(state, fact);
  if (fact.kind === 'speed') return afterSpeed(state, fact);
  if (fact.kind === 'order') return afterOrder(setup, state, fact);
  if (fact.kind === 'rpm') return { ...state, rpm: fact };
  if (fact.kind === 'bus') return { ...state, bus: fact };
  if (fact.kind === 'grants') return { ...state, grants: fact.grants };
  return state.clock.isSigned && !fact.isSigned ? state : { ...state, clock: fact };
}
