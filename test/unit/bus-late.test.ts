// A bus whose frames come late shows the vehicle at rest after it has pulled away. Each stop that the receiver sees must find it, and no honest bus.
import { describe, expect, it } from 'vitest';
import {
  busWitnessLimits,
  isBusLate,
  movementAfter,
  noMovement,
} from '../../agent/core/evidence/bus-witness.ts';
import { type BusDriveOptions, createBusDrive } from '../support/bus/bus-drive.ts';
import { createTruckBus, type TruckState, truckBusConfig, truckFrames } from '../support/bus/truck-bus.ts';
import { north } from '../support/vehicle/gnss-drive.ts';
import { createVehicleRig } from '../support/vehicle/vehicle-rig.ts';

/** After a drive with three stops. */
const driven = (options: BusDriveOptions = {}) => createBusDrive(options).for(12, 0).trip();
const proven = { bus_speed: 'proven', bus_rpm: 'proven', gnss: 'proven' } as const;
const unproven = { bus_speed: 'unproven', bus_rpm: 'unproven', gnss: 'proven' } as const;

describe('a bus whose adapter holds its frames back', () => {
  it.each([2600, 3000, 6000, 15_000])('earns no credit on any of its drives: %d ms late', (lateMs) => {
    const drive = driven({ lateMs });
    expect(drive.states()).toMatchObject(unproven);
    expect(drive.bus()).toBeNull();
    for (let trips = 0; trips < 3; trips += 1) expect(drive.trip().states()).toMatchObject(unproven);
  });

  it.each([
    { lateMs: 2400, fixMs: 1000, smoothMs: 0 },
    { lateMs: 4400, fixMs: 2000, smoothMs: 0 },
    { lateMs: 5200, fixMs: 1000, smoothMs: 4000 },
  ])('is found whenever its fixes are measured: %o', ({ lateMs, fixMs, smoothMs }) => {
    for (let phaseMs = 0; phaseMs < fixMs; phaseMs += 150)
      for (const downKmhPerS of [5.4, 6.5]) {
        const drive = createBusDrive({ lateMs, fixMs, smoothMs, phaseMs, downKmhPerS });
        drive.for(12, 0).key(true).leg(15).key(false).for(30, 0);
        expect(drive.states(), `${phaseMs} ms, ${downKmhPerS} km/h/s`).toMatchObject(unproven);
      }
  });

  it.each([2600, 3000, 6000])('loses its credit at the next stop, as it begins: %d ms late', (lateMs) => {
    const drive = driven();
    expect(drive.states()).toMatchObject(proven);
    drive.key(true).late(lateMs).for(15, 0).for(45, 50);
    expect(drive.states()).toMatchObject(proven);
    drive.for(16, 0);
    expect(drive.states()).toMatchObject(unproven);
    expect(drive.bus()).toBeNull();
    // Nor is it proven at that stop.
    expect(drive.for(120, 0).states()).toMatchObject(unproven);
  });

  it('is found where readings come once a second, and at a stop of two seconds', () => {
    expect(driven({ lateMs: 6000, viewMs: 1000 }).states()).toMatchObject(unproven);
    const drive = driven().late(6000).key(true).for(15, 0).for(45, 50);
    drive.for(50 / 6 + 2, 0).for(10, 50);
    expect(drive.states()).toMatchObject(unproven);
  });

  it('is found where the adapter is opened again in the drive, and where fixes are missing', () => {
    const drive = createBusDrive({ lateMs: 6000 }).for(12, 0).key(true).for(45, 50);
    drive.adapter('lost').for(4).adapter('open').for(45).for(20, 0).key(false).for(40);
    expect(drive.states()).toMatchObject(unproven);
    const lossy = createBusDrive({ lateMs: 6000 }).receiver((fix) =>
      fix.atMonoMs % 9000 < 1000 ? null : fix,
    );
    expect(lossy.for(12, 0).trip().states()).toMatchObject(unproven);
  });

  it('is found behind a receiver of 0.5 Hz, and one that smooths over 4 s', () => {
    expect(driven({ lateMs: 6000, fixMs: 2000 }).states()).toMatchObject(unproven);
    expect(driven({ lateMs: 6000, smoothMs: 4000 }).states()).toMatchObject(unproven);
  });

  it('is not proven at a stop that the receiver did not see', () => {
    const drive = createBusDrive({ lateMs: 6000 }).for(12, 0).key(true).for(45, 50);
    drive
      .receiver(() => null)
      .for(40, 0)
      .receiver((fix) => fix);
    expect(drive.for(120, 0).states()).toMatchObject({ bus_speed: 'unproven', bus_rpm: 'unproven' });
  });

  it('changes nothing on the disk while there is no credit that could end', () => {
    const drive = driven({ lateMs: 6000 });
    const records = drive.records();
    drive.key(true).for(15, 0).for(45, 50).for(16, 0);
    const changes = drive.records() - records;
    expect(changes).toBeLessThanOrEqual(2);
  });
});

describe('a truck in a tunnel beside a dead ignition wire', () => {
  it('is not cut as it pulls away where its bus is 6 s late', async () => {
    const rig = await createVehicleRig({ bus: truckBusConfig });
    const held: TruckState[] = [];
    const bus = createTruckBus(rig).sends((state) => {
      held.push(state);
      const late = held.findLast(({ atMs }) => atMs <= state.atMs - 6000);
      return late === undefined ? [] : truckFrames({ ...late, atMs: state.atMs });
    });
    bus.run(20).trip().park(40);
    rig.sky(false);
    bus.run(120).key(true).brake(false);
    // No motion input shows it either.
    rig.unplug();
    bus.run(1);
    rig.drive(60);
    bus.run(3);
    rig.command('enginecutoff', '1');
    bus.run(20);
    expect(rig.changes).toEqual([]);
  });
});

describe('an honest bus', () => {
  it.each<[string, BusDriveOptions]>([
    ['with stops as hard as brakes make them', { downKmhPerS: 28 }],
    ['with stops as slow as a truck rolls', { downKmhPerS: 1.5 }],
    ['beside a receiver of 10 Hz without a delay', { fixMs: 100, fixLateMs: 0, downKmhPerS: 28 }],
    ['beside a receiver that smooths its speed over 4 s', { smoothMs: 4000 }],
    ['beside a receiver whose fixes come 1.1 s late', { fixLateMs: 1100 }],
    ['beside a receiver of 0.5 Hz', { fixMs: 2000 }],
    ['whose readings come once a second', { viewMs: 1000 }],
    ['whose frames come half a second late', { lateMs: 500 }],
  ])('is proven by a drive, and keeps its credit over others: %s', (_, options) => {
    const drive = driven(options);
    expect(drive.states()).toMatchObject(proven);
    drive.key(true).for(15, 0);
    for (let legs = 0; legs < 6; legs += 1) expect(drive.leg(2 * legs).states()).toMatchObject(proven);
  });

  it.each<[string, BusDriveOptions]>([
    ['of two fixes a second', { fixMs: 500 }],
    ['of one fix a second', {}],
    ['of one fix in two seconds', { fixMs: 2000 }],
    ['that smooths over 4 s', { smoothMs: 4000 }],
    ['whose fixes come 1.1 s late', { fixLateMs: 1100 }],
  ])(
    'keeps its credit where the vehicle stops for 1 to 6 s and pulls away at once: a receiver %s',
    (_, options) => {
      for (const viewMs of [0, 1000])
        for (let restS = 1; restS <= 6; restS += 0.25) {
          const drive = driven({ ...options, viewMs })
            .key(true)
            .for(15, 0)
            .for(20, 30);
          drive.for(5 + restS, 0).for(15, 30);
          expect(drive.states(), `${restS} s`).toMatchObject(proven);
        }
    },
  );

  it('keeps its credit over shunting, missing fixes and an adapter that is opened again in the drive', () => {
    const drive = driven().key(true).for(15, 0);
    for (let turns = 0; turns < 20; turns += 1) drive.for(3, 6).for(2.5, 0);
    expect(drive.states()).toMatchObject(proven);
    drive.receiver((fix) => (Math.sin(fix.atMonoMs / 1000) > -0.3 ? fix : null));
    expect(drive.trip().trip().states()).toMatchObject(proven);
    drive.receiver((fix) => fix);
    for (const lostS of [0.5, 1, 2, 3, 4, 6]) {
      // It is opened again while the vehicle brakes, stands and pulls away.
      for (let fromS = 0; fromS < 12; fromS += 1) {
        drive.key(true).for(20, 30).for(0.1, 0);
        const moves = (seconds: number): void => {
          for (let passedS = 0; passedS < seconds; passedS += 0.5) {
            elapsedS += 0.5;
            drive.for(0.5, elapsedS > 7.5 ? 30 : 0);
          }
        };
        let elapsedS = 0;
        moves(fromS);
        drive.adapter('lost');
        moves(lostS);
        drive.adapter('open');
        moves(15);
        expect(drive.states(), `lost for ${lostS} s, ${fromS} s after the brake`).toMatchObject(proven);
      }
    }
  });

  it('loses its credit at most where a receiver shows a stop that is none, and gives no other witness anything', () => {
    const drive = driven().key(true).for(15, 0).for(30, 50);
    const before = drive.states();
    let speedKmh = 50;
    let metres = 2000;
    drive.receiver((fix) => {
      speedKmh = Math.max(0.1, speedKmh - 7);
      metres += speedKmh < 1 ? Math.sin(fix.atMonoMs) / 10 : speedKmh / 3.6;
      return { ...fix, ...north(metres), speedKmh };
    });
    drive.for(12);
    expect(drive.states()).toEqual({ ...before, bus_speed: 'unproven', bus_rpm: 'unproven' });
  });
});

describe('movement on a bus', () => {
  const seen = (atMs: number, mostKmh: number | null) =>
    ({ atMs, mostKmh, leastKmh: mostKmh, senders: '00', vin: null, mostRpm: 600, ...nothing }) as const;
  const nothing = { stillSinceMs: null, lacks: null, fact: null, stoppedSinceMs: null } as const;

  it('has lasted since its first view, over views without a speed, and begins anew after rest or a gap', () => {
    let movement = movementAfter(noMovement, seen(1000, 20));
    expect(movement).toEqual({ lastMs: 1000, sinceMs: 1000 });
    for (const view of [seen(2000, 20), seen(2500, null), null, seen(3500, 20)])
      movement = movementAfter(movement, view);
    expect(movement).toEqual({ lastMs: 3500, sinceMs: 1000 });
    const afterGap = movementAfter(movement, seen(3500 + busWitnessLimits.ageMs + 1, 20));
    expect(afterGap.sinceMs).toBe(3500 + busWitnessLimits.ageMs + 1);
    const stopped = movementAfter(movement, seen(3700, 3));
    expect(stopped).toEqual({ lastMs: 3500, sinceMs: null });
    expect(movementAfter(stopped, seen(3900, 4)).sinceMs).toBe(3900);
  });

  it('is late only from 0.9 s after a stop that the receiver saw, in two fixes, and without a break since before it', () => {
    const at = { latitude: 43, longitude: -79 };
    const still = (forMs: number) =>
      ({ kind: 'still', forMs, at, arrivedMs: 0, fixMs: 0, speedKmh: 0, beforeKmh: 0 }) as const;
    const late = (atMs: number, sinceMs: number | null, forMs = 1000, stopMs: number | null = 5000) =>
      isBusLate(seen(atMs, 20), { lastMs: atMs, sinceMs }, { claim: still(forMs), stopMs });
    expect(late(5900, 4999)).toBe(true);
    expect(late(5899, 4999)).toBe(false);
    expect(late(5900, 5000)).toBe(false);
    expect(late(5900, null)).toBe(false);
    expect(late(5900, 4999, 899)).toBe(false);
    expect(late(5900, 4999, 1000, null)).toBe(false);
  });
});
