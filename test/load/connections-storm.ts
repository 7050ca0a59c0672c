// A storm: every connection of a fleet is gone at once, and all come back over TLS, with and without jitter, from many
// addresses and from one, with tickets and without. What the broker's loop, its figures and its readiness say meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, percentile, type Say } from './agent-figures.ts';
import {
  type BenchFleet,
  type BenchFolder,
  startBareBroker,
  startFleet,
  startOurBroker,
} from './bench-fleet.ts';
import type { FleetTarget, OpenResult } from './fleet-orders.ts';
import type { MeasuredProcess } from './measured-process.ts';

const goals = { backS: 60, loopMs: 200 } as const;
const readyEveryMs = 200;

interface Wave {
  readonly name: string;
  readonly spreadMs: number;
  readonly addresses: number;
  readonly resumes: boolean;
}

const waves: readonly Wave[] = [
  { name: 'at once, 40 addresses', spreadMs: 0, addresses: 40, resumes: false },
  { name: 'at once, 40 addresses, by ticket', spreadMs: 0, addresses: 40, resumes: true },
  { name: 'spread over 30 s, 40 addresses', spreadMs: 30_000, addresses: 40, resumes: false },
  { name: 'at once, one address', spreadMs: 0, addresses: 1, resumes: false },
];

interface Seen {
  readonly result: OpenResult;
  readonly loopMostMs: number;
  /** The same from `/metrics`; NaN where there is none. */
  readonly metricsMostMs: number;
  readonly cpuMs: number;
  readonly readyP99Ms: number;
  readonly notReady: number;
}

/** Asks for readiness until told to stop. */
function watchReadiness(port: number | undefined) {
  const over = new AbortController();
  const tookMs: number[] = [];
  let notReady = 0;
  const watch = async (): Promise<void> => {
    if (port === undefined) return;
    while (!over.signal.aborted) {
      const beganMs = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      tookMs.push(performance.now() - beganMs);
      if (answer?.status !== 200) notReady += 1;
      await answer?.arrayBuffer();
      await sleep(readyEveryMs);
    }
  };
  const done = watch();
  return async () => {
    over.abort();
    await done;
    return { readyP99Ms: percentile(tookMs, 0.99), notReady };
  };
}

/** Longest delay of the loop since the last scrape, as Prometheus is shown it. */
async function scrape({ metricsPort }: MeasuredProcess): Promise<number> {
  if (metricsPort === undefined) return Number.NaN;
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1] ?? Number.NaN) * 1000;
}

async function storm(
  {
    server,
    fleet,
    target,
  }: { readonly server: MeasuredProcess; readonly fleet: BenchFleet; readonly target: FleetTarget },
  { spreadMs, addresses, resumes }: Omit<Wave, 'name'>,
  count: number,
): Promise<Seen> {
  await fleet.each({ kind: 'drop' });
  await sleep(3000);
  await scrape(server);
  const before = await server.collect();
  // The collection itself is no delay of a storm.
  await scrape(server);
  await sleep(1200);
  await scrape(server);
  await server.look();
  const stopWatching = watchReadiness(server.httpPort);
  const result = await fleet.open({ target, count, addresses, spreadMs, resumes, limitMs: 180_000 });
  const ready = await stopWatching();
  const after = await server.look();
  return {
    result,
    loopMostMs: after.loopMostMs,
    metricsMostMs: await scrape(server),
    cpuMs: after.cpuMs - before.cpuMs,
    ...ready,
  };
}

function figuresOf(name: string, seen: Seen, bare: Seen): readonly Figure[] {
  const { result } = seen;
  const section = 'storm';
  const refused = Object.entries(result.refused).map(([why, count]) => `${count} ${why}`);
  return [
    {
      section,
      name: `${name}: all ${result.connected} back`,
      unit: 's',
      value: result.tookMs / 1000,
      goal: goals.backS,
      baseline: { name: `bare aedes, ${bare.result.connected} back`, value: bare.result.tookMs / 1000 },
    },
    { section, name: '  half of them', unit: 's', value: percentile(result.inAfterMs, 0.5) / 1000 },
    {
      section,
      name: `  attempts more than clients ${refused.join(', ')}`.slice(0, 46),
      unit: '',
      value: result.attempts - result.connected,
    },
    {
      section,
      name: '  longest delay of the loop',
      unit: 'ms',
      value: seen.loopMostMs,
      goal: goals.loopMs,
      baseline: { name: 'bare aedes', value: bare.loopMostMs },
    },
    { section, name: '  the same in /metrics', unit: 'ms', value: seen.metricsMostMs },
    {
      section,
      name: '  CPU time of one',
      unit: 'ms',
      value: seen.cpuMs / result.connected,
      baseline: { name: 'bare aedes', value: bare.cpuMs / bare.result.connected },
    },
    { section, name: '  /readyz, p99', unit: 'ms', value: seen.readyP99Ms },
    { section, name: '  /readyz not 200', unit: 'times', value: seen.notReady },
    { section, name: '  TLS sessions resumed', unit: '', value: result.resumed },
  ];
}

async function runAll(
  folder: BenchFolder,
  isOurs: boolean,
  count: number,
  say: Say,
): Promise<readonly Seen[]> {
  const server = await (isOurs ? startOurBroker : startBareBroker)(folder, true);
  const fleet = await startFleet(count);
  try {
    const target = { port: server.mqttPort, ca: folder.ca };
    await fleet.open({ target, count, addresses: 40, spreadMs: count * 2 });
    const seen: Seen[] = [];
    for (const wave of waves) {
      say(`storm: ${wave.name}, ${isOurs ? 'the broker' : 'bare aedes'}`);
      const one = await storm({ server, fleet, target }, wave, count);
      seen.push(one);
      const { result, loopMostMs, cpuMs } = one;
      const backS = (result.tookMs / 1000).toFixed(1);
      say(
        `  ${result.connected} of ${count} back in ${backS} s, ${result.attempts} attempts, loop ${loopMostMs.toFixed(0)} ms, CPU ${(cpuMs / count).toFixed(2)} ms each`,
      );
    }
    return seen;
  } finally {
    await fleet.close();
    await server.close();
  }
}

/** Measures all waves against bare aedes, then against the broker. */
export async function benchStorm(folder: BenchFolder, count: number, say: Say): Promise<readonly Figure[]> {
  const bare = await runAll(folder, false, count, say);
  const ours = await runAll(folder, true, count, say);
  return waves.flatMap(({ name }, at) => {
    const [one, other] = [ours[at], bare[at]];
    return one === undefined || other === undefined ? [] : figuresOf(name, one, other);
  });
}
