// Every command of the simulator's guide, as printed there: short ones to their end, long ones until they are interrupted. A command
// without a check here fails the test.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunResult } from '../../simulator/run/measure/result.ts';
import {
  type Ended,
  isSimulatorBuilt,
  killSimulators,
  onceSaid,
  simulate,
  simulatorNote,
} from '../support/programs/simulator-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetward-readme-'));
// A run that could not be proven on a busy machine keeps its folder: it must be in this one.
const { TMPDIR: before } = process.env;
process.env['TMPDIR'] = folder;
afterAll(() => {
  killSimulators();
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  rmSync(folder, { recursive: true, force: true });
});

const guide = readFileSync(new URL('../../simulator/README.md', import.meta.url), 'utf8');
const named = ['run', 'replay', 'record', 'compare', 'ctl', 'scenario'];

/** The commands that stand between back-ticks, without the name of the program. */
const commands = [...guide.matchAll(/(?:`|^\$ )(?:fleetward-simulator )?([a-z]+ [^`\n]+)(?:`|$)/gm)]
  .map(([, words = '']) => words)
  .filter((words) => named.includes(words.split(' ')[0] ?? ''));

/** Its words, in the folder of this test. */
const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

const run = (command: string, onText?: (text: string, pid: number) => void): Promise<Ended> =>
  simulate(wordsOf(command), onText, folder);

const interrupt = () => onceSaid('online', (pid) => process.kill(pid, 'SIGINT'));
const at = (name: string): string => join(folder, name);
const resultIn = (name: string): RunResult => JSON.parse(readFileSync(at(name), 'utf8')) as RunResult;

/**
 * Nothing is wrong but, on a machine that others use too, a time. Where the generator itself had no time, it says so, and what it
 * could not see proves nothing: then only the truth is looked at. Gives whether it was seen to its end.
 */
const isHealthy = ({ code, text }: Ended): boolean => {
  expect(text).toMatch(/truth: \d+ checks, all 0/);
  if (text.includes('note: The generator is the bottleneck')) return false;
  expect(text).not.toMatch(/^ {2}FAILED/m);
  expect([0, 3]).toContain(code);
  return true;
};

const checks: Readonly<Record<string, () => Promise<void>>> = {
  "run smoke --junit out.xml --threshold 'ingest.p99<250ms'": async () => {
    const ended = await run("run smoke --junit out.xml --threshold 'ingest.p99<250ms'");
    isHealthy(ended);
    expect(ended.text).toMatch(/threshold (met {3}|FAILED) ingest\.p99<250ms \(\d/);
    expect(readFileSync(at('out.xml'), 'utf8')).toContain('threshold: ingest.p99');
  },
  'scenario list': async () => {
    expect(await run('scenario list')).toEqual({ code: 0, text: expect.stringContaining('theft') });
  },
  'scenario show smoke': async () => {
    const { code, text } = await run('scenario show smoke');
    expect([code, JSON.parse(text)]).toMatchObject([0, { durationS: 40 }]);
  },
  'scenario schema': async () => {
    const { code, text } = await run('scenario schema');
    expect([code, JSON.parse(text)]).toMatchObject([0, { required: ['title'] }]);
  },
  'run smoke --report out.html --json out.json': async () => {
    const isPassed = isHealthy(await run('run smoke --report out.html --json out.json'));
    if (isPassed) expect(readFileSync(at('out.html'), 'utf8')).toContain('✓ Passed');
    expect(resultIn('out.json')).toMatchObject({ interruptedBy: null, ...(isPassed ? { isPassed } : {}) });
  },
  'compare a.json b.json --report both.html': async () => {
    const flags = 'compare out.json out.json --report both.html';
    expect(await run(flags)).toEqual({ code: 0, text: expect.stringContaining('x1.00') });
    expect(existsSync(at('both.html'))).toBe(true);
  },
  'run smoke --seed A --facts facts.ndjson': async () => {
    expect(await run('run smoke --seed A --facts facts.ndjson', interrupt())).toMatchObject({ code: 130 });
    const [head = '', next = ''] = readFileSync(at('facts.ndjson'), 'utf8').split('\n');
    expect(JSON.parse(head)).toMatchObject({ format: 'fleetward-facts', scenario: 'smoke', seed: 'A' });
    expect(JSON.parse(next)).toMatchObject({ part: 'planned', vehicle: 1 });
  },
  'run breakpoint --report knee.html': async () => {
    const { code, text } = await run('run breakpoint --report knee.html', interrupt());
    expect([code, text]).toEqual([130, expect.stringContaining('INCOMPLETE  breakpoint')]);
    expect(readFileSync(at('knee.html'), 'utf8')).toContain('■ Incomplete');
  },
  'run storm': async () => {
    expect(await run('run storm', interrupt())).toMatchObject({ code: 130 });
  },
  'run day --ctl ./run.sock': async () => {
    const said: Promise<Ended>[] = [];
    const { code } = await run(
      `run day --ctl ${at('run.sock')}`,
      onceSaid('online', (pid) => {
        const ask = async (): Promise<void> => {
          for (const words of ctl) {
            const socket = words.includes('--socket')
              ? words.replace('./run.sock', at('run.sock'))
              : `${words} --socket ${at('run.sock')}`;
            said.push(Promise.resolve(await run(socket.replace('1-100', '1-40'))));
          }
        };
        void ask().finally(() => process.kill(pid, 'SIGINT'));
      }),
    );
    expect(code).toBe(130);
    expect((await Promise.all(said)).map((ended) => ended.code)).toEqual(ctl.map(() => 0));
  },
};

const ctl = commands.filter((command) => command.startsWith('ctl '));
/** What needs a broker of somebody else: `simulator-target.test.ts` runs them; here only that the words are known. */
const elsewhere = commands.filter((command) => /^(record|replay) /.test(command));

describe.skipIf(!isSimulatorBuilt)(`the commands of the simulator's guide${simulatorNote}`, () => {
  it('are all looked at', () => {
    const known = [...Object.keys(checks), ...ctl, ...elsewhere];
    const isKnown = (command: string): boolean =>
      known.some((one) => one === command || one.startsWith(`${command} `));
    expect(commands.filter((command) => !isKnown(command))).toEqual([]);
    expect(Object.keys(checks).filter((command) => !commands.includes(command))).toEqual([]);
  });

  it.each(Object.entries(checks))('%s', (_, check) => check());

  it('name flags that their programs know', async () => {
    const flags = [...guide.matchAll(/(?<=[`\s])--([a-z][a-z-]*)/g)].map(([, flag = '']) =>
      flag.replace(/^no-/, ''),
    );
    const helps = await Promise.all(
      ['demo', 'run', 'replay', 'record', 'compare', 'hardware', 'ctl', 'ctl rate', 'ctl fault'].map((name) =>
        run(`${name} --help`),
      ),
    );
    const help = helps.map(({ text }) => text).join('\n');
    expect([...new Set(flags)].filter((flag) => !help.includes(`--${flag}`))).toEqual([]);
  });

  it('end with the exit codes that --help and the guide list', async () => {
    const { text } = await run('run --help');
    const words = text.replaceAll(/\s+/g, ' ');
    for (const code of [3, 4, 5, 6, 64, 74, 75, 77, 78, 130, 143, 129]) {
      expect([code, new RegExp(`[ ,]${code} `).test(words)]).toEqual([code, true]);
      expect([
        code,
        new RegExp(`[\\s;]${code}\\s`).test(guide.slice(guide.indexOf('## Exit codes'))),
      ]).toEqual([code, true]);
    }
  });
});
