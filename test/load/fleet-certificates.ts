// Certificates of the devices of a bench, all with one key: what is measured is the handshake, and keys cost the client alone.
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  certificateSerial,
  issuerOf,
  signCertificate,
} from '../../broker/adapters/keys/certificate-writer.ts';
import { deviceOf, type FleetCertificates, fleetAccount } from './fleet-orders.ts';

const hourMs = 3600_000;

/** For devices 0 to `count - 1`. */
export function makeFleetCertificates(
  authority: { readonly ca: string; readonly caKey: string },
  count: number,
): FleetCertificates {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = issuerOf(authority.ca, createPrivateKey(authority.caKey));
  const key = createPublicKey(privateKey);
  const nowMs = Date.now();
  const certs = Array.from({ length: count }, (_unused, index) =>
    signCertificate(issuer, {
      serial: certificateSerial(randomBytes(16)),
      commonName: `${fleetAccount}/${deviceOf(index)}`,
      key,
      fromMs: nowMs - hourMs,
      untilMs: nowMs + 24 * hourMs,
      purpose: { kind: 'client' },
    }),
  );
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), certs };
}
