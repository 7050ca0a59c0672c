// Notices to systemd: what reaches the program, one process at a time, nothing where no one listens.
import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSupervisor } from '../../src/adapters/systemd.ts';
import type { Log } from '../../src/ports.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { silentLog } from '../support/storage/outbox-bench.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-systemd-'));
  writeFileSync(
    join(folder, 'notify'),
    `#!/bin/sh\necho "start $*" >> ${folder}/calls\necho end >> ${folder}/calls\n`,
  );
  chmodSync(join(folder, 'notify'), 0o755);
  appendFileSync(join(folder, 'calls'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const calls = (): string[] =>
  readFileSync(join(folder, 'calls'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

async function untilQuiet(ends: number): Promise<void> {
  await waitUntil('the end of each notice', () => calls().filter((line) => line === 'end').length >= ends);
}

it('sends notices of one turn together and merges what comes while some are on their way', async () => {
  const environment = { ...process.env, NOTIFY_SOCKET: '/nowhere' };
  const supervisor = createSupervisor({ log: silentLog, environment, program: join(folder, 'notify') });
  supervisor.ready();
  supervisor.status('starting');
  await Promise.resolve();
  for (let turn = 0; turn < 50; turn++) supervisor.alive();
  supervisor.status('two\nlines');
  supervisor.stopping();
  await untilQuiet(2);
  expect(calls()).toEqual([
    'start READY=1 STATUS=starting',
    'end',
    'start WATCHDOG=1 STATUS=two lines STOPPING=1',
    'end',
  ]);
});

it('sends a status only when it changed, and again after a notice that failed', async () => {
  const environment = { ...process.env, NOTIFY_SOCKET: '/nowhere' };
  const program = join(folder, 'notify');
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (event) => void warned.push(event) };
  const supervisor = createSupervisor({ log, environment, program });
  const feed = async (ends: number): Promise<void> => {
    supervisor.alive();
    supervisor.status('up');
    await untilQuiet(ends);
  };
  await feed(1);
  await feed(2);
  writeFileSync(
    program,
    `#!/bin/sh\necho "failed $*" >> ${folder}/calls\necho end >> ${folder}/calls\nexit 1\n`,
  );
  await feed(3);
  await waitUntil('the failure to be noted', () => warned.length > 0);
  await feed(4);
  expect(calls().filter((line) => line !== 'end')).toEqual([
    'start WATCHDOG=1 STATUS=up',
    'start WATCHDOG=1',
    'failed WATCHDOG=1',
    'failed WATCHDOG=1 STATUS=up',
  ]);
});

it('does nothing without NOTIFY_SOCKET, and survives a missing program', async () => {
  const program = join(folder, 'notify');
  createSupervisor({ log: silentLog, environment: {}, program }).ready();
  const environment = { ...process.env, NOTIFY_SOCKET: '/nowhere' };
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (event) => void warned.push(event) };
  const lost = createSupervisor({ log, environment, program: join(folder, 'none') });
  lost.ready();
  lost.alive();
  await waitUntil('the warning', () => warned.length > 0);
  // A notice that is sent later, and alone.
  createSupervisor({ log, environment, program }).stopping();
  await untilQuiet(1);
  expect(calls()).toEqual(['start STOPPING=1', 'end']);
  expect(warned).toEqual(['systemd_notify_failed']);
});
