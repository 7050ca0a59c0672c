// `fleetward-simulator run` as a person or a CI job meets it: a broker of its own that is gone afterwards, files for machines, and
// exit codes that say what happened.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { RunResult } from '../../simulator/run/measure/result.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import {
  isSimulatorBuilt,
  onceSaid,
  processesWhere,
  simulate,
  simulatorNote,
  simulatorProgram,
} from '../support/programs/simulator-program.ts';

const folder = temporaryFolder('simulator');

/** Broker processes that work in the folder of this test. */
const brokersIn = (state: string): number =>
  processesWhere(({ words }) => words.includes(join(state, 'fleetward.db'))).length;

function writeScenario(name: string, lines: readonly string[]): string {
  const path = join(folder, `${name}.toml`);
  writeFileSync(path, `${['title = "a test"', ...lines].join('\n')}\n`);
  return path;
}

describe.skipIf(!isSimulatorBuilt)(`a run${simulatorNote}`, { concurrent: true }, () => {
  const short = [
    'durationS = 10',
    'drainS = 40',
    'panicMs = 10000',
    '[fleet]',
    'devices = 3',
    'connectSpreadS = 1',
  ];

  it('passes although its broker is killed, and leaves nothing behind', async () => {
    const actions = ['[actions]', 'panicPerHour = 720', 'doorPerHour = 720'];
    const kill = ['[[faults]]', 'kind = "broker-kill"', 'atS = 4', 'forS = 1'];
    const path = writeScenario('kill', [...short, ...actions, ...kill]);
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
    expect(readFileSync(junit, 'utf8')).toMatch(/<testsuites tests="\d+" errors="0" failures="0">/);
    expect(existsSync(state)).toBe(false);
    expect(brokersIn(state)).toBe(0);
    expect((await simulate(['compare', json, json])).text).toMatch(/^ {2}ingest\.p50 .* x1\.00$/m);
  });

  it('ends with 3 and the name of a threshold that is not met', async () => {
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

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'ends early on %s as incomplete with exit code %i, its events delivered and its devices removed',
    async (signal, exit) => {
      const path = writeScenario('long', [
        'durationS = 600',
        'drainS = 40',
        '[fleet]',
        'devices = 2',
        'connectSpreadS = 0',
      ]);
      const state = join(folder, `long-${signal}`);
      const [json, junit, report] = ['json', 'xml', 'html'].map((ending) =>
        join(folder, `${signal}.${ending}`),
      );
      const files = ['--json', `${json}`, '--junit', `${junit}`, '--report', `${report}`];
      let isAsked = false;
      const { code, text } = await simulate(
        ['run', path, '--state', state, '--clean', ...files],
        (said, pid) => {
          if (isAsked || !said.includes('2/2 online')) return;
          isAsked = true;
          process.kill(pid, signal);
        },
      );
      expect([code, text]).toEqual([exit, expect.stringContaining('INCOMPLETE  long: a test')]);
      expect(text).toContain('Reading back the records of the service');
      expect(text).toContain('The devices are removed');
      expect(text).toMatch(/truth: \d+ checks, all 0/);
      const result = JSON.parse(readFileSync(`${json}`, 'utf8')) as RunResult;
      expect(result).toMatchObject({ isPassed: false, outcome: 'incomplete', interruptedBy: signal });
      expect(text).toMatch(/not looked at: the last \d+ seconds of the scenario/);
      expect(text).toContain('not looked at: what people read');
      expect(result.counts.shown).toBe(result.counts.acknowledged);
      expect(readFileSync(`${junit}`, 'utf8')).toContain('<error type="incomplete"');
      expect(readFileSync(`${report}`, 'utf8')).toContain('■ Incomplete');
      expect(existsSync(state)).toBe(false);
      expect(brokersIn(state)).toBe(0);
    },
  );

  it('ends with 130 on Ctrl-C while it still creates its devices, without a result, and removes them', async () => {
    const state = join(folder, 'creating');
    const json = join(folder, 'creating.json');
    const flags = ['--kind', 'tracker', '--devices', '3000', '--clean', '--state', state, '--json', json];
    const { code, text } = await simulate(
      ['run', writeScenario('creating', ['durationS = 600']), ...flags],
      onceSaid('Creating 3000 devices', (pid) => process.kill(pid, 'SIGINT')),
    );
    expect([code, text]).toEqual([
      130,
      expect.stringContaining('SIGINT ended the run before its vehicles started'),
    ]);
    expect(text).toContain('The devices are removed');
    expect(existsSync(json)).toBe(false);
    expect(brokersIn(state)).toBe(0);
  });

  it.each([
    [['theft', '--devices', '6', '--duration', '100'], 'thefts of fuel'],
    [['day', '--duration', '5'], 'panic presses'],
  ])('%j is refused as too small, before anything is started', async (args, words) => {
    const { code, text } = await simulate(['run', ...args]);
    expect([code, text]).toEqual([5, expect.stringContaining('is too small to prove anything')]);
    expect(text).toContain(words);
    expect(text).not.toContain('Creating');
  });

  it('ends with 5 when it only observed less than its scenario needs', async () => {
    const path = writeScenario('small', [...short, '[needs]', 'facts = 1000']);
    const json = join(folder, 'small.json');
    const { code, text } = await simulate(['run', path, '--state', join(folder, 'small'), '--json', json]);
    expect([code, text]).toEqual([5, expect.stringContaining('FAILED  small')]);
    expect(text).toMatch(/too small to prove anything: facts with their event: \d+ seen, 1000 needed/);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({ isPassed: false });
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
    [['run', 'smoke', '--ctl', '/nowhere/run.sock'], 64, '--ctl /nowhere/run.sock cannot be created: ENOENT'],
    [
      ['run', 'smoke', '--state', '/proc/nowhere/x'],
      64,
      'The folder /proc/nowhere/x cannot be created: ENOENT',
    ],
    [['compare', 'a.json'], 64, 'An argument is missing: 2 needed, 1 given'],
  ])('%j ends with %i before anything is started', async (args, code, words) => {
    const ended = await simulate(args);
    expect(ended).toEqual({ code, text: expect.stringContaining(words) });
    expect(ended.text).not.toMatch(/Creating|\n {4}at /);
  });

  it('ends with 4 when the first step of its ramp is bad, and reports that the knee lies below', async () => {
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
    expect(text).toContain('knee: it lies below the first step, which already failed: x1');
    expect(text).toMatch(/truth: \d+ checks, all 0/);
  });

  it('starts no further vehicle after a bad step of its ramp', async () => {
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
    expect([ended, complaints]).toEqual([code, `Files of the run are left in ${state}\n`]);
    // The broker and two processes of the fleet.
    expect(started).toHaveLength(3);
    const isThere = (pid: number): boolean => existsSync(`/proc/${pid}/cwd`);
    // A killed process stays until the disk has answered it.
    await vi.waitFor(() => expect(started.filter(isThere)).toEqual([]), 30_000);
  });

  it('refuses a --state folder that is not empty', async () => {
    const state = join(folder, 'mine');
    mkdirSync(state);
    writeFileSync(join(state, 'letter'), 'dear');
    const { code, text } = await simulate(['run', 'smoke', '--state', state]);
    expect([code, text]).toEqual([64, expect.stringContaining('is not empty')]);
    expect(readFileSync(join(state, 'letter'), 'utf8')).toBe('dear');
  });

  it('lists its presets, shows one with all defaults, and prints the schema', async () => {
    expect((await simulate(['scenario', 'list'])).text).toMatch(/^smoke +12 vehicles +40 s/m);
    expect(JSON.parse((await simulate(['scenario', 'show', 'smoke'])).text)).toMatchObject({ durationS: 40 });
    expect(JSON.parse((await simulate(['scenario', 'schema'])).text)).toMatchObject({ required: ['title'] });
    expect((await simulate(['scenario', 'validate', 'smoke'])).code).toBe(0);
    expect(await simulate(['compare', simulatorProgram, simulatorProgram])).toMatchObject({ code: 78 });
  });
});
