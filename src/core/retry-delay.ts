// Delay before the next attempt, with full jitter: a fleet that lost its broker must not come back in one instant
// (GSMA TS.34 REQ_003).

export interface RetryDelayOptions {
  readonly baseMs: number;
  readonly capMs: number;
  /** Smallest delay; keeps a lucky draw from hammering. */
  readonly floorMs: number;
}

/**
 * @param attempt 0 for the first retry after a success.
 * @param fraction uniform random number in [0, 1).
 * @returns ms in [floor, min(cap, base * 2^attempt)).
 */
export function retryDelayMs(
  options: RetryDelayOptions,
  draw: { attempt: number; fraction: number },
): number {
  const ceiling = Math.min(options.capMs, options.baseMs * 2 ** Math.min(draw.attempt, 30));
  return Math.max(options.floorMs, Math.floor(ceiling * draw.fraction));
}
