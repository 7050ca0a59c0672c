// The span of event time under which an event is recorded, so that readers find the slices that can hold it. A day for
// plausible times, near the time of receipt; coarser far from it, so that wrong clocks cannot create many spans.

import { dayMs } from '../../../src/core/durations.ts';

/** Epoch ms, both ends included. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The migration of the store says the same in SQL. */
export const spanRules = {
  dayMs,
  /** An event up to so much older than its receipt, or so much ahead of it, is noted under its day. */
  behindMs: 60 * dayMs,
  aheadMs: 2 * dayMs,
  /** Farther away it is noted under a block of so many days: some 570 from 2001 to 2100. */
  blockMs: 64 * dayMs,
  /** Before 2001 no device of ours existed; from 2100 on a time is a fault of the sender. One span each. */
  earliestMs: 978_307_200_000,
  latestMs: 4_102_444_800_000,
} as const;

/** The span that an event of that time is recorded under: the same for every caller. */
export function spanOf(timestampMs: number, receivedMs: number): TimeSpan {
  const { earliestMs, latestMs, behindMs, aheadMs, blockMs } = spanRules;
  if (timestampMs < earliestMs) return { fromMs: Number.MIN_SAFE_INTEGER, toMs: earliestMs - 1 };
  if (timestampMs >= latestMs) return { fromMs: latestMs, toMs: Number.MAX_SAFE_INTEGER };
  const isNear = timestampMs >= receivedMs - behindMs && timestampMs <= receivedMs + aheadMs;
  const widthMs = isNear ? dayMs : blockMs;
  const fromMs = timestampMs - (timestampMs % widthMs);
  return { fromMs, toMs: fromMs + widthMs - 1 };
}

/** The same time as few spans that neither touch nor overlap, in order. */
export function joinSpans(spans: readonly TimeSpan[]): readonly TimeSpan[] {
  const joined: TimeSpan[] = [];
  for (const span of [...spans].sort((one, other) => one.fromMs - other.fromMs)) {
    const last = joined.at(-1);
    if (last === undefined || span.fromMs > last.toMs + 1) joined.push(span);
    else if (span.toMs > last.toMs) joined[joined.length - 1] = { fromMs: last.fromMs, toMs: span.toMs };
  }
  return joined;
}
