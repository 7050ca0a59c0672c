// Statements on stored ways: for the worker that makes them, and for answers within a caller's scope.
import { dayMs } from '../../../src/core/durations.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { bytesOf, numberOf, numberOrZero, textOf } from '../../store/base/row.ts';
import { visible } from '../../store/base/scope.ts';
import { type Infer, shape } from '../../store/base/table.ts';
import type { Tile } from './core/way-grid.ts';
import { decodeLines, encodeLines, type Line } from './core/way-lines.ts';
import { oldestPeriod, periodDays } from './core/way-tracks.ts';

const wayDevice = shape({
  deviceNo: numberOf,
  accountNo: numberOf,
  accountID: textOf,
  deviceID: textOf,
  /** Event time of the last position. */
  fixMs: numberOf,
  /** 0: never read. */
  toMs: numberOrZero,
  readMs: numberOrZero,
});
export type WayDevice = Infer<typeof wayDevice>;

/** Devices in the order of numbers, after one of them. */
export function listDevices(db: Database, afterNo: number, limit: number): Promise<readonly WayDevice[]> {
  return wayDevice.all(db)(sql`
    SELECT d.device_no, d.account_no, d.account_id, d.device_id, d.fix_ms, s.to_ms, s.read_ms
    FROM devices d LEFT JOIN way_states s ON s.device_no = d.device_no
    WHERE d.device_no > ${afterNo} ORDER BY d.device_no LIMIT ${limit}`);
}

/** Rejects its batch when the device was deleted, or read by another process meanwhile. */
export function recordRead(
  { deviceNo, readMs, toMs: knownMs }: WayDevice,
  { toMs, atMs }: { readonly toMs: number; readonly atMs: number },
): Statement {
  return {
    ...sql`INSERT INTO way_states (device_no, to_ms, read_ms)
      SELECT device_no, CAST(${toMs} AS BIGINT), CAST(${atMs} AS BIGINT) FROM devices WHERE device_no = ${deviceNo}
      ON CONFLICT (device_no) DO UPDATE SET to_ms = excluded.to_ms, read_ms = excluded.read_ms
      WHERE way_states.read_ms = ${readMs} AND way_states.to_ms = ${knownMs}`,
    mustChange: 1,
  };
}

/** A tile in a period, of a device or (0) of the whole account. */
export interface WayKey {
  readonly accountNo: number;
  readonly deviceNo: number;
  readonly tile: Tile;
  readonly period: number;
}

export interface StoredWays {
  readonly deviceNo: number;
  readonly period: number;
  /** Null: to be made again. */
  readonly lines: readonly Line[] | null;
  readonly revision: number;
}

const toStored = (row: Row): StoredWays => ({
  deviceNo: numberOf(row, 'device_no'),
  period: numberOf(row, 'period'),
  lines: row['lines'] === null ? null : decodeLines(bytesOf(row, 'lines')),
  revision: numberOf(row, 'revision'),
});

/** Condition on `ways w`. */
const inTile = ({ zoom, x, y }: Tile): Statement => sql`w.zoom = ${zoom} AND w.x = ${x} AND w.y = ${y}`;

/** The ways of a device and of its account in a tile. */
export async function waysForDevice(
  db: Database,
  { accountNo, deviceNo }: WayDevice,
  tile: Tile,
): Promise<readonly StoredWays[]> {
  const rows = await db.read(sql`SELECT w.device_no, w.period, w.lines, w.revision FROM ways w
    WHERE w.account_no = ${accountNo} AND ${inTile(tile)} AND w.device_no IN (0, ${deviceNo})`);
  return rows.map(toStored);
}

/** Rejects its batch unless the row is at `revision`; 0: there is none. */
export function putWays(
  { accountNo, deviceNo, tile: { zoom, x, y }, period }: WayKey,
  lines: readonly Line[],
  { revision, nowMs }: { readonly revision: number; readonly nowMs: number },
): Statement {
  return {
    ...sql`INSERT INTO ways (account_no, zoom, x, y, device_no, period, lines, revision)
      VALUES (${accountNo}, ${zoom}, ${x}, ${y}, ${deviceNo}, ${period}, ${encodeLines(lines)}, ${Math.max(nowMs, revision + 1)})
      ON CONFLICT (account_no, zoom, x, y, device_no, period) DO UPDATE
      SET lines = excluded.lines, revision = excluded.revision WHERE ways.revision = ${revision}`,
    mustChange: 1,
  };
}

/** The ways of an account that must be made again; null when there are none. */
export async function nextToMake(db: Database): Promise<(WayKey & { readonly revision: number }) | null> {
  const [row] = await db.read(
    sql`SELECT account_no, zoom, x, y, period, revision FROM ways WHERE lines IS NULL LIMIT 1`,
  );
  if (row === undefined) return null;
  const zoom = numberOf(row, 'zoom') === 8 ? 8 : 12;
  const tile = { zoom, x: numberOf(row, 'x'), y: numberOf(row, 'y') } as const;
  const revision = numberOf(row, 'revision');
  return {
    accountNo: numberOf(row, 'account_no'),
    deviceNo: 0,
    tile,
    period: numberOf(row, 'period'),
    revision,
  };
}

/** Ways of devices in a tile and period, in the order of numbers. */
export async function waysOfDevices(
  db: Database,
  { accountNo, tile, period }: WayKey,
  { afterNo, limit }: { readonly afterNo: number; readonly limit: number },
): Promise<readonly StoredWays[]> {
  const rows = await db.read(sql`SELECT w.device_no, w.period, w.lines, w.revision FROM ways w
    WHERE w.account_no = ${accountNo} AND ${inTile(tile)} AND w.device_no > ${afterNo} AND w.period = ${period}
    ORDER BY w.device_no LIMIT ${limit}`);
  return rows.map(toStored);
}

/** Deletes the ways of an account in a tile and period where no device has any. */
export function dropWays({ accountNo, tile: { zoom, x, y }, period }: WayKey, revision: number): Statement {
  return sql`DELETE FROM ways WHERE account_no = ${accountNo} AND zoom = ${zoom} AND x = ${x} AND y = ${y}
    AND device_no = 0 AND period = ${period} AND revision = ${revision}`;
}

const rowsAtOnce = 500;

/** Deletes some ways of periods before that one; changes 0 rows when there are none. */
export function deleteOld(period: number): Statement {
  const key = 'account_no, zoom, x, y, device_no, period';
  return {
    sql: `DELETE FROM ways WHERE (${key}) IN (SELECT ${key} FROM ways WHERE period < $1 LIMIT ${rowsAtOnce})`,
    params: [period],
  };
}

/** What a caller asks for. */
export interface Asked {
  readonly scope: Scope;
  readonly tile: Tile;
  readonly nowMs: number;
}

/**
 * Rows that a caller sees in a tile: of the whole account, or of each device in the scope and never another. A period that began
 * before the account's limit on events is hidden as they are.
 */
function seenRows({ scope, tile, nowMs }: Asked): Statement {
  const today = Math.floor(nowMs / dayMs);
  const isRetained = sql`w.period * ${periodDays} >= ${today} - COALESCE(a.retained_days, ${today})
    AND w.period * ${periodDays} >= ${today} - COALESCE(a.retained_most_days, ${today})`;
  const isShown = sql`${inTile(tile)} AND w.period >= ${oldestPeriod(nowMs)} AND w.lines IS NOT NULL AND ${isRetained}`;
  if (scope.limitedTo === null)
    return sql`accounts a JOIN ways w ON w.account_no = a.account_no AND w.device_no = 0
      WHERE a.account_id = ${scope.accountID} AND ${isShown}`;
  return sql`devices d JOIN accounts a ON a.account_no = d.account_no
    JOIN ways w ON w.account_no = d.account_no AND w.device_no = d.device_no
    WHERE ${visible(scope)} AND ${isShown}`;
}

/** Changes with each change of what the caller sees in the tile. */
export async function proofOf(db: Database, asked: Asked): Promise<string> {
  const rows = await db.read(sql`SELECT w.device_no, w.period, w.revision FROM ${seenRows(asked)}
    ORDER BY w.device_no, w.period`);
  return rows.map((row) => [row['device_no'], row['period'], row['revision']].join(':')).join();
}

/** Rows of one read; the loop is free between two. */
export const waysAtOnce = 100;

/** The ways that the caller sees in the tile, some rows at a time. */
export async function* seenWays(
  db: Database,
  asked: Asked,
): AsyncGenerator<readonly StoredWays[], void, undefined> {
  let after: Pick<StoredWays, 'deviceNo' | 'period'> = { deviceNo: -1, period: 0 };
  for (;;) {
    const rows = await db.read(sql`SELECT w.device_no, w.period, w.lines, w.revision
      FROM ${seenRows(asked)} AND (w.device_no, w.period) > (${after.deviceNo}, ${after.period})
      ORDER BY w.device_no, w.period LIMIT ${waysAtOnce}`);
    const page = rows.map(toStored);
    const last = page.at(-1);
    if (last !== undefined) yield page;
    if (last === undefined || page.length < waysAtOnce) return;
    after = last;
  }
}
