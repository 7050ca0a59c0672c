// After a restore, event numbers begin above all earlier ones, the lost ones included: a client that asks with its last number
// then gets everything new. Numbers are taken from the clock, far above any count.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { numberOf, textOf } from './base/row.ts';
import { isDroppedInPieces } from './slices/slice-retention.ts';
import { openNext } from './slices/slice-writing.ts';

/** Numbers a millisecond since 1970: more than any service stores, and 15 digits until the year 2286. */
const numbersEachMs = 100;

/** Of other rows that clients know by number: more than a service makes between a backup and its restore. */
const rowsSkipped = 1_000_000;
const numbered = [
  ['alarms', 'alarm_no'],
  ['notifications', 'notification_no'],
  ['quarantine', 'quarantine_no'],
] as const;

/** Marks a database file as one that was put back from a backup. */
export const markRestored = (): Statement => sql`UPDATE event_counter SET origin = 'restored' WHERE one = 1`;

/** Identity of this database. A server's changes after `pg_restore`, a recovery from its log, or a failover. */
async function originOf(db: Database, isServer: boolean): Promise<string> {
  if (!isServer) return 'file';
  const [row] = await db.read(sql`SELECT COALESCE(CAST(oid AS TEXT) || '/' || SUBSTR(pg_walfile_name(
    CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_lsn() END), 1, 8), '') AS origin
    FROM pg_database WHERE datname = current_database()`);
  return row === undefined ? '' : textOf(row, 'origin');
}

const skipRows = (isServer: boolean): readonly Statement[] =>
  numbered.map(([table, column]) =>
    isServer
      ? {
          sql: `SELECT setval(pg_get_serial_sequence('${table}', '${column}'),
            COALESCE((SELECT MAX(${column}) FROM ${table}), 0) + ${rowsSkipped})`,
          params: [],
        }
      : { sql: `UPDATE sqlite_sequence SET seq = seq + ${rowsSkipped} WHERE name = '${table}'`, params: [] },
  );

/** Begins new numbers when this database is not the one that gave the last ones; true when it did. */
export async function renumberIfRestored(db: Database, nowMs: number): Promise<boolean> {
  const isServer = !(await isDroppedInPieces(db));
  const [row] = await db.read(sql`SELECT origin, slice_no, next_no FROM event_counter WHERE one = 1`);
  if (row === undefined) return false;
  const known = textOf(row, 'origin');
  const origin = await originOf(db, isServer);
  if (origin === known || origin === '') return false;
  const isFirst = known === '';
  // Fails, and changes nothing, when another process was first.
  const claim: Statement = {
    ...sql`UPDATE event_counter SET origin = ${origin} WHERE one = 1 AND origin = ${known}`,
    mustChange: 1,
  };
  const renumber = [
    ...openNext(numberOf(row, 'slice_no'), nowMs, nowMs * numbersEachMs),
    ...skipRows(isServer),
  ];
  try {
    await db.write([claim, ...(isFirst ? [] : renumber)]);
  } catch (thrown) {
    const [now] = await db.read(sql`SELECT origin FROM event_counter WHERE one = 1`);
    if (now !== undefined && textOf(now, 'origin') === origin) return false;
    throw thrown;
  }
  return !isFirst;
}
