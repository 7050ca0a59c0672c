// A software authenticator after W3C Web Authentication Level 2 (sections 5.8.1 and 6.3.3), and owner keys: what a person's machine and the
// owner's produce. Written from the specification; it shares no code with the verification.
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { canonicalJson } from '../../../src/core/canonical-json.ts';
import type { Assertion } from '../../../src/core/wire/assertion.ts';

export interface Authenticator {
  readonly credential: string;
  /** SPKI in base64url. */
  readonly publicKey: string;
  assert(challenge: Uint8Array, with_?: AssertionOptions): Assertion;
}

export interface AssertionOptions {
  readonly rpID?: string;
  readonly flags?: number;
  readonly client?: Readonly<Record<string, unknown>>;
  /** In place of the client data. */
  readonly clientText?: string;
  readonly authenticatorData?: Uint8Array;
}

const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest();

export const testDomain = { rpID: 'fleet.example.com', origins: ['https://fleet.example.com'] } as const;

export function createAuthenticator(algorithm: 'ES256' | 'Ed25519'): Authenticator {
  const { publicKey, privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('ed25519');
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const credential = base64url(sha256(spki));
  return {
    credential,
    publicKey: base64url(spki),
    assert(challenge, { rpID = testDomain.rpID, flags = 0x05, client = {}, ...raw } = {}) {
      const clientText =
        raw.clientText ??
        JSON.stringify({
          type: 'webauthn.get',
          challenge: base64url(challenge),
          origin: testDomain.origins[0],
          crossOrigin: false,
          ...client,
        });
      const data =
        raw.authenticatorData ??
        Buffer.concat([sha256(rpID), Buffer.from([flags]), Buffer.from([0, 0, 0, 7])]);
      const signed = Buffer.concat([data, sha256(clientText)]);
      const signature = sign(algorithm === 'ES256' ? 'sha256' : null, signed, privateKey);
      return {
        credential,
        clientData: base64url(clientText),
        authenticatorData: base64url(data),
        signature: base64url(signature),
      };
    },
  };
}

export interface TestOwnerKey {
  /** Base64 of 32 bytes. */
  readonly publicKey: string;
  /** Signature over a value as `kind`, base64url. */
  sign(kind: 'set' | 'list', value: object): string;
}

/** @param privateKey made when absent. */
export function createOwnerKey(
  privateKey: KeyObject = createPrivateKey(
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ),
): TestOwnerKey {
  const x = privateKey.export({ format: 'jwk' })['x'] ?? '';
  return {
    publicKey: Buffer.from(x, 'base64url').toString('base64'),
    sign: (kind, value) =>
      base64url(sign(null, Buffer.from(`fleetward-owner-${kind}-1\n${canonicalJson(value)}`), privateKey)),
  };
}

/** The id that a vehicle pins. */
export const pinOf = (set: object): string =>
  base64url(sha256(`fleetward-owner-set-1\n${canonicalJson(set)}`));
