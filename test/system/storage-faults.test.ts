// A disk that fails under a running agent: the n-th write or fsync of the outbox's files fails with a given error (strace
// changes the answer of the real system call), or any call at random (libfiu). The process never crashes, never takes
// what it cannot store for stored, and never needs a new file for it: what was told durable is there on the next start.
// FLEETWARD_TEST_FAULTS sets the number of runs.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLuck } from '../support/hostile/hostile-truth.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import { open, settle } from '../support/storage/outbox-bench.ts';
import { judgeOutbox } from '../support/storage/outbox-ledger.ts';
import {
  campaignSeed,
  readLedger,
  startProcess,
  type Workload,
  workloadArgv,
} from '../support/storage/storage-run.ts';

const runs = Number(process.env['FLEETWARD_TEST_FAULTS'] ?? 16);
const seed = campaignSeed();
const luck = createLuck(seed);
const root = temporaryFolder('faults', existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
const maxBytes = 1024 * 1024;

const integer = (low: number, high: number): number => low + Math.floor(luck() * (high - low + 1));
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(luck() * list.length)] as T;

interface Outcome {
  readonly what: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly errors: string;
  readonly refused: number;
  readonly faults: readonly string[];
}

/** Runs the workload under `wrap` and judges on a disk that works again. */
async function runAndJudge(
  what: string,
  workload: Workload,
  run: (
    argv: readonly string[],
  ) => Promise<{ exitCode: number | null; signal: string | null; errors: string }>,
  /** Reads that fail again and again look like damage; then the file may be replaced, and still nothing may be lost. */
  mayReplace = false,
): Promise<Outcome> {
  const { exitCode, signal, errors } = await run(workloadArgv(workload));
  const ledger = readLedger(workload.ledger);
  const outbox = await open(workload.path, { maxBytes });
  await settle(outbox);
  const { faults, replaced } = await judgeOutbox(ledger, outbox, { isSalvaged: true });
  const { isIntact } = await outbox.readState();
  await outbox.append([], []);
  await outbox.close();
  const folder = join(workload.path, '..');
  const unclear = ledger.complaints.filter(
    (text) => !text.startsWith('not opened: storage') || text.endsWith('no hint'),
  );
  rmSync(folder, { recursive: true, force: true });
  return {
    what,
    exitCode,
    signal,
    errors,
    refused: ledger.counts.refused,
    faults: [
      ...faults,
      ...unclear,
      ...(isIntact || mayReplace ? [] : ['the state was taken for lost']),
      ...(mayReplace ? [] : replaced).map(
        (reason) => `a failing disk was taken for a damaged file: ${reason}`,
      ),
      ...(exitCode === 0 || exitCode === 3 ? [] : [`ended with ${exitCode ?? signal}: ${errors}`]),
    ],
  };
}

function workloadIn(name: string): Workload {
  const folder = mkdtempSync(join(root, 'run-'));
  return {
    path: join(folder, 'outbox.db'),
    ledger: join(folder, 'ledger'),
    seed: integer(1, 2 ** 30),
    steps: 220,
    maxBytes,
    padBytes: oneOf([10, 1500]),
    name,
    reopenEvery: oneOf([0, 37]),
  };
}

const calls = ['pwrite64', 'pwrite64', 'fsync', 'fsync', 'ftruncate', 'openat', 'unlink', 'pread64'] as const;
const errors = ['ENOSPC', 'EIO', 'EROFS', 'EDQUOT'] as const;

const traced = requires({ commands: ['strace'], debian: ['strace'] });
it.skipIf(traced.missing !== null)(
  `the n-th call fails, alone, for a while or for good${traced.missing === null ? '' : ` [${traced.missing}]`}`,
  async () => {
    const outcomes: Outcome[] = [];
    for (let count = 0; count < runs; count += 1) {
      const workload = workloadIn(`fault-${count}`);
      const call = oneOf(calls);
      const error = oneOf(errors);
      const first = integer(1, call === 'pwrite64' ? 900 : call === 'pread64' ? 60 : 120);
      const when = oneOf([`${first}`, `${first}..${first + integer(1, 40)}`, `${first}+`]);
      const files = ['', '-wal', '-shm', '-journal', '-reserve', '.new', '.new-wal'].map(
        (end) => workload.path + end,
      );
      const outcome = await runAndJudge(`${call} ${error} when ${when}`, workload, (argv) => {
        const flags = files.flatMap((path) => ['-P', path]);
        const inject = `inject=${call}:error=${error}:when=${when}`;
        return startProcess(
          ['strace', '-f', '-qq', '-o', '/dev/null', ...flags, '-e', `trace=${call}`, '-e', inject, ...argv],
          hangMs,
        ).ended;
      });
      outcomes.push(outcome);
    }
    report('n-th call', outcomes);
  },
);

function report(name: string, outcomes: readonly Outcome[]): void {
  const bad = outcomes.filter(({ faults }) => faults.length > 0);
  console.info(name, {
    seed,
    runs: outcomes.length,
    refused: outcomes.reduce((sum, { refused }) => sum + refused, 0),
    gaveUp: outcomes.filter(({ exitCode }) => exitCode === 3).length,
  });
  expect(bad.map(({ what, faults }) => `seed ${seed}, ${what}: ${faults.slice(0, 4).join('; ')}`)).toEqual(
    [],
  );
  expect(outcomes.some(({ refused, exitCode }) => refused > 0 || exitCode === 3)).toBe(true);
}

const points = [
  'posix/io/rw/pwrite',
  'posix/io/rw/pwrite/reduce',
  'posix/io/sync/fsync',
  'posix/io/rw/ftruncate',
  'posix/io/rw/pread',
  'posix/io/oc/open',
  'posix/io/dir/unlink',
];

const fiu = requires({ commands: ['fiu-run', 'fiu-ctrl'], debian: ['fiu-utils'] });
it.skipIf(fiu.missing !== null)(
  `calls fail at random${fiu.missing === null ? '' : ` [${fiu.missing}]`}`,
  async () => {
    const outcomes: Outcome[] = [];
    for (let count = 0; count < Math.ceil(runs / 2); count += 1) {
      const usual = workloadIn(`random-${count}`);
      const startFile = join(usual.path, '..', 'start');
      const workload: Workload = { ...usual, steps: 400, pauseMs: 1, startFile, startAfter: 0 };
      const chosen = points.filter(() => luck() < 0.5);
      const probability = oneOf([0.01, 0.05, 0.3]);
      const what = `${chosen.join(' ')} with ${probability}`;
      const outcome = await runAndJudge(
        what,
        workload,
        async (argv) => {
          const control = join(workload.path, '..', 'fiu');
          const started = startProcess(['fiu-run', '-x', '-f', control, ...argv], hangMs);
          await waitUntil('the workload', () => readLedger(workload.ledger).counts.opened > 0);
          // `fiu-run` replaces itself by the program, so this is the program's own id.
          for (const point of chosen)
            await enablePoint(control, started.process.pid ?? 0, point, probability);
          writeFileSync(startFile, '');
          return started.ended;
        },
        chosen.includes('posix/io/rw/pread') && probability > 0.1,
      );
      outcomes.push(outcome);
    }
    report('at random', outcomes);
  },
);

async function enablePoint(control: string, pid: number, point: string, probability: number): Promise<void> {
  const command = `enable_random name=${point},probability=${probability}`;
  const { exitCode, errors: said } = await startProcess(
    ['fiu-ctrl', '-f', control, '-c', command, String(pid)],
    hangMs,
  ).ended;
  expect(exitCode, said).toBe(0);
}
