// The proof of the proof: real runs, most of `smoke`, against this build with one fault put into it. Each fault must be found and named; one that
// passes unseen is a failing test. A random dozen, of the seed that is printed; FLEETWARD_TEST_FAULTS=all (`npm run test:truth`) takes all of them,
// FLEETWARD_TEST_FAULTS=<seed> the dozen of a seed, and a text those whose name or scenario
// contains it.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import type { RunResult } from '../../simulator/run/measure/result.ts';
import { exerciseOperations } from '../support/exercises/exercise-operations.ts';
import { editOnce } from '../support/machine/edit-once.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import {
  isSimulatorBuilt,
  killSimulators,
  simulate,
  simulatorNote,
} from '../support/programs/simulator-program.ts';
import { copyBuild, faultyBuild, linkBuild } from '../support/truth/faulty-build.ts';
import { foundIn } from '../support/truth/found-breaches.ts';
import type { TruthMutant } from '../support/truth/truth-mutant.ts';
import { truthMutants } from '../support/truth/truth-mutants.ts';

const dozen = 12;
const folder = temporaryFolder('truth-mutants');
const asked = env['FLEETWARD_TEST_FAULTS'] ?? '';
const seed = /^\d+$/.test(asked) ? asked : String(Date.now() % 1_000_000);

function chosen(): readonly TruthMutant[] {
  if (asked === 'all') return truthMutants;
  if (asked !== '' && asked !== seed)
    return truthMutants.filter(({ fault, scenario = 'smoke' }) => `${scenario} ${fault}`.includes(asked));
  const entropy = createSeededEntropy(seed);
  const order = truthMutants.map((mutant) => ({ mutant, at: entropy.fraction() }));
  return order
    .toSorted((one, other) => one.at - other.at)
    .slice(0, dozen)
    .map(({ mutant }) => mutant);
}

/** @returns the simulator to run, of a build with the fault. */
async function faultySimulator(no: number, mutant: TruthMutant): Promise<string> {
  const { own, faulty } = await faultyBuild(folder, { no, ...mutant });
  if (mutant.side === 'agent') return join(faulty, 'simulator/main.js');
  // The simulator itself stays as it is, or the fault would blind it too.
  const sound = linkBuild(folder, join(own, 'sound'));
  const program = `'file://${join(faulty, 'broker/main.js')}'`;
  await editOnce(join(sound, 'simulator/broker-process.js'), "'../broker/main.js'", program);
  return join(sound, 'simulator/main.js');
}

const scenarioOf = ({ scenario }: TruthMutant): string =>
  scenario === undefined
    ? 'smoke'
    : fileURLToPath(new URL(`../support/truth/${scenario}.toml`, import.meta.url));

async function runWith(
  no: number,
  mutant: TruthMutant,
): Promise<{ code: number | null; text: string; result: RunResult | null }> {
  const program = await faultySimulator(no, mutant);
  const json = join(folder, `${no}.json`);
  const state = join(folder, `state-${no}`);
  const { threshold } = mutant;
  const thresholds = threshold === undefined ? [] : ['--threshold', threshold];
  const { code, text } = await simulate(
    ['run', scenarioOf(mutant), '--json', json, '--state', state, ...thresholds],
    undefined,
    undefined,
    program,
  );
  const result = await readFile(json, 'utf8').catch(() => null);
  await rm(join(folder, String(no)), { recursive: true, force: true });
  await rm(state, { recursive: true, force: true });
  return { code, text, result: result === null ? null : (JSON.parse(result) as RunResult) };
}

beforeAll(async () => {
  if (!isSimulatorBuilt) return;
  await copyBuild(folder);
});

afterAll(async () => {
  killSimulators();
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(!isSimulatorBuilt)(
  `a run, seed of the faults ${seed}${simulatorNote}`,
  { concurrent: true },
  () => {
    it.each(chosen().map((mutant, no) => [mutant.fault, mutant, no] as const))(
      'finds it when %s',
      async (_, mutant, no) => {
        if (mutant.scenario === 'operations') {
          const { own, faulty } = await faultyBuild(folder, { no, ...mutant });
          const wrong = await exerciseOperations(`${faulty}/`);
          await rm(own, { recursive: true, force: true });
          console.log(`${mutant.fault}: ${wrong.join('; ') || 'NOTHING'}`);
          expect(wrong).not.toEqual([]);
          return;
        }
        const { code, text, result } = await runWith(no, mutant);
        if (result === null) throw new Error(`it ended with ${code} and no result:\n${text.slice(-2000)}`);
        const found = foundIn(mutant, result);
        expect(code, text.slice(-2000)).toBe(3);
        expect(found, text.slice(-2000)).not.toEqual([]);
      },
    );
  },
);
