// Authenticates a device by its secret, a certificate that TLS has verified, or both: everything that was given
// must be right. The credentials are kept with the session, which ends when they are revoked.
import type { DeviceAddress } from '../../src/core/wire/topics.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { type CertificateFacts, revocationFault } from '../core/accounts/client-certificate.ts';
import type { DeviceRef } from '../core/device-key.ts';
import type { Proof } from '../ports/mqtt-server.ts';
import { findCertificate } from '../store/devices/certificates.ts';
import { findCredential } from '../store/devices/credentials.ts';
import { isSecret } from '../store/devices/device-secret.ts';

export interface Login {
  readonly device: DeviceRef;
  /** Null: without a secret. */
  readonly secretHash: string | null;
  /** Null: without a certificate. `changes`: revocations of the device until then. */
  readonly certificate: { readonly untilMs: number; readonly changes: number } | null;
}

interface LoginPorts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** The certificate's part of the login; null when it is revoked or expired. */
async function checkCertificate(
  { db, log }: LoginPorts,
  device: DeviceRef,
  certificate: CertificateFacts,
): Promise<Login['certificate']> {
  const record = await findCertificate(db, device.deviceNo, certificate.serial);
  const fault = record === null ? 'the device was deleted' : revocationFault(certificate, record);
  if (record !== null && fault === null) return { untilMs: certificate.untilMs, changes: record.changes };
  const { accountID, deviceID } = device;
  log.warn('certificate_refused', { accountID, deviceID, serial: certificate.serial, reason: fault });
  return null;
}

/**
 * The login when all of the proof is right and the account active; null otherwise. The work is the same for an unknown
 * device. Names in the certificate were compared before.
 */
export async function authenticateDevice(
  ports: LoginPorts,
  address: DeviceAddress,
  { secret, certificate }: Proof,
): Promise<Login | null> {
  if (secret === null && certificate === null) return null;
  const credential = await findCredential(ports.db, address, Math.floor(ports.clock.utcMs() / 1000));
  const isRight = secret === null || isSecret(secret, credential?.secretHash ?? null);
  if (credential === null || !isRight || !credential.isAccountActive) return null;
  const device: DeviceRef = { ...address, deviceNo: credential.deviceNo };
  const secretHash = secret === null ? null : credential.secretHash;
  if (certificate === null) return { device, secretHash, certificate: null };
  const accepted = await checkCertificate(ports, device, certificate);
  return accepted === null ? null : { device, secretHash, certificate: accepted };
}
