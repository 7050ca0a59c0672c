// One client that publishes a lot and reads nothing of its acknowledgements, and one that reads a little, at the end of narrow
// lines: what the others notice of them. In turn with two that publish as much and read everything, on one broker; the
// middle of the pairs counts. A round beside them begins when the broker's own figures say that they stall.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, figuresFrom, percentile } from './agent-figures.ts';
import {
  type BenchFleet,
  type BenchFolder,
  startBareBroker,
  startFleet,
  startOurBroker,
} from './bench-fleet.ts';
import type { Watch } from './bench-limit.ts';
import type { MeasuredProcess } from './measured-process.ts';
import { type NarrowClient, startNarrowClients } from './narrow-clients.ts';

const clients = 1000;
const perS = 2000;
const roundMs = 8000;
const ratioGoal = 1.1;
/** Messages a second of each of the two; they fill what the kernel takes for a narrow line in some ten seconds. */
const guestPerS = 2000;
/** How long the two are at work before a round. The broker drops a stalled client after ten seconds. */
const fillMs = 9000;
const fillMostMs = 25_000;

interface Pair {
  readonly without: number;
  readonly beside: number;
  /** Times that the broker counted a client that did not read, during the round beside them and before it. */
  readonly stalls: number;
}

const median = (values: readonly number[]): number => percentile(values, 0.5);

async function roundTrip(fleet: BenchFleet): Promise<number> {
  const { latenciesMs } = await fleet.one({ kind: 'publish', perS, ms: roundMs, window: 20 });
  return percentile(latenciesMs, 0.99);
}

const politely: readonly NarrowClient[] = [
  { index: clients, readPerS: null },
  { index: clients + 1, readPerS: null },
];
const rudely: readonly NarrowClient[] = [
  { index: clients, readPerS: 0 },
  { index: clients + 1, readPerS: 1000 },
];

interface Site {
  readonly fleet: BenchFleet;
  readonly server: MeasuredProcess;
  readonly watch: Watch;
}

/** Times that a client stalled, as Prometheus is told; 0 where nobody counts. */
async function stallsOf({ metricsPort }: MeasuredProcess): Promise<number> {
  if (metricsPort === undefined) return 0;
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^fleetward_mqtt_stalls_total (\S+)/m.exec(text)?.[1] ?? Number.NaN);
}

/** The same beside two more clients. */
async function roundTripBeside({ fleet, server, watch }: Site, guests: readonly NarrowClient[]) {
  const before = await stallsOf(server);
  const narrow = await startNarrowClients({ port: server.mqttPort, clients: guests, perS: guestPerS });
  await sleep(fillMs);
  const isRude = guests === rudely;
  const mostMs = isRude && server.metricsPort !== undefined ? fillMostMs : 0;
  for (let waitedMs = fillMs; waitedMs < mostMs; waitedMs += 250) {
    if ((await stallsOf(server)) > before) break;
    await sleep(250);
  }
  const p99Ms = await roundTrip(fleet);
  const stalls = (await stallsOf(server)) - before;
  const { sent, dropped } = await narrow.end();
  watch.at(`${isRude ? 'rude' : 'polite'}: ${sent} sent, ${stalls} stalls counted, ${dropped} dropped`);
  await sleep(500);
  return { p99Ms, stalls };
}

interface Side {
  readonly folder: BenchFolder;
  readonly isOurs: boolean;
  readonly rounds: number;
  readonly watch: Watch;
}

async function measure({ folder, isOurs, rounds, watch }: Side): Promise<readonly Pair[]> {
  const server = await (isOurs ? startOurBroker : startBareBroker)(folder, 'plain');
  const fleet = await startFleet(clients);
  try {
    const target = { port: server.mqttPort, ca: null };
    await fleet.open({ target, count: clients, addresses: 40, spreadMs: 2000 });
    await roundTrip(fleet);
    const site = { fleet, server, watch };
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds && !watch.isOver(); round++) {
      watch.at(`pair ${round + 1} of ${rounds} at ${isOurs ? 'the broker' : 'bare aedes'}`);
      const { p99Ms: without } = await roundTripBeside(site, politely);
      const { p99Ms: beside, stalls } = await roundTripBeside(site, rudely);
      if (isOurs && stalls === 0) throw new Error('no client stalled: nothing was measured');
      pairs.push({ without, beside, stalls });
    }
    return pairs;
  } finally {
    await fleet.close();
    await server.close();
  }
}

/** Measures with so many pairs of rounds. */
export async function benchSlow(
  folder: BenchFolder,
  rounds: number,
  watch: Watch,
): Promise<readonly Figure[]> {
  const ours = await measure({ folder, isOurs: true, rounds, watch });
  const bare = await measure({ folder, isOurs: false, rounds: 1, watch });
  const section = 'slow';
  const name = 'bare aedes';
  const ratio = (pairs: readonly Pair[]): number =>
    median(pairs.map(({ without, beside }) => beside / without));
  return figuresFrom(section, name, [
    [
      `p99 of ${clients} others at ${perS}/s, beside two polite`,
      'ms',
      median(ours.map(({ without }) => without)),
      median(bare.map(({ without }) => without)),
    ],
    [
      'beside one frozen and one slow client',
      'ms',
      median(ours.map(({ beside }) => beside)),
      median(bare.map(({ beside }) => beside)),
    ],
    ['the one to the other', '', ratio(ours), ratio(bare), ratioGoal],
    ['stalls that the broker counted, of all rounds', '', ours.reduce((sum, { stalls }) => sum + stalls, 0)],
  ]);
}
