// Hashes and signatures of owner keys and passkeys over node:crypto: SHA-256, Ed25519 (RFC 8032), ECDSA over P-256 with SHA-256 in DER (ES256).
// Untrusted input never throws.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { PersonsCrypto } from '../core/persons/webauthn.ts';

function isGood(makeKey: () => KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
  try {
    const key = makeKey();
    return verify(key.asymmetricKeyType === 'ec' ? 'sha256' : null, data, key, signature);
  } catch {
    return false;
  }
}

const passkeysMost = 256;
const passkeys = new Map<string, KeyObject>();

/** Key of an SPKI in base64url. Kept by its whole text, for parsing it costs more than verifying a signature. Throws on any other text. */
function passkeyOf(publicKey: string): KeyObject {
  const made = passkeys.get(publicKey);
  if (made !== undefined) return made;
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), format: 'der', type: 'spki' });
  if (passkeys.size >= passkeysMost) passkeys.clear();
  passkeys.set(publicKey, key);
  return key;
}

export const personsCrypto: PersonsCrypto = {
  sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
  verifyPasskey: (publicKey, data, signature) => isGood(() => passkeyOf(publicKey), data, signature),
  verifyOwner: (publicKey, text, signature) => {
    const x = Buffer.from(publicKey, 'base64').toString('base64url');
    const makeKey = () => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return isGood(makeKey, Buffer.from(text), Buffer.from(signature, 'base64url'));
  },
};
