// A storm: every connection of a fleet is gone at once, and all come back, with full handshakes and by ticket, with and
// without jitter, from many addresses and from one, and beside connections that nobody has ended yet. What the broker's loop,
// its figures and its readiness say meanwhile, from the first that is gone to the last that is back.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, figuresFrom, percentile, type Say } from './agent-figures.ts';
import {
  type BenchFleet,
  type BenchFolder,
  type BenchSecurity,
  startBareBroker,
  startFleet,
  startOurBroker,
} from './bench-fleet.ts';
import type { Watch } from './bench-limit.ts';
import { makeFleetCertificates } from './fleet-certificates.ts';
import type { FleetTarget, OpenResult } from './fleet-orders.ts';
import type { MeasuredProcess } from './measured-process.ts';

const goals = { backS: 60, loopMs: 200 } as const;
const readyEveryMs = 200;
const watchEveryMs = 1000;
const waveMostMs = 180_000;

interface Wave {
  readonly name: string;
  readonly spreadMs: number;
  readonly addresses: number;
  readonly resumes: boolean;
  /** The old connections are not ended: half of the fleet comes a second time. */
  readonly isTakeover: boolean;
  readonly isForTls: boolean;
}

const usual = { spreadMs: 0, addresses: 40, resumes: false, isTakeover: false, isForTls: false } as const;

/** In the order in which they run; the first has goals. */
const waves = {
  full: { ...usual, name: 'at once, 40 addresses' },
  ticket: { ...usual, name: 'at once, 40 addresses, by ticket', resumes: true, isForTls: true },
  takeover: { ...usual, name: 'half of them, the old ones still open', isTakeover: true },
  jitter: { ...usual, name: 'spread over 30 s, 40 addresses', spreadMs: 30_000 },
  'one-address': { ...usual, name: 'at once, one address', addresses: 1 },
} as const satisfies Readonly<Record<string, Wave>>;

export type WaveName = keyof typeof waves;
export const waveNames = Object.keys(waves) as readonly WaveName[];

interface Seen {
  readonly result: OpenResult;
  /** From the loss to the last one that was back. */
  readonly loopMostMs: number;
  /** Without the time in which others had the core. */
  readonly loopOwnMostMs: number;
  /** While the connections ended, before any came back. */
  readonly lossMostMs: number;
  /** Of the return, from `/metrics`; NaN where there is none. */
  readonly metricsMostMs: number;
  readonly cpuMs: number;
  readonly rssMiB: number;
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

interface Site {
  readonly server: MeasuredProcess;
  readonly fleet: BenchFleet;
  readonly target: FleetTarget;
  readonly watch: Watch;
}

/** Tells how many are in, until the opening is done. */
async function opening(site: Site, what: string, result: Promise<OpenResult>): Promise<OpenResult> {
  const { fleet, watch } = site;
  const isDone = result.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([isDone, sleep(watchEveryMs, false)]))) {
    const counts = await fleet.each({ kind: 'count' });
    watch.at(`${what}: ${counts.reduce((sum, { connected }) => sum + connected, 0)} are in`);
  }
  return result;
}

async function storm(site: Site, wave: Wave, all: number): Promise<Seen> {
  const { server, fleet, target, watch } = site;
  const { name, spreadMs, addresses, resumes, isTakeover } = wave;
  const count = isTakeover ? Math.ceil(all / 2) : all;
  watch.at(`${name}: all are gone`);
  await server.collect();
  await server.look();
  if (!isTakeover) await fleet.each({ kind: 'drop' });
  await sleep(3000);
  const loss = await server.look();
  const before = await server.collect();
  // The collection itself is no delay of a storm.
  await sleep(1200);
  await scrape(server);
  await server.look();
  const stopWatching = watchReadiness(server.httpPort);
  const limitMs = Math.min(waveMostMs, watch.leftMs());
  const wish = { target, count, addresses, spreadMs, resumes, limitMs };
  const result = await opening(site, name, fleet.open(wish));
  const ready = await stopWatching();
  const after = await server.look();
  return {
    result,
    loopMostMs: Math.max(after.loopMostMs, loss.loopMostMs),
    loopOwnMostMs: Math.max(after.loopOwnMostMs, loss.loopOwnMostMs),
    lossMostMs: loss.loopMostMs,
    metricsMostMs: await scrape(server),
    cpuMs: after.cpuMs - before.cpuMs,
    rssMiB: after.rss / 1024 / 1024,
    ...ready,
  };
}

function loopFigures(section: string, seen: Seen, bare: Seen): readonly Figure[] {
  const name = 'bare aedes';
  return figuresFrom(section, name, [
    ['  longest delay of the loop', 'ms', seen.loopMostMs, bare.loopMostMs, goals.loopMs],
    ['  of its own, while it had a core', 'ms', seen.loopOwnMostMs, bare.loopOwnMostMs],
    ['  while they were lost', 'ms', seen.lossMostMs, bare.lossMostMs],
    ['  of the return, in /metrics', 'ms', seen.metricsMostMs],
  ]);
}

function figuresOf(section: string, name: string, { seen, bare }: { seen: Seen; bare: Seen }) {
  const { result } = seen;
  const refused = Object.entries(result.refused).map(([why, count]) => `${count} ${why}`);
  const figures: readonly Figure[] = [
    {
      section,
      name: `${name}: ${result.connected} back`,
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
    ...loopFigures(section, seen, bare),
    {
      section,
      name: '  CPU time of one',
      unit: 'ms',
      value: seen.cpuMs / result.connected,
      baseline: { name: 'bare aedes', value: bare.cpuMs / bare.result.connected },
    },
    { section, name: '  resident memory after it', unit: 'MiB', value: seen.rssMiB },
    { section, name: '  /readyz, p99', unit: 'ms', value: seen.readyP99Ms },
    { section, name: '  /readyz not 200', unit: 'times', value: seen.notReady },
    { section, name: '  TLS sessions resumed', unit: '', value: result.resumed },
  ];
  return figures;
}

export interface StormWish {
  readonly section: string;
  readonly security: BenchSecurity;
  readonly count: number;
  readonly waves: readonly WaveName[];
  readonly say: Say;
}

interface Side extends StormWish {
  readonly folder: BenchFolder;
  readonly isOurs: boolean;
  readonly watch: Watch;
}

/** What clients trust, and what they show. */
function shownTo({ folder, security, count }: Side): Omit<FleetTarget, 'port'> {
  if (security === 'plain') return { ca: null };
  const { ca } = folder;
  return security === 'tls' ? { ca } : { ca, certificates: makeFleetCertificates(folder, count) };
}

/** Waves by name; those that the time cap left out are not there. */
async function runSide(side: Side): Promise<ReadonlyMap<WaveName, Seen>> {
  const { folder, isOurs, security, count, watch, say, section } = side;
  const who = isOurs ? 'the broker' : 'bare aedes';
  const server = await (isOurs ? startOurBroker : startBareBroker)(folder, security);
  const fleet = await startFleet(count);
  const seen = new Map<WaveName, Seen>();
  try {
    const target = { port: server.mqttPort, ...shownTo(side) };
    const site = { server, fleet, target, watch };
    const fill = { target, count, addresses: 40, spreadMs: count * 2, limitMs: watch.leftMs() };
    await opening(site, `${who} is filled`, fleet.open(fill));
    for (const name of side.waves) {
      if (watch.isOver()) break;
      const one = await storm(site, waves[name], count);
      seen.set(name, one);
      const { result, loopMostMs, loopOwnMostMs, cpuMs } = one;
      const loop = `loop ${loopMostMs.toFixed(0)} ms (own ${loopOwnMostMs.toFixed(0)})`;
      say(
        `${section}: ${waves[name].name}, ${who}: ${result.connected} back in ${(result.tookMs / 1000).toFixed(1)} s, ${result.attempts} attempts, ${loop}, CPU ${(cpuMs / result.connected).toFixed(2)} ms each`,
      );
    }
    return seen;
  } finally {
    await fleet.close();
    await server.close();
  }
}

/** Measures the waves against the broker, then against bare aedes. */
export async function benchStorm(
  folder: BenchFolder,
  wish: StormWish,
  watch: Watch,
): Promise<readonly Figure[]> {
  const fitting = waveNames.filter((name) => wish.security !== 'plain' || !waves[name].isForTls);
  const chosen = fitting.filter((name) => wish.waves.includes(name));
  const common = { ...wish, waves: chosen, folder, watch };
  const ours = await runSide({ ...common, isOurs: true });
  const bare = await runSide({ ...common, isOurs: false });
  return chosen.flatMap((name) => {
    const [seen, other] = [ours.get(name), bare.get(name)];
    if (seen === undefined || other === undefined) return [];
    return figuresOf(wish.section, waves[name].name, { seen, bare: other });
  });
}
