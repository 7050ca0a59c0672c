// Values of the vehicle bus by the world: a made-up drive whose reports are right, or wrong in one way.
import { describe, expect, it } from 'vitest';
import { judgeBus } from '../../simulator/core/judgement/judgement-bus.ts';
import { createLedger } from '../../simulator/core/ledger/ledger.ts';
import type { Excuse } from '../../simulator/core/ledger/ledger-types.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';

const deviceID = 'sim-1';
const beganUtcMs = 1_800_000_000_000;
const vin = 'XFWAB12345678901C';

type Attributes = NonNullable<FleetEvent['attributes']>;

/** Ten minutes at 36 km/h with a report a minute; its attributes are changed by `change`. */
function judged(
  change: (atS: number) => Attributes = () => ({}),
  { excuse, hasBus = true }: { readonly excuse?: Excuse; readonly hasBus?: boolean } = {},
): readonly string[] {
  const ledger = createLedger();
  ledger.addVehicle(deviceID);
  if (hasBus) ledger.truck(deviceID, { vin, startKm: 90_000 });
  for (let atS = 0; atS <= 600; atS += 1) {
    const place = { latitude: 43 + (atS * 10) / 111_195, longitude: -79, speedKmh: 36 };
    const moment = { utcMs: beganUtcMs + atS * 1000, ...place, drivenM: atS * 10, tankLevel: 0.5 };
    ledger.moment(deviceID, moment, atS * 1000);
  }
  for (let atS = 60, seq = 1; atS < 600; atS += 60, seq += 1) {
    const attributes: Attributes = {
      busSpeed: 36,
      rpm: 1200,
      busOdometer: 90_000 + atS / 100,
      busFuelLevel: 50,
      vin,
      ...change(atS),
    };
    const event: FleetEvent = {
      seq,
      timestamp: beganUtcMs + atS * 1000,
      upMs: atS * 1000,
      timeQuality: 'gnss',
      statusCode: statusCodes.LOCATION.code,
      attributes,
    };
    ledger.stored(deviceID, 'b1', { events: [event], atMs: atS * 1000 });
    ledger.sent(deviceID, 'b1', { events: [event], atMs: atS * 1000 });
  }
  if (excuse !== undefined) ledger.excuse(deviceID, excuse);
  const vehicle = ledger.vehicles.get(deviceID) ?? expect.fail('no vehicle');
  return judgeBus(vehicle).map(({ kind, eventID, words }) => `${kind} ${eventID}: ${words}`);
}

const late = (atS: number, attributes: Attributes): Attributes => (atS === 300 ? attributes : {});

describe('values of the vehicle bus', () => {
  it('are right when they are those of the vehicle', () => {
    expect(judged()).toEqual([]);
  });

  it.each([
    ['a speed in miles', { busSpeed: 36 / 1.609 }, /^busWrong b1:5: 22.3.* km\/h on the bus/],
    ['a speed of another scale', { busSpeed: 57.6 }, /^busWrong b1:5: 57.6 km\/h on the bus/],
    ['an engine that stands on the road', { rpm: 0 }, /an engine speed of 0\/min/],
    ['an engine speed of another scale', { rpm: 9600 }, /an engine speed of 9600\/min/],
    ['a tank of another scale', { busFuelLevel: 20 }, /20 % in the tank on the bus/],
    ['the number of another vehicle', { vin: 'XFWAB12345678901D' }, /VIN XFWAB12345678901D/],
    [
      'an odometer that jumps',
      { busOdometer: 90_004 },
      /90004 km on the odometer of the bus; it stood at 90002.9 to 90003.0 km/,
    ],
  ])('are wrong with %s, and right with a fault of the bus as an excuse', (_, attributes, words) => {
    expect(judged((atS) => late(atS, attributes))).toEqual([expect.stringMatching(words)]);
    const excuse: Excuse = { kind: 'bus', fromMs: 290_000, toMs: 305_000 };
    expect(judged((atS) => late(atS, attributes), { excuse })).toEqual([]);
  });

  it.each([
    ['stands still', () => 90_000, /^busWrong b1:1: 90000 km/],
    [
      'is in miles from the first report on',
      (atS: number) => (90_000 + atS / 100) / 1.609,
      /^busWrong b1:1: 55935/,
    ],
  ])('are wrong with an odometer that %s', (_, at, words) => {
    expect(judged((atS) => ({ busOdometer: at(atS) }))).toEqual([expect.stringMatching(words)]);
  });

  it('are wrong of a vehicle that has no bus', () => {
    expect(judged(() => ({}), { hasBus: false })).toEqual([
      expect.stringMatching(/of a vehicle that has none/),
    ]);
  });
});
