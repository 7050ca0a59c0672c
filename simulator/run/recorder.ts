// Notes what a run is like while it goes on, each second: counts of the ledger, the state of the fleet, the generator's own lag, CPU
// and memory, and when which fault was there. It looks and never touches; what it keeps is of fixed size.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Cancel, Clock } from '../../src/ports.ts';
import type { FaultSpan } from '../core/fault-spans.ts';
import type { LedgerCounts } from '../core/ledger-types.ts';
import type { Fault } from '../core/scenario-schema.ts';
import { createSeries, type SeriesBook, type SeriesData } from '../core/series.ts';
import type { LatencyName } from '../core/thresholds.ts';
import type { RunTime } from './fleet-vehicle.ts';
import type { Latencies } from './latency.ts';

/** The run at a moment. */
interface RunLook {
  readonly online: number;
  readonly road: number;
  /** Events that no acknowledgement has come for. */
  readonly waiting: number;
  readonly breaches: number;
  readonly counts: LedgerCounts;
  /** CPU time until now, ms, and memory, MiB, of all processes of the generator. */
  readonly machine: { readonly cpuMs: number; readonly rssMb: number };
}

export interface Recorder {
  /** The same latencies, with those that the series shows noted at the moment at which they are recorded. */
  tee(latencies: Latencies): Latencies;
  /** Begins to look every second. */
  start(look: () => RunLook): void;
  /** A fault begins or ends. */
  fault(fault: Pick<Fault, 'kind' | 'share'>, isActive: boolean): void;
  /** For who notes more at the same moments. */
  readonly book: SeriesBook;
  data(): SeriesData;
  faults(): readonly FaultSpan[];
  /** Looks once more and then no further. */
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

/** What the generator did since the last look; the lag is that of this process. */
function createSelfLook() {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let beforeMs: number | null = null;
  return {
    note(book: SeriesBook, atMs: number, { cpuMs, rssMb }: RunLook['machine']): void {
      // Of what was used before the first look nobody knows in which second.
      if (beforeMs !== null) book.count('generatorCpuMs', atMs, Math.max(0, cpuMs - beforeMs));
      beforeMs = cpuMs;
      book.gauge('generatorMb', atMs, rssMb);
      if (delay.count > 0) book.gauge('lagMs', atMs, Math.max(0, delay.max / nsPerMs - resolutionMs));
      delay.reset();
    },
    close: (): void => void delay.disable(),
  };
}

/** Spans of faults; beyond the limit the earliest are kept. */
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

/** Nothing is looked at before `start`. */
export function createRecorder({ clock, time }: RecorderOptions): Recorder {
  const book = createSeries();
  const spans = createSpans(time);
  let self: ReturnType<typeof createSelfLook> | null = null;
  let timer: Cancel = () => undefined;
  let look: (() => RunLook) | null = null;
  let before: LedgerCounts | null = null;
  let isOpen = true;
  const note = (): void => {
    // What is counted now happened in the second that ends now.
    const atMs = Math.max(0, time.nowMs() - everyMs / 2);
    if (look === null) return;
    const { online, road, waiting, breaches, counts, machine } = look();
    for (const [of, name] of counted) book.count(name, atMs, counts[of] - (before?.[of] ?? 0));
    before = counts;
    // One that was not seen in this second was seen no time, and not unknown.
    book.count('visible', atMs, 0);
    book.gauge('online', atMs, online);
    book.gauge('road', atMs, road);
    book.gauge('waiting', atMs, waiting);
    book.gauge('breaches', atMs, breaches);
    self?.note(book, atMs, machine);
  };
  const next = (): void => {
    const nowMs = time.nowMs();
    const dueMs = (Math.floor(nowMs / everyMs) + 1) * everyMs;
    timer = clock.after(dueMs - nowMs, () => {
      note();
      next();
    });
  };
  return {
    book,
    tee: (latencies) => ({
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
      look = given;
      self = createSelfLook();
      next();
    },
    fault: spans.change,
    data: book.data,
    faults: spans.list,
    close() {
      if (!isOpen) return;
      isOpen = false;
      timer();
      if (self !== null) note();
      self?.close();
      self = null;
    },
  };
}
