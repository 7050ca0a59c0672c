// The slices of the events for readers: existing tables, those that can hold an event, and reads of one that may be dropped
// meanwhile. The list is read each time, so no process's earlier commit is missed.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { joinSpans, type TimeSpan } from '../../core/events/event-spans.ts';
import { numberOf, numberOrNull, readNumber } from '../base/row.ts';
import type { Infer } from '../base/table.ts';
import { eventSlices } from '../schema/events.ts';

export type Slice = Infer<typeof eventSlices>;

/** The table of a slice, for a statement. */
export function tableOf(sliceNo: number): Statement {
  // A number from our own table: no text of the store ever becomes part of a statement.
  return { sql: sliceNo === 1 ? 'events' : `events_${Math.trunc(sliceNo)}`, params: [] };
}

/** All slices, oldest first, those that are on their way out included. */
export function allSlices(db: Database): Promise<readonly Slice[]> {
  return eventSlices.all(db)(sql`SELECT * FROM event_slices ORDER BY slice_no`);
}

/** A slice that is being emptied is not read; a retired one is still whole. */
export async function wholeSlices(db: Database): Promise<readonly Slice[]> {
  return (await allSlices(db)).filter(({ state }) => state !== 'dropping');
}

/** A part of a slice: its events of this span of event time. No two parts share an event. */
export interface Run extends TimeSpan {
  readonly sliceNo: number;
  readonly table: Statement;
}

/** The parts with events of that time, earliest first, cut to the given span. */
export async function runsWithin(db: Database, { fromMs, toMs }: TimeSpan): Promise<readonly Run[]> {
  const rows = await db.read(sql`SELECT p.slice_no, p.from_ms, p.to_ms
    FROM event_spans p JOIN event_slices s ON s.slice_no = p.slice_no
    WHERE p.to_ms >= ${fromMs} AND p.from_ms <= ${toMs} AND s.state IN ('open', 'closed')`);
  const bySlice = new Map<number, TimeSpan[]>();
  for (const row of rows) {
    const sliceNo = numberOf(row, 'slice_no');
    const span = { fromMs: numberOf(row, 'from_ms'), toMs: numberOf(row, 'to_ms') };
    const known = bySlice.get(sliceNo);
    if (known === undefined) bySlice.set(sliceNo, [span]);
    else known.push(span);
  }
  const runs = [...bySlice].flatMap(([sliceNo, spans]) =>
    joinSpans(spans).map((span) => ({
      sliceNo,
      table: tableOf(sliceNo),
      fromMs: Math.max(span.fromMs, fromMs),
      toMs: Math.min(span.toMs, toMs),
    })),
  );
  return runs.sort((one, other) => one.fromMs - other.fromMs || one.sliceNo - other.sliceNo);
}

/** Events after `after` and up to `upTo`, by their numbers. */
export interface NumberSpan {
  readonly after: number;
  readonly upTo: number;
}

/** End of the next piece of a span of numbers: at most `most` used ones; unused ranges are skipped. */
export async function nextUpTo(db: Database, { after, upTo }: NumberSpan, most: number): Promise<number> {
  const end = after + most;
  if (end >= upTo) return upTo;
  const [row] = await db.read(sql`SELECT
    (SELECT end_no FROM event_slices WHERE first_no <= ${end} ORDER BY slice_no DESC LIMIT 1) AS end_no,
    (SELECT first_no FROM event_slices WHERE first_no > ${end} ORDER BY slice_no LIMIT 1) AS next_no`);
  const endNo = row === undefined ? null : numberOrNull(row, 'end_no');
  const nextNo = row === undefined ? null : numberOrNull(row, 'next_no');
  return endNo !== null && nextNo !== null && endNo <= end ? Math.min(upTo, nextNo - 1) : end;
}

/** The slices that can hold events of those numbers, in the order of numbers. */
export async function slicesOfNumbers(
  db: Database,
  { after, upTo }: NumberSpan,
): Promise<readonly { readonly sliceNo: number; readonly firstNo: number; readonly table: Statement }[]> {
  const rows = await db.read(sql`SELECT slice_no, first_no FROM event_slices
    WHERE state IN ('open', 'closed') AND first_no <= ${upTo}
      AND slice_no >= COALESCE((SELECT MAX(slice_no) FROM event_slices WHERE first_no <= ${after + 1}), 0)
    ORDER BY slice_no`);
  return rows.map((row) => {
    const sliceNo = numberOf(row, 'slice_no');
    return { sliceNo, firstNo: numberOf(row, 'first_no'), table: tableOf(sliceNo) };
  });
}

/** The slice that holds the event of that number, if it is kept. */
export async function sliceOfNumber(
  db: Database,
  eventNo: number,
): Promise<{ readonly sliceNo: number; readonly table: Statement } | null> {
  const [first] = await slicesOfNumbers(db, { after: eventNo - 1, upTo: eventNo });
  return first ?? null;
}

/**
 * Reads one slice. Retention may drop it between the read of the list and this: then it is empty, not an error.
 * @throws AppError when the read failed and the slice still exists.
 */
export async function readSlice(
  db: Database,
  sliceNo: number,
  statement: Statement,
): Promise<readonly Row[]> {
  try {
    return await db.read(statement);
  } catch (thrown) {
    const there = await db.read(sql`SELECT 1 AS there FROM event_slices
      WHERE slice_no = ${sliceNo} AND state <> 'dropping'`);
    if (there.length > 0) throw thrown;
    return [];
  }
}

/**
 * Reads several slices by one statement. Retention may drop some of them between the read of the list and this: then the others
 * are read.
 * @param statementOf makes it for at least one slice.
 * @throws AppError when the read failed and all of the slices still exist.
 */
export async function readSlices(
  db: Database,
  sliceNos: readonly number[],
  statementOf: (sliceNos: readonly number[]) => Statement,
): Promise<readonly Row[]> {
  if (sliceNos.length === 0) return [];
  try {
    return await db.read(statementOf(sliceNos));
  } catch (thrown) {
    const slices = await wholeSlices(db);
    const there = sliceNos.filter((sliceNo) => slices.some((slice) => slice.sliceNo === sliceNo));
    if (there.length === sliceNos.length) throw thrown;
    return readSlices(db, there, statementOf);
  }
}

/** The number of the newest event of all accounts; 0 before the first. It never decreases. */
export async function lastEventNo(db: Database): Promise<number> {
  const last = sql`SELECT next_no - 1 AS last_no FROM event_counter WHERE one = 1`;
  return (await readNumber(db)(last)) ?? 0;
}
