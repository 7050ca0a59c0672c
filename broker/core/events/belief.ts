// Which positions of a device are believed: one model for trips, stops, distances, exported lines and the last known place. Pure.
//
// A believed track grows by each position that the vehicle can have reached from the last believed one. Any other position
// begins a rival track, which is dropped when the believed track goes on, and replaces it when it has lasted longer than the
// believed one, or as long as the way there would take. Nothing is known of the way between the two: it is never mileage.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';

export const beliefLimits = {
  /** No road vehicle is faster, km/h; none keeps up more than `steadyKmh` for longer than `sprintMs`. */
  fastestKmh: 250,
  sprintMs: 60_000,
  steadyKmh: 160,
  /** Error of a good position; a parked receiver jitters as much. */
  fixErrorM: 60,
  /** A parked vehicle that is shown further away was not driven there. */
  carriedM: 1000,
  /** Slower than this a position shows no movement, km/h: receivers at rest report up to this. */
  movingKmh: 5,
  /** A rival that lasted so long, and as long as a drive there at `travelKmh`, is believed. */
  rivalMs: 3_600_000,
  travelKmh: 100,
  /** A rival of fewer positions, or of a shorter time, never replaces a track of several positions. */
  rivalFixes: 3,
  rivalLeastMs: 60_000,
  /** A track that has lasted so long lasts for ever: what is believed must not depend on how far before the period a report reads. */
  knownMs: 12 * 3_600_000,
  /**
   * An ignition that was on within this time is known to work: while it is off, no position shows that the vehicle drives.
   * Later a unit that reports movement is believed more than an input that may not be wired.
   */
  ignitionMs: 24 * 3_600_000,
  /** An ignition that goes off at this speed has failed, km/h. */
  failedIgnitionKmh: 30,
  /** Fewer satellites, a higher dilution, or a larger error (m) make a coarse position: of a cell tower, or a guess. */
  satellites: 3,
  hdop: 10,
  accuracyM: 500,
} as const;

export interface TrackPosition extends Point {
  readonly timestampMs: number;
}

/** What is looked at of an event. */
export interface BeliefEvent {
  readonly timestampMs: number;
  readonly statusCode: number;
  readonly point: Point | null;
  /** km/h. */
  readonly speed: number | null;
  /** Null where the event does not say. */
  readonly ignition: boolean | null;
  readonly satellites: number | null;
  readonly hdop: number | null;
  /** Radius in m that the unit gives by itself. */
  readonly accuracy: number | null;
}

/**
 * What a position shows: that the vehicle moves; that it does not drive, because it reports rest or its ignition is off;
 * `possible`: neither.
 */
export type Motion = 'moving' | 'possible' | 'standing';

/** A position as it is believed: of a parked vehicle, where it was parked. */
export interface BelievedFix {
  readonly place: TrackPosition;
  readonly motion: Motion;
}

interface LastFix extends BelievedFix {
  readonly isOff: boolean;
  readonly isCoarse: boolean;
}

interface BelievedTrack {
  /** Where it began; at most `knownMs` before its last position. */
  readonly first: TrackPosition;
  /** At most `rivalFixes`. */
  readonly fixes: number;
  readonly last: LastFix;
}

interface Rival extends BelievedTrack {
  /** A road vehicle can have come here, but the parked one was not seen to drive. */
  readonly isCarried: boolean;
}

export interface BeliefState {
  readonly track: BelievedTrack | null;
  readonly rival: Rival | null;
  readonly ignition: boolean | null;
  /** When it was last known to be on; null: never, too long ago, or it has failed since. */
  readonly ignitionOnMs: number | null;
}

export const startBelief: BeliefState = { track: null, rival: null, ignition: null, ignitionOnMs: null };

/**
 * `none`: no position, or a coarse one. `believed`: of the believed track. `rival`: of the rival track, which begins with it where
 * `isFirst`. `adopted`: of the rival track, which is the believed one from now on.
 */
export type Belief =
  | { readonly kind: 'none' }
  | { readonly kind: 'believed' | 'adopted'; readonly fix: BelievedFix }
  | { readonly kind: 'rival'; readonly fix: BelievedFix; readonly isFirst: boolean };

export interface BeliefStep {
  readonly state: BeliefState;
  readonly belief: Belief;
}

/** Latitude and longitude 0 stand for "no position" in many units; about the place is the open sea. */
export function isNoPlace({ latitude, longitude }: Point, satellites: number | null): boolean {
  const mostDegrees = satellites === 0 ? 0.01 : 0;
  return Math.abs(latitude) <= mostDegrees && Math.abs(longitude) <= mostDegrees;
}

/** The position where the event has one of its own; one that only repeats the last known position has none. */
export function fixOf({
  point,
  statusCode,
  satellites,
}: Pick<BeliefEvent, 'point' | 'statusCode' | 'satellites'>): Point | null {
  if (point === null || statusCode === statusCodes.LAST_LOCATION.code) return null;
  return isNoPlace(point, satellites) ? null : point;
}

/** The ignition, where the event says it. */
export function ignitionOf({ statusCode, ignition }: Pick<BeliefEvent, 'statusCode' | 'ignition'>) {
  if (statusCode === statusCodes.IGNITION_ON.code) return true;
  if (statusCode === statusCodes.IGNITION_OFF.code) return false;
  return ignition;
}

/** The furthest that a road vehicle comes within that time, m. Times are whole seconds on many units. */
export function reachM(ms: number): number {
  const wholeMs = ms + 1000;
  const sprintMs = Math.min(wholeMs, beliefLimits.sprintMs);
  return (beliefLimits.fastestKmh * sprintMs + beliefLimits.steadyKmh * (wholeMs - sprintMs)) / 3600;
}

const isReachable = ({ place }: LastFix, to: TrackPosition): boolean =>
  distanceM(place, to) - beliefLimits.fixErrorM <= reachM(to.timestampMs - place.timestampMs);

/** Both positions show a vehicle that does not drive, and they are further apart than it is moved by hand. */
const isCarried = (from: LastFix, to: LastFix): boolean =>
  from.motion === 'standing' &&
  to.motion === 'standing' &&
  distanceM(from.place, to.place) > beliefLimits.carriedM;

const isNext = (from: LastFix, to: LastFix): boolean => isReachable(from, to.place) && !isCarried(from, to);

function isCoarse({ satellites, hdop, accuracy }: BeliefEvent): boolean {
  return (
    (satellites ?? beliefLimits.satellites) < beliefLimits.satellites ||
    (hdop ?? 0) > beliefLimits.hdop ||
    (accuracy ?? 0) > beliefLimits.accuracyM
  );
}

/** A coarse position counts where it agrees with the track, or shows movement: some units never count their satellites. */
function isUsable(fix: LastFix, last: LastFix | null, accuracy: number | null): boolean {
  if (!fix.isCoarse) return true;
  if (fix.motion === 'moving' && (accuracy ?? 0) <= beliefLimits.accuracyM) return true;
  if (last === null) return false;
  const isOfSameKind = last.isCoarse && last.motion === 'moving';
  return distanceM(last.place, fix.place) <= (isOfSameKind ? beliefLimits.carriedM : beliefLimits.fixErrorM);
}

function motionOf(state: BeliefState, { speed, timestampMs }: BeliefEvent): Motion {
  const { ignition, ignitionOnMs } = state;
  const isKnown = speed !== null && speed <= beliefLimits.fastestKmh;
  const isMoving = isKnown && speed >= beliefLimits.movingKmh;
  if (ignition === false) {
    const isProven = ignitionOnMs !== null && timestampMs - ignitionOnMs <= beliefLimits.ignitionMs;
    return isMoving && !isProven ? 'moving' : 'standing';
  }
  if (isMoving) return 'moving';
  return ignition === true || !isKnown ? 'possible' : 'standing';
}

/** With the ignition on the vehicle may drive from where it was last seen. */
const startable = <T extends BelievedTrack>(track: T | null): T | null =>
  track === null || track.last.motion !== 'standing'
    ? track
    : { ...track, last: { ...track.last, motion: 'possible', isOff: false } };

function withIgnition(before: BeliefState, event: BeliefEvent): BeliefState {
  const ignition = ignitionOf(event) ?? before.ignition;
  if (ignition === true) {
    const { track, rival } = before;
    return {
      track: startable(track),
      rival: startable(rival),
      ignition,
      ignitionOnMs: event.timestampMs,
    };
  }
  const last = before.track?.last;
  const hasFailed =
    ignition === false &&
    last?.motion === 'moving' &&
    event.timestampMs - last.place.timestampMs <= 2 * beliefLimits.sprintMs &&
    (event.speed ?? 0) >= beliefLimits.failedIgnitionKmh;
  const isOld = event.timestampMs - (before.ignitionOnMs ?? event.timestampMs) > beliefLimits.ignitionMs;
  return { ...before, ignition, ignitionOnMs: hasFailed || isOld ? null : before.ignitionOnMs };
}

/** With the ignition off a vehicle stays where it is, however its position jitters. */
function held(last: LastFix, fix: LastFix): LastFix {
  const isParked = last.isOff && fix.isOff && last.motion === 'standing' && fix.motion === 'standing';
  const isSame = fix.isCoarse && distanceM(last.place, fix.place) <= beliefLimits.fixErrorM;
  return isParked || isSame ? { ...fix, place: { ...last.place, timestampMs: fix.place.timestampMs } } : fix;
}

/** The track with a further position. */
function extended<T extends BelievedTrack>(track: T, fix: LastFix): T {
  const last = fix.motion === 'moving' ? fix : held(track.last, fix);
  const sinceMs = last.place.timestampMs - beliefLimits.knownMs;
  return {
    ...track,
    first: track.first.timestampMs < sinceMs ? { ...last.place, timestampMs: sinceMs } : track.first,
    fixes: Math.min(track.fixes + 1, beliefLimits.rivalFixes),
    last,
  };
}

const lastedMs = ({ first, last }: BelievedTrack): number => last.place.timestampMs - first.timestampMs;

/** The rival has outlasted what was believed, or the vehicle was there long enough to have come by some way. */
function isStronger(track: BelievedTrack, rival: Rival, fix: LastFix): boolean {
  const rivalMs = lastedMs(rival);
  const trackMs = lastedMs(track);
  if (rival.isCarried && fix.motion === 'moving') return true;
  const isEnough =
    rival.fixes >= beliefLimits.rivalFixes && (track.fixes === 1 || rivalMs >= beliefLimits.rivalLeastMs);
  if (isEnough && rivalMs > trackMs) return true;
  const awayMs = fix.place.timestampMs - track.last.place.timestampMs;
  const travelMs = (distanceM(track.last.place, fix.place) / beliefLimits.travelKmh) * 3600;
  return (
    rivalMs >= Math.min(trackMs, beliefLimits.rivalMs) && awayMs >= Math.max(beliefLimits.rivalMs, travelMs)
  );
}

/** A position that both tracks could have reached continues the nearer one; or a drive, after a jump that took moments only. */
function isOfRival(track: BelievedTrack, rival: Rival, { place }: LastFix): boolean {
  if (distanceM(track.last.place, place) <= distanceM(rival.last.place, place)) return false;
  const awayMs = place.timestampMs - track.last.place.timestampMs;
  const goesOn =
    distanceM(rival.first, place) > beliefLimits.fixErrorM && awayMs <= 2 * beliefLimits.sprintMs;
  return rival.isCarried || !goesOn;
}

function place(state: BeliefState, track: BelievedTrack, fix: LastFix): BeliefStep {
  const { rival } = state;
  const isRivalNext = rival !== null && isNext(rival.last, fix);
  if (isNext(track.last, fix) && !(isRivalNext && isOfRival(track, rival, fix))) {
    const longer = extended(track, fix);
    return {
      state: { ...state, track: longer, rival: null },
      belief: { kind: 'believed', fix: longer.last },
    };
  }
  if (!isRivalNext) {
    const first = {
      first: fix.place,
      fixes: 1,
      last: fix,
      isCarried: isReachable(track.last, fix.place),
    };
    return { state: { ...state, rival: first }, belief: { kind: 'rival', fix, isFirst: true } };
  }
  const longer = extended(rival, fix);
  if (isStronger(track, longer, fix)) {
    return { state: { ...state, track: longer, rival: null }, belief: { kind: 'adopted', fix: longer.last } };
  }
  return {
    state: { ...state, rival: longer },
    belief: { kind: 'rival', fix: longer.last, isFirst: false },
  };
}

/** Takes the next event; the caller gives them in the order of event time, those of one moment in a fixed order. */
export function stepBelief(before: BeliefState, event: BeliefEvent): BeliefStep {
  const state = withIgnition(before, event);
  const point = fixOf(event);
  if (point === null) return { state, belief: { kind: 'none' } };
  const fix: LastFix = {
    place: { latitude: point.latitude, longitude: point.longitude, timestampMs: event.timestampMs },
    motion: motionOf(state, event),
    isOff: state.ignition === false,
    isCoarse: isCoarse(event),
  };
  const { track } = state;
  if (!isUsable(fix, track?.last ?? null, event.accuracy)) return { state, belief: { kind: 'none' } };
  if (track !== null) return place(state, track, fix);
  const first = { first: fix.place, fixes: 1, last: fix };
  return { state: { ...state, track: first }, belief: { kind: 'believed', fix } };
}
