// What a record costs the flash: bytes written and fsyncs of the outbox's real files by a real process, counted system
// call by system call (needs strace). For the tests of the goals and for `npm run bench -- agent`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Priority } from '../../../src/core/events/status-codes.ts';
import { costOf, recordDisk } from './disk-log.ts';
import { workloadArgv } from './storage-run.ts';

export interface RecordCost {
  readonly records: number;
  readonly bytesPerRecord: number;
  readonly writesPerRecord: number;
  readonly fsyncsPerCommit: number;
  /** Of all bytes: the log, and the database file by checkpoints. */
  readonly logShare: number;
}

const isOutboxFile = (name: string): boolean => name === 'outbox.db' || name === 'outbox.db-wal';

/**
 * Stores and acknowledges `commits` batches of `size` records of one class and counts what reached the files.
 * @param plan.commits 50 or more, so that checkpoints and deletions are in the figures.
 * @throws Error when the process does not end well.
 */
export async function measureRecordCost(plan: {
  readonly commits: number;
  readonly size: number;
  readonly priority: Priority;
}): Promise<RecordCost> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-cost-'));
  try {
    const argv = workloadArgv({
      path: join(folder, 'outbox.db'),
      ledger: join(folder, 'ledger'),
      seed: 1,
      steps: 0,
      maxBytes: 16 * 1024 * 1024,
      name: 'cost',
      plan,
    });
    const { ops, exitCode, errors } = await recordDisk({ folder, argv, present: [], timeoutMs: 300_000 });
    if (exitCode !== 0) throw new Error(`the measured process ended with ${exitCode}: ${errors}`);
    const lineAt = (word: string): number =>
      ops.findIndex(
        (op) =>
          op.kind === 'write' &&
          op.name === 'ledger' &&
          new TextDecoder().decode(op.bytes).includes(`"${word}"`),
      );
    const cost = costOf(ops.slice(lineAt('plan'), lineAt('planned')), isOutboxFile);
    const records = plan.commits * plan.size;
    return {
      records,
      bytesPerRecord: Math.round(cost.bytes / records),
      writesPerRecord: Math.round((cost.writes / records) * 10) / 10,
      fsyncsPerCommit: Math.round((cost.fsyncs / plan.commits) * 100) / 100,
      logShare: Math.round(((cost.bytesOf['outbox.db-wal'] ?? 0) / cost.bytes) * 100) / 100,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
