// The check that no test leaves a folder in the temporary directory.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import setup from '../support/machine/temporary-folders.ts';

const marker = 'FLEETWARD_TEST_DIRECTORY';

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

// This file itself runs in the directory of its run, as do those after it in this process.
const outer = { marker: process.env[marker], directory: process.env['TMPDIR'], exitCode: process.exitCode };
beforeEach(() => void delete process.env[marker]);
afterEach(() => {
  const inner = process.env[marker];
  if (inner !== undefined && inner !== outer.marker) rmSync(inner, { recursive: true, force: true });
  restore(marker, outer.marker);
  restore('TMPDIR', outer.directory);
  process.exitCode = outer.exitCode;
});

it('gives tests a directory of their own, which is gone afterwards', async () => {
  const before = tmpdir();
  const end = setup(0);
  const directory = tmpdir();
  expect(directory).not.toBe(before);
  // One serves all projects of the runner.
  expect(setup(0)).toBeUndefined();
  expect(existsSync(directory)).toBe(true);
  await end?.();
  expect(tmpdir()).toBe(before);
  expect(existsSync(directory)).toBe(false);
});

it('names what a test left, removes it, and does not mind what tools of others left', async () => {
  const end = setup(0);
  const directory = tmpdir();
  mkdirSync(join(directory, 'fleetward-chain-abc'));
  writeFileSync(join(directory, 'vapid-x'), '');
  mkdirSync(join(directory, 'npm-123'));
  await expect(end?.()).rejects.toThrow(
    'tests left in the temporary directory: fleetward-chain-abc, vapid-x',
  );
  expect(existsSync(directory)).toBe(false);
});
