// Who drove a trip: the keys that the events of the vehicle name, as long as they count, and nobody where none is known.
import { describe, expect, it } from 'vitest';
import { driverOf, driversMost } from '../../broker/core/events/trip-drivers.ts';
import type { TripEvent } from '../../broker/core/events/trip-way.ts';
import { endTrips, startTrips, stepAll } from '../../broker/core/events/trips.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';

const startMs = Date.UTC(2026, 0, 5, 6);
const metre = 1 / 111_195;
const [ann, bob] = ['0200000000000A11', '0200000000000B0B'];

interface Said {
  readonly atS: number;
  readonly statusCode: number;
  readonly attributes: object;
}

const identified = (atS: number, id: string): Said => ({
  atS,
  statusCode: statusCodes.DRIVER_IDENTIFIED.code,
  attributes: { driverUniqueId: id },
});
const cleared = (atS: number, id: string): Said => ({
  atS,
  statusCode: statusCodes.DRIVER_CLEARED.code,
  attributes: { previousDriverUniqueId: id, reason: 'ignition_off' },
});

/** Seconds at a speed in m/s. */
type Leg = readonly [seconds: number, speed: number];
const tripMinutes = 10;
const standMinutes = 10;
const drive: Leg = [tripMinutes * 60, 15];
const stand: Leg = [standMinutes * 60, 0];

function driversOf(legs: readonly Leg[], said: readonly Said[]): readonly (readonly string[])[] {
  const events: TripEvent[] = [];
  const plain = {
    statusCode: statusCodes.LOCATION.code,
    odometer: null,
    fuelLevel: null,
    bus: null,
    satellites: null,
    hdop: null,
    accuracy: null,
    driver: null,
  } as const;
  let [metres, second] = [0, 0];
  for (const [seconds, speed] of legs)
    for (let passed = 0; passed < seconds; passed += 10) {
      events.push({
        ...plain,
        timestampMs: startMs + second * 1000,
        point: { latitude: 43.6 + metres * metre, longitude: -79.3 },
        speed: speed * 3.6,
        ignition: speed > 0,
      });
      metres += speed * 10;
      second += 10;
    }
  for (const { atS, statusCode, attributes } of said)
    events.push({
      ...plain,
      timestampMs: startMs + atS * 1000,
      statusCode,
      point: null,
      speed: null,
      ignition: null,
      driver: driverOf({ statusCode, text: JSON.stringify(attributes) }, () => ({ ...attributes })),
    });
  events.sort((a, b) => a.timestampMs - b.timestampMs);
  const { state, ended } = stepAll(startTrips, events);
  return [...ended, ...endTrips(state)].flatMap((one) =>
    one.kind === 'trip' ? [one.trip.drivers.map(({ id }) => id)] : [],
  );
}

const oneTrip = [stand, drive, stand] as const;
const standS = standMinutes * 60;
const tripS = tripMinutes * 60;

describe('the drivers of a trip', () => {
  it('are none where no event names a key', () => {
    expect(driversOf(oneTrip, [])).toEqual([[]]);
  });

  it('are the one who was identified before it', () => {
    expect(driversOf(oneTrip, [identified(standS - 65, ann)])).toEqual([[ann]]);
  });

  it('are the one who was identified on the way', () => {
    expect(driversOf(oneTrip, [identified(standS + 125, ann)])).toEqual([[ann]]);
  });

  it('are both where a second key was held to the reader on the way, in their order', () => {
    expect(driversOf(oneTrip, [identified(standS - 65, bob), identified(standS + 125, ann)])).toEqual([
      [bob, ann],
    ]);
  });

  it('are not the one who left, or came, while it stood', () => {
    const said = [
      identified(standS - 305, ann),
      cleared(standS - 205, ann),
      identified(standS - 105, bob),
      identified(standS + tripS + 305, ann),
    ];
    expect(driversOf(oneTrip, said)).toEqual([[bob]]);
  });

  it('are known for each trip by itself', () => {
    const legs = [stand, drive, stand, drive, stand] as const;
    const second = standS + tripS + standS;
    expect(driversOf(legs, [identified(standS - 65, ann), cleared(standS + tripS + 305, ann)])).toEqual([
      [ann],
      [],
    ]);
    expect(driversOf(legs, [identified(standS - 65, ann), identified(second - 65, bob)])).toEqual([
      [ann],
      [bob],
    ]);
    expect(driversOf(legs, [identified(standS - 65, ann)])).toEqual([[ann], [ann]]);
  });

  it('are named by other events too, whose own first event is lost', () => {
    const on = {
      atS: standS - 5,
      statusCode: statusCodes.IGNITION_ON.code,
      attributes: { driverUniqueId: ann },
    };
    expect(driversOf(oneTrip, [on])).toEqual([[ann]]);
  });

  it('are not one who was named half a day before, as a report does not read further back', () => {
    const legs: readonly Leg[] = [[13 * 3600, 0], drive, stand];
    expect(driversOf(legs, [identified(60, ann)])).toEqual([[]]);
  });

  it(`are at most ${driversMost}`, () => {
    const many = Array.from({ length: 20 }, (_, at) =>
      identified(standS + 15 + 20 * at, `0200000000000${at + 100}`),
    );
    expect(driversOf(oneTrip, many)[0]).toHaveLength(driversMost);
  });
});

describe('what an event says of the driver', () => {
  const said = (attributes: object) =>
    driverOf({ statusCode: statusCodes.IGNITION_ON.code, text: JSON.stringify(attributes) }, () => ({
      ...attributes,
    }));

  it.each([
    ['no text', { driverUniqueId: 7 }],
    ['an empty one', { driverUniqueId: '' }],
    ['a text longer than any key', { driverUniqueId: 'x'.repeat(65) }],
    ['another member', { keyUniqueId: ann }],
  ])('is nothing with %s', (_, attributes) => {
    expect(said(attributes)).toBeNull();
  });

  it('is nothing without attributes, and the end of a driver in an event that clears one', () => {
    const text = null;
    expect(driverOf({ statusCode: statusCodes.IGNITION_ON.code, text }, () => null)).toBeNull();
    expect(driverOf({ statusCode: statusCodes.DRIVER_CLEARED.code, text }, () => null)).toEqual({ id: null });
  });
});
