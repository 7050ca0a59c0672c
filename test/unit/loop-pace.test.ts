// Work in pieces beside everything else: how much of one turn of the loop it takes, and that it ends with the work.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLoopPace } from '../../broker/adapters/mqtt/loop-pace.ts';
import type { Clock } from '../../src/ports.ts';

interface Pieces {
  readonly pieces: number;
  readonly pieceMs: number;
  readonly turnMs: number;
}

/** Each piece takes `pieceMs`, half of it in the tick after it. */
function createJob({ pieces, pieceMs, turnMs }: Pieces) {
  const job = { left: pieces };
  let nowMs = 0;
  const clock: Clock = { monoMs: () => nowMs, utcMs: () => nowMs, after: () => () => undefined };
  const begin = createLoopPace({
    clock,
    turnMs,
    step() {
      if (job.left === 0) return false;
      job.left -= 1;
      nowMs += pieceMs / 2;
      process.nextTick(() => {
        nowMs += pieceMs / 2;
      });
      return true;
    },
  });
  /** How many pieces were done in each of the next turns. */
  const turns = async (): Promise<readonly number[]> => {
    const done: number[] = [];
    begin();
    for (let turn = 0; turn < 20; turn++) {
      const before = job.left;
      await nextTurn();
      done.push(before - job.left);
    }
    return done;
  };
  return { job, turns };
}

describe('work in steps', () => {
  it('does what fits into a share of each turn, including the ticks that its steps scheduled', async () => {
    const { job, turns } = createJob({ pieces: 21, pieceMs: 4, turnMs: 10 });
    const done = await turns();
    expect(job.left).toBe(0);
    // Three pieces of 4 ms are over 10 ms. The turn in which it was begun has its share before the first count is taken.
    expect(done.slice(1).filter((count) => count > 0)).toEqual([3, 3, 3, 3, 3]);
  });

  it('does one step a turn when one is longer than the share', async () => {
    const { job, turns } = createJob({ pieces: 5, pieceMs: 50, turnMs: 10 });
    expect((await turns()).slice(1).every((count) => count <= 1)).toBe(true);
    expect(job.left).toBe(0);
  });

  it('ends with the work, and begins again when called', async () => {
    const { job, turns } = createJob({ pieces: 0, pieceMs: 1, turnMs: 10 });
    expect((await turns()).every((count) => count === 0)).toBe(true);
    job.left = 3;
    await turns();
    expect(job.left).toBe(0);
  });
});
