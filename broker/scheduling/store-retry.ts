// Lets uplinks wait for a store that fails or hangs, and fails them in time. A short outage then costs no connection, and a long one accumulates
// nothing: abandoned work is not acknowledged, and the device sends it again. It must never complete work that is not done.
import { AppError, hintFrom, messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Log } from '../../src/ports.ts';
import type { Completion } from '../core/completion.ts';
import { isConflict, isStoreFault } from '../core/store-faults.ts';

export interface StoreRetryOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** True when the store accepts writes. Must not reject. */
  readonly probe: () => Promise<boolean>;
  /** Maximum wait of any work, and time for which the store may fail before new work is refused, ms. */
  readonly waitMs?: number;
}

/** Work on the store that may be repeated. */
export interface RetriableWork {
  /** Starts it; called again after a fault of the store. Must not throw. */
  begin(completion: Completion): void;
}

export interface StoreRetry {
  /**
   * Runs the work, and again when the store has recovered. Fails as the work did when the fault is not the store's, or with AppError `unavailable`
   * after `waitMs`.
   */
  run(work: RetriableWork, completion: Completion): void;
  /** True while the store fails. */
  isFailing(): boolean;
  /** True when the store has failed for so long that new connections should be refused. */
  isDown(): boolean;
  /** Fails all waiting work. */
  close(): void;
}

/** Period of the probe while the store fails, and of the check for expired waits, ms. */
const probePeriodMs = 1000;

/** True when the store cannot write at all: a conflict with another process is no outage. */
const isOutage = (thrown: unknown): boolean => isStoreFault(thrown) && !isConflict(thrown);

const givenUp = (): AppError =>
  new AppError('unavailable', 'the store did not take it in time', { retryAfterS: 10 });

/** An outage of the store; `over` resolves when it works again. */
interface Outage {
  readonly sinceMs: number;
  readonly over: Promise<void>;
  end(): void;
}

function createOutage(sinceMs: number): Outage {
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { sinceMs, over, end: () => end() };
}

interface RetryQueue {
  /** Oldest and newest waiting attempt. */
  first: Attempt | null;
  last: Attempt | null;
  /** Starts it, at once or when the store works again. */
  start(attempt: Attempt): void;
  /** Handles a failure of the work, while its attempt waits or after it was abandoned. */
  onRefused(attempt: Attempt, thrown: unknown): void;
}

/** Waiting work, in a linked list in order of arrival. Every event passes here, so there is one object each and no promise. */
class Attempt implements Completion {
  readonly #queue: RetryQueue;
  readonly #work: RetriableWork;
  readonly #completion: Completion;
  readonly sinceMs: number;
  #before: Attempt | null;
  #after: Attempt | null = null;
  isWaiting = true;

  constructor(
    queue: RetryQueue,
    { work, completion, sinceMs }: { work: RetriableWork; completion: Completion; sinceMs: number },
  ) {
    this.#queue = queue;
    this.#work = work;
    this.#completion = completion;
    this.sinceMs = sinceMs;
    this.#before = queue.last;
    if (queue.last === null) queue.first = this;
    else queue.last.#after = this;
    queue.last = this;
  }

  begin(): void {
    if (this.isWaiting) this.#work.begin(this);
  }

  done(): void {
    if (this.#leave()) this.#completion.done();
  }

  fail(thrown: unknown): void {
    this.#queue.onRefused(this, thrown);
  }

  giveUp(thrown: unknown): void {
    if (this.#leave()) this.#completion.fail(thrown);
  }

  /** False: it was completed before. */
  #leave(): boolean {
    if (!this.isWaiting) return false;
    this.isWaiting = false;
    if (this.#before === null) this.#queue.first = this.#after;
    else this.#before.#after = this.#after;
    if (this.#after === null) this.#queue.last = this.#before;
    else this.#after.#before = this.#before;
    // A removed attempt must not keep later ones reachable for the garbage collector.
    this.#before = null;
    this.#after = null;
    return true;
  }
}

export function createStoreRetry(options: StoreRetryOptions): StoreRetry {
  const { clock, log, probe, waitMs = 10_000 } = options;
  let outage: Outage | null = null;
  let cancelPoll: Cancel | null = null;
  let isProbing = false;
  let isClosed = false;

  const isDown = (): boolean => outage !== null && clock.monoMs() - outage.sinceMs >= waitMs;
  const probeStore = async (): Promise<void> => {
    const current = outage;
    if (current === null || isProbing) return;
    isProbing = true;
    const isWell = await probe();
    isProbing = false;
    if (!isWell || isClosed) return;
    log.info('store_restored', { afterMs: Math.round(clock.monoMs() - current.sinceMs) });
    outage = null;
    current.end();
  };
  const poll = (): void => {
    for (let one = queue.first; one !== null; one = queue.first) {
      if (clock.monoMs() - one.sinceMs < waitMs) break;
      one.giveUp(givenUp());
    }
    void probeStore();
    cancelPoll = null;
    schedule();
  };
  const schedule = (): void => {
    if (isClosed || cancelPoll !== null || (queue.first === null && outage === null)) return;
    cancelPoll = clock.after(probePeriodMs, poll);
  };
  const recordFailure = (thrown: unknown, sinceMs: number): void => {
    if (outage !== null) return;
    outage = createOutage(sinceMs);
    const hint = hintFrom(thrown);
    log.error('store_unavailable', { reason: messageOf(thrown), ...(hint === undefined ? {} : { hint }) });
    // The failure may belong to work that was abandoned long ago, so possibly no other timer is running.
    schedule();
  };
  const queue: RetryQueue = {
    first: null,
    last: null,
    // Starts at once without an outage: the order of arrival is the order of the commits.
    start(attempt) {
      if (outage === null) attempt.begin();
      else void outage.over.then(() => attempt.begin());
    },
    onRefused(attempt, thrown) {
      if (isClosed || !isOutage(thrown)) return attempt.giveUp(thrown);
      // The outage starts when this work began to wait, so `isDown` is true when it is abandoned.
      recordFailure(thrown, attempt.isWaiting ? attempt.sinceMs : clock.monoMs());
      if (attempt.isWaiting) queue.start(attempt);
    },
  };
  return {
    run(work, completion) {
      if (isClosed || isDown()) return completion.fail(givenUp());
      queue.start(new Attempt(queue, { work, completion, sinceMs: clock.monoMs() }));
      schedule();
    },
    isFailing: () => outage !== null,
    isDown,
    close() {
      isClosed = true;
      cancelPoll?.();
      for (let one = queue.first; one !== null; one = queue.first) one.giveUp(givenUp());
    },
  };
}
