// One client that publishes a lot and reads nothing of its acknowledgements, and one that reads a little: what the others
// notice of them. In turn with two that publish as much and read everything, on one broker; the middle of the pairs counts.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, percentile } from './agent-figures.ts';
import {
  type BenchFleet,
  type BenchFolder,
  startBareBroker,
  startFleet,
  startOurBroker,
} from './bench-fleet.ts';
import type { Watch } from './bench-limit.ts';
import type { FleetTarget } from './fleet-orders.ts';

const clients = 1000;
const perS = 2000;
const roundMs = 8000;
const ratioGoal = 1.1;

interface Pair {
  readonly without: number;
  readonly beside: number;
}

const median = (values: readonly number[]): number => percentile(values, 0.5);

async function roundTrip(fleet: BenchFleet): Promise<number> {
  const { latenciesMs } = await fleet.one({ kind: 'publish', perS, ms: roundMs, window: 20 });
  return percentile(latenciesMs, 0.99);
}

interface Guests {
  readonly frozen: number;
  readonly slow: number;
  readonly polite: number;
}

const politely: Guests = { frozen: 0, slow: 0, polite: 2 };
const rudely: Guests = { frozen: 1, slow: 1, polite: 0 };

interface Site {
  readonly fleet: BenchFleet;
  readonly rude: BenchFleet;
  readonly target: FleetTarget;
  readonly watch: Watch;
}

/** The same beside two more clients. */
async function roundTripBeside({ fleet, rude, target, watch }: Site, guests: Guests): Promise<number> {
  await rude.open({ target, first: clients, count: 2, addresses: 2, spreadMs: 0 });
  await rude.one({ kind: 'freeze', ...guests });
  await sleep(500);
  const p99Ms = await roundTrip(fleet);
  const { dropped, sent, heldBytes } = await rude.one({ kind: 'thaw' });
  watch.at(`${sent} sent by the two, ${dropped} of them dropped, ${heldBytes} bytes of theirs not read`);
  await sleep(500);
  return p99Ms;
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
  const rude = await startFleet(2);
  try {
    const target = { port: server.mqttPort, ca: null };
    await fleet.open({ target, count: clients, addresses: 40, spreadMs: 2000 });
    await roundTrip(fleet);
    const site = { fleet, rude, target, watch };
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds && !watch.isOver(); round++) {
      watch.at(`pair ${round + 1} of ${rounds} at ${isOurs ? 'the broker' : 'bare aedes'}`);
      const without = await roundTripBeside(site, politely);
      pairs.push({ without, beside: await roundTripBeside(site, rudely) });
    }
    return pairs;
  } finally {
    await rude.close();
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
  return [
    {
      section,
      name: `p99 of ${clients} others at ${perS}/s, beside two polite`,
      unit: 'ms',
      value: median(ours.map(({ without }) => without)),
      baseline: { name, value: median(bare.map(({ without }) => without)) },
    },
    {
      section,
      name: 'beside one frozen and one slow client',
      unit: 'ms',
      value: median(ours.map(({ beside }) => beside)),
      baseline: { name, value: median(bare.map(({ beside }) => beside)) },
    },
    {
      section,
      name: 'the one to the other',
      unit: '',
      value: ratio(ours),
      goal: ratioGoal,
      baseline: { name, value: ratio(bare) },
    },
  ];
}
