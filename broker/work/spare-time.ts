// Work that may take its time, in pieces, in the time that vehicles leave: while no write waits long for the disk the pieces
// are done as they come; else one at a time, in the order in which they came, with rests between them. A piece must be short
// (some milliseconds), for none is interrupted, and each gets its turn however busy the vehicles are.
import { setImmediate } from 'node:timers/promises';
import type { Cancel, Clock, Database } from '../../src/ports.ts';
import { patiently } from '../../src/sql.ts';
import { type BackOffRules, nextShare, restMs } from '../core/back-off.ts';
import { commitPaceMs } from '../ingest/group-commit.ts';

export interface SpareTimeOptions {
  readonly clock: Pick<Clock, 'monoMs' | 'after'>;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
  /** Resolves when the event loop has come round. */
  readonly turn?: () => Promise<unknown>;
}

export interface SpareTime {
  /** Does a piece when its turn has come. What is made of its result at once is part of it. */
  take<T>(work: () => Promise<T>): Promise<T>;
}

/** A vehicle's write waits for its commit to begin, and for two of some 4 ms on a good disk at most. */
const rules: BackOffRules = { lateMs: commitPaceMs + 8, least: 0.1, most: 1, restMostMs: 200 };

/** Nobody has waited yet. */
export function createSpareTime({ clock, lagMs, turn = setImmediate }: SpareTimeOptions): SpareTime {
  const line: (() => void)[] = [];
  let running = 0;
  let share = rules.most;
  let freeMs = 0;
  let cancel: Cancel = () => undefined;
  const isOpen = (): boolean => share === 1 || (running === 0 && clock.monoMs() >= freeMs);
  const admit = (): void => {
    cancel();
    while (line.length > 0 && isOpen()) {
      running += 1;
      line.shift()?.();
    }
    if (line.length > 0 && running === 0) cancel = clock.after(Math.max(0, freeMs - clock.monoMs()), admit);
  };
  const enter = (): Promise<void> | undefined => {
    if (line.length > 0 || !isOpen()) {
      return new Promise((resolve) => {
        line.push(resolve);
        admit();
      });
    }
    running += 1;
    return undefined;
  };
  const leave = (beganMs: number, waitedMs: number): void => {
    running -= 1;
    const nowMs = clock.monoMs();
    share = nextShare(rules, share, Math.max(waitedMs, lagMs()));
    freeMs = nowMs + restMs(rules, share, nowMs - beganMs);
    admit();
  };
  return {
    async take(work) {
      await enter();
      const beganMs = clock.monoMs();
      const waitedMs = lagMs();
      try {
        return await work();
      } finally {
        // By then whoever got the result has made of it what he makes of it in one go.
        void turn().then(() => leave(beganMs, waitedMs));
      }
    },
  };
}

/** The same database for such work: each read is a piece, and stands behind the reads that somebody waits for. */
export function inSpareTime(db: Database, spare: SpareTime): Database {
  const patient = patiently(db);
  return { ...patient, read: (statement) => spare.take(() => patient.read(statement)) };
}
