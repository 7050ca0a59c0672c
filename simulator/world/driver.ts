// The driver of a simulated vehicle: follows the route by its timetable, or the commands of the bench. Speed changes only as fast as a
// vehicle can change it, and an engine whose starter is cut does not start.
import type { Point } from '../../src/core/geo/geo.ts';
import type { Clock } from '../../src/ports.ts';
import type { Route, RoutePlace } from './routes.ts';

export interface DriverMoment extends RoutePlace {
  readonly speedKmh: number;
  readonly ignition: boolean;
  readonly cabinDoor: boolean;
  readonly cargoDoor: boolean;
  readonly odometerM: number;
  readonly engine: 'off' | 'running' | 'blocked';
}

export interface DriverOptions {
  readonly clock: Clock;
  readonly route: Route;
  /** True while the starter circuit is cut: a running engine runs on, a stopped one does not start. */
  isStarterCut(): boolean;
  /** Position on the timetable; null: parked at the start, ignition off, driven by commands. */
  readonly startS: number | null;
}

export interface Driver {
  now(): DriverMoment;
  setIgnition(isOn: boolean): void;
  /** Drives on by the timetable from where the vehicle is, at once, also in a rest of the timetable. False when the engine does not start. */
  drive(): boolean;
  /** Drives along the route at this speed, 0 to stop. False when the engine does not start. */
  setSpeed(kmh: number): boolean;
  /** Pulled along the route at this speed with the ignition off, 0 to be let go. `drive` ends it. */
  tow(kmh: number): void;
  isTowed(): boolean;
  /** Moves the vehicle to another place at once, as a ferry does. */
  goTo(point: Point): void;
}

const rateMps2 = 2;
/** With the engine off a vehicle rolls out. */
const rollMps2 = 1.5;
const stepS = 0.1;
/** A long gap of the caller is driven in this many pieces, however long they are then. */
const maxSteps = 600;
/** A vehicle that joins its timetable creeps at least this fast, because timetables also stand still. */
const joinMps = 2;

type Mode = 'timetable' | 'joining' | 'manual';

interface Vehicle {
  mode: Mode;
  tS: number;
  odometerM: number;
  speedMps: number;
  targetMps: number;
  ignition: boolean;
  isRunning: boolean;
  isTowed: boolean;
}

function approach(value: number, target: number, step: number): number {
  return value < target ? Math.min(target, value + step) : Math.max(target, value - step);
}

/** Moves `vehicle` at the commanded speed for `forS` seconds; constant acceleration towards the target speed. */
function roll(vehicle: Vehicle, forS: number): void {
  const isPulled = vehicle.isRunning || vehicle.isTowed;
  const rate = isPulled ? rateMps2 : rollMps2;
  const before = vehicle.speedMps;
  vehicle.speedMps = approach(before, isPulled ? vehicle.targetMps : 0, rate * forS);
  vehicle.odometerM += ((before + vehicle.speedMps) / 2) * forS;
}

function tryStart(vehicle: Vehicle, isCut: boolean): void {
  if (!vehicle.ignition) vehicle.isRunning = false;
  else if (!vehicle.isRunning && !isCut) vehicle.isRunning = true;
}

/** Follows the timetable for `forS` seconds, but waits wherever the engine has to be started and does not start. */
function follow(vehicle: Vehicle, route: Route, step: { forS: number; isCut: boolean }): void {
  if (vehicle.ignition && !vehicle.isRunning) {
    // The ignition stays on while the driver waits for the starter.
    tryStart(vehicle, step.isCut);
    vehicle.speedMps = 0;
    if (!vehicle.isRunning) return;
  }
  const next = route.at(vehicle.tS + step.forS);
  vehicle.ignition = next.ignition;
  tryStart(vehicle, step.isCut);
  if (vehicle.ignition && !vehicle.isRunning) {
    vehicle.speedMps = 0;
    if (next.speedKmh === 0) vehicle.tS += step.forS;
    return;
  }
  vehicle.tS += step.forS;
  vehicle.odometerM = next.odometerM;
  vehicle.speedMps = next.speedKmh / 3.6;
}

function join(vehicle: Vehicle, route: Route, forS: number): void {
  vehicle.tS = route.timeAt(vehicle.odometerM);
  const planned = route.at(vehicle.tS).speedKmh / 3.6;
  vehicle.targetMps = Math.max(joinMps, planned);
  roll(vehicle, forS);
  vehicle.tS = route.timeAt(vehicle.odometerM);
  if (vehicle.isRunning && vehicle.speedMps >= planned) vehicle.mode = 'timetable';
}

/** The vehicle at the start of its day. */
function parkedAt(options: DriverOptions): Vehicle {
  const { startS } = options;
  const first = options.route.at(startS ?? 0);
  const isDriven = startS !== null;
  return {
    mode: isDriven ? 'timetable' : 'manual',
    tS: startS ?? 0,
    odometerM: isDriven ? first.odometerM : 0,
    speedMps: isDriven ? first.speedKmh / 3.6 : 0,
    targetMps: 0,
    ignition: isDriven && first.ignition,
    isRunning: isDriven && first.ignition,
    isTowed: false,
  };
}

/** Brings a vehicle up to the clock's time, in steps small enough for its acceleration. */
function createCatchUp(options: DriverOptions, vehicle: Vehicle): () => void {
  const { clock, route } = options;
  let atMs = clock.monoMs();
  const advance = (forS: number): void => {
    const isCut = options.isStarterCut();
    if (vehicle.mode === 'timetable') {
      follow(vehicle, route, { forS, isCut });
      return;
    }
    tryStart(vehicle, isCut);
    if (vehicle.mode === 'joining') join(vehicle, route, forS);
    else roll(vehicle, forS);
  };
  return () => {
    let leftS = (clock.monoMs() - atMs) / 1000;
    atMs = clock.monoMs();
    const pieceS = Math.max(stepS, leftS / maxSteps);
    for (; leftS > 0; leftS -= pieceS) advance(Math.min(pieceS, leftS));
  };
}

export function createDriver(options: DriverOptions): Driver {
  const { route } = options;
  const vehicle = parkedAt(options);
  const catchUp = createCatchUp(options, vehicle);
  let shift: Point = { latitude: 0, longitude: 0 };
  /** Turns the key if need be; true when the engine runs. */
  const start = (): boolean => {
    catchUp();
    vehicle.ignition = true;
    tryStart(vehicle, options.isStarterCut());
    return vehicle.isRunning;
  };
  const byHand = (targetMps: number): void => {
    vehicle.mode = 'manual';
    vehicle.targetMps = targetMps;
  };
  const now = (): DriverMoment => {
    catchUp();
    const place = route.place(vehicle.odometerM);
    const planned = vehicle.mode === 'timetable' ? route.at(vehicle.tS) : null;
    return {
      ...place,
      latitude: place.latitude + shift.latitude,
      longitude: place.longitude + shift.longitude,
      speedKmh: vehicle.speedMps * 3.6,
      ignition: vehicle.ignition,
      cabinDoor: planned?.cabinDoor ?? false,
      cargoDoor: planned?.cargoDoor ?? false,
      odometerM: vehicle.odometerM,
      engine: vehicle.isRunning ? 'running' : vehicle.ignition ? 'blocked' : 'off',
    };
  };
  return {
    now,
    setIgnition(isOn) {
      catchUp();
      if (isOn) {
        start();
        return;
      }
      byHand(0);
      vehicle.ignition = false;
      vehicle.isRunning = false;
    },
    tow(kmh) {
      catchUp();
      byHand(kmh / 3.6);
      vehicle.ignition = false;
      vehicle.isRunning = false;
      vehicle.isTowed = kmh > 0;
    },
    isTowed: () => vehicle.isTowed,
    drive() {
      vehicle.isTowed = false;
      if (!start()) return false;
      if (vehicle.mode === 'manual' || vehicle.speedMps === 0) vehicle.mode = 'joining';
      return true;
    },
    setSpeed(kmh) {
      if (kmh > 0 && !start()) return false;
      catchUp();
      byHand(kmh / 3.6);
      return true;
    },
    goTo(point) {
      const place = now();
      shift = {
        latitude: shift.latitude + point.latitude - place.latitude,
        longitude: shift.longitude + point.longitude - place.longitude,
      };
    },
  };
}
