// Work in the background that runs when it is woken and every now and then by itself, never twice at once. What wakes it
// while it runs makes it run once more.
import type { Cancel, Clock } from '../../src/ports.ts';

export interface WakeLoopOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  /** How long it waits for company after it is woken. */
  readonly gatherMs: number;
  /** It rests so many times as long as it ran, at most `everyMs`; 0 without it. */
  readonly rest?: number;
  /** Must not reject. */
  readonly run: () => Promise<void>;
}

export interface WakeLoop {
  wake(): void;
  /** Runs at once, after what is running. */
  runNow(): Promise<void>;
  /** Waits for what is running and runs no more. */
  close(): Promise<void>;
}

export function createWakeLoop({ clock, everyMs, gatherMs, rest = 0, run }: WakeLoopOptions): WakeLoop {
  let last: Promise<void> = Promise.resolve();
  let cancel: Cancel = () => undefined;
  let isWoken = false;
  let isClosed = false;
  let restsUntilMs = 0;
  const plan = (delayMs: number): void => {
    cancel();
    const leastMs = restsUntilMs - clock.monoMs();
    if (!isClosed) cancel = clock.after(Math.max(delayMs, leastMs), () => void runNow());
  };
  const runAfter = async (before: Promise<void>): Promise<void> => {
    await before;
    cancel();
    isWoken = false;
    const beganMs = clock.monoMs();
    if (!isClosed) await run();
    const endedMs = clock.monoMs();
    restsUntilMs = endedMs + Math.min(everyMs, rest * (endedMs - beganMs));
    plan(isWoken ? gatherMs : everyMs);
  };
  const runNow = (): Promise<void> => {
    last = runAfter(last);
    return last;
  };
  plan(gatherMs);
  return {
    wake() {
      if (isWoken) return;
      isWoken = true;
      plan(gatherMs);
    },
    runNow,
    async close() {
      isClosed = true;
      cancel();
      await last;
    },
  };
}
