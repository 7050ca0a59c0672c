// Decides by Doppler speed that the vehicle rests where it stopped. The position of a parked receiver drifts by a
// hundred metres, which must cross no border. As in the towing alarm, movement needs a speed, or a distance too long for
// drift. An unknown speed shows no rest.
import { distanceM, type Point } from '../geo/geo.ts';

/** A position as it is compared with zones: of a receiver, or as a tracker sent it. */
export interface ZoneFix extends Point {
  /** Monotonic, ms; of a tracker its own time of the position. */
  readonly atMonoMs: number;
  /** Null: not known. */
  readonly speedKmh: number | null;
  readonly hdop: number | null;
}

export const restLimits = {
  /** Above this speed a vehicle moves; as for the receiver of a vehicle (`gnssLimits`). */
  standstillKmh: 3,
  /** Fixes at rest in a row that show it: a receiver may settle for so long after a stop or a start. */
  fixes: 10,
  /** Two sigma of a fix at HDOP 1. */
  scatterM: 15,
  /** Share of the way that must have been seen as speed. */
  seenShare: 1 / 3,
  /** Without a speed for longer, the way between is unseen. */
  gapMs: 10_000,
  /** No receiver wanders so far: it moved, whatever its speed says. */
  farM: 500,
} as const;

/** Null while no rest is shown. */
export type ZoneRest = {
  /** The first of the fixes that show it. */
  readonly at: Point;
  readonly fixes: number;
  /** Way seen as speed since the position was last near, and how far it has been away since then. */
  readonly seenM: number;
  readonly farthestM: number;
  /** The newest fix with a speed. */
  readonly lastMs: number;
} | null;

export const isAtRest = (rest: ZoneRest): boolean => rest !== null && rest.fixes >= restLimits.fixes;

function begun(fix: ZoneFix): ZoneRest {
  const { speedKmh, latitude, longitude, atMonoMs } = fix;
  if (speedKmh === null || speedKmh > restLimits.standstillKmh) return null;
  return { at: { latitude, longitude }, fixes: 1, seenM: 0, farthestM: 0, lastMs: atMonoMs };
}

/**
 * The rest after this fix.
 * @param offSinceMs since when the ignition has been off; null while it is on or unknown. A vehicle whose ignition was
 * on may have driven where nothing was seen.
 */
export function stepRest(rest: ZoneRest, fix: ZoneFix, offSinceMs: number | null): ZoneRest {
  if (rest === null) return begun(fix);
  const { speedKmh, atMonoMs } = fix;
  const unseenMs = atMonoMs - rest.lastMs;
  const isGap = unseenMs > restLimits.gapMs;
  const awayM = distanceM(rest.at, fix);
  const wasOff = offSinceMs !== null && offSinceMs <= rest.lastMs;
  if (awayM > restLimits.farM || (isGap && (speedKmh === null || !wasOff))) return begun(fix);
  if (speedKmh === null) return rest;
  const isMoving = speedKmh > restLimits.standstillKmh;
  if (isMoving && !isAtRest(rest)) return null;
  const seenM = rest.seenM + (isMoving && !isGap ? (speedKmh / 3600) * unseenMs : 0);
  const farthestM = Math.max(rest.farthestM, awayM);
  const farM = restLimits.scatterM * Math.min(5, Math.max(1, fix.hdop ?? 1));
  if (awayM > farM && seenM >= farthestM * restLimits.seenShare) return begun(fix);
  const fixes = Math.min(restLimits.fixes, rest.fixes + 1);
  // Noise of a long night adds up to no way.
  const isNear = awayM < farM / 2 && !isMoving;
  return {
    at: rest.at,
    fixes,
    lastMs: atMonoMs,
    ...(isNear ? { seenM: 0, farthestM: 0 } : { seenM, farthestM }),
  };
}
