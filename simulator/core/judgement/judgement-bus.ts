// Judges the reported bus values against the simulated world: speed, engine speed, odometer, fuel and number. All tolerances are
// in this file. `judgement-present.ts` judges that the service shows the sent values. Pure.
import { eventBreach } from '../ledger/breach.ts';
import { delayedMs, isStruck, runSpan, type Span } from '../ledger/excuses.ts';
import type { Breach, BusShown, VehicleNotes } from '../ledger/ledger-types.ts';
import { drivenAt, momentsWithin } from '../ledger/trace.ts';

/** A value is so old at most: five periods of 1 s of its sender. */
const readMs = 5000;
/** Moments of the world are a second apart. */
const momentMs = 1000;
/** km/h: wheels give zero below 2, and what a second changes. */
const speedKmh = 3;
/** Of the tank: half a step of 0.4 %, and rounding. */
const levelPercent = 1;
/** Kilometres: an odometer is reported in 0.1 km. */
const odometerKm = 0.1;
/** Engine speeds of a vehicle that drives by its engine, 1/min. */
const rpm = { drivesKmh: 5, least: 500, most: 2000 } as const;

interface BusReport {
  readonly eventID: string;
  readonly utcMs: number;
  readonly storedUtcMs: number;
  readonly bus: BusShown;
}

function reportsOf({ boots, beganUtcMs }: VehicleNotes): readonly BusReport[] {
  if (beganUtcMs === null) return [];
  return [...boots].flatMap(([boot, notes]) =>
    notes.flatMap((note, at) => {
      const sent = note?.sent ?? null;
      if (note === undefined || sent === null) return [];
      const { bus, timestampMs, isTimed } = sent;
      if (bus === null || timestampMs === null || !isTimed || note.isResent) return [];
      const storedUtcMs = beganUtcMs + note.storedMs;
      return [{ eventID: `${boot}:${at + 1}`, utcMs: timestampMs, storedUtcMs, bus }];
    }),
  );
}

/** Reading time of a report's values, UTC ms: earlier if the generator stalled. */
function readWithin(vehicle: VehicleNotes, { utcMs, storedUtcMs }: BusReport): Span {
  const lateMs = delayedMs(vehicle, { fromMs: utcMs, toMs: storedUtcMs });
  return { fromMs: utcMs - readMs - lateMs, toMs: storedUtcMs + momentMs };
}

/** What is wrong with the values of one moment. */
function wrongValue(vehicle: VehicleNotes, report: BusReport): string | null {
  const { bus } = report;
  const moments = momentsWithin(vehicle.trace, readWithin(vehicle, report));
  if (moments.length === 0) return null;
  const speeds = moments.map((moment) => moment.speedKmh);
  const [slowest, fastest] = [Math.min(...speeds), Math.max(...speeds)];
  if (bus.speedKmh !== null && (bus.speedKmh < slowest - speedKmh || bus.speedKmh > fastest + speedKmh))
    return `${bus.speedKmh} km/h on the bus; the vehicle drove ${Math.round(slowest)} to ${Math.round(fastest)} km/h`;
  if (bus.rpm !== null && (bus.rpm > rpm.most || (slowest > rpm.drivesKmh && bus.rpm < rpm.least)))
    return `an engine speed of ${bus.rpm}/min at ${Math.round(slowest)} to ${Math.round(fastest)} km/h`;
  const levels = moments.flatMap(({ tankLevel }) => (tankLevel === null ? [] : [tankLevel * 100]));
  if (bus.fuelPercent === null || levels.length === 0) return null;
  const [least, most] = [Math.min(...levels), Math.max(...levels)];
  if (bus.fuelPercent >= least - levelPercent && bus.fuelPercent <= most + levelPercent) return null;
  return `${bus.fuelPercent} % in the tank on the bus; there were ${least.toFixed(1)} to ${most.toFixed(1)} %`;
}

/** Breach of odometer or number against the world's truck. */
function wrongTruck(vehicle: VehicleNotes, report: BusReport): string | null {
  const { truck, trace } = vehicle;
  const { bus } = report;
  if (truck === null) return 'values of a bus of a vehicle that has none';
  if (bus.vin !== null && bus.vin !== truck.vin) return `VIN ${bus.vin}; the truck is ${truck.vin}`;
  if (bus.odometerKm === null) return null;
  const { fromMs, toMs } = readWithin(vehicle, report);
  const kmAt = (utcMs: number): number => truck.startKm + drivenAt(trace, utcMs) / 1000;
  const [least, most] = [kmAt(fromMs), kmAt(toMs)];
  if (bus.odometerKm >= least - odometerKm && bus.odometerKm <= most + odometerKm) return null;
  return `${bus.odometerKm} km on the odometer of the bus; it stood at ${least.toFixed(1)} to ${most.toFixed(1)} km`;
}

/** First report of a vehicle with wrong bus values. */
export function judgeBus(vehicle: VehicleNotes): readonly Breach[] {
  const { deviceID } = vehicle;
  if (vehicle.trace.utcMs.length === 0) return [];
  for (const report of reportsOf(vehicle)) {
    const read = runSpan(vehicle, readWithin(vehicle, report));
    if (isStruck(vehicle, ['bus', 'position', 'hardware'], read)) continue;
    const words = wrongValue(vehicle, report) ?? wrongTruck(vehicle, report);
    if (words !== null) return [eventBreach('busWrong', { deviceID, eventID: report.eventID }, words)];
  }
  return [];
}
