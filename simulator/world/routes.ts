// A route: where a vehicle is, how fast and what its driver does, at any time of any day. Speed is by construction the
// derivative of the position along the path, so that Doppler and odometer never contradict the fixes.
import { distanceM, headingDeg, type Point } from '../../src/core/geo/geo.ts';

export interface RoutePlace extends Point {
  readonly altitudeM: number;
  /** Of the way ahead, 0 to 360. */
  readonly headingDeg: number;
}

interface RouteMoment extends RoutePlace {
  readonly speedKmh: number;
  readonly ignition: boolean;
  readonly cabinDoor: boolean;
  readonly cargoDoor: boolean;
  /** Metres driven since time 0; it never goes down. */
  readonly odometerM: number;
}

export interface Route {
  readonly label: string;
  /** Seconds and metres of one round. */
  readonly roundS: number;
  readonly roundM: number;
  /** Any time from 0 on; the rounds repeat for ever. O(log n). */
  at(tS: number): RouteMoment;
  /** The place at which the odometer shows this. */
  place(odometerM: number): RoutePlace;
  /** The first time at which the odometer shows this. */
  timeAt(odometerM: number): number;
}

/** From `tS` on: s = sM + v t + a t^2 / 2 + j t^3 / 6 with SI units, until the next knot. */
export interface Knot {
  readonly tS: number;
  readonly sM: number;
  readonly speedMps: number;
  readonly accelerationMps2: number;
  readonly jerkMps3: number;
}

/** What the driver does from `tS` on. */
export interface Phase {
  readonly tS: number;
  readonly ignition: boolean;
  readonly cabinDoor: boolean;
  readonly cargoDoor: boolean;
}

export interface RoutePlan {
  readonly label: string;
  /** At least two points; the last is where the first is. */
  readonly path: readonly Point[];
  /** By time; the last one stands still and starts at `roundS`. */
  readonly knots: readonly Knot[];
  readonly phases: readonly Phase[];
  /** Length of a day and of the work in it; without them the rounds follow each other day and night. */
  readonly day?: { readonly dayS: number; readonly shiftS: number };
}

/** Index of the last value <= `wanted` in an ascending list; 0 if there is none. */
function lastAtOrBelow(values: Float64Array, wanted: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((values[middle] ?? Number.POSITIVE_INFINITY) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Metres from the first point along `path`, one value a point. */
export function pathDistancesM(path: readonly Point[]): Float64Array {
  const distances = new Float64Array(path.length);
  for (let at = 1; at < path.length; at += 1) {
    const from = path[at - 1];
    const to = path[at];
    if (from !== undefined && to !== undefined)
      distances[at] = (distances[at - 1] ?? 0) + distanceM(from, to);
  }
  return distances;
}

/** Gentle hills, below 4 % anywhere: a function of the place, so that the same place is always as high. */
function altitudeM(point: Point): number {
  return 90 + 15 * Math.sin(point.latitude * 124) + 10 * Math.sin(point.longitude * 159);
}

/** Place at a distance along a path, between 0 and its length. */
function createPlaces(path: readonly Point[]): (sM: number) => RoutePlace {
  const distances = pathDistancesM(path);
  const headings = Float64Array.from(path, (point, at) => {
    const next = path[at + 1];
    return next === undefined ? 0 : headingDeg(point, next);
  });
  return (sM) => {
    const at = Math.min(lastAtOrBelow(distances, sM), path.length - 2);
    const from = path[at] ?? { latitude: 0, longitude: 0 };
    const to = path[at + 1] ?? from;
    const length = (distances[at + 1] ?? 0) - (distances[at] ?? 0);
    const share = length > 0 ? Math.min(1, Math.max(0, (sM - (distances[at] ?? 0)) / length)) : 0;
    const place = {
      latitude: from.latitude + share * (to.latitude - from.latitude),
      longitude: from.longitude + share * (to.longitude - from.longitude),
    };
    return { ...place, altitudeM: altitudeM(place), headingDeg: headings[at] ?? 0 };
  };
}

interface Motion {
  at(tS: number): { readonly sM: number; readonly speedMps: number };
  timeAt(sM: number): number;
}

/** The knots in flat arrays: thousands of vehicles may each have a route of their own. */
function createMotion(knots: readonly Knot[]): Motion {
  const times = Float64Array.from(knots, (knot) => knot.tS);
  const distances = Float64Array.from(knots, (knot) => knot.sM);
  const speeds = Float64Array.from(knots, (knot) => knot.speedMps);
  const accelerations = Float64Array.from(knots, (knot) => knot.accelerationMps2);
  const jerks = Float64Array.from(knots, (knot) => knot.jerkMps3);
  const at = (tS: number): { sM: number; speedMps: number } => {
    const knot = lastAtOrBelow(times, tS);
    const t = tS - (times[knot] ?? 0);
    const [v, a, j] = [speeds[knot] ?? 0, accelerations[knot] ?? 0, jerks[knot] ?? 0];
    return {
      sM: (distances[knot] ?? 0) + t * (v + t * (a / 2 + (t * j) / 6)),
      speedMps: Math.max(0, v + t * (a + (t * j) / 2)),
    };
  };
  return {
    at,
    timeAt(sM) {
      const knot = lastAtOrBelow(distances, sM);
      let early = times[knot] ?? 0;
      let late = times[knot + 1] ?? early;
      for (let round = 0; round < 50 && late - early > 1e-6; round += 1) {
        const middle = (early + late) / 2;
        if (at(middle).sM < sM) early = middle;
        else late = middle;
      }
      return late;
    },
  };
}

/** A route that follows `plan` round after round. */
export function createRoute(plan: RoutePlan): Route {
  const placeOf = createPlaces(plan.path);
  const motion = createMotion(plan.knots);
  const phaseTimes = Float64Array.from(plan.phases, (phase) => phase.tS);
  const roundS = plan.knots.at(-1)?.tS ?? 1;
  const roundM = plan.knots.at(-1)?.sM ?? 0;
  const roundsPerDay = plan.day === undefined ? 1 : Math.max(1, Math.floor(plan.day.shiftS / roundS));
  const dayS = Math.max(plan.day?.dayS ?? 0, roundsPerDay * roundS);
  const dayM = roundsPerDay * roundM;
  return {
    label: plan.label,
    roundS,
    roundM,
    at(tS) {
      const day = Math.max(0, Math.floor(tS / dayS));
      const inDayS = Math.max(0, tS) - day * dayS;
      const round = Math.min(Math.floor(inDayS / roundS), roundsPerDay);
      const isNight = round === roundsPerDay;
      const inRoundS = isNight ? 0 : inDayS - round * roundS;
      const { sM, speedMps } = motion.at(inRoundS);
      const phase = plan.phases[lastAtOrBelow(phaseTimes, inRoundS)];
      return {
        ...placeOf(sM),
        speedKmh: speedMps * 3.6,
        ignition: !isNight && (phase?.ignition ?? false),
        cabinDoor: !isNight && (phase?.cabinDoor ?? false),
        cargoDoor: !isNight && (phase?.cargoDoor ?? false),
        odometerM: day * dayM + round * roundM + sM,
      };
    },
    place: (odometerM) => placeOf(roundM > 0 ? Math.max(0, odometerM) % roundM : 0),
    timeAt(odometerM) {
      if (roundM <= 0 || odometerM <= 0) return 0;
      const rounds = Math.floor(odometerM / roundM);
      const day = Math.floor(rounds / roundsPerDay);
      const startS = day * dayS + (rounds - day * roundsPerDay) * roundS;
      return startS + motion.timeAt(odometerM - rounds * roundM);
    },
  };
}
