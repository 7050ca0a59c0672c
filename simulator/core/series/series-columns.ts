// A series as columns of the result: rates, percentiles and states, rounded, one value a bucket, null where nothing was measured. Pure.
import { countOf, type LatencyCounts, percentileOf } from './latency-buckets.ts';
import type { SeriesData } from './series.ts';
import { type CounterName, gaugeNames, type SeriesLatency, seriesLatencies } from './series-names.ts';

export const latencyBands = ['p50', 'p95', 'p99', 'max'] as const;
type LatencyColumn = `${SeriesLatency}.${(typeof latencyBands)[number] | 'count'}`;

const plainColumns = [
  'storedRate',
  'sentRate',
  'acknowledgedRate',
  'visibleRate',
  'factRate',
  'commandRate',
  'connectRate',
  'online',
  'road',
  'waiting',
  'breaches',
  'lagMs',
  'generatorCpu',
  'generatorMb',
  'brokerCpu',
  'brokerMb',
  'brokerLagMs',
  'brokerQueue',
  'commitSize',
  'commitMs',
] as const;
export type ColumnName = (typeof plainColumns)[number] | LatencyColumn;

export const columnNames: readonly ColumnName[] = [
  ...plainColumns,
  ...seriesLatencies.flatMap((name) =>
    ([...latencyBands, 'count'] as const).map((part): LatencyColumn => `${name}.${part}`),
  ),
];

export interface SeriesColumns {
  /** Width of a bucket and the end of the last one, ms of the run. */
  readonly stepMs: number;
  readonly endMs: number;
  /** Columns without measurements are absent; rates are a second, CPU is in percent of one core, sizes are MiB. */
  readonly columns: Readonly<Partial<Record<ColumnName, readonly (number | null)[]>>>;
}

/** Three digits are as much as a plot or a person reads. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
}

type Values = (number | null)[];

/** A tick is one second: the last bucket may be begun and not full. */
const tickMs = 1000;

interface Grid {
  readonly data: SeriesData;
  readonly length: number;
  widthMs(at: number): number;
}

function gridOf(data: SeriesData): Grid {
  const columns = [data.counters, data.gauges, data.latencies].flatMap((part) => Object.values(part));
  const length = Math.max(0, ...columns.map((column) => column.length));
  const widthMs = (at: number): number =>
    at < length - 1
      ? data.stepMs
      : Math.min(data.stepMs, Math.max(tickMs, data.endMs - (length - 1) * data.stepMs));
  return { data, length, widthMs };
}

const fill = ({ length }: Grid, of: (at: number) => number | null): Values =>
  Array.from({ length }, (_, at) => {
    const value = of(at);
    return value === null ? null : rounded(value);
  });

const countAt = ({ data }: Grid, name: CounterName, at: number): number | null =>
  data.counters[name][at] ?? null;

const rate = (grid: Grid, name: CounterName): Values =>
  fill(grid, (at) => {
    const count = countAt(grid, name, at);
    return count === null ? null : (count * 1000) / grid.widthMs(at);
  });

/** `name` for each `by`; null where there was none of it. */
const quotient = (grid: Grid, name: CounterName, by: CounterName): Values =>
  fill(grid, (at) => {
    const value = countAt(grid, name, at);
    const divisor = countAt(grid, by, at) ?? 0;
    return value === null || divisor === 0 ? null : value / divisor;
  });

const percent = (values: Values, factor: number): Values =>
  values.map((value) => (value === null ? null : rounded(value * factor)));

function band(cell: LatencyCounts | null | undefined, part: string): number | null {
  if (cell === null || cell === undefined) return null;
  switch (part) {
    case 'count':
      return countOf(cell);
    case 'max':
      return cell.maxMs;
    default:
      return percentileOf(cell, Number(part.slice(1)) / 100);
  }
}

const rates: Readonly<Record<string, CounterName>> = {
  storedRate: 'stored',
  sentRate: 'sent',
  acknowledgedRate: 'acknowledged',
  visibleRate: 'visible',
  factRate: 'facts',
  commandRate: 'commands',
  connectRate: 'connects',
};

function valuesOf(grid: Grid, name: ColumnName): Values {
  if (name === 'generatorCpu') return percent(rate(grid, 'generatorCpuMs'), 0.1);
  if (name === 'brokerCpu') return percent(quotient(grid, 'brokerCpuMs', 'brokerSeenMs'), 100);
  if (name === 'commitSize') return quotient(grid, 'brokerStatements', 'brokerCommits');
  if (name === 'commitMs') return quotient(grid, 'brokerCommitMs', 'brokerCommits');
  const counter = rates[name];
  if (counter !== undefined) return rate(grid, counter);
  const gaugeName = gaugeNames.find((one) => one === name);
  if (gaugeName !== undefined) return fill(grid, (at) => grid.data.gauges[gaugeName][at] ?? null);
  const [latency = '', part = ''] = name.split('.');
  return fill(grid, (at) => band(grid.data.latencies[latency as SeriesLatency][at], part));
}

/** The columns of all measurements. */
export function columnsOf(data: SeriesData): SeriesColumns {
  const grid = gridOf(data);
  const entries = columnNames
    .map((name) => [name, valuesOf(grid, name)] as const)
    .filter(([, values]) => values.some((value) => value !== null));
  return { stepMs: data.stepMs, endMs: data.endMs, columns: Object.fromEntries(entries) };
}
