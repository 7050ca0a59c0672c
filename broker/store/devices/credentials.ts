// Statements on the credentials of devices. The hash is compared elsewhere; it must never reach an answer or a log.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import { type DeviceKey } from '../../core/device-key.ts';
import { numberOf, numberOrNull, textOrNull } from '../base/row.ts';

/** What MQTT authentication compares with. */
export interface DeviceCredential {
  readonly deviceNo: number;
  readonly secretHash: string | null;
  /** False while the account is suspended, being deleted, or over. */
  readonly isAccountActive: boolean;
  /** How often certificates of the device were revoked. */
  readonly certificateChanges: number;
  /** The operator's limit of its account; null: that of the service. */
  readonly accountEventsPerS: number | null;
}

/** Condition on `accounts a`: its devices and users may connect. */
export const isOpen = (nowS: number): Statement =>
  sql`a.is_active = 1 AND a.deleting_s IS NULL AND (a.expires_s IS NULL OR a.expires_s > ${nowS})`;

const accountState = (nowS: number): Statement => sql`CASE WHEN ${isOpen(nowS)} THEN 1 ELSE 0 END`;

const certificateChanges = sql`COALESCE((SELECT k.changes FROM certificate_cutoffs k
  WHERE k.account_id = d.account_id AND k.device_id = d.device_id), 0) AS certificate_changes`;

/** The credential of a device, or null. */
export async function findCredential(
  db: Database,
  key: DeviceKey,
  nowS: number,
): Promise<DeviceCredential | null> {
  const [row] = await db.read(sql`
    SELECT d.device_no, d.secret_hash, ${accountState(nowS)} AS account_active, a.events_per_s, ${certificateChanges}
    FROM devices d JOIN accounts a ON a.account_id = d.account_id
    WHERE d.account_id = ${key.accountID} AND d.device_id = ${key.deviceID}`);
  if (row === undefined) return null;
  return {
    deviceNo: numberOf(row, 'device_no'),
    secretHash: textOrNull(row, 'secret_hash'),
    isAccountActive: numberOf(row, 'account_active') === 1,
    certificateChanges: numberOf(row, 'certificate_changes'),
    accountEventsPerS: numberOrNull(row, 'events_per_s'),
  };
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
  const rows = await db.read(sql`
    SELECT d.device_no, d.secret_hash, ${accountState(nowS)} AS account_active, a.events_per_s, ${certificateChanges}
    FROM devices d JOIN accounts a ON a.account_id = d.account_id
    WHERE d.device_no IN (${list})`);
  const found = rows.map(
    (row): DeviceCredential => ({
      deviceNo: numberOf(row, 'device_no'),
      secretHash: textOrNull(row, 'secret_hash'),
      isAccountActive: numberOf(row, 'account_active') === 1,
      certificateChanges: numberOf(row, 'certificate_changes'),
      accountEventsPerS: numberOrNull(row, 'events_per_s'),
    }),
  );
  return new Map(found.map((credential) => [credential.deviceNo, credential]));
}
