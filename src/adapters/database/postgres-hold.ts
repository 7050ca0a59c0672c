// Holds a PostgreSQL database for one program, or for several cooperating ones, by an advisory lock of a session. The
// server releases it when the session ends, also after kill -9. It must never count as held once the server may have
// given it to another.
import { AppError } from '../../core/errors.ts';
import type { Connection } from './postgres-connection.ts';
import type { PostgresSessions } from './postgres-sessions.ts';

/** The same in every process; the lock is one database's. See `writeLock`. */
export const holdLock = 4_674_771_002;

/** Alone, or beside others that hold it the same way. */
export type HoldMode = 'alone' | 'shared';

export interface HoldOptions {
  readonly sessions: PostgresSessions;
  readonly mode: HoldMode;
  /** Called once when another program took it while the server was away: this one must end. */
  readonly onLost: (error: AppError) => void;
  /** Wait for an ending predecessor, in ms. */
  readonly waitMs?: number;
}

const tryMs = 250;
const checkMs = 2000;

const plain = (sql: string) => ({ sql, params: [] });
const takes = {
  alone: plain(`SELECT CASE WHEN pg_try_advisory_lock(${holdLock}) THEN 1 ELSE 0 END AS taken`),
  shared: plain(`SELECT CASE WHEN pg_try_advisory_lock_shared(${holdLock}) THEN 1 ELSE 0 END AS taken`),
} as const;

// A program that is cut off from the network must not hold up the next one for the two hours of a standard server.
const impatience = [
  plain('SET tcp_keepalives_idle = 10'),
  plain('SET tcp_keepalives_interval = 5'),
  plain('SET tcp_keepalives_count = 3'),
];

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

function refused({ sessions, mode }: HoldOptions): AppError {
  const hint =
    mode === 'alone'
      ? "Stop that one first: with the MQTT server of its own a broker must be alone, two would take each other's vehicles for gone. Several work on one database behind a cluster."
      : 'A broker with the MQTT server of its own is running on it: stop that one first.';
  return new AppError('config', `the database ${sessions.shown} is in use by another broker`, { hint });
}

/** One session that holds the lock; null when another program has it. */
async function take({ sessions, mode }: HoldOptions): Promise<Connection | null> {
  const connection = await sessions.open('writer');
  try {
    await connection.run(impatience);
    const [answer] = await connection.run([takes[mode]]);
    if (answer?.rows[0]?.['taken'] === 1) return connection;
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
  await connection.close();
  return null;
}

/**
 * Takes the database until `close`. After a restart of the server it is taken again.
 * @throws AppError `config` when another program has it, `storage` when the server cannot be asked.
 */
export async function holdPostgres(options: HoldOptions): Promise<{ close(): Promise<void> }> {
  const endMs = performance.now() + (options.waitMs ?? 5000);
  let connection = await take(options);
  while (connection === null) {
    if (performance.now() > endMs) throw refused(options);
    await pause(tryMs);
    connection = await take(options);
  }
  let held: Connection = connection;
  let isClosed = false;
  let wake: () => void = () => undefined;
  const rest = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, checkMs);
      timer.unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const watch = async (): Promise<void> => {
    for (;;) {
      await rest();
      if (isClosed) return;
      // Keeps the session from looking idle, and finds out that it is gone.
      await held.run([plain('SELECT 1')]).catch(() => undefined);
      if (!held.isLost()) continue;
      // An unreachable server is no reason to end: no other program gets the lock there either.
      const again = await take(options).catch(() => undefined);
      if (again === undefined) continue;
      if (again === null) return options.onLost(refused(options));
      held = again;
    }
  };
  const watching = watch();
  return {
    async close() {
      isClosed = true;
      wake();
      await watching;
      await held.close();
    },
  };
}
