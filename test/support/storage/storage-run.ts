// Runs `storage-child.mjs` with one set of options: plainly, under a tracer, or until somebody kills it. The child's code
// is the build, which `npm test` makes first.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Priority } from '../../../src/core/events/status-codes.ts';
import { checkout } from '../machine/checkout.ts';
import { createLedger, type Ledger, parseLedger } from './outbox-ledger.ts';

const child = fileURLToPath(new URL('test/support/storage/storage-child.mjs', checkout));

export interface Workload {
  readonly path: string;
  readonly ledger: string;
  readonly seed: number;
  /** 0: until it is killed. */
  readonly steps: number;
  readonly maxBytes: number;
  /** Largest text of an event: fills a small file soon. */
  readonly padBytes?: number;
  readonly name: string;
  readonly firstMark?: number;
  readonly firstRecord?: number;
  /** Closes and opens anew after so many steps. */
  readonly reopenEvery?: number;
  readonly pauseMs?: number;
  /** After `startAfter` steps it waits until this file is there. */
  readonly startFile?: string;
  readonly startAfter?: number;
  /** Instead of the mixed work: commits of one size, to measure. */
  readonly plan?: { readonly commits: number; readonly size: number; readonly priority: Priority };
}

export function workloadArgv(workload: Workload): readonly string[] {
  return [process.execPath, child, JSON.stringify(workload)];
}

export interface Ended {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly errors: string;
}

/** Starts `argv`; `ended` resolves when it is gone, at the latest after `timeoutMs`. */
export function startProcess(
  argv: readonly string[],
  timeoutMs: number,
): { readonly process: ChildProcess; readonly ended: Promise<Ended> } {
  const [command = '', ...args] = argv;
  const started = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  started.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4000);
  });
  const timer = setTimeout(() => started.kill('SIGKILL'), timeoutMs);
  const ended = new Promise<Ended>((resolve) =>
    started.once('close', (exitCode, signal) => {
      clearTimeout(timer);
      resolve({ exitCode, signal, errors });
    }),
  );
  return { process: started, ended };
}

/** Everything that the workload was told so far. */
export function readLedger(path: string): Ledger {
  const ledger = createLedger();
  if (existsSync(path)) for (const line of parseLedger(readFileSync(path, 'utf8'))) ledger.take(line);
  return ledger;
}

/** `npm run test:storage`: other seeds each time, and what takes long. */
export const isCampaign = (): boolean => process.env['FLEETWARD_TEST_FAULTS'] !== undefined;

/** The seed of a campaign: from FLEETWARD_TEST_SEED, else random and printed with every failure. */
export function campaignSeed(): number {
  const { FLEETWARD_TEST_SEED: chosen } = process.env;
  if (chosen !== undefined) return Number(chosen);
  return isCampaign() ? Math.floor(Math.random() * 2 ** 31) : 1;
}
