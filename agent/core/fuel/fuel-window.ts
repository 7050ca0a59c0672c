// Statistics of the fuel machine: medians, bounded lists, samples gathered into medians of ten seconds, and the test
// whether a change can be liquid at all. Pure. Memory is bounded.
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

/** The list with one more at its end, and only the last `most`. */
export function withLast<T>(list: readonly T[], item: T, most: number): readonly T[] {
  return [...list, item].slice(-most);
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
  if (isOver) return { slot: fresh, full: { atMs: slot.lastMs, level: median(slot.levels) } };
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
  return Math.abs(change) >= least ? change : 0;
}
