// Statistics of the fuel machine: medians, bounded lists, medians of ten seconds, and the test that a change can be
// liquid. Pure. Memory is bounded.
import { fuelLimits } from './fuel-limits.ts';
import type { FuelSlot, FuelState } from './fuel-types.ts';

/** The middle value (mean of the two middle ones); NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length / 2;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? Number.NaN) + high) / 2;
}

/** Largest less smallest; 0 for an empty list. */
export function spread(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.max(...values) - Math.min(...values);
}

/** At least so much, in spite of what fractions differ by in binary: 0.8 less 0.7 is 0.1, and so is 0.7 less 0.6. */
export function reaches(value: number, least: number): boolean {
  return value >= least - fuelLimits.epsilon;
}

/** No more apart than `most`. */
export function isWithin(values: readonly number[], most: number): boolean {
  return spread(values) <= most + fuelLimits.epsilon;
}

/** The level and the steps after one more median: a level holds until it is left by more than noise. */
export function followSteps(
  { at, steps, phase }: Pick<FuelState, 'at' | 'steps' | 'phase'>,
  slot: FuelSlot,
): Pick<FuelState, 'at' | 'steps'> {
  const isOn = at !== null && slot.atMs - at.atMs <= fuelLimits.stepGapMs;
  const size = isOn ? Math.abs(slot.level - at.level) : 0;
  if (isOn && reaches(fuelLimits.stepLeast, size)) return { at: { ...at, atMs: slot.atMs }, steps };
  // A wire that breaks on the road goes to an end of the scale; while standing it is a jump.
  const isStep = isOn && (phase === 'standing' || (!isAtEnd(at.level) && !isAtEnd(slot.level)));
  return { at: slot, steps: isStep ? withLast(steps, size, fuelLimits.steps) : steps };
}

/**
 * The step of the sender: the second least of its last changes, so neither a change of two steps nor one odd reading
 * decides. 0: too fine to matter, or no change yet.
 */
export function stepOf({ steps }: Pick<FuelState, 'steps'>): number {
  const step = [...steps].sort((left, right) => left - right)[steps.length < 4 ? 0 : 1] ?? 0;
  return step < fuelLimits.stepCoarse ? 0 : step;
}

/** The least change of the level that is no rounding of this sender. */
export function leastChange(state: Pick<FuelState, 'steps'>, least: number): number {
  return Math.max(least, fuelLimits.stepsLeast * stepOf(state));
}

/** The same between different places, where a border between two steps may lie anywhere. */
export function leastElsewhere(state: Pick<FuelState, 'steps'>): number {
  return fuelLimits.elsewhere + (state.steps.length === 0 ? fuelLimits.stepUnknown : stepOf(state));
}

/** The list with one more at its end, and only the last `most`. */
export function withLast<T>(list: readonly T[], item: T, most: number): readonly T[] {
  return [...list, item].slice(-most);
}

/** A middle one of the values as it was read: the mean of two would lie between two steps of the sender. */
function middleOf(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Adds a sample; `full` is the median that it completed, if it did. */
export function gather(
  slot: FuelState['slot'],
  sample: FuelSlot,
): { readonly slot: FuelState['slot']; readonly full: FuelSlot | null } {
  const fresh = { startMs: sample.atMs, lastMs: sample.atMs, levels: [sample.level] };
  if (slot === null) return { slot: fresh, full: null };
  const isOver =
    sample.atMs - slot.startMs >= fuelLimits.slotMs || sample.atMs - slot.lastMs > fuelLimits.slotGapMs;
  if (isOver) return { slot: fresh, full: { atMs: slot.lastMs, level: middleOf(slot.levels) } };
  const levels = slot.levels.length < fuelLimits.slotSamples ? [...slot.levels, sample.level] : slot.levels;
  return { slot: { startMs: slot.startMs, lastMs: sample.atMs, levels }, full: null };
}

/** Samples used by `jumped`: four at rest, two in between, four at rest. */
export const jumpSamples = 10;
const restSamples = 4;

/** At an end of the scale, as a wire that is broken or touches the chassis reads. */
export function isAtEnd(level: number): boolean {
  return level <= fuelLimits.emptyEnd || level >= fuelLimits.fullEnd;
}

/** By how much the level jumped as no liquid can; 0 when it did not or when that is unknown. */
export function jumped(raw: readonly FuelSlot[]): number {
  const first = raw[0];
  const last = raw.at(-1);
  if (raw.length < jumpSamples || first === undefined || last === undefined) return 0;
  if (last.atMs - first.atMs > fuelLimits.jumpSpanMs) return 0;
  // Cheap, and true of every jump: both ends are within `jumpSpread` of their medians.
  if (Math.abs(last.level - first.level) < fuelLimits.jumpToEnd - 2 * fuelLimits.jumpSpread) return 0;
  const levels = raw.map((sample) => sample.level);
  const old = levels.slice(0, restSamples);
  const now = levels.slice(-restSamples);
  if (spread(old) > fuelLimits.jumpSpread || spread(now) > fuelLimits.jumpSpread) return 0;
  const change = median(now) - median(old);
  const least = now.every(isAtEnd) ? fuelLimits.jumpToEnd : fuelLimits.jump;
  return reaches(Math.abs(change), least) ? change : 0;
}
