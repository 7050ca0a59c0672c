// Verification of one WebAuthn assertion (W3C Web Authentication Level 2, section 7.2, steps 7 to 21). Pure: hashes and signatures are a port.
// The bytes come from a service that may be hostile: each length is bounded before anything is decoded.
import { type Assertion, decodeAssertion } from '../wire/assertion.ts';
import { parseObject } from '../wire/wire-checks.ts';

/** The cryptography that persons need; see `src/adapters/persons-crypto.ts`. */
export interface PersonsCrypto {
  sha256(bytes: Uint8Array): Uint8Array;
  /** True for a signature of this passkey. @param publicKey SPKI in base64url: P-256 (ES256) or Ed25519. Never throws. */
  verifyPasskey(publicKey: string, data: Uint8Array, signature: Uint8Array): boolean;
  /** True for a signature of this owner key over the text. @param publicKey base64 of 32 bytes. Never throws. */
  verifyOwner(publicKey: string, text: string, signature: string): boolean;
}

export const assertionRefusals = [
  'assertion_form',
  'client_data',
  'type',
  'challenge',
  'origin',
  'cross_origin',
  'rp',
  'user_absent',
  'user_unverified',
  'signature',
] as const;
export type AssertionRefusal = (typeof assertionRefusals)[number];

const base64urlPattern = /^[A-Za-z0-9_-]+$/;

/** Base64url without padding (RFC 4648 section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Null: not base64url without padding, or not the one spelling of its bytes. */
export function decodeBase64url(text: string): Uint8Array | null {
  if (!base64urlPattern.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return encodeBase64url(bytes) === text ? bytes : null;
}

/** What an assertion must be for. */
export interface Expected {
  readonly challenge: Uint8Array;
  readonly rpID: string;
  readonly origins: readonly string[];
  /** SPKI in base64url. */
  readonly publicKey: string;
}

const userPresent = 0x01;
const userVerified = 0x04;
/** Hash of the RP id, flags, counter (section 6.1). */
const authenticatorDataLeast = 37;

function clientDataRefusal(bytes: Uint8Array, expected: Expected): AssertionRefusal | null {
  // Steps 9 and 10: UTF-8 and JSON.
  const client = parseObject(bytes);
  if (client === null) return 'client_data';
  // Step 11.
  if (client['type'] !== 'webauthn.get') return 'type';
  // Step 12.
  if (client['challenge'] !== encodeBase64url(expected.challenge)) return 'challenge';
  // Step 13.
  const { origin, crossOrigin = false, topOrigin } = client;
  if (typeof origin !== 'string' || !expected.origins.includes(origin)) return 'origin';
  // Level 3, section 7.2, steps 14 and 15: no page embeds the console.
  return crossOrigin !== false || topOrigin !== undefined ? 'cross_origin' : null;
}

function authenticatorRefusal(
  bytes: Uint8Array,
  { rpID }: Expected,
  crypto: PersonsCrypto,
): AssertionRefusal | null {
  if (bytes.length < authenticatorDataLeast) return 'assertion_form';
  // Step 15.
  const rpHash = crypto.sha256(new TextEncoder().encode(rpID));
  if (!rpHash.every((byte, index) => byte === bytes[index])) return 'rp';
  // Steps 16 and 17; step 18: no extension is requested, and none is read.
  const flags = bytes[32] ?? 0;
  if ((flags & userPresent) === 0) return 'user_absent';
  return (flags & userVerified) === 0 ? 'user_unverified' : null;
}

/**
 * Checks one assertion. The signature counter (step 21) is not compared: passkeys of several machines answer 0, and boot and counter of the
 * order already refuse a replay.
 */
export function assertionRefusal(
  assertion: Assertion,
  expected: Expected,
  crypto: PersonsCrypto,
): AssertionRefusal | null {
  if (decodeAssertion(assertion) === null) return 'assertion_form';
  // Step 8.
  const clientData = decodeBase64url(assertion.clientData);
  const authenticatorData = decodeBase64url(assertion.authenticatorData);
  const signature = decodeBase64url(assertion.signature);
  if (clientData === null || authenticatorData === null || signature === null) return 'assertion_form';
  const refusal =
    clientDataRefusal(clientData, expected) ?? authenticatorRefusal(authenticatorData, expected, crypto);
  if (refusal !== null) return refusal;
  // Steps 19 and 20.
  const signed = new Uint8Array([...authenticatorData, ...crypto.sha256(clientData)]);
  return crypto.verifyPasskey(expected.publicKey, signed, signature) ? null : 'signature';
}
