// The mutation test of the rules: each rule switched off in a copy of the compiled code must be found by the hostile campaign. A rule
// that is switched off unseen is a failing test. FLEETWARD_TEST_MUTANT_LIVES raises the bound of lives for each.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Mutant, mutants } from '../support/hostile/hostile-mutants.ts';
import { checkout } from '../support/machine/checkout.ts';
import { editOnce } from '../support/machine/edit-once.ts';

const lives = Number(env['FLEETWARD_TEST_MUTANT_LIVES'] ?? 4000);
const run = promisify(execFile);
const root = fileURLToPath(checkout);
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleetward-mutants-'));
  const compiler = join(root, 'node_modules/.bin/tsc');
  const project = join(root, 'test/support/hostile/campaign.tsconfig.json');
  await run(compiler, ['-p', project, '--outDir', join(folder, 'base')]);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
});

afterAll(async () => {
  if (folder !== '') await rm(folder, { recursive: true, force: true });
});

interface Found {
  readonly seed: number;
  readonly breach: string | null;
}

/** Lives in a copy in which the rule does not hold, until the first breach. */
async function liveWithout({
  file,
  find,
  put,
  also,
  mode,
  from,
  isPositive,
  hasBus,
}: Mutant): Promise<Found> {
  // A child that a test gave up must not go on beside the others.
  const life = new AbortController();
  onTestFinished(() => life.abort());
  const copy = await mkdtemp(join(folder, 'copy-'));
  try {
    await cp(join(folder, 'base'), copy, { recursive: true });
    for (const edit of [{ file, find, put }, ...(also === undefined ? [] : [{ file, ...also }])]) {
      await editOnce(join(copy, 'agent/core', edit.file), edit.find, edit.put);
    }
    const child = join(copy, 'test/support/hostile/mutant-child.js');
    const wiring = isPositive === true ? 'positive' : 'plain';
    const args = [
      child,
      mode ?? 'ignition_off',
      String(from ?? 0),
      String(lives),
      wiring,
      hasBus === true ? 'bus' : 'none',
    ];
    const { stdout } = await run(execPath, args, { signal: life.signal });
    return JSON.parse(stdout) as Found;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

it.each(mutants.map((mutant) => [mutant.rule, mutant] as const))(
  'finds it when this no longer holds: %s',
  async (rule, mutant) => {
    const { seed, breach } = await liveWithout(mutant);
    console.log(`${rule}: seed ${seed}, ${breach ?? 'nothing found'}`);
    expect(breach).not.toBeNull();
  },
);
