// The net behind the tests (`test/run.mjs`): what may run again, and what never does.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { checkout } from '../support/machine/checkout.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const run = promisify(execFile);
const runner = new URL('test/run.mjs', checkout).pathname;

const wait = (isStalled: boolean): string => `
  const error = new Error('waited 120 s for the link');
  error.name = 'DeadlineError';
  error.isStalled = ${isStalled};
  throw error;`;

/** Runs test files of these bodies, each of which knows by `isFirst` whether it runs for the first time. */
async function outcomeOf(bodies: readonly string[]) {
  const folder = temporaryFolder('late-net');
  writeFileSync(
    `${folder}/vitest.config.mjs`,
    `export default { root: ${JSON.stringify(folder)}, test: { globals: true } };`,
  );
  for (const [at, body] of bodies.entries()) {
    const file = `
import { appendFileSync, readFileSync } from 'node:fs';
const log = ${JSON.stringify(`${folder}/runs`)};
appendFileSync(log, '${at}');
const isFirst = readFileSync(log, 'utf8').split('${at}').length === 2;
it('works', () => {${body}});`;
    writeFileSync(`${folder}/${at}.test.mjs`, file);
  }
  const args = [runner, '--config', `${folder}/vitest.config.mjs`];
  const ended = await run(process.execPath, args, { cwd: folder }).then(
    ({ stdout }) => ({ isPassed: true, stdout }),
    (thrown: { readonly stdout: string }) => ({ isPassed: false, stdout: thrown.stdout }),
  );
  return {
    isPassed: ended.isPassed,
    late: ended.stdout.split('\n').filter((line) => line.startsWith('LATE ')),
    runs: readFileSync(`${folder}/runs`, 'utf8').split('').toSorted().join(''),
  };
}

it.concurrent('runs a file once more that waited while the machine stood still, and says so', async () => {
  expect(await outcomeOf([`if (isFirst) {${wait(true)}}`, ''])).toEqual({
    isPassed: true,
    late: ['LATE 0.test.mjs: waited 120 s for the link'],
    runs: '001',
  });
});

it.concurrent('fails when it is late again', async () => {
  expect(await outcomeOf([wait(true)])).toMatchObject({ isPassed: false, runs: '00' });
});

it.concurrent.each([
  ['a wrong value', ['if (isFirst) expect(1).toBe(2);']],
  ['a wait on a machine that did not stand still', [`if (isFirst) {${wait(false)}}`]],
  [
    'a wait, when another file has a wrong value',
    [`if (isFirst) {${wait(true)}}`, 'if (isFirst) expect(1).toBe(2);'],
  ],
  [
    'a wait, when an error comes that is of no test',
    [`if (isFirst) { setTimeout(() => { throw new Error('late'); }); }`],
  ],
  ['waits in more than three files', Array.from({ length: 4 }, () => `if (isFirst) {${wait(true)}}`)],
])('never tries again %s', async (_, bodies) => {
  const { isPassed, late, runs } = await outcomeOf(bodies);
  expect({ isPassed, late, runs }).toEqual({ isPassed: false, late: [], runs: [...bodies.keys()].join('') });
});
