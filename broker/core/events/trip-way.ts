// The way of a vehicle along one track of believed positions: where it stands, since when, and what was driven between two stops.
// Pure.

import { distanceM } from '../../../src/core/geo/geo.ts';
import {
  type BeliefEvent,
  type BelievedFix,
  beliefLimits,
  type Motion,
  reachM,
  type TrackPosition,
} from './belief.ts';
import {
  type BusCounters,
  type BusSums,
  busSums,
  type KnownCounters,
  startCounters,
} from './bus-counters.ts';
import { type DriverMark, type KeyUse, type KnownDriver, withDriver } from './trip-drivers.ts';
import {
  endReading,
  lengthM,
  noOdometer,
  type Odometer,
  odometerEnds,
  odometerFrom,
  type Reading,
  unseenM,
  withReading,
} from './trip-odometer.ts';

/** Distances, stop and gap follow research on what fleets use (Traccar 6: 200 m, 180 s, 3,600 s). */
const tripLimits = {
  /** Positions that stay within this of the first one for `stopMs` stand still; it is what a parked receiver jitters. */
  stillM: beliefLimits.fixErrorM,
  stopMs: 180_000,
  /** The same with the ignition known to be off. */
  stopOffMs: 60_000,
  /** Positions of which none shows movement stand still within this for so long: a bad receiver jitters more. */
  wideM: 500,
  wideMs: 1_800_000,
  /** A way that never gets further from where it began is no trip; nor one of which every position reports rest, within `restM`. */
  tripM: 200,
  restM: 1000,
  /** Longer without a position: a trip ends where it was last seen. */
  gapMs: 3_600_000,
  /** A speed that would need a stronger acceleration (m/s2) than that of a fast car is left out. */
  acceleration: 3.5,
} as const;

/** Positions closer together than this are not each tried as the beginning of a stop, in ms. */
const candidateMs = { near: 10_000, wide: 300_000 } as const;
/** Slower than this with the ignition on is idling. */
const idleKmh = 3;

/** What the machine looks at of an event. */
export interface TripEvent extends BeliefEvent {
  /** km, as the vehicle counts. */
  readonly odometer: number | null;
  /** Fraction of the tank. */
  readonly fuelLevel: number | null;
  /** Of the vehicle bus; null: the event has none. */
  readonly bus: BusCounters | null;
  /** Null: the event has no driver id. */
  readonly driver: DriverMark | null;
}

/** A place on the way, with what was counted since the vehicle last stood. */
interface TrackMark {
  readonly place: TrackPosition;
  readonly drivenM: number;
  /** Furthest from where it last stood. */
  readonly reachedM: number;
  /** Null: no position reported a speed. */
  readonly speedMost: number | null;
  /** Some position did not report rest. */
  readonly hasMoved: boolean;
  /** Null until the ignition is known. */
  readonly idleMs: number | null;
  readonly fuelLevel: number | null;
  readonly bus: KnownCounters;
  /** Who drove since it last stood, in the order of their keys; a driver who comes or leaves while it stands did not. */
  readonly drivers: readonly KeyUse[];
}

export interface Trip {
  readonly start: TrackPosition;
  readonly end: TrackPosition;
  readonly distanceM: number;
  /** Fastest position, km/h; null: none reported a speed. */
  readonly speedMost: number | null;
  /** Ignition on without moving, on the way; null where no record up to its end says whether the ignition is on. */
  readonly idleMs: number | null;
  readonly odometerStart: number | null;
  readonly odometerEnd: number | null;
  readonly fuelStart: number | null;
  readonly fuelEnd: number | null;
  /** What the vehicle bus counted from its start to the stop at its end. */
  readonly bus: BusSums;
  /** The drivers' keys, in order; empty: no key was known on the way. */
  readonly drivers: readonly KeyUse[];
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

/** The way along one track of positions. */
export interface Way {
  /** Newest position. */
  readonly last: TrackMark;
  /** Where the way since the last stop began. */
  readonly from: TrackMark;
  /** The stop that lasts, or that ended where `from` is. */
  readonly standing: Standstill | null;
  readonly candidates: readonly Candidate[];
  /** The same for positions that jitter widely. */
  readonly wide: readonly TrackMark[];
  readonly odometer: Odometer;
  /** Where the vehicle was before the time of which nothing is known, and its odometer there. */
  readonly before: { readonly mark: TrackMark; readonly reading: Reading } | null;
}

/** What the events said last, wherever the vehicle was. */
export interface Known {
  readonly ignition: boolean | null;
  readonly fuelLevel: number | null;
  readonly bus: KnownCounters;
  readonly driver: KnownDriver | null;
}

export interface WayStep {
  readonly way: Way;
  readonly ended: readonly TripOrStop[];
}

/** @param seen the newest mark: a bus reports its counters up to a minute late, when the vehicle stands already. */
function tripOf(
  { from, odometer }: Way,
  end: TrackMark,
  { seen, isOpen }: { readonly seen: TrackMark; readonly isOpen: boolean },
): TripOrStop {
  const spanMs = end.place.timestampMs - from.place.timestampMs;
  return {
    kind: 'trip',
    trip: {
      start: from.place,
      end: end.place,
      distanceM: Math.min(lengthM(odometer, end), reachM(spanMs)),
      speedMost: end.speedMost,
      idleMs: end.idleMs,
      ...odometerEnds(odometer, end),
      fuelStart: from.fuelLevel,
      fuelEnd: end.fuelLevel,
      bus: busSums(from.bus, seen.bus, seen.place.timestampMs - from.place.timestampMs),
      drivers: end.drivers,
      isOpen,
    },
  };
}

const stopOf = ({ start, until, idleMs }: Standstill, isOpen: boolean): TripOrStop => ({
  kind: 'stop',
  stop: { start, endMs: until.place.timestampMs, idleMs, isOpen },
});

const fresh = (mark: TrackMark): TrackMark => ({
  ...mark,
  drivenM: 0,
  reachedM: 0,
  speedMost: null,
  hasMoved: false,
  idleMs: mark.idleMs === null ? null : 0,
  drivers: [],
});

const isFar = ({ reachedM, hasMoved }: TrackMark): boolean =>
  reachedM > (hasMoved ? tripLimits.tripM : tripLimits.restM);

/** A way there and back within the time of a stop is a jump of the receiver. */
function isTrip(from: TrackMark, to: TrackMark): boolean {
  if (!isFar(to)) return false;
  const ms = to.place.timestampMs - from.place.timestampMs;
  return distanceM(from.place, to.place) > tripLimits.tripM || ms >= tripLimits.stopMs;
}

/** The higher of both speeds; one that the step cannot have led to is left out. */
function fasterOf(most: number | null, speed: number | null, step: { stepM: number; stepMs: number }) {
  if (speed === null || speed > beliefLimits.fastestKmh) return most;
  const stepS = Math.max(1, step.stepMs / 1000);
  const possible = (step.stepM + beliefLimits.fixErrorM) / stepS + (tripLimits.acceleration * stepS) / 2;
  return speed / 3.6 > possible ? most : Math.max(most ?? 0, speed);
}

interface Fix extends BelievedFix {
  readonly speed: number | null;
}

/** The way goes on to a further position. */
function advance({ last, from }: Way, { place, speed, motion }: Fix, known: Known): TrackMark {
  const { ignition, fuelLevel, bus, driver } = known;
  const stepM = distanceM(last.place, place);
  const stepMs = place.timestampMs - last.place.timestampMs;
  const isSlow = speed === null ? stepM * 3600 < idleKmh * stepMs : speed < idleKmh;
  const isIdle = ignition === true && isSlow && stepM <= tripLimits.stillM && stepMs <= tripLimits.gapMs;
  return {
    place,
    drivenM: last.drivenM + stepM,
    reachedM: Math.max(last.reachedM, distanceM(from.place, place)),
    speedMost: fasterOf(last.speedMost, speed, { stepM, stepMs }),
    hasMoved: last.hasMoved || motion !== 'standing',
    idleMs: ignition === null ? null : (last.idleMs ?? 0) + (isIdle ? stepMs : 0),
    fuelLevel,
    bus,
    drivers: withDriver(last.drivers, driver, place.timestampMs),
  };
}

/** @param before the way that ended, or that it competes with. */
export function startWay({ place }: BelievedFix, known: Known, before: Way | null): Way {
  const { ignition, fuelLevel, bus } = known;
  const mark: TrackMark = {
    place,
    drivenM: 0,
    reachedM: 0,
    speedMost: null,
    hasMoved: false,
    idleMs: ignition === null ? null : 0,
    fuelLevel,
    bus,
    drivers: [],
  };
  const reading = before === null ? null : endReading(before.odometer, before.last.drivenM);
  return {
    last: mark,
    from: mark,
    standing: null,
    candidates: [{ mark, isOff: ignition === false }],
    wide: [mark],
    odometer: noOdometer,
    before: before === null || reading === null ? null : { mark: before.last, reading },
  };
}

const isDue = (newest: TrackMark | undefined, place: TrackPosition, everyMs: number): boolean =>
  newest === undefined ||
  Math.floor(newest.place.timestampMs / everyMs) !== Math.floor(place.timestampMs / everyMs);

/** The oldest candidate since which the vehicle has stood long enough; candidates that it has left are dropped. */
function sortCandidates(way: Way, place: TrackPosition, { motion, ignition }: { motion: Motion } & Known) {
  const since = ({ place: { timestampMs } }: TrackMark): number => place.timestampMs - timestampMs;
  const near = way.candidates
    .filter(({ mark }) => distanceM(mark.place, place) <= tripLimits.stillM)
    .map((one) => (one.isOff && ignition !== false ? { ...one, isOff: false } : one));
  const wide =
    motion === 'moving' ? [] : way.wide.filter((mark) => distanceM(mark.place, place) <= tripLimits.wideM);
  const stopped =
    near.find(({ mark, isOff }) => since(mark) >= (isOff ? tripLimits.stopOffMs : tripLimits.stopMs))?.mark ??
    wide.find((mark) => since(mark) >= tripLimits.wideMs);
  return { near, wide, stopped: stopped ?? null };
}

/** It has stood since `since`: ends the way before it, and begins a stop or goes on with the one that was not really left. */
function standStill(
  way: Way,
  since: TrackMark,
  now: TrackMark,
): { standing: Standstill; ended: readonly TripOrStop[] } {
  const { standing, from } = way;
  const here = fresh(now);
  const goesOn =
    standing !== null &&
    (since.place.timestampMs <= standing.until.place.timestampMs || !isTrip(from, since));
  if (standing !== null && goesOn) {
    const idleMs = now.idleMs === null ? null : (standing.idleMs ?? 0) + now.idleMs;
    return { standing: { ...standing, until: here, idleMs }, ended: [] };
  }
  const trip = isTrip(from, since) ? [tripOf(way, since, { seen: now, isOpen: false })] : [];
  const stop = standing === null ? [] : [stopOf(standing, false)];
  const idleMs = now.idleMs === null ? null : Math.max(0, now.idleMs - (since.idleMs ?? 0));
  return { standing: { start: since.place, until: here, idleMs }, ended: [...stop, ...trip] };
}

/** Nothing is known of the way between two positions far apart in time: what went on ends where it was last seen. */
export function breakOff(way: Way, isOpen: boolean): readonly TripOrStop[] {
  const { standing, last } = way;
  const isDriving = isFar(last);
  return [
    ...(standing === null ? [] : [stopOf(standing, isOpen && !isDriving)]),
    ...(isDriving ? [tripOf(way, last, { seen: last, isOpen })] : []),
  ];
}

export function addFix(way: Way, fix: Fix, known: Known): WayStep {
  const { place, motion } = fix;
  const now = advance(way, fix, known);
  const { near, wide, stopped } = sortCandidates(way, place, { ...known, motion });
  const isGap = place.timestampMs - way.last.place.timestampMs > tripLimits.gapMs;
  const { standing } = way;
  const isStill = isGap && standing !== null && distanceM(standing.start, place) <= tripLimits.tripM;
  const since = stopped ?? (isStill ? standing.until : null);
  if (since === null && isGap) return { way: startWay(fix, known, way), ended: breakOff(way, false) };
  const isOff = known.ignition === false;
  const isNext = isDue(near.at(-1)?.mark, place, candidateMs.near);
  const isNextWide = isDue(wide.at(-1), place, candidateMs.wide);
  if (since === null) {
    const candidates = isNext ? [...near, { mark: now, isOff }] : near;
    return { way: { ...way, last: now, candidates, wide: isNextWide ? [...wide, now] : wide }, ended: [] };
  }
  const here = fresh(now);
  const { standing: stands, ended } = standStill(way, since, now);
  const isYounger = (mark: TrackMark): boolean => mark.place.timestampMs > since.place.timestampMs;
  const younger = near.filter(({ mark }) => isYounger(mark));
  const candidates = isNext ? [...younger, { mark: here, isOff }] : younger;
  const youngerWide = wide.filter(isYounger);
  return {
    way: {
      last: here,
      from: here,
      standing: stands,
      // Something young must be left to reach the next position from.
      candidates: candidates.length > 0 ? candidates : [{ mark: here, isOff }],
      wide: isNextWide || youngerWide.length === 0 ? [...youngerWide, here] : youngerWide,
      odometer: odometerFrom(way.odometer, stands.start.timestampMs),
      before: null,
    },
    ended,
  };
}

/** What the vehicle's odometer says of the time in which it was not seen. */
function unseenTrip({ before, from }: Way, reading: Reading): readonly TripOrStop[] {
  if (before === null) return [];
  const { mark } = before;
  const unseenMs = from.place.timestampMs - mark.place.timestampMs;
  const countedM = unseenM(before.reading, reading, unseenMs);
  if (countedM === null) return [];
  return [
    {
      kind: 'trip',
      trip: {
        start: mark.place,
        end: from.place,
        distanceM: countedM,
        speedMost: null,
        idleMs: null,
        odometerStart: before.reading.km,
        odometerEnd: reading.km,
        fuelStart: mark.fuelLevel,
        fuelEnd: from.fuelLevel,
        bus: busSums(mark.bus, from.bus, unseenMs),
        drivers: [],
        isOpen: false,
      },
    },
  ];
}

/** Takes what an event says beside its position. */
export function addReadings({ way, ended }: WayStep, event: TripEvent): WayStep {
  const { bus, odometer: km, timestampMs } = event;
  const startMs = way.from.place.timestampMs;
  const from =
    bus === null
      ? way.from
      : { ...way.from, bus: startCounters(way.from.bus, bus, { startMs, nowMs: timestampMs }) };
  if (km === null) return { way: { ...way, from }, ended };
  const reading = { km, atMs: timestampMs, drivenM: way.last.drivenM };
  return {
    way: { ...way, from, odometer: withReading(way.odometer, reading), before: null },
    ended: [...ended, ...unseenTrip({ ...way, from }, reading)],
  };
}
