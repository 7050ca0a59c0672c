// What a run was like over time: of fixed size for any length, added without loss from the parts of a run, and never zero where nobody
// looked; and the columns and figures that people see of it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simplify } from '../../simulator/core/ledger/driven-routes.ts';
import {
  addErrors,
  grownBy,
  noBrokerErrors,
  parseBrokerSample,
} from '../../simulator/core/series/broker-metrics-text.ts';
import {
  countOf,
  createLatencyCell,
  mergeLatencies,
  percentileOf,
} from '../../simulator/core/series/latency-buckets.ts';
import {
  bucketsMost,
  createSeries,
  mergeSeries,
  type SeriesData,
} from '../../simulator/core/series/series.ts';
import { columnsOf } from '../../simulator/core/series/series-columns.ts';
import { counterNames, gaugeNames, seriesLatencies } from '../../simulator/core/series/series-names.ts';
import { formatMoment } from '../../simulator/core/text/number-text.ts';
import { condense, summarise } from '../../simulator/report/plots.ts';

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

  it('survives the way between processes, and has null where nothing was measured', () => {
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

  it('reports CPU, commits and rates by what was seen', () => {
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
  it('give percentiles within 4 % and never above the greatest', () => {
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
    'fleetward_http_requests_total{operation="getEvents",status="2xx"} 7',
    'fleetward_http_requests_total{operation="getEvents",status="5xx"} 2',
    'fleetward_http_requests_total{operation="login",status="5xx"} 1',
    'fleetward_mqtt_connections_refused_total{reason="rate"} 4',
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
      errors: { ...noBrokerErrors, requestsFailed: 3, connectionsRefused: 4 },
    });
  });

  it.each(['', 'hello', '<html></html>', 'process_cpu_seconds_total NaN', '{"a":1}'])(
    'are not seen in %j',
    (other) => expect(parseBrokerSample(other)).toBeNull(),
  );

  it('count errors from the first read to the last, over a restart too', () => {
    const read = (other: string) => {
      const sample = parseBrokerSample(other);
      if (sample === null) throw new Error('not read');
      return sample;
    };
    const first = read(text);
    const second = read(text.replace('reason="rate"} 4', 'reason="rate"} 9'));
    const restarted = read(text.replace('1795312345', '1795319999'));
    const once = addErrors(noBrokerErrors, first, second);
    expect(once).toEqual({ ...noBrokerErrors, connectionsRefused: 5 });
    expect(addErrors(once, second, restarted)).toMatchObject({ connectionsRefused: 9, requestsFailed: 3 });
  });

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

describe('a moment', () => {
  it('is written as people do', () => {
    expect([0, 65_000, 3_723_000, 100_000_000].map(formatMoment)).toEqual([
      '0:00',
      '1:05',
      '1:02:03',
      '1 d 03:46',
    ]);
  });
});

describe('the values of a plot', () => {
  it('have figures in words and in few rows', () => {
    expect(summarise([null, 1, 5, 3])).toEqual({ first: 1, last: 3, least: 1, mean: 3, most: 5 });
    expect(summarise([null])).toBeNull();
    expect(condense([1, 2, null, null, 5, 6], 3, 'mean')).toEqual([1.5, null, 5.5]);
    expect(condense([1, 2, 3], 2, 'max')).toEqual([2, 3]);
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
