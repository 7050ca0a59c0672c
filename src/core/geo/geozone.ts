// Geozones: their shapes and the point-in-zone test, the same on the vehicle and in the service. Type numbers are
// those of OpenGTS (`Geozone.GeozoneType`). Pure geometry: no time, no hysteresis, no quality of fixes.
import { distanceM, earthRadiusM, type Point, radians } from './geo.ts';
import { eastOf, edgeDistanceM, edgesOf } from './geo-edge.ts';

/**
 * 0 circles, one about each point; 1 rectangle around the points; 2 corridor along the points; 3 polygon with the points
 * as corners; 4 point of interest, which nothing is ever in.
 */
export type ZoneType = 0 | 1 | 2 | 3 | 4;

export const zoneLimits = {
  points: 8,
  /** Metres. */
  radiusLeastM: 5,
  radiusMostM: 30_000,
} as const;

/** Actions of a zone that its vehicles know. Engine and locks are controlled by the vehicle only, alerts are notifications. */
export const vehicleSwitches = [
  'arrivalEngineOn',
  'arrivalEngineOff',
  'arrivalCabinLock',
  'arrivalCabinUnlock',
  'arrivalCargoLock',
  'arrivalCargoUnlock',
  'departureEngineOn',
  'departureEngineOff',
  'departureCabinLock',
  'departureCabinUnlock',
  'departureCargoLock',
  'departureCargoUnlock',
  'alertEntry',
  'alertExit',
] as const;
/** All actions of a zone. The service alone makes an alarm of an alert. */
export const zoneSwitches = [...vehicleSwitches, 'alarmEntry', 'alarmExit'] as const;
export type ZoneSwitch = (typeof zoneSwitches)[number];

/** Where a zone is. */
export interface Zone {
  readonly type: ZoneType;
  /** Metres; used by circles and corridors only. */
  readonly radiusM: number;
  /** Degrees, WGS 84; points that are not set count for nothing, see `isSetPoint`. */
  readonly points: readonly Point[];
}

/** In the Gulf of Guinea, within 11 m of 0, 0, a vertex counts as not set: that is how OpenGTS writes it. */
const unsetDeg = 0.0001;

export function isSetPoint({ latitude, longitude }: Point): boolean {
  return Math.abs(latitude) > unsetDeg || Math.abs(longitude) > unsetDeg;
}

interface Span {
  /** Not normalised: `east` >= `west`, either may lie beyond 180 degrees. */
  readonly west: number;
  readonly east: number;
  /** Times that the closed ring goes round the axis of the Earth. */
  readonly turns: number;
}

/** Range of longitude of a line along the points, the shorter way between each two. */
function spanOf(points: readonly Point[]): Span {
  const [first] = points;
  if (first === undefined) return { west: 0, east: 0, turns: 0 };
  let here = first.longitude;
  let [west, east] = [here, here];
  const goTo = (from: Point, to: Point): number => {
    // The point's own longitude, moved by whole turns: exact, so that a border is where it was written.
    const end = here + eastOf(from, to);
    return to.longitude + 360 * Math.round((end - to.longitude) / 360);
  };
  for (const [from, to] of edgesOf(points, false)) {
    here = goTo(from, to);
    west = Math.min(west, here);
    east = Math.max(east, here);
  }
  const home = goTo(points.at(-1) ?? first, first);
  return { west, east, turns: Math.round((home - first.longitude) / 360) };
}

/** Number of different points, counted up to `enough`; compared as numbers, because a vehicle asks at every fix. */
function countDifferent(points: readonly Point[], enough: number): number {
  let count = 0;
  for (let at = 0; at < points.length && count < enough; at += 1) {
    const one = points[at];
    const first = points.findIndex(
      (other) => other.latitude === one?.latitude && other.longitude === one.longitude,
    );
    if (first === at) count += 1;
  }
  return count;
}

/**
 * Fault that keeps every place outside the zone; null for a good zone. A point of interest is good, although nothing is in it.
 */
export function zoneFault(zone: Zone): string | null {
  const points = zone.points.filter(isSetPoint);
  const different = countDifferent(points, 3);
  if (different === 0) return 'no point is set';
  if (zone.type === 3 && different < 3) return 'a polygon needs three different points';
  if (zone.type !== 1) return null;
  const { west, east } = spanOf(points);
  if (different < 2) return 'a rectangle needs two different points';
  return east - west < 180 ? null : 'a rectangle must be less than 180 degrees wide';
}

/** Ends of a rectangle's sides. */
interface Sides {
  readonly south: number;
  readonly north: number;
  readonly west: number;
  readonly east: number;
}

const onEarth = (longitude: number): number => ((((longitude + 180) % 360) + 360) % 360) - 180;

function sidesOf(points: readonly Point[]): Sides {
  const latitudes = points.map(({ latitude }) => latitude);
  const { west, east } = spanOf(points);
  return { south: Math.min(...latitudes), north: Math.max(...latitudes), west, east };
}

function isInRectangle(points: readonly Point[], at: Point): boolean {
  const { south, north, west, east } = sidesOf(points);
  if (at.latitude < south || at.latitude > north) return false;
  // At a pole every meridian meets.
  if (Math.abs(at.latitude) === 90) return true;
  return [-360, 0, 360].some((turn) => at.longitude + turn >= west && at.longitude + turn <= east);
}

/** East of the point in degrees, -180 included and 180 not, so that each vertex has one place only. */
function placeOf(at: Point, vertex: Point): number {
  const east = eastOf(at, vertex);
  return east === 180 ? -180 : east;
}

/**
 * Even-odd rule along the meridian from the point to the north pole. A ring around the axis holds the pole nearer to its
 * corners on average.
 */
function isInPolygon(points: readonly Point[], at: Point): boolean {
  let crossings = 0;
  for (const [from, to] of edgesOf(points, true)) {
    const start = placeOf(at, from);
    const place = placeOf(at, to);
    // The end's own place, moved by whole turns to where the edge ends: exact, so that no vertex is counted twice.
    const end = place + 360 * Math.round((start + eastOf(from, to) - place) / 360);
    if (start < 0 === end < 0) continue;
    const crossing = from.latitude + (to.latitude - from.latitude) * (start / (start - end));
    if (crossing > at.latitude) crossings += 1;
  }
  const isRoundAxis = spanOf(points).turns % 2 !== 0;
  const mean = points.reduce((sum, { latitude }) => sum + latitude, 0) / points.length;
  const holdsNorthPole = isRoundAxis && mean >= 0;
  return (crossings % 2 === 1) !== holdsNorthPole;
}

const nearestM = (at: Point, edges: readonly (readonly [Point, Point])[]): number =>
  Math.min(...edges.map((edge) => edgeDistanceM(at, edge)));

/** Metres to the nearest circle's or corridor's middle line. */
function middleDistanceM(zone: Zone, points: readonly Point[], at: Point): number {
  const toPoints = Math.min(...points.map((point) => distanceM(at, point)));
  return zone.type === 2 ? Math.min(toPoints, nearestM(at, edgesOf(points, false))) : toPoints;
}

/** Whether a point is in the zone. The border of circles, corridors and rectangles is inside. */
export function zoneContains(zone: Zone, at: Point): boolean {
  if (zone.type === 4 || zoneFault(zone) !== null) return false;
  const points = zone.points.filter(isSetPoint);
  if (zone.type === 1) return isInRectangle(points, at);
  if (zone.type === 3) return isInPolygon(points, at);
  return middleDistanceM(zone, points, at) <= zone.radiusM;
}

/**
 * Metres to the border: positive inside, negative outside, for hysteresis. `-Infinity` when nothing can be in the zone.
 * Where circles overlap it is the depth in the deepest of them.
 */
export function zoneDepthM(zone: Zone, at: Point): number {
  if (zone.type === 4 || zoneFault(zone) !== null) return Number.NEGATIVE_INFINITY;
  const points = zone.points.filter(isSetPoint);
  if (zone.type === 0 || zone.type === 2) return zone.radiusM - middleDistanceM(zone, points, at);
  const { south, north, west, east } = sidesOf(points);
  const corner = (latitude: number, longitude: number): Point => ({
    latitude,
    longitude: onEarth(longitude),
  });
  const corners =
    zone.type === 3
      ? points
      : [corner(south, west), corner(south, east), corner(north, east), corner(north, west)];
  const borderM = nearestM(at, edgesOf(corners, true));
  return zoneContains(zone, at) ? borderM : -borderM;
}

/** Latitudes and longitudes that hold a whole zone; `west` > `east` where it crosses the antimeridian. */
export interface Box {
  readonly south: number;
  readonly north: number;
  readonly west: number;
  readonly east: number;
}

/** A centimetre, so that rounding never puts the border of a zone outside of its box. */
const slackDeg = 1e-7;

/** A box that holds the zone, though not always the smallest; null when nothing can be in the zone. */
export function zoneBox(zone: Zone): Box | null {
  if (zone.type === 4 || zoneFault(zone) !== null) return null;
  const points = zone.points.filter(isSetPoint);
  const sides = sidesOf(points);
  const reach = zone.type === 0 || zone.type === 2 ? zone.radiusM / earthRadiusM : 0;
  const reachDeg = (reach * 180) / Math.PI + slackDeg;
  const isRoundAxis = zone.type === 3 && spanOf(points).turns % 2 !== 0;
  const south = isRoundAxis ? -90 : Math.max(-90, sides.south - reachDeg);
  const north = isRoundAxis ? 90 : Math.min(90, sides.north + reachDeg);
  const whole: Box = { south, north, west: -180, east: 180 };
  if (south === -90 || north === 90) return whole;
  // A circle extends further east than its radius: its easternmost point is nearer to the pole.
  const steepest = Math.max(Math.abs(sides.south), Math.abs(sides.north));
  const widen =
    (Math.asin(Math.min(1, Math.sin(reach) / Math.cos(radians(steepest)))) * 180) / Math.PI + slackDeg;
  const west = sides.west - widen;
  const east = sides.east + widen;
  return east - west >= 360 ? whole : { south, north, west: onEarth(west), east: onEarth(east) };
}
