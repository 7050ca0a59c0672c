// Receives commit notifications of a PostgreSQL database by LISTEN on its own connection. A broken or hanging connection is
// replaced and reported with `topics: null`. Commits of this process are left out: they are notified locally.
import type { Connection } from './postgres-connection.ts';
import type { PostgresSessions } from './postgres-sessions.ts';

/** NOTIFY of the same name belongs to one database. */
const channel = 'fleetward';

/** A server without an answer for so long counts as lost; nothing else notices a dead network. */
const silenceMs = 10_000;
const checkMs = 5000;
const retryMs = 1000;

const plain = (sql: string) => ({ sql, params: [] });

/** The NOTIFY of a batch, placed before its COMMIT: a rollback discards it. */
export function noticeOf(writer: string, topics: readonly string[]) {
  return { sql: `SELECT pg_notify('${channel}', $1)`, params: [`${writer} ${topics.join(' ')}`] };
}

export interface PostgresNotice {
  /** Null: notifications may have been lost. */
  readonly topics: readonly string[] | null;
}

export interface PostgresListener {
  /** Ends the connection. */
  close(): Promise<void>;
}

/** Rejects when the server does not answer in time; the caller then gives up the connection. */
async function askWithin(connection: Connection, sql: string): Promise<void> {
  let timer: NodeJS.Timeout | null = null;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the server does not answer')), silenceMs);
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
  onNotice: (notice: PostgresNotice) => void,
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
    const [from, ...topics] = payload.split(' ');
    if (from !== writer) onNotice({ topics });
  };
  /** One connection, from LISTEN to its end. */
  const follow = async (): Promise<void> => {
    // As a writer: a standby knows no LISTEN.
    const connection = await sessions.open('writer');
    try {
      connection.onNotice(take);
      await askWithin(connection, `LISTEN ${channel}`);
      // Notifications from before this LISTEN are lost.
      onNotice({ topics: null });
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
