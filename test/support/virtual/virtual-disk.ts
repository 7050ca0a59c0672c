// A disk that outlives its users: one SQLite database in memory behind any number of openings, each of which can die as
// a killed process does. A commit is whole or not there; whether the dead one learnt of it is a matter of chance.

import type { SeededEntropy } from '../../../simulator/core/random.ts';
import { connectSqlite } from '../../../src/adapters/database/sqlite.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { Clock, Database, Row } from '../../../src/ports.ts';

/** Ends everything of a process at once: its timers never fire, its promises never settle. */
export interface Life {
  isAlive: boolean;
}

/** The clock of a process that may be killed. */
export function mortalClock(clock: Clock, life: Life): Clock {
  return {
    monoMs: () => clock.monoMs(),
    utcMs: () => clock.utcMs(),
    after: (delayMs, run) => clock.after(delayMs, () => (life.isAlive ? run() : undefined)),
  };
}

const never = new Promise<never>(() => undefined);

/** A promise that a dead process no longer hears of. */
async function whileAlive<T>(life: Life, promise: Promise<T>): Promise<T> {
  try {
    const value = await promise;
    if (life.isAlive) return value;
  } catch (thrown) {
    if (life.isAlive) throw thrown;
  }
  return never;
}

export interface DiskWear {
  /** Longest commit, ms. */
  slowestMs: number;
  /** Every commit fails. */
  isFailing: boolean;
  /** Probability that a commit of a healthy disk fails all the same. */
  failures: number;
}

export interface VirtualDisk {
  readonly wear: DiskWear;
  open(clock: Clock, life: Life): Database;
  /** What is durable now. */
  rows(text: string): readonly Row[];
  close(): void;
}

export function createVirtualDisk(entropy: SeededEntropy): VirtualDisk {
  const connection = connectSqlite({ path: ':memory:', pageSize: 512 });
  const wear: DiskWear = { slowestMs: 5, isFailing: false, failures: 0 };
  const pause = (clock: Clock, ms: number): Promise<void> =>
    new Promise((resolve) => void clock.after(ms, resolve));
  const open = (clock: Clock, life: Life): Database => ({
    read: (statement) =>
      whileAlive(
        life,
        Promise.resolve().then(() => connection.read(statement)),
      ),
    write: async (batch) => {
      const [before, after, luck] = [entropy.fraction(), entropy.fraction(), entropy.fraction()];
      await pause(clock, before * wear.slowestMs);
      if (!life.isAlive) return never;
      if (wear.isFailing || luck < wear.failures) {
        throw new AppError('storage', 'the simulated disk does not take it', {
          cause: Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' }),
        });
      }
      const results = connection.write(batch);
      await pause(clock, after * wear.slowestMs);
      return life.isAlive ? results : never;
    },
    close: async () => undefined,
  });
  return {
    wear,
    open,
    rows: (text) => connection.read({ sql: text, params: [] }),
    close: () => connection.close(),
  };
}
