// Converts raw samples to steady sensor states: inversion, debouncing, and `unknown` after too long without a good sample. Pure. It must never report
// an old state as current, and never miss a panic press that was sampled. Panic is on at its first asserted sample; the debounce only delays its
// release. A short press may still fall between two samples: see `worstSampleGapMs` of `board-profile.ts`.

export type SensorReading = 'on' | 'off' | 'unknown';

export interface InputRule {
  /** The raw bit is 0 while the signal is active. */
  readonly invert: boolean;
  /** Time for which every sample must show a new state, ms. */
  readonly debounceMs: number;
  /** Time without a good sample after which the state is unknown, ms. */
  readonly staleMs: number;
  /** On at the first sample that shows it (panic). */
  readonly immediate: boolean;
}

interface Sensor {
  readonly reading: SensorReading;
  /** Monotonic start of the state, ms: its first sample, or the time at which it went stale. */
  readonly sinceMs: number;
  /** Monotonic time of the sample before that one, ms: the change came after it. */
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
  /** Monotonic time at which a `time` input is due, ms: the next state to go stale; null: none. */
  readonly wakeAtMs: number | null;
}

export type InputsInput<Name extends string> =
  /** Raw bits as on the wire, before inversion; null or absent: no sample. */
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

/** State with all inputs unknown since `atMs`. */
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

/** One sample, or the passing of time; `changes` are in the order of the rules. Times are monotonic. */
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
    // Unknown and back within one step is a change too: nothing proved the old state in between.
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

/** State of one sensor; unknown if not fitted. */
export function readingOf<Name extends string>(
  state: InputsState<Name>,
  signal: Name,
): Pick<Sensor, 'reading' | 'sinceMs' | 'afterMs'> {
  return state.sensors[signal] ?? unfitted;
}

/** An input as a value; null: unknown. */
export interface InputValue {
  readonly value: boolean | null;
  readonly sinceMs: number;
  readonly afterMs: number;
}

export function inputValue<Name extends string>(state: InputsState<Name>, signal: Name): InputValue {
  const { reading, sinceMs, afterMs } = readingOf(state, signal);
  return { value: reading === 'unknown' ? null : reading === 'on', sinceMs, afterMs };
}

/**
 * An input as evidence: a closing contact counts at its first sample, and the debounce only delays its opening. No relay may be written in the 300 ms
 * between the turn of the key and the end of the debounce.
 */
export function alertTo<Name extends string>(state: InputsState<Name>, signal: Name): InputValue {
  const candidate = state.sensors[signal]?.candidate;
  return candidate?.reading === 'on'
    ? { value: true, sinceMs: candidate.sinceMs, afterMs: candidate.afterMs }
    : inputValue(state, signal);
}
