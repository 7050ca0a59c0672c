// Moves a map mark between reported places: straight, at most a quarter faster than reported, and never past the last report.
// Otherwise it jumps. Pure.
import { distanceM } from '../../../src/core/geo/geo.ts';
import type { Vehicle } from './fleet.ts';
import type { Place } from './here.ts';

export interface Glide {
  readonly from: Place;
  readonly to: Place;
  /** Of the page's own clock. */
  readonly beginMs: number;
  readonly endMs: number;
}

/** A mark is never later than this. */
const longestS = 10;
/** It may have driven faster between the two reports than at both, or stand a little behind when the next one comes. */
const mostOfSpeed = 1.25;

const metresBetween = ([x, y]: Place, [lng, lat]: Place): number =>
  distanceM({ latitude: y, longitude: x }, { latitude: lat, longitude: lng });

/**
 * @param from where the mark stands now: the place of `before`, or one on the way to it.
 * @param atMs now.
 * @returns null when the mark jumps: the position is doubtful, the vehicle is silent, or the way is longer than its speed allows.
 */
export function glideOf(before: Vehicle, after: Vehicle, from: Place, atMs: number): Glide | null {
  const { place: to, fixS } = after;
  const isTrusted = ({ isOnline, isDoubtful }: Vehicle): boolean => isOnline !== false && !isDoubtful;
  if (to === null || before.place === null || fixS <= before.fixS) return null;
  if (!isTrusted(before) || !isTrusted(after) || Math.abs(to[0] - from[0]) > 180) return null;
  const seconds = Math.min(longestS, fixS - before.fixS);
  const mostM = (Math.max(before.speed ?? 0, after.speed ?? 0) / 3.6) * seconds * mostOfSpeed;
  const metres = metresBetween(from, to);
  if (metres === 0 || metres > mostM) return null;
  return { from, to, beginMs: atMs, endMs: atMs + seconds * 1000 };
}

/** Where the mark stands at a moment. */
export function placeAt({ from, to, beginMs, endMs }: Glide, atMs: number): Place {
  if (atMs >= endMs) return to;
  const share = Math.max(0, atMs - beginMs) / (endMs - beginMs);
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}
