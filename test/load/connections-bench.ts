// The connections bench: what an idle connection costs, how ten thousand come back at once, and what one client that does
// not read costs the others. Real broker processes, bare aedes beside them in the same minute on the same cores.
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, ratioOf, type Say } from './agent-figures.ts';
import {
  type BenchFolder,
  makeBenchFolder,
  startBareBroker,
  startFleet,
  startOurBroker,
} from './bench-fleet.ts';
import { benchSlow } from './connections-slow.ts';
import { benchStorm } from './connections-storm.ts';

export const connectionSections = ['idle', 'idle-tls', 'storm', 'slow'] as const;
export type ConnectionSection = (typeof connectionSections)[number];

export interface ConnectionsBenchOptions {
  readonly sections: readonly ConnectionSection[];
  readonly clients: number;
  /** Runs of each side of `slow`. */
  readonly rounds: number;
  readonly say: Say;
}

export interface ConnectionsBenchResult {
  readonly node: string;
  readonly cores: number;
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly figures: readonly (Figure & { readonly ratio: number | null })[];
}

/** Connections before the first look: code is compiled and pools are filled by then. */
const warmUp = 300;
/** What `slow` needs. */
const leastDevices = 1002;
const goalsKiB = { plain: 25, tls: 60 } as const;

interface IdleCost {
  readonly rssKiB: number;
  readonly heapKiB: number;
  readonly cpuMs: number;
}

async function measureIdle(
  folder: BenchFolder,
  wish: { readonly isOurs: boolean; readonly isTls: boolean; readonly clients: number },
): Promise<IdleCost> {
  const { isOurs, isTls, clients } = wish;
  const server = await (isOurs ? startOurBroker : startBareBroker)(folder, isTls);
  const fleet = await startFleet(clients);
  try {
    const target = { port: server.mqttPort, ca: isTls ? folder.ca : null };
    await fleet.open({ target, count: warmUp, addresses: 40, spreadMs: 500 });
    await fleet.each({ kind: 'drop' });
    await sleep(1500);
    const before = await server.collect();
    const { connected } = await fleet.open({
      target,
      count: clients,
      addresses: 40,
      spreadMs: clients * 1.5,
    });
    if (connected < clients) throw new Error(`${connected} of ${clients} clients are connected`);
    await sleep(3000);
    const after = await server.collect();
    return {
      rssKiB: (after.rss - before.rss) / 1024 / clients,
      heapKiB: (after.heapUsed - before.heapUsed) / 1024 / clients,
      cpuMs: (after.cpuMs - before.cpuMs) / clients,
    };
  } finally {
    await fleet.close();
    await server.close();
  }
}

async function benchIdle(
  folder: BenchFolder,
  { isTls, clients }: { readonly isTls: boolean; readonly clients: number },
  say: Say,
): Promise<readonly Figure[]> {
  const section = isTls ? 'idle-tls' : 'idle';
  const name = 'bare aedes';
  say(`${section}: ${clients} clients at bare aedes, then at the broker`);
  const bare = await measureIdle(folder, { isOurs: false, isTls, clients });
  const ours = await measureIdle(folder, { isOurs: true, isTls, clients });
  const goal = isTls ? goalsKiB.tls : goalsKiB.plain;
  return [
    {
      section,
      name: `resident memory of one of ${clients}`,
      unit: 'KiB',
      value: ours.rssKiB,
      goal,
      baseline: { name, value: bare.rssKiB },
    },
    {
      section,
      name: 'of it in the heap of V8',
      unit: 'KiB',
      value: ours.heapKiB,
      baseline: { name, value: bare.heapKiB },
    },
    {
      section,
      name: 'CPU time of one connect, login and subscribe',
      unit: 'ms',
      value: ours.cpuMs,
      baseline: { name, value: bare.cpuMs },
    },
  ];
}

async function run(
  section: ConnectionSection,
  folder: BenchFolder,
  options: ConnectionsBenchOptions,
): Promise<readonly Figure[]> {
  const { clients, rounds, say } = options;
  switch (section) {
    case 'idle':
      return benchIdle(folder, { isTls: false, clients }, say);
    case 'idle-tls':
      return benchIdle(folder, { isTls: true, clients }, say);
    case 'storm':
      return benchStorm(folder, clients, say);
    case 'slow':
      return benchSlow(folder, rounds, say);
  }
}

/** Measures the chosen sections. @throws Error when a program does not start or not every client can connect. */
export async function benchConnections(options: ConnectionsBenchOptions): Promise<ConnectionsBenchResult> {
  const [loadBefore = 0] = loadavg();
  options.say(`making ${options.clients} devices`);
  const folder = await makeBenchFolder(Math.max(options.clients, leastDevices));
  const figures: Figure[] = [];
  try {
    for (const section of connectionSections) {
      if (options.sections.includes(section)) figures.push(...(await run(section, folder, options)));
    }
  } finally {
    folder.close();
  }
  const [loadAfter = 0] = loadavg();
  return {
    node: process.version,
    cores: cpus().length,
    loadBefore,
    loadAfter,
    figures: figures.map((figure) => ({ ...figure, ratio: ratioOf(figure) })),
  };
}
