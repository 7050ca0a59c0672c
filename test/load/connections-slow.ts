// One client that publishes all it can and reads nothing of its acknowledgements, and one that reads a little: what the
// others notice of them. With and without them in turn, on one broker; the middle of the pairs counts.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, percentile, type Say } from './agent-figures.ts';
import {
  type BenchFleet,
  type BenchFolder,
  startBareBroker,
  startFleet,
  startOurBroker,
} from './bench-fleet.ts';

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

async function measure(folder: BenchFolder, isOurs: boolean, rounds: number): Promise<readonly Pair[]> {
  const server = await (isOurs ? startOurBroker : startBareBroker)(folder, false);
  const fleet = await startFleet(clients);
  const rude = await startFleet(2);
  try {
    const target = { port: server.mqttPort, ca: null };
    await fleet.open({ target, count: clients, addresses: 40, spreadMs: 2000 });
    await roundTrip(fleet);
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round++) {
      const without = await roundTrip(fleet);
      await rude.open({ target, first: clients, count: 2, addresses: 2, spreadMs: 0 });
      await rude.one({ kind: 'freeze', frozen: 1, slow: 1 });
      await sleep(500);
      pairs.push({ without, beside: await roundTrip(fleet) });
      await rude.one({ kind: 'thaw' });
      await sleep(500);
    }
    return pairs;
  } finally {
    await rude.close();
    await fleet.close();
    await server.close();
  }
}

/** Measures with so many pairs of rounds. */
export async function benchSlow(folder: BenchFolder, rounds: number, say: Say): Promise<readonly Figure[]> {
  say(`slow: ${rounds} pairs of ${roundMs / 1000} s at the broker, then one at bare aedes`);
  const ours = await measure(folder, true, rounds);
  const bare = await measure(folder, false, 1);
  const section = 'slow';
  const name = 'bare aedes';
  const ratio = (pairs: readonly Pair[]): number =>
    median(pairs.map(({ without, beside }) => beside / without));
  return [
    {
      section,
      name: `p99 of ${clients} others at ${perS}/s, alone`,
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
