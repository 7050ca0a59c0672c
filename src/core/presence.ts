// The one definition of presence, for the service, the console, rules and reports. Pure.
//
// A unit that says hello is present while it is connected. Any other device is present until its silence exceeds its rhythm: it
// may connect for each message, and sends less often while it is parked.

export type Presence = 'online' | 'offline' | 'never';

export const silenceLimits = {
  /** No device counts as absent earlier; the default of Traccar (`status.timeout`). */
  leastMs: 600_000,
  /** Messages in a row that may be missing before a device counts as absent. */
  missing: 3,
  /** Longest rhythm that is learned: a tracker that reports once a day, a day late. */
  longestMs: 2 * 86_400_000,
  /** A silence that was usual is forgotten within some days, in proportion to the time that passes. */
  forgottenMs: 3 * 86_400_000,
} as const;

/** Longest silence of a present device that says no hello. @param usualMs its longest usual silence; 0: not known. */
export const silenceLimitMs = (usualMs: number): number =>
  Math.max(silenceLimits.leastMs, silenceLimits.missing * usualMs);

/**
 * The presence of a device; null: not known.
 * @param known `isOnline`: as the service recorded it; null: not known. `heartbeatS`: when it was last heard, epoch seconds; 0: never.
 */
export function presenceOf(known: {
  readonly isOnline: boolean | null;
  readonly heartbeatS: number;
}): Presence | null {
  if (known.isOnline === null) return null;
  if (known.isOnline) return 'online';
  return known.heartbeatS === 0 ? 'never' : 'offline';
}
