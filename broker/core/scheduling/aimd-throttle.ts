// The share of time for background work: halved as soon as vehicles wait, raised in small steps otherwise (additive
// increase, multiplicative decrease: RFC 5681, 3.1). Pure. It never reaches zero, as deferred work would grow until it is
// urgent.

export interface ThrottleRules {
  /** A write that waits longer than this for the disk waits for more than the disk, in ms. */
  readonly lateMs: number;
  /** Parts of the time, above 0 and up to 1; it begins with the greatest. */
  readonly least: number;
  readonly most: number;
  /** No rest is longer, in ms. */
  readonly restMostMs: number;
}

/** Regained after each batch that delayed no vehicle. */
const giveBack = 0.02;

/** The share after a piece, from the share before it and the longest wait that was seen about it. */
export function nextShare({ lateMs, least, most }: ThrottleRules, share: number, waitedMs: number): number {
  return waitedMs > lateMs ? Math.max(least, share / 2) : Math.min(most, share + giveBack);
}

/** The rest after a piece in ms, so that it and the rest are the share; 0 when all of the time may be taken. */
export function restMs(
  { restMostMs }: Pick<ThrottleRules, 'restMostMs'>,
  share: number,
  tookMs: number,
): number {
  return Math.min(restMostMs, Math.max(0, tookMs) * (1 / share - 1));
}
