// Looks at the broker's own figures every second while a run goes on: CPU, memory, loop delay, commits. A look that fails is counted
// and said at the end; it never holds up the run, follows nobody elsewhere, and the token is never written anywhere.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock } from '../../src/ports.ts';
import { type BrokerSample, grownBy, metricsBytesMost, parseBrokerSample } from '../core/metrics-text.ts';
import type { SeriesBook } from '../core/series.ts';
import type { RunTime } from './fleet-vehicle.ts';
import { createHttp, type Http } from './http.ts';

/** Where the broker shows its figures. */
export interface MetricsAddress {
  readonly url: string;
  /** Null: none is asked for. */
  readonly token: string | null;
  /** PEM of the authority to trust, for https://; null: the system's list. */
  readonly ca: string | null;
}

/** How the looking went. */
export interface BrokerSight {
  /** Answers that could be read, and looks without one. */
  readonly seen: number;
  readonly missed: number;
  /** Why the last one failed; '' when none did. */
  readonly reason: string;
}

export interface BrokerWatch {
  sight(): BrokerSight;
  close(): void;
}

interface BrokerWatchOptions {
  /** Null: nobody told where; nothing is looked at. */
  readonly address: MetricsAddress | null;
  readonly clock: Clock;
  readonly time: RunTime;
  readonly book: SeriesBook;
}

const everyMs = 1000;
const answerMs = 3000;

async function ask(http: Http, { url, token }: MetricsAddress): Promise<BrokerSample> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(answerMs);
  const answer = await http.ask(url, { method: 'GET', headers, signal });
  const text = await answer.text(metricsBytesMost);
  if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
  const sample = parseBrokerSample(text);
  if (sample === null) throw new Error('what answers shows no figures of a broker');
  return sample;
}

interface Look {
  readonly sample: BrokerSample;
  readonly atMs: number;
}

function note(book: SeriesBook, before: Look | null, { sample, atMs }: Look): void {
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

/** Begins to look; one look at a time. */
export function watchBroker({ address, clock, time, book }: BrokerWatchOptions): BrokerWatch {
  const kept = { seen: 0, missed: 0, reason: '' };
  let isOpen = true;
  let before: Look | null = null;
  let timer: Cancel = () => undefined;
  const http = createHttp(address?.ca ?? null);
  const look = async (of: MetricsAddress): Promise<void> => {
    try {
      const now: Look = { sample: await ask(http, of), atMs: time.nowMs() };
      if (!isOpen) return;
      note(book, before, now);
      before = now;
      kept.seen += 1;
    } catch (thrown) {
      const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
      kept.missed += 1;
      kept.reason = messageOf(cause).slice(0, 200);
      before = null;
    }
  };
  const go = async (of: MetricsAddress): Promise<void> => {
    await look(of);
    if (isOpen) timer = clock.after(everyMs, () => void go(of));
  };
  if (address !== null) void go(address);
  return {
    sight: () => ({ ...kept }),
    close() {
      isOpen = false;
      timer();
      http.close();
    },
  };
}
