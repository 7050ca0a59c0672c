// The end of a program: orderly where everything closes, forced where something hangs, as a serial driver in the kernel may
// for ever. A real process and real signals; systemd's own deadline stands behind it (deb.test.ts).
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startProcess } from '../support/storage/storage-run.ts';

const adapter = new URL('../../dist/src/adapters/program.js', import.meta.url).href;
const isBuilt = existsSync(new URL(adapter));

/** A program that says when it runs, and closes by `close` when it is asked to stop. */
const source = (close: string): string => `
  const { runProgram, untilStopped } = await import(${JSON.stringify(adapter)});
  await runProgram('child', async () => {
    setInterval(() => undefined, 1000);
    const stopped = untilStopped();
    process.stderr.write('running');
    await stopped;
    ${close}
  });`;

/** Its exit code after these signals. */
async function stop(close: string, signals: readonly NodeJS.Signals[]): Promise<number | null> {
  const argv = [process.execPath, '--input-type=module', '-e', source(close)];
  const { process: child, ended } = startProcess(argv, 60_000);
  await new Promise<void>((resolve) => child.stderr?.once('data', () => resolve()));
  for (const signal of signals) {
    child.kill(signal);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  return (await ended).exitCode;
}

const hangs = 'await new Promise(() => undefined);';

describe.skipIf(!isBuilt)(
  `a program that is asked to stop${isBuilt ? '' : ' [skipped: npm run build]'}`,
  () => {
    it('ends with 0 when all is closed', async () => {
      expect(await stop('', ['SIGTERM'])).toBe(0);
    });

    it('ends in five seconds, whatever hangs', async () => {
      expect(await stop(hangs, ['SIGTERM'])).toBe(75);
    });

    it('ends at once at the second signal', async () => {
      expect(await stop(hangs, ['SIGTERM', 'SIGINT'])).toBe(130);
    });
  },
);
