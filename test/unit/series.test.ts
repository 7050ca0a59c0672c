// What a run was like over time: of fixed size for any length, added without loss from the parts of a run, and never zero where nobody
// looked; and the columns, scales and paths that people see of it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeLabels } from '../../simulator/core/fault-spans.ts';
import {
  countOf,
  createLatencyCell,
  mergeLatencies,
  percentileOf,
} from '../../simulator/core/latency-buckets.ts';
import { grownBy, parseBrokerSample } from '../../simulator/core/metrics-text.ts';
import {
  areaPath,
  bandPath,
  condense,
  dotsPath,
  linePath,
  plane,
  summarise,
} from '../../simulator/core/plot-path.ts';
import { formatMoment, linearScale, logScale, timeScale } from '../../simulator/core/plot-scale.ts';
import { simplify } from '../../simulator/core/route-map.ts';
import { bucketsMost, createSeries, mergeSeries, type SeriesData } from '../../simulator/core/series.ts';
import { columnsOf } from '../../simulator/core/series-columns.ts';
import { counterNames, gaugeNames, seriesLatencies } from '../../simulator/core/series-names.ts';

const weekMs = 604_800_000;

type Note =
  | { readonly kind: 'count'; readonly name: (typeof counterNames)[number]; readonly amount: number }
  | { readonly kind: 'gauge'; readonly name: (typeof gaugeNames)[number]; readonly amount: number }
  | { readonly kind: 'latency'; readonly name: (typeof seriesLatencies)[number]; readonly amount: number };

const amount = fc.integer({ min: 0, max: 100_000 });
const note = fc.record({
  atMs: fc.integer({ min: 0, max: 2 * weekMs }),
  what: fc.oneof<fc.Arbitrary<Note>[]>(
    fc.record({ kind: fc.constant('count' as const), name: fc.constantFrom(...counterNames), amount }),
    fc.record({ kind: fc.constant('gauge' as const), name: fc.constantFrom(...gaugeNames), amount }),
    fc.record({ kind: fc.constant('latency' as const), name: fc.constantFrom(...seriesLatencies), amount }),
  ),
});
const notes = fc.array(note, { maxLength: 60 });

function seriesOf(list: readonly { atMs: number; what: Note }[]): SeriesData {
  const book = createSeries();
  for (const { atMs, what } of list) {
    if (what.kind === 'count') book.count(what.name, atMs, what.amount);
    else if (what.kind === 'gauge') book.gauge(what.name, atMs, what.amount);
    else book.latency(what.name, atMs, what.amount);
  }
  return book.data();
}

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

/** Columns may end early: trailing nulls mean nothing. */
const plain = (series: SeriesData): unknown =>
  JSON.parse(JSON.stringify(series), (_key, value: unknown) => {
    if (!Array.isArray(value)) return value;
    const last = value.findLastIndex((one) => one !== null);
    return value.slice(0, last + 1);
  });

describe('a series', () => {
  it('keeps every count and every latency in a fixed number of buckets, for any length', () => {
    fc.assert(
      fc.property(notes, (list) => {
        const data = seriesOf(list);
        const columns = [data.counters, data.gauges, data.latencies].flatMap((part) => Object.values(part));
        expect(Math.max(...columns.map((column) => column.length))).toBeLessThanOrEqual(bucketsMost);
        for (const name of counterNames) {
          const noted = list.filter(({ what }) => what.kind === 'count' && what.name === name);
          expect(sum(data.counters[name])).toBe(noted.reduce((total, { what }) => total + what.amount, 0));
        }
        for (const name of seriesLatencies) {
          const noted = list.filter(({ what }) => what.kind === 'latency' && what.name === name);
          const cells = data.latencies[name].filter((cell) => cell !== null);
          expect(cells.reduce((total, cell) => total + countOf(cell), 0)).toBe(noted.length);
          const most = noted.reduce((max, { what }) => Math.max(max, what.amount), 0);
          expect(cells.reduce((max, { maxMs }) => Math.max(max, maxMs), 0)).toBe(most);
        }
      }),
    );
  });

  it('is the same whole whatever parts it is merged from, in any order', () => {
    fc.assert(
      fc.property(notes, notes, notes, (a, b, c) => {
        const [one, two, three] = [seriesOf(a), seriesOf(b), seriesOf(c)];
        expect(plain(mergeSeries(one, two))).toEqual(plain(mergeSeries(two, one)));
        expect(plain(mergeSeries(mergeSeries(one, two), three))).toEqual(
          plain(mergeSeries(one, mergeSeries(two, three))),
        );
        for (const name of counterNames) {
          const merged = mergeSeries(one, two);
          expect(sum(merged.counters[name])).toBe(sum(one.counters[name]) + sum(two.counters[name]));
        }
      }),
    );
  });

  it('survives the way between processes, and has null where nobody looked', () => {
    const book = createSeries();
    book.count('stored', 4500, 7);
    book.gauge('online', 500, 3);
    const data = JSON.parse(JSON.stringify(book.data())) as SeriesData;
    expect(data).toEqual(book.data());
    const { columns, stepMs } = columnsOf(data);
    expect(stepMs).toBe(1000);
    expect(columns.storedRate).toEqual([null, null, null, null, 7]);
    expect(columns.online).toEqual([3, null, null, null, null]);
    expect(columns).not.toHaveProperty('brokerCpu');
  });

  it('sums vehicles over processes and keeps the worst over time', () => {
    const [a, b] = [createSeries(), createSeries()];
    for (const [book, online] of [
      [a, 10],
      [b, 4],
    ] as const) {
      book.gauge('online', 0, online);
      book.gauge('online', 900, online - 1);
      book.gauge('lagMs', 0, online);
    }
    const { columns } = columnsOf(mergeSeries(a.data(), b.data()));
    expect(columns).toMatchObject({ online: [12], lagMs: [10] });
  });

  it('tells CPU, commits and rates by what was seen', () => {
    const book = createSeries();
    book.count('brokerSeenMs', 500, 500);
    book.count('brokerCpuMs', 500, 250);
    book.count('brokerCommits', 500, 4);
    book.count('brokerStatements', 500, 20);
    book.count('brokerCommitMs', 500, 8);
    book.count('generatorCpuMs', 500, 300);
    book.latency('ingest', 500, 42);
    const { columns } = columnsOf(book.data());
    expect(columns).toMatchObject({ brokerCpu: [50], commitSize: [5], commitMs: [2], generatorCpu: [30] });
    expect(columns['ingest.max']).toEqual([42]);
    expect(columns['ingest.count']).toEqual([1]);
  });
});

describe('latencies in buckets', () => {
  it('tell percentiles within 4 % and never above the greatest', () => {
    const values = fc.array(fc.double({ min: 0.1, max: 1e8, noNaN: true }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, fraction) => {
        const cell = createLatencyCell();
        for (const value of list) cell.record(value);
        const sorted = [...list].sort((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(fraction * list.length)) - 1] ?? 0;
        const told = percentileOf(cell.plain(), fraction);
        expect(told).toBeLessThanOrEqual(Math.max(...list));
        expect(told / exact).toBeGreaterThan(0.96);
        expect(told / exact).toBeLessThan(1.041);
      }),
    );
  });

  it('go on from where they were', () => {
    const cell = createLatencyCell(createLatencyCell().plain());
    cell.record(5);
    const more = createLatencyCell(cell.plain());
    more.record(7);
    expect(countOf(more.plain())).toBe(2);
    expect(more.plain()).toEqual(
      mergeLatencies(cell.plain(), { ...more.plain(), counts: more.plain().counts.slice(2) }),
    );
  });
});

describe('figures of the broker', () => {
  const text = [
    '# HELP process_cpu_seconds_total CPU',
    '# TYPE process_cpu_seconds_total counter',
    'process_cpu_seconds_total 12.5',
    'process_resident_memory_bytes 104857600',
    'process_start_time_seconds 1795312345',
    'nodejs_eventloop_lag_p99_seconds 0.0125',
    'fleetward_commit_duration_seconds_bucket{le="0.001"} 5',
    'fleetward_commit_duration_seconds_sum 0.5',
    'fleetward_commit_duration_seconds_count 100',
    'fleetward_commit_statements_sum 350',
    'fleetward_commit_queue_writes 3',
    'fleetward_http_requests_total{operation="getEvents",status="200"} 7',
  ].join('\n');

  it('are read from the text for Prometheus', () => {
    expect(parseBrokerSample(text)).toEqual({
      cpuMs: 12_500,
      memoryMb: 100,
      lagMs: 12.5,
      commits: 100,
      statements: 350,
      commitMs: 500,
      queue: 3,
      startedS: 1_795_312_345,
    });
  });

  it.each(['', 'hello', '<html></html>', 'process_cpu_seconds_total NaN', '{"a":1}'])(
    'are not seen in %j',
    (other) => expect(parseBrokerSample(other)).toBeNull(),
  );

  it('stay unknown where the text does not hold them, and where the process is another', () => {
    const before = parseBrokerSample(text);
    const now = parseBrokerSample(text.replace('12.5', '13').replace(/^fleetward_commit.*$/gm, ''));
    const other = parseBrokerSample(text.replace('1795312345', '1795319999'));
    if (before === null || now === null || other === null) throw new Error('not read');
    expect(now.commits).toBeNull();
    expect(grownBy(before, now, 'cpuMs')).toBe(500);
    expect(grownBy(before, now, 'commits')).toBeNull();
    expect(grownBy(before, other, 'cpuMs')).toBeNull();
    expect(grownBy(null, now, 'cpuMs')).toBeNull();
    expect(grownBy(now, before, 'cpuMs')).toBeNull();
  });
});

describe('a scale', () => {
  it('never cuts off what was measured, and goes from bottom to top', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.5, max: 1e9, noNaN: true }), (most) => {
        for (const scale of [linearScale(most), logScale(most / 100, most)]) {
          expect(scale.ticks[0]?.part).toBe(0);
          expect(scale.ticks.at(-1)?.part).toBe(1);
          expect(scale.ticks.length).toBeLessThan(14);
          expect(scale.place(most)).toBeLessThanOrEqual(1);
          expect(scale.place(most)).toBeGreaterThan(0.2);
          expect(scale.place(most / 2)).toBeLessThan(scale.place(most));
        }
      }),
    );
  });

  it.each([
    [5000, ['0:00', '0:01', '0:02', '0:03', '0:04', '0:05']],
    [3_600_000, ['0:00', '10:00', '20:00', '30:00', '40:00', '50:00', '1:00:00']],
    [
      weekMs,
      ['0:00', '1 d 00:00', '2 d 00:00', '3 d 00:00', '4 d 00:00', '5 d 00:00', '6 d 00:00', '7 d 00:00'],
    ],
  ])('of %i ms has round times', (endMs, labels) => {
    expect(timeScale(endMs).ticks.map(({ label }) => label)).toEqual(labels);
  });

  it('says a moment as people do', () => {
    expect([0, 65_000, 3_723_000, 100_000_000].map(formatMoment)).toEqual([
      '0:00',
      '1:05',
      '1:02:03',
      '1 d 03:46',
    ]);
  });
});

describe('paths', () => {
  const frame = { scale: linearScale(100), stepMs: 1000, endMs: 4000 };

  it('leave a gap where nobody looked, and stay within the plane', () => {
    expect(linePath([0, null, 100, 100], frame)).toBe('M0 400l500 0 500 0M2000 0l500 0 1000 0 500 0');
    expect(areaPath([100], frame)).toBe('M0 400L0 0l500 0 500 0V400Z');
    expect(dotsPath([null, 50], frame)).toBe('M1500 200h0');
    expect(bandPath([0], [100], frame)).toBe('M0 0l500 0 500 0L1000 400l-500 0-500 0Z');
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 500 })), { maxLength: 50 }), (values) => {
        for (const number of linePath(values, { ...frame, endMs: 50_000 }).match(/M\d+ \d+/g) ?? []) {
          const [x = -1, y = -1] = number.slice(1).split(' ').map(Number);
          expect(x >= 0 && x <= plane.width && y >= 0 && y <= plane.height).toBe(true);
        }
      }),
    );
  });

  it('have figures in words and in few rows', () => {
    expect(summarise([null, 1, 5, 3])).toEqual({ least: 1, mean: 3, most: 5 });
    expect(summarise([null])).toBeNull();
    expect(condense([1, 2, null, null, 5, 6], 3, 'mean')).toEqual([1.5, null, 5.5]);
    expect(condense([1, 2, 3], 2, 'max')).toEqual([2, 3]);
  });
});

describe('labels of faults', () => {
  it('never lie over each other', () => {
    const span = (fromMs: number) => ({ kind: 'link-outage' as const, share: 1, fromMs, toMs: fromMs + 10 });
    const placed = placeLabels([span(0), span(50), span(60), span(120)], { lanes: 2, widthMs: () => 100 });
    expect(placed.map(({ lane }) => lane)).toEqual([0, 1, null, 0]);
  });
});

describe('a way', () => {
  it('keeps its ends and every corner that is further off than allowed', () => {
    const place = fc.record({
      latitude: fc.double({ min: -0.1, max: 0.1, noNaN: true }),
      longitude: fc.double({ min: -0.1, max: 0.1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 60 }), (places) => {
        const line = simplify(places, 0.01);
        expect(line[0]).toBe(places[0]);
        expect(line.at(-1)).toBe(places.at(-1));
        expect(simplify(places, 0)).toHaveLength(new Set(simplify(places, 0)).size);
      }),
    );
    const corner = [0, 1, 2, 3].map((at) => ({ latitude: at === 2 ? 0.5 : 0, longitude: at }));
    expect(simplify(corner, 0.4)).toHaveLength(3);
  });
});
