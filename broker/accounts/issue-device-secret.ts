// Replaces the secret of a device, for the operator at the command line; the audit entry stands in the same batch.
import { AppError } from '../../src/core/errors.ts';
import type { Clock, Database, Entropy } from '../../src/ports.ts';
import { type DeviceKey } from '../core/device-key.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import { revokeAllCertificates } from '../store/devices/certificates.ts';
import { isThere } from '../store/devices/device-limit.ts';
import { hashSecret, makeSecret } from '../store/devices/device-secret.ts';
import { replaceSecret } from '../store/devices/devices.ts';

/**
 * Replaces the secret of a device for the operator at the command line. The old secret, live connections that used it and the
 * device's certificates end within seconds.
 * @returns the secret, base64url; it cannot be read again.
 * @throws AppError `not_found` when there is no such device.
 */
export async function issueDeviceSecret(
  db: Database,
  entropy: Entropy,
  clock: Clock,
  key: DeviceKey,
): Promise<string> {
  const secret = makeSecret(entropy);
  const { accountID, deviceID } = key;
  const atMs = Math.round(clock.utcMs());
  const entry = { accountID, atMs, actor: 'operator', source: '', object: deviceID, detail: {} };
  const results = await db.write([
    insertAudit({ ...entry, action: 'device.issuesecret' }, isThere(key)),
    ...revokeAllCertificates(key, { atMs, isForSecret: true }),
    replaceSecret({ ...key, secretHash: hashSecret(secret), atS: Math.floor(atMs / 1000) }),
  ]);
  if (results.at(-1)?.changes !== 1)
    throw new AppError('not_found', `There is no device ${deviceID} in account ${accountID}`);
  return secret;
}
