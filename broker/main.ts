#!/usr/bin/env node
// The broker's command line. Each command is loaded when it is given: a short one starts three times as fast without the service. A
// failure ends with one plain message on stderr and the exit code of its kind (sysexits.h).
import { runProgram } from '../src/adapters/program.ts';
import { readVersion } from '../src/adapters/version.ts';
import type { Flags, Handlers } from './cli/command-line.ts';
import { parseStart } from './cli/flags/start-line.ts';

const start = async (flags: Flags): Promise<void> => (await import('./cli/start.ts')).start(flags);

const handlers: Handlers = {
  start,
  accountCreate: async (flags) => (await import('./cli/accounts.ts')).runAccountCreate(flags),
  account: async (flags, action) => (await import('./cli/accounts.ts')).runAccount(flags, action),
  adminToken: async (flags) => (await import('./cli/accounts.ts')).runAdminToken(flags),
  device: async (flags, action) => (await import('./cli/devices.ts')).runDevice(flags, action),
  deviceCode: async (flags) => (await import('./cli/devices.ts')).runDeviceCode(flags),
  serviceCode: async (flags) => (await import('./cli/devices.ts')).runServiceCode(flags),
  quarantine: async (flags, action) => (await import('./cli/quarantine.ts')).runQuarantine(flags, action),
  audit: async (flags, action) => (await import('./cli/upkeep.ts')).runAudit(flags, action),
  retention: async (flags) => (await import('./cli/upkeep.ts')).runRetentionOnce(flags),
  config: async (flags, action) => (await import('./cli/upkeep.ts')).runConfig(flags, action),
  ca: async (flags, action) => (await import('./cli/ca.ts')).runCa(flags, action),
  owner: async (flags, action) => (await import('./cli/owner.ts')).runOwner(flags, action),
  backup: async (flags) => (await import('./cli/backup.ts')).runBackup(flags),
  restore: async (flags) => (await import('./cli/backup.ts')).runRestore(flags),
  check: async (flags) => (await import('./cli/backup.ts')).runCheck(flags),
};

await runProgram('fleetward-broker', async () => {
  const flags = parseStart(process.argv.slice(2));
  if (flags !== null) return start(flags);
  const { createCommandLine } = await import('./cli/command-line.ts');
  return createCommandLine(handlers, readVersion()).parseAsync();
});
