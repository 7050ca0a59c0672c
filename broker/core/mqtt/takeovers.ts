// Counts how often a new connection replaced another of the same device. Two units with one identity replace each other all the time, from different
// networks. A single unit on a bad network does so occasionally, mostly from one network. Pure; bounded in devices and in memory per device.

const windowMs = 10 * 60_000;
const devicesMost = 10_000;
const keptMost = 16;
/** A larger number within ten minutes is suspect if they came from different networks. */
const movedMost = 3;
/** A larger number is suspect from any networks: two units may be behind one address. */
const anyMost = 12;

export interface Takeover {
  readonly user: string;
  /** Networks of the replaced connection and of the new one, see `networkOf`. */
  readonly from: string;
  readonly to: string;
  readonly nowMs: number;
}

interface TakeoverCount {
  /** Number of takeovers in the last ten minutes, up to 16, and number of those from another network. */
  readonly count: number;
  readonly moved: number;
  /** Two units seem to have one identity. */
  readonly isSuspect: boolean;
}

export interface Takeovers {
  record(takeover: Takeover): TakeoverCount;
}

interface Kept {
  readonly atMs: number;
  readonly hasMoved: boolean;
}

export function createTakeovers(): Takeovers {
  const kept = new Map<string, readonly Kept[]>();
  return {
    record({ user, from, to, nowMs }) {
      const earlier = (kept.get(user) ?? []).filter(({ atMs }) => nowMs - atMs < windowMs);
      const recent = [...earlier, { atMs: nowMs, hasMoved: from !== to }].slice(-keptMost);
      kept.delete(user);
      const [oldest] = kept.keys();
      if (kept.size >= devicesMost && oldest !== undefined) kept.delete(oldest);
      kept.set(user, recent);
      const count = recent.length;
      const moved = recent.filter(({ hasMoved }) => hasMoved).length;
      return { count, moved, isSuspect: moved > movedMost || count > anyMost };
    },
  };
}
