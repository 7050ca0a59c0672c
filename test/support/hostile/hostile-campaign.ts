// A campaign of hostile lives over a range of seeds, with its progress on the console and its findings in the end.
import { env } from 'node:process';
import { liveDay } from './hostile-day.ts';
import { type LifeCounts, noCounts } from './hostile-life.ts';
import { type Circumstance, liveHostile, liveParked } from './hostile-plots.ts';
import type { LifeSetup } from './hostile-world.ts';

function summary(name: string, counts: LifeCounts, startMs: number): string {
  const seconds = Math.max(1, Math.round((performance.now() - startMs) / 1000));
  return `${name}: ${counts.lives} lives in ${seconds} s, ${JSON.stringify(counts)}`;
}

const nameOf = ({ mode, isPositive, hasBus = false }: LifeSetup): string =>
  `${mode}${isPositive ? ', positive wiring' : ''}${hasBus ? ', vehicle bus' : ''}`;

/** FLEETWARD_TEST_RUNS lives, else `standard`; FLEETWARD_TEST_FIRST_RUN is the first seed. At most five findings are kept. */
export function runHostileCampaign(setup: LifeSetup, standard: number) {
  const name = nameOf(setup);
  const runs = Number(env['FLEETWARD_TEST_RUNS'] ?? standard);
  const first = Number(env['FLEETWARD_TEST_FIRST_RUN'] ?? 0);
  const counts = noCounts();
  const failed: string[] = [];
  const startMs = performance.now();
  let shownMs = startMs;
  for (let seed = first; seed < first + runs && failed.length < 5; seed += 1) {
    const { breaches } = liveHostile(seed, setup, counts);
    if (breaches.length > 0) failed.push(`${name}, seed ${seed}: ${breaches.join('; ')}`);
    if (performance.now() - shownMs < 15_000) continue;
    shownMs = performance.now();
    console.log(summary(name, counts, startMs));
  }
  console.log(summary(name, counts, startMs));
  return { counts, failed };
}

/** As `runHostileCampaign`, of lives that last for hours; FLEETWARD_TEST_DAYS lives, else `standard`. */
export function runDayCampaign(setup: LifeSetup, hours: number, standard: number) {
  const counts = noCounts();
  const failed: string[] = [];
  const startMs = performance.now();
  const first = Number(env['FLEETWARD_TEST_FIRST_RUN'] ?? 0);
  const runs = Number(env['FLEETWARD_TEST_DAYS'] ?? standard);
  for (let seed = first; seed < first + runs && failed.length < 5; seed += 1) {
    const { breaches } = liveDay(seed, { ...setup, lifeMs: hours * 3_600_000 }, counts);
    if (breaches.length > 0)
      failed.push(`${nameOf(setup)}, ${hours} h, seed ${seed}: ${breaches.join('; ')}`);
  }
  console.log(summary(`${nameOf(setup)}, ${hours} h`, counts, startMs));
  return { counts, failed };
}

/** Cuts of parked vehicles with good sensors: the share that was confirmed in time, and the seeds of the others. */
export function runParkedCampaign(
  given: LifeSetup & { readonly where: Circumstance; readonly withinMs: number },
  runs: number,
) {
  const counts = noCounts();
  const late: string[] = [];
  const breaches: string[] = [];
  const times: number[] = [];
  for (let seed = 0; seed < runs; seed += 1) {
    const life = liveParked(seed, given, counts);
    breaches.push(...life.breaches);
    if (life.confirmedMs === null || life.confirmedMs > given.withinMs)
      late.push(`seed ${seed}: ${life.confirmedMs}`);
    else times.push(life.confirmedMs);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  console.log(
    `${nameOf(given)}, parked, ${given.where}: ${times.length} of ${runs} confirmed within ${given.withinMs / 1000} s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  );
  return { share: times.length / runs, late, breaches };
}

/** One life again, with its trail. */
export function replayHostile(setup: LifeSetup, seed: number) {
  return liveHostile(seed, setup, noCounts());
}
