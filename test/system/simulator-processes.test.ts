// A fleet in several processes: the same seed makes the same facts as in one, nothing is lost between them, a process that dies ends
// the run with its reason, and Ctrl-C ends all of them.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunResult } from '../../simulator/run/measure/result.ts';
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

const folder = temporaryFolder('processes');
afterAll(() => {
  killSimulators();
  rmSync(folder, { recursive: true, force: true });
});

/** Worker processes of that run. */
const workersOf = (leader: number): readonly number[] =>
  processesWhere(({ words, parent }) => words.includes('worker') && parent === leader);

/** Broker processes that work in that folder. */
const brokersIn = (state: string): readonly number[] =>
  processesWhere(({ words }) => words.includes(join(state, 'fleetward.db')));

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const path = join(folder, 'fleet.toml');
writeFileSync(
  path,
  `title = "a test"
durationS = 14
drainS = 60
panicMs = 10000
[fleet]
devices = 6
connectSpreadS = 1
[route]
restS = 20000
[actions]
panicPerHour = 600
doorPerHour = 600
[commands]
perMinute = 10
restoreS = 5
[needs]
commands = 0
[[faults]]
kind = "link-outage"
atS = 5
forS = 2
share = 0.5
[[faults]]
kind = "agent-kill"
atS = 8
forS = 1
share = 0.35
`,
);

async function runWith(processes: number): Promise<RunResult> {
  const json = join(folder, `${processes}.json`);
  const { code, text } = await simulate(['run', path, '--processes', `${processes}`, '--json', json]);
  expect([code, text]).toEqual([0, expect.stringContaining('PASSED')]);
  return JSON.parse(readFileSync(json, 'utf8')) as RunResult;
}

describe.skipIf(!isSimulatorBuilt)(`a fleet in several processes${simulatorNote}`, () => {
  it('has the same facts as in one process, and commands, with every event returned', async () => {
    const [one, three] = [await runWith(1), await runWith(3)];
    expect([one.machine.processes, three.machine.processes]).toEqual([1, 3]);
    expect(three.counts.facts).toBe(one.counts.facts);
    expect(three.counts.facts).toBeGreaterThan(10);
    // The plan holds the same ones; one that falls due while the generator stalls is not sent.
    expect(Math.min(one.counts.commands, three.counts.commands)).toBeGreaterThan(0);
    expect(three.counts.shown).toBe(three.counts.acknowledged);
    expect(three.figures['ingest.count']).toBeGreaterThan(10);
    expect(three.figures['lag.count']).toBeGreaterThan(10);
  });

  it('fails with the reason when a worker process dies, and leaves no process behind', async () => {
    let parts: readonly number[] = [];
    const kill = onceSaid('online', (pid) => {
      parts = workersOf(pid);
      process.kill(parts[0] ?? 0, 'SIGKILL');
    });
    const state = join(folder, 'ended');
    const flags = ['--processes', '2', '--duration', '60', '--state', state];
    const { code, text } = await simulate(['run', path, ...flags], kill);
    expect(parts).toHaveLength(2);
    expect([code, text]).toEqual([75, expect.stringContaining('ended before the run did: SIGKILL')]);
    expect(text).toContain(`The broker's log and database are kept in ${state}`);
    await waitUntil('the end of the workers', () => parts.filter(isAlive).length === 0);
  });

  it('reports its result when it is stopped, and ends all processes', async () => {
    let parts: readonly number[] = [];
    const stop = onceSaid('online', (pid) => {
      parts = workersOf(pid);
      // As a terminal does it: everybody hears of it.
      for (const one of [...parts, pid]) process.kill(one, 'SIGINT');
    });
    const { code, text } = await simulate(['run', path, '--processes', '2', '--duration', '60'], stop);
    expect([code, text]).toEqual([130, expect.stringContaining('INCOMPLETE')]);
    await waitUntil('the end of the workers', () => parts.filter(isAlive).length === 0);
  });

  it('ends its worker processes when the main process is killed', async () => {
    let parts: readonly number[] = [];
    const kill = onceSaid('online', (pid) => {
      parts = workersOf(pid);
      process.kill(pid, 'SIGKILL');
    });
    const state = join(folder, 'killed');
    const flags = ['--processes', '2', '--duration', '60', '--state', state];
    const { code } = await simulate(['run', path, ...flags], kill);
    expect(code).toBe(null);
    expect(parts).toHaveLength(2);
    await waitUntil(
      'the end of workers and broker',
      () => parts.filter(isAlive).length === 0 && brokersIn(state).length === 0,
    );
  });
});
