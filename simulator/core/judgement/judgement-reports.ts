// Judges the reports of trips by the way that the vehicle truly drove, and the summary by the trips. Pure.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { vehicleBreach } from '../ledger/breach.ts';
import { delayedMs, isStruck, runSpan, type Span } from '../ledger/excuses.ts';
import type { Breach, ShownEvent, VehicleNotes } from '../ledger/ledger-types.ts';
import type { ShownStop, ShownTrip, VehicleViews } from '../ledger/shown-views.ts';
import { drivenAt, metresFrom, momentsWithin } from '../ledger/trace.ts';

/** Tolerance besides 15 %, metres: the receiver's filters, and the distance driven in the seconds at both ends. */
const lengthM = 80;
const lengthShare = 0.15;
/** Times of a report are whole seconds, and those of positions, ms. */
const edgeMs = 2000;
/** Allowed metres outside of trips: a trip counts from 200 m on, and the last one may still be shorter. */
const missedM = 400;
/** Doppler noise and rounding, km/h; and what a vehicle may have been faster between two positions. */
const speedKmh = 8;
const betweenKmh = 25;

/** A place of a report: noise of the receiver and what filters keep, and the 60 m within which a vehicle stands. */
const placeM = 100;
/** A position may be so much older or newer than its time, ms. */
const ageMs = 10_000;
/** Metres driven in a stop: within 60 m there and back, and the seconds at both ends. */
const stoodM = 200;

/** Metres that the vehicle drove in a span of UTC ms. */
const drivenM = ({ trace }: VehicleNotes, { fromMs, toMs }: Span): number =>
  Math.max(0, drivenAt(trace, toMs) - drivenAt(trace, fromMs));

const spanOf = ({ startTime, endTime }: Pick<ShownTrip, 'startTime' | 'endTime'>): Span => ({
  fromMs: startTime * 1000,
  toMs: endTime * 1000,
});

/** True when receiver or clock was deceived in a span of UTC. */
const isDeceived = (vehicle: VehicleNotes, utc: Span): boolean =>
  isStruck(vehicle, ['position'], runSpan(vehicle, utc));

/** Uncertainty of both ends of a span of UTC, ms: a stall of the generator delays receiver and agent. */
const edgeOf = (vehicle: VehicleNotes, utc: Span): number => edgeMs + delayedMs(vehicle, utc);

/** Distance of a place from the vehicle's true place, as text; null: near enough, or not judged. */
function awayText(vehicle: VehicleNotes, atS: number, latitude: number, longitude: number): string | null {
  const edge = ageMs + delayedMs(vehicle, { fromMs: atS * 1000, toMs: atS * 1000 + ageMs });
  const utc = { fromMs: atS * 1000 - edge, toMs: atS * 1000 + 1000 + edge };
  const metres = isDeceived(vehicle, utc)
    ? null
    : metresFrom({ latitude, longitude }, momentsWithin(vehicle.trace, utc));
  return metres === null || metres <= placeM
    ? null
    : `${latitude},${longitude} at ${atS}: it was ${Math.round(metres)} m away`;
}

function wrongEnds(vehicle: VehicleNotes, trip: ShownTrip): string | null {
  const { startTime, startLatitude, startLongitude, endTime, endLatitude, endLongitude } = trip;
  const words =
    awayText(vehicle, startTime, startLatitude, startLongitude) ??
    awayText(vehicle, endTime, endLatitude, endLongitude);
  return words === null ? null : `trip from ${startTime} to ${endTime}: ${words}`;
}

function wrongStop(vehicle: VehicleNotes, stop: ShownStop): string | null {
  const { startTime, endTime, latitude, longitude, stopTime } = stop;
  const what = `stop from ${startTime} to ${endTime}`;
  if (stopTime !== endTime - startTime) return `${what}: ${stopTime} s`;
  const away = awayText(vehicle, startTime, latitude, longitude);
  if (away !== null) return `${what}: ${away}`;
  const utc = spanOf(stop);
  if (isDeceived(vehicle, utc)) return null;
  const edge = edgeOf(vehicle, utc);
  const metres = drivenM(vehicle, { fromMs: utc.fromMs + edge, toMs: utc.toMs - edge });
  return metres > stoodM ? `${what}: it drove ${Math.round(metres)} m` : null;
}

/** Rounding of both, km/h. */
const roundingKmh = 1;

/** Speed of the fastest position within a trip as the service lists them: the trip shows no lower one, whatever the vehicle did. */
const listedKmh = (records: readonly ShownEvent[], { startTime, endTime }: ShownTrip): number =>
  records.reduce(
    (most, { isPositionValid, statusCode, timestamp, speed }) =>
      isPositionValid &&
      statusCode !== statusCodes.LAST_LOCATION.code &&
      timestamp > startTime &&
      timestamp < endTime
        ? Math.max(most, speed)
        : most,
    0,
  );

function wrongTrip(vehicle: VehicleNotes, trip: ShownTrip, records: readonly ShownEvent[]): string | null {
  const { fromMs, toMs } = spanOf(trip);
  if (isDeceived(vehicle, { fromMs, toMs })) return null;
  const edge = edgeOf(vehicle, { fromMs, toMs });
  const least = drivenM(vehicle, { fromMs: fromMs + edge, toMs: toMs - edge });
  const most = drivenM(vehicle, { fromMs: fromMs - edge, toMs: toMs + edge });
  const shownM = trip.distance * 1000;
  const what = `trip from ${trip.startTime} to ${trip.endTime}`;
  if (shownM < least * (1 - lengthShare) - lengthM || shownM > most * (1 + lengthShare) + lengthM)
    return `${what}: ${Math.round(shownM)} m; it drove ${Math.round(least)} to ${Math.round(most)} m`;
  const speeds = momentsWithin(vehicle.trace, { fromMs: fromMs - edge + edgeMs, toMs }).map(
    (moment) => moment.speedKmh,
  );
  const fastest = Math.max(0, ...speeds);
  // Without fixes, in a stall, it may have been faster for long.
  const isTooSlow = edge === edgeMs && trip.maximumSpeed < fastest - speedKmh - betweenKmh;
  const listed = listedKmh(records, trip);
  if (trip.maximumSpeed < listed - roundingKmh)
    return `${what}: at most ${trip.maximumSpeed} km/h; a position within it has ${listed} km/h`;
  return trip.maximumSpeed > fastest + speedKmh || isTooSlow
    ? `${what}: at most ${trip.maximumSpeed} km/h; it drove ${Math.round(fastest)} km/h`
    : null;
}

/** Breach when the trips omit distance between the first and the last position. */
function missedWay(vehicle: VehicleNotes, { records, trips }: VehicleViews): string | null {
  const places = records.filter(({ isPositionValid }) => isPositionValid);
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return null;
  const read = { fromMs: first.timestamp * 1000, toMs: last.timestamp * 1000 };
  const edge = edgeOf(vehicle, read);
  const whole = { fromMs: read.fromMs + edge, toMs: read.toMs - edge };
  if (isDeceived(vehicle, whole)) return null;
  const inTrips = trips.reduce((sum, trip) => sum + drivenM(vehicle, spanOf(trip)), 0);
  const missed = drivenM(vehicle, whole) - inTrips;
  return missed > missedM ? `trips leave out ${Math.round(missed)} m that it drove` : null;
}

const sum = (of: readonly number[]): number => of.reduce((total, value) => total + value, 0);

/** The summary is that of the trips and stops. */
function wrongSummary({ trips, stops, summary }: VehicleViews): string | null {
  const isOne = summary.length === 1;
  const [one] = summary;
  if (one === undefined || !isOne) return `summary: ${summary.length} lines instead of one`;
  const wanted = {
    trips: trips.length,
    stops: stops.length,
    distance: sum(trips.map(({ distance }) => distance)),
    drivingTime: sum(trips.map(({ drivingTime }) => drivingTime)),
    stopTime: sum(stops.map(({ stopTime }) => stopTime)),
    maximumSpeed: Math.max(0, ...trips.map(({ maximumSpeed }) => maximumSpeed)),
  };
  const other = Object.entries(wanted).find(
    ([name, value]) => Math.abs(one[name as keyof typeof wanted] - value) > 0.01,
  );
  return other === undefined
    ? null
    : `summary: ${other[0]} ${one[other[0] as keyof typeof wanted]} instead of ${other[1]}`;
}

/** What is wrong with the reports about a vehicle. */
export function judgeReports(vehicle: VehicleNotes, views: VehicleViews): readonly Breach[] {
  if (vehicle.beganUtcMs === null) return [];
  const wrong = [
    ...views.trips.map((trip) => wrongTrip(vehicle, trip, views.records) ?? wrongEnds(vehicle, trip)),
    ...views.stops.map((stop) => wrongStop(vehicle, stop)),
    missedWay(vehicle, views),
    wrongSummary(views),
  ];
  return wrong.flatMap((words) =>
    words === null ? [] : [vehicleBreach('reportsWrong', vehicle.deviceID, words)],
  );
}
