// Generated routes: streets on a bent grid around a city's centre, slow corners, traffic lights, deliveries with the ignition off, a
// depot. Same seed, same route, without a map.
import type { Point } from '../../src/core/geo/geo.ts';
import type { SeededEntropy } from '../core/random.ts';
import { createRoute, type Knot, type Phase, pathDistancesM, type Route } from './routes.ts';

export interface CityRouteOptions {
  readonly centre: Point;
  readonly entropy: SeededEntropy;
  /** Deliveries in a round; 4 to 9 unless given. */
  readonly stops?: number;
  /** Time the vehicle rests at the depot between rounds, seconds. */
  readonly restS?: number;
  /** A day's length and its working time; without it the vehicle works day and night. */
  readonly day?: { readonly dayS: number; readonly shiftS: number };
}

/** A street corner by its place in the grid. */
interface Crossing {
  readonly column: number;
  readonly row: number;
}

/** Event at a corner: none, a red light, or a stop with the engine off. */
type Halt =
  | { readonly kind: 'light'; readonly waitS: number }
  | { readonly kind: 'delivery'; readonly waitS: number; readonly door: 'cargoDoor' | 'cabinDoor' };

interface Corner extends Crossing {
  readonly halt?: Halt;
}

/** A point of the path with what limits the speed at it and after it. */
interface Waypoint {
  readonly point: Point;
  readonly maxMps: number;
  readonly streetMps: number;
  readonly halt?: Halt;
}

const gridSize = 26;
const blockM = 150;
const cornerM = 14; // where a driver begins to turn
const lateralMps2 = 2.2; // comfortable sideways acceleration in a corner
const accelerationMps2 = 1.5; // a loaded van
const brakingMps2 = 2.2;
const metresPerDegree = 111_195;
const avenueEvery = 4;
const avenueMps = 60 / 3.6;
const streetMps = 40 / 3.6;
const curvePieces = 6;

/** Bends and turns the grid so that no street is straight or points north. */
function createStreetMap(options: CityRouteOptions): (crossing: Crossing) => Point {
  const { centre, entropy } = options;
  const turn = entropy.fraction() * Math.PI;
  const [bendA, bendB, phaseA, phaseB] = [
    20 + entropy.fraction() * 40,
    20 + entropy.fraction() * 40,
    entropy.fraction() * 6.3,
    entropy.fraction() * 6.3,
  ];
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const eastDegree = metresPerDegree * Math.cos((centre.latitude * Math.PI) / 180);
  return ({ column, row }) => {
    const x = (column - gridSize / 2) * blockM + bendA * Math.sin(row / 3 + phaseA);
    const y = (row - gridSize / 2) * blockM + bendB * Math.sin(column / 3.5 + phaseB);
    return {
      latitude: centre.latitude + (x * sin + y * cos) / metresPerDegree,
      longitude: centre.longitude + (x * cos - y * sin) / eastDegree,
    };
  };
}

/** The crossings between two corners: both directions mixed, but without a turn at every corner. */
function walk(from: Crossing, to: Crossing, entropy: SeededEntropy): Crossing[] {
  const way: Crossing[] = [];
  let { column, row } = from;
  let alongRow = entropy.chance(0.5);
  while (column !== to.column || row !== to.row) {
    if (entropy.chance(0.25)) alongRow = !alongRow;
    if (column === to.column) alongRow = false;
    if (row === to.row) alongRow = true;
    if (alongRow) column += Math.sign(to.column - column);
    else row += Math.sign(to.row - row);
    way.push({ column, row });
  }
  return way;
}

/** The order of deliveries: always the nearest next. */
function orderStops(depot: Crossing, stops: readonly Crossing[]): Crossing[] {
  const open = [...stops];
  const order: Crossing[] = [];
  let here = depot;
  while (open.length > 0) {
    const blocks = (to: Crossing): number => Math.abs(to.column - here.column) + Math.abs(to.row - here.row);
    open.sort((a, b) => blocks(a) - blocks(b));
    const next = open.shift();
    if (next === undefined) break;
    if (blocks(next) > 0) order.push(next);
    here = next;
  }
  return order;
}

function isAvenue(from: Crossing, to: Crossing): boolean {
  return from.row === to.row ? from.row % avenueEvery === 0 : from.column % avenueEvery === 0;
}

/** All corners of a round from the depot back to it, each with what happens there. */
function planCorners(options: CityRouteOptions): Corner[] {
  const { entropy } = options;
  const anywhere = (): Crossing => ({
    column: entropy.integer(2, gridSize - 2),
    row: entropy.integer(2, gridSize - 2),
  });
  const depot = anywhere();
  const count = options.stops ?? entropy.integer(4, 9);
  const targets = [...orderStops(depot, Array.from({ length: count }, anywhere)), depot];
  const corners: Corner[] = [depot];
  let here = depot;
  for (const target of targets) {
    const way = walk(here, target, entropy);
    for (const crossing of way.slice(0, -1)) {
      const isCrossroads = crossing.row % avenueEvery === 0 && crossing.column % avenueEvery === 0;
      const isRed = entropy.chance(isCrossroads ? 0.45 : 0.06);
      const halt: Halt = { kind: 'light', waitS: 6 + entropy.integer(0, 24) };
      corners.push(isRed ? { ...crossing, halt } : crossing);
    }
    const door = entropy.chance(0.75) ? 'cargoDoor' : 'cabinDoor';
    const waitS = target === depot ? Math.max(120, options.restS ?? 600) : entropy.integer(60, 240);
    if (way.length > 0) corners.push({ ...target, halt: { kind: 'delivery', waitS, door } });
    here = target;
  }
  return corners;
}

function between(from: Point, to: Point, share: number): Point {
  return {
    latitude: from.latitude + (to.latitude - from.latitude) * share,
    longitude: from.longitude + (to.longitude - from.longitude) * share,
  };
}

/** Corners become short curves, so that the heading turns and does not jump. */
function layPath(corners: readonly Corner[], map: (crossing: Crossing) => Point, driver: number): Waypoint[] {
  const waypoints: Waypoint[] = [];
  corners.forEach((corner, at) => {
    const before = corners[at - 1];
    const after = corners[at + 1];
    const point = map(corner);
    const limit = (to: Crossing): number => (isAvenue(corner, to) ? avenueMps : streetMps) * driver;
    const onward = after === undefined ? streetMps : limit(after);
    const isStraight =
      before === undefined ||
      after === undefined ||
      (before.row === corner.row && corner.row === after.row) ||
      (before.column === corner.column && corner.column === after.column);
    const halt = corner.halt === undefined ? {} : { halt: corner.halt };
    if (isStraight || corner.halt?.kind === 'delivery') {
      const maxMps = corner.halt === undefined ? Math.max(avenueMps, onward) : 0;
      waypoints.push({ point, maxMps, streetMps: onward, ...halt });
      return;
    }
    const from = between(point, map(before), cornerM / blockM);
    const to = between(point, map(after), cornerM / blockM);
    const maxMps = Math.sqrt(lateralMps2 * cornerM); // a right angle's curve has about this radius
    waypoints.push({
      point: from,
      maxMps: corner.halt === undefined ? maxMps : 0,
      streetMps: maxMps,
      ...halt,
    });
    for (let piece = 1; piece <= curvePieces; piece += 1) {
      const share = piece / curvePieces;
      const bend = between(between(from, point, share), between(point, to, share), share);
      waypoints.push({ point: bend, maxMps, streetMps: piece === curvePieces ? onward : maxMps });
    }
  });
  return waypoints;
}

/** The highest speed at each waypoint that acceleration and braking allow. */
function waypointSpeeds(waypoints: readonly Waypoint[], distances: Float64Array): Float64Array {
  const last = waypoints.length - 1;
  const speeds = Float64Array.from(waypoints, (waypoint, at) => {
    const before = waypoints[at - 1]?.streetMps ?? 0;
    return at === 0 || at === last ? 0 : Math.min(waypoint.maxMps, waypoint.streetMps, before);
  });
  const reach = (from: number, to: number, rate: number): void => {
    const length = Math.abs((distances[to] ?? 0) - (distances[from] ?? 0));
    const reachable = Math.sqrt((speeds[from] ?? 0) ** 2 + 2 * rate * length);
    speeds[to] = Math.min(speeds[to] ?? 0, reachable);
  };
  for (let at = 1; at <= last; at += 1) reach(at - 1, at, accelerationMps2);
  for (let at = last; at >= 1; at -= 1) reach(at, at - 1, brakingMps2);
  return speeds;
}

interface Timeline {
  readonly knots: Knot[];
  readonly phases: Phase[];
  tS: number;
}

/** Speed up, hold, slow down: from one waypoint to the next. */
function driveStretch(
  line: Timeline,
  stretch: { sM: number; lengthM: number; fromMps: number; toMps: number; limitMps: number },
): void {
  const { fromMps, toMps, lengthM } = stretch;
  const [up, down] = [accelerationMps2, brakingMps2];
  const meeting = Math.sqrt((2 * up * down * lengthM + down * fromMps ** 2 + up * toMps ** 2) / (up + down));
  const peakMps = Math.max(fromMps, toMps, Math.min(stretch.limitMps, meeting));
  const upM = (peakMps ** 2 - fromMps ** 2) / (2 * up);
  const downM = (peakMps ** 2 - toMps ** 2) / (2 * down);
  const holdM = Math.max(0, lengthM - upM - downM);
  let sM = stretch.sM;
  const add = (piece: { speedMps: number; accelerationMps2: number; forS: number; forM: number }): void => {
    if (piece.forS < 1e-9) return;
    const { speedMps, accelerationMps2 } = piece;
    line.knots.push({ tS: line.tS, sM, speedMps, accelerationMps2, jerkMps3: 0 });
    line.tS += piece.forS;
    sM += piece.forM;
  };
  add({ speedMps: fromMps, accelerationMps2: up, forS: (peakMps - fromMps) / up, forM: upM });
  add({ speedMps: peakMps, accelerationMps2: 0, forS: holdM / peakMps, forM: holdM });
  add({ speedMps: peakMps, accelerationMps2: -down, forS: (peakMps - toMps) / down, forM: downM });
}

/** Stands still; at a delivery: engine off, door open, door closed, engine on. */
function standStill(line: Timeline, sM: number, halt: Halt): void {
  line.knots.push({ tS: line.tS, sM, speedMps: 0, accelerationMps2: 0, jerkMps3: 0 });
  if (halt.kind === 'delivery') {
    const closed = { cabinDoor: false, cargoDoor: false };
    const arriveS = line.tS;
    const leaveS = arriveS + halt.waitS;
    line.phases.push(
      { tS: arriveS + 8, ignition: false, ...closed },
      { tS: arriveS + 20, ignition: false, ...closed, [halt.door]: true },
      { tS: leaveS - 30, ignition: false, ...closed },
      { tS: leaveS - 10, ignition: true, ...closed },
    );
  }
  line.tS += halt.waitS;
}

/** A round of deliveries in a city that exists only for its seed. Roughly 10 to 30 km and 40 to 120 minutes. */
export function createCityRoute(options: CityRouteOptions): Route {
  const corners = planCorners(options);
  const driver = 0.88 + options.entropy.fraction() * 0.2; // of the speed limit: some drive a little too fast
  const waypoints = layPath(corners, createStreetMap(options), driver);
  const path = waypoints.map((waypoint) => waypoint.point);
  const distances = pathDistancesM(path);
  const speeds = waypointSpeeds(waypoints, distances);
  const line: Timeline = {
    knots: [],
    phases: [{ tS: 0, ignition: true, cabinDoor: false, cargoDoor: false }],
    tS: 0,
  };
  waypoints.forEach((waypoint, at) => {
    const sM = distances[at] ?? 0;
    if (waypoint.halt !== undefined) standStill(line, sM, waypoint.halt);
    const next = distances[at + 1];
    if (next === undefined) return;
    const [fromMps, toMps] = [speeds[at] ?? 0, speeds[at + 1] ?? 0];
    driveStretch(line, { sM, lengthM: next - sM, fromMps, toMps, limitMps: waypoint.streetMps });
  });
  const end = { tS: line.tS, sM: distances.at(-1) ?? 0, speedMps: 0, accelerationMps2: 0, jerkMps3: 0 };
  const { latitude, longitude } = options.centre;
  return createRoute({
    label: `city ${latitude.toFixed(4)},${longitude.toFixed(4)}`,
    path,
    knots: [...line.knots, end],
    phases: line.phases,
    ...(options.day === undefined ? {} : { day: options.day }),
  });
}
