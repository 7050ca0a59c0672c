// Odometer and fuel level by the world: made-up drives whose records are right, or wrong in one way. What is right within its tolerance has
// no breach; what is wrong is found and named, once for each vehicle.
import { describe, expect, it } from 'vitest';
import { judgeFuel, judgeOdometer, type ShownLine } from '../../simulator/core/judgement/judgement-gauges.ts';
import { createLedger } from '../../simulator/core/ledger/ledger.ts';
import type { Breach, Excuse, VehicleNotes } from '../../simulator/core/ledger/ledger-types.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';

const deviceID = 'sim-1';
const beganUtcMs = 1_800_000_000_000;
const everyMs = 10_000;

/** A world, by seconds of the run. */
interface World {
  readonly forS: number;
  /** Metres driven until then. */
  drivenM(atS: number): number;
  tankLevel(atS: number): number | null;
}

/** Ten minutes at 36 km/h, and a tank that empties. */
const steady: World = {
  forS: 600,
  drivenM: (atS) => atS * 10,
  tankLevel: (atS) => 0.5 - atS / 60_000,
};

type Change = Partial<FleetEvent> | null;

interface Of {
  readonly world?: World;
  /** What a record says otherwise than the world; null: the vehicle makes none. @param atS when it is made. */
  record?(atS: number, no: number): Change;
  readonly excuse?: Excuse;
  readonly stall?: readonly [fromS: number, toS: number];
  /** Boot of the record; one boot unless given. */
  boot?(atS: number): string;
  /** How long records wait for the disk. */
  readonly waitMs?: number;
}

/** A vehicle that makes a record every 10 s. */
function drive({ world = steady, record, excuse, stall, boot = () => 'b1', waitMs = 0 }: Of): VehicleNotes {
  const ledger = createLedger();
  ledger.addVehicle(deviceID);
  for (let atS = 0; atS <= world.forS; atS += 1) {
    const [drivenM, tankLevel] = [world.drivenM(atS), world.tankLevel(atS)];
    const speedKmh = (world.drivenM(atS + 1) - drivenM) * 3.6;
    const place = { latitude: 43 + drivenM / 111_195, longitude: -79, speedKmh };
    ledger.moment(deviceID, { utcMs: beganUtcMs + atS * 1000, ...place, drivenM, tankLevel }, atS * 1000);
  }
  const seqs = new Map<string, number>();
  for (let atS = 12; atS < world.forS; atS += everyMs / 1000) {
    const no = (atS - 12) / 10;
    const change = record === undefined ? {} : record(atS, no);
    if (change === null) continue;
    const tankLevel = world.tankLevel(atS);
    const seq = (seqs.get(boot(atS)) ?? 0) + 1;
    seqs.set(boot(atS), seq);
    const event: FleetEvent = {
      seq,
      timestamp: beganUtcMs + atS * 1000,
      upMs: atS * 1000,
      timeQuality: 'gnss',
      statusCode: statusCodes.LOCATION.code,
      latitude: 43 + world.drivenM(atS) / 111_195,
      longitude: -79,
      odometer: Math.round(7_000_000 + world.drivenM(atS)) / 1000,
      ...(tankLevel === null ? {} : { fuelLevel: tankLevel }),
      ...change,
    };
    const atMs = atS * 1000 + waitMs;
    ledger.stored(deviceID, boot(atS), { events: [event], atMs });
    ledger.sent(deviceID, boot(atS), { events: [event], atMs });
  }
  if (excuse !== undefined) ledger.excuse(deviceID, excuse);
  if (stall !== undefined) ledger.stall(stall[0] * 1000, stall[1] * 1000);
  return ledger.vehicles.get(deviceID) ?? expect.fail('no vehicle');
}

const wordsOf = (breaches: readonly Breach[]): readonly string[] =>
  breaches.map(({ kind, eventID, words }) => `${kind} ${eventID}: ${words}`);
const odometerOf = (of: Of): readonly string[] => wordsOf(judgeOdometer(drive(of), null));
const fuelOf = (of: Of): readonly string[] => wordsOf(judgeFuel(drive(of), null));

/** An odometer that counts another way than the vehicle drives. */
const counts = (countedM: (atS: number) => number) => (atS: number) => ({
  odometer: Math.round(7_000_000 + countedM(atS)) / 1000,
});

describe('an odometer', () => {
  it('is right when it grows as the vehicle drives, whatever it shows at first', () => {
    expect(odometerOf({})).toEqual([]);
  });

  it.each([
    ['counts metres twice', (atS: number) => atS * 20],
    ['counts miles', (atS: number) => (atS * 10) / 1.609],
    ['does not count', () => 0],
    ['counts one drive in two', (atS: number) => (atS < 300 ? atS * 10 : 3000)],
  ])('that %s is found', (_, countedM) => {
    expect(odometerOf({ record: counts(countedM) })).toMatchObject([/^odometerWrong b1:\d+: odometer/]);
  });

  it('that goes down is found, at the record with which it does', () => {
    const back = (atS: number) => ({ odometer: (7_000_000 + atS * 10 - (atS === 302 ? 200 : 0)) / 1000 });
    expect(odometerOf({ record: back })).toEqual([
      'odometerWrong b1:30: odometer 7002.82 km, and 7002.92 km before it in b1:29',
    ]);
  });

  it('that begins at zero with another boot is found, also after a fault', () => {
    const boot = (atS: number): string => (atS < 300 ? 'b1' : 'b2');
    const record = (atS: number) => (atS < 300 ? {} : { odometer: (atS - 300) / 100 });
    const excuse: Excuse = { kind: 'hardware', fromMs: 290_000, toMs: 310_000 };
    expect(odometerOf({ boot, record, excuse })).toMatchObject([/^odometerWrong b2:1: /]);
  });

  it('that a position lacks is found', () => {
    const record = (_: number, no: number) => (no === 5 ? { odometer: undefined as never } : {});
    expect(odometerOf({ record })).toEqual(['odometerWrong b1:6: a position without odometer']);
  });

  it('of the record before is found where its service shows it so', () => {
    const vehicle = drive({ world: { ...steady, drivenM: (atS) => atS * 30 } });
    const lines: ShownLine[] = (vehicle.boots.get('b1') ?? []).map((_, at, notes) => ({
      eventID: `b1:${at + 1}`,
      odometer: String(notes[Math.max(0, at - 1)]?.sent?.odometerKm),
      fuelLevel: '0.5',
    }));
    expect(wordsOf(judgeOdometer(vehicle, lines))).toMatchObject([/^odometerWrong b1:\d+: /]);
  });

  it('may be longer or shorter than the way by the noise of the receiver', () => {
    expect(odometerOf({ record: counts((atS) => atS * 10.2) })).toEqual([]);
    expect(odometerOf({ record: counts((atS) => atS * 9.8) })).toEqual([]);
    expect(odometerOf({ record: counts((atS) => atS * 11) })).toHaveLength(1);
    expect(odometerOf({ record: counts((atS) => atS * 9) })).toHaveLength(1);
  });

  it('may be two seconds old, and as new as the record was stored', () => {
    expect(odometerOf({ record: counts((atS) => (atS < 300 ? atS : atS - 2) * 10) })).toEqual([]);
    expect(odometerOf({ record: counts((atS) => (atS + 15) * 10), waitMs: 15_000 })).toEqual([]);
  });

  it('is not judged before the first position, when nothing is counted', () => {
    const record = (atS: number) =>
      atS < 100 ? { odometer: 7000, latitude: undefined as never } : { odometer: 6999 + atS / 100 };
    expect(odometerOf({ record })).toEqual([]);
  });

  it('counts anew after a fault of receiver, clock or agent, and after no fault of the link', () => {
    const lost = (atS: number) => ({ odometer: (7_000_000 + atS * 10 - (atS > 300 ? 400 : 0)) / 1000 });
    const tunnel = { fromMs: 260_000, toMs: 300_000 };
    const record = (atS: number) => (atS > 255 && atS < 305 ? null : lost(atS));
    for (const kind of ['position', 'hardware'] as const)
      expect(odometerOf({ record, excuse: { kind, ...tunnel } })).toEqual([]);
    expect(odometerOf({ record, excuse: { kind: 'link', ...tunnel } })).toHaveLength(1);
    expect(odometerOf({ record })).toHaveLength(1);
  });

  it('may lack the corners of a way on which the generator stood', () => {
    const shorter = counts((atS) => atS * 10 - (atS > 320 ? 250 : 0));
    const record = (atS: number) => (atS > 265 && atS < 325 ? null : shorter(atS));
    expect(odometerOf({ record })).toHaveLength(1);
    expect(odometerOf({ record, stall: [270, 320] })).toEqual([]);
  });

  it('of a border crossing may be older than that of the record before', () => {
    const record = (atS: number, no: number) =>
      no === 20
        ? { statusCode: statusCodes.GEOFENCE_ARRIVE.code, odometer: (7_000_000 + (atS - 30) * 10) / 1000 }
        : {};
    expect(odometerOf({ record })).toEqual([]);
  });

  it('of a light tracker is not judged', () => {
    const ledger = createLedger();
    ledger.addVehicle(deviceID);
    const vehicle = ledger.vehicles.get(deviceID) ?? expect.fail('no vehicle');
    expect([...judgeOdometer(vehicle, null), ...judgeFuel(vehicle, null)]).toEqual([]);
  });
});

describe('the level of the tank', () => {
  it('is right when it is that of the world, with its slosh', () => {
    expect(fuelOf({})).toEqual([]);
    const record = (atS: number, no: number) => ({
      fuelLevel: (steady.tankLevel(atS) ?? 0) + (no % 2) * 0.015,
    });
    expect(fuelOf({ record })).toEqual([]);
  });

  it.each([
    ['is a constant', () => 0.62],
    ['is that of another register', () => 0.05],
    ['is a percentage of a percentage', (atS: number) => (steady.tankLevel(atS) ?? 0) / 100],
    ['is upside down', (atS: number) => 0.45 - (steady.tankLevel(atS) ?? 0)],
  ])('that %s is found', (_, fuelLevel) => {
    expect(fuelOf({ record: (atS) => ({ fuelLevel: fuelLevel(atS) }) })).toMatchObject([
      /^fuelWrong b1:1: Location with .* % in the tank/,
    ]);
  });

  it('that stays where it was is found once the tank is emptier', () => {
    const world = { ...steady, tankLevel: (atS: number) => 0.5 - atS / 6000 };
    expect(fuelOf({ world, record: () => ({ fuelLevel: 0.5 }) })).toHaveLength(1);
  });

  it('that a position lacks is found, but where the board has no sender or was not read yet', () => {
    const record = (_: number, no: number) => (no === 5 ? { fuelLevel: undefined as never } : {});
    expect(fuelOf({ record })).toEqual(['fuelWrong b1:6: a position without the level of the tank']);
    expect(fuelOf({ world: { ...steady, tankLevel: () => null } })).toEqual([]);
  });

  it('is not judged during a fault of the board', () => {
    const record = (atS: number) => (atS > 200 && atS < 260 ? { fuelLevel: 0.9 } : {});
    const span = { fromMs: 200_000, toMs: 260_000 };
    expect(fuelOf({ record, excuse: { kind: 'hardware', ...span } })).toEqual([]);
    expect(fuelOf({ record, excuse: { kind: 'link', ...span } })).toHaveLength(1);
  });

  it('may be older, or missing, while the generator stands, and is judged all the same', () => {
    const world = { ...steady, tankLevel: (atS: number) => 0.5 - atS / 600 };
    const old = (atS: number) => (atS === 212 ? { fuelLevel: world.tankLevel(atS - 20) } : {});
    expect(fuelOf({ world, record: old })).toHaveLength(1);
    expect(fuelOf({ world, record: old, stall: [200, 212] })).toEqual([]);
    const none = (atS: number) => (atS === 212 ? { fuelLevel: undefined as never } : {});
    expect(fuelOf({ record: none, stall: [211, 212] })).toEqual([]);
    expect(fuelOf({ record: () => ({ fuelLevel: 0.9 }), stall: [0, 600] })).toHaveLength(1);
  });

  it('of a record about the tank may be the median of some minutes', () => {
    const world = { ...steady, tankLevel: (atS: number) => 0.5 - atS / 6000 };
    const record = (atS: number, no: number) =>
      no === 40 ? { statusCode: statusCodes.FUEL_LEVEL.code, fuelLevel: world.tankLevel(atS - 240) } : {};
    expect(fuelOf({ world, record })).toEqual([]);
  });
});

describe('a report on fuel that was filled or stolen', () => {
  const parked = (tankLevel: (atS: number) => number): World => ({ forS: 600, drivenM: () => 0, tankLevel });
  const refilled = parked((atS) => (atS < 200 ? 0.3 : Math.min(0.6, 0.3 + (atS - 200) / 100)));
  const stolen = parked((atS) => (atS < 200 ? 0.5 : Math.max(0.3, 0.5 - (atS - 200) / 200)));
  const reports = (code: number) => (_: number, no: number) => (no === 30 ? { statusCode: code } : {});
  const { FUEL_REFILL, FUEL_THEFT } = statusCodes;

  it('is right when the tank of the world changed so', () => {
    expect(fuelOf({ world: refilled, record: reports(FUEL_REFILL.code) })).toEqual([]);
    expect(fuelOf({ world: stolen, record: reports(FUEL_THEFT.code) })).toEqual([]);
  });

  it.each([
    ['a filling of a tank that stayed as it was', parked(() => 0.5), FUEL_REFILL.code],
    ['a theft from a tank that stayed as it was', parked(() => 0.5), FUEL_THEFT.code],
    [
      'a theft of what the engine burnt',
      { ...steady, tankLevel: (atS: number) => 0.5 - atS / 3000 },
      FUEL_THEFT.code,
    ],
    ['a theft where fuel was filled', refilled, FUEL_THEFT.code],
  ])('is found when it is %s', (_, world, code) => {
    expect(fuelOf({ world, record: reports(code) })).toMatchObject([
      /^fuelWrong b1:31: .* % of the tank were/,
    ]);
  });
});
