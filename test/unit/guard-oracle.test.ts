// The relay guard against an oracle in Python, which was written from its interface note (`agent/guard/README.md`) and DESIGN alone.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { extent } from '../support/extent.ts';
import { casesAsLines } from '../support/guard/guard-cases.ts';
import { createLineGuard, type Line, randomLines } from '../support/guard/guard-lines.ts';
import { checkout } from '../support/machine/checkout.ts';

const oracle = fileURLToPath(new URL('test/oracle/guard_oracle.py', checkout));
const why = spawnSync('python3', ['--version']).status === 0 ? null : 'this machine has no python3';
const stepsOfSeed = 20_000;
/** The gate compares 10^5 random steps, the nightly tier 10^7; a step is one to two lines. */
const seeds = Array.from({ length: extent({ gate: 5, nightly: 500 }) }, (_, at) => `oracle ${at}`);

function expectAgreement(lines: readonly string[]): void {
  const answer = createLineGuard();
  const own = lines.flatMap((text) => answer(JSON.parse(text) as Line) ?? []);
  const run = spawnSync('python3', [oracle], { input: lines.join('\n'), maxBuffer: 2 ** 28 });
  expect(run.stderr.toString()).toBe('');
  const theirs = run.stdout.toString().trim().split('\n');
  expect(theirs).toHaveLength(own.length);
  const apart = own.flatMap((one, at) => (one === theirs[at] ? [] : [`${one} is ${theirs[at] ?? ''} there`]));
  expect(apart.slice(0, 5)).toEqual([]);
}

describe.skipIf(why !== null)(why === null ? 'the oracle' : `the oracle [${why}]`, () => {
  it.each(seeds)('agrees with the relay guard on the random lines of %s', { timeout: 600_000 }, (seed) => {
    expectAgreement([...randomLines(seed, stepsOfSeed)]);
  });

  it('agrees with the relay guard on each of its cases', { timeout: 60_000 }, () => {
    expectAgreement(casesAsLines.flat().map((line) => JSON.stringify(line)));
  });
});
