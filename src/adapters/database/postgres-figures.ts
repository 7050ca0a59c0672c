// Figures of a PostgreSQL server for its operator: size of the database, archiving of its log, and the programs that hold it.
// Every role may read it.
import type { Database, Row } from '../../ports.ts';
import { holdLock } from './postgres-hold.ts';

const plain = (sql: string) => ({ sql, params: [] });
const numberIn = (row: Row | undefined, column: string): number => Number(row?.[column] ?? 0);

export interface ServerFigures {
  readonly bytes: number;
  /** Null: it archives nothing. Times are epoch seconds; 0: never. */
  readonly archive: { readonly archivedAtS: number; readonly failedAtS: number } | null;
}

export async function readServerFigures(db: Database): Promise<ServerFigures> {
  const [row] = await db.read(
    plain(`SELECT pg_database_size(current_database()) AS bytes, current_setting('archive_mode') AS mode,
      COALESCE(FLOOR(EXTRACT(EPOCH FROM last_archived_time)), 0)::bigint AS archived_s,
      COALESCE(FLOOR(EXTRACT(EPOCH FROM last_failed_time)), 0)::bigint AS failed_s FROM pg_stat_archiver`),
  );
  const isArchiving = row !== undefined && row['mode'] !== 'off';
  return {
    bytes: numberIn(row, 'bytes'),
    archive: isArchiving
      ? { archivedAtS: numberIn(row, 'archived_s'), failedAtS: numberIn(row, 'failed_s') }
      : null,
  };
}

/** Most holders that are listed. */
const holdersMost = 100;

/** Programs that hold the database, see `holdPostgres`: address of each ('' for one on the server's machine), and since when. */
export async function listHolders(
  db: Database,
): Promise<readonly { readonly address: string; readonly sinceAtS: number }[]> {
  const [high, low] = [Math.floor(holdLock / 2 ** 32), holdLock % 2 ** 32];
  const rows = await db.read(
    plain(`SELECT COALESCE(host(a.client_addr), '') AS address,
        FLOOR(EXTRACT(EPOCH FROM a.backend_start))::bigint AS since_s
      FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.granted AND l.classid = ${high} AND l.objid = ${low} AND l.objsubid = 1
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      ORDER BY a.backend_start LIMIT ${holdersMost}`),
  );
  return rows.map((row) => ({
    address: String(row['address'] ?? ''),
    sinceAtS: numberIn(row, 'since_s'),
  }));
}
