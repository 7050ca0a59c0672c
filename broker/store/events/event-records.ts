// Whole records of events by number, with the names of their devices: what a listing shows once it has its keys. A number
// outside of the scope finds nothing.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { numberOf, textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type Infer, shape } from '../base/table.ts';
import { readSlice, runsWithin, slicesOfNumbers } from '../slices/slices.ts';
import { eventMembers } from './events.ts';

const records = shape({ ...eventMembers, description: textOf, pinColor: textOf, pinTag: textOf });
/** An event with the members shown of its device. */
export type EventRecord = Infer<typeof records>;

/** Records per read: a few milliseconds of work. */
export const recordsPerRead = 250;

/**
 * Parameter counts for lists of numbers: few lengths, so that their texts stay prepared, and none far above the count. PostgreSQL
 * expects as many events as parameters, and with 250 it would scan all devices instead of looking one up.
 */
const listLengths = [5, 50, recordsPerRead] as const;

/** A list of these numbers, padded with the first one. */
function listOf(eventNos: readonly number[]): Statement {
  const length = listLengths.find((one) => one >= eventNos.length) ?? recordsPerRead;
  return {
    sql: Array.from({ length }, (_unused, at) => `$${at + 1}`).join(', '),
    params: Array.from({ length }, (_unused, at) => eventNos[at] ?? eventNos[0] ?? 0),
  };
}

/** The events with these numbers, which all lie in one slice. */
async function recordsIn(
  db: Database,
  slice: { readonly sliceNo: number; readonly table: Statement },
  { scope, eventNos }: { readonly scope: Scope; readonly eventNos: readonly number[] },
): Promise<readonly Row[]> {
  // CROSS JOIN: SQLite then looks the events up first, and does not go through every device of the account.
  return readSlice(
    db,
    slice.sliceNo,
    sql`SELECT e.*, d.device_id, d.description, d.pin_color, d.pin_tag
      FROM ${slice.table} e CROSS JOIN devices d
      WHERE e.event_no IN (${listOf(eventNos)}) AND d.device_no = e.device_no AND ${visible(scope)}`,
  );
}

/** The events with these numbers (at most `recordsPerRead`), in that order; deleted ones are left out. */
export async function eventRecords(
  db: Database,
  scope: Scope,
  eventNos: readonly number[],
): Promise<readonly EventRecord[]> {
  if (eventNos.length === 0) return [];
  const span = { after: Math.min(...eventNos) - 1, upTo: Math.max(...eventNos) };
  const slices = await slicesOfNumbers(db, span);
  const parts = slices.map((slice, at) => {
    const endNo = slices[at + 1]?.firstNo ?? Number.POSITIVE_INFINITY;
    return { slice, eventNos: eventNos.filter((no) => no >= slice.firstNo && no < endNo) };
  });
  const reads = parts.filter((part) => part.eventNos.length > 0);
  const rows = (await Promise.all(reads.map((part) => recordsIn(db, part.slice, { ...part, scope })))).flat();
  const found = new Map(
    rows.map((row) => {
      const record = records.toRecord(row);
      return [record.eventNo, record];
    }),
  );
  return eventNos.flatMap((eventNo) => found.get(eventNo) ?? []);
}

/** Key of an event without boot and number of its own: its time and code. */
export interface BareEvent {
  readonly boot: string;
  readonly seq: number;
  readonly timestampMs: number;
}

const isEvent = ({ boot, seq, timestampMs }: BareEvent): Statement =>
  sql`timestamp_ms = ${timestampMs} AND boot = ${boot} AND seq = ${seq}`;

const momentOf = ({ timestampMs }: BareEvent) => ({ fromMs: timestampMs, toMs: timestampMs });

/** The number of that event of a device; null when there is none. */
export async function eventNoOf(
  db: Database,
  device: { readonly deviceNo: number },
  event: BareEvent,
): Promise<number | null> {
  for (const run of await runsWithin(db, momentOf(event))) {
    const statement = sql`SELECT event_no FROM ${run.table}
      WHERE device_no = ${device.deviceNo} AND ${isEvent(event)}`;
    const [row] = await readSlice(db, run.sliceNo, statement);
    if (row !== undefined) return numberOf(row, 'event_no');
  }
  return null;
}

/** Condition: there is no such event. */
export async function isNewEvent(db: Database, deviceNo: number, event: BareEvent): Promise<Statement> {
  let isNew = sql`1 = 1`;
  for (const { table } of await runsWithin(db, momentOf(event))) {
    isNew = sql`${isNew} AND NOT EXISTS (SELECT 1 FROM ${table} WHERE device_no = ${deviceNo} AND ${isEvent(event)})`;
  }
  return isNew;
}
