// Logs that cannot be written, with the real programs: a full device, a pipe whose reader ends or stands still, a terminal that is closed, a
// disk that holds log and database and becomes full. Neither program ends, and both say afterwards what is missing.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/machine/free-port.ts';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { loneStatus, writeLoneConfig } from '../support/programs/lone-agent.ts';

const root = temporaryFolder('log-lost');
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

let count = 0;
function folderOfTest(): string {
  count += 1;
  const folder = join(root, String(count));
  mkdirSync(folder);
  return folder;
}

const main = (program: string): string => new URL(`../../dist/${program}/main.js`, import.meta.url).pathname;

/** Runs `argv` with these descriptors as its outputs; it is killed after the test. */
function start(argv: readonly string[], out: number | 'pipe', errors: number | 'pipe' = out): ChildProcess {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, { stdio: ['ignore', out, errors] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  cleanups.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

function opened(path: string, flags: number): number {
  const fd = openSync(path, flags);
  cleanups.push(() => closeSync(fd));
  return fd;
}

interface Service {
  readonly name: string;
  /** Its command line in a folder. */
  argv(folder: string): Promise<readonly string[]>;
  /** Null: it does not answer yet. */
  answer(folder: string): Promise<unknown>;
}

let httpPort = 0;
const services: readonly Service[] = [
  {
    name: 'agent',
    argv: async (folder) => [
      process.execPath,
      main('agent'),
      'start',
      '--config',
      writeLoneConfig(folder, ''),
    ],
    answer: (folder) => loneStatus(folder).catch(() => null),
  },
  {
    name: 'broker',
    async argv(folder) {
      httpPort = await freePort();
      const ports = ['--http-port', String(httpPort), '--mqtt-port', String(await freePort())];
      return [process.execPath, main('broker'), 'start', '--database', join(folder, 'fleet.db'), ...ports];
    },
    answer: async () =>
      fetch(`http://127.0.0.1:${httpPort}/readyz`).then(
        async (answer) => ((await answer.text()) !== '' && answer.ok) || null,
        () => null,
      ),
  },
];

/** Another line of the log: a SIGHUP reloads the broker, and the agent says that it does nothing. */
async function expectToLive(child: ChildProcess, service: Service, folder: string): Promise<void> {
  const lives = (what: string) =>
    waitUntil(what, async () => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`ended with ${child.exitCode ?? child.signalCode}`);
      return service.answer(folder);
    });
  await lives('an answer');
  for (let n = 0; n < 3; n += 1) {
    child.kill('SIGHUP');
    await sleep(300);
  }
  await lives('an answer after more lines');
  child.kill('SIGTERM');
  await waitUntil('its end', () => child.exitCode !== null || child.signalCode !== null);
  expect([child.exitCode, child.signalCode]).toEqual([0, null]);
}

/** A pseudo-terminal around a program, which is no session of its own: no signal comes when the terminal goes. A line on stdin closes it. */
const terminal = `
import os, pty, subprocess, sys
far, near = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=near, stderr=near)
os.close(near)
sys.stdin.readline()
os.close(far)
child.wait()
`;

const { missing, python } = requires({ python: ['pty'], debian: ['python3'] });
const why = whyNotBuilt('agent') ?? whyNotBuilt('broker') ?? missing;

describe.skipIf(why !== null)(`the log of a service${why === null ? '' : ` [${why}]`}`, () => {
  it.each(services)('on a full device does not end the $name', async (service) => {
    const folder = folderOfTest();
    const full = opened('/dev/full', constants.O_WRONLY);
    await expectToLive(start(await service.argv(folder), full), service, folder);
  });

  it.each(services)('in a pipe whose reader ends does not end the $name', async (service) => {
    const folder = folderOfTest();
    const child = start(await service.argv(folder), 'pipe');
    child.stdout?.once('data', () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    });
    await expectToLive(child, service, folder);
  });

  it.each(services)(
    'in a pipe whose reader stands still does not hold up the $name, and is read later',
    async (service) => {
      const folder = folderOfTest();
      const path = join(folder, 'pipe');
      execFileSync('mkfifo', [path]);
      const reader = opened(path, constants.O_RDWR | constants.O_NONBLOCK);
      const filling = Buffer.alloc(4096, '.');
      expect(() => {
        for (;;) writeSync(reader, filling);
      }).toThrow('EAGAIN');
      const child = start(await service.argv(folder), opened(path, constants.O_WRONLY), 'pipe');
      await waitUntil('an answer', () => service.answer(folder));
      child.kill('SIGHUP');
      let text = '';
      const part = Buffer.alloc(64 * 1024);
      await waitUntil('the log', () => {
        try {
          text += part.toString('latin1', 0, readSync(reader, part));
        } catch {
          // Nothing more for now.
        }
        return /hang_up_ignored|"msg":"tls_|reload/.test(text);
      });
      expect(text).not.toContain('log_lines_dropped');
    },
  );

  it.each(services)('on a terminal that is closed does not end the $name', async (service) => {
    const folder = folderOfTest();
    const pidOf = join(folder, 'pid');
    const argv = ['sh', '-c', `echo $$ > ${pidOf}; exec "$@"`, 'sh', ...(await service.argv(folder))];
    const holder = spawn(python ?? '', ['-c', terminal, ...argv], { stdio: ['pipe', 'ignore', 'inherit'] });
    cleanups.push(() => holder.kill('SIGKILL'));
    await waitUntil('an answer', () => service.answer(folder));
    const pid = Number(readFileSync(pidOf, 'utf8'));
    cleanups.push(() => spawnSync('kill', ['-9', String(pid)]));
    holder.stdin.write('\n');
    await sleep(1000);
    expect(await waitUntil('an answer without a terminal', () => service.answer(folder))).toBeTruthy();
    // Of a closed terminal this is the order to end.
    process.kill(pid, 'SIGHUP');
    await waitUntil('its end', () => holder.exitCode !== null);
  });

  const canMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;
  it.skipIf(!canMount).each(services)(
    `on a full disk does not end the $name, and says what is missing${canMount ? '' : ' [skipped: needs root to mount]'}`,
    async (service) => {
      const folder = folderOfTest();
      const disk = join(folder, 'disk');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]);
      cleanups.push(() => spawnSync('umount', ['--lazy', disk]));
      spawnSync('dd', ['if=/dev/zero', `of=${disk}/filling`, 'bs=4k'], { stdio: 'ignore' });
      const log = join(disk, 'log');
      const child = start(await service.argv(folder), opened(log, constants.O_WRONLY | constants.O_CREAT));
      await waitUntil('an answer', () => service.answer(folder));
      rmSync(join(disk, 'filling'));
      const last = (): Record<string, unknown> =>
        JSON.parse(readFileSync(log, 'latin1').trimEnd().split('\n').at(-1) || '{}') as Record<
          string,
          unknown
        >;
      await waitUntil('the notice', () => last()['msg'] === 'log_lines_dropped');
      expect(last()).toMatchObject({ lines: expect.any(Number), reason: expect.stringContaining('ENOSPC') });
      expect(Number(last()['lines'])).toBeGreaterThan(1);
      expect(Date.parse(String(last()['since']))).toBeLessThan(Date.parse(String(last()['time'])));
      child.kill('SIGHUP');
      await waitUntil('a line after it', () => last()['msg'] !== 'log_lines_dropped');
    },
  );
});

describe.skipIf(why !== null)('the output of a command', () => {
  const adapter = JSON.stringify(new URL('../../dist/src/adapters/program.js', import.meta.url).href);
  const long = `const { runProgram } = await import(${adapter});
    await runProgram('long', async () => void process.stdout.write('x'.repeat(1_000_000)));`;
  const commands: Readonly<Record<string, readonly string[]>> = {
    agent: [main('agent'), '--help'],
    broker: [main('broker'), '--help'],
    simulator: [main('simulator'), '--help'],
    long: ['--input-type=module', '-e', long],
  };
  const run = (script: string, name: string) =>
    spawnSync('bash', ['-c', script, 'bash', process.execPath, ...(commands[name] ?? [])], {
      encoding: 'utf8',
    });

  it.each(Object.keys(commands))(
    'of %s ends quietly with its reader, and with a message on a full disk',
    (name) => {
      const piped = run('(sleep 0.5; exec "$@") | true; echo ${PIPESTATUS[0]}', name);
      expect([piped.stdout, piped.stderr]).toEqual(['141\n', '']);
      const full = run('"$@" > /dev/full', name);
      expect(full.stderr).toMatch(/the output cannot be written: .*ENOSPC/);
      expect(full.status).toBe(74);
      expect(run('"$@" > /dev/null 2> /dev/full', name).status).toBe(0);
    },
  );

  it('reaches a slow reader whole', () => {
    expect(run('"$@" | (sleep 1; wc -c)', 'long').stdout.trim()).toBe('1000000');
  });
});
