// The check that no test leaves a folder or a process, and that all of it ends with the runner.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import setup from '../support/machine/temporary-folders.ts';

const marker = 'FLEETWARD_TEST_DIRECTORY';

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

/** A process that nobody ends, in a process group of its own; it inherits the variables of now. */
function leave(): { readonly child: ChildProcess; readonly end: Promise<unknown> } {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore', detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, end: once(child, 'exit') };
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
  await expect(end?.()).rejects.toThrow('tests left behind: fleetward-chain-abc, vapid-x');
  expect(existsSync(directory)).toBe(false);
});

it('removes the folders of a test file whose process was killed, and keeps those of one that runs', async () => {
  const end = setup(0);
  const directory = tmpdir();
  const { child, end: ended } = leave();
  child.kill('SIGKILL');
  await ended;
  mkdirSync(join(directory, 'fleetward-killed-abc'));
  mkdirSync(join(directory, 'fleetward-alive-abc'));
  const list = `${child.pid} fleetward-killed-abc\n${process.pid} fleetward-alive-abc\n`;
  writeFileSync(join(directory, '.folders'), list);
  await expect(end?.()).rejects.toThrow(/^tests left behind: fleetward-alive-abc$/);
});

it('names a process that a test left, and ends it', async () => {
  const end = setup(0);
  const { child, end: ended } = leave();
  await expect(end?.()).rejects.toThrow(`tests left behind: process ${child.pid} sleep 1000`);
  expect(await ended).toEqual([null, 'SIGKILL']);
});

it('ends everything when the runner is killed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fw-tests-'));
  const undertaker = new URL('../support/machine/undertaker.mjs', import.meta.url).pathname;
  const runner = spawn(process.execPath, [
    '--eval',
    `const { spawn } = require('node:child_process');
    spawn(process.execPath, ${JSON.stringify([undertaker, directory, marker])}, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    process.stdout.write('it stands');
    setTimeout(() => {}, 1e9);`,
  ]);
  onTestFinished(() => void runner.kill('SIGKILL'));
  await once(runner.stdout, 'data');
  process.env[marker] = directory;
  const { end: ended } = leave();
  runner.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
  // It is the last that is done.
  while (existsSync(directory)) await new Promise((resolve) => setTimeout(resolve, 10));
});
