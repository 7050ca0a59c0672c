// A campaign of hostile lives over a range of seeds, with its progress on the console and its findings in the end.
import { env } from 'node:process';
import type { CutMode } from '../../../agent/core/protection/interlock-rules.ts';
import { type LifeCounts, noCounts } from './hostile-life.ts';
import { liveHostile, liveParked } from './hostile-plots.ts';

function summary(name: string, counts: LifeCounts, startMs: number): string {
  const seconds = Math.max(1, Math.round((performance.now() - startMs) / 1000));
  return `${name}: ${counts.lives} lives in ${seconds} s, ${JSON.stringify(counts)}`;
}

/** FLEETWARD_RUNS lives, else `standard`; FLEETWARD_FIRST_RUN is the first seed. At most five findings are kept. */
export function runHostileCampaign(mode: CutMode, standard: number) {
  const runs = Number(env['FLEETWARD_RUNS'] ?? standard);
  const first = Number(env['FLEETWARD_FIRST_RUN'] ?? 0);
  const counts = noCounts();
  const failed: string[] = [];
  const startMs = performance.now();
  let shownMs = startMs;
  for (let seed = first; seed < first + runs && failed.length < 5; seed += 1) {
    const { breaches } = liveHostile(seed, mode, counts);
    if (breaches.length > 0) failed.push(`${mode}, seed ${seed}: ${breaches.join('; ')}`);
    if (performance.now() - shownMs < 15_000) continue;
    shownMs = performance.now();
    console.log(summary(mode, counts, startMs));
  }
  console.log(summary(mode, counts, startMs));
  return { counts, failed };
}

/** Cuts of parked vehicles with good sensors: the share that was confirmed within 30 s, and the seeds of the others. */
export function runParkedCampaign(mode: CutMode, runs: number) {
  const counts = noCounts();
  const late: string[] = [];
  const breaches: string[] = [];
  const times: number[] = [];
  for (let seed = 0; seed < runs; seed += 1) {
    const life = liveParked(seed, mode, counts);
    breaches.push(...life.breaches);
    if (life.confirmedMs === null || life.confirmedMs > 30_000)
      late.push(`seed ${seed}: ${life.confirmedMs}`);
    else times.push(life.confirmedMs);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  console.log(
    `${mode}, parked with good sensors: ${times.length} of ${runs} confirmed within 30 s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  );
  return { share: times.length / runs, late, breaches };
}

/** One life again, with its trail. */
export function replayHostile(mode: CutMode, seed: number) {
  return liveHostile(seed, mode, noCounts());
}
