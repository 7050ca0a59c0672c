// A certificate request (PKCS #10, RFC 2986) of a vehicle: a new P-256 key and its signature. The private key stays
// with the caller; the name in the request is a placeholder, the authority writes the real one.
import { generateKeyPairSync, sign } from 'node:crypto';
import { derContext, derTags, encodeBits, encodeCommonName, encodeDer, encodeOid } from '../core/der.ts';

/** ecdsa-with-SHA256. */
const signatureAlgorithm = encodeDer(derTags.sequence, encodeOid('1.2.840.10045.4.3.2'));

export interface NewCertificateRequest {
  /** PKCS #8 PEM. */
  readonly keyPem: string;
  /** DER. */
  readonly request: Uint8Array;
}

/** A new key and the request that it signed. */
export function createCertificateRequest(): NewCertificateRequest {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const version = encodeDer(derTags.integer, Uint8Array.of(0));
  const subject = encodeCommonName('fleetward-agent');
  const spki = new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }));
  const info = encodeDer(derTags.sequence, version, subject, spki, encodeDer(derContext(0)));
  const signature = new Uint8Array(sign('sha256', info, privateKey));
  return {
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    request: encodeDer(derTags.sequence, info, signatureAlgorithm, encodeBits(signature)),
  };
}
