// Hears what is committed at a PostgreSQL database, by LISTEN on a connection of its own. A connection that breaks or hangs
// is replaced, and then everything may have changed. It never reports what this process committed: that is known sooner.
import type { Connection } from './postgres-connection.ts';
import type { PostgresSessions } from './postgres-sessions.ts';

/** NOTIFY of the same name belongs to one database. */
const channel = 'fleetward';

/** A server that says nothing for so long while it is asked is gone; a dead network is noticed by nothing else. */
const silenceMs = 10_000;
const checkMs = 5000;
const retryMs = 1000;

const plain = (sql: string) => ({ sql, params: [] });

/** The statement that tells of a batch, to stand before its COMMIT: nobody hears of what is rolled back. */
export function noticeOf(writer: string, kinds: readonly string[]) {
  return { sql: `SELECT pg_notify('${channel}', $1)`, params: [`${writer} ${kinds.join(' ')}`] };
}

export interface Heard {
  /** Null: whatever was told meanwhile was missed. */
  readonly kinds: readonly string[] | null;
}

export interface PostgresListener {
  /** Ends the connection. */
  close(): Promise<void>;
}

/** Rejects when the server says nothing for too long; the connection is given up then. */
async function askWithin(connection: Connection, sql: string): Promise<void> {
  let timer: NodeJS.Timeout | null = null;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the server says nothing')), silenceMs);
  });
  try {
    await Promise.race([connection.run([plain(sql)]), silence]);
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}

/**
 * Listens until `close`, over any restart of the server.
 * @param writer what this process signs its own notices with.
 */
export function listenToPostgres(
  sessions: PostgresSessions,
  writer: string,
  hear: (heard: Heard) => void,
): PostgresListener {
  const life = { isClosed: false };
  let wake: () => void = () => undefined;
  const rest = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const take = (payload: string | null): void => {
    // The end of the connection: no need to wait for the next check.
    if (payload === null) return wake();
    const [from, ...kinds] = payload.split(' ');
    if (from !== writer) hear({ kinds });
  };
  /** One connection, from LISTEN to its end. */
  const follow = async (): Promise<void> => {
    // As a writer: a standby knows no LISTEN.
    const connection = await sessions.open('writer');
    try {
      connection.onNotice(take);
      await askWithin(connection, `LISTEN ${channel}`);
      // What came before nobody told us.
      hear({ kinds: null });
      while (!life.isClosed && !connection.isLost()) {
        await rest(checkMs);
        if (!life.isClosed && !connection.isLost()) await askWithin(connection, 'SELECT 1');
      }
    } finally {
      connection.onNotice(() => undefined);
      const ended = connection.close();
      // One that hangs is not waited for.
      if (life.isClosed)
        await Promise.race([ended, new Promise((resolve) => void setTimeout(resolve, retryMs))]);
    }
  };
  const run = async (): Promise<void> => {
    while (!life.isClosed) {
      await follow().catch(() => undefined);
      if (!life.isClosed) await rest(retryMs / 2 + (Math.random() * retryMs) / 2);
    }
  };
  const running = run();
  return {
    async close() {
      life.isClosed = true;
      wake();
      await running;
    },
  };
}
