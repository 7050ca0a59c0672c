// The connections bench: what an idle connection costs, how ten thousand come back at once, and what one client that does
// not read costs the others. Real broker processes, bare aedes beside them in the same minute on the same cores.
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchResult, type Figure, figuresFrom, onMachine, type Say } from './agent-figures.ts';
import {
  type BenchFolder,
  makeBenchFolder,
  startBareBroker,
  startFleet,
  startOurBroker,
} from './bench-fleet.ts';
import { type Watch, withinLimit } from './bench-limit.ts';
import { benchSlow } from './connections-slow.ts';
import { benchStorm, type WaveName } from './connections-storm.ts';

export const connectionSections = ['idle', 'idle-tls', 'storm', 'storm-plain', 'storm-mtls', 'slow'] as const;
export type ConnectionSection = (typeof connectionSections)[number];

export interface ConnectionsBenchOptions {
  readonly sections: readonly ConnectionSection[];
  readonly clients: number;
  /** Runs of each side of `slow`. */
  readonly rounds: number;
  /** Of the storms. */
  readonly waves: readonly WaveName[];
  /** The most that one section may take, in seconds. */
  readonly limitS: number;
  readonly say: Say;
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
  /** Resident memory after a keep-alive of each, and what that cost. */
  readonly keptKiB: number;
  readonly pingMs: number;
}

interface IdleWish {
  readonly isOurs: boolean;
  readonly isTls: boolean;
  readonly clients: number;
}

async function measureIdle(folder: BenchFolder, wish: IdleWish, watch: Watch): Promise<IdleCost> {
  const { isOurs, isTls, clients } = wish;
  const server = await (isOurs ? startOurBroker : startBareBroker)(folder, isTls ? 'tls' : 'plain');
  const fleet = await startFleet(clients);
  try {
    const target = { port: server.mqttPort, ca: isTls ? folder.ca : null };
    watch.at(`${clients} clients come to ${isOurs ? 'the broker' : 'bare aedes'}`);
    await fleet.open({ target, count: warmUp, addresses: 40, spreadMs: 500 });
    await fleet.each({ kind: 'drop' });
    await sleep(1500);
    const before = await server.collect();
    const { connected } = await fleet.open({
      target,
      count: clients,
      addresses: 40,
      spreadMs: clients * 1.5,
      limitMs: watch.leftMs(),
    });
    if (connected < clients) throw new Error(`${connected} of ${clients} clients are connected`);
    await sleep(3000);
    const after = await server.collect();
    watch.at(`${clients} send keep-alives`);
    const [pinged] = await fleet.each({ kind: 'ping', ms: clients });
    if (pinged?.answered !== clients)
      throw new Error(`${pinged?.answered} of ${clients} keep-alives were answered`);
    const pingedMs = (await server.look()).cpuMs;
    const kept = await server.collect();
    return {
      keptKiB: (kept.rss - before.rss) / 1024 / clients,
      pingMs: (pingedMs - after.cpuMs) / clients,
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
  { isTls, clients }: Pick<IdleWish, 'isTls' | 'clients'>,
  watch: Watch,
): Promise<readonly Figure[]> {
  const section = isTls ? 'idle-tls' : 'idle';
  const name = 'bare aedes';
  const bare = await measureIdle(folder, { isOurs: false, isTls, clients }, watch);
  const ours = await measureIdle(folder, { isOurs: true, isTls, clients }, watch);
  const goal = isTls ? goalsKiB.tls : goalsKiB.plain;
  return figuresFrom(section, name, [
    [`resident memory of one of ${clients}`, 'KiB', ours.rssKiB, bare.rssKiB, goal],
    ['the same after a keep-alive of each', 'KiB', ours.keptKiB, bare.keptKiB, goal],
    ['of it in the heap of V8', 'KiB', ours.heapKiB, bare.heapKiB],
    ['CPU time of one connect, login and subscribe', 'ms', ours.cpuMs, bare.cpuMs],
    ['CPU time of one keep-alive', 'ms', ours.pingMs, bare.pingMs],
  ]);
}

async function run(
  section: ConnectionSection,
  { folder, options, watch }: { folder: BenchFolder; options: ConnectionsBenchOptions; watch: Watch },
): Promise<readonly Figure[]> {
  const { clients, rounds, waves, say } = options;
  const storm = { section, count: clients, waves, say };
  switch (section) {
    case 'idle':
      return benchIdle(folder, { isTls: false, clients }, watch);
    case 'idle-tls':
      return benchIdle(folder, { isTls: true, clients }, watch);
    case 'storm':
      return benchStorm(folder, { ...storm, security: 'tls' }, watch);
    case 'storm-plain':
      return benchStorm(folder, { ...storm, security: 'plain' }, watch);
    case 'storm-mtls':
      return benchStorm(folder, { ...storm, security: 'mtls' }, watch);
    case 'slow':
      return benchSlow(folder, rounds, watch);
  }
}

const measureAll = async (options: ConnectionsBenchOptions): Promise<readonly Figure[]> => {
  options.say(`making ${options.clients} devices`);
  const folder = await makeBenchFolder(Math.max(options.clients, leastDevices));
  const figures: Figure[] = [];
  try {
    for (const section of connectionSections) {
      if (!options.sections.includes(section)) continue;
      const { limitS, say } = options;
      const found = await withinLimit({ section, limitS, say }, (watch) =>
        run(section, { folder, options, watch }),
      );
      figures.push(...found);
    }
  } finally {
    folder.close();
  }
  return figures;
};

/** Measures the chosen sections. @throws Error when a program does not start or not every client can connect. */
export const benchConnections = (options: ConnectionsBenchOptions): Promise<BenchResult> =>
  onMachine(() => measureAll(options));
