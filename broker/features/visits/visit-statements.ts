// Statements on the index of visits: what the worker writes, and the devices that a caller's question may concern.
import { hourMs } from '../../../src/core/durations.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { type RowsShape, toRows } from '../../../src/rows.ts';
import { commaList, sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { aheadMostMs } from '../../core/events/projection.ts';
import { numberOf, textOf } from '../../store/base/row.ts';
import { visible } from '../../store/base/scope.ts';
import { type Infer, shape } from '../../store/base/table.ts';
import { readSlice, slicesOfNumbers, tableOf, wholeSlices } from '../../store/slices/slices.ts';
import { isWayLength, type Span, visitLimits } from './core/visit.ts';
import { type Cover, cellsOf, cellsOfWay } from './core/visit-cells.ts';
import { slotsOf } from './core/visit-times.ts';

/**
 * Condition on events under an alias: a position with a time of its own. It repeats `fixOf`, so that the database finds the next position. A time
 * that is more than a day ahead of its arrival is a fault of the vehicle's clock.
 */
const isPosition = (e: 'e' | 'p'): Statement => ({
  sql: `${e}.status_code <> ${statusCodes.LAST_LOCATION.code} AND ${e}.time_quality <> 'none'
    AND ${e}.latitude IS NOT NULL AND ${e}.longitude IS NOT NULL
    AND ABS(${e}.latitude) + ABS(${e}.longitude) > 0
    AND (${e}.satellites IS NULL OR ${e}.satellites <> 0 OR ABS(${e}.latitude) > 0.01 OR ABS(${e}.longitude) > 0.01)
    AND ${e}.timestamp_ms >= 0 AND ${e}.timestamp_ms <= ${e}.received_ms + ${aheadMostMs}`,
  params: [],
});

/**
 * Rows of whole numbers for a table expression; the first row says so to PostgreSQL. Few texts are prepared: they are filled up to a power of two
 * with rows that match nothing.
 */
function wholeRows(width: number, rows: readonly (readonly number[])[]): Statement {
  const none = Array.from({ length: width }, (_unused, at) => (at === width - 1 ? -2 : -1));
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, rows.length)));
  const filled = [...rows, ...Array.from({ length: size - rows.length }, () => none)];
  return commaList(
    filled.map((row) => sql`(${commaList(row.map((value) => sql`CAST(${value} AS BIGINT)`))})`),
  );
}

/** Number of the last event in the index. */
export async function indexedTo(db: Database): Promise<number> {
  const [row] = await db.read(sql`SELECT to_no FROM visit_state WHERE one = 1`);
  return row === undefined ? 0 : numberOf(row, 'to_no');
}

/** A device's row of the index. */
interface IndexRow extends IndexKey {
  readonly slots: number;
}

const rowShape: readonly RowsShape<IndexRow>[] = [
  { name: 'account_no', type: 'BIGINT', of: (row) => row.accountNo },
  { name: 'hour', type: 'BIGINT', of: (row) => row.hour },
  { name: 'cell', type: 'BIGINT', of: (row) => row.cell },
  { name: 'device_no', type: 'BIGINT', of: (row) => row.deviceNo },
  { name: 'slots', type: 'BIGINT', of: (row) => row.slots },
];

/** Where the position next to an event is: before it, or the event itself where there is none; and after it. */
const sides = [
  { join: 'LEFT JOIN', compare: '<', within: '>= e.timestamp_ms -', order: 'DESC' },
  { join: 'JOIN', compare: '>', within: '<= e.timestamp_ms +', order: 'ASC' },
] as const;
type Side = (typeof sides)[number];

/** Events, each with the position next to it in another table, or the same one. */
function withNext(events: Statement, table: Statement, { join, compare, within, order }: Side): Statement {
  const next: Statement = {
    sql: `${join} ${table.sql} n ON n.event_no = (SELECT p.event_no FROM ${table.sql} p WHERE p.device_no = e.device_no
      AND (p.timestamp_ms, p.event_no) ${compare} (e.timestamp_ms, e.event_no)
      AND p.timestamp_ms ${within} ${visitLimits.gapMs} AND ${isPosition('p').sql}
      ORDER BY p.timestamp_ms ${order}, p.event_no ${order} LIMIT 1)`,
    params: [],
  };
  return sql`SELECT e.account_no, e.device_no, e.timestamp_ms, e.latitude, e.longitude,
      COALESCE(n.timestamp_ms, e.timestamp_ms) AS next_ms, COALESCE(n.latitude, e.latitude) AS next_latitude,
      COALESCE(n.longitude, e.longitude) AS next_longitude FROM (${events}) e ${next}`;
}

/** Adds the way from an event to the position next to it; the event alone, where the way is too long. */
function addWay(rows: Map<string, IndexRow>, event: Row): void {
  const [accountNo, deviceNo] = [numberOf(event, 'account_no'), numberOf(event, 'device_no')];
  const at = { latitude: numberOf(event, 'latitude'), longitude: numberOf(event, 'longitude') };
  const to = { latitude: numberOf(event, 'next_latitude'), longitude: numberOf(event, 'next_longitude') };
  const [atMs, toMs] = [numberOf(event, 'timestamp_ms'), numberOf(event, 'next_ms')];
  const isAlone = !isWayLength(at, to);
  const cells = cellsOfWay(at, isAlone ? at : to);
  const times = isAlone ? [atMs] : [atMs, toMs];
  for (const { hour, slots } of slotsOf({ fromMs: Math.min(...times), toMs: Math.max(...times) })) {
    for (const cell of cells) {
      const key = `${deviceNo} ${hour} ${cell}`;
      rows.set(key, { accountNo, hour, cell, deviceNo, slots: slots | (rows.get(key)?.slots ?? 0) });
    }
  }
}

/**
 * Rows of the index for some events: the ways to the positions before and after each. A late event so gets its ways too, and the way that it divides
 * stays. A way that there is only because retention removed an event between two later ones is missing.
 */
async function rowsOfEvents(db: Database, table: Statement, numbers: Statement) {
  const events = sql`SELECT e.* FROM ${table} e WHERE ${numbers} AND ${isPosition('e')}
    AND EXISTS (SELECT 1 FROM devices d WHERE d.device_no = e.device_no)`;
  const { gapMs } = visitLimits;
  const near = await db.read(sql`SELECT p.slice_no, MIN(p.from_ms) AS from_ms, MAX(p.to_ms) AS to_ms
    FROM (SELECT MIN(e.timestamp_ms) AS from_ms, MAX(e.timestamp_ms) AS to_ms FROM (${events}) e) b
    JOIN event_spans p ON p.to_ms >= b.from_ms - ${gapMs} AND p.from_ms <= b.to_ms + ${gapMs}
    JOIN event_slices s ON s.slice_no = p.slice_no WHERE s.state <> 'dropping' GROUP BY p.slice_no`);
  const rows = new Map<string, IndexRow>();
  for (const slice of near) {
    const [sliceNo, fromMs, toMs] = [
      numberOf(slice, 'slice_no'),
      numberOf(slice, 'from_ms') - gapMs,
      numberOf(slice, 'to_ms') + gapMs,
    ];
    const some = sql`${events} AND e.timestamp_ms >= ${fromMs} AND e.timestamp_ms <= ${toMs}`;
    for (const side of sides) {
      const found = await readSlice(db, sliceNo, withNext(some, tableOf(sliceNo), side));
      for (const event of found) addWay(rows, event);
    }
  }
  return [...rows.values()];
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
  const numbers = sql`e.event_no > ${fromNo} AND e.event_no <= ${endNo}`;
  return [
    moveFrom(toNo, endNo),
    {
      sql: `INSERT INTO visit_cells (account_no, hour, cell, device_no, slots)
        SELECT account_no, hour, cell, device_no, slots FROM r WHERE true
        ON CONFLICT (account_no, hour, cell, device_no) DO UPDATE SET slots = visit_cells.slots | excluded.slots
        WHERE visit_cells.slots <> (visit_cells.slots | excluded.slots)`,
      params: [],
      rows: toRows(rowShape, await rowsOfEvents(db, tableOf(slice.sliceNo), numbers)),
    },
  ];
}

/** Fails its batch unless the index ends at `fromNo`. */
function moveFrom(fromNo: number, toNo: number): Statement {
  return {
    ...sql`UPDATE visit_state SET to_no = ${toNo} WHERE one = 1 AND to_no = ${fromNo}`,
    mustChange: 1,
  };
}

const indexKey = shape({ accountNo: numberOf, hour: numberOf, cell: numberOf, deviceNo: numberOf });
export type IndexKey = Infer<typeof indexKey>;
const keyColumns: Statement = { sql: '(account_no, hour, cell, device_no)', params: [] };
const keyOf = ({ accountNo, hour, cell, deviceNo }: IndexKey): Statement =>
  sql`(${accountNo}, ${hour}, ${cell}, ${deviceNo})`;

/** The key of the row that stands so many rows further in the index; null: there are fewer. */
export function keyAfter(db: Database, after: IndexKey, rows: number): Promise<IndexKey | null> {
  return indexKey.first(db)(sql`SELECT account_no, hour, cell, device_no FROM visit_cells
    WHERE ${keyColumns} > ${keyOf(after)} ORDER BY account_no, hour, cell, device_no LIMIT 1 OFFSET ${rows - 1}`);
}

/**
 * Deletes rows of deleted devices, and of times that their account keeps no longer: of these only where the device has no event left, as retention
 * may keep one by its arrival, or for its slice. One batch, which fails when events were taken in meanwhile.
 */
export async function dropStale(db: Database, after: IndexKey, upTo: IndexKey, nowMs: number) {
  // Read before the slices: an event of a later slice is taken in after it.
  const toNo = await indexedTo(db);
  const nowHour = Math.floor(nowMs / hourMs);
  let isLeft = sql`1 = 0`;
  for (const { sliceNo } of await wholeSlices(db)) {
    isLeft = sql`${isLeft} OR EXISTS (SELECT 1 FROM ${tableOf(sliceNo)} e WHERE e.device_no = visit_cells.device_no
      AND e.timestamp_ms >= visit_cells.hour * CAST(${hourMs} AS BIGINT)
      AND e.timestamp_ms < (visit_cells.hour + 1) * CAST(${hourMs} AS BIGINT))`;
  }
  return [
    moveFrom(toNo, toNo),
    sql`DELETE FROM visit_cells WHERE ${keyColumns} > ${keyOf(after)} AND ${keyColumns} <= ${keyOf(upTo)}
      AND (NOT EXISTS (SELECT 1 FROM devices d WHERE d.device_no = visit_cells.device_no)
        OR (NOT (${isLeft}) AND EXISTS (SELECT 1 FROM accounts a WHERE a.account_no = visit_cells.account_no
          AND (visit_cells.hour < ${nowHour} - 24 * a.retained_days
            OR visit_cells.hour < ${nowHour} - 24 * a.retained_most_days))))`,
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
  readonly span: Span;
  /** Only devices whose id is higher. */
  readonly afterID: string;
}

const near = shape({ deviceNo: numberOf, deviceID: textOf, hour: numberOf, slots: numberOf });
/** A device, and when it may have been near. */
export type Near = Infer<typeof near>;

/** Most rows of one statement: more than a device can have, of 26 hours and all cells of the largest circle. */
export const nearMost = 20_000;

/** Of events in the index, by their ways, in the order of ids. */
export function nearByIndex(
  db: Database,
  { scope, accountNo, span, afterID }: Sought,
  cover: Cover,
): Promise<readonly Near[]> {
  const hours = slotsOf(span).map(({ hour, slots }) => [hour, slots]);
  const cells = cellsOf(cover).map(({ first, last }) => [first, last]);
  // The order of the tables is fixed: else SQLite may begin with all devices.
  return near.all(db)(sql`WITH h (hour, slots) AS (VALUES ${wholeRows(2, hours)}),
      r (first_cell, last_cell) AS (VALUES ${wholeRows(2, cells)})
    SELECT d.device_no, d.device_id, v.hour, (v.slots & h.slots) AS slots
    FROM h CROSS JOIN r CROSS JOIN visit_cells v CROSS JOIN devices d
    WHERE v.account_no = ${accountNo} AND v.hour = h.hour AND v.cell >= r.first_cell AND v.cell <= r.last_cell
      AND (v.slots & h.slots) <> 0
      AND d.device_no = v.device_no AND ${visible(scope)} AND d.device_id > ${afterID}
    ORDER BY d.device_id LIMIT ${nearMost}`);
}

/** Of events that are not in the index yet, by their positions, in the order of ids. */
export async function nearByEvents(
  db: Database,
  { scope, accountNo, span, afterID }: Sought,
  { south, north, bands }: Cover,
  { toNo, lastNo }: { readonly toNo: number; readonly lastNo: number },
): Promise<readonly (readonly Near[])[]> {
  if (toNo >= lastNo) return [];
  let isWithin = sql`1 = 0`;
  for (const { west, east } of bands)
    isWithin = sql`${isWithin} OR (e.longitude >= ${west} AND e.longitude <= ${east})`;
  const found: (readonly Near[])[] = [];
  for (const { sliceNo, table } of await slicesOfNumbers(db, { after: toNo, upTo: lastNo })) {
    const rows = await readSlice(db, sliceNo, {
      ...sql`SELECT d.device_no, d.device_id, MIN(e.timestamp_ms) AS from_ms, MAX(e.timestamp_ms) AS to_ms
        FROM ${table} e CROSS JOIN devices d
        WHERE e.event_no > ${toNo} AND e.event_no <= ${lastNo} AND e.account_no = ${accountNo} AND ${isPosition('e')}
          AND e.timestamp_ms >= ${span.fromMs} AND e.timestamp_ms <= ${span.toMs}
          AND e.latitude >= ${south} AND e.latitude <= ${north} AND (${isWithin})
          AND d.device_no = e.device_no AND ${visible(scope)} AND d.device_id > ${afterID}
        GROUP BY d.device_no, d.device_id, e.timestamp_ms / ${hourMs} ORDER BY d.device_id LIMIT ${nearMost}`,
      isPlannedAnew: true,
    });
    found.push(rows.flatMap(toNearHours));
  }
  return found;
}

/** With the ways to the positions before and after. */
function toNearHours(row: Row): readonly Near[] {
  const fromMs = numberOf(row, 'from_ms') - visitLimits.gapMs;
  const toMs = numberOf(row, 'to_ms') + visitLimits.gapMs;
  const device = { deviceNo: numberOf(row, 'device_no'), deviceID: textOf(row, 'device_id') };
  return slotsOf({ fromMs, toMs }).map((hour) => ({ ...device, ...hour }));
}

/** A device in a span. */
export interface DeviceSpan extends Span {
  readonly deviceNo: number;
}

const position = shape({
  deviceNo: numberOf,
  eventNo: numberOf,
  timestampMs: numberOf,
  latitude: numberOf,
  longitude: numberOf,
});
/** A position as it is stored. */
export type StoredPosition = Infer<typeof position>;

/** The positions of devices in these spans, which must not overlap for one device, in no order. */
export async function positionsOf(
  db: Database,
  scope: Scope,
  { sliceNo, spans }: { readonly sliceNo: number; readonly spans: readonly DeviceSpan[] },
): Promise<readonly StoredPosition[]> {
  const asked = spans.map(({ deviceNo, fromMs, toMs }) => [deviceNo, fromMs, toMs]);
  const statement = sql`WITH r (device_no, from_ms, to_ms) AS (VALUES ${wholeRows(3, asked)})
    SELECT e.device_no, e.event_no, e.timestamp_ms, e.latitude, e.longitude
    FROM r CROSS JOIN devices d CROSS JOIN ${tableOf(sliceNo)} e
    WHERE d.device_no = r.device_no AND ${visible(scope)} AND e.device_no = d.device_no
      AND e.timestamp_ms >= r.from_ms AND e.timestamp_ms <= r.to_ms AND ${isPosition('e')}`;
  return (await readSlice(db, sliceNo, statement)).map(position.toRecord);
}
