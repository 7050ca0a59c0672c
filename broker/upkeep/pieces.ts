// Commits that take rows away beside vehicles that wait for theirs: none of them large, and a rest after each, longer while
// vehicles wait. The size is found by what each takes here, so that it is right for a slow disk and for a quick one.
import type { Clock } from '../../src/ports.ts';
import { type BackOffRules, nextShare, restMs } from '../core/back-off.ts';
import { nextSize, type PieceRules } from '../core/piece-size.ts';
import { commitPaceMs } from '../ingest/group-commit.ts';

/** The size of pieces of one kind. */
export interface Pieces {
  /** Does one piece of at most so many rows; gives the rows that it took away and its time. */
  run(work: (rows: number) => Promise<number>): Promise<{ readonly rows: number; readonly tookMs: number }>;
}

export function createPieces(clock: Pick<Clock, 'monoMs'>, rules: PieceRules): Pieces {
  let size = rules.first;
  let beforeMs = Number.POSITIVE_INFINITY;
  return {
    async run(work) {
      const sinceMs = clock.monoMs();
      const rows = await work(size);
      const tookMs = clock.monoMs() - sinceMs;
      // Now and then a piece stands behind somebody's commit, or the database copies its journal: that is not the piece's own.
      size = nextSize(rules, size, { rows, ms: Math.min(beforeMs, tookMs) });
      beforeMs = tookMs;
      return { rows, tookMs };
    },
  };
}

/** A vehicle's commit that comes at the worst moment waits for this long, and now and then for twice as long. */
export const pieceTargetMs = 14;

/** Beyond the piece itself, for which whatever came during it has waited: that alone is no reason to step back. */
const rules: BackOffRules = { lateMs: commitPaceMs + 15, least: 0.05, most: 0.5, restMostMs: 1000 };
const pauseLeastMs = 10;

/** Gives how long to rest after a piece, told how long it took. @param lagMs age of the oldest write that waits for the disk. */
export function createRests(lagMs: () => number): (tookMs: number) => number {
  let share = rules.most;
  return (tookMs) => {
    share = nextShare(rules, share, lagMs() - tookMs);
    return Math.max(pauseLeastMs, restMs(rules, share, tookMs));
  };
}
