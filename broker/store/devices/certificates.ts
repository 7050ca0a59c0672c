// Statements on certificates of devices: issued ones, and those that are revoked. A revocation ends live sessions too; it is
// final.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { CertificateRecord } from '../../core/accounts/client-certificate.ts';
import { type DeviceKey } from '../../core/device-key.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';

const always = sql`1 = 1`;
const isDevice = ({ accountID, deviceID }: DeviceKey): Statement =>
  sql`d.account_id = ${accountID} AND d.device_id = ${deviceID}`;

/** Revokes all certificates of the devices that the condition on `devices d` selects. */
const cutOff = (condition: Statement, cutMs: number): Statement => sql`
  INSERT INTO certificate_cutoffs (account_id, device_id, cut_ms, changes)
  SELECT d.account_id, d.device_id, CAST(${cutMs} AS BIGINT), 1 FROM devices d WHERE ${condition}
  ON CONFLICT (account_id, device_id) DO UPDATE SET changes = certificate_cutoffs.changes + 1,
    cut_ms = CASE WHEN excluded.cut_ms > certificate_cutoffs.cut_ms THEN excluded.cut_ms
      ELSE certificate_cutoffs.cut_ms END`;

export interface NewCertificate {
  /** As `normalizeSerial` gives it. */
  readonly serial: string;
  readonly atMs: number;
  readonly untilMs: number;
}

/** Records a certificate that was issued to a device. */
export function recordCertificate(
  key: DeviceKey,
  { serial, atMs, untilMs }: NewCertificate,
  onlyIf: Statement = always,
): Statement {
  return sql`INSERT INTO device_certificates (device_no, serial, issued_ms, until_ms)
    SELECT d.device_no, ${serial}, CAST(${atMs} AS BIGINT), CAST(${untilMs} AS BIGINT) FROM devices d
    WHERE ${isDevice(key)} AND ${onlyIf}
    ON CONFLICT (device_no, serial) DO NOTHING`;
}

/** The device has connected, or has credentials. */
const wasInUse = sql`(d.secret_hash IS NOT NULL OR d.hello_ms > 0 OR EXISTS (
    SELECT 1 FROM device_certificates c WHERE c.device_no = d.device_no))`;

export interface RevokeAll {
  readonly atMs: number;
  /** A new secret: the first one of a device that never connected keeps certificates that were made beforehand. */
  readonly isForSecret: boolean;
  readonly onlyIf?: Statement;
}

/** Revokes all certificates of the device so far, recorded or not. Comes before its secret is replaced. */
export function revokeAllCertificates(
  key: DeviceKey,
  { atMs, isForSecret, onlyIf = always }: RevokeAll,
): readonly Statement[] {
  const isMeant = isForSecret ? wasInUse : always;
  return [
    cutOff(sql`${isDevice(key)} AND ${isMeant} AND ${onlyIf}`, atMs),
    sql`UPDATE device_certificates SET revoked_ms = ${atMs} WHERE revoked_ms IS NULL AND ${onlyIf}
      AND device_no IN (SELECT d.device_no FROM devices d WHERE ${isDevice(key)})`,
  ];
}

/** For a device that is about to be deleted: its certificates must not be valid for a new device of that name. */
export function cutOffCertificates(deviceNo: number, atMs: number): Statement {
  return cutOff(sql`d.device_no = ${deviceNo}`, atMs);
}

/** Revokes one certificate, recorded or not. The last result changes 0 rows when it was revoked already. */
export function revokeCertificate(
  key: DeviceKey,
  { serial, atMs, untilMs }: NewCertificate,
): readonly Statement[] {
  return [
    recordCertificate(key, { serial, atMs, untilMs }),
    cutOff(isDevice(key), 0),
    sql`UPDATE device_certificates SET revoked_ms = ${atMs} WHERE revoked_ms IS NULL AND serial = ${serial}
      AND device_no IN (SELECT d.device_no FROM devices d WHERE ${isDevice(key)})`,
  ];
}

const certificateStates = shape({
  isKnown: (row) => textOrNull(row, 'serial') !== null,
  isRevoked: (row) => numberOrNull(row, 'revoked_ms') !== null,
  cutMs: numberOf,
  changes: numberOf,
});

/** The recorded state of a device's certificate, and how many revocations the device has. */
export function findCertificate(
  db: Database,
  deviceNo: number,
  serial: string,
): Promise<(CertificateRecord & { readonly changes: number }) | null> {
  return certificateStates.first(db)(sql`
    SELECT c.serial, c.revoked_ms, COALESCE(k.cut_ms, 0) AS cut_ms, COALESCE(k.changes, 0) AS changes
    FROM devices d
    LEFT JOIN device_certificates c ON c.device_no = d.device_no AND c.serial = ${serial}
    LEFT JOIN certificate_cutoffs k ON k.account_id = d.account_id AND k.device_id = d.device_id
    WHERE d.device_no = ${deviceNo}`);
}

const listedCertificates = shape({
  accountID: textOf,
  deviceID: textOf,
  serial: textOf,
  issuedMs: numberOf,
  untilMs: numberOf,
  revokedMs: numberOrNull,
});
export type ListedCertificate = Infer<typeof listedCertificates>;

const listed = sql`SELECT d.account_id, d.device_id, c.serial, c.issued_ms, c.until_ms, c.revoked_ms
  FROM device_certificates c JOIN devices d ON d.device_no = c.device_no`;

/** Recorded certificates in the order of expiry. @param limit 1 to 100,000. */
export function listCertificates(db: Database, limit: number): Promise<readonly ListedCertificate[]> {
  return listedCertificates.all(db)(sql`${listed} ORDER BY c.until_ms, c.serial LIMIT ${limit}`);
}

/** Those with this serial number; several only with different authorities. */
export function findBySerial(db: Database, serial: string): Promise<readonly ListedCertificate[]> {
  return listedCertificates.all(db)(sql`${listed} WHERE c.serial = ${serial} LIMIT 10`);
}
