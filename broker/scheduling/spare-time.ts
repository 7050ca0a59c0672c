// Background work in small steps that yields to vehicles. While no write waits long for the disk, the steps run as they come. Otherwise they run one
// at a time, first in, first out, with pauses between them. A step must be short (some milliseconds), because none is interrupted. Each gets its turn
// however busy the vehicles are.
import { setImmediate } from 'node:timers/promises';
import type { Cancel, Clock, Database } from '../../src/ports.ts';
import { lowPriorityReads } from '../../src/sql.ts';
import { nextShare, restMs, type ThrottleRules } from '../core/scheduling/aimd-throttle.ts';
import { commitPaceMs } from './group-commit.ts';

export interface SpareTimeOptions {
  readonly clock: Pick<Clock, 'monoMs' | 'after'>;
  /** Age of the oldest write that waits for the disk, ms. */
  readonly lagMs: () => number;
  /** Resolves after one turn of the event loop. */
  readonly turn?: () => Promise<unknown>;
}

export interface SpareTime {
  /** Runs a step in its turn. Synchronous work on its result is part of it. */
  take<T>(work: () => Promise<T>): Promise<T>;
}

/** A vehicle's write waits for the start of its commit, and for at most two commits of some 4 ms on a good disk. */
const rules: ThrottleRules = { lateMs: commitPaceMs + 8, least: 0.1, most: 1, restMostMs: 200 };

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
    if (line.length > 0 && running === 0) cancel = clock.after(Math.max(0, freeMs - clock.monoMs()), endRest);
  };
  // The timer alone ends a rest: a clock that stands still must not keep the line waiting.
  const endRest = (): void => {
    freeMs = clock.monoMs();
    admit();
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
        // After a turn of the loop, so that synchronous work on the result is counted.
        void turn().then(() => leave(beganMs, waitedMs));
      }
    },
  };
}

/** The same database for such work: each read is a step, and yields to the reads of requests. */
export function inSpareTime(db: Database, spare: SpareTime): Database {
  const patient = lowPriorityReads(db);
  return { ...patient, read: (statement) => spare.take(() => patient.read(statement)) };
}
