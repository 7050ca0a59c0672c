// Judges odometer and fuel level of a vehicle's records by the simulated world: the true distance and tank level. All tolerances
// are in this file. Pure.
import { statusCodes, statusText } from '../../../src/core/events/status-codes.ts';
import { eventBreach } from '../ledger/breach.ts';
import { delayedMs, isStruck, runSpan, type Span, stalledMs } from '../ledger/excuses.ts';
import type { Breach, EventNote, VehicleNotes } from '../ledger/ledger-types.ts';
import { drivenAt, momentsWithin } from '../ledger/trace.ts';

/** Reading of one record, in the vehicle's order. */
interface Reading {
  readonly eventID: string;
  readonly code: number;
  /** The record's own time. */
  readonly utcMs: number;
  /** Time of storing on the vehicle: nothing in it is newer. */
  readonly storedUtcMs: number;
  readonly hasPlace: boolean;
  /** Null: the record has none. */
  readonly odometerKm: number | null;
  readonly fuelLevel: number | null;
}

export type ShownLine = Readonly<Record<string, string>>;

const numberOf = (text: string | undefined): number | null =>
  text === undefined || text === '' ? null : Number(text);

function readingOf(
  eventID: string,
  note: EventNote,
  of: { readonly beganUtcMs: number; readonly line: ShownLine | null },
): Reading | null {
  const { sent, code, isResent, storedMs } = note;
  // An event sent with two times, or an uncertain one, can't be compared.
  if (sent === null || isResent || !sent.isTimed || sent.timestampMs === null) return null;
  const { line, beganUtcMs } = of;
  return {
    eventID,
    code,
    utcMs: sent.timestampMs,
    storedUtcMs: beganUtcMs + storedMs,
    hasPlace: sent.latitude !== null,
    odometerKm: line === null ? sent.odometerKm : numberOf(line['odometer']),
    fuelLevel: line === null ? sent.fuelLevel : numberOf(line['fuelLevel']),
  };
}

/** @param lines the export of the vehicle; null: it was not read, and what the vehicle sent is judged. */
function readingsOf(vehicle: VehicleNotes, lines: readonly ShownLine[] | null): readonly Reading[] {
  const { beganUtcMs, boots } = vehicle;
  if (beganUtcMs === null) return [];
  const shown = lines === null ? null : new Map(lines.map((line) => [line['eventID'] ?? '', line]));
  return [...boots].flatMap(([boot, notes]) =>
    notes.flatMap((note, at) => {
      const eventID = `${boot}:${at + 1}`;
      const line = shown?.get(eventID) ?? null;
      // Missing records are reported as lost elsewhere.
      if (note === undefined || (shown !== null && line === null)) return [];
      const reading = readingOf(eventID, note, { beganUtcMs, line });
      return reading === null ? [] : [reading];
    }),
  );
}

/** Records of a border are kept from when it was crossed until it is certain: later records may have been stored before. */
const keptCodes: ReadonlySet<number> = new Set([
  statusCodes.GEOFENCE_ARRIVE.code,
  statusCodes.GEOFENCE_DEPART.code,
]);

/** The receiver counts once a second; its sentences take half a second, and end when the next begin. */
const countedMs = 3000;
/** Moments of the world are a second apart. */
const momentMs = 1000;
/** Metres: the noise of the receiver at both ends, starts and stops below 3 km/h, which do not count. */
const noiseM = 15;
/** Of the way: noise makes it longer by 0.1 % at 30 km/h and 4 % at walking pace, corners between two fixes shorter. */
const noiseShare = 0.03;
/** Metres a second in which the generator stood: without fixes the way round a corner is cut. */
const stalledMps = 5;
/** Metres are whole on the vehicle, and an export has as many decimals. */
const roundingM = 1.5;

/** True when a span of UTC is not judged: receiver or clock were deceived, the board was lost, or no agent ran. */
const isUnjudged = (vehicle: VehicleNotes, utc: Span): boolean =>
  isStruck(vehicle, ['position', 'hardware'], runSpan(vehicle, utc));

const metres = (value: number): string => `${Math.round(value)} m`;

/** Counting time of a record's odometer, UTC ms: later if the generator stalled, which delays receiver and agent. */
function countedWithin(vehicle: VehicleNotes, { utcMs, storedUtcMs }: Reading): Span {
  const lateMs = delayedMs(vehicle, { fromMs: utcMs, toMs: storedUtcMs });
  return { fromMs: utcMs - countedMs - lateMs, toMs: storedUtcMs + momentMs };
}

/** Breach of the odometer's growth since an earlier record. */
function wrongGrowth(vehicle: VehicleNotes, from: Reading, to: Reading): string | null {
  const driven = (utcMs: number): number => drivenAt(vehicle.trace, utcMs);
  const grownM = ((to.odometerKm ?? 0) - (from.odometerKm ?? 0)) * 1000;
  const [first, last] = [countedWithin(vehicle, from), countedWithin(vehicle, to)];
  const leastM = Math.max(0, driven(last.fromMs) - driven(first.toMs));
  const mostM = driven(last.toMs) - driven(first.fromMs);
  const between = runSpan(vehicle, { fromMs: from.utcMs, toMs: to.utcMs });
  const stalledM = (stalledMps * stalledMs(vehicle, between)) / 1000;
  const toleranceM = noiseM + noiseShare * mostM + stalledM;
  if (grownM >= leastM - toleranceM && grownM <= mostM + toleranceM) return null;
  return `odometer ${to.odometerKm} km, ${metres(grownM)} more than in ${from.eventID}; the vehicle drove ${metres(leastM)} to ${metres(mostM)} meanwhile`;
}

/** Breach of a record against the one before it. */
function wrongStep(before: Reading | null, { odometerKm }: Reading): string | null {
  const beforeKm = before?.odometerKm ?? null;
  if (before === null || beforeKm === null || odometerKm === null) return null;
  if (odometerKm >= beforeKm - roundingM / 1000) return null;
  return `odometer ${odometerKm} km, and ${beforeKm} km before it in ${before.eventID}`;
}

/**
 * First record of a vehicle with a wrong odometer: it is missing, fell, or its growth since the first record differs from the
 * distance. A fault of receiver, clock or agent restarts the growth; no fault allows a fall.
 */
export function judgeOdometer(vehicle: VehicleNotes, lines: readonly ShownLine[] | null): readonly Breach[] {
  const { deviceID, trace } = vehicle;
  if (trace.utcMs.length === 0) return [];
  let first: Reading | null = null;
  let last: Reading | null = null;
  for (const reading of readingsOf(vehicle, lines)) {
    const { odometerKm, code, utcMs, storedUtcMs, eventID } = reading;
    const found = (words: string) => [eventBreach('odometerWrong', { deviceID, eventID }, words)];
    if (odometerKm === null && code === statusCodes.LOCATION.code)
      return found('a position without odometer');
    if (odometerKm === null || keptCodes.has(code)) continue;
    const step = wrongStep(last, reading);
    if (step !== null) return found(step);
    last = reading;
    const own = { fromMs: utcMs - countedMs, toMs: storedUtcMs };
    const since: Reading | null = first;
    if (isUnjudged(vehicle, { ...own, fromMs: (since ?? reading).utcMs - countedMs })) first = null;
    if (isUnjudged(vehicle, own)) continue;
    if (since === null || first === null) {
      // Without satellites nothing is counted.
      first = reading.hasPlace ? reading : null;
      continue;
    }
    const growth = wrongGrowth(vehicle, since, reading);
    if (growth !== null) return found(growth);
  }
  return [];
}

/** Of the tank: slosh of a driving vehicle (0.015), the board's steps (0.002) and rounding. */
const levelShare = 0.02;
/** The board is read once a second; a record has what was read last. */
const readMs = 5000;
/** From the start of a unit until its board was read. */
const wakeMs = 10_000;
/** Records about the tank have the median of some minutes of driving. */
const medianMs = 420_000;
const tankCodes: ReadonlySet<number> = new Set([
  statusCodes.FUEL_LEVEL.code,
  statusCodes.FUEL_REFILL.code,
  statusCodes.FUEL_THEFT.code,
  statusCodes.LOW_FUEL.code,
]);
/** The least part of the tank that was filled or drained where a record says so: the agent's least, 0.05, without noise. */
const changedShare = 0.03;
/** A change while the unit was off is found after some minutes of the next drive, ms. */
const changedMs = 1_800_000;
/** The vehicle stood: what leaves the tank then does not go through its engine. */
const stoodM = 0.5;

interface Tank {
  readonly least: number;
  readonly most: number;
  /** Poured in, and drained while the vehicle stood. */
  readonly filled: number;
  readonly drained: number;
}

/** The tank of the world in a span of UTC; null: it has no sender, or was not there. */
function tankWithin({ trace }: VehicleNotes, utc: Span): Tank | null {
  const moments = momentsWithin(trace, utc);
  let [least, most, filled, drained] = [1, 0, 0, 0];
  for (const [at, { tankLevel, drivenM }] of moments.entries()) {
    if (tankLevel === null) return null;
    least = Math.min(least, tankLevel);
    most = Math.max(most, tankLevel);
    const before = moments[at - 1];
    const change = tankLevel - (before?.tankLevel ?? tankLevel);
    if (change > 0) filled += change;
    else if (drivenM - (before?.drivenM ?? drivenM) < stoodM) drained -= change;
  }
  return moments.length === 0 ? null : { least, most, filled, drained };
}

const percent = (fraction: number): string => `${(fraction * 100).toFixed(1)} %`;

function wrongLevel(vehicle: VehicleNotes, reading: Reading): string | null {
  const { code, utcMs, storedUtcMs, fuelLevel } = reading;
  const forMs = tankCodes.has(code) ? medianMs : readMs;
  const lateMs = delayedMs(vehicle, { fromMs: utcMs, toMs: storedUtcMs });
  const tank = tankWithin(vehicle, { fromMs: utcMs - forMs - lateMs, toMs: storedUtcMs });
  if (tank === null) return null;
  if (fuelLevel === null) {
    // The board may have answered too late to a generator that stood, and count as lost.
    const isRead = lateMs === 0 && utcMs > (vehicle.trace.utcMs[0] ?? utcMs) + wakeMs;
    return isRead && code === statusCodes.LOCATION.code ? 'a position without the level of the tank' : null;
  }
  if (fuelLevel >= tank.least - levelShare && fuelLevel <= tank.most + levelShare) return null;
  return `${statusText(code)} with ${percent(fuelLevel)} in the tank; there were ${percent(tank.least)} to ${percent(tank.most)}`;
}

/** Breach of a report on a refill or theft. */
function wrongChange(vehicle: VehicleNotes, { code, utcMs, storedUtcMs }: Reading): string | null {
  const isRefill = code === statusCodes.FUEL_REFILL.code;
  if (!isRefill && code !== statusCodes.FUEL_THEFT.code) return null;
  const tank = tankWithin(vehicle, { fromMs: utcMs - changedMs, toMs: storedUtcMs });
  const changed = isRefill ? tank?.filled : tank?.drained;
  if (changed === undefined || changed >= changedShare) return null;
  return `${statusText(code)}; ${percent(changed)} of the tank were ${isRefill ? 'filled' : 'drained'} in the half hour before`;
}

/** The first record of a vehicle whose level is not that of the tank, or that reports a change of it that did not happen. */
export function judgeFuel(vehicle: VehicleNotes, lines: readonly ShownLine[] | null): readonly Breach[] {
  const { deviceID } = vehicle;
  if (vehicle.trace.utcMs.length === 0) return [];
  for (const reading of readingsOf(vehicle, lines)) {
    const { utcMs, storedUtcMs, eventID, code } = reading;
    const read = { fromMs: utcMs - readMs, toMs: storedUtcMs };
    const judged = tankCodes.has(code) ? { ...read, fromMs: utcMs - medianMs } : read;
    if (isUnjudged(vehicle, judged)) continue;
    const words = wrongLevel(vehicle, reading) ?? wrongChange(vehicle, reading);
    if (words !== null) return [eventBreach('fuelWrong', { deviceID, eventID }, words)];
  }
  return [];
}
