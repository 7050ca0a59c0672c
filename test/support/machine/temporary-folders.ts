// Runs around all tests: gives them a temporary directory of their own, and fails the run when a test left a folder in it, a mount, or a
// process. What a test makes it removes, also when it fails; processes that a test starts inherit the directory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Names the directory while there is one: the runner asks once for each of its projects, and one directory serves all. */
const marker = 'FLEETWARD_TEST_DIRECTORY';

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
  const undertaker = spawn(
    process.execPath,
    [new URL('undertaker.mjs', import.meta.url).pathname, directory, marker],
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true },
  );
  process.env['TMPDIR'] = directory;
  process.env[marker] = directory;
  return async () => {
    const answers = createInterface({ input: undertaker.stdout })[Symbol.asyncIterator]();
    undertaker.stdin.write(`${typeof patienceMs === 'number' ? patienceMs : 60_000}\n`);
    const { value } = await answers.next();
    undertaker.stdin.end();
    await once(undertaker, 'exit');
    delete process.env[marker];
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    const left = JSON.parse(value as string) as readonly string[];
    if (left.length === 0) return;
    // The runner prints the error and goes on to an exit code of 0.
    process.exitCode = 1;
    throw new Error(`tests left behind: ${left.join(', ')}`);
  };
}
