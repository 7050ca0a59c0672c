// Reads the broker's metrics every second during a run: CPU, memory, loop delay, commits. Failed reads are counted and reported at the
// end. Redirects are not followed, and the token is never written anywhere.
import { messageOf } from '../../../src/core/errors.ts';
import type { Cancel, Clock } from '../../../src/ports.ts';
import {
  addErrors,
  type BrokerErrors,
  type BrokerSample,
  grownBy,
  metricsBytesMost,
  noBrokerErrors,
  parseBrokerSample,
} from '../../core/series/broker-metrics-text.ts';
import type { SeriesBook } from '../../core/series/series.ts';
import { createHttp, type Http } from '../service/http.ts';
import { type RunTime } from '../shared/run-ports.ts';

/** Address of the broker's Prometheus metrics. */
export interface MetricsAddress {
  readonly url: string;
  /** Null: none is needed. */
  readonly token: string | null;
  /** PEM of the authority to trust, for https://; null: those of the system. */
  readonly ca: string | null;
}

/** How the reads went. */
export interface BrokerSight {
  /** Reads that succeeded, and that failed. */
  readonly seen: number;
  readonly missed: number;
  /** Why the last one failed; '' when none did. */
  readonly reason: string;
  /** The broker's counters from the first read to the last. */
  readonly errors: BrokerErrors;
}

export interface BrokerWatch {
  sight(): BrokerSight;
  close(): void;
}

interface BrokerWatchOptions {
  /** Null: not known; nothing is read. */
  readonly address: MetricsAddress | null;
  readonly clock: Clock;
  readonly time: RunTime;
  readonly book: SeriesBook;
}

const everyMs = 1000;
const answerMs = 3000;

async function readSample(http: Http, { url, token }: MetricsAddress): Promise<BrokerSample> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(answerMs);
  const answer = await http.request(url, { method: 'GET', headers, signal });
  const text = await answer.text(metricsBytesMost);
  if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
  const sample = parseBrokerSample(text);
  if (sample === null) throw new Error('the answer holds no metrics of a broker');
  return sample;
}

interface TimedSample {
  readonly sample: BrokerSample;
  readonly atMs: number;
}

function record(book: SeriesBook, before: TimedSample | null, { sample, atMs }: TimedSample): void {
  const grown = (name: Parameters<typeof grownBy>[2]): number | null =>
    grownBy(before?.sample ?? null, sample, name);
  const counts = [
    ['brokerCommits', grown('commits')],
    ['brokerStatements', grown('statements')],
    ['brokerCommitMs', grown('commitMs')],
  ] as const;
  for (const [name, amount] of counts) if (amount !== null) book.count(name, atMs, amount);
  const cpuMs = grown('cpuMs');
  if (cpuMs !== null && before !== null) {
    book.count('brokerCpuMs', atMs, cpuMs);
    book.count('brokerSeenMs', atMs, atMs - before.atMs);
  }
  const states = [
    ['brokerMb', sample.memoryMb],
    ['brokerLagMs', sample.lagMs],
    ['brokerQueue', sample.queue],
  ] as const;
  for (const [name, value] of states) if (value !== null) book.gauge(name, atMs, value);
}

export function watchBroker({ address, clock, time, book }: BrokerWatchOptions): BrokerWatch {
  const kept = { seen: 0, missed: 0, reason: '' };
  let isOpen = true;
  let before: TimedSample | null = null;
  /** Of the last read that succeeded, over failed ones. */
  let counted: BrokerSample | null = null;
  let errors = noBrokerErrors;
  let timer: Cancel = () => undefined;
  const http = createHttp(address?.ca ?? null);
  const read = async (of: MetricsAddress): Promise<void> => {
    try {
      const now: TimedSample = { sample: await readSample(http, of), atMs: time.nowMs() };
      if (!isOpen) return;
      record(book, before, now);
      before = now;
      if (counted !== null) errors = addErrors(errors, counted, now.sample);
      counted = now.sample;
      kept.seen += 1;
    } catch (thrown) {
      const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
      kept.missed += 1;
      kept.reason = messageOf(cause).slice(0, 200);
      before = null;
    }
  };
  const go = async (of: MetricsAddress): Promise<void> => {
    await read(of);
    if (isOpen) timer = clock.after(everyMs, () => void go(of));
  };
  if (address !== null) void go(address);
  return {
    sight: () => ({ ...kept, errors }),
    close() {
      isOpen = false;
      timer();
      http.close();
    },
  };
}
