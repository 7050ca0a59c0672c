// Work in small steps for some milliseconds of each turn of the event loop; the rest follows in later turns. Ticks that a step has scheduled run
// before the next step and count to its time. It must never run empty turns.
import type { Clock } from '../../../src/ports.ts';

export interface LoopPaceOptions {
  readonly clock: Clock;
  /** Time in one loop turn, ms; the last step may take longer. */
  readonly turnMs: number;
  /** Runs one step; false: there was nothing to do. Must not throw. */
  readonly step: () => boolean;
}

/** @returns function to call when there may be work: it starts at once unless the time of this loop turn is spent. */
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
