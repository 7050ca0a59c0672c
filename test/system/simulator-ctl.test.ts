// `ctl` on a run that goes on: its state, another rate, a fault; all of it on record in the result, refused where this run cannot do
// it, and nobody else can reach the socket.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunResult } from '../../simulator/run/measure/result.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import {
  isSimulatorBuilt,
  killSimulators,
  onceSaid,
  simulate,
  simulatorNote,
} from '../support/programs/simulator-program.ts';

const folder = temporaryFolder('ctl');
afterAll(() => {
  killSimulators();
  rmSync(folder, { recursive: true, force: true });
});

const socket = join(folder, 'run.sock');
const json = join(folder, 'run.json');
const path = join(folder, 'fleet.toml');
writeFileSync(
  path,
  'title = "a test"\ndurationS = 300\ndrainS = 40\n[fleet]\nkind = "tracker"\ndevices = 20\ntrackerEveryS = 1\nconnectSpreadS = 1\n',
);

const ctl = (...args: readonly string[]) => simulate(['ctl', ...args, '--socket', socket]);

describe.skipIf(!isSimulatorBuilt)(`a run that may be changed${simulatorNote}`, () => {
  it('carries out requests through --ctl, refuses impossible ones, and reports the changes in its result', async () => {
    const done: Promise<void>[] = [];
    const meddle = async (pid: number): Promise<void> => {
      expect(statSync(socket).mode & 0o777).toBe(0o600);
      const status = await ctl('status', '--json');
      expect(JSON.parse(status.text)).toMatchObject({ devices: 20, breaches: 0 });
      expect((await ctl('rate', 'x5', '--devices', '1-10')).code).toBe(0);
      expect((await ctl('fault', 'outage', '--for', '2s', '--share', '0.5')).code).toBe(0);
      const refused = [
        [await ctl('rate', 'x500'), 'A rate is such as x2'],
        [await ctl('rate', 'x2', '--devices', '1-21'), 'The fleet has 20 vehicles'],
        [await ctl('fault', 'flood'), 'There is no fault "flood"'],
        [await ctl('fault', 'gnss-jam'), 'a light tracker knows'],
        [await ctl('fault', 'outage', '--share', '0.3'), 'Links are struck in shares of'],
        [await ctl('fault', 'outage', '--for', '1h'), 'the run ends at'],
      ] as const;
      for (const [{ code, text }, words] of refused)
        expect([code, text]).toEqual([64, expect.stringContaining(words)]);
      const second = await simulate(['run', path, '--ctl', socket]);
      expect([second.code, second.text]).toEqual([64, expect.stringContaining('Another run listens')]);
      process.kill(pid, 'SIGINT');
    };
    const start = onceSaid('20/20 online', (pid) => void done.push(meddle(pid)));
    const flags = ['--processes', '2', '--ctl', socket, '--json', json];
    const { code, text } = await simulate(['run', path, ...flags], start);
    await Promise.all(done);
    expect(done).toHaveLength(1);
    expect([code, text]).toEqual([130, expect.stringContaining('changed through --ctl 2 times')]);
    const result = JSON.parse(readFileSync(json, 'utf8')) as RunResult;
    expect(result.interventions.map(({ request }) => request)).toMatchObject([
      { kind: 'rate', factor: 5, from: 1, to: 10 },
      { kind: 'fault', fault: { kind: 'link-outage', forS: 2, share: 0.5 } },
    ]);
    // Twenty a second as planned, sixty from then on.
    expect(result.counts.events).toBeGreaterThan(100);
    expect(result.counts.connects).toBeGreaterThanOrEqual(30);
    expect(existsSync(socket)).toBe(false);
    const after = await ctl('status');
    expect([after.code, after.text]).toEqual([75, expect.stringContaining('No simulation answers')]);
  });

  it('never replaces an existing file with its control socket', async () => {
    const { code, text } = await simulate(['run', path, '--ctl', path, '--duration', '5']);
    expect([code, text]).toEqual([64, expect.stringContaining('is a file, not a socket')]);
    expect(readFileSync(path, 'utf8')).toContain('a test');
  });
});
