// Statements on what a device logs in with. The hash is compared elsewhere; it must never reach an answer or a log.
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { DeviceKey } from './devices.ts';
import { numberOf, textOf, textOrNull } from './row.ts';

/** What MQTT authentication compares with. */
export interface DeviceCredential {
  readonly deviceNo: number;
  readonly secretHash: string | null;
  readonly isAccountActive: boolean;
}

/** The credential of a device, or null. */
export async function findCredential(db: Database, key: DeviceKey): Promise<DeviceCredential | null> {
  const [row] = await db.read(sql`
    SELECT d.device_no, d.secret_hash, a.is_active FROM devices d JOIN accounts a ON a.account_id = d.account_id
    WHERE d.account_id = ${key.accountID} AND d.device_id = ${key.deviceID}`);
  if (row === undefined) return null;
  return {
    deviceNo: numberOf(row, 'device_no'),
    secretHash: textOrNull(row, 'secret_hash'),
    isAccountActive: numberOf(row, 'is_active') === 1,
  };
}

/** A device whose secret was replaced, or whose account is suspended. */
export interface ChangedCredential extends DeviceKey {
  readonly secretHash: string | null;
  readonly isAccountActive: boolean;
}

/** Devices whose secret was issued at or after `sinceS`, and all devices of suspended accounts. */
export async function changedCredentials(
  db: Database,
  sinceS: number,
): Promise<readonly ChangedCredential[]> {
  const rows = await db.read(sql`
    SELECT d.account_id, d.device_id, d.secret_hash, a.is_active
    FROM devices d JOIN accounts a ON a.account_id = d.account_id
    WHERE a.is_active = 0 OR d.secret_issued_s >= ${sinceS}`);
  return rows.map((row) => ({
    accountID: textOf(row, 'account_id'),
    deviceID: textOf(row, 'device_id'),
    secretHash: textOrNull(row, 'secret_hash'),
    isAccountActive: numberOf(row, 'is_active') === 1,
  }));
}
