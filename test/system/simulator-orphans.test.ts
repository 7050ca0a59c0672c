// Children of the simulator end with it, also when it is killed with SIGKILL: its broker, the processes of its fleet, and a child whose
// event loop has no time for anything.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/machine/free-port.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import {
  isSimulatorBuilt,
  killSimulators,
  onceSaid,
  processesWhere,
  simulate,
  simulatorNote,
} from '../support/programs/simulator-program.ts';

const folder = temporaryFolder('orphans');
afterAll(() => {
  killSimulators();
  rmSync(folder, { recursive: true, force: true });
});

/** Whether a process runs; one that has ended and was not waited for does not. */
const isRunning = (pid: number): boolean => processesWhere(({ words }) => words[0] !== '').includes(pid);

/** Waits for their end, and ends what is left when it does not come. */
async function untilEnded(pids: readonly number[]): Promise<void> {
  const left = (): readonly number[] => pids.filter(isRunning);
  onTestFinished(() => {
    for (const pid of left()) process.kill(pid, 'SIGKILL');
  });
  await waitUntil('the end of the children', () => left().length === 0, { seen: () => left().join(' ') });
}

describe.skipIf(!isSimulatorBuilt)(`a simulator that is killed${simulatorNote}`, () => {
  it.each([1, 2])(
    'leaves no broker and no worker process behind after SIGKILL, with %i processes',
    async (processes) => {
      let children: readonly number[] = [];
      const kill = onceSaid('online', (pid) => {
        children = processesWhere(({ parent }) => parent === pid);
        process.kill(pid, 'SIGKILL');
      });
      const state = join(folder, `state-${processes}`);
      const flags = ['--state', state, '--processes', `${processes}`];
      expect((await simulate(['run', 'smoke', ...flags], kill)).code).toBe(null);
      // The broker, and with several processes each of them.
      expect(children).toHaveLength(processes === 1 ? 1 : 3);
      await untilEnded(children);
    },
  );

  it('leaves no broker of a demo behind', async () => {
    let children: readonly number[] = [];
    const kill = onceSaid('online', (pid) => {
      children = processesWhere(({ parent }) => parent === pid);
      process.kill(pid, 'SIGKILL');
    });
    const ports = ['--http-port', `${await freePort()}`, '--mqtt-port', `${await freePort()}`];
    const flags = ['--state', join(folder, 'demo'), '--vehicles', '1', ...ports];
    expect((await simulate(['demo', ...flags], kill)).code).toBe(null);
    expect(children).toHaveLength(1);
    await untilEnded(children);
  });

  it('ends a child whose event loop is blocked', async () => {
    const preload = new URL('../../dist/simulator/end-with-parent.js', import.meta.url).href;
    const parent = join(folder, 'parent.mjs');
    writeFileSync(
      parent,
      `import { spawn } from 'node:child_process';
const { endWithParentArgs, holdPipe } = await import(${JSON.stringify(preload)});
const busy = 'process.stdout.write("busy"); for (;;);';
const child = spawn(process.execPath, [...endWithParentArgs, '-e', busy], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
holdPipe(child);
child.stdout.once('data', () => process.stdout.write(String(child.pid)));
`,
    );
    const leader = spawn(process.execPath, [parent], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void leader.kill('SIGKILL'));
    const pid = await new Promise<number>((done) =>
      leader.stdout.once('data', (text: Buffer) => done(Number(text))),
    );
    expect(isRunning(pid)).toBe(true);
    leader.kill('SIGKILL');
    await untilEnded([pid]);
  });
});
