// How much of the time work in the background takes: half as much as soon as vehicles wait, more by small steps while they do
// not (additive increase, multiplicative decrease, as TCP shares a line: RFC 5681, 3.1). Pure: what was seen comes in, the next
// share comes out. It must never stop the work for good: what is never done in the background grows until it is urgent.

export interface BackOffRules {
  /** A write that waits longer than this for the disk waits for more than the disk, in ms. */
  readonly lateMs: number;
  /** Parts of the time, above 0 and up to 1; it begins with the greatest. */
  readonly least: number;
  readonly most: number;
  /** No rest is longer, in ms. */
  readonly restMostMs: number;
}

/** Given back after each piece that held nobody up. */
const giveBack = 0.02;

/** The share after a piece, from the share before it and the longest wait that was seen about it. */
export function nextShare({ lateMs, least, most }: BackOffRules, share: number, waitedMs: number): number {
  return waitedMs > lateMs ? Math.max(least, share / 2) : Math.min(most, share + giveBack);
}

/** The rest after a piece in ms, so that it and the rest are the share; 0 when all of the time may be taken. */
export function restMs({ restMostMs }: BackOffRules, share: number, tookMs: number): number {
  return Math.min(restMostMs, Math.max(0, tookMs) * (1 / share - 1));
}
