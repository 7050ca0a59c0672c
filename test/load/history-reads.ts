// What a read costs with much history behind to what it costs with little: two brokers on two databases whose last days are alike
// are asked the same in turn over HTTP.

import { dayS, hourS } from '../../src/core/durations.ts';
import { busyDevice, deviceCount, rareCode } from './fleet-database.ts';
import { logIn, median } from './http-bench.ts';
import { type Server, startBroker, stop } from './ingest-servers.ts';
import { cpuMsOf } from './process-cpu.ts';

export interface HistoryFigure {
  readonly read: string;
  readonly shortMs: number;
  readonly longMs: number;
  /** Median time with the long history to that with the short one. */
  readonly ratio: number;
  readonly shortCpuMs: number;
  readonly longCpuMs: number;
}

interface Read {
  readonly name: string;
  /** @param at counts the requests, so that each asks for another device. */
  readonly path: (at: number) => string;
}

function readsAt(nowS: number): readonly Read[] {
  const v1 = (path: string): string => `/api/v1/${path}/authorization`;
  const device = (at: number): string => `truck-${String((at * 7919) % deviceCount).padStart(5, '0')}`;
  // Up to the last full day of the whole fleet.
  const endS = nowS - dayS;
  return [
    { name: 'latest', path: (at) => v1(`eventdata/latest/${device(at)}`) },
    {
      name: 'a day of a device',
      path: (at) => v1(`eventdata/devicedata/${device(at)}/${endS - dayS}/${endS}`),
    },
    {
      name: 'a day of 8,640 records, in pages',
      path: () => `${v1(`eventdata/devicedata/${busyDevice}/${nowS - dayS}/${nowS}`)}?limit=500`,
    },
    {
      name: 'fleet by code, an hour',
      path: (at) =>
        v1(`eventdata/fleetdata/${rareCode}/${endS - (1 + (at % 24)) * hourS}/${endS - (at % 24) * hourS}`),
    },
    {
      name: 'fleet, an hour, first page',
      path: (at) =>
        `${v1(`eventdata/fleetdata/*/${endS - (1 + (at % 24)) * hourS}/${endS - (at % 24) * hourS}`)}?limit=100`,
    },
    {
      name: 'from the beginning, first page',
      path: (at) => `${v1(`eventdata/devicedata/${device(at)}/0/0`)}?limit=100`,
    },
    { name: 'export of a day', path: (at) => v1(`export/csv/${device(at)}/${endS - dayS}/${endS}`) },
    { name: 'alerts of the fleet, counted', path: () => v1('events/activations/summary') },
  ];
}

/** A database that an earlier release made is brought up to date within that time. */
const startMs = 600_000;

interface Side {
  readonly server: Server;
  readonly token: string;
}

async function startSide(database: string, folder: string): Promise<Side> {
  const server = await startBroker({ database, folder, profile: null, limitMs: startMs });
  return { server, token: await logIn(server.httpPort) };
}

const cpuOf = ({ server }: Side): number => cpuMsOf(server.child.pid ?? 0);

async function ask({ server, token }: Side, path: string): Promise<number> {
  const sinceMs = performance.now();
  const answer = await fetch(`http://127.0.0.1:${server.httpPort}${path}`, {
    headers: { authorization: token },
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
  return performance.now() - sinceMs;
}

async function compare(
  read: Read,
  [short, long]: readonly [Side, Side],
  requests: number,
): Promise<HistoryFigure> {
  const times: { readonly short: number[]; readonly long: number[] } = { short: [], long: [] };
  // Once without counting, so that both have their statements and pages.
  for (let at = 0; at < Math.min(20, requests); at++)
    for (const side of [short, long]) await ask(side, read.path(at));
  const before = [cpuOf(short), cpuOf(long)] as const;
  for (let at = 0; at < requests; at++) {
    times.short.push(await ask(short, read.path(at)));
    times.long.push(await ask(long, read.path(at)));
  }
  const [shortMs, longMs] = [median(times.short), median(times.long)];
  return {
    read: read.name,
    shortMs,
    longMs,
    ratio: longMs / shortMs,
    shortCpuMs: (cpuOf(short) - before[0]) / requests,
    longCpuMs: (cpuOf(long) - before[1]) / requests,
  };
}

/** Two databases with the same last days. */
export interface Histories {
  readonly shortPath: string;
  readonly longPath: string;
  /** The end of both. */
  readonly nowMs: number;
  /** Where the keys of the brokers are. */
  readonly folder: string;
}

/** Asks both in turn. @throws Error when a broker does not answer 200. */
export async function benchReads(
  { shortPath, longPath, nowMs, folder }: Histories,
  { requests, say }: { readonly requests: number; readonly say: (text: string) => void },
): Promise<readonly HistoryFigure[]> {
  const short = await startSide(shortPath, folder);
  const long = await startSide(longPath, folder);
  const reads: HistoryFigure[] = [];
  try {
    for (const read of readsAt(nowMs / 1000)) {
      reads.push(await compare(read, [short, long], requests));
      say(`${read.name}: ${reads.at(-1)?.ratio.toFixed(2)}`);
    }
  } finally {
    await Promise.all([stop(short.server), stop(long.server)]);
  }
  return reads;
}
