// Events put into a store as a vehicle's would be, without a vehicle: into the slice that is open, with numbers of the store,
// and noted with their time. Every test that needs rows by hand makes them here, so that readers find them.
import { spanOf } from '../../../broker/core/events/event-spans.ts';
import { openNext, openSlice, recordSpan } from '../../../broker/store/slices/slice-writing.ts';
import { lastEventNo, tableOf, wholeSlices } from '../../../broker/store/slices/slices.ts';
import type { Database, Row, SqlValue, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';

/** What a test says of an event; the rest is that of a position without a place. */
export interface StoredEvent {
  readonly accountNo?: number;
  readonly deviceNo: number;
  readonly boot: string;
  readonly seq: number;
  readonly timestampMs: number;
  readonly receivedMs?: number;
  readonly timeQuality?: string;
  readonly statusCode?: number;
  readonly latitude?: number | null;
  readonly longitude?: number | null;
  readonly speed?: number;
  readonly odometer?: number;
  readonly geozoneID?: string;
  readonly attributes?: string | null;
}

/** Rows of one statement: a statement takes so many values at most. */
const rowsAtOnce = 500;

function valuesOf(event: StoredEvent, eventNo: number): readonly SqlValue[] {
  const { accountNo = 1, deviceNo, boot, seq, timestampMs, receivedMs = timestampMs } = event;
  const { timeQuality = 'gnss', statusCode = 61472, geozoneID = '' } = event;
  return [
    eventNo,
    accountNo,
    deviceNo,
    boot,
    seq,
    timestampMs,
    receivedMs,
    timeQuality,
    statusCode,
    event.latitude ?? null,
    event.longitude ?? null,
    event.speed ?? null,
    event.odometer ?? null,
    geozoneID,
    event.attributes ?? null,
  ];
}

/** `(…), (…)` of those rows, of which each has as many values. */
function rowsOf(rows: readonly (readonly SqlValue[])[]): Statement {
  const width = rows[0]?.length ?? 0;
  const holes = rows.map(
    (_row, row) => `(${Array.from({ length: width }, (_unused, at) => `$${row * width + at + 1}`).join()})`,
  );
  return { sql: holes.join(), params: rows.flat() };
}

const columns = `account_no, device_no, boot, seq, timestamp_ms, received_ms, time_quality, status_code, latitude, longitude,
  speed, odometer, geozone_id, attributes`;

/** Stores the events in the slice that is open, in their order; gives their numbers. */
export async function storeEvents(db: Database, events: readonly StoredEvent[]): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (let start = 0; start < events.length; start += rowsAtOnce) {
    const part = events.slice(start, start + rowsAtOnce);
    const { sliceNo } = await openSlice(db);
    const firstNo = (await lastEventNo(db)) + 1;
    const rows = part.map((event, at) => valuesOf(event, firstNo + at));
    const names: Statement = { sql: `event_no, ${columns}`, params: [] };
    const spans = new Map(
      part.map(({ timestampMs, receivedMs = timestampMs }) => {
        const span = spanOf(timestampMs, receivedMs);
        return [`${span.fromMs} ${span.toMs}`, span];
      }),
    );
    const [inserted] = await db.write([
      sql`INSERT INTO ${tableOf(sliceNo)} (${names}) VALUES ${rowsOf(rows)} RETURNING event_no`,
      ...[...spans.values()].map((span) => recordSpan(sliceNo, span)),
      sql`UPDATE event_counter SET next_no = ${firstNo + part.length}`,
    ]);
    numbers.push(...(inserted?.rows ?? []).map((row) => Number(row['event_no'])));
  }
  return numbers;
}

/** Many events of one device, by its id (in the account that was made first) or its number, counted from 1. */
export async function storeMany(
  db: Database,
  many: {
    readonly device: string | number;
    readonly count: number;
    readonly boot: string;
    readonly of: (
      count: number,
    ) => Omit<StoredEvent, 'deviceNo' | 'boot' | 'seq'> & { readonly seq?: number };
  },
): Promise<void> {
  const { device, count, boot, of } = many;
  const isDevice =
    typeof device === 'number' ? sql`device_no = ${device}` : sql`device_id = ${device} AND account_no = 1`;
  const [row] = await db.read(sql`SELECT device_no, account_no FROM devices WHERE ${isDevice}`);
  const [deviceNo, accountNo] = [Number(row?.['device_no']), Number(row?.['account_no'])];
  await storeEvents(
    db,
    Array.from({ length: count }, (_unused, at) => ({
      deviceNo,
      accountNo,
      boot,
      seq: at + 1,
      ...of(at + 1),
    })),
  );
}

/** Closes the slice that is open and opens the next; the numbers of the first one go on where it ended. */
export async function openNextSlice(db: Database, atMs: number): Promise<number> {
  const { sliceNo } = await openSlice(db);
  const nextNo = (await lastEventNo(db)) + 1;
  await db.write([sql`UPDATE event_counter SET next_no = ${nextNo}`, ...openNext(sliceNo, atMs)]);
  return sliceNo + 1;
}

const unionOf = (tables: readonly string[]): string =>
  `(${tables.map((table) => `SELECT * FROM ${table}`).join(' UNION ALL ')}) AS e`;

/** Every slice as one table `e`, to stand behind FROM. */
export async function everyEvent(db: Database): Promise<Statement> {
  const slices = await wholeSlices(db);
  return { sql: unionOf(slices.map(({ sliceNo }) => tableOf(sliceNo).sql)), params: [] };
}

/** The same for a look into the file of a database. */
export function everyEventIn(file: { prepare(text: string): { all(): unknown[] } }): string {
  const rows = file.prepare("SELECT slice_no AS no FROM event_slices WHERE state <> 'dropping'").all();
  return unionOf(rows.map((row) => tableOf((row as { no: number }).no).sql));
}

/** Everything of every slice that is there, in the order of numbers. */
export async function storedEvents(db: Database): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { sliceNo } of await wholeSlices(db))
    rows.push(...(await db.read(sql`SELECT * FROM ${tableOf(sliceNo)} ORDER BY event_no`)));
  return rows;
}
