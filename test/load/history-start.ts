// How long the broker takes from the start of its process until it is ready, with little and with much history behind: both in turn, each
// after an orderly end. The first start does not count, as it may bring tables up to date and reads the files from the disk.
import type { Histories, HistoryFigure } from './history-reads.ts';
import { median } from './http-bench.ts';
import { startBroker, stop } from './ingest-servers.ts';
import { cpuMsOf } from './process-cpu.ts';

const starts = 7;
/** A database that an earlier release made is brought up to date within that time. */
const limitMs = 600_000;

interface Start {
  readonly readyMs: number;
  /** Of all threads, until then. */
  readonly cpuMs: number;
}

async function startOnce(database: string, folder: string): Promise<Start> {
  const server = await startBroker({ database, folder, profile: null, limitMs });
  const cpuMs = cpuMsOf(server.child.pid ?? 0);
  await stop(server);
  return { readyMs: server.readyMs, cpuMs };
}

const middle = (side: readonly Start[]): Start => ({
  readyMs: median(side.map(({ readyMs }) => readyMs)),
  cpuMs: median(side.map(({ cpuMs }) => cpuMs)),
});

/** @throws Error when a broker is not ready in time. */
export async function benchStart({ shortPath, longPath, folder }: Histories): Promise<HistoryFigure> {
  const pairs: { readonly short: Start; readonly long: Start }[] = [];
  for (let count = 0; count <= starts; count++) {
    const short = await startOnce(shortPath, folder);
    const long = await startOnce(longPath, folder);
    if (count > 0) pairs.push({ short, long });
  }
  const [short, long] = [middle(pairs.map((one) => one.short)), middle(pairs.map((one) => one.long))];
  return {
    read: 'start of the broker',
    shortMs: short.readyMs,
    longMs: long.readyMs,
    ratio: long.readyMs / short.readyMs,
    shortCpuMs: short.cpuMs,
    longCpuMs: long.cpuMs,
  };
}
