// How every TLS listener of the broker speaks: 1.3 where the client can, else 1.2 with forward secrecy and authenticated
// encryption only, and nothing older. What is known of a client's certificate is read here, and kept in few bytes.
import { constants } from 'node:crypto';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { type CertificateFacts, normalizeSerial } from '../../core/accounts/client-certificate.ts';
import { type TlsListening } from '../../ports/tls.ts';

const handshakeMs = 10_000;

/** RFC 9325 section 4.2, and the suites of TLS 1.3. */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  // Keys and signatures of 112 bits at least, on both sides (RSA from 2048, no SHA-1).
  '@SECLEVEL=2',
].join(':');

/** For `tls.createServer`, `https.createServer` and `setSecureContext`. Session tickets are on, their keys new at each call. */
export function serverOptions({ material, clientCert }: Pick<TlsListening, 'material' | 'clientCert'>) {
  const { cert, key, clientCa } = material;
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ciphers,
    ecdhCurve: 'X25519:P-256:P-384',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    handshakeTimeout: handshakeMs,
    // The operator's own only: without this Node would trust the public authorities.
    ...(clientCa === null ? {} : { ca: clientCa }),
    requestCert: clientCert !== 'none',
    rejectUnauthorized: clientCert === 'required',
  } as const satisfies TlsOptions;
}

/** What the client's certificate says; null when it showed none. */
export function peerCertificate(socket: TLSSocket): CertificateFacts | null {
  const certificate = socket.getPeerCertificate();
  // Node gives an empty object when there is none.
  if (certificate === null || certificate.subject === undefined) return null;
  const { subject, serialNumber, valid_from: from, valid_to: until } = certificate;
  // A list when there are several, whatever the types say.
  const commonName: unknown = subject.CN;
  return {
    commonName: typeof commonName === 'string' ? commonName : null,
    serial: normalizeSerial(serialNumber),
    fromMs: Date.parse(from),
    untilMs: Date.parse(until),
  };
}
