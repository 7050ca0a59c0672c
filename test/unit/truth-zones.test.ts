// Crossings of a geozone, judged alone by the way that a vehicle drove: what is reported as it was has no fault, and each crossing that is
// missing, invented, late or on the other side is found.
import { describe, expect, it } from 'vitest';
import { judgeZone, type ZoneViews } from '../../simulator/core/judgement/judgement-zones.ts';
import { createLedger } from '../../simulator/core/ledger/ledger.ts';
import type { Excuse, ShownEvent } from '../../simulator/core/ledger/ledger-types.ts';
import { statusCodes, statusText } from '../../src/core/events/status-codes.ts';

const deviceID = 'sim-1';
const beganUtcMs = 1_800_000_000_000;
const longitude = -79.34;
/** 36 km/h to the north. */
const latitudeAt = (atMs: number): number => 43.65 + (atMs / 1000) * (10 / 111_195);
/** Around the place at 100 s: it is entered at 80 s and left at 120 s. */
const zone = { geozoneID: 'yard', latitude: latitudeAt(100_000), longitude, radiusM: 200 };
const { LOCATION, GEOFENCE_ARRIVE, GEOFENCE_DEPART } = statusCodes;

const recordAt = (atMs: number, code: number, geozoneID: string): ShownEvent => ({
  deviceID,
  eventID: `b1:${Math.round(atMs / 1000)}`,
  statusCode: code,
  timestamp: Math.floor((beganUtcMs + atMs) / 1000),
  latitude: latitudeAt(atMs),
  longitude,
  isPositionValid: true,
  speed: 36,
  heading: 0,
  commandID: null,
  commandState: null,
  geozoneID,
  statusDescription: statusText(code),
  creationTime: Math.floor((beganUtcMs + atMs) / 1000),
});

const arrival = recordAt(82_000, GEOFENCE_ARRIVE.code, 'yard');
const departure = recordAt(121_000, GEOFENCE_DEPART.code, 'yard');
const positions = Array.from({ length: 40 }, (_, at) => {
  const atMs = at * 5000 + 1000;
  return recordAt(atMs, LOCATION.code, atMs > 84_000 && atMs < 123_000 ? 'yard' : '');
});

/** Faults of a drive of 200 s through the zone; `stayMs` is spent in its middle. */
function wrongOf(
  change: Partial<ZoneViews>,
  of: { readonly stayMs?: number; readonly excuse?: Excuse } = {},
): readonly string[] {
  const ledger = createLedger();
  const { stayMs = 0 } = of;
  const add = (atMs: number, placeMs: number): void => {
    const moment = {
      utcMs: beganUtcMs + atMs,
      latitude: latitudeAt(placeMs),
      longitude,
      speedKmh: 36,
      drivenM: 0,
      tankLevel: 0.5,
    };
    ledger.moment(deviceID, moment, atMs);
  };
  for (let atMs = 0; atMs <= 100_000; atMs += 1000) add(atMs, atMs);
  for (let atMs = 101_000; atMs <= 200_000 + stayMs; atMs += 1000)
    add(atMs, Math.max(100_000, atMs - stayMs));
  if (of.excuse !== undefined) ledger.excuse(deviceID, of.excuse);
  ledger.stopping(deviceID, 200_000 + stayMs);
  const vehicle = ledger.vehicles.get(deviceID) ?? expect.fail('no vehicle');
  const views = { zone, heldMs: 10_000, dwellMs: 2000, crossings: [arrival, departure], records: positions };
  return judgeZone(vehicle, { ...views, ...change }).filter((words) => words !== null);
}

describe('a vehicle that drives through a geozone', () => {
  it('has no fault when it reports both borders and names the zone between them', () => {
    expect(wrongOf({})).toEqual([]);
  });

  it.each<[string, Partial<ZoneViews>]>([
    ['leaves without a word', { crossings: [arrival] }],
    ['says nothing', { crossings: [] }],
    ['arrives twice', { crossings: [arrival, { ...arrival, eventID: 'b1:83' }, departure] }],
    ['leaves before it arrives', { crossings: [departure, arrival] }],
    [
      'arrives half a minute early',
      { crossings: [recordAt(50_000, GEOFENCE_ARRIVE.code, 'yard'), departure] },
    ],
    ['leaves from its middle', { crossings: [arrival, recordAt(100_000, GEOFENCE_DEPART.code, 'yard')] }],
    ['names the zone on all its way', { records: positions.map((one) => ({ ...one, geozoneID: 'yard' })) }],
  ])('has a fault when it %s', (_, change) => {
    expect(wrongOf(change)).not.toEqual([]);
  });

  const slow = { stayMs: 60_000 };
  const after = recordAt(181_000, GEOFENCE_DEPART.code, 'yard');
  const stayed = Array.from({ length: 50 }, (_, at) => {
    const atMs = at * 5000 + 1000;
    return recordAt(atMs, LOCATION.code, atMs > 84_000 && atMs < 183_000 ? 'yard' : '');
  });

  it('has no fault when it stays for a minute and says so', () => {
    expect(wrongOf({ crossings: [arrival, after], records: stayed }, slow)).toEqual([]);
  });

  it('has a fault when it stays for a minute without an arrival, or without naming the zone', () => {
    expect(wrongOf({ crossings: [], records: [] }, slow)).toEqual([
      expect.stringContaining('surely inside'),
      expect.stringContaining('surely outside'),
    ]);
    const silent = stayed.map((one) => ({ ...one, geozoneID: '' }));
    expect(wrongOf({ crossings: [arrival, after], records: silent }, slow)).not.toEqual([]);
  });

  it('is not judged while its receiver is deceived, nor before it holds the zone', () => {
    const excuse: Excuse = { kind: 'position', fromMs: 0, toMs: 400_000 };
    expect(wrongOf({ crossings: [], records: [] }, { ...slow, excuse })).toEqual([]);
    expect(wrongOf({ crossings: [], records: [], heldMs: null }, slow)).toEqual([]);
    expect(wrongOf({ crossings: [], records: [], heldMs: 250_000 }, slow)).toEqual([]);
  });
});
