// One fix per epoch: what makes a fix, what takes it away, and when an epoch ends.
import { describe, expect, test } from 'vitest';
import {
  assembleEpochs,
  createEpochState,
  type EpochReport,
  epochDeadline,
  epochLimits,
  flushEpoch,
  recordBytes,
} from '../../agent/core/gnss/epochs.ts';
import { createNmeaState, decodeNmea } from '../../agent/core/gnss/nmea.ts';
import { nmeaBytes } from '../support/serial/nmea-lines.ts';

const earliestUtcMs = Date.UTC(2025, 0, 1);
const rmcAt = (time: string, rest = 'A,4807.0380,N,01131.0000,E,20.0,84.4,150326,,,A') =>
  `GNRMC,${time},${rest}`;
const ggaAt = (time: string, quality = 1) =>
  `GNGGA,${time},4807.0380,N,01131.0000,E,${quality},08,0.9,545.4,M,46.9,M,,`;
const gllAt = (time: string, status = 'A') => `GNGLL,4807.0380,N,01131.0000,E,${time},${status},A`;
const zdaAt = (time: string) => `GNZDA,${time},15,03,2026,00,00`;
const vtg = (kmh: string) => `GNVTG,84.4,T,,M,,N,${kmh},K,A`;
const gsa = (dimension: number) => `GNGSA,A,${dimension},04,05,,,,,,,,,,,2.5,1.3,2.1`;

/** Receiver on a test bench: sentences with the monotonic time at which they arrive. */
function createBench() {
  let state = createEpochState({ earliestUtcMs });
  const reports: EpochReport[] = [];
  return {
    reports,
    hear(atMonoMs: number, ...bodies: readonly string[]) {
      for (const sentence of decodeNmea(createNmeaState(), nmeaBytes(...bodies)).sentences) {
        const step = assembleEpochs(state, sentence, atMonoMs);
        state = step.state;
        reports.push(...step.reports);
      }
    },
    noise(atMonoMs: number) {
      state = recordBytes(state, atMonoMs);
    },
    flush(atMonoMs: number) {
      const step = flushEpoch(state, atMonoMs);
      state = step.state;
      reports.push(...step.reports);
      return step.reports.length;
    },
    deadline: () => epochDeadline(state),
    silenceMs: () => state.silenceMs,
    fixes: () => reports.flatMap((report) => (report.kind === 'fix' ? [report.fix] : [])),
    kinds: () => reports.map((report) => report.kind),
  };
}

/** The reports of one epoch that silence ends. */
function epochOf(...bodies: readonly string[]): readonly EpochReport[] {
  const bench = createBench();
  bench.hear(1000, ...bodies);
  bench.flush(10_000);
  return bench.reports;
}

describe('what makes a fix', () => {
  test('RMC, GGA, GSA and VTG of one time become one fix', () => {
    expect(epochOf(ggaAt('101500.00'), gsa(3), rmcAt('101500.00'), vtg('37.0'))).toEqual([
      {
        kind: 'fix',
        fix: {
          utcMs: Date.UTC(2026, 2, 15, 10, 15),
          atMonoMs: 1000,
          latitude: 48 + 7.038 / 60,
          longitude: 11 + 31 / 60,
          altitudeM: 545.4,
          speedKmh: 37.04,
          headingDeg: 84.4,
          hdop: 0.9,
          satellites: 8,
          dimension: 3,
          mode: 'A',
          rmcValid: true,
          doubts: [],
        },
      },
    ]);
  });

  test('GGA alone is a fix without date and speed; VTG lends it a speed and a course, marked as such', () => {
    const plain = { utcMs: null, rmcValid: false, mode: null };
    expect(epochOf(ggaAt('101500'))).toMatchObject([{ fix: { ...plain, speedKmh: null } }]);
    expect(epochOf(ggaAt('101500'), vtg('37.0'))).toMatchObject([
      { fix: { ...plain, speedKmh: 37, headingDeg: 84.4, isSpeedOfVtg: true } },
    ]);
  });

  test('GLL alone needs a date: without it, it is the tail of a burst', () => {
    expect(epochOf(gllAt('101500'))).toEqual([]);
    expect(epochOf(gllAt('101500'), zdaAt('101500'))).toMatchObject([{ kind: 'fix', fix: { dimension: 2 } }]);
  });

  test('ZDA lends its date to an epoch without RMC', () => {
    expect(epochOf(zdaAt('101500'), ggaAt('101500'))).toMatchObject([
      { fix: { utcMs: Date.UTC(2026, 2, 15, 10, 15) } },
    ]);
  });

  test.each([
    ['RMC V with a position', [rmcAt('101500', 'V,4807.0380,N,01131.0000,E,20.0,84.4,150326,,,A')]],
    ['RMC A of a simulator', [rmcAt('101500', 'A,4807.0380,N,01131.0000,E,20.0,84.4,150326,,,S')]],
    ['RMC A that is estimated', [rmcAt('101500', 'A,4807.0380,N,01131.0000,E,20.0,84.4,150326,,,E')]],
    ['RMC A that is set by hand', [rmcAt('101500', 'A,4807.0380,N,01131.0000,E,20.0,84.4,150326,,,M')]],
    ['RMC A of mode N', [rmcAt('101500', 'A,4807.0380,N,01131.0000,E,20.0,84.4,150326,,,N')]],
    ['RMC A without a position', [rmcAt('101500', 'A,,,,,20.0,84.4,150326,,,A')]],
    ['GGA 0 with a position', [ggaAt('101500', 0)]],
    ['GGA 6, estimated', [ggaAt('101500', 6)]],
    ['GGA 7, by hand', [ggaAt('101500', 7)]],
    ['GGA 8, simulator', [ggaAt('101500', 8)]],
    ['GNS without a constellation', ['GNGNS,101500,4807.0380,N,01131.0000,E,NNN,00,,,,,']],
    ['GNS of a simulator', ['GNGNS,101500,4807.0380,N,01131.0000,E,SS,00,,,,,']],
    ['GLL void', [gllAt('101500', 'V'), zdaAt('101500')]],
    ['GGA 1 against RMC V', [ggaAt('101500'), rmcAt('101500', 'V,,,,,,,150326,,,N')]],
    ['RMC A against GGA 0', [rmcAt('101500'), ggaAt('101500', 0)]],
    ['RMC A against GSA 1', [rmcAt('101500'), gsa(1)]],
    ['RMC D of mode N', [rmcAt('101500', 'D,4807.0380,N,01131.0000,E,20.0,84.4,150326,,,N')]],
    ['RMC E, dead reckoning', [rmcAt('101500', 'E,4807.0380,N,01131.0000,E,20.0,84.4,150326,,')]],
    ['GGA without a fix and HDOP 9999.0 (Unicore)', ['GNGGA,101500.00,,,,,0,00,9999.0,,M,,M,,']],
    ['GGA without leading zeros', ['GNGGA,101500.00,4339.1000,N,7921.0000,W,1,08,0.9,90.0,M,,M,,']],
    ['RMC with a time that is none', [rmcAt('10:15:00')]],
    [
      'unusable GGA and RMC without leading zeros',
      [
        'GNGGA,101500.00,4339.1000,N,7921.0000,W,1,08,0.9,90.0,M,,M,,',
        rmcAt('101500.00', 'A,4339.1000,N,7921.0000,W,0.1,,150326,,,A'),
      ],
    ],
    ['GLL unusable, with ZDA', ['GNGLL,4339.1000,N,7921.0000,W,101500.00,A,A', zdaAt('101500')]],
  ])('%s is void', (_name, bodies) => {
    expect(epochOf(...bodies).map((report) => report.kind)).toEqual(['void']);
  });

  test('a constellation without a fix does not undo the other', () => {
    const reports = epochOf(
      ggaAt('101500'),
      'GLGGA,101500,,,,,0,00,,,M,,M,,',
      gsa(1),
      gsa(3),
      rmcAt('101500'),
    );
    expect(reports).toMatchObject([{ kind: 'fix', fix: { satellites: 8, dimension: 3 } }]);
  });

  test.each([
    [
      'status D',
      [rmcAt('101500', 'D,4807.0380,N,01131.0000,E,20.0,84.4,150326,,,D')],
      { rmcValid: true, mode: 'D', speedKmh: 37.04 },
    ],
    [
      'status D before NMEA 2.3',
      [rmcAt('101500', 'D,4807.0380,N,01131.0000,E,20.0,84.4,150326,,')],
      { rmcValid: true, mode: 'D' },
    ],
    [
      'RMC without a speed',
      [rmcAt('101500', 'A,4807.0380,N,01131.0000,E,,,150326,,,A')],
      { rmcValid: true, speedKmh: null },
    ],
    [
      'RMC without a speed beside VTG',
      [rmcAt('101500', 'A,4807.0380,N,01131.0000,E,,,150326,,,A'), vtg('37.0')],
      { speedKmh: 37, headingDeg: 84.4, isSpeedOfVtg: true },
    ],
    ['VTG in front of GGA', [vtg('37.0'), ggaAt('101500')], { speedKmh: 37, isSpeedOfVtg: true }],
    ['VTG of mode N', [ggaAt('101500'), 'GNVTG,,T,,M,0.0,N,0.0,K,N'], { speedKmh: null }],
    ['GLL D', [gllAt('101500', 'D'), zdaAt('101500')], { latitude: 48 + 7.038 / 60 }],
    [
      'a usable RMC beside an unusable GGA',
      ['GNGGA,101500,4339.1000,N,7921.0000,W,1,08,0.9,90.0,M,,M,,', rmcAt('101500')],
      { hdop: null, speedKmh: 37.04 },
    ],
    [
      'an unusable sentence without a time in front',
      [rmcAt('1015x0'), ggaAt('101500')],
      { speedKmh: null, hdop: 0.9 },
    ],
    [
      'an RMC of NMEA 4.1 with navigational status V',
      [rmcAt('101500', 'A,4807.0380,N,01131.0000,E,20.0,84.4,150326,,,D,V')],
      { mode: 'D', speedKmh: 37.04 },
    ],
  ])('%s is one fix', (_name, bodies, facts) => {
    expect(epochOf(...bodies)).toMatchObject([{ kind: 'fix', fix: facts }]);
  });

  test('doubts of the epoch itself', () => {
    const doubts = (...bodies: readonly string[]) =>
      epochOf(...bodies).flatMap((report) =>
        report.kind === 'fix' ? [...report.fix.doubts] : [report.kind],
      );
    expect(doubts(rmcAt('101500'), vtg('37.0'))).toEqual([]);
    expect(doubts(rmcAt('101500'), vtg('90.0'))).toEqual(['speed-mismatch']);
    expect(doubts(rmcAt('101500', 'A,4807.0380,N,01131.0000,E,20.0,84.4,290706,,,A'))).toEqual([
      'date-before-build',
    ]);
    expect(doubts(rmcAt('101500', 'A,0000.0000,N,00000.0000,E,0.0,,150326,,,A'))).toEqual(['null-island']);
  });
});

describe('when an epoch ends', () => {
  test('by a sentence with another time', () => {
    const bench = createBench();
    bench.hear(1000, rmcAt('101500.00'), ggaAt('101500.00'));
    expect(bench.reports).toEqual([]);
    bench.hear(1100, rmcAt('101500.10'));
    expect(bench.fixes().map((fix) => fix.altitudeM)).toEqual([545.4]);
  });

  test('by silence, which every byte puts off, but not for ever', () => {
    const bench = createBench();
    expect(bench.deadline()).toBeNull();
    bench.hear(1000, gsa(3), zdaAt('101500'));
    expect(bench.deadline()).toBeNull(); // nothing to report yet
    bench.hear(1050, rmcAt('101500'));
    expect(bench.deadline()).toBe(1050 + epochLimits.silenceMs);
    bench.noise(1120);
    expect(bench.flush(1160)).toBe(0);
    expect(bench.flush(1120 + epochLimits.silenceMs)).toBe(1);
    expect(bench.deadline()).toBeNull();
    expect(bench.fixes()[0]?.atMonoMs).toBe(1000);

    bench.hear(5000, rmcAt('101504'));
    for (let at = 5000; at < 10_000; at += 50) bench.noise(at);
    expect(bench.deadline()).toBe(5000 + epochLimits.holdMs);
  });

  test('the rest of an earlier burst does not date the next epoch back', () => {
    const bench = createBench();
    bench.hear(1000, gsa(1), vtg('90.0'));
    bench.hear(2000, rmcAt('101500'));
    bench.flush(9000);
    expect(bench.fixes()).toMatchObject([{ atMonoMs: 2000, doubts: [] }]);
  });

  test('late sentences make no second fix; the silence grows, within bounds', () => {
    const bench = createBench();
    for (let second = 10; second < 40; second += 1) {
      bench.hear(second * 1000, rmcAt(`1015${second}`));
      bench.flush(second * 1000 + 150);
      bench.hear(second * 1000 + 160, ggaAt(`1015${second}`), gsa(3), vtg('37.0'), zdaAt(`1015${second}`));
      bench.flush(second * 1000 + 999);
    }
    expect(bench.fixes()).toHaveLength(30);
    expect(bench.fixes().at(-1)?.altitudeM).toBe(545.4); // learned to wait
    expect(bench.silenceMs()).toBeGreaterThan(epochLimits.silenceMs);
    expect(bench.silenceMs()).toBeLessThanOrEqual(epochLimits.maxSilenceMs);
  });

  /** GGA and RMC of ten epochs, with what is sent between the two. */
  const tenEpochs = (everyMs: number, of: (ms: number) => readonly string[], stepsMs = 0) => {
    const bench = createBench();
    const at = 10 * 3_600_000 + 15 * 60_000;
    for (let n = 0; n < 10; n += 1)
      for (const [index, body] of of(at + n * everyMs).entries())
        bench.hear(1000 + n * everyMs + index * stepsMs, body);
    bench.flush(60_000);
    return bench;
  };
  const clock = (ms: number) => new Date(ms).toISOString().slice(11, 23).replaceAll(':', '').slice(0, 9);

  test.each([
    [
      'a ZDA with the time of sending between',
      1000,
      (ms: number) => [ggaAt(clock(ms)), zdaAt(clock(ms + 20)), rmcAt(clock(ms))],
    ],
    [
      'it 50 ms later, at 10 Hz',
      100,
      (ms: number) => [ggaAt(clock(ms)), zdaAt(clock(ms + 50)), rmcAt(clock(ms))],
    ],
    ['it in front', 1000, (ms: number) => [zdaAt(clock(ms - 30)), ggaAt(clock(ms)), rmcAt(clock(ms))]],
    ['RMC 10 ms beside GGA', 1000, (ms: number) => [ggaAt(clock(ms)), rmcAt(clock(ms + 10))]],
    ['RMC 10 ms in front of GGA', 1000, (ms: number) => [rmcAt(clock(ms - 10)), ggaAt(clock(ms))]],
    ['RMC 40 ms beside GGA at 10 Hz', 100, (ms: number) => [ggaAt(clock(ms)), rmcAt(clock(ms + 40))]],
    [
      'three talkers',
      1000,
      (ms: number) =>
        ['GP', 'GL', 'GN'].flatMap((talker) =>
          [ggaAt(clock(ms)), rmcAt(clock(ms))].map((body) => talker + body.slice(2)),
        ),
    ],
  ])('%s is one fix with place, speed and HDOP', (_name, everyMs, of) => {
    for (const stepsMs of [0, 20]) {
      const fixes = tenEpochs(everyMs, of, everyMs < 1000 ? 0 : stepsMs).fixes();
      expect(fixes).toHaveLength(10);
      for (const fix of fixes) expect(fix).toMatchObject({ speedKmh: 37.04, hdop: 0.9, rmcValid: true });
    }
  });

  test('RMC 300 ms beside GGA is of its epoch as soon as the interval is known', () => {
    const bench = tenEpochs(1000, (ms) => [ggaAt(clock(ms)), rmcAt(clock(ms + 300))], 20);
    expect(
      bench
        .fixes()
        .slice(2)
        .map(({ speedKmh, hdop }) => [speedKmh, hdop]),
    ).toEqual(Array.from({ length: 9 }, () => [37.04, 0.9]));
  });

  test('at 10 Hz each epoch that lost a sentence stays a separate epoch', () => {
    const bench = tenEpochs(100, (ms) => (ms % 200 === 0 ? [ggaAt(clock(ms))] : [rmcAt(clock(ms))]));
    expect(bench.fixes()).toHaveLength(10);
  });

  test('VTG in front of GGA belongs to the next epoch, also at 5 Hz', () => {
    const bench = createBench();
    for (let n = 0; n < 10; n += 1) {
      bench.hear(1000 + n * 200, vtg(`${30 + n}.0`), ggaAt(clock(36_900_000 + n * 200)));
      bench.flush(1000 + n * 200 + 150);
    }
    expect(
      bench
        .fixes()
        .slice(3)
        .map(({ speedKmh }) => speedKmh),
    ).toEqual([33, 34, 35, 36, 37, 38, 39]);
  });

  test('GGA alone with a lost fix, as Unicore sends it, is void once an epoch', () => {
    const bench = tenEpochs(1000, (ms) => [`GNGGA,${clock(ms)},,,,,0,00,9999.0,,M,,M,,`]);
    expect(bench.kinds()).toEqual(Array(10).fill('void'));
  });

  test('a ZDA opens nothing, and dates a fix also from behind', () => {
    const bench = createBench();
    bench.hear(1000, zdaAt('101500'));
    expect(bench.deadline()).toBeNull();
    bench.hear(2000, ggaAt('101501'));
    bench.flush(2150);
    bench.hear(2200, zdaAt('101501.05'));
    bench.hear(3000, ggaAt('101502'));
    bench.flush(3150);
    expect(bench.fixes().map(({ utcMs }) => utcMs)).toEqual([null, Date.UTC(2026, 2, 15, 10, 15, 2)]);
    expect(bench.silenceMs()).toBe(epochLimits.silenceMs);
  });

  test('midnight between the sentences of one epoch shifts no date', () => {
    const midnight = Date.UTC(2026, 2, 16);
    expect(epochOf(ggaAt('000000.00'), rmcAt('235959.99'))).toMatchObject([{ fix: { utcMs: midnight } }]);
    expect(epochOf(ggaAt('235959.99'), 'GNZDA,000000.02,16,03,2026,00,00')).toMatchObject([
      { fix: { utcMs: midnight - 10 } },
    ]);
  });

  test('a late void sentence withdraws the fix', () => {
    const bench = createBench();
    bench.hear(1000, ggaAt('101500'));
    bench.flush(1200);
    bench.hear(1300, rmcAt('101500', 'V,,,,,,,150326,,,N'));
    expect(bench.kinds()).toEqual(['fix', 'void']);
  });

  test('two receivers whose bursts are interleaved give one fix a time', () => {
    const bench = createBench();
    for (const [at, time] of [
      [1000, '101500'],
      [1005, '101501'],
      [1010, '101500'],
      [1015, '101501'],
      [2000, '101502'],
    ] as const) {
      bench.hear(at, rmcAt(time), ggaAt(time));
    }
    bench.flush(9000);
    expect(bench.fixes().map((fix) => new Date(fix.utcMs ?? 0).getUTCSeconds())).toEqual([0, 1, 2]);
  });

  test('void epochs without a time are reported one by one', () => {
    const bench = createBench();
    for (let n = 0; n < 5; n += 1) {
      bench.hear(
        n * 1000,
        'GPGGA,,,,,,0,,,,M,,M,,',
        'GPGSA,A,1,,,,,,,,,,,,,,,',
        'GPRMC,,V,,,,,,,,,,N',
        'GPVTG,,T,,M,,N,,K,N',
      );
    }
    bench.flush(9000);
    expect(bench.reports).toEqual(
      [0, 1, 2, 3, 4].map((n) => ({ kind: 'void', utcMs: null, atMonoMs: n * 1000, estimatedKmh: null })),
    );
  });

  test('an epoch by dead reckoning is void and states its speed', () => {
    const bench = createBench();
    bench.hear(
      0,
      'GPGGA,101500.00,4807.038,N,01131.000,E,6,00,9.9,545.4,M,46.9,M,,',
      'GPRMC,101500.00,A,4807.038,N,01131.000,E,032.4,084.4,230326,,,E',
    );
    bench.flush(9000);
    expect(bench.reports).toMatchObject([{ kind: 'void', estimatedKmh: expect.closeTo(60, 0) }]);
  });

  test('a receiver whose clock stands still is still reported', () => {
    const bench = createBench();
    for (let n = 0; n < 3; n += 1) bench.hear(n * 1000, rmcAt('101500'), ggaAt('101500'));
    bench.flush(9000);
    expect(bench.fixes().map((fix) => fix.atMonoMs)).toEqual([0, 1000, 2000]);
  });
});

describe('the date of an epoch that brings only a time', () => {
  test('is that of the last fix, and the next day after midnight', () => {
    const bench = createBench();
    bench.hear(0, rmcAt('235959'));
    bench.hear(1000, ggaAt('000000'));
    bench.hear(2000, ggaAt('000001'));
    bench.flush(9000);
    const times = bench.fixes().map((fix) => new Date(fix.utcMs ?? 0).toISOString());
    expect(times).toEqual([
      '2026-03-15T23:59:59.000Z',
      '2026-03-16T00:00:00.000Z',
      '2026-03-16T00:00:01.000Z',
    ]);
  });

  test('is unknown when that fix is long ago', () => {
    const bench = createBench();
    bench.hear(0, rmcAt('101500'));
    bench.hear(13 * 3_600_000, ggaAt('231500'));
    bench.flush(14 * 3_600_000);
    expect(bench.fixes().map((fix) => fix.utcMs)).toEqual([Date.UTC(2026, 2, 15, 10, 15), null]);
  });

  test('is never taken from a void epoch: the clock of a cold receiver is not set', () => {
    const bench = createBench();
    bench.hear(0, 'GPRMC,101459,V,,,,,,,260799,,,N');
    bench.hear(1000, ggaAt('101500'));
    bench.flush(9000);
    expect(bench.fixes().map((fix) => fix.utcMs)).toEqual([null]);
  });
});
