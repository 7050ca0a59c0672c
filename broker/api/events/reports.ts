// Reports from the records: trips, stops, and their sums. `core/events/trips.ts` decides what is a trip; here are the
// periods, texts and pages.
import { type Static, Type } from 'typebox';
import type { TrackPosition } from '../../core/events/belief.ts';
import { driversMost } from '../../core/events/trip-drivers.ts';
import type { Stop, Trip, TripOrStop } from '../../core/events/trip-way.ts';
import { exportLimits } from '../../scheduling/per-account-limits.ts';
import { listDevices } from '../../store/devices/devices.ts';
import { firstEventMs } from '../../store/events/trip-events.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Caller } from '../base/caller.ts';
import { operation, type Pages } from '../base/operation.ts';
import { envelope, epoch, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';
import { addBusSums, busShape, noBusSums, viewBusSums } from './bus-sums.ts';
import { calendarParams, calendarQuery, calendarText, inSeconds } from './calendar-range.ts';
import { periodOf } from './event-list.ts';
import { tripDrivers, tripsQuery, withDrivers } from './trip-names.ts';
import { type Period, tripsAndStops, tripText } from './trip-report.ts';

/** Longest period of a report of one device, and of the whole fleet. */
const periodDays = { device: 366, fleet: 31 } as const;
const devicesPerPage = 200;

const duration = (description: string) => Type.Integer({ minimum: 0, description: `${description} (s)` });
const idling = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: `${description} (s); null where no record says whether the ignition is on`,
  });
const fastest = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: `${description}; null where no record says a speed`,
  });
const degrees = (description: string) => Type.Number({ description: `${description} (degrees, WGS 84)` });
const orNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

const deviceParam = { deviceID: Type.String({ description: 'The device' }) } as const;
const params = Type.Object({ ...deviceParam, ...calendarParams });
const periodQuery = Type.Object(calendarQuery, { additionalProperties: false });

const tripShape = Type.Object({
  deviceID: Type.String({ description: 'The device' }),
  startTime: epoch('Last seen standing before it'),
  startLatitude: degrees('Where it began'),
  startLongitude: degrees('Where it began'),
  endTime: epoch('First seen standing after it, or last seen at all'),
  endLatitude: degrees('Where it ended'),
  endLongitude: degrees('Where it ended'),
  distance: Type.Number({ minimum: 0, description: 'km' }),
  drivingTime: duration('From startTime to endTime'),
  idleTime: idling('Of it without moving, ignition on'),
  averageSpeed: Type.Integer({ minimum: 0, description: 'km/h over drivingTime' }),
  maximumSpeed: fastest('Fastest record, km/h'),
  startOdometer: orNull('km; null where the vehicle did not say it within 200 m'),
  endOdometer: orNull('km; null where the vehicle did not say it within 200 m'),
  startFuelLevel: orNull('Fraction of the tank; null without a sensor'),
  endFuelLevel: orNull('Fraction of the tank; null without a sensor'),
  ...busShape,
  driverUniqueIds: Type.Array(Type.String(), {
    maxItems: driversMost,
    description: "Ids of the keys of its drivers, in order; empty where no driver's key was known on the way",
  }),
  drivers: tripDrivers,
  isOpen: Type.Boolean({ description: 'It was still going on with the last record' }),
});
type TripView = Static<typeof tripShape>;

const stopShape = Type.Object({
  deviceID: Type.String({ description: 'The device' }),
  startTime: epoch('Since when it stood'),
  endTime: epoch('Last seen standing'),
  latitude: degrees('Where it stood'),
  longitude: degrees('Where it stood'),
  stopTime: duration('From startTime to endTime'),
  idleTime: idling('Of it with the ignition on'),
  isOpen: Type.Boolean({ description: 'It still stood there with the last record' }),
});
type StopView = Static<typeof stopShape>;

const summaryShape = Type.Object({
  deviceID: Type.String({ description: 'The device' }),
  deviceDescription: Type.String({ description: 'Description of the device' }),
  trips: Type.Integer({ minimum: 0, description: 'Trips that began in the period' }),
  stops: Type.Integer({ minimum: 0, description: 'Stops that began in the period' }),
  distance: Type.Number({ minimum: 0, description: 'km, sum of its trips' }),
  drivingTime: duration('Sum of its trips'),
  idleTime: idling('Sum of its trips and stops: ignition on without moving'),
  stopTime: duration('Sum of its stops'),
  maximumSpeed: fastest('Fastest record of its trips, km/h; 0 without a trip'),
  startFuelLevel: orNull('At the beginning of the first trip; null where it is not known'),
  endFuelLevel: orNull('At the end of the last trip; null where it is not known'),
  ...busShape,
});
type SummaryView = Static<typeof summaryShape>;

const seconds = (ms: number): number => Math.floor(ms / 1000);
const secondsOf = (ms: number | null): number | null => (ms === null ? null : seconds(ms));
/** Null where one of both is not known. */
const sumOf = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : one + other;
const spanS = (start: TrackPosition, endMs: number): number => seconds(endMs) - seconds(start.timestampMs);
const km = (metres: number): number => Math.round(metres) / 1000;

export function viewTrip(deviceID: string, trip: Trip): Omit<TripView, 'drivers'> {
  const drivingTime = spanS(trip.start, trip.end.timestampMs);
  return {
    deviceID,
    startTime: seconds(trip.start.timestampMs),
    startLatitude: trip.start.latitude,
    startLongitude: trip.start.longitude,
    endTime: seconds(trip.end.timestampMs),
    endLatitude: trip.end.latitude,
    endLongitude: trip.end.longitude,
    distance: km(trip.distanceM),
    drivingTime,
    idleTime: secondsOf(trip.idleMs),
    averageSpeed: drivingTime === 0 ? 0 : Math.round((trip.distanceM / drivingTime) * 3.6),
    maximumSpeed: trip.speedMost === null ? null : Math.round(trip.speedMost),
    startOdometer: trip.odometerStart,
    endOdometer: trip.odometerEnd,
    startFuelLevel: trip.fuelStart,
    endFuelLevel: trip.fuelEnd,
    ...viewBusSums(trip.bus),
    driverUniqueIds: trip.drivers.map(({ id }) => id),
    isOpen: trip.isOpen,
  };
}

export const viewStop = (deviceID: string, stop: Stop): StopView => ({
  deviceID,
  startTime: seconds(stop.start.timestampMs),
  endTime: seconds(stop.endMs),
  latitude: stop.start.latitude,
  longitude: stop.start.longitude,
  stopTime: spanS(stop.start, stop.endMs),
  idleTime: secondsOf(stop.idleMs),
  isOpen: stop.isOpen,
});

/** The period of a report of one device. */
async function periodOfDevice(
  services: ApiServices,
  caller: Caller,
  given: { readonly deviceID: string; readonly startTime: string; readonly endTime: string },
): Promise<Period> {
  const of = { scope: caller.scope, deviceID: given.deviceID };
  const firstMs = await firstEventMs(services.archive, of);
  return { ...of, ...periodOf(services, { ...given, firstMs, daysMost: periodDays.device }) };
}

async function* viewStops(found: AsyncIterable<readonly TripOrStop[]>, deviceID: string): Pages<StopView> {
  for await (const some of found)
    yield some.flatMap((one) => (one.kind === 'stop' ? [viewStop(deviceID, one.stop)] : []));
}

const periodText = (
  days: number,
  what: string,
): string => `${what} belongs to the period in which it begins, and is given whole
also when it ends after endTime: adjoining periods share none and lose none, however they are cut. startTime 0 = from the
beginning, endTime 0 = now. ${calendarText} A period of more than ${days} days answers 422 (from the first record, where startTime is 0); more than ${exportLimits.token} reports and exports of a token, ${exportLimits.user} of a user or
${exportLimits.account} of an account at once answer 503 \`throttled\`.`;

const tripExample: TripView = {
  deviceID: 'truck-17',
  startTime: 1763683200,
  startLatitude: 43.65107,
  startLongitude: -79.34702,
  endTime: 1763686800,
  endLatitude: 43.77012,
  endLongitude: -79.41301,
  distance: 21.4,
  drivingTime: 3600,
  idleTime: 240,
  averageSpeed: 21,
  maximumSpeed: 87,
  startOdometer: 120034.2,
  endOdometer: 120055.6,
  startFuelLevel: 0.62,
  endFuelLevel: 0.58,
  busDistance: 21.6,
  busFuelUsed: 7,
  busEngineHours: 1,
  driverUniqueIds: ['3F0000001A2B3C01'],
  drivers: [{ driverUniqueId: '3F0000001A2B3C01', driverID: 'ann', driverDisplayName: 'Ann Tremblay' }],
  isOpen: false,
};
const exampleParams = { deviceID: 'truck-17', startTime: '1763680000', endTime: '1763769600' } as const;

const trips = operation({
  id: 'reportTrips',
  method: 'GET',
  path: '/report/trips/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Reports',
  summary: 'Trips of a device',
  description: `The trips that began from startTime to endTime, oldest first. ${tripText}\n\n${periodText(periodDays.device, 'A trip')}`,
  params,
  query: tripsQuery,
  body: null,
  result: Type.Object({ ...envelope, trips: Type.Array(tripShape, { description: 'Oldest first' }) }),
  errors: ['not_found', 'invalid_content', 'throttled'],
  effects: false,
  examples: { params: exampleParams, result: { trips: [tripExample] } },
  async run({ params: asked, query, caller, until }, services) {
    const params = await inSeconds(services, caller, { params: asked, query });
    const { deviceID } = await needDevice(services, caller, params.deviceID);
    const all = tripsAndStops(services.archive, await periodOfDevice(services, caller, params));
    const naming = { services, accountID: caller.accountID, driverID: query.driverID };
    services.exportLimit.begin(caller, until());
    return { ...ok, trips: withDrivers(all, naming, (trip) => viewTrip(deviceID, trip)) };
  },
});

const stops = operation({
  id: 'reportStops',
  method: 'GET',
  path: '/report/stops/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Reports',
  summary: 'Stops of a device',
  description: `The stops that began from startTime to endTime, oldest first. ${tripText}\n\n${periodText(periodDays.device, 'A stop')}
One that lasts longer than 31 days beyond endTime is given as far as that.`,
  params,
  query: periodQuery,
  body: null,
  result: Type.Object({ ...envelope, stops: Type.Array(stopShape, { description: 'Oldest first' }) }),
  errors: ['not_found', 'invalid_content', 'throttled'],
  effects: false,
  examples: {
    params: exampleParams,
    result: {
      stops: [
        {
          deviceID: 'truck-17',
          startTime: 1763686800,
          endTime: 1763690400,
          latitude: 43.77012,
          longitude: -79.41301,
          stopTime: 3600,
          idleTime: 300,
          isOpen: false,
        },
      ],
    },
  },
  async run({ params: asked, query, caller, until }, services) {
    const params = await inSeconds(services, caller, { params: asked, query });
    const { deviceID } = await needDevice(services, caller, params.deviceID);
    const all = tripsAndStops(services.archive, await periodOfDevice(services, caller, params));
    services.exportLimit.begin(caller, until());
    return { ...ok, stops: viewStops(all, deviceID) };
  },
});

type Sums = { -readonly [Name in keyof SummaryView]: SummaryView[Name] };

function add(sums: Sums, item: TripOrStop): void {
  if (item.kind === 'stop') {
    const stop = viewStop('', item.stop);
    sums.stops += 1;
    sums.stopTime += stop.stopTime;
    sums.idleTime = sumOf(sums.idleTime, stop.idleTime);
    return;
  }
  const trip = viewTrip('', item.trip);
  if (sums.trips === 0) sums.startFuelLevel = trip.startFuelLevel;
  sums.endFuelLevel = trip.endFuelLevel;
  Object.assign(sums, addBusSums(sums, trip, sums.trips === 0));
  sums.trips += 1;
  // In whole metres, so that the sum of many trips is exactly that.
  sums.distance = km(Math.round(sums.distance * 1000) + Math.round(trip.distance * 1000));
  sums.drivingTime += trip.drivingTime;
  sums.idleTime = sumOf(sums.idleTime, trip.idleTime);
  if (sums.trips === 1) sums.maximumSpeed = trip.maximumSpeed;
  else if (trip.maximumSpeed !== null) {
    sums.maximumSpeed = Math.max(sums.maximumSpeed ?? 0, trip.maximumSpeed);
  }
}

interface Summed {
  readonly deviceID: string;
  readonly description: string;
}

export async function summarise(
  services: Pick<ApiServices, 'archive'>,
  caller: Pick<Caller, 'scope'>,
  { deviceID, description }: Summed,
  period: Omit<Period, 'deviceID' | 'scope'>,
): Promise<SummaryView> {
  const sums: Sums = {
    deviceID,
    deviceDescription: description,
    trips: 0,
    stops: 0,
    distance: 0,
    drivingTime: 0,
    idleTime: 0,
    stopTime: 0,
    maximumSpeed: 0,
    startFuelLevel: null,
    endFuelLevel: null,
    ...noBusSums,
  };
  for await (const some of tripsAndStops(services.archive, { ...period, scope: caller.scope, deviceID })) {
    for (const item of some) add(sums, item);
  }
  return sums;
}

async function* summaries(
  services: ApiServices,
  caller: Caller,
  period: Omit<Period, 'deviceID' | 'scope'>,
): Pages<SummaryView> {
  let after = '';
  for (;;) {
    const rows = await listDevices(services.archive, caller.scope, { after, limit: devicesPerPage });
    for (const row of rows) yield [await summarise(services, caller, row, period)];
    const last = rows.at(-1);
    if (last === undefined || rows.length < devicesPerPage) return;
    after = last.deviceID;
  }
}

async function* one(sum: () => Promise<SummaryView>): Pages<SummaryView> {
  yield [await sum()];
}

const summary = operation({
  id: 'reportSummary',
  method: 'GET',
  path: '/report/summary/{deviceID}/{startTime}/{endTime}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Reports',
  summary: 'Distance, driving, idling and stops of a device or the fleet',
  description: `One entry for the device, or with \`*\` as deviceID one for each device that the caller sees, in the order of
device ids: the sums of the trips and stops that began from startTime to endTime, as the reports of trips and stops list
them. A device without records has zeros. ${tripText}

${periodText(periodDays.device, 'A trip or stop')} With \`*\` the limit is ${periodDays.fleet} days (so startTime 0 answers 422), and the answer is
sent as it is made.`,
  params: Type.Object({
    deviceID: Type.String({ description: 'The device; `*` = every device that the caller sees' }),
    ...calendarParams,
  }),
  query: periodQuery,
  body: null,
  result: Type.Object({ ...envelope, devices: Type.Array(summaryShape, { description: 'By device id' }) }),
  errors: ['not_found', 'invalid_content', 'throttled'],
  effects: false,
  examples: {
    params: exampleParams,
    result: {
      devices: [
        {
          deviceID: 'truck-17',
          deviceDescription: 'Freightliner, Toronto',
          trips: 4,
          stops: 4,
          distance: 187.25,
          drivingTime: 12_600,
          idleTime: 1800,
          stopTime: 73_800,
          maximumSpeed: 97,
          startFuelLevel: 0.62,
          endFuelLevel: 0.31,
          busDistance: 188.4,
          busFuelUsed: 61,
          busEngineHours: 4.1,
        },
      ],
    },
  },
  async run({ params: asked, query, caller, until }, services) {
    const params = await inSeconds(services, caller, { params: asked, query });
    if (params.deviceID === '*') {
      const fleet = periodOf(services, { ...params, firstMs: 0, daysMost: periodDays.fleet });
      services.exportLimit.begin(caller, until());
      return { ...ok, devices: summaries(services, caller, fleet) };
    }
    const device = await needDevice(services, caller, params.deviceID);
    const period = await periodOfDevice(services, caller, params);
    services.exportLimit.begin(caller, until());
    return { ...ok, devices: one(() => summarise(services, caller, device, period)) };
  },
});

export const reportOperations = [trips, stops, summary] as const;
