// The identity in a vehicle's certificate: its common name is exactly `{accountID}/{deviceID}`. Signature and validity are
// checked before, revocation after.

/** What is looked at of a verified certificate. */
export interface CertificateFacts {
  /** Null when it has none, or several. */
  readonly commonName: string | null;
  /** Hexadecimal in small letters, without zeros in front. */
  readonly serial: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Whether a client of a TLS listener shows a certificate of its own. */
export const clientCertPolicies = ['none', 'optional', 'required'] as const;
export type ClientCertPolicy = (typeof clientCertPolicies)[number];

/** A serial number in the one form that is compared. */
export function normalizeSerial(serial: string): string {
  return serial
    .toLowerCase()
    .replaceAll(':', '')
    .replace(/^0+(?=.)/, '');
}

/** What the database holds about a certificate and its device. */
export interface CertificateRecord {
  /** The broker recorded this serial number for this device. */
  readonly isKnown: boolean;
  readonly isRevoked: boolean;
  /** Certificates of the device that are not known and were made before this are worth nothing; 0: none was revoked. */
  readonly cutMs: number;
}

/**
 * Why a certificate no longer speaks for its device, or null. One that the broker did not issue is judged by when it
 * was made: it may come from any authority that the operator trusts.
 */
export function revocationFault(
  { fromMs }: Pick<CertificateFacts, 'fromMs'>,
  { isKnown, isRevoked, cutMs }: CertificateRecord,
): string | null {
  if (isRevoked) return 'its certificate was revoked';
  if (isKnown || fromMs >= cutMs) return null;
  return 'its certificate is older than the last revocation of the device';
}
