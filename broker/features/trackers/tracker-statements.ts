// Statements on trackers of other makers.
import type { Database, Statement } from '../../../src/ports.ts';
import { pointRead, sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { DeviceKey } from '../../core/device-key.ts';
import { findsRow } from '../../store/base/row.ts';
import { visible } from '../../store/base/scope.ts';
import { deviceRef, type Infer, shape } from '../../store/base/table.ts';
import { isOpen } from '../../store/devices/credentials.ts';
import { trackers } from './tracker-tables.ts';

const found = shape({ ...trackers.columns, ...deviceRef });
export type TrackerRow = Infer<typeof found>;

const select = sql`SELECT t.device_no, d.account_id, d.device_id, t.unique_id, t.server_device_id, t.fetched_ms
  FROM trackers t JOIN devices d ON d.device_no = t.device_no`;

/** The tracker of that name, or null. */
export function findTracker(db: Database, scope: Scope, uniqueID: string): Promise<TrackerRow | null> {
  return found.first(db)(
    pointRead(
      sql`${select} WHERE t.account_id = ${scope.accountID} AND t.unique_id = ${uniqueID} AND ${visible(scope)}`,
    ),
  );
}

/** The tracker that a device is, or null. */
export function trackerOf(db: Database, scope: Scope, deviceID: string): Promise<TrackerRow | null> {
  return found.first(db)(sql`${select} WHERE ${visible(scope)} AND d.device_id = ${deviceID}`);
}

/** The phone with that key; null while its account is suspended or over. */
export function findPhone(db: Database, keyHash: string, nowS: number): Promise<TrackerRow | null> {
  return found.first(db)(
    pointRead(sql`${select} JOIN accounts a ON a.account_id = d.account_id
      WHERE t.key_hash = ${keyHash} AND ${isOpen(nowS)}`),
  );
}

/** Some trackers of an account that a server sends, after this device number. */
export function serverTrackers(
  db: Database,
  accountID: string,
  after: { readonly deviceNo: number; readonly limit: number },
): Promise<readonly TrackerRow[]> {
  return found.all(db)(sql`${select} WHERE t.account_id = ${accountID} AND t.server_device_id IS NOT NULL
    AND t.device_no > ${after.deviceNo} ORDER BY t.device_no LIMIT ${after.limit}`);
}

interface NewTracker extends DeviceKey {
  readonly uniqueID: string;
  readonly serverDeviceID: number | null;
  readonly fetchedMs: number;
}

/** Records the tracker of a device that was made for it; none when the device is another's. */
export function insertTracker(tracker: NewTracker): Statement {
  const { accountID, deviceID, uniqueID, serverDeviceID, fetchedMs } = tracker;
  return sql`INSERT INTO trackers (device_no, account_id, unique_id, server_device_id, fetched_ms)
    SELECT device_no, account_id, ${uniqueID}, CAST(${serverDeviceID} AS BIGINT), ${fetchedMs} FROM devices
    WHERE account_id = ${accountID} AND device_id = ${deviceID} AND is_foreign = 1 ON CONFLICT DO NOTHING`;
}

/** After the server's own records were made anew, its devices have other numbers. */
export const setServerDevice = (deviceNo: number, serverDeviceID: number): Statement =>
  sql`UPDATE trackers SET server_device_id = ${serverDeviceID} WHERE device_no = ${deviceNo}`;

export const setKey = (deviceNo: number, keyHash: string): Statement =>
  sql`UPDATE trackers SET key_hash = ${keyHash} WHERE device_no = ${deviceNo}`;

export const setFetched = (deviceNo: number, fetchedMs: number): Statement =>
  sql`UPDATE trackers SET fetched_ms = ${fetchedMs} WHERE device_no = ${deviceNo} AND fetched_ms < ${fetchedMs}`;

/** Whether the account takes trackers that it does not know. */
export const addsTrackers = (db: Database, accountID: string): Promise<boolean> =>
  findsRow(db)(sql`SELECT 1 FROM tracker_accounts WHERE account_id = ${accountID}`);

/** @param sinceS when it was switched on, epoch seconds; null: it is off. */
export const setAddsTrackers = (accountID: string, sinceS: number | null): Statement =>
  sinceS === null
    ? sql`DELETE FROM tracker_accounts WHERE account_id = ${accountID}`
    : sql`INSERT INTO tracker_accounts (account_id, since_s) VALUES (${accountID}, ${sinceS})
        ON CONFLICT (account_id) DO NOTHING`;
