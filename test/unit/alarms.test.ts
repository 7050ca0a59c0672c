// The vehicle's own alarms as people would tell of them: what raises each, what ends it, what must not raise it, and what
// a restart does. Property: whatever happens, begins and ends alternate and their rate is bounded.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listAlarms } from '../../agent/cli/alarms.ts';
import { parseAlarmMemory } from '../../agent/core/alarms/alarm-memory.ts';
import { alarmTable, describeAlarms } from '../../agent/core/alarms/table.ts';
import { type StatusName, statusCodes } from '../../src/core/events/status-codes.ts';
import { alarmSettingsSchema } from '../../src/core/settings/alarms.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';
import { type Bench, createBench } from '../support/vehicle/alarm-scenes.ts';

const at = (eastM: number) => ({ latitude: 45, longitude: 7 + eastM / 78_626 });

/** Which of the fixes say a speed. */
type Says = (fix: number) => boolean;

/** Drives due east at a steady speed for some seconds, a fix each. */
const driveSaying =
  (says: Says) =>
  (bench: Bench, from: { eastM: number }, speedKmh: number, seconds: number): void => {
    for (let s = 0; s < seconds; s += 1) {
      from.eastM += speedKmh / 3.6;
      bench.fix({ ...at(from.eastM), speedKmh: says(s) ? speedKmh : null });
    }
  };

const drive = driveSaying(() => true);

/** Receivers that say no speed, every third one, and none but now and then. */
const reticent: readonly (readonly [string, Says])[] = [
  ['never', () => false],
  ['in one fix of three', (fix) => fix % 3 === 0],
  ['in nine fixes of ten', (fix) => fix % 10 !== 0],
  ['in one fix of thirty', (fix) => fix % 30 === 0],
];

function parked(settings: Parameters<typeof createBench>[0] = {}) {
  const bench = createBench(settings);
  const place = { eastM: 0 };
  bench.set({ ignition: false });
  drive(bench, place, 0, 240);
  return { bench, place };
}

describe('motion', () => {
  it('starts after some seconds of speed, reported where it began; a stop at the lights is none', () => {
    const { bench, place } = parked();
    bench.set({ ignition: true });
    drive(bench, place, 40, 60);
    drive(bench, place, 0, 90);
    drive(bench, place, 40, 60);
    expect(bench.names()).toEqual(['GPS_FIRST_FIX', 'MOTION_START']);
    const began = bench.last('MOTION_START');
    expect(began?.fix?.atMonoMs).toBe(began?.atMs);
    drive(bench, place, 0, 121);
    expect(bench.count('MOTION_STOP')).toBe(1);
    expect(bench.last('MOTION_STOP')?.attributes['durationS']).toBe(210);
  });

  it.each(reticent)('starts and stops once where the receiver says its speed %s', (_, says) => {
    const go = driveSaying(says);
    const bench = createBench();
    const place = { eastM: 0 };
    bench.set({ ignition: false });
    go(bench, place, 0, 240);
    bench.set({ ignition: true });
    go(bench, place, 40, 120);
    expect(bench.names()).toEqual(['GPS_FIRST_FIX', 'MOTION_START']);
    go(bench, place, 0, 180);
    expect(bench.names()).toEqual(['GPS_FIRST_FIX', 'MOTION_START', 'MOTION_STOP']);
  });

  it('stops sooner with ignition off, and under a roof where no position comes', () => {
    const { bench, place } = parked();
    bench.set({ ignition: true });
    drive(bench, place, 40, 60);
    const parkedMs = bench.nowMs();
    bench.set({ ignition: false });
    for (let s = 0; s < 200; s += 1) bench.void();
    expect(bench.last('MOTION_STOP')).toMatchObject({ atMs: parkedMs, attributes: { by: 'ignition' } });
  });

  it('is dormant once after a long time with ignition off', () => {
    const bench = createBench({ dormantS: 3600 });
    bench.set({ ignition: false });
    bench.pass(9000);
    expect(bench.count('MOTION_DORMANT')).toBe(1);
  });
});

describe('idling', () => {
  it('needs a running engine and a known standstill; excess is reported once; driving off ends it', () => {
    const { bench, place } = parked();
    bench.set({ ignition: true });
    drive(bench, place, 0, 1200);
    expect([bench.count('MOTION_IDLE'), bench.count('MOTION_EXCESS_IDLE')]).toEqual([1, 1]);
    drive(bench, place, 30, 30);
    expect(bench.count('MOTION_IDLE_END')).toBe(1);
  });

  it('is not reported while revolutions say that the engine stands, nor without a position', () => {
    const { bench, place } = parked();
    bench.set({ ignition: true, rpm: 0 });
    drive(bench, place, 0, 600);
    const blind = createBench();
    blind.set({ ignition: true });
    blind.pass(1200);
    expect([bench.count('MOTION_IDLE'), blind.count('MOTION_IDLE')]).toEqual([0, 0]);
  });
});

describe('speeding', () => {
  it('begins after the hold time with the highest speed, and ends within the limit', () => {
    const { bench, place } = parked({ speedingKmh: 90 });
    bench.set({ ignition: true });
    drive(bench, place, 94, 60); // within the tolerance
    expect(bench.count('SPEEDING_BEGIN')).toBe(0);
    drive(bench, place, 110, 30);
    drive(bench, place, 91, 30); // still above the limit
    expect(bench.count('SPEEDING_END')).toBe(0);
    drive(bench, place, 85, 30);
    expect(bench.last('SPEEDING_BEGIN')?.attributes).toMatchObject({ limitKmh: 90, maxKmh: 110 });
    expect(bench.last('SPEEDING_END')?.attributes).toMatchObject({ maxKmh: 110, durationS: 60 });
  });

  it('is not begun by single fast fixes, nor held on to in a tunnel', () => {
    const { bench, place } = parked({ speedingKmh: 90 });
    for (let round = 0; round < 20; round += 1) {
      drive(bench, place, 110, 8);
      drive(bench, place, 80, 2);
    }
    expect(bench.count('SPEEDING_BEGIN')).toBe(0);
    drive(bench, place, 110, 20);
    for (let s = 0; s < 200; s += 1) bench.void();
    expect(bench.last('SPEEDING_END')?.attributes['reason']).toBe('position lost');
  });

  it('reports again at the earliest after the repeat time, and how often it kept still', () => {
    const { bench, place } = parked({ speedingKmh: 90, repeatS: 600 });
    for (let round = 0; round < 12; round += 1) {
      drive(bench, place, 110, 30);
      drive(bench, place, 60, 30);
    }
    expect(bench.count('SPEEDING_BEGIN')).toBe(2);
    expect(bench.count('SPEEDING_END')).toBe(2);
    expect(bench.last('SPEEDING_BEGIN')?.attributes['suppressed']).toBe(9);
  });
});

describe('towing', () => {
  it('is reported within 300 m of the parking place, and ends when it stands', () => {
    const { bench, place } = parked();
    drive(bench, place, 15, 60);
    expect(bench.last('TOWING_START')?.attributes).toMatchObject({ by: 'position' });
    expect(Number(bench.last('TOWING_START')?.attributes['distanceM'])).toBeLessThan(300);
    drive(bench, place, 0, 200);
    expect(bench.last('TOWING_STOP')?.attributes['reason']).toBe('stands');
  });

  it.each(reticent)('is seen where the receiver says its speed %s', (_, says) => {
    const go = driveSaying(says);
    const bench = createBench();
    const place = { eastM: 0 };
    bench.set({ ignition: false });
    go(bench, place, 0, 300);
    go(bench, place, 15, 120); // 500 m
    expect(bench.count('TOWING_START')).toBe(1);
    go(bench, place, 0, 240);
    expect(bench.last('TOWING_STOP')?.attributes['reason']).toBe('stands');
  });

  it('is not raised by wander or a jump where no speed is said, nor is motion', () => {
    for (const jumpM of [40, 120, 300, 3000]) {
      const bench = createBench();
      bench.set({ ignition: false });
      for (let s = 0; s < 900; s += 1) bench.fix({ ...at(60 * Math.sin(s / 100)), speedKmh: null });
      for (let s = 0; s < 120; s += 1) bench.fix({ ...at(jumpM), speedKmh: null });
      for (let s = 0; s < 120; s += 1) bench.fix({ ...at(0), speedKmh: null });
      expect([bench.count('TOWING_START'), bench.count('MOTION_START')], `${jumpM} m`).toEqual([0, 0]);
    }
  });

  it('is not reported of a vehicle that drives, nor of one just parked', () => {
    const bench = createBench();
    const place = { eastM: 0 };
    bench.set({ ignition: true });
    drive(bench, place, 50, 300);
    bench.set({ ignition: false });
    drive(bench, place, 20, 20); // rolls out
    drive(bench, place, 0, 600);
    expect(bench.count('TOWING_START')).toBe(0);
  });

  it('is not raised by wander without speed, however far, nor by a jump, near or far', () => {
    for (const jumpM of [300, 3000, 40_000]) {
      const { bench } = parked();
      for (let s = 0; s < 900; s += 1) bench.fix({ ...at(400 * Math.sin(s / 200)), speedKmh: 0.4 });
      for (let s = 0; s < 120; s += 1) bench.fix({ ...at(jumpM), speedKmh: 0.3 });
      for (let s = 0; s < 120; s += 1) bench.fix({ ...at(0), speedKmh: 0.3 });
      expect(bench.count('TOWING_START'), `${jumpM} m`).toBe(0);
    }
  });

  it('is reported after a restart far from where it was parked, and not at the same place', () => {
    const { bench, place } = parked();
    bench.restart(600_000);
    bench.set({ ignition: false });
    drive(bench, place, 0, 60);
    expect(bench.count('TOWING_START')).toBe(0);
    bench.restart(600_000);
    place.eastM += 2500;
    drive(bench, place, 0, 60);
    expect(bench.last('TOWING_START')?.attributes).toMatchObject({ unseen: true });
  });

  it.each([
    ['while it is pulled', 25, 60],
    ['when it stands elsewhere', 0, 2500],
  ])('is reported after a jammer took the position before it was watched, %s', (_, speedKmh, goneM) => {
    const { bench, place } = parked();
    bench.set({ ignition: true });
    drive(bench, place, 40, 60);
    bench.set({ ignition: false });
    drive(bench, place, 0, 120);
    for (let s = 0; s < 120; s += 1) bench.void();
    place.eastM += goneM;
    drive(bench, place, speedKmh, 60);
    expect(bench.count('TOWING_START')).toBe(1);
  });

  it('is reported by the motion input alone where no position comes', () => {
    const { bench } = parked();
    for (let s = 0; s < 120; s += 1) bench.void();
    bench.set({ motion: true });
    for (let s = 0; s < 200; s += 1) bench.void();
    expect(bench.last('TOWING_START')?.attributes).toMatchObject({ by: 'motion input' });
  });

  it('is reported of a vehicle whose ignition was unknown for a moment in the minute after the key', () => {
    const { bench, place } = parked();
    bench.set({ ignition: true, supplyV: 14 });
    drive(bench, place, 40, 120);
    bench.set({ ignition: false, supplyV: 12.6 });
    drive(bench, place, 0, 40);
    bench.set({ ignition: null });
    drive(bench, place, 0, 2);
    bench.set({ ignition: false });
    drive(bench, place, 0, 158);
    drive(bench, place, 25, 60);
    expect(bench.count('TOWING_START')).toBe(1);
  });

  it('is not reported while the ignition is unknown', () => {
    const { bench, place } = parked();
    bench.set({ ignition: null });
    drive(bench, place, 30, 300);
    expect(bench.count('TOWING_START')).toBe(0);
  });
});

describe('power', () => {
  it('starting the engine raises nothing; a cut does after its hold time, and saves at the first sample', () => {
    const bench = createBench({ gnssFirstFixS: 3600 });
    bench.set({ ignition: true, supplyV: 12.5 });
    bench.pass(60);
    bench.set({ supplyV: 8.6 });
    bench.pass(1);
    bench.set({ supplyV: 13.9 });
    bench.pass(300);
    expect(bench.names()).toEqual([]);
    bench.set({ supplyV: 0.2 });
    expect(bench.dips).toHaveLength(2);
    bench.pass(5);
    expect(bench.last('POWER_FAILURE')?.attributes).toMatchObject({ by: 'voltage', supplyV: 0.2 });
    expect(bench.count('LOW_BATTERY')).toBe(0);
    bench.set({ supplyV: 12.4 });
    bench.pass(10);
    expect(bench.count('POWER_RESTORED')).toBe(1);
  });

  it('the contact that reported of it is not reported twice', () => {
    const bench = createBench();
    bench.set({ externalPower: true, supplyV: 12.5 });
    bench.set({ externalPower: false, supplyV: 0 });
    bench.pass(60);
    bench.set({ externalPower: true, supplyV: 12.5 });
    bench.pass(60);
    expect(bench.names()).toEqual([]);
  });

  it('a low battery is reported once, with hysteresis; a 24 V system is found out', () => {
    const bench = createBench();
    bench.set({ supplyV: 26.8 });
    bench.pass(60);
    bench.set({ supplyV: 23 });
    bench.pass(130);
    expect(bench.last('LOW_BATTERY')?.attributes).toMatchObject({ battery: 'vehicle', limitV: 23.2 });
    for (let round = 0; round < 50; round += 1) {
      bench.set({ supplyV: round % 2 === 0 ? 23.3 : 23.1 });
      bench.pass(130);
    }
    expect([bench.count('LOW_BATTERY'), bench.count('BATTERY_RESTORED')]).toEqual([1, 0]);
    bench.set({ supplyV: 25.4 });
    bench.pass(130);
    expect(bench.count('BATTERY_RESTORED')).toBe(1);
    bench.set({ backupV: 3.2 });
    bench.pass(70);
    expect(bench.last('LOW_BATTERY')?.attributes).toMatchObject({ battery: 'backup' });
  });
});

describe('the engine without an ignition wire', () => {
  it('runs by the alternator, stands by a resting one, and is no guess where the wire is known', () => {
    const bench = createBench();
    bench.set({ supplyV: 12.6 });
    bench.pass(90);
    bench.set({ supplyV: 14.1 });
    bench.pass(30);
    bench.set({ supplyV: 12.5 });
    bench.pass(90);
    expect(bench.names()).toEqual(['ENGINE_START', 'ENGINE_STOP']);
    const wired = createBench();
    wired.set({ ignition: true, supplyV: 14.1 });
    wired.pass(90);
    expect(wired.names()).toEqual([]);
  });
});

describe('the position', () => {
  it('is lost after its time, not in a short tunnel; the loss is reported of where and when it began', () => {
    const { bench, place } = parked();
    bench.set({ ignition: true });
    drive(bench, place, 60, 60);
    for (let s = 0; s < 100; s += 1) bench.void();
    drive(bench, place, 60, 10);
    expect(bench.count('GPS_LOST')).toBe(0);
    const lastMs = bench.nowMs();
    for (let s = 0; s < 150; s += 1) bench.void();
    expect(bench.last('GPS_LOST')).toMatchObject({ atMs: lastMs, fix: { atMonoMs: lastMs } });
    drive(bench, place, 60, 20);
    expect(bench.count('GPS_RESTORED')).toBe(1);
  });

  it('that never came is a loss too, and a silent receiver says so', () => {
    const bench = createBench();
    bench.set({ isReceiverOpen: false });
    bench.pass(400);
    expect(bench.last('GPS_LOST')?.attributes['reason']).toBe('the receiver is silent');
  });

  const sky = (strong: number, message = 1) =>
    [{ type: 'GSV', talker: 'GP', message, tracked: strong, strong }] as const;

  it('is jammed when all satellites vanish at once while it stands; not on the move, not slowly', () => {
    const vanish = (speedKmh: number, fade: readonly number[]): Bench => {
      const bench = createBench();
      const place = { eastM: 0 };
      bench.set({ ignition: true });
      for (let s = 0; s < 60; s += 1) {
        bench.sky(sky(8));
        drive(bench, place, speedKmh, 1);
      }
      for (let s = 0; s < 60; s += 1) {
        bench.sky([{ type: 'GSV', talker: 'GP', message: 1, tracked: fade[s] ?? 0, strong: 0 }]);
        bench.void();
      }
      return bench;
    };
    expect(vanish(0, []).count('GPS_JAMMING')).toBe(1);
    expect(vanish(50, []).count('GPS_JAMMING')).toBe(0);
    expect(vanish(0, [8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 3, 2, 2]).count('GPS_JAMMING')).toBe(0);
  });

  it('an open antenna is reported, and that it is well again', () => {
    const { bench } = parked();
    bench.sky([{ type: 'TXT', antenna: 'open' }]);
    bench.pass(10);
    bench.sky([{ type: 'TXT', antenna: 'ok' }]);
    bench.pass(10);
    expect(bench.names().slice(1)).toEqual(['GPS_ANTENNA_OPEN', 'GPS_RESTORED']);
  });

  it('is suspect after a far jump although the new place is soon believed, and trusted again later', () => {
    const { bench } = parked();
    for (let s = 0; s < 120; s += 1) bench.fix({ ...at(20_000), speedKmh: 0.2 });
    expect(bench.last('POSITION_SUSPECT')?.attributes).toMatchObject({ reason: 'jump', jumpM: 20_000 });
    expect(bench.count('POSITION_TRUSTED')).toBe(1);
  });
});

describe('the connection', () => {
  it('is lost after its time, reported with when it began; a flapping link is reported seldom', () => {
    const bench = createBench();
    bench.pass(10);
    const lostMs = bench.nowMs();
    bench.set({ isLinkUp: false });
    bench.pass(400);
    bench.set({ isLinkUp: true });
    bench.pass(10);
    expect(bench.last('CONNECTION_LOST')?.atMs).toBe(lostMs);
    expect(bench.last('CONNECTION_RESTORED')?.attributes['durationS']).toBe(400);
    for (let round = 0; round < 500; round += 1) {
      bench.set({ isLinkUp: round % 2 === 0 });
      bench.pass(7);
    }
    expect(bench.count('CONNECTION_LOST')).toBe(1);
  });
});

describe('cargo', () => {
  it('open while locked or on the move is a breach; unloading with ignition off is none', () => {
    const { bench, place } = parked();
    bench.set({ cargoDoor: true, isCargoLocked: false });
    bench.pass(600);
    bench.set({ cargoDoor: true, isCargoLocked: null });
    bench.pass(600);
    expect(bench.count('BREACH_ON')).toBe(0);
    bench.set({ isCargoLocked: true });
    bench.pass(20);
    expect(bench.last('BREACH_ON')?.attributes['reason']).toBe('open while locked');
    bench.set({ isCargoLocked: false, ignition: true });
    bench.pass(20);
    drive(bench, place, 30, 60);
    expect(bench.last('BREACH_ON')?.attributes['reason']).toBe('open while moving');
  });
});

describe('people', () => {
  it('are counted over restarts, never below 0, and reported at ignition off', () => {
    const bench = createBench();
    bench.set({ ignition: true });
    for (let n = 0; n < 3; n += 1) bench.pulse('personEnter');
    bench.restart();
    bench.set({ ignition: true });
    bench.pulse('personExit');
    expect(bench.last('PERSON_EXIT')?.attributes['passengers']).toBe(2);
    for (let n = 0; n < 3; n += 1) bench.pulse('personExit');
    expect(bench.last('PERSON_EXIT')?.attributes).toMatchObject({ passengers: 0, corrected: true });
    bench.set({ ignition: false });
    expect(bench.last('PERSON_INVENTORY')?.attributes).toMatchObject({ passengers: 0, impossible: 1 });
  });

  it('a chattering sensor is bounded; an analog counter must stand; the door may reset', () => {
    const bench = createBench({ peopleReset: true });
    for (let n = 0; n < 500; n += 1) bench.pulse('personEnter');
    expect(bench.count('PERSON_ENTER')).toBe(60);
    bench.set({ ignition: true, passengers: 12.2 });
    bench.pass(10);
    expect(bench.last('PERSON_INVENTORY')?.attributes).toMatchObject({ passengers: 12, untold: 440 });
    bench.set({ ignition: false, passengers: null, cabinDoor: true });
    bench.pass(20);
    bench.set({ cabinDoor: false });
    expect(bench.last('PERSON_INVENTORY')?.attributes).toMatchObject({ passengers: 0, reason: 'cabin door' });
  });
});

describe('an impact', () => {
  it('is reported at once with the speed before, the way to it and the seconds after; chatter is one', () => {
    const { bench, place } = parked();
    bench.set({ ignition: true });
    drive(bench, place, 70, 30);
    const before = bench.told.length;
    for (let n = 0; n < 5; n += 1) bench.pulse('crash');
    const told = bench.told.slice(before);
    expect(told[0]).toMatchObject({ name: 'IMPACT', attributes: { speedBeforeKmh: 70 } });
    expect(told.filter(({ name }) => name === 'LOCATION')).toHaveLength(10);
    expect(bench.count('IMPACT')).toBe(1);
    drive(bench, place, 0, 30);
    expect(bench.count('LOCATION')).toBe(20);
  });

  it('needs no position', () => {
    const bench = createBench();
    bench.pulse('crash');
    expect(bench.names()).toEqual(['IMPACT']);
  });
});

describe('what is remembered', () => {
  it('resumes what was reported, so that a restart neither repeats a begin nor forgets an end', () => {
    const { bench, place } = parked({ speedingKmh: 90 });
    bench.set({ ignition: true, supplyV: 10 });
    drive(bench, place, 110, 200);
    bench.restart();
    bench.set({ ignition: true });
    drive(bench, place, 110, 60);
    drive(bench, place, 0, 200);
    bench.set({ supplyV: 12.8 });
    bench.pass(200);
    for (const [begin, end] of [
      ['SPEEDING_BEGIN', 'SPEEDING_END'],
      ['MOTION_START', 'MOTION_STOP'],
      ['LOW_BATTERY', 'BATTERY_RESTORED'],
    ] as const)
      expect([bench.count(begin), bench.count(end)], begin).toEqual([1, 1]);
  });

  it('is small, and anything may stand in its place', () => {
    const { bench } = parked();
    expect(JSON.stringify(bench.memory()).length).toBeLessThan(300);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const memory = parseAlarmMemory(value);
        expect(parseAlarmMemory(JSON.parse(JSON.stringify(memory)))).toEqual(memory);
      }),
    );
    const { on } = parseAlarmMemory({ on: ['tow', 'x', 4], parked: [91, 0], people: -1, is24V: 1 });
    expect(on).toEqual(['tow']);
    expect(parseAlarmMemory({ parked: [91, 0], people: -1 })).toMatchObject({ parked: null, people: null });
  });
});

const pairs: readonly (readonly [StatusName, StatusName])[] = alarmTable.flatMap(({ name, ends }) =>
  ends === 'by itself' ||
  ['GPS_LOST', 'GPS_JAMMING', 'GPS_ANTENNA_OPEN', 'MOTION_EXCESS_IDLE', 'LOW_BATTERY', 'BREACH_ON'].includes(
    name,
  )
    ? []
    : [[name, ends] as const],
);

describe('whatever happens', () => {
  it('begins and ends alternate, nothing throws, and a begin is repeated at a bounded rate', () => {
    const move = fc.oneof(
      fc.record({
        kind: fc.constant('fix' as const),
        eastM: fc.integer({ min: -5000, max: 5000 }),
        speedKmh: fc.option(fc.integer({ min: 0, max: 160 })),
      }),
      fc.record({
        kind: fc.constant('drive' as const),
        speedKmh: fc.integer({ min: 0, max: 150 }),
        seconds: fc.integer({ min: 1, max: 90 }),
      }),
      fc.record({ kind: fc.constant('void' as const), seconds: fc.integer({ min: 1, max: 90 }) }),
      fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 400 }) }),
      fc.record({ kind: fc.constant('restart' as const) }),
      fc.record({
        kind: fc.constant('set' as const),
        change: fc.record(
          {
            ignition: fc.option(fc.boolean()),
            motion: fc.option(fc.boolean()),
            cargoDoor: fc.option(fc.boolean()),
            isCargoLocked: fc.option(fc.boolean()),
            externalPower: fc.option(fc.boolean()),
            isLinkUp: fc.boolean(),
            supplyV: fc.option(fc.integer({ min: 0, max: 30 })),
            rpm: fc.option(fc.integer({ min: 0, max: 2500 })),
            backupV: fc.option(fc.integer({ min: 0, max: 5 })),
          },
          { requiredKeys: [] },
        ),
      }),
      fc.record({
        kind: fc.constant('pulse' as const),
        contact: fc.constantFrom('crash' as const, 'personEnter' as const, 'personExit' as const),
      }),
    );
    fc.assert(
      fc.property(fc.array(move, { maxLength: 25 }), (moves) => {
        const bench = createBench({ speedingKmh: 90, towArmS: 30 });
        const place = { eastM: 0 };
        for (const one of moves) {
          if (one.kind === 'fix') bench.fix({ ...at(one.eastM), speedKmh: one.speedKmh });
          if (one.kind === 'drive') drive(bench, place, one.speedKmh, one.seconds);
          if (one.kind === 'void') for (let s = 0; s < one.seconds; s += 1) bench.void();
          if (one.kind === 'pass') bench.pass(one.seconds);
          if (one.kind === 'restart') bench.restart();
          if (one.kind === 'set') bench.set(one.change);
          if (one.kind === 'pulse') bench.pulse(one.contact);
        }
        for (const [begin, end] of pairs) {
          const order = bench.names().filter((name) => name === begin || name === end);
          order.forEach((name, index) => expect(name).toBe(index % 2 === 0 ? begin : end));
        }
        for (const told of bench.told) {
          expect(told.atMs).toBeLessThanOrEqual(bench.nowMs());
          expect(JSON.stringify(told.attributes).length).toBeLessThan(500);
        }
      }),
      { numRuns: 150 },
    );
  });
});

const code = (name: StatusName): string => `${name} ${statusCodes[name].code}`;

/** The table as it must be in `agent/README.md`. */
function alarmTableMarkdown(): string {
  const rows = alarmTable.map(({ name, when, ends, settings, needs }) => {
    const end = ends === 'by itself' ? '' : code(ends);
    const names = settings.map((setting) => `\`${setting}\``).join(', ');
    return `| ${code(name)} | ${when} | ${end} | ${needs} | ${names} |`;
  });
  const head = '| Alarm | When | Ends with | Needs | Settings of `[alarms]` |';
  return [head, '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

describe('the table of alarms', () => {
  it('names each setting of the alarms at least once, and each code once', () => {
    const used = new Set(alarmTable.flatMap(({ settings }) => settings));
    expect([...used].sort()).toEqual(Object.keys(alarmSettingsSchema.properties).sort());
    expect(new Set(alarmTable.map(({ name }) => name)).size).toBe(alarmTable.length);
    expect(standardSettings.alarms.repeatS).toBe(600);
  });

  const guide = readFileSync(new URL('../../agent/README.md', import.meta.url), 'utf8');
  it('is printed in the guide of the agent', () => {
    expect(guide).toContain(alarmTableMarkdown());
  });

  it('prints as Markdown, as lines and as JSON', () => {
    expect(alarmTableMarkdown().split('\n')).toHaveLength(alarmTable.length + 2);
    expect(listAlarms().text).toContain('TOWING_START (63601)  ends with TOWING_STOP (63602)');
    expect(listAlarms().json).toEqual(describeAlarms());
  });
});
