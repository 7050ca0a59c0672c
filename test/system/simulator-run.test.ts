// `fleetward-simulator run` as a person or a CI job meets it: a broker of its own that is gone afterwards, files for machines, and
// exit codes that say what happened.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunResult } from '../../simulator/run/result.ts';
import {
  isSimulatorBuilt,
  processesWhere,
  simulate,
  simulatorNote,
  simulatorProgram,
} from '../support/simulator-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetward-simulator-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Broker processes that work in the folder of this test. */
const brokersIn = (state: string): number =>
  processesWhere(({ words }) => words.includes(join(state, 'fleetward.db'))).length;

function writeScenario(name: string, lines: readonly string[]): string {
  const path = join(folder, `${name}.toml`);
  writeFileSync(path, `${['title = "a test"', ...lines].join('\n')}\n`);
  return path;
}

describe.skipIf(!isSimulatorBuilt)(`a run${simulatorNote}`, () => {
  const short = [
    'durationS = 10',
    'drainS = 40',
    'panicMs = 10000',
    '[fleet]',
    'devices = 3',
    'connectSpreadS = 1',
  ];

  it('survives its broker being killed, passes, cleans up, and leaves nothing behind', async () => {
    const deeds = ['[deeds]', 'panicPerHour = 720', 'doorPerHour = 720'];
    const kill = ['[[faults]]', 'kind = "broker-kill"', 'atS = 4', 'forS = 1'];
    const path = writeScenario('kill', [...short, ...deeds, ...kill]);
    const state = join(folder, 'kill');
    const json = join(folder, 'kill.json');
    const junit = join(folder, 'kill.xml');
    const flags = ['--state', state, '--json', json, '--junit', junit, '--clean'];
    const { code, text } = await simulate(['run', path, ...flags, '--threshold', 'lost==0']);
    expect([code, text]).toEqual([0, expect.stringContaining('PASSED  kill: a test')]);
    expect(text).toContain('fault: broker-kill');
    expect(text).toContain('The devices are removed');
    const result = JSON.parse(readFileSync(json, 'utf8')) as RunResult;
    expect(result).toMatchObject({ format: 1, isPassed: true, devices: 3, kind: 'agent', breaches: [] });
    expect(result.counts.connects).toBeGreaterThanOrEqual(6);
    expect(result.counts.shown).toBe(result.counts.acknowledged);
    expect(readFileSync(junit, 'utf8')).toMatch(/<testsuites tests="\d+" failures="0">/);
    expect(existsSync(state)).toBe(false);
    expect(brokersIn(state)).toBe(0);
    expect((await simulate(['compare', json, json])).text).toMatch(/^ {2}ingest\.p50 .* x1\.00$/m);
  });

  it('ends with 3 when a threshold is not met, and says which', async () => {
    const path = writeScenario('slow', short);
    const state = join(folder, 'slow');
    const { code, text } = await simulate([
      'run',
      path,
      '--state',
      state,
      '--threshold',
      'ingest.p50<0.001ms',
    ]);
    expect(code).toBe(3);
    expect(text).toContain('threshold FAILED ingest.p50<0.001ms');
    expect(text).toContain(`kept in ${state}`);
  });

  it('ends early on Ctrl-C and is judged on what there was', async () => {
    const path = writeScenario('long', [
      'durationS = 600',
      'drainS = 40',
      '[fleet]',
      'devices = 2',
      'connectSpreadS = 0',
    ]);
    const state = join(folder, 'long');
    let isAsked = false;
    const { text } = await simulate(['run', path, '--state', state], (said, pid) => {
      if (isAsked || !said.includes('2/2 online')) return;
      isAsked = true;
      process.kill(pid, 'SIGINT');
    });
    expect(text).toContain('Reading back what the service holds');
    expect(text).toMatch(/truth: /);
    expect(brokersIn(state)).toBe(0);
  });

  it.each([
    [['run', 'nothing'], 78, 'There is no preset "nothing"'],
    [['run', 'smoke', '--devices', '0'], 64, '--devices takes one whole number from 1 to 200000'],
    [['run', 'smoke', '--devices', '3', '--devices', '4'], 64, '--devices takes one whole number'],
    [['run', 'smoke', '--duration', 'long'], 64, '--duration takes one number from 5 to 604800'],
    [['run', 'smoke', '--rate', 'fast'], 64, '--rate takes one number from 0 to 100'],
    [['run', 'smoke', '--threshold', 'speed<1'], 78, 'there is no figure "speed"'],
    [['run', 'smoke', '--threshold'], 64, '--threshold needs a value\n  Try --help.\n'],
    [['run', 'smoke', '--kind', 'boat'], 64, 'kind cannot be "boat": it is one of "agent", "tracker"'],
    [['run', 'smoke', '--target', 'http://127.0.0.1:1'], 64, '--target needs --mqtt, --account'],
    [['run', 'smoke', '--json', '/nowhere/x.json'], 64, '--json /nowhere/x.json cannot be written: ENOENT'],
    [['run', 'smoke', '--ctl', '/nowhere/run.sock'], 64, '--ctl /nowhere/run.sock cannot be made: ENOENT'],
    [['run', 'smoke', '--state', '/proc/nowhere/x'], 64, 'The folder /proc/nowhere/x cannot be made: ENOENT'],
    [['compare', 'a.json'], 64, 'A word is missing: 2 needed, 1 given'],
  ])('%j ends with %i before anything is started', async (args, code, words) => {
    const ended = await simulate(args);
    expect(ended).toEqual({ code, text: expect.stringContaining(words) });
    expect(ended.text).not.toMatch(/Creating|\n {4}at /);
  });

  it('ends with 4 when the first step of its ramp is bad already, and says that the knee lies below', async () => {
    const ramp = ['of = "rate"', 'from = 1', 'to = 4', 'steps = 2', 'stepS = 5', 'settleS = 2'];
    const light = ['[fleet]', 'kind = "tracker"', 'devices = 5', 'trackerEveryS = 0.5', 'connectSpreadS = 1'];
    const path = writeScenario('steep', [
      'durationS = 10',
      'drainS = 40',
      ...light,
      '[ramp]',
      ...ramp,
      'thresholds = ["ingest.p50<0.001ms"]',
    ]);
    const { code, text } = await simulate(['run', path, '--state', join(folder, 'steep')]);
    expect([code, text]).toEqual([4, expect.stringContaining('FAILED  steep')]);
    expect(text).toContain('knee: it lies below the first step, which was bad already, x1');
    expect(text).toMatch(/truth: \d+ checks, all 0/);
  });

  it('brings no further vehicle on the road when a step of its ramp was bad', async () => {
    const path = writeScenario('early', [
      'durationS = 10',
      'drainS = 40',
      '[fleet]',
      'devices = 8',
      'connectSpreadS = 0',
      '[ramp]',
      'of = "devices"',
      'from = 2',
      'to = 8',
      'steps = 2',
      'stepS = 5',
      'settleS = 2',
      'thresholds = ["ingest.p50<0.001ms"]',
    ]);
    const json = join(folder, 'early.json');
    const { code, text } = await simulate(['run', path, '--state', join(folder, 'early'), '--json', json]);
    expect([code, text]).toEqual([4, expect.stringContaining('below the first step')]);
    const { counts, series } = JSON.parse(readFileSync(json, 'utf8')) as RunResult;
    expect(counts.connects).toBe(2);
    expect(Math.max(...(series.columns.road ?? []).map(Number))).toBe(2);
  });

  const interrupt = (child: ChildProcess): void => {
    child.kill('SIGINT');
    // Two at one moment are one for the system.
    setTimeout(() => child.kill('SIGINT'), 300);
  };

  it.each([
    ['at the second Ctrl-C', 130, interrupt],
    ['when the reader of its output goes away', 141, (child: ChildProcess) => child.stdout?.destroy()],
  ])('ends at once %s, with all that it started', async (_, code, act) => {
    const path = writeScenario('broken-off', ['durationS = 600', '[fleet]', 'devices = 2']);
    const state = join(folder, `broken-off-${code}`);
    const flags = ['--state', state, '--processes', '2'];
    const child = spawn(process.execPath, [simulatorProgram, 'run', path, ...flags]);
    let said = '';
    let complaints = '';
    let started: readonly number[] = [];
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (started.length > 0 || !said.includes('Running')) return;
      started = processesWhere(({ parent }) => parent === child.pid);
      act(child);
    });
    const ended = await new Promise<number | null>((done) => child.once('exit', done));
    expect([ended, complaints]).toEqual([code, '']);
    // The broker and two processes of the fleet.
    expect(started).toHaveLength(3);
    const isThere = (pid: number): boolean => existsSync(`/proc/${pid}/cwd`);
    for (let waited = 0; waited < 50 && started.some(isThere); waited += 1)
      await new Promise((done) => setTimeout(done, 100));
    expect(started.filter(isThere)).toEqual([]);
  });

  it('never takes a folder in which something lies: it removes its own at the end', async () => {
    const state = join(folder, 'mine');
    mkdirSync(state);
    writeFileSync(join(state, 'letter'), 'dear');
    const { code, text } = await simulate(['run', 'smoke', '--state', state]);
    expect([code, text]).toEqual([64, expect.stringContaining('is not empty')]);
    expect(readFileSync(join(state, 'letter'), 'utf8')).toBe('dear');
  });

  it('shows its presets, one with all defaults, and the schema of all', async () => {
    expect((await simulate(['scenario', 'list'])).text).toMatch(/^smoke +12 vehicles +30 s/m);
    expect(JSON.parse((await simulate(['scenario', 'show', 'smoke'])).text)).toMatchObject({ durationS: 30 });
    expect(JSON.parse((await simulate(['scenario', 'schema'])).text)).toMatchObject({ required: ['title'] });
    expect((await simulate(['scenario', 'validate', 'smoke'])).code).toBe(0);
    expect(await simulate(['compare', simulatorProgram, simulatorProgram])).toMatchObject({ code: 78 });
  });
});
