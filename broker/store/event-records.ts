// Whole records of events by their numbers, with what their device is called: what a listing shows once it knows its keys.
// Statements only; a number outside of the scope finds nothing.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { type DeviceOf, type EventRow, toEvent } from './events.ts';
import { numberOf, textOf } from './row.ts';
import { type Scope, visible } from './scope.ts';

/** An event with what is shown of its device. */
export interface EventRecord extends EventRow {
  readonly description: string;
  readonly pinColor: string;
  readonly pinTag: string;
}

/** Records read at once: a few milliseconds of work. */
export const recordsPerRead = 250;

const holes: Statement = {
  sql: Array.from({ length: recordsPerRead }, (_unused, at) => `$${at + 1}`).join(', '),
  params: [],
};

/** The events with these numbers (at most `recordsPerRead`), in that order; one that was deleted meanwhile is left out. */
export async function eventRecords(
  db: Database,
  scope: Scope,
  eventNos: readonly number[],
): Promise<readonly EventRecord[]> {
  if (eventNos.length === 0) return [];
  // One text whatever the count, so that it stays prepared: the last number fills the places that are left.
  const params = Array.from({ length: recordsPerRead }, (_unused, at) => eventNos[at] ?? eventNos[0] ?? 0);
  // CROSS JOIN: SQLite then looks the events up first, and does not go through every device of the account.
  const rows = await db.read(sql`SELECT e.*, d.device_id, d.description, d.pin_color, d.pin_tag
    FROM events e CROSS JOIN devices d
    WHERE e.event_no IN (${{ sql: holes.sql, params }}) AND d.device_no = e.device_no AND ${visible(scope)}`);
  const found = new Map(
    rows.map((row) => [
      numberOf(row, 'event_no'),
      // Not spread into a new object: this runs for every record of every listing.
      Object.assign(toEvent(row), {
        description: textOf(row, 'description'),
        pinColor: textOf(row, 'pin_color'),
        pinTag: textOf(row, 'pin_tag'),
      }),
    ]),
  );
  return eventNos.flatMap((eventNo) => found.get(eventNo) ?? []);
}

/** The number of the event of a device with that key, found by its time; null when there is none. */
export async function eventNoOf(
  db: Database,
  of: DeviceOf & { readonly boot: string; readonly seq: number; readonly timestampMs: number },
): Promise<number | null> {
  const [row] = await db.read(sql`SELECT e.event_no FROM devices d JOIN events e ON e.device_no = d.device_no
    WHERE ${visible(of.scope)} AND d.device_id = ${of.deviceID} AND e.timestamp_ms = ${of.timestampMs}
      AND e.boot = ${of.boot} AND e.seq = ${of.seq}`);
  return row === undefined ? null : numberOf(row, 'event_no');
}
