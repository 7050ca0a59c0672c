// The vehicle bus as two witnesses: the speed and the engine speed that it shows. What it shows is `BusMotion`; here it becomes activity that
// earns credit by the receiver, and claims that age. A bus of another truck, or with a sender missing, is not the one that earned it.
import { busLimits } from '../bus/bus-limits.ts';
import type { BusMotion } from '../bus/bus-reading.ts';
import type { Activity } from './credit.ts';
import type { GnssClaim } from './gnss-claim.ts';

export const busWitnessLimits = {
  /** A view of the bus says nothing of a moment later than this. Views come once a second. */
  ageMs: 1500,
  /** A drive is one from this speed on, on which bus and receiver agree: by so much, or by this share. */
  drivenKmh: 15,
  agreeKmh: 5,
  agreeShare: 0.2,
  /** An engine that turns by itself; a starter is slower. */
  turningRpm: 500,
  /** Speeds, and the engine speed, must have been zero for this long. */
  stillMs: 10_000,
  stoppedMs: 5000,
  /** A bus that moves on for so long after the stop that the receiver saw is late: two fixes of a receiver of 1 Hz, whose intervals vary. */
  lateMs: 900,
} as const;

/** Which bus earned the credit. */
export interface BusIdentity {
  /** Addresses that gave a speed, as in `BusMotion`. */
  readonly senders: string;
  /** Null: it was not sent. */
  readonly vin: string | null;
}

/** What the bus shows, if it is of this moment. */
export function busAt(motion: BusMotion | null, nowMs: number): BusMotion | null {
  return motion !== null && nowMs - motion.atMs <= busWitnessLimits.ageMs ? motion : null;
}

/** Whether any speed of the bus shows movement, settled or not. */
export const isBusMoving = (seen: BusMotion | null): boolean => (seen?.mostKmh ?? 0) > busLimits.movingKmh;

/** Movement that the bus has shown, monotonic ms of its views. */
export interface BusMovement {
  /** When it last did; minus infinity: never in this run. */
  readonly lastMs: number;
  /** Since when it has without a break; null: its newest speed shows none. */
  readonly sinceMs: number | null;
}

export const noMovement: BusMovement = { lastMs: Number.NEGATIVE_INFINITY, sinceMs: null };

/**
 * Movement after one more view. One without a speed is no break, as it may hide no stop: it is one where nothing showed movement for longer than a
 * view counts.
 */
export function movementAfter(before: BusMovement, seen: BusMotion | null): BusMovement {
  const { lastMs, sinceMs } = before;
  if (seen === null || seen.mostKmh === null) return before;
  if (!isBusMoving(seen)) return sinceMs === null ? before : { lastMs, sinceMs: null };
  const isGoingOn = seen.atMs - lastMs <= busWitnessLimits.ageMs;
  return { lastMs: seen.atMs, sinceMs: isGoingOn ? (sinceMs ?? seen.atMs) : seen.atMs };
}

/**
 * Whether the bus still shows the drive whose end the receiver saw: its adapter holds frames back. An honest bus sends
 * every 20 to 100 ms, and a receiver that measures and smooths is not ahead of it. A vehicle that pulls away again has shown a break.
 * @param stopMs of the stop that the receiver saw, monotonic; null: it saw none.
 */
export function isBusLate(
  seen: BusMotion | null,
  { sinceMs }: BusMovement,
  { claim, stopMs }: { readonly claim: GnssClaim; readonly stopMs: number | null },
): boolean {
  const { lateMs } = busWitnessLimits;
  if (seen === null || !isBusMoving(seen) || sinceMs === null) return false;
  if (claim.kind !== 'still' || claim.forMs < lateMs || stopMs === null) return false;
  return sinceMs < stopMs && seen.atMs - stopMs >= lateMs;
}

/** Every speed of the bus is that of a receiver which shows a drive. */
function isDriven({ leastKmh, mostKmh }: BusMotion, claim: GnssClaim): boolean {
  const { drivenKmh, agreeKmh, agreeShare } = busWitnessLimits;
  if (claim.kind !== 'moving' || leastKmh === null || mostKmh === null || leastKmh < drivenKmh) return false;
  const bandKmh = Math.max(agreeKmh, claim.speedKmh * agreeShare);
  return [leastKmh, mostKmh].every((kmh) => Math.abs(kmh - claim.speedKmh) <= bandKmh);
}

/** What both do at this moment. Speeds that differ from the receiver's, and an engine that only cranks, are nothing. */
export function busActivities(
  seen: BusMotion | null,
  claim: GnssClaim,
): Readonly<Record<'bus_speed' | 'bus_rpm', Activity>> {
  if (seen === null) return { bus_speed: null, bus_rpm: null };
  const { stillSinceMs, stoppedSinceMs, mostRpm } = seen;
  const isTurning = mostRpm !== null && mostRpm >= busWitnessLimits.turningRpm;
  return {
    bus_speed: isDriven(seen, claim) ? 'active' : stillSinceMs === null ? null : 'rest',
    bus_rpm: isTurning ? 'active' : stoppedSinceMs === null ? null : 'rest',
  };
}

/** What is known of the bus beside what it shows. */
export interface KnownBus {
  /** The one that earned the credit; null: none did. */
  readonly identity: BusIdentity | null;
  /** When it last showed movement, and when the last drive of the receiver began, monotonic; minus infinity if never in this run. */
  readonly movedMs: number;
  readonly drivenSinceMs: number;
}

export interface BusClaim {
  readonly claim: 'rest' | 'active' | null;
  readonly restForMs: number | null;
  /** Not the senders, or not the vehicle, that earned the credit, or it did not show the last drive that the receiver showed. */
  readonly isSuspended: boolean;
}

const isOther = (known: BusIdentity, { vin }: BusMotion): boolean =>
  known.vin !== null && vin !== null && known.vin !== vin;

function claimFrom(
  seen: BusMotion | null,
  known: KnownBus,
  {
    isActive,
    restForMs,
    isRest,
  }: {
    readonly isActive: boolean;
    readonly restForMs: number | null;
    readonly isRest: boolean;
  },
): BusClaim {
  const { identity, movedMs, drivenSinceMs } = known;
  const isSuspended =
    seen !== null &&
    (identity === null ||
      identity.senders !== seen.senders ||
      isOther(identity, seen) ||
      movedMs < drivenSinceMs);
  if (isActive) return { claim: 'active', restForMs: null, isSuspended };
  return { claim: isRest && !isSuspended ? 'rest' : null, restForMs, isSuspended };
}

/** Speeds of the bus: at rest for long, and a second fact that the vehicle is parked. */
export function busSpeedClaim(motion: BusMotion | null, known: KnownBus, nowMs: number): BusClaim {
  const seen = busAt(motion, nowMs);
  const restForMs =
    seen?.stillSinceMs === undefined || seen.stillSinceMs === null ? null : nowMs - seen.stillSinceMs;
  return claimFrom(seen, known, {
    isActive: isBusMoving(seen),
    restForMs,
    isRest: restForMs !== null && restForMs >= busWitnessLimits.stillMs && seen?.fact !== null,
  });
}

/** Engine speed of the bus: 0 for long, on a vehicle whose speeds are zero too, and that a second fact shows to be parked. */
export function busRpmClaim(motion: BusMotion | null, known: KnownBus, nowMs: number): BusClaim {
  const seen = busAt(motion, nowMs);
  const restForMs =
    seen?.stoppedSinceMs === undefined || seen.stoppedSinceMs === null ? null : nowMs - seen.stoppedSinceMs;
  return claimFrom(seen, known, {
    isActive: (seen?.mostRpm ?? 0) >= busLimits.runningRpm,
    restForMs,
    isRest: restForMs !== null && restForMs >= busWitnessLimits.stoppedMs && seen?.fact !== null,
  });
}

/** Whether the credit of this bus ends: another vehicle, or a drive with other senders. */
export function hasBusChanged(known: BusIdentity, seen: BusMotion | null, activity: Activity): boolean {
  if (seen === null) return false;
  return isOther(known, seen) || (activity === 'active' && known.senders !== seen.senders);
}
