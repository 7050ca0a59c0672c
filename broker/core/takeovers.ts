// Counts how often a new connection pushed out another of the same device. Two units with one identity push each other
// out all the time; a single unit on a bad network does it now and then. Bounded in devices and in memory per device.

const windowMs = 10 * 60_000;
const devicesMost = 10_000;
const keptMost = 16;

export interface Takeovers {
  /** Notes one and returns how many there were in the last ten minutes (counted up to 16). */
  note(user: string, nowMs: number): number;
}

export function createTakeovers(): Takeovers {
  const times = new Map<string, readonly number[]>();
  return {
    note(user, nowMs) {
      const recent = [...(times.get(user) ?? []).filter((atMs) => nowMs - atMs < windowMs), nowMs].slice(
        -keptMost,
      );
      times.delete(user);
      const [oldest] = times.keys();
      if (times.size >= devicesMost && oldest !== undefined) times.delete(oldest);
      times.set(user, recent);
      return recent.length;
    },
  };
}
