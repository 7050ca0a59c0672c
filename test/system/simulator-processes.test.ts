// A fleet in several processes: the same seed makes the same facts as in one, nothing is lost between them, a process that dies ends
// the run with its reason, and Ctrl-C ends all of them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunResult } from '../../simulator/run/result.ts';
import {
  isSimulatorBuilt,
  killSimulators,
  onceSaid,
  processesWhere,
  simulate,
  simulatorNote,
} from '../support/simulator-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetward-processes-'));
afterAll(() => {
  killSimulators();
  rmSync(folder, { recursive: true, force: true });
});

/** Children of that process that drive a part of its fleet. */
const partsOf = (leader: number): readonly number[] =>
  processesWhere(({ words, parent }) => words.includes('part') && parent === leader);

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
[deeds]
panicPerHour = 600
doorPerHour = 600
[commands]
perMinute = 10
restoreS = 5
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
  it('meets the same facts and commands as in one, with every event returned', async () => {
    const [one, three] = [await runWith(1), await runWith(3)];
    expect([one.machine.processes, three.machine.processes]).toEqual([1, 3]);
    expect(three.counts.facts).toBe(one.counts.facts);
    expect(three.counts.facts).toBeGreaterThan(10);
    expect(three.counts.commands).toBe(one.counts.commands);
    expect(three.counts.shown).toBe(three.counts.acknowledged);
    expect(three.figures['ingest.count']).toBeGreaterThan(10);
    expect(three.figures['lag.count']).toBeGreaterThan(10);
  });

  it('is over with the reason when one of them dies, and nothing is left', async () => {
    let parts: readonly number[] = [];
    const kill = onceSaid('online', (pid) => {
      parts = partsOf(pid);
      process.kill(parts[0] ?? 0, 'SIGKILL');
    });
    const { code, text } = await simulate(['run', path, '--processes', '2', '--duration', '60'], kill);
    expect(parts).toHaveLength(2);
    expect([code, text]).toEqual([75, expect.stringContaining('ended before the run did: SIGKILL')]);
    expect(parts.filter(isAlive)).toEqual([]);
  });

  it('is judged on what there was when it is stopped, and all end', async () => {
    let parts: readonly number[] = [];
    const stop = onceSaid('online', (pid) => {
      parts = partsOf(pid);
      // As a terminal does it: everybody hears of it.
      for (const one of [...parts, pid]) process.kill(one, 'SIGINT');
    });
    const { code, text } = await simulate(['run', path, '--processes', '2', '--duration', '60'], stop);
    expect([code, text]).toEqual([0, expect.stringContaining('PASSED')]);
    expect(parts.filter(isAlive)).toEqual([]);
  });

  it('does not outlive a leader that is killed', async () => {
    let parts: readonly number[] = [];
    const kill = onceSaid('online', (pid) => {
      parts = partsOf(pid);
      process.kill(pid, 'SIGKILL');
    });
    const state = join(folder, 'killed');
    const flags = ['--processes', '2', '--duration', '60', '--state', state];
    const { code } = await simulate(['run', path, ...flags], kill);
    // Its broker is a service of its own and stays: nobody was there to end it.
    for (const pid of brokersIn(state)) process.kill(pid, 'SIGKILL');
    expect(code).toBe(null);
    expect(parts).toHaveLength(2);
    for (let waited = 0; waited < 100 && parts.some(isAlive); waited += 1)
      await new Promise((done) => setTimeout(done, 100));
    expect(parts.filter(isAlive)).toEqual([]);
  });
});
