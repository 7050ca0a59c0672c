// What no vehicle drove is no mileage: wrong positions, cell towers, jitter, ferries; and what it did drive stays as it is.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TripEvent } from '../../broker/core/events/trip-way.ts';
import { distanceM } from '../../src/core/geo/geo.ts';
import {
  drive,
  driveDay,
  eventAt,
  type Leg,
  metre,
  park,
  startMs,
  stopsOf,
  tripsOf,
} from '../support/road/trip-drives.ts';

type Change = (event: TripEvent, minute: number, at: number) => TripEvent;

/** Records of made legs, changed by their minute. */
const recorded = (legs: readonly Leg[], change: Change, everyS = 10): readonly TripEvent[] =>
  driveDay({
    legs,
    everyS,
    jitterM: 2,
    change: (event, at) => change(event, (event.timestampMs - startMs) / 60_000, at),
  });

const away = (event: TripEvent, km: number): TripEvent => ({
  ...event,
  point: { latitude: 43.6 + km * 1000 * metre, longitude: -79.3 },
});
const unknown: Change = (event) => ({ ...event, ignition: null, speed: null });
const noIgnition: Change = (event) => ({ ...event, ignition: null });
const off: Change = (event) => ({ ...event, ignition: false });

/** Shown elsewhere from one minute to another. */
const shown =
  (km: number, [from, to]: readonly [number, number], known: Change = noIgnition): Change =>
  (event, minute, at) => {
    const said = known(event, minute, at);
    return minute >= from && minute < to ? away(said, km) : said;
  };

/** Another place each time, within so many m. */
const jitter =
  (mostM: number, known: Change): Change =>
  (event, minute, at) => ({
    ...known(event, minute, at),
    point: {
      latitude: (event.point?.latitude ?? 0) + Math.sin(at * 12.9898) * mostM * metre,
      longitude: -79.3 + Math.cos(at * 78.233) * mostM * metre,
    },
  });

const odometer =
  (kmOf: (drivenKm: number) => number, isRead: (minute: number) => boolean = () => true): Change =>
  (event, minute) => ({
    ...event,
    odometer: isRead(minute) ? 5000 + kmOf(((event.point?.latitude ?? 0) - 43.6) / metre / 1000) : null,
  });

const ten = park(10);
const drive9km = [park(20), drive(10), park(20)];

interface Case {
  readonly name: string;
  readonly events: readonly TripEvent[];
  /** Each trip in km, to 0.3 km. */
  readonly km: readonly number[];
  readonly stops: number;
  readonly topSpeed?: number | null;
}

const cases: readonly Case[] = [
  ...[900, 300, 40].flatMap((km) =>
    [noIgnition, off, unknown].map((known, index) => ({
      name: `parked, shown ${km} km away for half an hour (${['speed', 'ignition', 'nothing'][index]} known)`,
      events: recorded([park(240)], shown(km, [120, 150], known), 60),
      km: [],
      stops: 1,
    })),
  ),
  {
    name: 'parked, shown 900 km away for five hours',
    events: recorded([park(840)], shown(900, [360, 660]), 60),
    km: [],
    stops: 1,
  },
  {
    name: 'parked, shown in two wrong places in turn',
    events: recorded(
      [park(240)],
      (event, minute) =>
        minute < 120 || minute >= 150 ? noIgnition(event, minute, 0) : away(event, minute % 2 ? 900 : -400),
      60,
    ),
    km: [],
    stops: 1,
  },
  {
    name: 'parked with a record every 6 hours, one of which is 900 km away',
    events: recorded([park(6000)], shown(900, [2160, 2200]), 21_600),
    km: [],
    stops: 1,
  },
  {
    name: 'five wrong seconds in a drive',
    events: recorded(drive9km, shown(-50, [25, 25 + 5 / 60]), 1),
    km: [9],
    stops: 2,
  },
  {
    name: 'half a minute of wrong seconds, each elsewhere, in a drive',
    events: recorded(
      drive9km,
      (event, minute, at) => (minute >= 25 && minute < 25.5 ? away(event, 20 + (at % 7) * 30) : event),
      1,
    ),
    km: [9],
    stops: 2,
  },
  {
    name: 'five wrong seconds, with the odometer of the vehicle',
    events: recorded(
      drive9km,
      (event, minute, at) =>
        shown(-50, [25, 25 + 5 / 60])(odometer((km) => km * 1.1)(event, minute, at), minute, at),
      1,
    ),
    km: [9.9],
    stops: 2,
  },
  {
    name: 'wrong positions before the first right one',
    events: recorded(drive9km, shown(700, [0, 0.3])),
    km: [9],
    stops: 2,
  },
  ...[0, null].map((satellites) => ({
    name: `latitude and longitude 0 with ${satellites} satellites`,
    events: recorded(drive9km, (event, _minute, at) =>
      at % 7 === 3 ? { ...event, point: { latitude: 0, longitude: 0 }, satellites } : event,
    ),
    km: [9],
    stops: 2,
  })),
  ...[{ satellites: 0 }, { hdop: 50 }, { accuracy: 3000 }].map((coarse) => ({
    name: `cell towers between good positions: ${JSON.stringify(coarse)}`,
    events: recorded(drive9km, (event, _minute, at) =>
      at % 9 === 4 ? { ...away(event, at % 2 === 0 ? 3 : -4), ...coarse, speed: null } : event,
    ),
    km: [9],
    stops: 2,
  })),
  ...[
    { speed: 0, ignition: false },
    { speed: null, ignition: false },
    { speed: null, ignition: null, satellites: 0 },
    { speed: 0, ignition: null },
  ].map((said) => ({
    name: `a parked day of cell towers, of which is known: ${JSON.stringify(said)}`,
    events: recorded(
      [park(1440)],
      (event, _minute, at) => ({
        ...(at % 2 === 0 || at < 3 ? event : away(event, 2.5)),
        ...said,
        satellites: at < 2 ? 9 : (said.satellites ?? null),
      }),
      600,
    ),
    km: [],
    stops: 1,
  })),
  ...[off, noIgnition, unknown].map((known, index) => ({
    name: `a parked day of jitter of 150 m (${['ignition', 'speed', 'nothing'][index]} known)`,
    events: recorded([park(1440)], jitter(150, known), 60),
    km: [],
    stops: 1,
  })),
  {
    name: 'an ignition that is off while a bad receiver reports movement, after a drive',
    events: recorded([ten, drive(10), park(300)], (event, minute) =>
      minute < 22 ? event : jitter(400, (one) => ({ ...one, speed: 9 }))(event, minute, Math.round(minute)),
    ),
    km: [9],
    stops: 2,
  },
  ...[655, 240].map((speed) => ({
    name: `one record of ${speed} km/h in a drive at 54`,
    events: recorded(drive9km, (event, _minute, at) => (at === 150 ? { ...event, speed } : event)),
    km: [9],
    stops: 2,
    topSpeed: 54,
  })),
  {
    name: 'a drive of which no record says a speed',
    events: recorded(drive9km, unknown),
    km: [9],
    stops: 2,
    topSpeed: null,
  },
  {
    name: 'an odometer that is read in every second stop only',
    events: recorded(
      [ten, drive(10), park(30), drive(10), park(30)],
      odometer(
        (km) => km * 1.1,
        (minute) => minute < 5 || minute > 75,
      ),
    ),
    km: [9, 9],
    stops: 3,
  },
  {
    name: 'an odometer that is read every 5 minutes',
    events: recorded(
      [ten, drive(20), park(30)],
      odometer(
        (km) => km * 1.2,
        (minute) => Math.round(minute * 60) % 300 === 0,
      ),
    ),
    km: [21.6],
    stops: 2,
  },
  {
    name: 'an odometer of another unit from the middle of the drive on',
    events: recorded(drive9km, (event, minute, at) =>
      odometer((km) => (minute < 25 ? km : 90_000 + km))(event, minute, at),
    ),
    km: [9],
    stops: 2,
  },
  ...[0, 12].map((wheelsKm) => ({
    name: `shipped 900 km within two days, ${wheelsKm} km of it on its wheels`,
    events: recorded(
      [park(60), { seconds: 172_800, speed: 900_000 / 172_800 }, park(300)],
      (event, minute) => ({
        ...event,
        point: minute < 60 || minute > 2940 ? event.point : null,
        ignition: false,
        speed: 0,
        odometer: 700 + (minute > 2940 ? wheelsKm : 0),
      }),
    ),
    km: wheelsKm === 0 ? [] : [wheelsKm],
    stops: 2,
  })),
  ...[60, 600].map((everyS) => ({
    name: `a ferry with a record every ${everyS} s and the ignition off`,
    events: recorded(
      [ten, drive(10), park(20), { seconds: 14_400, speed: 9 }, park(90), drive(10), ten],
      (event, minute) => ({ ...event, ignition: minute < 20 || (minute >= 370 && minute < 380) }),
      everyS,
    ),
    km: [9, 9],
    stops: everyS === 60 ? 4 : 3,
  })),
  {
    name: 'an ignition that is not wired',
    events: recorded(drive9km, off),
    km: [9],
    stops: 2,
  },
  {
    name: 'an ignition whose wire breaks on the way',
    events: recorded([park(20), drive(20), park(20), drive(10), park(20)], (event, minute) => ({
      ...event,
      ignition: minute < 25 && minute >= 20,
    })),
    km: [18, 9],
    stops: 3,
  },
  {
    name: 'a unit that never counts its satellites',
    events: recorded([park(20), drive(10), park(20), drive(10), park(20)], (event) => ({
      ...event,
      satellites: 0,
    })),
    km: [9, 9],
    stops: 2,
  },
  {
    name: 'a unit that never reports movement',
    events: recorded([park(20), drive(10), park(20)], (event) => ({ ...event, speed: 0, ignition: null })),
    km: [9],
    stops: 2,
  },
];

describe('a trip is what the vehicle drove', () => {
  it.each(cases)('$name', ({ events, km, stops, topSpeed }) => {
    const trips = tripsOf(events);
    const found = trips.map((trip) => Math.round(trip.distanceM / 100) / 10);
    expect(found.length, JSON.stringify(found)).toBe(km.length);
    for (const [at, one] of km.entries())
      expect(Math.abs((found[at] ?? 0) - one), JSON.stringify(found)).toBeLessThan(0.35);
    expect(stopsOf(events)).toHaveLength(stops);
    if (topSpeed !== undefined) expect(trips[0]?.speedMost).toBe(topSpeed);
  });
});

const outlier = fc.record({
  at: fc.double({ min: 0.05, max: 0.95, noNaN: true }),
  run: fc.integer({ min: 1, max: 12 }),
  km: fc.oneof(fc.integer({ min: 40, max: 3000 }), fc.integer({ min: -3000, max: -40 })),
});

describe('whatever a receiver shows', () => {
  it('outliers that are put into a drive change no trip and no stop', () => {
    fc.assert(
      fc.property(fc.array(outlier, { maxLength: 6 }), fc.constantFrom(1, 10, 30), (outliers, everyS) => {
        const events = recorded([park(30), drive(15), park(15), drive(15), park(30)], noIgnition, everyS);
        const wrong = outliers.flatMap(({ at, run, km }) => {
          const from = Math.floor(at * events.length);
          return events
            .slice(from, from + run)
            .map((event) => away({ ...event, timestampMs: event.timestampMs + 500 }, km));
        });
        const all = [...events, ...wrong].sort((one, other) => one.timestampMs - other.timestampMs);
        const seen = (list: readonly TripEvent[]) => [
          tripsOf(list).map(({ start, end, distanceM: m, speedMost }) => [
            start,
            end,
            Math.round(m),
            speedMost,
          ]),
          stopsOf(list),
        ];
        expect(seen(all)).toEqual(seen(events));
      }),
      { numRuns: 60 },
    );
  });

  it('no trip is longer or faster than what a road vehicle can do', () => {
    const fix = fc.record({
      seconds: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 60, max: 9000 })),
      lat: fc.oneof(
        fc.double({ min: -0.01, max: 0.01, noNaN: true }),
        fc.double({ min: -5, max: 5, noNaN: true }),
      ),
      speed: fc.option(fc.double({ min: 0, max: 900, noNaN: true })),
      ignition: fc.option(fc.boolean()),
      satellites: fc.option(fc.integer({ min: 0, max: 20 })),
      odometer: fc.option(fc.double({ min: 0, max: 1000, noNaN: true })),
    });
    fc.assert(
      fc.property(fc.array(fix, { maxLength: 80 }), (fixes) => {
        let ms = startMs;
        const events = fixes.map(({ seconds, lat, ...said }) => {
          ms += seconds * 1000;
          return eventAt(ms, { ...said, point: { latitude: 43.6 + lat, longitude: -79.3 } });
        });
        for (const trip of tripsOf(events)) {
          const hours = (trip.end.timestampMs - trip.start.timestampMs + 1000) / 3_600_000;
          expect(trip.distanceM / 1000).toBeLessThanOrEqual(250 * hours + 0.001);
          expect(trip.speedMost ?? 0).toBeLessThanOrEqual(250);
          expect(distanceM(trip.start, trip.end)).toBeLessThan(1_200_000);
        }
      }),
      { numRuns: 200 },
    );
  });
});
