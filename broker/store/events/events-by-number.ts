// Reads what a live stream missed, by event number: non-routine events, and devices with a sign of life since. Reads are paged
// and scoped; `../live/` reads other changes.
import type { CommandState } from '../../../src/core/events/event.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { LiveEvent } from '../../core/live/live-message.ts';
import type { Presence } from '../../core/live/live-presence.ts';
import { fixedList } from '../base/fixed-list.ts';
import { isNotRoutine } from '../base/routine-codes.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type NumberSpan, readSlice, sliceOfNumber, slicesOfNumbers } from '../slices/slices.ts';

/** Rows of one page. */
const pageSize = 500;

const accountNoOf = (accountID: string): Statement =>
  sql`(SELECT account_no FROM accounts WHERE account_id = ${accountID})`;

/** Receipt time of an event; null when it is not kept. */
export async function receivedMsOf(db: Database, eventNo: number): Promise<number | null> {
  const slice = await sliceOfNumber(db, eventNo);
  if (slice === null) return null;
  const statement = sql`SELECT received_ms FROM ${slice.table} WHERE event_no = ${eventNo}`;
  const [row] = await readSlice(db, slice.sliceNo, statement);
  return row === undefined ? null : numberOf(row, 'received_ms');
}

const within = ({ after, upTo }: NumberSpan): Statement => sql`event_no > ${after} AND event_no <= ${upTo}`;

/** True when an account has more than `most` events in the span that are not routine. */
export async function holdsMore(
  db: Database,
  span: NumberSpan & { readonly accountID: string; readonly most: number },
): Promise<boolean> {
  let left = span.most + 1;
  for (const { sliceNo, table } of await slicesOfNumbers(db, span)) {
    const [row] = await readSlice(
      db,
      sliceNo,
      sql`SELECT COUNT(*) AS seen FROM (SELECT 1 FROM ${table}
        WHERE account_no = ${accountNoOf(span.accountID)} AND ${within(span)} AND ${isNotRoutine}
        ORDER BY event_no LIMIT ${left}) AS part`,
    );
    left -= row === undefined ? 0 : numberOf(row, 'seen');
    if (left <= 0) return true;
  }
  return false;
}

function toLiveEvent(row: Row): LiveEvent {
  return {
    eventNo: numberOf(row, 'event_no'),
    accountID: textOf(row, 'account_id'),
    deviceNo: numberOf(row, 'device_no'),
    deviceID: textOf(row, 'device_id'),
    boot: textOf(row, 'boot'),
    seq: numberOf(row, 'seq'),
    timestampMs: numberOf(row, 'timestamp_ms'),
    receivedMs: numberOf(row, 'received_ms'),
    statusCode: numberOf(row, 'status_code'),
    latitude: numberOrNull(row, 'latitude'),
    longitude: numberOrNull(row, 'longitude'),
    speed: numberOrNull(row, 'speed'),
    heading: numberOrNull(row, 'heading'),
    geozoneID: textOf(row, 'geozone_id'),
    commandID: textOrNull(row, 'command_id'),
    commandState: textOrNull(row, 'command_state') as CommandState | null,
  };
}

/** Every event of the span that is not routine, in the order of numbers, page by page; of one scope, or null: of all. */
export async function* eventsByNumber(
  db: Database,
  span: NumberSpan & { readonly scope: Scope | null },
): AsyncGenerator<readonly LiveEvent[], void, undefined> {
  const { scope, upTo } = span;
  let { after } = span;
  const seen =
    scope === null ? sql`` : sql`AND e.account_no = ${accountNoOf(scope.accountID)} AND ${visible(scope)}`;
  for (const { sliceNo, table } of await slicesOfNumbers(db, span)) {
    for (;;) {
      const rows = await readSlice(
        db,
        sliceNo,
        sql`SELECT e.event_no, e.device_no, d.account_id, d.device_id, e.boot, e.seq, e.timestamp_ms, e.received_ms,
            e.status_code, e.latitude, e.longitude, e.speed, e.heading, e.geozone_id, e.command_id, e.command_state
          FROM ${table} e JOIN devices d ON d.device_no = e.device_no
          WHERE ${within({ after, upTo })} AND ${isNotRoutine} ${seen}
          ORDER BY e.event_no LIMIT ${pageSize}`,
      );
      const page = rows.map(toLiveEvent);
      if (page.length > 0) yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) break;
      after = last.eventNo;
    }
  }
}

function toPresence(row: Row): Presence {
  const fixMs = numberOf(row, 'fix_ms');
  const fuelLevel = numberOrNull(row, 'fuel_level');
  const position = {
    ms: fixMs,
    tie: textOf(row, 'fix_tie'),
    latitude: numberOf(row, 'latitude'),
    longitude: numberOf(row, 'longitude'),
    speed: numberOrNull(row, 'speed'),
    heading: numberOrNull(row, 'heading'),
    altitude: numberOf(row, 'altitude'),
    geozoneID: textOf(row, 'geozone_id'),
  };
  return {
    accountID: textOf(row, 'account_id'),
    deviceNo: numberOf(row, 'device_no'),
    deviceID: textOf(row, 'device_id'),
    heartbeatMs: numberOf(row, 'heartbeat_ms'),
    position: fixMs === 0 ? null : position,
    fuel:
      fuelLevel === null
        ? null
        : { ms: numberOf(row, 'fuel_ms'), tie: textOf(row, 'fuel_tie'), value: fuelLevel },
  };
}

const selectPresence = sql`SELECT d.account_id, d.device_no, d.device_id, d.heartbeat_ms, d.fix_ms, d.fix_tie, d.latitude,
    d.longitude, d.speed, d.heading, d.altitude, d.geozone_id, d.fuel_level, d.fuel_ms, d.fuel_tie FROM devices d`;

/**
 * The state of every device of these accounts (at most 100) with events in the span, by number, page by page. Where the span
 * crosses the end of a slice a device may come twice.
 */
export async function* presencesWithin(
  db: Database,
  of: NumberSpan & { readonly accountIDs: readonly string[] },
): AsyncGenerator<readonly Presence[], void, undefined> {
  for (const { sliceNo, table } of await slicesOfNumbers(db, of)) {
    let afterNo = 0;
    for (;;) {
      const rows = await readSlice(
        db,
        sliceNo,
        sql`${selectPresence}
          WHERE d.device_no > ${afterNo} AND d.account_id IN (${fixedList(of.accountIDs)})
            AND d.device_no IN (SELECT device_no FROM ${table} WHERE ${within(of)})
          ORDER BY d.device_no LIMIT ${pageSize}`,
      );
      const page = rows.map(toPresence);
      if (page.length > 0) yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) break;
      afterNo = last.deviceNo;
    }
  }
}

/** The state of every device with a sign of life at or after `sinceMs` of the broker's clock, page by page. */
export async function* presencesSince(
  db: Database,
  of: { readonly scope: Scope; readonly sinceMs: number },
): AsyncGenerator<readonly Presence[], void, undefined> {
  let after = '';
  for (;;) {
    const rows = await db.read(sql`${selectPresence}
      WHERE ${visible(of.scope)} AND d.device_id > ${after} AND d.heartbeat_ms >= ${of.sinceMs}
        AND d.heartbeat_ms > 0
      ORDER BY d.device_id LIMIT ${pageSize}`);
    const page = rows.map(toPresence);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.deviceID;
  }
}

/** Numbers of the visible devices of a scope, page by page. */
export async function* visibleDeviceNos(
  db: Database,
  scope: Scope,
): AsyncGenerator<readonly number[], void, undefined> {
  let after = 0;
  for (;;) {
    const rows = await db.read(sql`SELECT d.device_no FROM devices d
      WHERE ${visible(scope)} AND d.device_no > ${after} ORDER BY d.device_no LIMIT 5000`);
    const page = rows.map((row) => numberOf(row, 'device_no'));
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < 5000) return;
    after = last;
  }
}
