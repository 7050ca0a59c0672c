// Work in pieces beside everything else: for some milliseconds of each turn of the event loop, the rest in the turns after
// it. Between two pieces the ticks run that the first one asked for, and count to its time. It must never run empty turns.
import type { Clock } from '../../src/ports.ts';

export interface LoopPaceOptions {
  readonly clock: Clock;
  /** Time of one turn of the loop that may be spent, in ms; the last piece may take longer. */
  readonly turnMs: number;
  /** Does one piece; false when there was nothing to do. Must not throw. */
  readonly step: () => boolean;
}

/** Gives the way to say that there may be work: it begins at once unless this turn has had its share. */
export function createLoopPace({ clock, turnMs, step }: LoopPaceOptions): () => void {
  let spentMs = 0;
  let isTurnCounted = false;
  let isAtWork = false;
  const newTurn = (): void => {
    isTurnCounted = false;
    spentMs = 0;
    work();
  };
  const work = (): void => {
    if (isAtWork || spentMs >= turnMs) return;
    isAtWork = true;
    const beganMs = clock.monoMs();
    if (!step()) {
      isAtWork = false;
      return;
    }
    if (!isTurnCounted) {
      isTurnCounted = true;
      setImmediate(newTurn);
    }
    process.nextTick(() => {
      isAtWork = false;
      spentMs += clock.monoMs() - beganMs;
      work();
    });
  };
  return work;
}
