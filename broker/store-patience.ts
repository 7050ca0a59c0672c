// Lets what devices send wait for a store that fails or hangs for a while, and gives it up in time. A short outage then
// costs no connection, and a long one holds nothing: what was given up is not acknowledged, and comes again. It must never
// report anything as done that is not.
import { AppError, messageOf } from '../src/core/errors.ts';
import type { Cancel, Clock, Log } from '../src/ports.ts';
import { isConflict, isStoreFault } from './group-commit.ts';

export interface StorePatienceOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves to true when the store takes writes. Must not reject. */
  readonly probe: () => Promise<boolean>;
  /** How long anything waits, and how long the store may fail before nothing more is taken, in ms. */
  readonly waitMs?: number;
}

export interface StorePatience {
  /**
   * Runs the work, again when the store failed and works again. The work must bear to be repeated.
   * @throws what the work threw when the store is not to blame; AppError `unavailable` when it took too long.
   */
  run(work: () => Promise<void>): Promise<void>;
  /** True while the store fails. */
  isFailing(): boolean;
  /** True when the store has failed for so long that nobody should be let in. */
  isDown(): boolean;
  /** Gives up everything that waits. */
  close(): void;
}

/** How often the store is asked while it fails, and how often the time of what waits is looked at, in ms. */
const roundMs = 1000;

/** True when the store cannot take anything: one that refuses a batch over what others changed is well. */
const isOutage = (thrown: unknown): boolean => isStoreFault(thrown) && !isConflict(thrown);

const givenUp = (): AppError =>
  new AppError('unavailable', 'the store did not take it in time', { retryAfterS: 10 });

/** A store that fails: since when, and what tells those who wait that it works again. */
interface Outage {
  readonly sinceMs: number;
  readonly over: Promise<void>;
  end(): void;
}

interface Waiting {
  readonly sinceMs: number;
  readonly done: () => void;
  readonly fail: (thrown: unknown) => void;
}

function createOutage(sinceMs: number): Outage {
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { sinceMs, over, end: () => end() };
}

/** Adds somebody who waits, until the work is done or failed. */
function waitIn(
  waiting: Set<Waiting>,
  sinceMs: number,
  { resolve, reject }: { readonly resolve: () => void; readonly reject: (thrown: unknown) => void },
): Waiting {
  const one: Waiting = {
    sinceMs,
    done() {
      waiting.delete(one);
      resolve();
    },
    fail(thrown) {
      waiting.delete(one);
      reject(thrown);
    },
  };
  waiting.add(one);
  return one;
}

export function createStorePatience(options: StorePatienceOptions): StorePatience {
  const { clock, log, probe, waitMs = 10_000 } = options;
  /** In order of arrival, so the first is the oldest. */
  const waiting = new Set<Waiting>();
  let outage: Outage | null = null;
  let cancelRound: Cancel | null = null;
  let isLooking = false;
  let isClosed = false;

  const isDown = (): boolean => outage !== null && clock.monoMs() - outage.sinceMs >= waitMs;
  const look = async (): Promise<void> => {
    const current = outage;
    if (current === null || isLooking) return;
    isLooking = true;
    const isWell = await probe();
    isLooking = false;
    if (!isWell || isClosed) return;
    log.info('the store takes writes again', { afterMs: Math.round(clock.monoMs() - current.sinceMs) });
    outage = null;
    current.end();
  };
  const round = (): void => {
    for (const one of waiting) {
      if (clock.monoMs() - one.sinceMs < waitMs) break;
      one.fail(givenUp());
    }
    void look();
    cancelRound = null;
    schedule();
  };
  const schedule = (): void => {
    if (isClosed || cancelRound !== null || (waiting.size === 0 && outage === null)) return;
    cancelRound = clock.after(roundMs, round);
  };
  const noteFailure = (thrown: unknown, sinceMs: number): void => {
    if (outage !== null) return;
    outage = createOutage(sinceMs);
    log.error('the store does not take writes', { reason: messageOf(thrown) });
    // It may be the last word of work that was given up long ago, with nobody waiting any more.
    schedule();
  };
  /** Runs the work until it is done or nobody waits for it. Every event comes by here: no promise that can be spared. */
  const attempt = (one: Waiting, work: () => Promise<void>): void => {
    const begin = (): void => {
      if (waiting.has(one)) work().then(one.done, failed);
    };
    const failed = (thrown: unknown): void => {
      if (isClosed || !isOutage(thrown)) return one.fail(thrown);
      // Since this work began to wait: whoever is let in when it is given up would only wait as long.
      noteFailure(thrown, waiting.has(one) ? one.sinceMs : clock.monoMs());
      if (waiting.has(one)) start();
    };
    // Starts at once when all is well: the order of arrival is the order of the commits.
    const start = (): void => {
      if (outage === null) begin();
      else void outage.over.then(begin);
    };
    start();
  };
  return {
    run(work) {
      if (isClosed || isDown()) return Promise.reject(givenUp());
      return new Promise((resolve, reject) => {
        const one = waitIn(waiting, clock.monoMs(), { resolve, reject });
        attempt(one, work);
        schedule();
      });
    },
    isFailing: () => outage !== null,
    isDown,
    close() {
      isClosed = true;
      cancelRound?.();
      for (const one of waiting) one.fail(givenUp());
    },
  };
}
