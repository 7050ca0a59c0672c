// Runs around all tests: gives them a temporary directory of their own, and fails the run when a test left a folder in it. What a
// test makes it removes, also when it fails; processes that a test starts inherit the directory.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Folders and files of ours begin so; what tools of others leave is theirs. */
const ours = /^(fleetward|vapid|mail)-/;
const pollMs = 100;
/** Names the directory while there is one: the runner asks once for each of its projects, and one directory serves all. */
const marker = 'FLEETWARD_TEST_DIRECTORY';

const leftIn = (directory: string): readonly string[] =>
  readdirSync(directory)
    .filter((name) => ours.test(name))
    .sort();

/**
 * Makes the directory, and gives the way back, which rejects with what was left; undefined when there is one already.
 * @param patienceMs how long processes of test files may take to end after the last test, in ms.
 */
export default function setup(patienceMs: unknown): (() => Promise<void>) | undefined {
  if (process.env[marker] !== undefined) return undefined;
  const before = process.env['TMPDIR'];
  const directory = mkdtempSync(join(tmpdir(), 'fw-tests-'));
  // As the directory that it stands in for: some servers run as a user of their own.
  chmodSync(directory, 0o1777);
  process.env['TMPDIR'] = directory;
  process.env[marker] = directory;
  return async () => {
    let leftMs = typeof patienceMs === 'number' ? patienceMs : 60_000;
    for (; leftMs > 0 && leftIn(directory).length > 0; leftMs -= pollMs) await sleep(pollMs);
    const left = leftIn(directory);
    rmSync(directory, { recursive: true, force: true });
    delete process.env[marker];
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    if (left.length === 0) return;
    // The runner prints the error and goes on to an exit code of 0.
    process.exitCode = 1;
    throw new Error(`tests left in the temporary directory: ${left.join(', ')}`);
  };
}
