// What people read at the end of a run, judged alone: a vehicle that is shown as it was has no breach, and whatever a view says otherwise is
// found and named, by the records, by what the vehicle sent, or by where it truly was.
import { describe, expect, it } from 'vitest';
import { type FinalViews, judge } from '../../simulator/core/judgement/judgement.ts';
import type { StreamSight } from '../../simulator/core/judgement/judgement-alerts.ts';
import { createLedger, type Ledger } from '../../simulator/core/ledger/ledger.ts';
import type { ShownEvent } from '../../simulator/core/ledger/ledger-types.ts';
import type {
  AlertViews,
  ShownDevice,
  ShownTrip,
  VehicleViews,
} from '../../simulator/core/ledger/shown-views.ts';
import {
  addMoment,
  drivenAt,
  drivenSpans,
  emptyTrace,
  metresFrom,
  momentsWithin,
} from '../../simulator/core/ledger/trace.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { statusCodes, statusText } from '../../src/core/events/status-codes.ts';

const vehicle = 'sim-1';
const boot = 'b1';
const beganUtcMs = 1_800_000_000_000;
/** 36 km/h to the north. */
const latitudeAt = (atMs: number): number => 43.65 + (atMs / 1000) * (10 / 111_195);
const longitude = -79.34;

function eventAt(seq: number, atMs: number, change: Partial<FleetEvent> = {}): FleetEvent {
  return {
    seq,
    timestamp: beganUtcMs + atMs,
    upMs: atMs,
    timeQuality: 'gnss',
    statusCode: statusCodes.LOCATION.code,
    latitude: latitudeAt(atMs),
    longitude,
    speed: 36,
    heading: 0,
    odometer: 12 + atMs / 100_000,
    fuelLevel: 0.5,
    inputs: { ignition: true, panic: false },
    attributes: { coolant: 86 },
    ...change,
  };
}

const shownOf = (event: FleetEvent, change: Partial<ShownEvent> = {}): ShownEvent => ({
  deviceID: vehicle,
  eventID: `${boot}:${event.seq}`,
  statusCode: event.statusCode,
  timestamp: Math.floor((event.timestamp ?? 0) / 1000),
  latitude: event.latitude ?? 0,
  longitude: event.longitude ?? 0,
  isPositionValid: event.latitude !== undefined,
  speed: Math.round(event.speed ?? 0),
  heading: 0,
  commandID: null,
  commandState: null,
  geozoneID: '',
  statusDescription: statusText(event.statusCode),
  creationTime: Math.floor((event.timestamp ?? 0) / 1000),
  ...change,
});

const lineOf = (record: ShownEvent, event: FleetEvent): Record<string, string> => ({
  deviceID: record.deviceID,
  eventID: record.eventID,
  time: String(record.timestamp),
  speed: String(event.speed),
  heading: String(event.heading),
  geozoneID: record.geozoneID,
  statusCode: String(record.statusCode),
  timestamp: String(record.timestamp),
  creationTime: String(record.creationTime),
  statusDescription: record.statusDescription,
  latitude: String(event.latitude),
  longitude: String(event.longitude),
  odometer: String(event.odometer),
  fuelLevel: String(event.fuelLevel),
  ignition: event.inputs?.ignition === true ? '1' : '0',
});

const secondMs = 1000;
const durationS = 120;

/** From the first position to the last one: 110 s at 10 m/s. */
const trip: ShownTrip = {
  startTime: beganUtcMs / 1000 + 5,
  startLatitude: latitudeAt(5000),
  startLongitude: longitude,
  endTime: beganUtcMs / 1000 + 115,
  endLatitude: latitudeAt(115_000),
  endLongitude: longitude,
  distance: 1.1,
  drivingTime: 110,
  maximumSpeed: 36,
};

/** A drive of two minutes with a position every 10 s, a panic at 60 s, and all that people read of it. */
function drive(): { ledger: Ledger; events: readonly FleetEvent[]; views: FinalViews } {
  const ledger = createLedger();
  ledger.link(vehicle, true, 0);
  ledger.truck(vehicle, { vin: 'XFWAB12345678901C', startKm: 0 });
  for (let atMs = 0; atMs <= durationS * 1000; atMs += secondMs) {
    const place = { latitude: latitudeAt(atMs), longitude, speedKmh: 36 };
    const moment = { ...place, utcMs: beganUtcMs + atMs, drivenM: atMs / 100, tankLevel: 0.5 };
    ledger.moment(vehicle, moment, atMs);
  }
  const panic = { ignition: true, panic: true };
  const events = Array.from({ length: 12 }, (_, at) =>
    at === 6
      ? eventAt(7, 60_500, { statusCode: statusCodes.PANIC_ON.code, inputs: panic })
      : eventAt(at + 1, (at + 0.5) * 10_000, at > 6 ? { inputs: panic } : {}),
  );
  ledger.fact(vehicle, 'ignitionOn', 0);
  ledger.excuse(vehicle, { kind: 'hardware', fromMs: 0, toMs: 0 });
  ledger.fact(vehicle, 'panicOn', 60_000);
  for (const event of events) {
    const atMs = event.upMs ?? 0;
    ledger.stored(vehicle, boot, { events: [event], atMs });
    ledger.sent(vehicle, boot, { events: [event], atMs });
    ledger.acknowledged(vehicle, boot, { ranges: [[event.seq, event.seq]], atMs: atMs + 50 });
  }
  ledger.stopping(vehicle, durationS * 1000);
  const records = events.map((event) => shownOf(event));
  const last = events.at(-1) ?? eventAt(1, 0);
  const device: ShownDevice = {
    deviceID: vehicle,
    deviceLastHeartbeat: Math.floor((last.timestamp ?? 0) / 1000),
    deviceLastValidLatitude: last.latitude ?? 0,
    deviceLastValidLongitude: longitude,
    deviceLastValidSpeed: 36,
    deviceLastValidHeading: 0,
    deviceLastValidTimestamp: Math.floor((last.timestamp ?? 0) / 1000),
    fuelLevelAverage: '0.5',
    sensors: { ignition: { state: '1' }, panic: { state: '1' } },
    vehicleBus: { coolant: { value: 86 } },
  };
  const ofVehicle: VehicleViews = {
    deviceID: vehicle,
    records,
    history: records,
    latest: records.at(-1) ?? null,
    pins: records.map(() => ({ count: '1' })),
    csv: records.map((record, at) => lineOf(record, events[at] ?? last)),
    geojson: records.map((record) => ({ ...record, place: record, writtenS: record.timestamp })),
    gpx: records,
    device,
    listed: device,
    commands: [],
    trips: [trip],
    stops: [],
    summary: [{ ...trip, trips: 1, stops: 0, stopTime: 0 }],
  };
  const alert = records.filter(({ statusCode }) => statusCode === statusCodes.PANIC_ON.code);
  const alerts: AlertViews = {
    alerts: alert,
    summary: { fuel: 0, activations: 1, cargo: 0, base: 0 },
    inbox: alert,
  };
  const sight: StreamSight = {
    times: (_, eventID) => (eventID === 'b1:7' ? 1 : 0),
    said: (_, eventID) => (eventID === 'b1:7' ? records[6] : undefined),
    devices: new Map([[vehicle, device]]),
  };
  const views = {
    vehicles: [ofVehicle],
    alerts: { records: alert, views: alerts },
    streamSights: [sight],
    isSameClock: true,
    userID: 'admin',
  };
  return { ledger, events, views };
}

/** Kinds of breach, each once, of a drive whose records or views were changed. */
function kindsOf(
  change: (of: ReturnType<typeof drive>) => {
    readonly views?: FinalViews;
    readonly records?: readonly ShownEvent[];
  },
  judged: { readonly movingS?: number } = {},
): readonly string[] {
  const driven = drive();
  const { views = driven.views, records } = change(driven);
  for (const record of records ?? views.vehicles[0]?.records ?? []) driven.ledger.shown(record, true);
  const of = { endMs: 3_600_000, panicMs: 2000, inputsMs: 200, movingS: 10, views, ...judged };
  return [...new Set(judge(driven.ledger, of).breaches.map(({ kind }) => kind))];
}

const ofVehicle = (views: FinalViews, change: Partial<VehicleViews>): FinalViews => ({
  ...views,
  vehicles: views.vehicles.map((one) => ({ ...one, ...change })),
});
const ofDevice = (views: FinalViews, change: Partial<ShownDevice>): FinalViews =>
  ofVehicle(views, {
    device: { ...(views.vehicles[0]?.device as ShownDevice), ...change },
    listed: { ...(views.vehicles[0]?.device as ShownDevice), ...change },
  });
const ofAlerts = (views: FinalViews, change: Partial<AlertViews>): FinalViews => ({
  ...views,
  alerts: { ...views.alerts, views: { ...views.alerts.views, ...change } },
});

describe('what people read of a run', () => {
  it('is no breach when it is as it was', () => {
    expect(kindsOf(() => ({}))).toEqual([]);
  });

  const one = (views: FinalViews): VehicleViews => views.vehicles[0] ?? expect.fail('no vehicle');
  const changedAt = <T>(list: readonly T[], at: number, change: (item: T) => T): readonly T[] =>
    list.map((item, index) => (index === at ? change(item) : item));

  it.each<[string, (views: FinalViews) => FinalViews]>([
    ['has half of the history', (views) => ofVehicle(views, { history: one(views).history.slice(6) })],
    [
      'has other members',
      (views) =>
        ofVehicle(views, {
          history: changedAt(one(views).history, 3, (record) => ({ ...record, speed: 30 })),
        }),
    ],
    ['counts fewer records in metadata', (views) => ofVehicle(views, { pins: one(views).pins.slice(1) })],
    ['lacks a line of CSV', (views) => ofVehicle(views, { csv: one(views).csv.slice(1) })],
    [
      'has no ignition in CSV',
      (views) =>
        ofVehicle(views, { csv: changedAt(one(views).csv, 2, (line) => ({ ...line, ignition: '' })) }),
    ],
    ['lacks a feature of GeoJSON', (views) => ofVehicle(views, { geojson: one(views).geojson.slice(0, -1) })],
    ['lacks a point of GPX', (views) => ofVehicle(views, { gpx: one(views).gpx.slice(1) })],
    [
      'has the hour of another time zone in GPX',
      (views) =>
        ofVehicle(views, {
          gpx: one(views).gpx.map((point) => ({ ...point, timestamp: point.timestamp - 3600 })),
        }),
    ],
    [
      'has latitude and longitude exchanged in GPX',
      (views) =>
        ofVehicle(views, {
          gpx: one(views).gpx.map((point) => ({
            ...point,
            latitude: point.longitude,
            longitude: point.latitude,
          })),
        }),
    ],
    [
      'has another place in GeoJSON',
      (views) =>
        ofVehicle(views, {
          geojson: changedAt(one(views).geojson, 3, (feature) => ({
            ...feature,
            place: { latitude: 0, longitude: 0 },
          })),
        }),
    ],
    [
      'has another written time in GeoJSON',
      (views) =>
        ofVehicle(views, {
          geojson: changedAt(one(views).geojson, 3, (feature) => ({ ...feature, writtenS: 0 })),
        }),
    ],
    [
      'has another written time in CSV',
      (views) => ofVehicle(views, { csv: changedAt(one(views).csv, 2, (line) => ({ ...line, time: '0' })) }),
    ],
    [
      'has miles an hour in CSV',
      (views) =>
        ofVehicle(views, { csv: changedAt(one(views).csv, 2, (line) => ({ ...line, speed: '22.4' })) }),
    ],
    [
      'has an older record as the latest',
      (views) => ofVehicle(views, { latest: one(views).records[3] ?? null }),
    ],
    ['has no latest record', (views) => ofVehicle(views, { latest: null })],
  ])('is a wrong history when it %s', (_, change) => {
    expect(kindsOf(({ views }) => ({ views: change(views) }))).toEqual(['historyWrong']);
  });

  it.each([
    ['odometer', 'odometerWrong'],
    ['fuelLevel', 'fuelWrong'],
  ])('is a wrong history, and wrong by the world, when CSV has another %s', (name, kind) => {
    const change = (views: FinalViews): FinalViews =>
      ofVehicle(views, { csv: changedAt(one(views).csv, 2, (line) => ({ ...line, [name]: '0.1' })) });
    expect(kindsOf(({ views }) => ({ views: change(views) }))).toEqual([kind, 'historyWrong']);
  });

  it.each<[string, Partial<ShownDevice>]>([
    [
      'the last position is an older one',
      { deviceLastValidLatitude: latitudeAt(5000), deviceLastValidTimestamp: beganUtcMs / 1000 + 5 },
    ],
    ['its speed is another one', { deviceLastValidSpeed: 0 }],
    ['its heading is another one', { deviceLastValidHeading: 180 }],
    ['a sensor is the other way round', { sensors: { ignition: { state: '0' }, panic: { state: '1' } } }],
    ['the level of the tank is an older one', { fuelLevelAverage: '0.62' }],
    ['there is no level of the tank', { fuelLevelAverage: null }],
    ['it was heard of a minute ago', { deviceLastHeartbeat: beganUtcMs / 1000 + 30 }],
  ])('is a wrong present when %s', (_, change) => {
    expect(kindsOf(({ views }) => ({ views: ofDevice(views, change) }))).toEqual(['presentWrong']);
  });

  it.each<[string, Partial<ShownDevice>]>([
    ['is another one than was sent last', { vehicleBus: { coolant: { value: 53.4 } } }],
    ['is not there', { vehicleBus: {} }],
    ['is not there, nor any other', { vehicleBus: null }],
  ])('is a wrong value of the vehicle bus when one %s', (_, change) => {
    expect(kindsOf(({ views }) => ({ views: ofDevice(views, change) }))).toEqual(['busWrong']);
  });

  it('is a wrong present when the list of devices says something else, or nothing', () => {
    const other = (views: FinalViews) => ({ ...one(views).device, deviceLastValidSpeed: 35 });
    expect(kindsOf(({ views }) => ({ views: ofVehicle(views, { listed: other(views) }) }))).toEqual([
      'presentWrong',
    ]);
    expect(kindsOf(({ views }) => ({ views: ofVehicle(views, { listed: null }) }))).toEqual(['presentWrong']);
  });

  it('is a wrong present when vehicle and service agree on what the terminals contradict', () => {
    const change = ({ ledger, views }: ReturnType<typeof drive>) => {
      ledger.fact(vehicle, 'panicOff', 100_000);
      return { views };
    };
    // The release itself has no event either.
    expect(kindsOf(change)).toEqual(['unnoticed', 'presentWrong']);
  });

  const late = 100_000;
  it.each<[string, (ledger: Ledger) => void, readonly string[]]>([
    ['a stall of 250 ms', (ledger) => ledger.stall(late + 2000, late + 2250), ['presentWrong']],
    ['stalls that leave 14 s', (ledger) => ledger.stall(late + 1000, late + 7000), []],
    [
      'a fault of the board that ended 16 s before the end',
      (ledger) => ledger.excuse(vehicle, { kind: 'hardware', fromMs: late, toMs: late + 4000 }),
      ['presentWrong'],
    ],
    [
      'a fault of the board that ended 14 s before the end',
      (ledger) => ledger.excuse(vehicle, { kind: 'hardware', fromMs: late, toMs: late + 6000 }),
      [],
    ],
  ])('judges a sensor by its terminal after %s', (_, disturb, kinds) => {
    const change = ({ ledger, views }: ReturnType<typeof drive>) => {
      ledger.fact(vehicle, 'panicOff', late);
      disturb(ledger);
      return { views };
    };
    // The missing event of the release is excused.
    expect(kindsOf(change)).toEqual(kinds);
  });

  it.each<[string, Partial<AlertViews>]>([
    ['an alert is not listed', { alerts: [], summary: { fuel: 0, activations: 0, cargo: 0, base: 0 } }],
    ['the summary counts another category', { summary: { fuel: 1, activations: 0, cargo: 0, base: 0 } }],
    ['the inbox is empty', { inbox: [] }],
    [
      'the inbox says it twice',
      { inbox: Array.from({ length: 2 }, () => shownOf(eventAt(7, 60_500, { statusCode: 63_553 }))) },
    ],
  ])('is a wrong list of alerts when %s', (_, change) => {
    expect(kindsOf(({ views }) => ({ views: ofAlerts(views, change) }))).toEqual(['alertsWrong']);
  });

  it.each([0, 2])('is a wrong live stream when it showed an event %i times', (times) => {
    const sight: StreamSight = {
      times: (_, eventID) => (eventID === 'b1:7' ? times : 0),
      said: () => undefined,
      devices: null,
    };
    expect(kindsOf(({ views }) => ({ views: { ...views, streamSights: [sight] } }))).toEqual(['streamWrong']);
  });

  it.each<[string, (device: ShownDevice) => ShownDevice | null]>([
    ['has no place of the device', () => null],
    ['has another place of it', (device) => ({ ...device, deviceLastValidLatitude: 43.6 })],
    [
      'has an older place of it',
      (device) => ({
        ...device,
        deviceLastValidLatitude: latitudeAt(85_000),
        deviceLastValidTimestamp: beganUtcMs / 1000 + 85,
      }),
    ],
  ])('is a wrong live stream when it %s', (_, change) => {
    const changed = (views: FinalViews): FinalViews => {
      const shown = change(one(views).device);
      const devices = new Map(shown === null ? [] : [[vehicle, shown]]);
      return { ...views, streamSights: views.streamSights.map((sight) => ({ ...sight, devices })) };
    };
    expect(kindsOf(({ views }) => ({ views: changed(views) }))).toEqual(['streamWrong']);
  });

  it('is a wrong live stream when it showed another place', () => {
    const change = (views: FinalViews): FinalViews => {
      const said = (_: string, eventID: string) => (eventID === 'b1:7' ? { latitude: 43.6 } : undefined);
      return { ...views, streamSights: views.streamSights.map((sight) => ({ ...sight, said })) };
    };
    expect(kindsOf(({ views }) => ({ views: change(views) }))).toEqual(['streamWrong']);
  });

  it.each<[string, (views: FinalViews) => Partial<VehicleViews>]>([
    [
      'has no trip',
      () => ({
        trips: [],
        summary: [{ ...trip, trips: 0, stops: 0, stopTime: 0, distance: 0, drivingTime: 0, maximumSpeed: 0 }],
      }),
    ],
    [
      'is three quarters of the way',
      () => ({
        trips: [{ ...trip, distance: 0.8 }],
        summary: [{ ...trip, trips: 1, stops: 0, stopTime: 0, distance: 0.8 }],
      }),
    ],
    [
      'is half of the way longer',
      () => ({
        trips: [{ ...trip, distance: 1.65 }],
        summary: [{ ...trip, trips: 1, stops: 0, stopTime: 0, distance: 1.65 }],
      }),
    ],
    [
      'was faster',
      () => ({
        trips: [{ ...trip, maximumSpeed: 60 }],
        summary: [{ ...trip, trips: 1, stops: 0, stopTime: 0, maximumSpeed: 60 }],
      }),
    ],
    [
      'was slower than a position within it',
      () => ({
        trips: [{ ...trip, maximumSpeed: 30 }],
        summary: [{ ...trip, trips: 1, stops: 0, stopTime: 0, maximumSpeed: 30 }],
      }),
    ],
    ['is summed up as two', () => ({ summary: [{ ...trip, trips: 2, stops: 0, stopTime: 0 }] })],
    [
      'ends where it began',
      () => ({
        trips: [{ ...trip, endLatitude: trip.startLatitude }],
        summary: [{ ...trip, trips: 1, stops: 0, stopTime: 0 }],
      }),
    ],
    [
      'is followed by a stop in which it drove',
      () => {
        const stop = { ...trip, latitude: trip.startLatitude, longitude, stopTime: 110 };
        return { stops: [stop], summary: [{ ...trip, trips: 1, stops: 1, stopTime: 110 }] };
      },
    ],
    ['is not summed up', () => ({ summary: [] })],
  ])('is a wrong report when the trip %s', (_, change) => {
    expect(kindsOf(({ views }) => ({ views: ofVehicle(views, change(views)) }))).toEqual(['reportsWrong']);
  });

  it('is a wrong list of commands when one is missing or ended otherwise', () => {
    const command = { commandID: 'c1', deviceID: vehicle, feature: 'cargoaccess', state: '0' } as const;
    const issued = beganUtcMs / 1000 + 119;
    const shown = { commandID: 'c1', feature: 'cargoaccess', state: '0', issuer: 'admin', issued };
    const listed = (commands: VehicleViews['commands']) =>
      kindsOf(({ ledger, views }) => {
        ledger.requested({ ...command, requestedMs: 119_000, expiresMs: 120_000 });
        ledger.ended('c1', 'refused', true);
        return { views: ofVehicle(views, { commands }) };
      });
    expect(listed([])).toEqual(['commandsWrong']);
    expect(listed([{ ...shown, commandState: 'confirmed' }])).toEqual(['commandsWrong']);
    const refused = { ...shown, commandState: 'refused' };
    expect(listed([{ ...refused, issuer: 'other' }])).toEqual(['commandsWrong']);
    expect(listed([{ ...refused, issued: issued + 3600 }])).toEqual(['commandsWrong']);
    expect(listed([refused])).toEqual([]);
  });
});

describe('the world', () => {
  const changed = (at: number, change: Partial<FleetEvent>, shown: Partial<ShownEvent> = {}) =>
    kindsOf(({ ledger, views, events }) => {
      const event = { ...(events[at] ?? expect.fail('no event')), ...change };
      // The vehicle itself says it so, and the service gives back what it was sent.
      const notes = ledger.vehicles.get(vehicle)?.boots.get(boot)?.[at];
      if (notes !== undefined && notes.sent !== null)
        notes.sent = {
          ...notes.sent,
          latitude: event.latitude ?? null,
          speedKmh: event.speed ?? 0,
          timestampMs: event.timestamp,
        };
      const records = events.map((one, index) => (index === at ? shownOf(event, shown) : shownOf(one)));
      return { records, views: { ...views, vehicles: [], streamSights: [] } };
    });

  it('finds a place that is 60 m off, and lets the noise of a receiver pass', () => {
    expect(
      changed(
        4,
        { latitude: latitudeAt(45_000), longitude: longitude + 0.0009 },
        { longitude: longitude + 0.0009 },
      ),
    ).toContain('misplaced');
    expect(changed(4, { latitude: latitudeAt(45_000) + 0.0001 })).toEqual([]);
  });

  it('finds a place of half a minute ago', () => {
    expect(changed(4, { latitude: latitudeAt(15_000) })).toEqual(['misplaced']);
  });

  it('lets a place pass that was taken under a spoofer, for a report about a moment before it', () => {
    const taken = (storedMs: number) =>
      kindsOf(({ ledger, events, views }) => {
        ledger.excuse(vehicle, { kind: 'position', fromMs: 75_000, toMs: 80_000 });
        const note = ledger.vehicles.get(vehicle)?.boots.get(boot)?.[5];
        const latitude = latitudeAt(75_000);
        if (note?.sent != null) Object.assign(note, { storedMs, sent: { ...note.sent, latitude } });
        const records = events.map((event, index) => shownOf(event, index === 5 ? { latitude } : {}));
        return { records, views: { ...views, vehicles: [], streamSights: [] } };
      });
    expect(taken(56_000)).toEqual(['misplaced']);
    expect(taken(76_000)).toEqual([]);
  });

  it('finds another speed', () => {
    expect(changed(4, { speed: 10 })).toEqual(['misplaced']);
  });

  it('finds an event that says another time than its fact', () => {
    expect(changed(6, { timestamp: beganUtcMs + 90_000 })).toContain('mistimed');
  });

  it('finds a receipt before the sending or after the acknowledgement', () => {
    for (const creationTime of [beganUtcMs / 1000 + 10, beganUtcMs / 1000 + 100])
      expect(changed(4, {}, { creationTime })).toEqual(['mistimed']);
  });

  it('finds a record without a place, and lets one pass that was decided more than ten seconds after its time', () => {
    const late = (code: number, storedMs: number) =>
      kindsOf(({ ledger, events, views }) => {
        const at = 8;
        const timestamp = events[at]?.timestamp ?? 0;
        const note = ledger.vehicles.get(vehicle)?.boots.get(boot)?.[at];
        if (note?.sent != null)
          Object.assign(note, { code, storedMs, sent: { ...note.sent, latitude: null, longitude: null } });
        const none = { latitude: 0, longitude: 0, isPositionValid: false, statusCode: code };
        const change = {
          ...none,
          statusDescription: statusText(code),
          timestamp: Math.floor(timestamp / 1000),
        };
        const records = events.map((event, index) => shownOf(event, index === at ? change : {}));
        return { records, views: { ...views, vehicles: [], streamSights: [] } };
      });
    const { ENGINE_STOP, LOCATION } = statusCodes;
    expect(late(ENGINE_STOP.code, 86_000)).toEqual(['misplaced']);
    expect(late(ENGINE_STOP.code, 99_000)).not.toContain('misplaced');
    expect(late(LOCATION.code, 99_000)).toContain('misplaced');
  });

  it('finds a drive without positions', () => {
    const gap = (of: ReturnType<typeof drive>) => {
      // As if the vehicle had none before it was stopped.
      const notes = of.ledger.vehicles.get(vehicle)?.boots.get(boot) ?? [];
      for (const note of notes)
        if (note.code === statusCodes.LOCATION.code)
          Object.assign(note, { sent: null, ackedMs: null, storedMs: 1e9 });
      return {
        records: of.views.vehicles[0]?.records.slice(6, 7) ?? [],
        views: { ...of.views, vehicles: [] },
      };
    };
    expect(kindsOf(gap)).toEqual(['untracked']);
    expect(kindsOf(gap, { movingS: 60 })).toEqual([]);
  });
});

describe('a trace', () => {
  const still = { drivenM: 0, tankLevel: 0.5 };

  it('keeps of a rest each moment at which the tank changes', () => {
    const trace = emptyTrace();
    const parked = { latitude: 1, longitude: 2, speedKmh: 0, drivenM: 0 };
    for (let utcMs = 0; utcMs <= 60_000; utcMs += 1000)
      addMoment(trace, { ...parked, utcMs, tankLevel: utcMs < 50_000 ? 0.5 : 0.6 });
    expect(trace.utcMs).toEqual([0, 49_000, 50_000, 60_000]);
  });

  it('knows how far the vehicle had driven between two moments, before the first and after the last', () => {
    const trace = emptyTrace();
    for (const [utcMs, drivenM] of [
      [10_000, 100],
      [12_000, 120],
    ] as const)
      addMoment(trace, { ...still, utcMs, drivenM, latitude: 1, longitude: 2, speedKmh: 36 });
    expect([0, 10_000, 11_000, 12_000, 99_000].map((utcMs) => drivenAt(trace, utcMs))).toEqual([
      100, 100, 110, 120, 120,
    ]);
    expect(drivenAt(emptyTrace(), 1000)).toBe(0);
  });

  it('keeps of a rest its begin and its end', () => {
    const trace = emptyTrace();
    for (let utcMs = 0; utcMs <= 100_000; utcMs += 1000)
      addMoment(trace, { ...still, utcMs, latitude: 1, longitude: 2, speedKmh: utcMs > 90_000 ? 20 : 0 });
    expect(trace.utcMs.slice(0, 3)).toEqual([0, 90_000, 91_000]);
    expect(drivenSpans(trace, 10)).toEqual([{ fromMs: 91_000, toMs: 100_000 }]);
  });

  it('knows how far a point is from the way between two moments', () => {
    const trace = emptyTrace();
    for (const [utcMs, latitude] of [
      [0, 50],
      [10_000, 50.001],
    ] as const)
      addMoment(trace, { ...still, utcMs, latitude, longitude: 10, speedKmh: 36 });
    const moments = momentsWithin(trace, { fromMs: 4000, toMs: 5000 });
    expect(moments).toHaveLength(2);
    expect(metresFrom({ latitude: 50.0005, longitude: 10 }, moments)).toBeCloseTo(0, 0);
    expect(metresFrom({ latitude: 50.0005, longitude: 10.001 }, moments)).toBeCloseTo(71, 0);
    expect(metresFrom({ latitude: 50, longitude: 10 }, [])).toBeNull();
  });
});
