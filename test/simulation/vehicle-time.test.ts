// A vehicle whose clocks are wrong in every way that has been seen: no RTC, a receiver whose week number rolled over, a
// wall clock that NTP steps by years, a broker that errs, a leap second, a quartz that runs away. Order stays by boot, seq
// and `upMs`; the quality of a time is what it is worth; no command outlives its expiry because of a clock.
import { describe, expect, it } from 'vitest';
import {
  assembleEpochs,
  createEpochState,
  type EpochReport,
  flushEpoch,
} from '../../agent/core/gnss/epochs.ts';
import { createNmeaState, decodeNmea } from '../../agent/core/gnss/nmea.ts';
import { createPlausibilityState, judgeFix } from '../../agent/core/gnss/plausibility.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';
import { createVehicleRig, type RigClocks, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const dayMs = 86_400_000;
const yearMs = 365 * dayMs;
const rolloverMs = 1024 * 7 * dayMs;
/** Where the rig's true time begins. */
const startMs = Date.UTC(2027, 0, 1);

const start = (clocks: Partial<RigClocks> = {}): Promise<VehicleRig> => createVehicleRig({ clocks });
const located = (events: readonly FleetEvent[]): readonly FleetEvent[] =>
  events.filter(({ statusCode }) => statusCode === statusCodes.LOCATION.code);
const disputes = (rig: VehicleRig): readonly FleetEvent[] =>
  rig.told.filter(({ attributes }) => attributes?.['part'] === 'clock');

/** What no clock may change. Alarms are dated back to their beginning; positions are told as they come. */
function expectOrder(events: readonly FleetEvent[]): void {
  for (const event of events) expect(event.timestamp === null).toBe(event.timeQuality === 'none');
  const upMs = located(events).map((event) => event.upMs ?? -1);
  expect(upMs.length).toBeGreaterThan(3);
  for (const [index, ms] of upMs.entries()) expect(ms).toBeGreaterThan(upMs[index - 1] ?? -1);
}

/** The last event against the true time. */
function errorMs(rig: VehicleRig): number {
  const last = rig.told.at(-1);
  if (last?.timestamp === undefined || last.timestamp === null || last.upMs === null)
    throw new Error('no time');
  return last.timestamp - (startMs + last.upMs);
}

describe('a vehicle without an RTC', () => {
  it('begins in 1970, says that it knows no time, and is right from the fifth fix on', async () => {
    const rig = await start({ wallAheadMs: -startMs });
    expect(rig.told[0]).toMatchObject({ timestamp: null, timeQuality: 'none', upMs: 0 });
    rig.run(30);
    rig.drive(50);
    rig.run(60);
    expectOrder(rig.told);
    expect(rig.told.at(-1)?.timeQuality).toBe('gnss');
    expect(Math.abs(errorMs(rig))).toBeLessThan(1000);
    expect(located(rig.told).length).toBeGreaterThan(0);
  });

  it('keeps a cut waiting while the time is unknown, and lets it expire by the first known time', async () => {
    const rig = await start({ wallAheadMs: -startMs, skyAheadMs: -rolloverMs });
    rig.run(60);
    rig.command('enginecutoff', '1', { expiresMs: startMs + 90_000 });
    rig.run(120);
    expect(rig.reasons().at(-1)).toBe('time_known');
    expect(rig.changes).toEqual([]);
    rig.welcome(rig.trueUtcMs());
    rig.run(5);
    expect(rig.said()).toContain('expired');
    expect(rig.changes).toEqual([]);
  });

  it('stores the origin that a welcome brings before it reads anything to send', async () => {
    const rig = await start({ wallAheadMs: -startMs, skyAheadMs: -rolloverMs });
    rig.run(10);
    rig.performed.length = 0;
    rig.welcome(rig.trueUtcMs());
    const [origin, fetch] = [rig.performed.indexOf('origin'), rig.performed.indexOf('fetch')];
    expect(origin).toBeGreaterThanOrEqual(0);
    expect(fetch).toBeGreaterThan(origin);
  });

  it('restores the engine without any time', async () => {
    const rig = await start({ wallAheadMs: -startMs, skyAheadMs: -rolloverMs });
    rig.run(30);
    rig.command('enginecutoff', '0');
    rig.run(10);
    expect(rig.said()).toContain('confirmed');
  });
});

describe('a receiver with a wrong date', () => {
  it('whose week number rolls over on the way changes nothing but its own credit', async () => {
    const rig = await start();
    rig.drive(60);
    rig.run(120);
    const before = located(rig.told).length;
    rig.clocks.skyAheadMs = -rolloverMs;
    rig.run(300);
    expect(located(rig.told).length).toBeGreaterThan(before + 3);
    expectOrder(rig.told);
    expect(Math.abs(errorMs(rig))).toBeLessThan(1000);
    expect(rig.told.at(-1)?.timeQuality).toBe('gnss');
  });

  it.each([
    ['1024 weeks behind', -rolloverMs],
    ['1024 weeks ahead', rolloverMs],
    ['in 1980, which is also what year 80 means', Date.UTC(1980, 0, 6) - startMs],
    ['in 2079', 52 * yearMs],
  ])('%s is believed in its place and not in its time', async (_name, skyAheadMs) => {
    const rig = await start({ wallAheadMs: -startMs, skyAheadMs });
    rig.drive(60);
    rig.run(180);
    expect(located(rig.told).length).toBeGreaterThan(3);
    expect(rig.told.every(({ timeQuality }) => timeQuality === 'none')).toBe(true);
    expectOrder(rig.told);
    rig.welcome(rig.trueUtcMs());
    rig.run(60);
    expect(rig.told.at(-1)?.timeQuality).toBe('server');
    expect(Math.abs(errorMs(rig))).toBeLessThan(1000);
  });

  it.skipIf(sharedData('nmea/april6_2019.nmea') === null)(
    sharedTitle('as recorded on 6 April 2019 gives no time', 'nmea/april6_2019.nmea'),
    async () => {
      const rig = await start({ wallAheadMs: -startMs });
      rig.quiet(true);
      for (let second = 0; second < 20; second += 1) {
        rig.dispatch({ kind: 'bytes', port: 'gnss', bytes: readShared('nmea/april6_2019.nmea') });
        rig.run(1);
      }
      expect(rig.state().fixes).toBeGreaterThan(0);
      expect(rig.told.every(({ timeQuality }) => timeQuality === 'none')).toBe(true);
    },
  );
});

describe('a wall clock that is stepped', () => {
  it.each([10, -10, 1, -1])('by %i years makes no difference where GNSS gives the time', async (years) => {
    const rig = await start();
    rig.drive(60);
    rig.run(60);
    rig.clocks.wallAheadMs = years * yearMs;
    rig.run(60);
    rig.clocks.wallAheadMs = 0;
    rig.run(60);
    expectOrder(rig.told);
    expect(Math.abs(errorMs(rig))).toBeLessThan(1000);
  });

  it('is a guess and marked so without another source of time, and never judges a command', async () => {
    const rig = await start({ skyAheadMs: -rolloverMs });
    rig.drive(60);
    rig.run(60);
    rig.clocks.wallAheadMs = 5 * yearMs;
    rig.run(60);
    rig.clocks.wallAheadMs = 0;
    rig.run(60);
    expectOrder(rig.told);
    expect(new Set(rig.told.map(({ timeQuality }) => timeQuality))).toEqual(new Set(['rtc']));
    rig.drive(0);
    rig.run(120);
    rig.command('enginecutoff', '1');
    rig.run(60);
    expect(rig.reasons().at(-1)).toBe('time_known');
    expect(rig.changes).toEqual([]);
  });
});

describe('a broker and a receiver that disagree', () => {
  it('by years: the broker counts, it is said once, and the quality says whose time it is', async () => {
    const rig = await start();
    rig.run(60);
    rig.welcome(rig.trueUtcMs() + 3 * yearMs);
    rig.run(600);
    expect(rig.told.at(-1)?.timeQuality).toBe('server');
    expect(errorMs(rig) - 3 * yearMs).toBeLessThan(1000);
    expect(disputes(rig)).toHaveLength(1);
    expect(String(disputes(rig)[0]?.attributes?.['reason'])).toContain('behind the broker');
    // The broker's clock is mended; both agree again.
    rig.welcome(rig.trueUtcMs());
    rig.drive(60);
    rig.run(120);
    expect(Math.abs(errorMs(rig))).toBeLessThan(1000);
    expect(rig.told.at(-1)?.timeQuality).toBe('gnss');
    expectOrder(rig.told);
  });

  it('a command signed after the broker’s clock was corrected does not live longer by the wrong time', async () => {
    const rig = await start({ skyAheadMs: -rolloverMs });
    rig.welcome(rig.trueUtcMs() - 30 * dayMs);
    rig.drive(60);
    rig.run(60);
    rig.command('enginecutoff', '1', { expiresMs: rig.trueUtcMs() + 60_000 });
    rig.run(90);
    expect(rig.said()).toContain('expired');
    rig.drive(0);
    rig.run(300);
    expect(rig.changes).toEqual([]);
  });

  it('a clock of the broker that no agent can live to see is not believed', async () => {
    const rig = await start({ wallAheadMs: -startMs, skyAheadMs: -rolloverMs });
    rig.welcome(rig.trueUtcMs() + 30 * yearMs);
    rig.run(30);
    expect(rig.told.at(-1)?.timeQuality).toBe('none');
  });
});

describe('a leap second', () => {
  it('moves no origin and raises nothing', async () => {
    const rig = await start();
    rig.drive(60);
    rig.run(120);
    const { gnssOriginMs } = rig.state().time;
    const alarmed = rig.told.filter(({ statusCode }) => statusCode !== statusCodes.LOCATION.code).length;
    // UTC repeats a second, as receivers do that do not send 60.
    rig.clocks.skyAheadMs = -1000;
    rig.run(120);
    expect(rig.state().time.gnssOriginMs).toBe(gnssOriginMs);
    const after = rig.told.filter(({ statusCode }) => statusCode !== statusCodes.LOCATION.code).length;
    expect(after).toBe(alarmed);
    expectOrder(rig.told);
  });

  it('sent as 23:59:60 is the second after 59 and costs at most one fix its credit', () => {
    const seal = (body: string): string => {
      const sum = new TextEncoder().encode(body).reduce((all, byte) => all ^ byte, 0);
      return `$${body}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
    };
    const times = ['235957,A', '235958,A', '235959,A', '235960,A', '000000,A', '000001,A', '000002,A'];
    let epochs = createEpochState({ earliestUtcMs: Date.UTC(2026, 10, 1) });
    let nmea = createNmeaState();
    let plausibility = createPlausibilityState();
    const reports: EpochReport[] = [];
    for (const [second, time] of times.entries()) {
      const date = time.startsWith('23') ? '311226' : '010127';
      const line = seal(`GPRMC,${time},4339.000,N,07920.400,W,0.0,0.0,${date},,,A`);
      const decoded = decodeNmea(nmea, new TextEncoder().encode(line));
      nmea = decoded.state;
      for (const sentence of decoded.sentences) {
        const step = assembleEpochs(epochs, sentence, second * 1000);
        epochs = step.state;
        reports.push(...step.reports);
      }
      const flushed = flushEpoch(epochs, second * 1000 + 900);
      epochs = flushed.state;
      reports.push(...flushed.reports);
    }
    const doubts: number[] = [];
    const utcMs: number[] = [];
    for (const report of reports) {
      if (report.kind === 'void') throw new Error('a void report');
      const judged = judgeFix(plausibility, report.fix);
      plausibility = judged.state;
      doubts.push(judged.fix.doubts.length);
      utcMs.push(report.fix.utcMs ?? 0);
    }
    expect(utcMs).toHaveLength(times.length);
    expect(utcMs.toSorted((a, b) => a - b)).toEqual(utcMs);
    expect(doubts.filter((count) => count > 0).length).toBeLessThanOrEqual(1);
  });
});

describe('a quartz that runs away', () => {
  it('by 500 ppm is followed by GNSS, a second at a time, and no receiver is called false for it', async () => {
    const rig = await start({ quartzPpm: 500 });
    rig.drive(60);
    rig.run(90 * 60);
    const last = rig.told.at(-1);
    expect(last?.timeQuality).toBe('gnss');
    const trueMs = startMs + (last?.upMs ?? 0) / (1 + 500 / 1e6);
    expect(Math.abs((last?.timestamp ?? 0) - trueMs)).toBeLessThan(2500);
    expect(rig.said().filter((text) => /GPS|GNSS|Jam|Spoof/i.test(text))).toEqual(['GPS_First_Fix']);
  });
});
