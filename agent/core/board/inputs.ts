// Makes steady sensor states of raw samples: inversion, debouncing, and `unknown` when no good sample has arrived for
// too long. Pure. It must never report an old state as current, and never miss a panic press that was sampled. Panic
// is on at its first asserted sample; the debounce only delays its release. Whether a short press meets a sample at
// all depends on the bus: see `worstSampleGapMs` of `board-profile.ts`.

export type SensorReading = 'on' | 'off' | 'unknown';

export interface InputRule {
  /** The raw bit is 0 while the signal is active. */
  readonly invert: boolean;
  /** A new state must be seen in every sample for this long. */
  readonly debounceMs: number;
  /** Without a good sample for this long the state is unknown. */
  readonly staleMs: number;
  /** On at once, at the first sample that shows it (panic). */
  readonly immediate: boolean;
}

interface Sensor {
  readonly reading: SensorReading;
  /** When the state began: of the first sample that showed it, or when it went stale. */
  readonly sinceMs: number;
  /** The sample before that one: it changed after this. */
  readonly afterMs: number;
  readonly candidate: {
    readonly reading: 'on' | 'off';
    readonly sinceMs: number;
    readonly afterMs: number;
  } | null;
  readonly lastSampleMs: number;
}

export interface InputsState<Name extends string> {
  readonly rules: Readonly<Partial<Record<Name, InputRule>>>;
  readonly sensors: Readonly<Partial<Record<Name, Sensor>>>;
  /** When a `time` input is due: the next state to go stale. */
  readonly wakeAtMs: number | null;
}

export type InputsInput<Name extends string> =
  /** Raw bits as on the wire, before inversion; null and absent are no sample. */
  | {
      readonly kind: 'sample';
      readonly atMs: number;
      readonly values: Readonly<Partial<Record<Name, boolean | null>>>;
    }
  | { readonly kind: 'time'; readonly atMs: number };

export interface InputChange<Name extends string> {
  readonly signal: Name;
  readonly reading: SensorReading;
  readonly sinceMs: number;
}

/** All unknown since `atMs`. */
export function createInputs<Name extends string>(
  rules: Readonly<Partial<Record<Name, InputRule>>>,
  atMs: number,
): InputsState<Name> {
  const sensors: Partial<Record<Name, Sensor>> = {};
  for (const signal of namesOf(rules)) {
    sensors[signal] = {
      reading: 'unknown',
      sinceMs: atMs,
      afterMs: atMs,
      candidate: null,
      lastSampleMs: -Infinity,
    };
  }
  return { rules, sensors, wakeAtMs: null };
}

function namesOf<Name extends string>(table: Readonly<Partial<Record<Name, unknown>>>): Name[] {
  return Object.keys(table) as Name[];
}

/** One sample or the passing of time; `changes` in the order of the rules. Times are monotonic. */
export function stepInputs<Name extends string>(
  state: InputsState<Name>,
  input: InputsInput<Name>,
): { readonly state: InputsState<Name>; readonly changes: readonly InputChange<Name>[] } {
  const sensors: Partial<Record<Name, Sensor>> = {};
  const changes: InputChange<Name>[] = [];
  let wakeAtMs = Infinity;
  let isSame = true;
  for (const signal of namesOf(state.rules)) {
    const rule = state.rules[signal];
    const before = state.sensors[signal];
    if (rule === undefined || before === undefined) continue;
    const raw = input.kind === 'sample' ? (input.values[signal] ?? null) : null;
    const fresh = withAge(before, rule, input.atMs);
    const after =
      raw === null ? fresh : withSample(fresh, rule, { on: raw !== rule.invert, atMs: input.atMs });
    sensors[signal] = after;
    isSame &&= after === before;
    // Unknown and back within one step is a change too: the old state was not proved in between.
    if (after.reading !== before.reading || after.sinceMs !== before.sinceMs) {
      changes.push({ signal, reading: after.reading, sinceMs: after.sinceMs });
    }
    if (after.reading !== 'unknown') wakeAtMs = Math.min(wakeAtMs, after.lastSampleMs + rule.staleMs);
  }
  const wake = wakeAtMs === Infinity ? null : wakeAtMs;
  if (isSame && wake === state.wakeAtMs) return { state, changes };
  return { state: { rules: state.rules, sensors, wakeAtMs: wake }, changes };
}

function withAge(sensor: Sensor, rule: InputRule, atMs: number): Sensor {
  const staleAtMs = sensor.lastSampleMs + rule.staleMs;
  if (atMs < staleAtMs) return sensor;
  if (sensor.reading === 'unknown')
    return sensor.candidate === null ? sensor : { ...sensor, candidate: null };
  return { ...sensor, reading: 'unknown', sinceMs: staleAtMs, afterMs: sensor.lastSampleMs, candidate: null };
}

function withSample(
  sensor: Sensor,
  rule: InputRule,
  sample: { readonly on: boolean; readonly atMs: number },
): Sensor {
  const reading = sample.on ? 'on' : 'off';
  const lastSampleMs = sample.atMs;
  if (reading === sensor.reading) return { ...sensor, candidate: null, lastSampleMs };
  const { sinceMs, afterMs } =
    sensor.candidate?.reading === reading
      ? sensor.candidate
      : { sinceMs: sample.atMs, afterMs: sensor.lastSampleMs };
  const isImmediate = rule.immediate && sample.on;
  if (!isImmediate && sample.atMs - sinceMs < rule.debounceMs)
    return { ...sensor, candidate: { reading, sinceMs, afterMs }, lastSampleMs };
  return { reading, sinceMs, afterMs, candidate: null, lastSampleMs };
}

const unfitted = { reading: 'unknown', sinceMs: -Infinity, afterMs: -Infinity } as const;

/** The state of one sensor, unknown when it is not fitted. */
export function readingOf<Name extends string>(
  state: InputsState<Name>,
  signal: Name,
): Pick<Sensor, 'reading' | 'sinceMs' | 'afterMs'> {
  return state.sensors[signal] ?? unfitted;
}

/** An input as a value: null while it is not known. */
export interface InputValue {
  readonly value: boolean | null;
  readonly sinceMs: number;
  readonly afterMs: number;
}

/** A debounced input as it is now. */
export function inputValue<Name extends string>(state: InputsState<Name>, signal: Name): InputValue {
  const { reading, sinceMs, afterMs } = readingOf(state, signal);
  return { value: reading === 'unknown' ? null : reading === 'on', sinceMs, afterMs };
}

/**
 * An input as evidence: a contact that closes counts at its first sample. The debounce delays its opening only, as
 * no relay may be written in the 300 ms in which a driver has turned the key and the agent is not sure yet.
 */
export function alertTo<Name extends string>(state: InputsState<Name>, signal: Name): InputValue {
  const candidate = state.sensors[signal]?.candidate;
  return candidate?.reading === 'on'
    ? { value: true, sinceMs: candidate.sinceMs, afterMs: candidate.afterMs }
    : inputValue(state, signal);
}
