// The calibration of a tank as a pure session: after each known amount, poured in or drained, the sender is read at rest;
// a table results. A moving reading is never used, and every point is output at once, to be stored.
import { median, spread, withLast } from './fuel-window.ts';
import { buildTankTable, formatTankTable, type TankPoint, type TankTable, tankLimits } from './tank-table.ts';

export interface CalibrationPlan {
  readonly capacityL: number;
  readonly mode: 'fill' | 'drain';
  /** Litres in the tank before the first amount. */
  readonly startL: number;
  /** The valid range of the measure in the board profile. */
  readonly valid: readonly [number, number];
  /** A reading is at rest when it has not moved for so long. */
  readonly settleMs: number;
  /** The table of agent.toml that the result belongs to. */
  readonly place: string;
}

export type CalibrationInput =
  /** What the sender reads, before any table; null: outside of its range, or the board does not answer. */
  | { readonly kind: 'measure'; readonly atMs: number; readonly measure: number | null }
  | { readonly kind: 'time'; readonly atMs: number }
  /**
   * So many litres were poured in (fill) or taken out (drain) since the point before. `isAhead`: they are on their way, so
   * the sender must have moved before it is read.
   */
  | { readonly kind: 'amount'; readonly atMs: number; readonly litres: number; readonly isAhead: boolean }
  /** Removes the last point. */
  | { readonly kind: 'undo' }
  /** No more amounts: make the table. */
  | { readonly kind: 'finish' };

export type CalibrationOutput =
  | { readonly kind: 'say'; readonly text: string }
  /** To be put on disk before anything else happens. */
  | { readonly kind: 'keep'; readonly points: readonly TankPoint[] }
  /** The reading is known: the next amount, `undo` or `finish` is wanted. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'table'; readonly table: TankTable; readonly toml: string };

interface Waiting {
  readonly litres: number;
  readonly sinceMs: number | null;
  /** The reading must differ from this one; null: any reading at rest counts. */
  readonly from: number | null;
  readonly readings: readonly { readonly atMs: number; readonly measure: number }[];
  readonly reportedAtMs: number | null;
}

export interface CalibrationState {
  readonly plan: CalibrationPlan;
  readonly points: readonly TankPoint[];
  readonly waiting: Waiting | null;
}

const calibrationLimits = {
  /** A reading at rest stays within this part of the valid range; one that moved is outside of it by three times that. */
  rest: 0.01,
  readings: 128,
  leastReadings: 3,
  /** How often a waiting session reports that it waits. */
  reportMs: 15_000,
} as const;

type Step = { readonly state: CalibrationState; readonly outputs: readonly CalibrationOutput[] };

const litresNow = (state: CalibrationState): number => state.points.at(-1)?.litres ?? state.plan.startL;
const short = (value: number): string => String(Number(value.toPrecision(5)));
const say = (text: string): CalibrationOutput => ({ kind: 'say', text });

const waitFor = (litres: number, from: number | null): Waiting => ({
  litres,
  sinceMs: null,
  from,
  readings: [],
  reportedAtMs: null,
});

/** A session with the points of an earlier one; without any, the first reading is of what is in the tank now. */
export function startCalibration(plan: CalibrationPlan, points: readonly TankPoint[]): Step {
  if (points.length === 0) {
    const state = { plan, points, waiting: waitFor(plan.startL, null) };
    return { state, outputs: [say(`Reading the sender at ${short(plan.startL)} L ...`)] };
  }
  const state = { plan, points, waiting: null };
  const text = `Going on after ${points.length} points; there are ${short(litresNow(state))} L in the tank.`;
  return { state, outputs: [say(text), { kind: 'ask' }] };
}

/** One input. Times are monotonic. Never throws: an invalid input is answered with a text. */
export function stepCalibration(state: CalibrationState, input: CalibrationInput): Step {
  switch (input.kind) {
    case 'measure':
      return handleMeasure(state, input);
    case 'time':
      return remind(state, input.atMs);
    case 'amount':
      return handleAmount(state, input);
    case 'undo':
      return undo(state);
    case 'finish':
      return finish(state);
  }
}

function handleAmount(state: CalibrationState, input: CalibrationInput & { readonly kind: 'amount' }): Step {
  const { plan, points, waiting } = state;
  if (waiting !== null) return { state, outputs: [say('Wait: the last reading is not at rest yet.')] };
  const total = litresNow(state) + (plan.mode === 'fill' ? 1 : -1) * input.litres;
  const litres = Math.round(total * 1000) / 1000;
  const refusal = !(input.litres > 0)
    ? 'An amount is a number of litres above 0.'
    : litres > plan.capacityL
      ? `That would be ${short(litres)} L in a tank of ${short(plan.capacityL)} L.`
      : litres < 0
        ? `There are only ${short(litresNow(state))} L in the tank.`
        : points.length >= tankLimits.inputPoints
          ? `There are ${points.length} points; finish now.`
          : null;
  if (refusal !== null) return { state, outputs: [say(refusal), { kind: 'ask' }] };
  const from = input.isAhead ? (points.at(-1)?.measure ?? null) : null;
  const next = { ...state, waiting: waitFor(litres, from) };
  return { state: next, outputs: [say(`Reading the sender at ${short(litres)} L ...`)] };
}

function handleMeasure(
  state: CalibrationState,
  input: CalibrationInput & { readonly kind: 'measure' },
): Step {
  const { plan, points, waiting } = state;
  if (waiting === null) return { state, outputs: [] };
  const { atMs, measure } = input;
  if (measure === null) {
    // A steady reading before the silence proves nothing about now.
    return remind({ ...state, waiting: { ...waiting, readings: [] } }, atMs);
  }
  const range = plan.valid[1] - plan.valid[0];
  const kept = withLast(waiting.readings, { atMs, measure }, calibrationLimits.readings);
  const readings = kept.filter((reading) => atMs - reading.atMs <= plan.settleMs * 1.5);
  const measures = readings.map((reading) => reading.measure);
  const restMs = atMs - (readings[0]?.atMs ?? atMs);
  const isAtRest =
    readings.length >= calibrationLimits.leastReadings &&
    restMs >= plan.settleMs &&
    spread(measures) <= calibrationLimits.rest * range;
  const middle = median(measures);
  const hasMoved =
    waiting.from === null || Math.abs(middle - waiting.from) > 3 * calibrationLimits.rest * range;
  const next = { ...state, waiting: { ...waiting, readings } };
  if (!isAtRest || !hasMoved) return remind(next, atMs);
  const taken = [...points, { litres: waiting.litres, measure: Number(middle.toPrecision(6)) }];
  const text = `Point ${taken.length}: ${short(waiting.litres)} L reads ${short(middle)}.`;
  return {
    state: { ...next, points: taken, waiting: null },
    outputs: [{ kind: 'keep', points: taken }, say(text), { kind: 'ask' }],
  };
}

/** Reports from time to time why it waits. */
function remind(state: CalibrationState, atMs: number): Step {
  const { plan, waiting } = state;
  if (waiting === null) return { state, outputs: [] };
  const sinceMs = waiting.sinceMs ?? atMs;
  const lastMs = waiting.reportedAtMs ?? sinceMs;
  if (atMs - lastMs < calibrationLimits.reportMs) {
    return { state: { ...state, waiting: { ...waiting, sinceMs } }, outputs: [] };
  }
  const measures = waiting.readings.map((reading) => reading.measure);
  const last = measures.at(-1);
  const range = plan.valid[1] - plan.valid[0];
  const isMoving = spread(measures) > calibrationLimits.rest * range;
  const reason =
    last === undefined
      ? `no valid reading; the sender or the board does not answer (valid is ${plan.valid[0]} to ${plan.valid[1]})`
      : isMoving
        ? `the reading still moves by ${short(spread(measures))}`
        : waiting.from === null
          ? `not long enough at rest at ${short(last)}`
          : `the sender has not moved from ${short(waiting.from)}`;
  const text = `Waiting for ${Math.round((atMs - sinceMs) / 1000)} s: ${reason}.`;
  return { state: { ...state, waiting: { ...waiting, sinceMs, reportedAtMs: atMs } }, outputs: [say(text)] };
}

function undo(state: CalibrationState): Step {
  const { points, waiting } = state;
  if (waiting !== null && points.length > 0) {
    const text = `The amount to ${short(waiting.litres)} L is discarded; ${points.length} points are kept.`;
    return { state: { ...state, waiting: null }, outputs: [say(text), { kind: 'ask' }] };
  }
  if (points.length <= 1) {
    const text = 'The first point cannot be removed; start a new calibration instead.';
    return { state, outputs: waiting === null ? [say(text), { kind: 'ask' }] : [say(text)] };
  }
  const left = points.slice(0, -1);
  const next = { ...state, points: left };
  const text = `The last point is removed; ${left.length} are kept, the last at ${short(litresNow(next))} L.`;
  return { state: next, outputs: [{ kind: 'keep', points: left }, say(text), { kind: 'ask' }] };
}

function finish(state: CalibrationState): Step {
  const { plan, points } = state;
  const verdict = buildTankTable(points, plan);
  if (verdict.kind === 'refused') {
    return { state, outputs: [...verdict.reasons.map(say), { kind: 'ask' }] };
  }
  const { table } = verdict;
  const toml = formatTankTable(table, plan);
  const warnings = verdict.warnings.map((text) => say(`Note: ${text}`));
  return { state: { ...state, waiting: null }, outputs: [...warnings, { kind: 'table', table, toml }] };
}

/** The points of an earlier session from the stored record; null when it is damaged or of another tank. */
export function parseCalibration(stored: unknown, plan: CalibrationPlan): readonly TankPoint[] | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const { v, capacityL, mode, points } = stored as Readonly<Record<string, unknown>>;
  if (v !== 1 || capacityL !== plan.capacityL || mode !== plan.mode || !Array.isArray(points)) return null;
  const isPoint = (point: unknown): point is TankPoint =>
    typeof point === 'object' &&
    point !== null &&
    'litres' in point &&
    'measure' in point &&
    Number.isFinite(point.litres) &&
    Number.isFinite(point.measure);
  return points.length <= tankLimits.inputPoints && points.every(isPoint) ? points : null;
}

/** The stored record of a session. */
export function calibrationRecord(plan: CalibrationPlan, points: readonly TankPoint[]): object {
  return { v: 1, capacityL: plan.capacityL, mode: plan.mode, points };
}
