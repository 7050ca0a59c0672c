// Background work in rounds: one after the other, each some time after the one before has ended, until closed. A round says
// itself how long to rest; it must not reject, because nobody would hear of it.
import type { Cancel, Clock } from '../../src/ports.ts';

export interface RoundsOptions {
  readonly clock: Clock;
  /** Rest before the first round. */
  readonly firstMs: number;
  /** One round; gives the rest until the next in ms. */
  readonly run: () => Promise<number>;
}

export interface Rounds {
  /** Begins no further round and waits for the one that runs. */
  close(): Promise<void>;
}

/** Rests, then runs, for ever. */
export function createRounds({ clock, firstMs, run }: RoundsOptions): Rounds {
  let isClosed = false;
  let cancel: Cancel = () => undefined;
  let running: Promise<void> = Promise.resolve();
  const rest = (delayMs: number): void => {
    if (isClosed) return;
    cancel = clock.after(delayMs, () => {
      running = run().then(rest);
    });
  };
  rest(firstMs);
  return {
    close() {
      isClosed = true;
      cancel();
      return running;
    },
  };
}
