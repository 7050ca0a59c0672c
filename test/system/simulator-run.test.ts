// `fleetward-simulator run` as a person or a CI job meets it: a broker of its own that is gone afterwards, files for machines, and
// exit codes that say what happened.
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
    [['run', 'smoke', '--devices', '0'], 78, '/fleet/devices'],
    [['run', 'smoke', '--threshold', 'speed<1'], 78, 'there is no figure "speed"'],
    [['run', 'smoke', '--target', 'http://127.0.0.1:1'], 64, 'mqtt'],
  ])('%j ends with %i', async (args, code, words) => {
    expect(await simulate(args)).toEqual({ code, text: expect.stringContaining(words) });
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
