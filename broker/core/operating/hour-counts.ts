// How often things of some kinds happened within the last hour, by the minute: a few additions each, nothing that grows.

import { minuteMs } from '../../../src/core/durations.ts';

const minutes = 60;
/** Kinds with a count of their own; names are ours and far fewer, only a bug could reach it. */
const kindsMost = 300;
export const otherKind = 'other';

export interface HourCount {
  readonly name: string;
  readonly lastHour: number;
  /** By the wall clock. */
  readonly lastMs: number;
}

/** A steady clock, and the wall clock in ms. */
interface Clocks {
  monoMs(): number;
  utcMs(): number;
}

export interface HourCounts {
  add(name: string): void;
  /** Those that happened within the hour, the most frequent first. */
  list(): readonly HourCount[];
}

interface Kind {
  /** By minute, each at its number modulo 60. */
  readonly counts: Float64Array;
  /** The minute that each place counts. */
  readonly of: Float64Array;
  lastMs: number;
}

export function createHourCounts(clock: Clocks): HourCounts {
  const kinds = new Map<string, Kind>();
  const kindOf = (name: string): Kind => {
    const known = kinds.get(name);
    if (known !== undefined) return known;
    if (kinds.size >= kindsMost && name !== otherKind) return kindOf(otherKind);
    const kind = {
      counts: new Float64Array(minutes),
      of: new Float64Array(minutes).fill(Number.NEGATIVE_INFINITY),
      lastMs: 0,
    };
    kinds.set(name, kind);
    return kind;
  };
  const minuteNow = (): number => Math.floor(clock.monoMs() / minuteMs);
  return {
    add(name) {
      const kind = kindOf(name);
      const minute = minuteNow();
      const place = ((minute % minutes) + minutes) % minutes;
      if (kind.of[place] !== minute) kind.counts[place] = 0;
      kind.of[place] = minute;
      kind.counts[place] = (kind.counts[place] ?? 0) + 1;
      kind.lastMs = clock.utcMs();
    },
    list() {
      const since = minuteNow() - minutes;
      const listed = [...kinds].map(([name, { counts, of, lastMs }]) => ({
        name,
        lastMs,
        lastHour: counts.reduce((sum, one, at) => ((of[at] ?? since) > since ? sum + one : sum), 0),
      }));
      return listed
        .filter(({ lastHour }) => lastHour > 0)
        .toSorted((one, other) => other.lastHour - one.lastHour || (one.name < other.name ? -1 : 1));
    },
  };
}
