// What a record and an hour cost the flash, as strace sees the files: bytes for a record committed alone and in windows,
// and fsyncs and bytes for an hour of a whole agent parked and driving. Counts, no times.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { costOf, type DiskCost, recordDisk } from '../support/storage/disk-log.ts';
import { measureRecordCost } from '../support/storage/storage-cost.ts';
import type { Figure, Say } from './agent-figures.ts';
import type { HourPlan } from './storage-hour.ts';

/** A commit of one record on SQLite in WAL mode with its defaults, the naive way (research "edge-agents", section 4). */
const naive = { name: 'one commit a record, SQLite as it comes', value: 13_100 } as const;

const plans = [
  { name: 'an alarm, committed alone', commits: 600, size: 1, priority: 2, goal: 2600 },
  { name: 'a position in a window of 6', commits: 200, size: 6, priority: 3, goal: 900 },
  { name: 'a position in a window of 25', commits: 60, size: 25, priority: 3, goal: 900 },
] as const;

async function recordHour(isParked: boolean): Promise<DiskCost> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-hour-'));
  try {
    const plan: HourPlan = {
      path: join(folder, 'outbox.db'),
      marks: join(folder, 'marks'),
      isParked,
      seconds: 3600,
      windowS: 60,
    };
    const child = fileURLToPath(new URL('./storage-hour.js', import.meta.url));
    const { ops, exitCode, errors } = await recordDisk({
      folder,
      argv: [process.execPath, child, JSON.stringify(plan)],
      present: [],
      timeoutMs: 600_000,
    });
    if (exitCode !== 0) throw new Error(`the traced hour ended with ${exitCode}: ${errors}`);
    const [from = 0, to = ops.length] = ops.flatMap((op, at) =>
      op.name === 'marks' && op.kind === 'write' ? [at] : [],
    );
    return costOf(ops.slice(from, to), (name) => name === 'outbox.db' || name === 'outbox.db-wal');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures the storage; needs strace. */
export async function benchStorage(say: Say): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { name, goal, ...plan } of plans) {
    say(`storage: ${name}`);
    const { bytesPerRecord, fsyncsPerCommit } = await measureRecordCost(plan);
    figures.push(
      { section: 'storage', name, unit: 'B/record', value: bytesPerRecord, baseline: naive, goal },
      { section: 'storage', name: `${name}: fsyncs`, unit: '/commit', value: fsyncsPerCommit },
    );
  }
  for (const isParked of [true, false]) {
    const name = isParked ? 'an hour parked' : 'an hour of driving';
    say(`storage: ${name} of a whole agent`);
    const { fsyncs, bytes } = await recordHour(isParked);
    const goal = isParked ? { goal: 60 } : {};
    figures.push(
      { section: 'storage', name: `${name}: fsyncs`, unit: '/h', value: fsyncs, ...goal },
      { section: 'storage', name: `${name}: written`, unit: 'kB/h', value: bytes / 1000 },
    );
  }
  return figures;
}
