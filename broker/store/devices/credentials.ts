// Statements on the credentials of devices. The hash is compared elsewhere; it must never reach an answer or a log.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import { type DeviceKey } from '../../core/device-key.ts';
import { flagOf, numberOf, numberOrNull, textOrNull } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';

const credentials = shape({
  deviceNo: numberOf,
  secretHash: textOrNull,
  /** False while the account is suspended, being deleted, or over. */
  isAccountActive: (row) => flagOf(row, 'account_active'),
  /** How often certificates of the device were revoked. */
  certificateChanges: numberOf,
  /** The operator's limit of its account; null: that of the service. */
  accountEventsPerS: (row) => numberOrNull(row, 'events_per_s'),
});
/** What MQTT authentication compares with. */
export type DeviceCredential = Infer<typeof credentials>;

/** Condition on `accounts a`: its devices and users may connect. */
export const isOpen = (nowS: number): Statement =>
  sql`a.is_active = 1 AND a.deleting_s IS NULL AND (a.expires_s IS NULL OR a.expires_s > ${nowS})`;

const selectCredential = (nowS: number): Statement => sql`SELECT d.device_no, d.secret_hash,
    CASE WHEN ${isOpen(nowS)} THEN 1 ELSE 0 END AS account_active, a.events_per_s,
    COALESCE((SELECT k.changes FROM certificate_cutoffs k
      WHERE k.account_id = d.account_id AND k.device_id = d.device_id), 0) AS certificate_changes
  FROM devices d JOIN accounts a ON a.account_id = d.account_id`;

/** The credential of a device, or null; a tracker of another maker has none, whatever secret was issued for it. */
export function findCredential(db: Database, key: DeviceKey, nowS: number): Promise<DeviceCredential | null> {
  return credentials.first(db)(
    sql`${selectCredential(nowS)} WHERE d.account_id = ${key.accountID} AND d.device_id = ${key.deviceID}
      AND d.is_foreign = 0`,
  );
}

/** Devices looked up by one `credentialsOf`. */
export const credentialsMost = 500;

/**
 * Credentials of the devices of these numbers, by number; a deleted one has none.
 * @param deviceNos 1 to `credentialsMost`.
 */
export async function credentialsOf(
  db: Database,
  deviceNos: readonly number[],
  nowS: number,
): Promise<ReadonlyMap<number, DeviceCredential>> {
  // A fixed number of parameters, so that one statement is prepared.
  const list = valueList(
    Array.from({ length: credentialsMost }, (_, at) => deviceNos[at] ?? deviceNos[0] ?? 0),
  );
  const found = await credentials.all(db)(sql`${selectCredential(nowS)} WHERE d.device_no IN (${list})`);
  return new Map(found.map((credential) => [credential.deviceNo, credential]));
}
