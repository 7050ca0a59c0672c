// Trips, stops and distance as a state machine over the events of one device in the order of event time. Pure. A stop
// depends on the few minutes around it only, so a report does not depend on the limits of its period, the order of arrival
// or the clock; and a standing vehicle drives no distance, however its position jitters.

import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';
import {
  type BusCounters,
  type BusSums,
  busSums,
  type KnownCounters,
  laterCounters,
  noCounters,
  startCounters,
} from './bus-counters.ts';
import { type DriverMark, type KnownDriver, laterDriver, withDriver } from './trip-drivers.ts';

/** Distances, stop and gap follow research on what fleets use (Traccar 6: 200 m, 180 s, 3,600 s). */
const tripLimits = {
  /** Positions that stay within this of the first one for `stopMs` stand still; it is what a parked receiver jitters. */
  stillM: 60,
  stopMs: 180_000,
  /** The same with the ignition known to be off. */
  stopOffMs: 60_000,
  /** A way that never gets further from where it began is no trip. */
  tripM: 200,
  /** Longer without a position: a trip ends where it was last seen. */
  gapMs: 3_600_000,
  /** No road vehicle is faster; a position that would need more is left out. */
  fastestKmh: 250,
  /** So many positions in a row that contradict the last good one are the good ones. */
  contradictions: 5,
} as const;

/** Positions closer together than this are not each tried as the beginning of a stop. */
const candidateMs = 10_000;
/** Error of a position, which must not make a short step look too fast. */
const fixErrorM = 60;
/** Slower than this with the ignition on is idling. */
const idleKmh = 3;

/** What the machine looks at of an event. */
export interface TripEvent {
  readonly timestampMs: number;
  readonly statusCode: number;
  readonly point: Point | null;
  /** km/h. */
  readonly speed: number | null;
  /** km, as the vehicle counts. */
  readonly odometer: number | null;
  /** Fraction of the tank. */
  readonly fuelLevel: number | null;
  /** Null where the event does not say. */
  readonly ignition: boolean | null;
  /** Of the vehicle bus; null: the event has none. */
  readonly bus: BusCounters | null;
  /** Null: the event has no driver id. */
  readonly driver: DriverMark | null;
}

export interface TrackPosition extends Point {
  readonly timestampMs: number;
}

/** A place on the way, with what was counted since the vehicle last stood. */
interface TrackMark {
  readonly place: TrackPosition;
  readonly drivenM: number;
  /** Furthest from where it last stood. */
  readonly reachedM: number;
  readonly speedMost: number;
  /** Null until the ignition is known. */
  readonly idleMs: number | null;
  readonly odometer: number | null;
  readonly fuelLevel: number | null;
  readonly bus: KnownCounters;
  /** Who drove since it last stood, in the order of their keys; a driver who comes or leaves while it stands did not. */
  readonly drivers: readonly string[];
}

export interface Trip {
  readonly start: TrackPosition;
  readonly end: TrackPosition;
  readonly distanceM: number;
  /** Fastest position, km/h. */
  readonly speedMost: number;
  /** Ignition on without moving, on the way; null where no record up to its end says whether the ignition is on. */
  readonly idleMs: number | null;
  readonly odometerStart: number | null;
  readonly odometerEnd: number | null;
  readonly fuelStart: number | null;
  readonly fuelEnd: number | null;
  /** What the vehicle bus counted from its start to the stop at its end. */
  readonly bus: BusSums;
  /** Ids of the drivers' keys, in order; empty: no key was known on the way. */
  readonly drivers: readonly string[];
  /** It was still going on when the events ended. */
  readonly isOpen: boolean;
}

export interface Stop {
  /** Where it stood, and since when. */
  readonly start: TrackPosition;
  readonly endMs: number;
  /** Ignition on while it stood; null where no record up to its end says whether the ignition is on. */
  readonly idleMs: number | null;
  readonly isOpen: boolean;
}

export type TripOrStop =
  | { readonly kind: 'trip'; readonly trip: Trip }
  | { readonly kind: 'stop'; readonly stop: Stop };

/** A position that may turn out to be the beginning of a stop. */
interface Candidate {
  readonly mark: TrackMark;
  /** The ignition was off ever since. */
  readonly isOff: boolean;
}

interface Standstill {
  readonly start: TrackPosition;
  /** Up to here it is known to have stood. */
  readonly until: TrackMark;
  readonly idleMs: number | null;
}

/** What is known so far. */
export interface TripState {
  /** Newest good position; null before the first one. */
  readonly last: TrackMark | null;
  /** Where the way since the last stop began. */
  readonly from: TrackMark | null;
  /** The stop that lasts, or that ended where `from` is. */
  readonly standing: Standstill | null;
  readonly candidates: readonly Candidate[];
  readonly ignition: boolean | null;
  readonly odometer: number | null;
  readonly fuelLevel: number | null;
  readonly bus: KnownCounters;
  readonly driver: KnownDriver | null;
  readonly contradictions: number;
}

export const startTrips: TripState = {
  last: null,
  from: null,
  standing: null,
  candidates: [],
  ignition: null,
  odometer: null,
  fuelLevel: null,
  bus: noCounters,
  driver: null,
  contradictions: 0,
};

export interface TripStep {
  readonly state: TripState;
  /** What has ended with this event, in order. */
  readonly ended: readonly TripOrStop[];
}

/** The vehicle's own count where it has one that fits its positions; else the way between the positions. */
function lengthM(start: TrackMark, end: TrackMark): number {
  if (start.odometer === null || end.odometer === null) return end.drivenM;
  const countedM = (end.odometer - start.odometer) * 1000;
  const isLikely = countedM >= end.reachedM * 0.9 - 200 && countedM <= end.drivenM * 2 + 1000;
  return isLikely ? countedM : end.drivenM;
}

/** @param seen the newest mark: a bus reports its counters up to a minute late, when the vehicle stands already. */
const tripOf = (
  start: TrackMark,
  end: TrackMark,
  { seen, isOpen }: { readonly seen: TrackMark; readonly isOpen: boolean },
): TripOrStop => ({
  kind: 'trip',
  trip: {
    start: start.place,
    end: end.place,
    distanceM: lengthM(start, end),
    speedMost: end.speedMost,
    idleMs: end.idleMs,
    odometerStart: start.odometer,
    odometerEnd: end.odometer,
    fuelStart: start.fuelLevel,
    fuelEnd: end.fuelLevel,
    bus: busSums(start.bus, seen.bus, seen.place.timestampMs - start.place.timestampMs),
    drivers: end.drivers,
    isOpen,
  },
});

const stopOf = ({ start, until, idleMs }: Standstill, isOpen: boolean): TripOrStop => ({
  kind: 'stop',
  stop: { start, endMs: until.place.timestampMs, idleMs, isOpen },
});

const fresh = (mark: TrackMark): TrackMark => ({
  ...mark,
  drivenM: 0,
  reachedM: 0,
  speedMost: 0,
  idleMs: mark.idleMs === null ? null : 0,
  drivers: [],
});

/** A way there and back within the time of a stop is a jump of the receiver. */
function isTrip(from: TrackMark, to: TrackMark): boolean {
  if (to.reachedM <= tripLimits.tripM) return false;
  const ms = to.place.timestampMs - from.place.timestampMs;
  return distanceM(from.place, to.place) > tripLimits.tripM || ms >= tripLimits.stopMs;
}

/** A position that the vehicle cannot have reached from the last good one. */
function isImpossible(last: TrackPosition, place: TrackPosition): boolean {
  // Times are whole seconds on many units.
  const hours = (place.timestampMs - last.timestampMs + 1000) / 3_600_000;
  return (distanceM(last, place) - fixErrorM) / 1000 > tripLimits.fastestKmh * hours;
}

function ignitionOf(event: TripEvent): boolean | null {
  if (event.statusCode === statusCodes.IGNITION_ON.code) return true;
  if (event.statusCode === statusCodes.IGNITION_OFF.code) return false;
  return event.ignition;
}

/** The way goes on to a further position. */
function advance(state: TripState, place: TrackPosition, speed: number): TrackMark {
  const { last, from, ignition, odometer, fuelLevel, bus, driver } = state;
  if (last === null || from === null) {
    const idleMs = ignition === null ? null : 0;
    return { place, drivenM: 0, reachedM: 0, speedMost: 0, idleMs, odometer, fuelLevel, bus, drivers: [] };
  }
  const stepM = distanceM(last.place, place);
  const stepMs = place.timestampMs - last.place.timestampMs;
  const isIdle = ignition === true && speed < idleKmh && stepM <= tripLimits.stillM;
  return {
    place,
    drivenM: last.drivenM + stepM,
    reachedM: Math.max(last.reachedM, distanceM(from.place, place)),
    speedMost: Math.max(last.speedMost, speed),
    idleMs:
      ignition === null ? null : (last.idleMs ?? 0) + (isIdle && stepMs <= tripLimits.gapMs ? stepMs : 0),
    odometer,
    fuelLevel,
    bus,
    drivers: withDriver(last.drivers, driver),
  };
}

/** The oldest candidate since which the vehicle has stood long enough; candidates that it has left are dropped. */
function sortCandidates(candidates: readonly Candidate[], place: TrackPosition, ignition: boolean | null) {
  const near = candidates
    .filter(({ mark }) => distanceM(mark.place, place) <= tripLimits.stillM)
    .map((one) => (one.isOff && ignition !== false ? { ...one, isOff: false } : one));
  const stopped = near.find(
    ({ mark, isOff }) =>
      place.timestampMs - mark.place.timestampMs >= (isOff ? tripLimits.stopOffMs : tripLimits.stopMs),
  );
  return { near, stopped: stopped ?? null };
}

/** It has stood since `since`: ends the way before it, and begins a stop or goes on with the one that was not really left. */
function standStill(
  state: TripState,
  since: TrackMark,
  now: TrackMark,
): { standing: Standstill; ended: readonly TripOrStop[] } {
  const { standing, from } = state;
  const here = fresh(now);
  const goesOn =
    standing !== null &&
    (since.place.timestampMs <= standing.until.place.timestampMs || from === null || !isTrip(from, since));
  if (standing !== null && goesOn) {
    const idleMs = now.idleMs === null ? null : (standing.idleMs ?? 0) + now.idleMs;
    return { standing: { ...standing, until: here, idleMs }, ended: [] };
  }
  const trip =
    from !== null && isTrip(from, since) ? [tripOf(from, since, { seen: now, isOpen: false })] : [];
  const stop = standing === null ? [] : [stopOf(standing, false)];
  const idleMs = now.idleMs === null ? null : Math.max(0, now.idleMs - (since.idleMs ?? 0));
  return { standing: { start: since.place, until: here, idleMs }, ended: [...stop, ...trip] };
}

/** Nothing is known of the way between two positions far apart in time: what went on ends where it was last seen. */
function breakOff({ standing, from, last }: TripState, isOpen: boolean): readonly TripOrStop[] {
  const isDriving = from !== null && last !== null && last.reachedM > tripLimits.tripM;
  return [
    ...(standing === null ? [] : [stopOf(standing, isOpen && !isDriving)]),
    ...(isDriving ? [tripOf(from, last, { seen: last, isOpen })] : []),
  ];
}

function addPosition(state: TripState, place: TrackPosition, speed: number): TripStep {
  const { last, ignition } = state;
  const now = advance(state, place, speed);
  const { near, stopped } = sortCandidates(state.candidates, place, ignition);
  const isGap = last !== null && place.timestampMs - last.place.timestampMs > tripLimits.gapMs;
  if (stopped === null && isGap) {
    const here = fresh(now);
    const candidates = [{ mark: here, isOff: ignition === false }];
    return {
      state: { ...state, last: here, from: here, standing: null, candidates },
      ended: breakOff(state, false),
    };
  }
  const newest = near.at(-1);
  const isNext =
    newest === undefined ||
    Math.floor(newest.mark.place.timestampMs / candidateMs) !== Math.floor(place.timestampMs / candidateMs);
  if (stopped === null) {
    const candidates = isNext ? [...near, { mark: now, isOff: ignition === false }] : near;
    return { state: { ...state, last: now, from: state.from ?? now, candidates }, ended: [] };
  }
  const { standing, ended } = standStill(state, stopped.mark, now);
  const here = fresh(now);
  const younger = near.slice(near.indexOf(stopped) + 1);
  const candidates = isNext ? [...younger, { mark: here, isOff: ignition === false }] : younger;
  // Something young must be left to reach the next position from.
  const kept = candidates.length > 0 ? candidates : [{ mark: here, isOff: ignition === false }];
  return { state: { ...state, last: here, from: here, standing, candidates: kept }, ended };
}

/** The position where the event has one of its own; one that only repeats the last known position has none. */
export function fixOf({ point, statusCode }: Pick<TripEvent, 'point' | 'statusCode'>): Point | null {
  return statusCode === statusCodes.LAST_LOCATION.code ? null : point;
}

const startingAt = (from: TrackMark, bus: BusCounters, nowMs: number): TrackMark => ({
  ...from,
  bus: startCounters(from.bus, bus, { startMs: from.place.timestampMs, nowMs }),
});

/** Takes the next event; the caller gives them in the order of event time, those of one moment in a fixed order. */
export function stepTrips(before: TripState, event: TripEvent): TripStep {
  const state: TripState = {
    ...before,
    ignition: ignitionOf(event) ?? before.ignition,
    odometer: event.odometer ?? before.odometer,
    fuelLevel: event.fuelLevel ?? before.fuelLevel,
    bus: laterCounters(before.bus, event.bus, event.timestampMs),
    driver: laterDriver(before.driver, event.driver, event.timestampMs),
    from:
      event.bus === null || before.from === null
        ? before.from
        : startingAt(before.from, event.bus, event.timestampMs),
  };
  const fix = fixOf(event);
  if (fix === null) return { state, ended: [] };
  const place: TrackPosition = { ...fix, timestampMs: event.timestampMs };
  const contradictions = before.contradictions + 1;
  if (
    state.last !== null &&
    isImpossible(state.last.place, place) &&
    contradictions < tripLimits.contradictions
  ) {
    return { state: { ...state, contradictions }, ended: [] };
  }
  return addPosition({ ...state, contradictions: 0 }, place, event.speed ?? 0);
}

/** What was still going on when the events ended. */
export function endTrips(state: TripState): readonly TripOrStop[] {
  return breakOff(state, true);
}

/** When something that ended, or goes on, began. */
export function beganMs(item: TripOrStop): number {
  return (item.kind === 'trip' ? item.trip.start : item.stop.start).timestampMs;
}
