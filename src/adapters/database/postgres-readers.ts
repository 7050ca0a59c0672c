// The reading connections of a PostgreSQL database: a bounded pool whose sessions cannot write. A read that failed
// with its connection is repeated; every wait is limited.
import { AppError } from '../../core/errors.ts';
import type { Row, Statement } from '../../ports.ts';
import type { Connection } from './postgres-connection.ts';
import { PostgresFault, storageFault } from './postgres-fault.ts';
import type { PostgresSessions } from './postgres-sessions.ts';
import { rowWriter } from './row-forms.ts';

/** Reads that may wait for a connection; beyond it they are refused. */
const waitingMost = 10_000;
const triesMost = 3;

export interface PostgresReaders {
  /** @throws AppError. */
  read(statement: Statement): Promise<readonly Row[]>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: AppError): void;
}

/** @param most connections at once. */
export function createPostgresReaders(sessions: PostgresSessions, most: number): PostgresReaders {
  const idle: Connection[] = [];
  const waiting: Waiting[] = [];
  const busy = new Set<Promise<unknown>>();
  let taken = 0;
  let isClosed = false;
  const closed = (): AppError => new AppError('storage', `${sessions.shown} is closed`);

  /** Waits for one of the places. */
  const takePlace = (): Promise<void> => {
    if (isClosed) return Promise.reject(closed());
    if (taken < most) {
      taken += 1;
      return Promise.resolve();
    }
    if (waiting.length >= waitingMost) {
      return Promise.reject(
        new AppError('unavailable', 'too many reads wait for the database', { retryAfterS: 5 }),
      );
    }
    return new Promise((resolve, reject) => void waiting.push({ resolve, reject }));
  };
  /** The connection goes straight to the longest waiting read. */
  const givePlace = (): void => {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next.resolve();
  };
  const once = async (statement: Statement): Promise<readonly Row[]> => {
    let connection = idle.pop();
    while (connection?.isLost()) connection = idle.pop();
    connection ??= await sessions.open('reader');
    try {
      const [result] = await connection.run([statement]);
      const rows = result?.rows ?? [];
      const { form } = statement;
      if (form === undefined) return rows;
      const writer = rowWriter(form);
      // In the order of the columns: a row keeps the order in which they came.
      for (const row of rows) writer.add(Object.values(row));
      return [writer.end()];
    } finally {
      if (isClosed) await connection.close();
      else if (!connection.isLost()) idle.push(connection);
    }
  };
  const tried = async (statement: Statement): Promise<readonly Row[]> => {
    for (let tries = 1; ; tries++) {
      try {
        return await once(statement);
      } catch (thrown) {
        if (!(thrown instanceof PostgresFault)) throw thrown;
        if (thrown.kind === 'refused' || tries >= triesMost || isClosed)
          throw storageFault(sessions.shown, thrown);
      }
    }
  };
  return {
    async read(statement) {
      await takePlace();
      const work = tried(statement);
      busy.add(work);
      try {
        return await work;
      } finally {
        busy.delete(work);
        givePlace();
      }
    },
    async close() {
      isClosed = true;
      for (const { reject } of waiting.splice(0)) reject(closed());
      await Promise.allSettled(busy);
      await Promise.all(idle.splice(0).map((connection) => connection.close()));
    },
  };
}
