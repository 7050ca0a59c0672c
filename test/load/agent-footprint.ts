// Memory and CPU of a real agent that drives: 1 Hz NMEA, the inputs polled as asked, a broker at hand; beside it, over the
// same minutes, a bare Node process that has loaded the same packages and idles.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figure, percentile, type Say } from './agent-figures.ts';
import { startBare, startRig, type Usage, usageOf } from './agent-rig.ts';

export interface FootprintOptions {
  readonly minutes: number;
  /** Between two readings of the inputs; 200 is the 5 Hz of goal G4. */
  readonly pollMs: number;
}

const sampleMs = 2000;
/** The start is not the steady state. */
export const warmUpMs = 10_000;
const goals = { rssMb: 90, cpuPercent: 3 } as const;

/** What processes used over the same minutes. */
export interface Watched {
  readonly samples: readonly Usage[];
  readonly cpuPercent: number;
}

/** Looks at processes until `ms` have passed. */
export async function watch(
  pids: readonly number[],
  ms: number,
  onProgress: (leftMs: number) => void,
): Promise<readonly Watched[]> {
  const samples: Usage[][] = pids.map((pid) => [usageOf(pid)]);
  const startMs = performance.now();
  for (let tick = 1; performance.now() - startMs < ms; tick++) {
    await sleep(sampleMs);
    for (const [at, pid] of pids.entries()) samples[at]?.push(usageOf(pid));
    if (tick % 15 === 0) onProgress(ms - (performance.now() - startMs));
  }
  const tookMs = performance.now() - startMs;
  return samples.map((all) => {
    const usedMs = (all.at(-1)?.cpuMs ?? 0) - (all[0]?.cpuMs ?? 0);
    return { samples: all, cpuPercent: (usedMs / tookMs) * 100 };
  });
}

/** Memory of a watched process, by share of its samples: 0.5 is the median. */
export const rssOf = (watched: Watched | undefined, share: number): number =>
  percentile(
    (watched?.samples ?? []).map(({ rssMb }) => rssMb),
    share,
  );

function figuresOf([ours, bare]: readonly Watched[], name: string): readonly Figure[] {
  const bareName = 'Node with the same packages, idle';
  const common = { section: 'footprint' } as const;
  return [
    {
      ...common,
      name: `${name}: RSS, median`,
      unit: 'MB',
      value: rssOf(ours, 0.5),
      baseline: { name: bareName, value: rssOf(bare, 0.5) },
      goal: goals.rssMb,
    },
    {
      ...common,
      name: `${name}: RSS, highest`,
      unit: 'MB',
      value: rssOf(ours, 1),
      baseline: { name: bareName, value: rssOf(bare, 1) },
      goal: goals.rssMb,
    },
    {
      ...common,
      name: `${name}: CPU`,
      unit: '% core',
      value: ours?.cpuPercent ?? 0,
      baseline: { name: bareName, value: bare?.cpuPercent ?? 0 },
      goal: goals.cpuPercent,
    },
  ];
}

/** Measures the footprint; takes `minutes` and a little. Needs socat. */
export async function benchFootprint(
  { minutes, pollMs }: FootprintOptions,
  say: Say,
): Promise<readonly Figure[]> {
  say(`footprint: ${minutes} minutes of driving, inputs every ${pollMs} ms`);
  const rig = await startRig({ inputsPollMs: pollMs });
  try {
    const agent = rig.startAgent();
    const bare = await startBare('bare-agent');
    try {
      await rig.command('drive');
      await sleep(warmUpMs);
      const watched = await watch([agent.pid, bare.child.pid ?? 0], minutes * 60_000, (leftMs) =>
        say(`footprint: ${Math.max(0, Math.round(leftMs / 1000))} s left`),
      );
      return figuresOf(watched, `${(1000 / pollMs).toFixed(0)} Hz inputs, 1 Hz NMEA`);
    } finally {
      await bare.close();
    }
  } finally {
    await rig.close();
  }
}

/** V8 compiles in the first minutes. */
const parkedWarmUpMs = 120_000;
const parkedGoals = { rssMb: 70, ratio: 1.5 } as const;

/** Measures a parked agent beside a program with the same serial traffic and no work on it. Needs socat. */
export async function benchParked(
  { minutes, pollMs }: FootprintOptions,
  say: Say,
): Promise<readonly Figure[]> {
  say(`parked: ${minutes} minutes after the first two, inputs every ${pollMs} ms`);
  const closes: (() => Promise<void>)[] = [];
  try {
    const rig = await startRig({ inputsPollMs: pollMs });
    closes.unshift(rig.close);
    const bareRig = await startRig();
    closes.unshift(bareRig.close);
    const agent = rig.startAgent();
    const ports = ['ttyBoard', 'ttyGnss'].map((name) => join(bareRig.folder, name));
    const bare = await startBare('bare-serial', ports);
    closes.unshift(bare.close);
    await sleep(parkedWarmUpMs);
    const [ours, theirs] = await watch([agent.pid, bare.child.pid ?? 0], minutes * 60_000, (leftMs) =>
      say(`parked: ${Math.max(0, Math.round(leftMs / 1000))} s left`),
    );
    const common = { section: 'parked' } as const;
    const name = 'the same serial traffic without work';
    const [cpu, bareCpu] = [ours?.cpuPercent ?? Number.NaN, theirs?.cpuPercent ?? Number.NaN];
    return [
      { ...common, name: 'CPU', unit: '% core', value: cpu, baseline: { name, value: bareCpu } },
      {
        ...common,
        name: 'CPU to that of the bare program',
        unit: '',
        value: cpu / bareCpu,
        goal: parkedGoals.ratio,
      },
      {
        ...common,
        name: 'RSS, median',
        unit: 'MB',
        value: rssOf(ours, 0.5),
        baseline: { name, value: rssOf(theirs, 0.5) },
        goal: parkedGoals.rssMb,
      },
    ];
  } finally {
    for (const close of closes) await close();
  }
}
