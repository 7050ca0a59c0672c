// kill -9 at any moment of the outbox's whole work: appending, sending, acknowledging, deleting, evicting, checkpoints,
// restarts, and the repair of a damaged file. After every few kills the file is judged by the ledger of what was told.
// FLEETWARD_TEST_KILLS sets the number; the moments come from a seed that is printed.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLuck } from '../support/hostile/hostile-truth.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { open, settle } from '../support/storage/outbox-bench.ts';
import { judgeOutbox } from '../support/storage/outbox-ledger.ts';
import {
  campaignSeed,
  readLedger,
  startProcess,
  type Workload,
  workloadArgv,
} from '../support/storage/storage-run.ts';

const kills = Number(process.env['FLEETWARD_TEST_KILLS'] ?? 60);
const judgeEvery = 12;
const seed = campaignSeed();
const luck = createLuck(seed);
const maxBytes = 1024 * 1024;
const root = temporaryFolder('kill', existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts the workload and kills it `afterMs` after its first line in the ledger, or after its first change of files. */
async function killOne(workload: Workload, afterMs: number, isEarly: boolean): Promise<void> {
  const watched = isEarly ? `${workload.path}-wal` : workload.ledger;
  const before = sizeOf(watched);
  const { process: child, ended } = startProcess(workloadArgv(workload), 60_000);
  for (let wait = 0; wait < 10_000 && sizeOf(watched) === before && child.exitCode === null; wait += 1)
    await pause(2);
  await pause(afterMs);
  child.kill('SIGKILL');
  const { signal, errors } = await ended;
  expect(signal, `seed ${seed}: ${errors}`).toBe('SIGKILL');
}

/** A copy, so that judging changes nothing that the next process finds. */
async function judgeCopy(folder: string, isSalvaged: boolean): Promise<readonly string[]> {
  const copy = mkdtempSync(join(root, 'judge-'));
  cpSync(folder, copy, { recursive: true });
  const outbox = await open(join(copy, 'outbox.db'), { maxBytes });
  await settle(outbox);
  const { faults, replaced } = await judgeOutbox(readLedger(join(folder, 'ledger')), outbox, { isSalvaged });
  await outbox.close();
  rmSync(copy, { recursive: true, force: true });
  return [...faults, ...(isSalvaged ? [] : replaced.map((reason) => `taken for damaged: ${reason}`))];
}

const workloadIn = (folder: string, name: string): Workload => ({
  path: join(folder, 'outbox.db'),
  ledger: join(folder, 'ledger'),
  seed: Math.floor(luck() * 2 ** 30),
  steps: 0,
  maxBytes,
  padBytes: 1200,
  name,
  reopenEvery: 40,
});

it(`keeps every promise over ${kills} kills on one file that evicts, acknowledges and restarts`, async () => {
  const folder = join(root, 'daily');
  mkdirSync(folder);
  const faults: string[] = [];
  for (let round = 1; round <= kills && faults.length === 0; round += 1) {
    const ledger = readLedger(join(folder, 'ledger'));
    const workload = {
      ...workloadIn(folder, `kill-${round}`),
      firstMark: ledger.lastMark(),
      firstRecord: ledger.records().tried,
    };
    await killOne(workload, luck() * 150, luck() < 0.2);
    if (round % judgeEvery === 0 || round === kills) faults.push(...(await judgeCopy(folder, false)));
  }
  const ledger = readLedger(join(folder, 'ledger'));
  console.info('killed', {
    seed,
    kills,
    told: ledger.told.size,
    acked: ledger.acked.size,
    openings: ledger.counts.opened,
  });
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(ledger.acked.size).toBeGreaterThan(0);
});

it('carries a repair to its end however often it is killed', async () => {
  const original = join(root, 'original');
  mkdirSync(original);
  const workload = { ...workloadIn(original, 'before'), steps: 120, padBytes: 300, reopenEvery: 0 };
  expect(await startProcess(workloadArgv(workload), 60_000).ended).toMatchObject({ exitCode: 0 });
  const bytes = readFileSync(workload.path);
  writeFileSync(workload.path, Buffer.concat([Buffer.alloc(100, 0xa5), bytes.subarray(100)]));
  const faults: string[] = [];
  const repairs = Math.ceil(kills / 8);
  for (let repair = 0; repair < repairs && faults.length === 0; repair += 1) {
    const folder = join(root, `repair-${repair}`);
    cpSync(original, folder, { recursive: true });
    for (let round = 0; round < 3; round += 1) {
      const ledger = readLedger(join(folder, 'ledger'));
      const next = {
        ...workloadIn(folder, `repair-${repair}-${round}`),
        firstMark: ledger.lastMark(),
        firstRecord: ledger.records().tried,
      };
      await killOne({ ...next, padBytes: 100, reopenEvery: 0 }, luck() * 60, luck() < 0.6);
    }
    faults.push(...(await judgeCopy(folder, true)));
    rmSync(folder, { recursive: true, force: true });
  }
  console.info('repairs killed', { seed, repairs, kills: repairs * 3 });
  expect(faults, `seed ${seed}`).toEqual([]);
});
