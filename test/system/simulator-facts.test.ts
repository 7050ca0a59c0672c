// `--facts`: two runs of one seed plan the same, byte by byte, and it happens; a run of another seed plans something else.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { factOfAction } from '../../simulator/core/result/expectations.ts';
import type { ActionKind } from '../../simulator/core/scenario/scripted-actions.ts';
import type { FactLine } from '../../simulator/run/facts/facts-file.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { isSimulatorBuilt, simulate, simulatorNote } from '../support/programs/simulator-program.ts';

const folder = temporaryFolder('simulator-facts');
/** Later than planned on a machine that has other work. */
const lateMs = 5000;

const lines = [
  'title = "a test"',
  'durationS = 15',
  'drainS = 40',
  'panicMs = 10000',
  '[fleet]',
  'devices = 4',
  'connectSpreadS = 1',
  '[actions]',
  'panicPerHour = 600',
  'doorPerHour = 600',
  '[commands]',
  'perMinute = 10',
  'restoreS = 5',
  '[needs]',
  'commands = 0',
];

interface Facts {
  readonly seeded: string;
  readonly planned: readonly FactLine[];
  readonly happened: readonly FactLine[];
  readonly last: unknown;
}

async function factsOf(name: string, seed: string): Promise<Facts> {
  const path = join(folder, 'facts.toml');
  writeFileSync(path, `${lines.join('\n')}\n`);
  const file = join(folder, `${name}.ndjson`);
  const flags = ['--seed', seed, '--facts', file, '--state', join(folder, name)];
  const { code, text } = await simulate(['run', path, ...flags]);
  expect([code, text]).toEqual([0, expect.stringContaining('PASSED')]);
  const written = readFileSync(file, 'utf8').trimEnd().split('\n');
  const partOf = (part: string): readonly string[] =>
    written.filter((line) => line.startsWith(`{"part":"${part}"`));
  const parsed = (part: string) => partOf(part).map((line) => JSON.parse(line) as FactLine);
  return {
    seeded: [written[0], ...partOf('planned')].join('\n'),
    planned: parsed('planned'),
    happened: parsed('happened'),
    last: JSON.parse(written.at(-1) ?? ''),
  };
}

/** Planned facts of the first 12 s that did not happen in time. */
function missing({ planned, happened }: Facts): readonly FactLine[] {
  return planned.filter(({ vehicle, what, kind, atMs }) => {
    if ((what !== 'road' && what !== 'action') || atMs > 12_000) return false;
    const fact = what === 'action' ? factOfAction[kind as ActionKind] : kind;
    return !happened.some(
      (one) =>
        one.vehicle === vehicle && one.kind === fact && one.atMs >= atMs - 100 && one.atMs <= atMs + lateMs,
    );
  });
}

describe.skipIf(!isSimulatorBuilt)(`the facts of a run${simulatorNote}`, () => {
  it('are planned alike by the same seed, otherwise by another, and happen as planned', async () => {
    const one = await factsOf('one', 'alpha');
    const same = await factsOf('same', 'alpha');
    const other = await factsOf('other', 'beta');
    expect(same.seeded).toBe(one.seeded);
    expect(other.planned).not.toEqual(one.planned);
    for (const facts of [one, same, other]) {
      expect(facts.planned.filter(({ what }) => what === 'action').length).toBeGreaterThan(0);
      expect(missing(facts)).toEqual([]);
      expect(facts.last).toMatchObject({ part: 'end', outcome: 'passed' });
    }
  });
});
