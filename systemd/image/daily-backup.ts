// A checked copy of the database each day, the newest of them kept: for machines without a timer of their own. A copy that fails is tried
// again an hour later, and takes no older one away.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { untilStopped } from '../../src/adapters/program.ts';
import { dayMs, hourMs } from '../../src/core/durations.ts';

const program = fileURLToPath(new URL('../../broker/main.js', import.meta.url));
const name = /^fleetward-\d{8}T\d{6}Z\.db$/;

function copyOnce(folder: string, kept: number): boolean {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const args = [program, 'backup', join(folder, `fleetward-${stamp}.db`)];
  if (spawnSync(process.execPath, args, { stdio: 'inherit' }).status !== 0) return false;
  const copies = readdirSync(folder).filter((file) => name.test(file));
  for (const file of copies.sort().slice(0, -kept)) rmSync(join(folder, file));
  return true;
}

/** Runs until it is stopped. @param args `--folder` (default /backup) and `--keep` (default 7, at least 1). */
export async function runDailyBackup(args: readonly string[]): Promise<never> {
  const options = {
    folder: { type: 'string', default: '/backup' },
    keep: { type: 'string', default: '7' },
  } as const;
  const { folder, keep } = parseArgs({ args: [...args], options }).values;
  const kept = Number(keep);
  if (!Number.isSafeInteger(kept) || kept < 1) {
    process.stderr.write(`--keep ${keep} is no whole number from 1 on\n`);
    process.exit(64);
  }
  process.umask(0o077);
  void untilStopped().then(() => process.exit(0));
  for (;;) await sleep(copyOnce(folder, kept) ? dayMs : hourMs);
}
