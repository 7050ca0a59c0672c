// Deletes rows in small commits between the commits of vehicles, with a pause after each, longer while vehicles wait.
// The size adapts to the duration of each commit, for slow and quick disks.
import type { Clock } from '../../src/ports.ts';
import { type AdaptiveBatchRules, nextSize } from '../core/scheduling/adaptive-batch.ts';
import { nextShare, restMs, type ThrottleRules } from '../core/scheduling/aimd-throttle.ts';
import { commitPaceMs } from '../scheduling/group-commit.ts';

export interface PacedBatches {
  /** Runs one batch of at most so many rows; gives the rows that it deleted and its time. */
  run(work: (rows: number) => Promise<number>): Promise<{ readonly rows: number; readonly tookMs: number }>;
}

export function createPacedBatches(clock: Pick<Clock, 'monoMs'>, rules: AdaptiveBatchRules): PacedBatches {
  let size = rules.first;
  let beforeMs = Number.POSITIVE_INFINITY;
  return {
    async run(work) {
      const sinceMs = clock.monoMs();
      const rows = await work(size);
      const tookMs = clock.monoMs() - sinceMs;
      // Sometimes a batch waits for another commit or a checkpoint of the database: that is not its own time.
      size = nextSize(rules, size, { rows, ms: Math.min(beforeMs, tookMs) });
      beforeMs = tookMs;
      return { rows, tookMs };
    },
  };
}

/** A vehicle's commit that comes at the worst moment waits for this long, and now and then for twice as long. */
export const batchTargetMs = 14;

/** In addition to the batch itself, which other writes had to wait for: that alone is no reason to slow down. */
const rules: ThrottleRules = { lateMs: commitPaceMs + 15, least: 0.05, most: 0.5, restMostMs: 1000 };
const pauseLeastMs = 10;

/** Gives the pause after a batch of the given duration. @param lagMs age of the oldest write that waits for the disk. */
export function createPauses(lagMs: () => number): (tookMs: number) => number {
  let share = rules.most;
  return (tookMs) => {
    share = nextShare(rules, share, lagMs() - tookMs);
    return Math.max(pauseLeastMs, restMs(rules, share, tookMs));
  };
}
