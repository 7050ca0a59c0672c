// The bench of neighbours: what others notice while one cheap caller takes all that it is given. Each attack lasts some seconds, with a
// quiet time before it; a ratio is the p99 beside the attack to that of all quiet times of the same run. It ends every process that it
// started.
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile, type Say } from './agent-figures.ts';
import { startClients } from './measured-process.ts';
import {
  type AttackAnswers,
  type AttackCounts,
  attackNames,
  type ClientsAnswers,
  type Samples,
  type Taken,
  type Watched,
  watched,
} from './neighbours-orders.ts';
import { openStage, type Stage } from './neighbours-stage.ts';
import { cpuMsOf } from './process-cpu.ts';
import type { ProbeAnswer } from './process-probe.ts';

export interface NeighboursOptions {
  /** Of each attack. */
  readonly seconds: number;
  /** Part of the names of the attacks; empty: all. */
  readonly only: string;
  /** Folder for CPU profiles of the broker; null: none. */
  readonly profile: string | null;
  /** Where the database is made. */
  readonly folder: string;
  readonly say: Say;
}

interface Beside {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly count: number;
  readonly failed: number;
  /** p99 to that of the quiet times. */
  readonly ratio: number;
}

export interface Part {
  readonly name: string;
  readonly beside: Readonly<Record<Watched, Beside>>;
  /** Delay of the broker's loop; `own`: without the time in which others had its core. */
  readonly loopP99Ms: number;
  readonly loopOwnMostMs: number;
  /** Share of the time in which the broker's main thread waited for a core: large, and the machine is busy with something else. */
  readonly waitShare: number;
  /** Cores taken, and the delay of the loop of the measured clients: large, and the ratios are the generator's. */
  readonly brokerCores: number;
  readonly attackerCores: number;
  readonly clientsLoopP99Ms: number;
  readonly answers: AttackCounts;
}

export interface NeighboursResult {
  readonly parts: readonly Part[];
  readonly niceness: number;
  readonly node: string;
  readonly cores: number;
  readonly loadBefore: number;
  readonly loadAfter: number;
}

const niceness = 19;
const warmUpS = 4;
/** From the beginning of an attack until it counts. */
const rampMs = 500;
/** From its end until the next quiet time counts: until what it left is gone. */
const drainMs = 1500;

interface Seen {
  readonly name: string;
  readonly taken: Taken;
  readonly probe: ProbeAnswer;
  readonly waitShare: number;
  readonly brokerCores: number;
  readonly attackerCores: number;
  readonly answers: AttackCounts;
}

const joined = (parts: readonly Seen[], kind: Watched): Samples => ({
  ms: parts.flatMap(({ taken }) => taken.samples[kind].ms),
  failed: parts.reduce((sum, { taken }) => sum + taken.samples[kind].failed, 0),
});

function besideOf(samples: Samples, quiet: Samples): Beside {
  const { ms, failed } = samples;
  const p99Ms = percentile(ms, 0.99);
  const ratio = p99Ms / percentile(quiet.ms, 0.99);
  return { p50Ms: percentile(ms, 0.5), p99Ms, count: ms.length, failed, ratio };
}

function partOf(name: string, seen: readonly Seen[], quiet: readonly Seen[]): Part {
  const mean = (of: (one: Seen) => number): number =>
    seen.reduce((sum, one) => sum + of(one), 0) / seen.length;
  const most = (of: (one: Seen) => number): number => Math.max(...seen.map(of));
  const beside = (kind: Watched): Beside => besideOf(joined(seen, kind), joined(quiet, kind));
  return {
    name,
    beside: {
      list: beside('list'),
      puback: beside('puback'),
      webhook: beside('webhook'),
      colleague: beside('colleague'),
    },
    loopP99Ms: most(({ probe }) => probe.loopP99Ms),
    loopOwnMostMs: most(({ probe }) => probe.loopOwnMostMs),
    waitShare: mean((one) => one.waitShare),
    brokerCores: mean((one) => one.brokerCores),
    attackerCores: mean((one) => one.attackerCores),
    clientsLoopP99Ms: most(({ taken }) => taken.loopP99Ms),
    answers: seen[0]?.answers ?? {},
  };
}

/** @throws Error when a process ends early, or a client that is measured gets no answer in a quiet time. */
export async function benchNeighbours(options: NeighboursOptions): Promise<NeighboursResult> {
  const { seconds, only, say } = options;
  const [loadBefore = 0] = loadavg();
  const attackers = await startClients<AttackAnswers>('./neighbours-attacker.js', niceness);
  const clients = await startClients<ClientsAnswers>('./neighbours-clients.js');
  let stage: Stage | null = null;
  try {
    const hooks = {
      attackers: await attackers.ask({ kind: 'hook' }),
      clients: await clients.ask({ kind: 'hook' }),
    };
    stage = await openStage({ ...options, hooks });
    const { broker } = stage;
    const place = { ...stage.attack, hookPort: hooks.attackers };
    const look = async (name: string, forS: number): Promise<Seen> => {
      await clients.ask({ kind: 'take' });
      const { waitedMs } = await broker.look();
      const before = {
        broker: cpuMsOf(broker.pid),
        attackers: cpuMsOf(attackers.pid),
        atMs: performance.now(),
      };
      await sleep(forS * 1000);
      const taken = await clients.ask({ kind: 'take' });
      const tookMs = performance.now() - before.atMs;
      const probe = await broker.look();
      const waitShare = (probe.waitedMs - waitedMs) / tookMs;
      const brokerCores = (cpuMsOf(broker.pid) - before.broker) / tookMs;
      const attackerCores = (cpuMsOf(attackers.pid) - before.attackers) / tookMs;
      return { name, taken, probe, waitShare, brokerCores, attackerCores, answers: {} };
    };
    await clients.ask({ kind: 'begin', place: stage.clients });
    await sleep(warmUpS * 1000);
    const quiet: Seen[] = [];
    const attacked: Seen[] = [];
    for (const name of attackNames.filter((one) => one.includes(only))) {
      quiet.push(await look('quiet', seconds / 2));
      say(name);
      await attackers.ask({ kind: 'begin', name, place });
      await sleep(rampMs);
      const seen = await look(name, seconds);
      attacked.push({ ...seen, answers: await attackers.ask({ kind: 'end' }) });
      await sleep(drainMs);
    }
    for (const kind of watched) {
      const { ms } = joined(quiet, kind);
      if (ms.length === 0) throw new Error(`${kind}: no answer in a quiet time`);
    }
    const [loadAfter = 0] = loadavg();
    return {
      parts: [partOf('quiet', quiet, quiet), ...attacked.map((one) => partOf(one.name, [one], quiet))],
      niceness,
      node: process.version,
      cores: availableParallelism(),
      loadBefore,
      loadAfter,
    };
  } finally {
    await Promise.all([attackers.close(), clients.close()]);
    await stage?.close();
  }
}

const goal = 2;
const titles: Readonly<Record<Watched, string>> = {
  list: 'list, other tenant',
  puback: 'PUBACK, other tenant',
  webhook: 'panic webhook, other',
  colleague: 'list, same account',
};

/** The figures as lines for people. */
export function formatNeighbours({ parts, cores, node, loadBefore, loadAfter }: NeighboursResult): string {
  const cell = ({ p99Ms, ratio, failed }: Beside): string => {
    const lost = failed === 0 ? '' : ` (${failed} failed)`;
    return `${p99Ms.toFixed(0).padStart(6)} ${ratio.toFixed(2).padStart(6)}${ratio > goal ? '!' : ' '}${lost}`.padEnd(
      22,
    );
  };
  const head = `${'p99 in ms, and ratio to quiet'.padEnd(34)} ${watched.map((kind) => titles[kind].padEnd(22)).join('')} loop p99, own most; waits; cores: broker, attackers; clients' loop`;
  const rows = parts.map((part) => {
    const { name, beside, loopP99Ms, loopOwnMostMs, waitShare, brokerCores } = part;
    const loop = `${loopP99Ms.toFixed(0).padStart(5)} ${loopOwnMostMs.toFixed(0).padStart(5)} ms`;
    const shares = `${(100 * waitShare).toFixed(0)} %; ${brokerCores.toFixed(2)} ${part.attackerCores.toFixed(2)}`;
    const cells = watched.map((kind) => cell(beside[kind])).join('');
    return `${name.padEnd(34)} ${cells} ${loop}; ${shares}; ${part.clientsLoopP99Ms.toFixed(0)} ms`;
  });
  const answers = parts
    .filter(({ answers: found }) => Object.keys(found).length > 0)
    .map(({ name, answers: found }) => {
      const counted = Object.entries(found).map(([what, count]) => `${what} ${count}`);
      return `${name.padEnd(34)} ${counted.join(', ')}`;
    });
  return [
    head,
    ...rows,
    '',
    `waits: how long the broker's main thread waited for a core. Beyond some 5 % in quiet the machine is busy with other things, and`,
    'a ratio says little.',
    `!: more than ${goal} times of quiet. The attackers run at nice ${niceness}, each attack at most 250 requests or 20 messages a second. Their answers:`,
    ...answers,
    '',
    `Node ${node}, ${cores} cores, load ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after`,
  ].join('\n');
}
