// A background task that runs repeatedly, never twice at once: some time after its last run has ended, and sooner when it is woken. A wake during a
// run causes one more run.
import type { Cancel, Clock } from '../../src/ports.ts';

export interface PeriodicTaskOptions {
  readonly clock: Clock;
  readonly firstMs: number;
  /** One run; returns the delay of the next one, ms. Must not reject: there is no caller to catch it. */
  readonly run: () => Promise<number>;
  /** Delay of a run after a wake, so that several wakes cause one run; default 0. */
  readonly gatherMs?: number;
  /** Minimum pause as a multiple of the duration of a run, at most the delay that the run returned; default 0. */
  readonly pauseFactor?: number;
}

export interface PeriodicTask {
  wake(): void;
  /** Runs at once, or after the present run. */
  runNow(): Promise<void>;
  /** Starts no further run and waits for the present one. */
  close(): Promise<void>;
}

export function createPeriodicTask(options: PeriodicTaskOptions): PeriodicTask {
  const { clock, firstMs, run, gatherMs = 0, pauseFactor = 0 } = options;
  let last: Promise<void> = Promise.resolve();
  /** Number of runs in progress or waiting. */
  let pending = 0;
  let cancel: Cancel = () => undefined;
  let isWoken = false;
  let isClosed = false;
  let pausedUntilMs = 0;
  const schedule = (delayMs: number): void => {
    cancel();
    const leastMs = pausedUntilMs - clock.monoMs();
    if (!isClosed) cancel = clock.after(Math.max(delayMs, leastMs), () => void runNow());
  };
  const runOnce = async (): Promise<void> => {
    cancel();
    isWoken = false;
    if (!isClosed) {
      const beganMs = clock.monoMs();
      const nextMs = await run();
      const endedMs = clock.monoMs();
      pausedUntilMs = endedMs + Math.min(nextMs, pauseFactor * (endedMs - beganMs));
      schedule(isWoken ? gatherMs : nextMs);
    }
    pending -= 1;
  };
  const runNow = (): Promise<void> => {
    pending += 1;
    last = pending === 1 ? runOnce() : last.then(runOnce);
    return last;
  };
  schedule(firstMs);
  return {
    wake() {
      if (isWoken) return;
      isWoken = true;
      schedule(gatherMs);
    },
    runNow,
    async close() {
      isClosed = true;
      cancel();
      await last;
    },
  };
}
