// A campaign of hostile lives over a range of seeds, with its progress on the console and its findings in the end.
import { env } from 'node:process';
import type { CutMode } from '../../agent/core/protection/interlock.ts';
import { type LifeCounts, liveHostile } from './hostile-world.ts';

const noCounts = (): LifeCounts => ({
  closings: 0,
  withIgnitionOn: 0,
  reboots: 0,
  withdrawals: 0,
  fastestKmh: 0,
});

/** FLEETWARD_RUNS lives, else `standard`; FLEETWARD_FIRST_RUN is the first seed. At most five findings are kept. */
export function runHostileCampaign(modes: readonly CutMode[], standard: number) {
  const runs = Number(env['FLEETWARD_RUNS'] ?? standard);
  const first = Number(env['FLEETWARD_FIRST_RUN'] ?? 0);
  const counts = noCounts();
  const failed: string[] = [];
  const startMs = performance.now();
  let toldMs = startMs;
  for (let at = 0; at < runs && failed.length < 5; at += 1) {
    const seed = first + at;
    const mode = modes[seed % modes.length] ?? 'ignition_off';
    const { breaches } = liveHostile(seed, mode, counts);
    if (breaches.length > 0) failed.push(`${mode}, seed ${seed}: ${breaches.join('; ')}`);
    const nowMs = performance.now();
    if (nowMs - toldMs < 15_000) continue;
    toldMs = nowMs;
    const perS = Math.round((at + 1) / ((nowMs - startMs) / 1000));
    console.log(`${modes.join(' and ')}: ${at + 1} of ${runs} lives, ${perS}/s, ${JSON.stringify(counts)}`);
  }
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(`${modes.join(' and ')}: ${runs} lives in ${seconds} s, ${JSON.stringify(counts)}`);
  return { counts, failed };
}

/** One life again, with its trail. */
export function replayHostile(mode: CutMode, seed: number) {
  return liveHostile(seed, mode, noCounts());
}
