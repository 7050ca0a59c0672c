// Records the time series of a run, each second: ledger counts, fleet state, the generator's loop delay, CPU and memory, and
// fault spans. Of fixed size.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Cancel, Clock } from '../../../src/ports.ts';
import type { LedgerCounts } from '../../core/ledger/ledger-types.ts';
import type { Fault, FaultSpan } from '../../core/scenario/scenario-schema.ts';
import type { LatencyName } from '../../core/scenario/thresholds.ts';
import { createSeries, type SeriesBook, type SeriesData } from '../../core/series/series.ts';
import { type RunTime } from '../shared/run-ports.ts';
import type { Latencies } from './latency.ts';

/** The run at one moment. */
interface RunSnapshot {
  readonly online: number;
  readonly road: number;
  /** Events without an acknowledgement. */
  readonly waiting: number;
  readonly breaches: number;
  readonly counts: LedgerCounts;
  /** CPU time until now, ms, and memory, MiB, of all processes of the generator. */
  readonly machine: { readonly cpuMs: number; readonly rssMb: number };
}

export interface Recorder {
  /** Wraps latencies: the series records them with their time. */
  wrap(latencies: Latencies): Latencies;
  /** Begins to record every second. */
  start(snapshot: () => RunSnapshot): void;
  /** A fault begins or ends. */
  fault(fault: Pick<Fault, 'kind' | 'share'>, isActive: boolean): void;
  /** For further columns at the same moments. */
  readonly book: SeriesBook;
  data(): SeriesData;
  faults(): readonly FaultSpan[];
  /** Records the last second and stops. */
  close(): void;
}

export interface RecorderOptions {
  readonly clock: Clock;
  readonly time: RunTime;
}

const everyMs = 1000;
const resolutionMs = 10;
const nsPerMs = 1e6;
const spansMost = 2000;

type Counted = readonly (readonly [keyof LedgerCounts, Parameters<SeriesBook['count']>[0]])[];
const counted: Counted = [
  ['facts', 'facts'],
  ['events', 'stored'],
  ['sent', 'sent'],
  ['acknowledged', 'acknowledged'],
  ['commands', 'commands'],
  ['connects', 'connects'],
];

/** CPU and memory of the generator, and the event loop delay of this process. */
function createSelfMetrics() {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let beforeMs: number | null = null;
  return {
    record(book: SeriesBook, atMs: number, { cpuMs, rssMb }: RunSnapshot['machine']): void {
      // CPU time before the first snapshot belongs to no second of the series.
      if (beforeMs !== null) book.count('generatorCpuMs', atMs, Math.max(0, cpuMs - beforeMs));
      beforeMs = cpuMs;
      book.gauge('generatorMb', atMs, rssMb);
      if (delay.count > 0) book.gauge('lagMs', atMs, Math.max(0, delay.max / nsPerMs - resolutionMs));
      delay.reset();
    },
    close: (): void => void delay.disable(),
  };
}

/** Spans of faults; beyond the limit, later ones are dropped. */
function createSpans({ nowMs }: RunTime) {
  const spans: { kind: Fault['kind']; share: number; fromMs: number; toMs: number | null }[] = [];
  return {
    change({ kind, share }: Pick<Fault, 'kind' | 'share'>, isActive: boolean): void {
      const open = spans.find((span) => span.toMs === null && span.kind === kind && span.share === share);
      if (isActive && spans.length < spansMost) spans.push({ kind, share, fromMs: nowMs(), toMs: null });
      else if (!isActive && open !== undefined) open.toMs = nowMs();
    },
    list: (): readonly FaultSpan[] => spans.map((span) => ({ ...span, toMs: span.toMs ?? nowMs() })),
  };
}

const isShown = (name: LatencyName): name is 'ingest' | 'visible' => name === 'ingest' || name === 'visible';

export function createRecorder({ clock, time }: RecorderOptions): Recorder {
  const book = createSeries();
  const spans = createSpans(time);
  let self: ReturnType<typeof createSelfMetrics> | null = null;
  let timer: Cancel = () => undefined;
  let snapshot: (() => RunSnapshot) | null = null;
  let before: LedgerCounts | null = null;
  let isOpen = true;
  const record = (): void => {
    // Counts belong to the second that ends now.
    const atMs = Math.max(0, time.nowMs() - everyMs / 2);
    if (snapshot === null) return;
    const { online, road, waiting, breaches, counts, machine } = snapshot();
    for (const [of, name] of counted) book.count(name, atMs, counts[of] - (before?.[of] ?? 0));
    before = counts;
    // A second without sightings counts 0 and not unknown.
    book.count('visible', atMs, 0);
    book.gauge('online', atMs, online);
    book.gauge('road', atMs, road);
    book.gauge('waiting', atMs, waiting);
    book.gauge('breaches', atMs, breaches);
    self?.record(book, atMs, machine);
  };
  const next = (): void => {
    const nowMs = time.nowMs();
    const dueMs = (Math.floor(nowMs / everyMs) + 1) * everyMs;
    timer = clock.after(dueMs - nowMs, () => {
      record();
      next();
    });
  };
  return {
    book,
    wrap: (latencies) => ({
      ...latencies,
      record(name, ms) {
        latencies.record(name, ms);
        if (!isOpen || !isShown(name)) return;
        book.latency(name, time.nowMs(), ms);
        if (name === 'visible') book.count('visible', time.nowMs(), 1);
      },
    }),
    start(given) {
      if (!isOpen) return;
      snapshot = given;
      self = createSelfMetrics();
      next();
    },
    fault: spans.change,
    data: book.data,
    faults: spans.list,
    close() {
      if (!isOpen) return;
      isOpen = false;
      timer();
      if (self !== null) record();
      self?.close();
      self = null;
    },
  };
}
