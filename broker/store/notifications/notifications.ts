// Statements on the inbox. Reads join the device: a user never sees notifications of devices outside its groups, and a
// deleted device's notifications disappear with it. Notices of the account about its users have no device; its administrators
// see them.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { crossingNotice } from '../../core/notifications/status-episodes.ts';
import { isNotRoutine } from '../base/routine-codes.ts';
import {
  findsRow,
  flagOf,
  jsonObjectOrNull,
  numberOf,
  numberOrNull,
  textOf,
  textOrEmpty,
  textOrNull,
} from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type Infer, shape } from '../base/table.ts';
import { switchesOf } from '../schema/configs.ts';
import { notifications } from '../schema/notifications.ts';
import { lastEventNo, type NumberSpan, readSlice, slicesOfNumbers, tableOf } from '../slices/slices.ts';

const ruleEvents = shape({
  eventNo: numberOf,
  accountID: textOf,
  deviceNo: numberOf,
  deviceID: textOf,
  notifyEmail: textOf,
  statusCode: numberOf,
  timestampMs: numberOf,
  receivedMs: numberOf,
  geozoneID: textOf,
  commandID: textOrNull,
  crossing: (row) =>
    crossingNotice(
      { statusCode: numberOf(row, 'status_code'), attributes: jsonObjectOrNull(row, 'attributes') },
      // Null without a geozone.
      textOrNull(row, 'switches') === null ? null : switchesOf(row, 'switches'),
    ),
});

/** An event that rules may have to notify of. */
export interface RuleEventRow extends Infer<typeof ruleEvents> {
  /** The slice that it is in. */
  readonly sliceNo: number;
}

/** Cursor of the notifier; or of a device whose events are decided apart. */
export interface Cursor {
  /** Null: of all others. */
  readonly deviceNo: number | null;
  /** Decided up to this event number. */
  readonly eventNo: number;
}

export interface Progress {
  /** Of the devices that are not decided apart. */
  readonly decidedNo: number;
  readonly apart: readonly (Cursor & { readonly deviceNo: number })[];
  /** The newest event number. */
  readonly newestNo: number;
}

const cursorName = (deviceNo: number | null): string =>
  deviceNo === null ? 'notifier' : `device ${deviceNo}`;

/** Position of the notifier, and the newest one possible. */
export async function readProgress(db: Database): Promise<Progress> {
  const rows = await db.read(sql`SELECT name, event_no FROM notifier_cursor ORDER BY name`);
  let decidedNo = 0;
  const apart: (Cursor & { readonly deviceNo: number })[] = [];
  for (const row of rows) {
    const [name, eventNo] = [textOf(row, 'name'), numberOf(row, 'event_no')];
    if (name === cursorName(null)) decidedNo = eventNo;
    else apart.push({ deviceNo: Number(name.slice(name.indexOf(' ') + 1)), eventNo });
  }
  return { decidedNo, apart, newestNo: await lastEventNo(db) };
}

export interface EventPage {
  /** Those of deleted devices are left out. */
  readonly events: readonly RuleEventRow[];
  /** Number up to which the span was read. */
  readonly upTo: number;
}

/** Which devices; absent: all. */
interface EventSpan extends NumberSpan {
  readonly limit: number;
  readonly only?: number;
  readonly without?: readonly number[];
}

function isOfSpan({ after, upTo, only, without = [] }: EventSpan): Statement {
  const numbers = sql`event_no > ${after} AND event_no <= ${upTo} AND ${isNotRoutine}`;
  if (only !== undefined) return sql`${numbers} AND device_no = ${only}`;
  return without.length === 0 ? numbers : sql`${numbers} AND device_no NOT IN (${valueList(without)})`;
}

/** Events of the span that are not routine, in the order of their numbers: of the first slice that has some. */
export async function eventsAfter(db: Database, span: EventSpan): Promise<EventPage> {
  const slices = await slicesOfNumbers(db, span);
  for (const [at, { sliceNo, table }] of slices.entries()) {
    const rows = await readSlice(
      db,
      sliceNo,
      sql`SELECT e.event_no, d.account_id, e.device_no, d.device_id, d.notify_email, e.status_code, e.timestamp_ms,
          e.received_ms, e.geozone_id, e.command_id, e.attributes, z.switches
        FROM (SELECT * FROM ${table} WHERE ${isOfSpan(span)}
          ORDER BY event_no LIMIT ${span.limit}) e LEFT JOIN devices d ON d.device_no = e.device_no
          LEFT JOIN geozones z ON z.account_id = d.account_id AND z.geozone_id = e.geozone_id
        ORDER BY e.event_no`,
    );
    const last = rows.at(-1);
    if (last === undefined) continue;
    const known = rows.filter((row) => textOrNull(row, 'account_id') !== null);
    const events = known.map((row) => ({ ...ruleEvents.toRecord(row), sliceNo }));
    if (rows.length >= span.limit) return { events, upTo: numberOf(last, 'event_no') };
    // The slices after it are looked through the next time.
    return { events, upTo: Math.min(span.upTo, (slices[at + 1]?.firstNo ?? Number.POSITIVE_INFINITY) - 1) };
  }
  return { events: [], upTo: span.upTo };
}

/** Condition: no other process has moved the cursor meanwhile. */
export function isUndecidedAfter({ deviceNo, eventNo }: Cursor): Statement {
  return sql`EXISTS (SELECT 1 FROM notifier_cursor WHERE name = ${cursorName(deviceNo)} AND event_no = ${eventNo})`;
}

/** Condition: the cursor is at one of these. */
const isOneOf = (cursors: readonly Cursor[]): Statement =>
  cursors.reduce(
    (one, { deviceNo, eventNo }) => sql`${one} OR (name = ${cursorName(deviceNo)} AND event_no = ${eventNo})`,
    sql`1 = 0`,
  );

/**
 * Moves the cursor; the last result changes 0 rows when another process moved it, or one of those released.
 * @param released devices that are decided with the others again from here on, all at once.
 */
export function moveCursor(
  { deviceNo, eventNo }: Cursor,
  to: number,
  { released, onlyIf }: { readonly released: readonly Cursor[]; readonly onlyIf: Statement },
): readonly Statement[] {
  const move = sql`UPDATE notifier_cursor SET event_no = ${to}
    WHERE name = ${cursorName(deviceNo)} AND event_no = ${eventNo}`;
  if (released.length === 0) return [move];
  const names = valueList(released.map((one) => cursorName(one.deviceNo)));
  return [
    sql`DELETE FROM notifier_cursor WHERE (${isOneOf(released)}) AND ${onlyIf}`,
    sql`${move} AND NOT EXISTS (SELECT 1 FROM notifier_cursor r WHERE r.name IN (${names}))`,
  ];
}

/** From this number on events of the device are decided apart. */
export function decideApart({ deviceNo, eventNo }: Cursor, onlyIf: Statement): Statement {
  return sql`INSERT INTO notifier_cursor (name, event_no)
    SELECT ${cursorName(deviceNo)}, CAST(${eventNo} AS BIGINT) WHERE ${onlyIf} ON CONFLICT (name) DO NOTHING`;
}

/** Puts an event into the inbox, once. */
export function insertNotification(
  { eventNo, sliceNo }: Pick<RuleEventRow, 'eventNo' | 'sliceNo'>,
  { isLate, onlyIf }: { readonly isLate: boolean; readonly onlyIf: Statement },
): Statement {
  return sql`
    INSERT INTO notifications (account_id, device_no, event_no, status_code, timestamp_ms, received_ms, latitude,
      longitude, geozone_id, command_id, command_state, is_late)
    SELECT d.account_id, e.device_no, e.event_no, e.status_code, e.timestamp_ms, e.received_ms, e.latitude,
      e.longitude, e.geozone_id, e.command_id, e.command_state, CAST(${isLate ? 1 : 0} AS INTEGER)
    FROM ${tableOf(sliceNo)} e JOIN devices d ON d.device_no = e.device_no
    WHERE e.event_no = ${eventNo} AND ${onlyIf}
    ON CONFLICT (event_no) DO NOTHING`;
}

/** The reader, and the part to read. */
export interface InboxQuery {
  readonly scope: Scope;
  readonly userID: string;
  /** Null: every device that the scope shows. */
  readonly deviceNo: number | null;
  readonly isUnviewedOnly: boolean;
  /** Numbers below this one. */
  readonly before: number;
  readonly limit: number;
}

/** Condition on `notifications n` and its device `d`: a visible device, or a notice to administrators. */
function isShown(scope: Scope, userID: string): Statement {
  return sql`((${visible(scope)}) OR (n.device_no = 0 AND EXISTS (SELECT 1 FROM users a
    WHERE a.account_id = ${scope.accountID} AND a.user_id = ${userID} AND a.role = 'admin')))`;
}

/** Condition that the user has viewed `notifications n`. */
function isViewed(accountID: string, userID: string): Statement {
  return sql`(n.notification_no <= (SELECT u.viewed_up_to FROM users u
      WHERE u.account_id = ${accountID} AND u.user_id = ${userID})
    OR EXISTS (SELECT 1 FROM notification_views v WHERE v.account_id = ${accountID}
      AND v.user_id = ${userID} AND v.notification_no = n.notification_no))`;
}

/** The entry of a row of `notifications` with its device, which an entry about a user has not, and its alarm. */
export const entryColumns = {
  ...notifications.columns,
  deviceID: textOrEmpty,
  deviceName: (row: Row) => textOrNull(row, 'display_name') || textOrEmpty(row, 'device_id'),
  userID: (row: Row) => textOrEmpty(row, 'about_user'),
  alarmNo: numberOrNull,
} as const;

const inboxEntries = shape({ ...entryColumns, isViewed: flagOf });
export type NotificationRow = Infer<typeof inboxEntries>;

/** A page of the inbox, newest first. */
export function listNotifications(db: Database, query: InboxQuery): Promise<readonly NotificationRow[]> {
  const { scope, userID, deviceNo, before, limit } = query;
  const { accountID } = scope;
  const none = sql``;
  const ofDevice = deviceNo === null ? none : sql` AND n.device_no = ${deviceNo}`;
  const unviewed = query.isUnviewedOnly ? sql` AND NOT ${isViewed(accountID, userID)}` : none;
  return inboxEntries.all(
    db,
  )(sql`SELECT n.*, d.device_id, d.display_name, l.alarm_no, CASE WHEN ${isViewed(accountID, userID)} THEN 1 ELSE 0 END AS is_viewed
    FROM notifications n LEFT JOIN devices d ON d.device_no = n.device_no
      LEFT JOIN alarm_events l ON l.event_no = n.event_no
    WHERE n.account_id = ${accountID} AND ${isShown(scope, userID)} AND n.notification_no < ${before}${ofDevice}${unviewed}
    ORDER BY n.notification_no DESC LIMIT ${limit}`);
}

/** True when the caller may see that notification. */
export async function isVisibleNotification(
  db: Database,
  { scope, userID }: Pick<InboxQuery, 'scope' | 'userID'>,
  notificationNo: number,
): Promise<boolean> {
  return findsRow(db)(sql`SELECT 1 FROM notifications n LEFT JOIN devices d ON d.device_no = n.device_no
      WHERE n.account_id = ${scope.accountID} AND n.notification_no = ${notificationNo} AND ${isShown(scope, userID)}`);
}

interface Viewer {
  readonly accountID: string;
  readonly userID: string;
}

/** Condition that the user has not viewed it yet. */
export function isUnviewed({ accountID, userID }: Viewer, notificationNo: number): Statement {
  return sql`EXISTS (SELECT 1 FROM notifications n WHERE n.account_id = ${accountID}
    AND n.notification_no = ${notificationNo} AND NOT ${isViewed(accountID, userID)})`;
}

/** Marks one as viewed by the user. */
export function viewOne(viewer: Viewer, notificationNo: number): Statement {
  return sql`
    INSERT INTO notification_views (account_id, user_id, notification_no)
    SELECT u.account_id, u.user_id, CAST(${notificationNo} AS BIGINT) FROM users u
    WHERE u.account_id = ${viewer.accountID} AND u.user_id = ${viewer.userID}
      AND ${isUnviewed(viewer, notificationNo)}
    ON CONFLICT (account_id, user_id, notification_no) DO NOTHING`;
}

const newestOf = (accountID: string): Statement =>
  sql`(SELECT COALESCE(MAX(notification_no), 0) FROM notifications WHERE account_id = ${accountID})`;

/** Condition that the user has something left to view. */
export function hasUnviewed({ accountID, userID }: Viewer): Statement {
  return sql`EXISTS (SELECT 1 FROM users u WHERE u.account_id = ${accountID} AND u.user_id = ${userID}
    AND u.viewed_up_to < ${newestOf(accountID)})`;
}

/** Marks all notifications as viewed by the user. */
export function viewAll(viewer: Viewer): readonly Statement[] {
  const { accountID, userID } = viewer;
  return [
    sql`UPDATE users SET viewed_up_to = ${newestOf(accountID)}
      WHERE account_id = ${accountID} AND user_id = ${userID} AND ${hasUnviewed(viewer)}`,
    sql`DELETE FROM notification_views WHERE account_id = ${accountID} AND user_id = ${userID}
      AND notification_no <= (SELECT u.viewed_up_to FROM users u
        WHERE u.account_id = ${accountID} AND u.user_id = ${userID})`,
  ];
}
