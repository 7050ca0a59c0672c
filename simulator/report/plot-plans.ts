// Which plots a report has and what is drawn in each: data only, from the columns of a series.

import type { ColumnName } from '../core/series/series-columns.ts';
import type { SeriesLatency } from '../core/series/series-names.ts';

export interface PlotLine {
  readonly column: ColumnName;
  readonly label: string;
  /** One of the colours of the page. */
  readonly tone: 'blue' | 'green' | 'orange' | 'violet' | 'grey' | 'red';
  readonly form: 'line' | 'area' | 'dots' | 'dashes';
  /** How several moments become one row of the table. */
  readonly row: 'mean' | 'max' | 'min';
}

export interface PlotBand {
  readonly low: ColumnName;
  readonly high: ColumnName;
  readonly strength: 'strong' | 'weak';
}

export interface PlotPlan {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** What is measured, in a sentence. */
  readonly words: string;
  readonly scale: 'linear' | 'log';
  readonly lines: readonly PlotLine[];
  readonly bands: readonly PlotBand[];
  /** A value that should not be passed. */
  readonly limit: { readonly value: number; readonly label: string } | null;
  /** What it means when there is nothing to draw. */
  readonly absent?: string;
  /** Whose figures these are. */
  readonly of: 'run' | 'broker';
}

const base = { scale: 'linear', bands: [], limit: null, of: 'run' } as const;

const latencyPlot = (name: SeriesLatency, title: string, words: string): PlotPlan => ({
  ...base,
  id: name,
  title,
  unit: 'ms, logarithmic',
  words,
  scale: 'log',
  bands: [
    { low: `${name}.p50`, high: `${name}.p95`, strength: 'strong' },
    { low: `${name}.p95`, high: `${name}.p99`, strength: 'weak' },
  ],
  lines: [
    { column: `${name}.p50`, label: 'p50', tone: 'blue', form: 'line', row: 'max' },
    { column: `${name}.p95`, label: 'p95', tone: 'violet', form: 'line', row: 'max' },
    { column: `${name}.p99`, label: 'p99', tone: 'orange', form: 'line', row: 'max' },
    { column: `${name}.max`, label: 'max', tone: 'grey', form: 'dots', row: 'max' },
  ],
});

const load: readonly PlotPlan[] = [
  {
    ...base,
    id: 'rate',
    title: 'Events a second',
    unit: 'events/s',
    words:
      'Made at their intended times, sent (repeats too), acknowledged by the broker, and seen in the live stream, which leaves out plain positions.',
    lines: [
      { column: 'storedRate', label: 'made', tone: 'grey', form: 'area', row: 'mean' },
      { column: 'sentRate', label: 'sent', tone: 'orange', form: 'dashes', row: 'mean' },
      { column: 'acknowledgedRate', label: 'acknowledged', tone: 'blue', form: 'line', row: 'mean' },
      { column: 'visibleRate', label: 'seen live', tone: 'green', form: 'line', row: 'mean' },
    ],
  },
  latencyPlot(
    'ingest',
    'Until durable',
    'From the intended storing of the event on the vehicle until its acknowledgement, which means on the broker’s disk. Events that a link fault of the scenario delayed are not counted.',
  ),
  {
    ...latencyPlot(
      'visible',
      'Until visible',
      'From the same moment until the live stream of the HTTP service shows the event; events that a fault delayed are counted.',
    ),
    absent: 'The live stream is read without plain positions, and has shown no other event.',
  },
  {
    ...base,
    id: 'relay',
    title: 'From the request to the relay',
    unit: 'ms, logarithmic',
    words:
      'A restore moves its relay at once. A cut waits until it is safe, and that is not the system’s delay.',
    scale: 'log',
    lines: [
      { column: 'restore.max', label: 'restore', tone: 'green', form: 'dots', row: 'max' },
      { column: 'cut.max', label: 'cut', tone: 'violet', form: 'dots', row: 'max' },
    ],
  },
  {
    ...base,
    id: 'connections',
    title: 'Connections',
    unit: 'vehicles',
    words: 'Connected vehicles, and all that have been started.',
    lines: [
      { column: 'online', label: 'connected', tone: 'blue', form: 'area', row: 'min' },
      { column: 'road', label: 'on the road', tone: 'grey', form: 'dashes', row: 'max' },
    ],
  },
  {
    ...base,
    id: 'backlog',
    title: 'Backlog',
    unit: 'events',
    words: 'Events on vehicles without an acknowledgement.',
    lines: [{ column: 'waiting', label: 'waiting', tone: 'orange', form: 'area', row: 'max' }],
  },
];

const machines: readonly PlotPlan[] = [
  {
    ...base,
    id: 'cpu',
    title: 'CPU',
    unit: '% of one core',
    words: 'Broker and generator share this machine unless the broker was started elsewhere.',
    lines: [
      { column: 'brokerCpu', label: 'broker', tone: 'blue', form: 'area', row: 'mean' },
      { column: 'generatorCpu', label: 'generator', tone: 'grey', form: 'line', row: 'mean' },
    ],
  },
  {
    ...base,
    id: 'memory',
    title: 'Resident memory',
    unit: 'MiB',
    words: 'Of the broker and of all processes of the generator with their vehicles.',
    lines: [
      { column: 'brokerMb', label: 'broker', tone: 'blue', form: 'area', row: 'max' },
      { column: 'generatorMb', label: 'generator', tone: 'grey', form: 'line', row: 'max' },
    ],
  },
  {
    ...base,
    id: 'delays',
    title: 'Delays inside the broker',
    unit: 'ms, logarithmic',
    words: 'Its event loop (p99 as Node measures it, about 10 ms at rest) and the mean time of a commit.',
    scale: 'log',
    of: 'broker',
    lines: [
      { column: 'brokerLagMs', label: 'loop delay', tone: 'orange', form: 'line', row: 'max' },
      { column: 'commitMs', label: 'commit', tone: 'blue', form: 'line', row: 'mean' },
    ],
  },
  {
    ...base,
    id: 'commits',
    title: 'Commits',
    unit: 'statements, writes',
    words: 'Statements in a commit on average, and writes that wait for one.',
    of: 'broker',
    lines: [
      { column: 'commitSize', label: 'statements a commit', tone: 'blue', form: 'line', row: 'mean' },
      { column: 'brokerQueue', label: 'writes that wait', tone: 'orange', form: 'line', row: 'max' },
    ],
  },
  {
    ...base,
    id: 'lag',
    title: 'The generator’s own lag',
    unit: 'ms, logarithmic',
    words:
      'Greatest event loop delay of its processes. Above the line, latencies include the generator’s own delay.',
    scale: 'log',
    limit: { value: 250, label: '250 ms' },
    lines: [{ column: 'lagMs', label: 'lag', tone: 'red', form: 'line', row: 'max' }],
  },
];

export const plotPlans: readonly PlotPlan[] = [...load, ...machines];
