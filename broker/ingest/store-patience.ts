// Lets what devices send wait for a store that fails or hangs for a while, and gives it up in time. A short outage then
// costs no connection, and a long one holds nothing: what was given up is not acknowledged, and comes again. It must never
// report anything as done that is not.
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Log } from '../../src/ports.ts';
import { isConflict, isStoreFault } from './store-faults.ts';
import type { UplinkAnswer } from './uplink-answer.ts';

export interface StorePatienceOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves to true when the store takes writes. Must not reject. */
  readonly probe: () => Promise<boolean>;
  /** How long anything waits, and how long the store may fail before nothing more is taken, in ms. */
  readonly waitMs?: number;
}

/** Work on the store that bears to be repeated. */
export interface PatientWork {
  /** Begins it, once more when it was refused for a fault of the store. Must not throw. */
  begin(answer: UplinkAnswer): void;
}

export interface StorePatience {
  /**
   * Runs the work, again when the store failed and works again. Refused is what the work refused when the store is not to
   * blame, or AppError `unavailable` when it took too long.
   */
  take(work: PatientWork, answer: UplinkAnswer): void;
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

function createOutage(sinceMs: number): Outage {
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { sinceMs, over, end: () => end() };
}

/** What the waiting of one patience is told. */
interface Keeper {
  /** The oldest that waits, and the newest. */
  first: Attempt | null;
  last: Attempt | null;
  /** Begins it, at once or when the store works again. */
  start(attempt: Attempt): void;
  /** The work was refused, while somebody waited or long after. */
  onRefused(attempt: Attempt, thrown: unknown): void;
}

/** Work that somebody waits for, in a list in order of arrival. Every event comes by here: one object each, and no promise. */
class Attempt implements UplinkAnswer {
  readonly #keeper: Keeper;
  readonly #work: PatientWork;
  readonly #answer: UplinkAnswer;
  readonly sinceMs: number;
  #before: Attempt | null;
  #after: Attempt | null = null;
  isWaiting = true;

  constructor(
    keeper: Keeper,
    { work, answer, sinceMs }: { work: PatientWork; answer: UplinkAnswer; sinceMs: number },
  ) {
    this.#keeper = keeper;
    this.#work = work;
    this.#answer = answer;
    this.sinceMs = sinceMs;
    this.#before = keeper.last;
    if (keeper.last === null) keeper.first = this;
    else keeper.last.#after = this;
    keeper.last = this;
  }

  begin(): void {
    if (this.isWaiting) this.#work.begin(this);
  }

  stored(): void {
    if (this.#leave()) this.#answer.stored();
  }

  refused(thrown: unknown): void {
    this.#keeper.onRefused(this, thrown);
  }

  /** Nobody waits any more. */
  fail(thrown: unknown): void {
    if (this.#leave()) this.#answer.refused(thrown);
  }

  /** False when it was told before what became of it. */
  #leave(): boolean {
    if (!this.isWaiting) return false;
    this.isWaiting = false;
    if (this.#before === null) this.#keeper.first = this.#after;
    else this.#before.#after = this.#after;
    if (this.#after === null) this.#keeper.last = this.#before;
    else this.#after.#before = this.#before;
    // One that is long gone must not hold, for the garbage collector, whatever came after it.
    this.#before = null;
    this.#after = null;
    return true;
  }
}

export function createStorePatience(options: StorePatienceOptions): StorePatience {
  const { clock, log, probe, waitMs = 10_000 } = options;
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
    for (let one = keeper.first; one !== null; one = keeper.first) {
      if (clock.monoMs() - one.sinceMs < waitMs) break;
      one.fail(givenUp());
    }
    void look();
    cancelRound = null;
    schedule();
  };
  const schedule = (): void => {
    if (isClosed || cancelRound !== null || (keeper.first === null && outage === null)) return;
    cancelRound = clock.after(roundMs, round);
  };
  const noteFailure = (thrown: unknown, sinceMs: number): void => {
    if (outage !== null) return;
    outage = createOutage(sinceMs);
    log.error('the store does not take writes', { reason: messageOf(thrown) });
    // It may be the last word of work that was given up long ago, with nobody waiting any more.
    schedule();
  };
  const keeper: Keeper = {
    first: null,
    last: null,
    // At once when all is well: the order of arrival is the order of the commits.
    start(attempt) {
      if (outage === null) attempt.begin();
      else void outage.over.then(() => attempt.begin());
    },
    onRefused(attempt, thrown) {
      if (isClosed || !isOutage(thrown)) return attempt.fail(thrown);
      // Since this work began to wait: whoever is let in when it is given up would only wait as long.
      noteFailure(thrown, attempt.isWaiting ? attempt.sinceMs : clock.monoMs());
      if (attempt.isWaiting) keeper.start(attempt);
    },
  };
  return {
    take(work, answer) {
      if (isClosed || isDown()) return answer.refused(givenUp());
      keeper.start(new Attempt(keeper, { work, answer, sinceMs: clock.monoMs() }));
      schedule();
    },
    isFailing: () => outage !== null,
    isDown,
    close() {
      isClosed = true;
      cancelRound?.();
      for (let one = keeper.first; one !== null; one = keeper.first) one.fail(givenUp());
    },
  };
}
