// Statements on the index of visits: what the worker writes, and the devices that a caller's question may concern.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { type RowsShape, toRows } from '../../../src/rows.ts';
import { commaList, sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { aheadMostMs } from '../../core/events/projection.ts';
import { flagOf, numberOf, numberOrNull, textOf } from '../../store/base/row.ts';
import { visible } from '../../store/base/scope.ts';
import { type Infer, shape } from '../../store/base/table.ts';
import { readSlice, slicesOfNumbers, tableOf, wholeSlices } from '../../store/slices/slices.ts';
import type { Span } from './core/visit.ts';
import { type CellRange, type Cover, cellsOf, cellsPerDegree, cellsPerRow } from './core/visit-cells.ts';

const hourMs = 3_600_000;
export const hourOf = (ms: number): number => Math.floor(ms / hourMs);

/**
 * Condition on events under the alias `e`: a position with a time of its own. A time that is more than a day ahead of its arrival is a
 * fault of the vehicle's clock.
 */
export const isPosition: Statement = {
  sql: `e.latitude IS NOT NULL AND e.longitude IS NOT NULL AND e.time_quality <> 'none'
    AND e.timestamp_ms >= 0 AND e.timestamp_ms <= e.received_ms + ${aheadMostMs}`,
  params: [],
};

/** As `cellOf` computes it. SQLite cuts off what stands behind the point, PostgreSQL would round it. */
const cellSql = `CAST(FLOOR((e.latitude + 90) * ${cellsPerDegree}) AS BIGINT) * ${cellsPerRow}
  + CAST(FLOOR((e.longitude + 180) * ${cellsPerDegree}) AS BIGINT)`;
const hourSql: Statement = { sql: `e.timestamp_ms / ${hourMs}`, params: [] };

/** Rows of values for a table expression; whole numbers, the first row says so to PostgreSQL. */
function wholeRows(rows: readonly (readonly number[])[]): Statement {
  return commaList(rows.map((row) => sql`(${commaList(row.map((value) => sql`CAST(${value} AS BIGINT)`))})`));
}

/** Few texts are prepared: filled up to a power of two with rows that match nothing. */
function padded(rows: readonly (readonly number[])[], width: number): readonly (readonly number[])[] {
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, rows.length)));
  const none = Array.from({ length: width }, (_unused, at) => (at === width - 1 ? -2 : -1));
  return [...rows, ...Array.from({ length: size - rows.length }, () => none)];
}

/** Number of the last event in the index. */
export async function indexedTo(db: Database): Promise<number> {
  const [row] = await db.read(sql`SELECT to_no FROM visit_state WHERE one = 1`);
  return row === undefined ? 0 : numberOf(row, 'to_no');
}

/** Takes the next events into the index, with their number; one batch, which fails when another process did. Empty: there are none. */
export async function nextIndexed(
  db: Database,
  { toNo, lastNo, most }: { readonly toNo: number; readonly lastNo: number; readonly most: number },
): Promise<readonly Statement[]> {
  // Hidden slices too: they may be shown again.
  const slices = await wholeSlices(db);
  const slice = slices.find(({ endNo }) => endNo === null || endNo > toNo + 1);
  if (slice === undefined || toNo >= lastNo) return [];
  const fromNo = Math.max(toNo, slice.firstNo - 1);
  const endNo = Math.min(fromNo + most, lastNo, slice.endNo === null ? lastNo : slice.endNo - 1);
  const index = `INSERT INTO visit_cells (account_no, hour, cell, device_no, from_ms, to_ms)
    SELECT e.account_no, ${hourSql.sql}, ${cellSql}, e.device_no, MIN(e.timestamp_ms), MAX(e.timestamp_ms)
    FROM ${tableOf(slice.sliceNo).sql} e WHERE e.event_no > $1 AND e.event_no <= $2 AND ${isPosition.sql}
      AND EXISTS (SELECT 1 FROM devices d WHERE d.device_no = e.device_no)
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (account_no, hour, cell, device_no) DO UPDATE SET
      from_ms = CASE WHEN excluded.from_ms < visit_cells.from_ms THEN excluded.from_ms ELSE visit_cells.from_ms END,
      to_ms = CASE WHEN excluded.to_ms > visit_cells.to_ms THEN excluded.to_ms ELSE visit_cells.to_ms END`;
  return [moveFrom(toNo, endNo), { sql: index, params: [fromNo, endNo] }];
}

/** Fails its batch unless the index ends at `fromNo`. */
function moveFrom(fromNo: number, toNo: number): Statement {
  return {
    ...sql`UPDATE visit_state SET to_no = ${toNo} WHERE one = 1 AND to_no = ${fromNo}`,
    mustChange: 1,
  };
}

const indexRow = shape({
  accountNo: numberOf,
  hour: numberOf,
  cell: numberOf,
  deviceNo: numberOf,
  fromMs: numberOf,
  toMs: numberOf,
  /** Its device was deleted. */
  isDeleted: flagOf,
  /** Its account keeps events of this time no longer. */
  isPast: flagOf,
});
export type IndexRow = Infer<typeof indexRow>;
export type IndexKey = Pick<IndexRow, 'accountNo' | 'hour' | 'cell' | 'deviceNo'>;

/** Rows of the index in the order of their keys. */
export function indexRowsAfter(
  db: Database,
  after: IndexKey,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<readonly IndexRow[]> {
  return indexRow.all(db)(sql`SELECT v.*, CASE WHEN d.device_no IS NULL THEN 1 ELSE 0 END AS is_deleted,
      CASE WHEN v.to_ms < ${nowMs} - 86400000 * a.retained_days OR v.to_ms < ${nowMs} - 86400000 * a.retained_most_days
        THEN 1 ELSE 0 END AS is_past
    FROM (SELECT * FROM visit_cells WHERE (account_no, hour, cell, device_no)
        > (${after.accountNo}, ${after.hour}, ${after.cell}, ${after.deviceNo})
      ORDER BY account_no, hour, cell, device_no LIMIT ${limit}) v
    LEFT JOIN devices d ON d.device_no = v.device_no LEFT JOIN accounts a ON a.account_no = v.account_no
    ORDER BY v.account_no, v.hour, v.cell, v.device_no`);
}

/** Those of which no event is left: retention may keep one by its arrival, or for its slice. */
export async function withoutEvents(db: Database, rows: readonly IndexRow[]): Promise<readonly IndexRow[]> {
  if (rows.length === 0) return [];
  let isLeft = sql`1 = 0`;
  for (const { sliceNo } of await wholeSlices(db)) {
    isLeft = sql`${isLeft} OR EXISTS (SELECT 1 FROM ${tableOf(sliceNo)} e WHERE e.device_no = r.device_no
      AND e.timestamp_ms >= r.from_ms AND e.timestamp_ms <= r.to_ms)`;
  }
  const asked = wholeRows(
    padded(
      rows.map(({ deviceNo, fromMs, toMs }, at) => [at, deviceNo, fromMs, toMs]),
      4,
    ),
  );
  const empty = await db.read(sql`WITH r (row_no, device_no, from_ms, to_ms) AS (VALUES ${asked})
    SELECT r.row_no AS row_no FROM r WHERE r.row_no >= 0 AND NOT (${isLeft})`);
  return empty.flatMap((row) => rows[numberOf(row, 'row_no')] ?? []);
}

const keyShape: readonly RowsShape<IndexKey>[] = [
  { name: 'account_no', type: 'BIGINT', of: (row) => row.accountNo },
  { name: 'hour', type: 'BIGINT', of: (row) => row.hour },
  { name: 'cell', type: 'BIGINT', of: (row) => row.cell },
  { name: 'device_no', type: 'BIGINT', of: (row) => row.deviceNo },
];

/** Deletes rows of the index; one batch, which fails when events were taken in since it ended at `toNo`. */
export function dropRows(rows: readonly IndexKey[], toNo: number): readonly Statement[] {
  const key = 'account_no, hour, cell, device_no';
  return [
    moveFrom(toNo, toNo),
    {
      sql: `DELETE FROM visit_cells WHERE (${key}) IN (SELECT ${key} FROM r)`,
      params: [],
      rows: toRows(keyShape, rows),
    },
  ];
}

const account = shape({ accountNo: numberOf, toNo: numberOf, lastNo: numberOf });

/** The account, up to which event the index goes, and the newest event; null without the account. */
export function stateFor(db: Database, accountID: string): Promise<Infer<typeof account> | null> {
  return account.first(db)(sql`SELECT a.account_no, s.to_no, c.next_no - 1 AS last_no
    FROM accounts a, visit_state s, event_counter c WHERE a.account_id = ${accountID}`);
}

/** What a caller asks for. The span is that of positions which may count. */
export interface Sought {
  readonly scope: Scope;
  readonly accountNo: number;
  readonly cover: Cover;
  readonly span: Span;
  /** Only devices whose id is higher. */
  readonly afterID: string;
}

/** A device, and when it was near within an hour. */
export interface Near extends Span {
  readonly deviceNo: number;
  readonly deviceID: string;
}

const toNear = (row: Row): Near => ({
  deviceNo: numberOf(row, 'device_no'),
  deviceID: textOf(row, 'device_id'),
  fromMs: numberOf(row, 'from_ms'),
  toMs: numberOf(row, 'to_ms'),
});

function hourCells({ cover, span }: Sought): readonly (readonly number[])[] {
  const cells = cellsOf(cover);
  const [from, to] = [hourOf(span.fromMs), hourOf(span.toMs)];
  return Array.from({ length: to - from + 1 }, (_unused, at) => from + at).flatMap((hour) =>
    cells.map(({ first, last }: CellRange) => [hour, first, last]),
  );
}

/** Of events in the index. */
export async function nearByIndex(db: Database, sought: Sought): Promise<readonly Near[]> {
  const { scope, accountNo, span, afterID } = sought;
  const cells = wholeRows(padded(hourCells(sought), 3));
  // The order of the tables is fixed: else SQLite may begin with all devices.
  const rows = await db.read(sql`WITH r (hour, first_cell, last_cell) AS (VALUES ${cells})
    SELECT d.device_no, d.device_id, MIN(v.from_ms) AS from_ms, MAX(v.to_ms) AS to_ms
    FROM r CROSS JOIN visit_cells v CROSS JOIN devices d
    WHERE v.account_no = ${accountNo} AND v.hour = r.hour AND v.cell >= r.first_cell AND v.cell <= r.last_cell
      AND v.to_ms >= ${span.fromMs} AND v.from_ms <= ${span.toMs}
      AND d.device_no = v.device_no AND ${visible(scope)} AND d.device_id > ${afterID}
    GROUP BY d.device_no, d.device_id, v.hour`);
  return rows.map(toNear);
}

/** Of events that are not in the index yet. */
export async function nearByEvents(
  db: Database,
  { scope, accountNo, cover, span, afterID }: Sought,
  { toNo, lastNo }: { readonly toNo: number; readonly lastNo: number },
): Promise<readonly Near[]> {
  const { south, north, bands } = cover;
  let isWithin = sql`1 = 0`;
  for (const { west, east } of bands)
    isWithin = sql`${isWithin} OR (e.longitude >= ${west} AND e.longitude <= ${east})`;
  const found: Near[] = [];
  for (const { sliceNo, table } of await slicesOfNumbers(db, { after: toNo, upTo: lastNo })) {
    const rows = await readSlice(db, sliceNo, {
      ...sql`SELECT d.device_no, d.device_id, MIN(e.timestamp_ms) AS from_ms, MAX(e.timestamp_ms) AS to_ms
        FROM ${table} e CROSS JOIN devices d
        WHERE e.event_no > ${toNo} AND e.event_no <= ${lastNo} AND e.account_no = ${accountNo} AND ${isPosition}
          AND e.timestamp_ms >= ${span.fromMs} AND e.timestamp_ms <= ${span.toMs}
          AND e.latitude >= ${south} AND e.latitude <= ${north} AND (${isWithin})
          AND d.device_no = e.device_no AND ${visible(scope)} AND d.device_id > ${afterID}
        GROUP BY d.device_no, d.device_id, ${hourSql}`,
      isPlannedAnew: true,
    });
    found.push(...rows.map(toNear));
  }
  return found;
}

/** A position as it is stored. */
export interface StoredPosition {
  readonly deviceNo: number;
  readonly eventNo: number;
  readonly atMs: number;
  readonly statusCode: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly satellites: number | null;
}

/** The positions of devices in these spans, which must not overlap for one device, in no order. */
export async function positionsOf(
  db: Database,
  scope: Scope,
  { sliceNo, spans }: { readonly sliceNo: number; readonly spans: readonly Near[] },
): Promise<readonly StoredPosition[]> {
  const asked = wholeRows(
    padded(
      spans.map(({ deviceNo, fromMs, toMs }) => [deviceNo, fromMs, toMs]),
      3,
    ),
  );
  const rows = await readSlice(
    db,
    sliceNo,
    sql`WITH r (device_no, from_ms, to_ms) AS (VALUES ${asked})
      SELECT e.device_no, e.event_no, e.timestamp_ms, e.status_code, e.latitude, e.longitude, e.satellites
      FROM r CROSS JOIN devices d CROSS JOIN ${tableOf(sliceNo)} e
      WHERE d.device_no = r.device_no AND ${visible(scope)} AND e.device_no = d.device_no
        AND e.timestamp_ms >= r.from_ms AND e.timestamp_ms <= r.to_ms AND ${isPosition}`,
  );
  return rows.map((row) => ({
    deviceNo: numberOf(row, 'device_no'),
    eventNo: numberOf(row, 'event_no'),
    atMs: numberOf(row, 'timestamp_ms'),
    statusCode: numberOf(row, 'status_code'),
    latitude: numberOf(row, 'latitude'),
    longitude: numberOf(row, 'longitude'),
    satellites: numberOrNull(row, 'satellites'),
  }));
}
