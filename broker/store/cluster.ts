// Statements of the bridges behind a RabbitMQ cluster: logins that RabbitMQ asked about, turns, and the state of connections
// that no bridge holds itself.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { DeviceRef } from '../core/device-key.ts';
import { type DeviceKey } from '../core/device-key.ts';
import { followed } from './base/live-topic.ts';
import { findsRow, flagOf, numberOf, textOf } from './base/row.ts';
import { type Infer, shape } from './base/table.ts';
import { isOpen } from './devices/credentials.ts';

/** The device with that name, or null; its account may be suspended. */
export async function findDeviceRef(db: Database, key: DeviceKey): Promise<DeviceRef | null> {
  const { accountID, deviceID } = key;
  const [row] = await db.read(sql`
    SELECT device_no FROM devices WHERE account_id = ${accountID} AND device_id = ${deviceID}`);
  return row === undefined ? null : { accountID, deviceID, deviceNo: numberOf(row, 'device_no') };
}

export interface ClusterLogin {
  readonly device: DeviceRef;
  /** SHA-256 of the secret it logged in with, in hexadecimal. */
  readonly secretHash: string;
  readonly atMs: number;
}

/** Records the newest login of a device. Must be durable before the login is answered, as open logins are checked later. */
export function recordClusterLogin({ device, secretHash, atMs }: ClusterLogin): Statement {
  const { deviceNo, accountID, deviceID } = device;
  return sql`INSERT INTO cluster_logins (device_no, account_id, device_id, secret_hash, at_ms)
    VALUES (${deviceNo}, ${accountID}, ${deviceID}, ${secretHash}, ${atMs})
    ON CONFLICT (device_no) DO UPDATE SET secret_hash = excluded.secret_hash, at_ms = excluded.at_ms`;
}

const staleLogins = shape({
  deviceNo: numberOf,
  accountID: textOf,
  deviceID: textOf,
  atMs: numberOf,
  /** Why it is no longer valid. */
  fault: textOf,
});
export type StaleLogin = Infer<typeof staleLogins>;

/** Logins that would be refused now; at most `limit`, in the order of device numbers after `afterNo`. */
export function staleClusterLogins(
  db: Database,
  at: { readonly nowS: number; readonly limit: number; readonly afterNo?: number },
): Promise<readonly StaleLogin[]> {
  return staleLogins.all(db)(sql`
    SELECT l.device_no, l.account_id, l.device_id, l.at_ms,
      CASE WHEN d.device_no IS NULL THEN 'the device was deleted'
        WHEN d.secret_hash IS NULL OR d.secret_hash <> l.secret_hash THEN 'its secret was replaced'
        ELSE 'its account is suspended, over or being deleted' END AS fault
    FROM cluster_logins l
    LEFT JOIN devices d ON d.device_no = l.device_no
    LEFT JOIN accounts a ON a.account_id = d.account_id
    WHERE l.device_no > ${at.afterNo ?? 0}
      AND (d.device_no IS NULL OR d.secret_hash IS NULL OR d.secret_hash <> l.secret_hash
        OR a.account_id IS NULL OR NOT (${isOpen(at.nowS)}))
    ORDER BY l.device_no LIMIT ${at.limit}`);
}

/** Removes this login after its connection was closed; a newer login stays. */
export function forgetClusterLogin({ deviceNo, atMs }: Pick<StaleLogin, 'deviceNo' | 'atMs'>): Statement {
  return sql`DELETE FROM cluster_logins WHERE device_no = ${deviceNo} AND at_ms = ${atMs}`;
}

/** The next turn of that name, higher than all before. */
export async function nextClusterTurn(db: Database, name: string): Promise<number> {
  const results = await db.write([
    sql`INSERT INTO cluster_turns (name, turn) VALUES (${name}, 1)
      ON CONFLICT (name) DO UPDATE SET turn = cluster_turns.turn + 1 RETURNING turn`,
  ]);
  const row = results[0]?.rows[0];
  if (row === undefined) throw new Error(`no turn of ${name} was given`);
  return numberOf(row, 'turn');
}

/** True when a later turn has reported on the device: a report of this turn is refused. */
export async function isTurnOver(db: Database, deviceNo: number, turn: number): Promise<boolean> {
  return findsRow(db)(sql`
    SELECT 1 AS later FROM devices WHERE device_no = ${deviceNo} AND session_turn > ${turn}`);
}

const presences = shape({
  deviceNo: numberOf,
  accountID: textOf,
  deviceID: textOf,
  isOnline: flagOf,
  helloMs: numberOf,
});
/** The recorded state of a device's connection. */
export type PresenceRecord = Infer<typeof presences>;

const presence = sql`SELECT device_no, account_id, device_id, is_online, hello_ms FROM devices`;

export function findPresence(db: Database, deviceNo: number): Promise<PresenceRecord | null> {
  return presences.first(db)(sql`${presence} WHERE device_no = ${deviceNo}`);
}

/** Devices that count as online without a sign of life since; in the order of their numbers, after `afterNo`. */
export function silentDevices(
  db: Database,
  of: { readonly afterNo: number; readonly sinceMs: number; readonly limit: number },
): Promise<readonly PresenceRecord[]> {
  return presences.all(db)(sql`${presence}
    WHERE device_no > ${of.afterNo} AND is_online = 1 AND heartbeat_ms < ${of.sinceMs}
      AND presence_cause <> 'message'
    ORDER BY device_no LIMIT ${of.limit}`);
}

/** Devices that count as offline with a sign of life since, and that sent a hello before; in the order of their numbers. */
export function recentDevices(
  db: Database,
  of: { readonly afterNo: number; readonly sinceMs: number; readonly limit: number },
): Promise<readonly PresenceRecord[]> {
  return presences.all(db)(sql`${presence}
    WHERE device_no > ${of.afterNo} AND is_online = 0 AND hello_ms > 0 AND heartbeat_ms > ${of.sinceMs}
    ORDER BY device_no LIMIT ${of.limit}`);
}

/** Corrects the recorded state, unless the device reported by itself meanwhile. */
export function correctPresence({ deviceNo, isOnline, helloMs }: PresenceRecord, atMs: number): Statement {
  return followed(sql`UPDATE devices SET is_online = ${isOnline ? 0 : 1}, presence_ms = ${atMs},
      presence_cause = 'cluster', linked_ms = ${atMs}
    WHERE device_no = ${deviceNo} AND hello_ms = ${helloMs} AND is_online = ${isOnline ? 1 : 0}
      AND presence_cause <> 'message'`);
}
