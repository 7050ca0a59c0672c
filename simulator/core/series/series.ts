// The time series of a run: counters, gauges and latencies in a fixed number of buckets of one second. When they are full the
// resolution is halved, so a week fits. Plain data: the series of several workers can be merged. Pure: time comes in, ms of the
// run. A bucket without a measurement is null and not zero.
import {
  createLatencyCell,
  type LatencyCell,
  type LatencyCounts,
  mergeLatencies,
} from './latency-buckets.ts';
import {
  type CounterName,
  counterNames,
  type GaugeName,
  gaugeNames,
  gaugeRules,
  type SeriesLatency,
  seriesLatencies,
} from './series-names.ts';

type Column<T> = readonly (T | null)[];

/** Plain data. Bucket n spans from n * stepMs; columns may end early: there was nothing more. */
export interface SeriesData {
  readonly stepMs: number;
  /** The last moment with a measurement. */
  readonly endMs: number;
  readonly counters: Readonly<Record<CounterName, Column<number>>>;
  readonly gauges: Readonly<Record<GaugeName, Column<number>>>;
  readonly latencies: Readonly<Record<SeriesLatency, Column<LatencyCounts>>>;
}

/** A series that grows. Moments are ms of the run, 0 or later. */
export interface SeriesBook {
  count(name: CounterName, atMs: number, amount: number): void;
  gauge(name: GaugeName, atMs: number, value: number): void;
  latency(name: SeriesLatency, atMs: number, ms: number): void;
  data(): SeriesData;
}

/** As many as a plot can show. */
export const bucketsMost = 720;
const finestMs = 1000;

type Join<T> = (a: T, b: T) => T;
const add: Join<number> = (a, b) => a + b;
const foldOf = (name: GaugeName): Join<number> => (gaugeRules[name].fold === 'min' ? Math.min : Math.max);
const acrossOf = (name: GaugeName): Join<number> => (gaugeRules[name].across === 'sum' ? add : Math.max);

function joined<T>(a: T | null | undefined, b: T | null | undefined, join: Join<T>): T | null {
  if (a === null || a === undefined) return b ?? null;
  return b === null || b === undefined ? a : join(a, b);
}

/** Half as many, each of two. */
function halve<T>(column: Column<T>, join: Join<T>): (T | null)[] {
  return Array.from({ length: Math.ceil(column.length / 2) }, (_, at) =>
    joined(column[at * 2], column[at * 2 + 1], join),
  );
}

/** Side by side. */
function zip<T>(a: Column<T>, b: Column<T>, join: Join<T>): Column<T> {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, at) => joined(a[at], b[at], join));
}

const byName = <K extends string, V>(names: readonly K[], of: (name: K) => V): Record<K, V> =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as Record<K, V>;

/** The same at half the resolution. */
function halved({ stepMs, endMs, counters, gauges, latencies }: SeriesData): SeriesData {
  return {
    stepMs: stepMs * 2,
    endMs,
    counters: byName(counterNames, (name) => halve(counters[name], add)),
    gauges: byName(gaugeNames, (name) => halve(gauges[name], foldOf(name))),
    latencies: byName(seriesLatencies, (name) => halve(latencies[name], mergeLatencies)),
  };
}

/** Merges two series of one run, at the coarser resolution. */
export function mergeSeries(a: SeriesData, b: SeriesData): SeriesData {
  if (a.stepMs < b.stepMs) return mergeSeries(halved(a), b);
  if (b.stepMs < a.stepMs) return mergeSeries(a, halved(b));
  return {
    stepMs: a.stepMs,
    endMs: Math.max(a.endMs, b.endMs),
    counters: byName(counterNames, (name) => zip(a.counters[name], b.counters[name], add)),
    gauges: byName(gaugeNames, (name) => zip(a.gauges[name], b.gauges[name], acrossOf(name))),
    latencies: byName(seriesLatencies, (name) => zip(a.latencies[name], b.latencies[name], mergeLatencies)),
  };
}

/** An empty series. */
export function createSeries(): SeriesBook {
  const counters = byName(counterNames, (): (number | null)[] => []);
  const gauges = byName(gaugeNames, (): (number | null)[] => []);
  const latencies = byName(seriesLatencies, (): (LatencyCell | null)[] => []);
  let stepMs = finestMs;
  let endMs = 0;
  const joinCells: Join<LatencyCell> = (a, b) => createLatencyCell(mergeLatencies(a.plain(), b.plain()));
  const coarsen = (): void => {
    stepMs *= 2;
    for (const name of counterNames) counters[name] = halve(counters[name], add);
    for (const name of gaugeNames) gauges[name] = halve(gauges[name], foldOf(name));
    for (const name of seriesLatencies) latencies[name] = halve(latencies[name], joinCells);
  };
  const place = (atMs: number): number => {
    const moment = Math.max(0, atMs);
    endMs = Math.max(endMs, moment);
    if (moment < stepMs * bucketsMost) return Math.floor(moment / stepMs);
    coarsen();
    return place(moment);
  };
  const put = <T>(column: (T | null)[], at: number, value: T): void => {
    while (column.length < at) column.push(null);
    column[at] = value;
  };
  return {
    count(name, atMs, amount) {
      const at = place(atMs);
      put(counters[name], at, (counters[name][at] ?? 0) + amount);
    },
    gauge(name, atMs, value) {
      const at = place(atMs);
      put(gauges[name], at, joined(gauges[name][at], value, foldOf(name)) ?? value);
    },
    latency(name, atMs, ms) {
      const at = place(atMs);
      const cell = latencies[name][at] ?? createLatencyCell();
      cell.record(ms);
      put(latencies[name], at, cell);
    },
    data: () => ({
      stepMs,
      endMs,
      counters: byName(counterNames, (name) => [...counters[name]]),
      gauges: byName(gaugeNames, (name) => [...gauges[name]]),
      latencies: byName(seriesLatencies, (name) => latencies[name].map((cell) => cell?.plain() ?? null)),
    }),
  };
}
