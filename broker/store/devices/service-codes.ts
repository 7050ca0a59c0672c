// Next one-time code of a device. A number is never reused.
import type { Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';

/**
 * Takes the next number of a device. Returns `shown` (the number is one less) and the hash of its secret; no row when it
 * has no secret. The numbers of a new secret restart.
 */
export function allocateServiceNumber(deviceNo: number): Statement {
  return sql`INSERT INTO service_codes (device_no, secret_hash, shown)
    SELECT d.device_no, d.secret_hash, 1 FROM devices d
    WHERE d.device_no = ${deviceNo} AND d.secret_hash IS NOT NULL
    ON CONFLICT (device_no) DO UPDATE SET
      shown = CASE WHEN service_codes.secret_hash = excluded.secret_hash THEN service_codes.shown + 1 ELSE 1 END,
      secret_hash = excluded.secret_hash
    RETURNING shown, secret_hash`;
}
