// Reads of events. They join through the device's account, so that no argument can reach another account's events. The insert
// is in `event-insert.ts`.

import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type Infer, shape } from '../base/table.ts';
import { events } from '../schema/events.ts';
import { type Run, readSlice, runsWithin } from '../slices/slices.ts';

const eventRows = shape({ ...events.columns, deviceID: textOf });
/** An event from a row of a slice with the `device_id` of its device. */
export const toEvent = eventRows.toRecord;
export const eventMembers = eventRows.columns;
export type EventRow = Infer<typeof eventRows>;

/** Most events per read. */
const eventsMost = 10_000;

/** One device in the scope of its reader. */
export interface DeviceOf {
  readonly scope: Scope;
  readonly deviceID: string;
}

/** Slices read at once while nothing is found: doubled each time. */
const askedMost = 8;

interface Newest extends DeviceOf {
  /** Event time, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
  /** True: only events with a position. */
  readonly isPositioned: boolean;
}

async function newestOf(db: Database, of: Newest, run: Run): Promise<readonly EventRow[]> {
  const positioned = of.isPositioned ? sql` AND e.latitude IS NOT NULL` : sql``;
  const rows = await readSlice(
    db,
    run.sliceNo,
    sql`SELECT e.*, d.device_id FROM devices d JOIN ${run.table} e ON e.device_no = d.device_no
      WHERE ${visible(of.scope)} AND d.device_id = ${of.deviceID}
        AND e.timestamp_ms >= ${run.fromMs} AND e.timestamp_ms <= ${run.toMs}${positioned}
      ORDER BY e.timestamp_ms DESC, e.event_no DESC LIMIT ${of.count}`,
  );
  return rows.map(toEvent);
}

/** From the newest slice back, until no older one can hold anything newer than what was found. */
async function newestEvents(db: Database, of: Newest): Promise<readonly EventRow[]> {
  const runs = [...(await runsWithin(db, of))];
  runs.sort((one, other) => other.toMs - one.toMs || other.sliceNo - one.sliceNo);
  let found: readonly EventRow[] = [];
  let asked = 1;
  while (runs.length > 0) {
    const last = found[of.count - 1];
    if (last !== undefined && runs.every((run) => run.toMs < last.timestampMs)) break;
    const parts = await Promise.all(runs.splice(0, asked).map((run) => newestOf(db, of, run)));
    found = [...found, ...parts.flat()]
      .sort((one, other) => other.timestampMs - one.timestampMs || other.eventNo - one.eventNo)
      .slice(0, of.count);
    asked = Math.min(askedMost, asked * 2);
  }
  return found;
}

/** The newest `count` (1 to 10,000) events of a device by event time, newest first. */
export function latestEvents(db: Database, of: DeviceOf, count: number): Promise<readonly EventRow[]> {
  return newestEvents(db, {
    ...of,
    fromMs: Number.MIN_SAFE_INTEGER,
    toMs: Number.MAX_SAFE_INTEGER,
    count: Math.min(count, eventsMost),
    isPositioned: false,
  });
}

/**
 * The newest event with a position of a device, by event time within `fromMs` to `toMs`, both included; null when there is none.
 * It walks over events without a position: limit the span to where one is known to be.
 */
export async function latestPosition(
  db: Database,
  of: DeviceOf & Pick<Newest, 'fromMs' | 'toMs'>,
): Promise<EventRow | null> {
  const [newest] = await newestEvents(db, { ...of, count: 1, isPositioned: true });
  return newest ?? null;
}

/** Cursor of a listing by event time: the last event already read, exclusive. */
export interface EventCursor {
  readonly timestampMs: number;
  readonly eventNo: number;
}

export interface EventRange {
  readonly scope: Scope;
  /** Null: every device of the scope. */
  readonly deviceID: string | null;
  /** Event time, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: any. An empty list matches nothing. */
  readonly statusCodes: readonly number[] | null;
  /** Null from the start. */
  readonly after: EventCursor | null;
  /** 1 to 10,000. */
  readonly limit: number;
}

/** The condition of a range, on events as `e` and `devices` as `d`. */
function inRange(range: EventRange): Statement {
  const { scope, deviceID, fromMs, toMs, statusCodes, after } = range;
  const none = sql``;
  const ofDevice = deviceID === null ? none : sql` AND d.device_id = ${deviceID}`;
  const later =
    after === null ? none : sql` AND (e.timestamp_ms, e.event_no) > (${after.timestampMs}, ${after.eventNo})`;
  const codes = statusCodes === null ? none : sql` AND e.status_code IN (${valueList(statusCodes)})`;
  return sql`${visible(scope)}${ofDevice}
      AND e.timestamp_ms >= ${fromMs} AND e.timestamp_ms <= ${toMs}${later}${codes}`;
}

/** Events in a range of event time, oldest first; ties in order of arrival. */
export async function eventsInRange(db: Database, range: EventRange): Promise<readonly EventRow[]> {
  if (range.statusCodes?.length === 0) return [];
  const limit = Math.min(range.limit, eventsMost);
  let found: EventRow[] = [];
  for (const run of await runsWithin(db, range)) {
    const rows = await readSlice(
      db,
      run.sliceNo,
      sql`SELECT e.*, d.device_id FROM devices d JOIN ${run.table} e ON e.device_no = d.device_no
        WHERE ${inRange({ ...range, fromMs: run.fromMs, toMs: run.toMs })}
        ORDER BY e.timestamp_ms, e.event_no LIMIT ${limit}`,
    );
    found = [...found, ...rows.map(toEvent)]
      .sort((one, other) => one.timestampMs - other.timestampMs || one.eventNo - other.eventNo)
      .slice(0, limit);
  }
  return found;
}
