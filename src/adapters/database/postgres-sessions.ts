// Sessions at a PostgreSQL server, each configured and checked before its first statement. While the server is
// unreachable connecting is retried, but never for ever: waiting calls then fail.
import { AppError } from '../../core/errors.ts';
import type { Row } from '../../ports.ts';
import { type Connection, connectPostgres } from './postgres-connection.ts';
import { PostgresFault, storageFault } from './postgres-fault.ts';
import {
  faultOfServer,
  type PostgresEnvironment,
  postgresServer,
  serverQuestion,
  sessionSettings,
} from './postgres-server.ts';

export interface SessionOptions {
  /** `postgres://user@host/database`. */
  readonly url: string;
  readonly environment?: PostgresEnvironment;
  /** How long one statement may run, in ms. */
  readonly statementMs?: number;
  /** Work waits this long for an unreachable server, in ms, and is then refused. */
  readonly patienceMs?: number;
}

export interface PostgresSessions {
  /** @throws AppError `storage` when the server stays away, `config` when it must not be used. */
  open(role: 'reader' | 'writer'): Promise<Connection>;
  /** The database without its password. */
  readonly shown: string;
}

const retryMs = 100;
/** A server that stays away is asked so often at most; in between its last answer holds. */
const holdMs = 500;
/** Too many sessions: other clients may close theirs. */
const fullCode = '53300';

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

interface Away {
  readonly sinceMs: number;
  readonly triedMs: number;
  readonly fault: PostgresFault;
}

/** @throws AppError `config` when the URL is none. */
export function createPostgresSessions(options: SessionOptions): PostgresSessions {
  const { url, environment = {}, statementMs = 30_000, patienceMs = 5000 } = options;
  const server = postgresServer(url, environment);
  const { shown } = server;
  let away: Away | null = null;

  const connect = async (isReader: boolean): Promise<Connection> => {
    const connection = await connectPostgres(server, { connectMs: patienceMs, silenceMs: 2 * statementMs });
    try {
      const [answer] = await connection.run([{ sql: serverQuestion, params: [] }]);
      const row: Row = answer?.rows[0] ?? {};
      const fault = faultOfServer(row);
      if (fault !== null) throw new AppError('config', `${shown}: ${fault}`);
      // After a change of roles the server that answers may be the one that only follows.
      if (row['is_standby'] === 1 && !isReader)
        throw new PostgresFault('lost', '25006', 'the server is a standby');
      const lockMs = statementMs / 2;
      await connection.run(sessionSettings({ isReader, statementMs, lockMs, idleMs: lockMs }));
      return connection;
    } catch (thrown) {
      await connection.close();
      throw thrown;
    }
  };
  return {
    shown,
    async open(role) {
      for (;;) {
        const nowMs = performance.now();
        const isHopeless = away !== null && nowMs - away.sinceMs > patienceMs;
        if (away !== null && isHopeless && nowMs - away.triedMs < holdMs)
          throw storageFault(shown, away.fault);
        try {
          const connection = await connect(role === 'reader');
          away = null;
          return connection;
        } catch (thrown) {
          if (!(thrown instanceof PostgresFault)) throw thrown;
          if (thrown.kind !== 'lost' && thrown.code !== fullCode) throw storageFault(shown, thrown);
          const triedMs = performance.now();
          away = { sinceMs: away?.sinceMs ?? triedMs, triedMs, fault: thrown };
          if (isHopeless || triedMs - away.sinceMs > patienceMs) throw storageFault(shown, thrown);
          await pause(retryMs + Math.random() * retryMs);
        }
      }
    },
  };
}
