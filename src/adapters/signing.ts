// Ed25519 signatures as JSON Web Signatures in compact form (RFC 7515 section 3.1, RFC 8037), over node:crypto. The
// header names the key and the type; a token of another type never verifies, so no message can pass for another kind.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import type { Signer, Verifier } from '../ports.ts';

/** Longest message accepted; a command is far smaller. */
const messageMost = 16 * 1024;

const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url');

/** First 16 hexadecimal digits of SHA-256 over the public key's DER form. */
function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, 16);
}

/** A new private key as PKCS#8 PEM, and its public part as one line of base64 (raw 32 bytes). */
export function generateSigningKey(): { readonly privatePem: string; readonly publicKey: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { privatePem, publicKey: publicKeyOf(privatePem) };
}

/** The raw public key of a private or public PEM as base64, as agents pin it. Throws a plain Error when it is neither. */
export function publicKeyOf(pem: string): string {
  const jwk = createPublicKey(pem).export({ format: 'jwk' });
  return Buffer.from(jwk.x ?? '', 'base64url').toString('base64');
}

export function createSigner(privatePem: string): Signer {
  const privateKey = createPrivateKey(privatePem);
  const keyId = keyIdOf(createPublicKey(privateKey));
  return {
    sign(payload, type) {
      const header = base64url(JSON.stringify({ alg: 'EdDSA', typ: type, kid: keyId }));
      const signed = `${header}.${base64url(payload)}`;
      return `${signed}.${base64url(sign(null, Buffer.from(signed), privateKey))}`;
    },
  };
}

/**
 * @param publicKey base64 of the 32 raw bytes. Throws a plain Error when it is not that.
 * @param tokenMost Longest token that is read, in characters.
 */
export function createVerifier(publicKey: string, tokenMost = messageMost): Verifier {
  const raw = Buffer.from(publicKey, 'base64');
  if (raw.length !== 32) throw new Error('a public key is 32 bytes in base64');
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    format: 'jwk',
  });
  const expectedHeader = (type: string): string =>
    base64url(JSON.stringify({ alg: 'EdDSA', typ: type, kid: keyIdOf(key) }));
  return {
    verify(token, type) {
      if (token.length > tokenMost) return null;
      const [header, payload, signature, ...rest] = token.split('.');
      if (payload === undefined || signature === undefined || rest.length > 0) return null;
      // The header must match exactly: no algorithm or key is ever taken from a token.
      if (header !== expectedHeader(type)) return null;
      const good = verify(
        null,
        Buffer.from(`${header}.${payload}`),
        key,
        Buffer.from(signature, 'base64url'),
      );
      return good ? new Uint8Array(Buffer.from(payload, 'base64url')) : null;
    },
  };
}
