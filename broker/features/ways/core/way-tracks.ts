// From the positions of a vehicle to the tracks that it drove: no line over a gap, none while it stands.

import { dayMs } from '../../../../src/core/durations.ts';
import type { Point } from '../../../../src/core/geo/geo.ts';
import { beliefLimits } from '../../../core/events/belief.ts';
import { besideLongitude, metresBetween, type Place, unitsPerDegree, zooms } from './way-grid.ts';
import type { Track } from './way-thinning.ts';

/** Days that are thinned together. */
export const periodDays = 15;
/** Periods that are kept: 30 days at least. */
const periodsKept = 3;
export const keptDays = periodDays * (periodsKept - 1);

export const periodOf = (atMs: number): number => Math.floor(atMs / (periodDays * dayMs));
/** The oldest period that is kept. */
export const oldestPeriod = (nowMs: number): number => periodOf(nowMs) - periodsKept + 1;

const limits = {
  /** Two positions further apart in time or place are no way. */
  gapMs: 60_000,
  gapM: 1500,
  /** A vehicle that reports movement has moved so far; one that does not, or is slow, beyond the error of its fixes. */
  movedM: zooms[12].cellM / 2,
  unsureM: beliefLimits.fixErrorM,
} as const;

interface Position {
  readonly atMs: number;
  readonly place: Place;
  /** km/h; null: not reported. */
  readonly speed: number | null;
}

const isUnsure = ({ speed }: Position): boolean => speed === null || speed < beliefLimits.movingKmh;

export interface Tracks {
  add(one: {
    readonly event: {
      readonly timestampMs: number;
      readonly point: Point | null;
      readonly speed: number | null;
    };
    readonly line: 'on' | 'anew' | 'off';
  }): void;
  /** Without those of one position. */
  all(): readonly Track[];
  /** About how many steps they make. */
  steps(): number;
}

export function createTracks(): Tracks {
  const tracks: { readonly period: number; readonly places: Place[] }[] = [];
  let last: Position | null = null;
  let steps = 0;
  /** Metres that a vehicle must have moved from its last place on the track. */
  const leastM = (before: Position, now: Position): number => {
    if (before.speed === 0 && now.speed === 0) return Number.POSITIVE_INFINITY;
    return isUnsure(before) && isUnsure(now) ? limits.unsureM : limits.movedM;
  };
  return {
    add({ event: { timestampMs: atMs, point, speed }, line }) {
      if (line === 'off' || point === null) return;
      const track = tracks.at(-1);
      const anchor = track?.places.at(-1);
      const raw: Place = [point.longitude * unitsPerDegree, point.latitude * unitsPerDegree];
      const place = anchor === undefined ? raw : besideLongitude(anchor[0], raw);
      const before = last;
      const now = { atMs, place, speed };
      last = now;
      const farM = anchor === undefined ? 0 : Math.hypot(...metresBetween(anchor, place));
      const isGap =
        before === null || line === 'anew' || atMs - before.atMs > limits.gapMs || farM > limits.gapM;
      if (isGap || track === undefined) {
        tracks.push({ period: periodOf(atMs), places: [raw] });
        return;
      }
      if (farM < leastM(before, now)) return;
      track.places.push(place);
      steps += 1 + farM / zooms[12].cellM;
    },
    all: () => tracks.filter(({ places }) => places.length > 1),
    steps: () => steps,
  };
}
