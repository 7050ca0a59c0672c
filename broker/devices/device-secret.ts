// The secret with which a device proves who it is: 256 random bits, shown once, kept only as SHA-256 (a random secret
// of that size needs no slow hash). A new one replaces the old one at once, also on live connections.
import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../src/core/errors.ts';
import type { Clock, Database, Entropy } from '../../src/ports.ts';
import { insertAudit } from '../store/audit.ts';
import { revokeAllCertificates } from '../store/certificates.ts';
import { isThere } from '../store/device-limit.ts';
import { type DeviceKey, replaceSecret } from '../store/devices.ts';

const secretBytes = 32;

/** SHA-256 in hexadecimal, as the database keeps it. */
export function hashSecret(secret: Uint8Array | string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares in constant time, with the same work when there is nothing to compare with. */
export function isSecret(presented: Uint8Array, storedHash: string | null): boolean {
  const given = Buffer.from(hashSecret(presented), 'hex');
  const stored = Buffer.from(storedHash ?? '', 'hex');
  const isKnown = stored.length === given.length;
  return timingSafeEqual(given, isKnown ? stored : Buffer.alloc(given.length)) && isKnown;
}

/** A new secret, base64url; it is shown once, and `hashSecret` of it kept. */
export function makeSecret(entropy: Entropy): string {
  return Buffer.from(entropy.bytes(secretBytes)).toString('base64url');
}

/**
 * Makes a new secret for a device, for the operator at the command line; the old one stops working, and a live connection
 * that used it ends within seconds, and so do its certificates.
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
    throw new AppError('not_found', `there is no device ${deviceID} in account ${accountID}`);
  return secret;
}
