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

it('sends READY at once and merges what comes while a notice is on its way', async () => {
  const environment = { ...process.env, NOTIFY_SOCKET: '/nowhere' };
  const supervisor = createSupervisor({ log: silentLog, environment, program: join(folder, 'notify') });
  supervisor.ready();
  for (let turn = 0; turn < 50; turn++) supervisor.alive();
  supervisor.status('two\nlines');
  supervisor.stopping();
  await untilQuiet(2);
  expect(calls()).toEqual(['start READY=1', 'end', 'start WATCHDOG=1 STATUS=two lines STOPPING=1', 'end']);
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
