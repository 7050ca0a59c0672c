// Assertions of passkeys on the wire. Each length is bounded here; what they prove is checked in `src/core/persons/`. Pure.
import { isText } from './wire-checks.ts';

/** Members of an AuthenticatorAssertionResponse and the id of its credential, in base64url without padding. */
export interface Assertion {
  readonly credential: string;
  readonly clientData: string;
  readonly authenticatorData: string;
  readonly signature: string;
}

/** Maximum length of each member, in characters. An ES256 signature in DER has at most 72 bytes. */
export const assertionLimits = {
  credential: 340,
  clientData: 1400,
  authenticatorData: 700,
  signature: 96,
} as const satisfies Record<keyof Assertion, number>;

/** Assertions of one order. */
export const assertionsMost = 4;

/** Null: not an assertion, or a member is too long. */
export function decodeAssertion(value: unknown): Assertion | null {
  if (typeof value !== 'object' || value === null) return null;
  const { credential, clientData, authenticatorData, signature } = value as Readonly<Record<string, unknown>>;
  if (!isText(credential, assertionLimits.credential) || !isText(clientData, assertionLimits.clientData))
    return null;
  if (!isText(authenticatorData, assertionLimits.authenticatorData)) return null;
  if (!isText(signature, assertionLimits.signature)) return null;
  return { credential, clientData, authenticatorData, signature };
}
