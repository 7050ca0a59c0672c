// A real small disk: a 16 MiB ext4 on a loop device. The cap holds with everything that lies beside the database; when
// others fill the disk the urgent events still go in, each drop is counted and reported, and it recovers when space comes
// back. And a file system that turns read-only while the agent runs: nothing that was told durable is gone afterwards.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Outbox } from '../../agent/outbox.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Priority } from '../../src/core/events/status-codes.ts';
import type { Clock } from '../../src/ports.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import { drain, marksOf, open, record, settle } from '../support/storage/outbox-bench.ts';
import { judgeOutbox } from '../support/storage/outbox-ledger.ts';
import { readLedger, startProcess, workloadArgv } from '../support/storage/storage-run.ts';

const { missing: lacking } = requires({
  commands: ['mkfs.ext4', 'mount', 'losetup'],
  debian: ['e2fsprogs', 'mount'],
});
const root = temporaryFolder('disk');
const run = (command: string, ...args: string[]) =>
  spawnSync(command, args, { encoding: 'utf8', timeout: hangMs });

/** A fresh ext4 of 16 MiB on a loop device; null when this machine does not allow it. */
function mountDisk(
  name: string,
): { folder: string; device: string; remount(): void; unmount(): void } | null {
  const image = join(root, `${name}.img`);
  const folder = join(root, name);
  mkdirSync(folder);
  writeFileSync(image, '');
  if (
    run('truncate', '-s', '16M', image).status !== 0 ||
    run('mkfs.ext4', '-q', '-F', '-m', '0', image).status !== 0
  )
    return null;
  const mount = (): string | null => {
    if (run('mount', '-o', 'loop,errors=remount-ro', image, folder).status !== 0) return null;
    const device = run('findmnt', '-n', '-o', 'SOURCE', folder).stdout.trim();
    return basename(device);
  };
  const device = mount();
  if (device === null) return null;
  return {
    folder,
    device,
    remount: () => void mount(),
    unmount: () => void run('umount', '--lazy', folder),
  };
}

const probe = lacking === null && process.getuid?.() === 0 ? mountDisk('probe') : null;
probe?.unmount();
const why = probe !== null ? '' : ` [skipped: ${lacking ?? 'needs root and loop devices'}]`;

/** Writes until the disk is full. */
function fill(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (const size of [65_536, 1024, 1]) for (;;) if (writeSync(file, new Uint8Array(size)) < size) break;
  } catch {
    // Full.
  } finally {
    closeSync(file);
  }
}

const pattern = [3, 3, 3, 2, 3, 3, 1, 3, 3, 0] as const satisfies readonly Priority[];

interface Tally {
  mark: number;
  readonly told: [number, number, number, number];
  readonly refused: [number, number, number, number];
}

/** Appends ten records in one commit, a panic among them. */
async function appendTen(outbox: Outbox, tally: Tally): Promise<void> {
  const records = pattern.map((priority) => {
    const { event } = record(priority, tally.mark++);
    return { priority, event: { ...event, attributes: { text: 'x'.repeat(500) } } };
  });
  const counts = await outbox.append(records).then(
    () => tally.told,
    (thrown: unknown) => {
      expect(thrown).toBeInstanceOf(AppError);
      return tally.refused;
    },
  );
  for (const priority of pattern) counts[priority] += 1;
}

function bytesIn(folder: string): number {
  const sizes = readdirSync(folder)
    .filter((name) => name.startsWith('outbox'))
    .map((name) => statSync(join(folder, name)).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Everything told is there or counted, and the reports say the same as the counts. */
async function checkBalance(outbox: Outbox, tally: Tally) {
  const batches = await drain(outbox);
  const { dropped } = await outbox.stats();
  const queued = ([0, 1, 2, 3] as const).map((priority) => marksOf(batches, priority).length);
  const reports = (await drain(outbox)).flatMap((batch) =>
    batch.events.filter(({ statusCode }) => statusCode === 4376),
  );
  const reported = [0, 0, 0, 0];
  for (const { attributes } of reports)
    reported[Number(attributes?.['class'])] =
      (reported[Number(attributes?.['class'])] ?? 0) + Number(attributes?.['count']);
  for (const priority of [0, 1, 2, 3] as const)
    expect((queued[priority] ?? 0) + dropped[priority], `class ${priority}`).toBe(tally.told[priority]);
  return { queued, dropped, reported };
}

/** Real time and `skipMs` on top of it. */
function createSkippingClock(): Clock & { skipMs: number } {
  const clock = createSystemClock();
  return {
    skipMs: 0,
    monoMs() {
      return clock.monoMs() + this.skipMs;
    },
    utcMs: () => clock.utcMs(),
    after: (delayMs, call) => clock.after(delayMs, call),
  };
}

describe.skipIf(probe === null)(`a disk of 16 MiB${why}`, () => {
  it('keeps its cap, keeps every panic while others fill the disk, and recovers when space comes back', async () => {
    const disk = mountDisk('small');
    if (disk === null) throw new Error('the disk cannot be mounted');
    try {
      const maxBytes = 6 * 1024 * 1024;
      const clock = createSkippingClock();
      const outbox = await open(join(disk.folder, 'outbox.db'), { maxBytes, clock });
      const tally: Tally = { mark: 1, told: [0, 0, 0, 0], refused: [0, 0, 0, 0] };
      let most = 0;
      for (let round = 0; round < 1100; round += 1) {
        await appendTen(outbox, tally);
        if (round % 10 === 0) most = Math.max(most, bytesIn(disk.folder));
      }
      expect(tally.refused).toEqual([0, 0, 0, 0]);
      expect(most).toBeLessThanOrEqual(maxBytes);
      const atCap = await checkBalance(outbox, tally);
      expect(atCap.dropped[0]).toBe(0);
      expect(atCap.dropped[3]).toBeGreaterThan(0);

      fill(join(disk.folder, 'others'));
      for (let round = 0; round < 300; round += 1) await appendTen(outbox, tally);
      const full = await checkBalance(outbox, tally);
      expect(full.queued[3] === 0 || full.dropped[0] === 0).toBe(true);
      const refusedWhileFull = [...tally.refused];

      rmSync(join(disk.folder, 'others'));
      clock.skipMs += 61_000;
      const refusedBefore = tally.refused[0];
      for (let round = 0; round < 50; round += 1) await appendTen(outbox, tally);
      expect(tally.refused[0]).toBe(refusedBefore);
      expect(existsSync(join(disk.folder, 'outbox.db-reserve'))).toBe(true);
      clock.skipMs += 61_000;
      const after = await checkBalance(outbox, tally);
      console.info('16 MiB', { most, maxBytes, told: tally.told, refusedWhileFull, atCap, full, after });
      clock.skipMs += 61_000;
      const { reported, dropped } = await checkBalance(outbox, tally);
      expect(reported).toEqual([...dropped]);
      await outbox.close();
    } finally {
      disk.unmount();
    }
  });

  it('that turns read-only under the agent: it continues and reports it, and everything reported durable is there afterwards', async (context) => {
    const disk = mountDisk('turning');
    if (disk === null) throw new Error('the disk cannot be mounted');
    const trigger = `/sys/fs/ext4/${disk.device}/trigger_fs_error`;
    if (!existsSync(trigger)) {
      disk.unmount();
      context.skip('this kernel cannot make a file system fail');
    }
    try {
      const [ledger, startFile] = [join(root, 'turning.ledger'), join(root, 'turning.start')];
      const path = join(disk.folder, 'outbox.db');
      const maxBytes = 4 * 1024 * 1024;
      const argv = workloadArgv({
        path,
        ledger,
        seed: 11,
        steps: 600,
        maxBytes,
        padBytes: 200,
        name: 'turning',
        reopenEvery: 0,
        pauseMs: 2,
        startFile,
        startAfter: 150,
      });
      const { ended } = startProcess(argv, hangMs);
      await waitUntil('300 stored events', () => readLedger(ledger).told.size >= 300);
      writeFileSync(trigger, '1');
      writeFileSync(startFile, '');
      const { exitCode, errors } = await ended;
      expect(exitCode, errors).toBe(0);
      const kept = readLedger(ledger);
      expect(kept.counts.refused).toBeGreaterThan(0);
      await expect(open(path, { maxBytes })).rejects.toMatchObject({
        code: 'storage',
        hint: expect.stringContaining('disk'),
      });
      disk.unmount();
      run('e2fsck', '-fy', join(root, 'turning.img'));
      disk.remount();
      const outbox = await open(path, { maxBytes });
      await settle(outbox);
      const finding = await judgeOutbox(kept, outbox);
      await outbox.close();
      console.info('read-only', {
        told: kept.told.size,
        refused: kept.counts.refused,
        found: finding.found,
      });
      expect(finding.faults).toEqual([]);
      expect(finding.replaced).toEqual([]);
    } finally {
      disk.unmount();
    }
  });
});
