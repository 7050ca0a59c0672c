// Times of the index: 30 slots an hour, one bit each.
import { hourMs } from '../../../../src/core/durations.ts';
import type { Span } from './visit.ts';

/** Longer than `visitLimits.gapMs`, so no way leads over a slot in which a vehicle has no position. */
const slotMs = 120_000;
const slotsOfHour = hourMs / slotMs;

export interface HourSlots {
  /** Hours since 1970. */
  readonly hour: number;
  /** Bit `n` stands for the slot that begins 2 `n` minutes after the hour. */
  readonly slots: number;
}

/** The slots that a span meets, hour by hour. */
export function slotsOf({ fromMs, toMs }: Span): readonly HourSlots[] {
  const [first, last] = [Math.floor(fromMs / slotMs), Math.floor(toMs / slotMs)];
  const found: HourSlots[] = [];
  for (let hour = Math.floor(first / slotsOfHour); hour * slotsOfHour <= last; hour++) {
    const begin = Math.max(0, first - hour * slotsOfHour);
    const end = Math.min(slotsOfHour, last + 1 - hour * slotsOfHour);
    found.push({ hour, slots: 2 ** end - 2 ** begin });
  }
  return found;
}

/** The spans of slots within another one, in order. At least a slot lies between two of them. */
export function spansOf(all: readonly HourSlots[], within: Span): readonly Span[] {
  const numbers = new Set<number>();
  for (const { hour, slots } of all) {
    for (let slot = 0; slot < slotsOfHour; slot++)
      if ((slots & (1 << slot)) !== 0) numbers.add(hour * slotsOfHour + slot);
  }
  const spans: { readonly fromMs: number; toMs: number }[] = [];
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const [fromMs, toMs] = [number * slotMs, (number + 1) * slotMs - 1];
    const last = spans.at(-1);
    if (last?.toMs === fromMs - 1) last.toMs = toMs;
    else spans.push({ fromMs, toMs });
  }
  return spans.flatMap((span) => {
    const [fromMs, toMs] = [Math.max(span.fromMs, within.fromMs), Math.min(span.toMs, within.toMs)];
    return fromMs > toMs ? [] : [{ fromMs, toMs }];
  });
}
