// The seed of a run: every property draws its inputs from it, so that the same checkout gives the same result on every machine. Runs of
// `npm run test:nightly` draw a new one; FLEETWARD_TEST_RUN_SEED repeats one.
import fc from 'fast-check';

/** Used unless FLEETWARD_TEST_RUN_SEED gives another. */
const usualSeed = 20_261_124;

/** Whole number from FLEETWARD_TEST_RUN_SEED, or the usual one. @throws Error when it is none. */
export function runSeed(): number {
  const given = process.env['FLEETWARD_TEST_RUN_SEED'] ?? '';
  if (given === '') return usualSeed;
  if (!/^-?\d{1,10}$/.test(given)) throw new Error(`FLEETWARD_TEST_RUN_SEED is no whole number: ${given}`);
  return Number(given) | 0;
}

fc.configureGlobal({ seed: runSeed() });
