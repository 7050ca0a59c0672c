// The cryptography of enrolment over node:crypto: scrypt, Ed25519 (RFC 8032), X25519 (RFC 7748), HKDF-SHA-256 (RFC
// 5869), AES-256-GCM. Keys of an exchange are used once. Untrusted input never throws.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
  scrypt,
  sign,
  verify,
} from 'node:crypto';
import {
  type EnrolmentCrypto,
  type EnrolmentRequest,
  sealContextOf,
  transcriptOf,
} from '../core/wire/enrolment.ts';
import type { Entropy } from '../ports.ts';

/** 16 MiB and some 50 ms for each guess at a captured exchange; twenty times that on a small vehicle computer. */
const scryptCost = { N: 2 ** 14, r: 8, p: 1 } as const;
const keyBytes = 32;
const tagBytes = 16;
const ivBytes = 12;

type Curve = 'Ed25519' | 'X25519';

/** Prefix of the 32 raw bytes of a private key in PKCS #8 (RFC 8410 section 7). */
const pkcs8Heads: Readonly<Record<Curve, string>> = {
  Ed25519: '302e020100300506032b657004220420',
  X25519: '302e020100300506032b656e04220420',
};

const decode = (text: string): Buffer => Buffer.from(text, 'base64url');
const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

function privateKeyOf(curve: Curve, raw: Uint8Array): KeyObject {
  const key = Buffer.concat([Buffer.from(pkcs8Heads[curve], 'hex'), raw]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

/** @throws Error when it is not 32 bytes. */
function publicKeyOf(curve: Curve, text: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: curve, x: text }, format: 'jwk' });
}

/** The raw public key of a private one, base64url. */
function publicPart(key: KeyObject): string {
  return createPublicKey(key).export({ format: 'jwk' }).x ?? '';
}

interface Sealing {
  readonly privateKey: KeyObject;
  /** Of the other side. */
  readonly publicKey: string;
  readonly verifier: string;
  readonly context: Uint8Array;
}

/**
 * Key and IV of one answer. Both sides derive the same: from their X25519 secret, the verifier of the code, which
 * is secret, and every transmitted byte. The IV is never used twice because the key is not.
 * @throws Error when the other side's key is invalid, or one of small order.
 */
function sealingOf({ privateKey, publicKey, verifier, context }: Sealing) {
  const shared = diffieHellman({ privateKey, publicKey: publicKeyOf('X25519', publicKey) });
  const info = createHash('sha256').update(context).digest();
  const bytes = Buffer.from(hkdfSync('sha256', shared, decode(verifier), info, keyBytes + ivBytes));
  return { key: bytes.subarray(0, keyBytes), iv: bytes.subarray(keyBytes), info };
}

/** Asked for a code that is not there, with the same work. */
function isSigned(verifier: string, { proof, ...said }: EnrolmentRequest): boolean {
  try {
    return verify(null, transcriptOf(said), publicKeyOf('Ed25519', verifier), decode(proof));
  } catch {
    return false;
  }
}

function deriveSeed(password: string, salt: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, keyBytes, scryptCost, (fault, seed) =>
      fault === null ? resolve(seed) : reject(fault),
    );
  });
}

/** @param entropy where the keys of an exchange come from. */
export function createEnrolmentCrypto(entropy: Entropy): EnrolmentCrypto {
  const createExchangeKey = () => {
    const raw = entropy.bytes(keyBytes);
    return { privateKey: encode(raw), publicKey: publicPart(privateKeyOf('X25519', raw)) };
  };
  const unknownKey = publicPart(privateKeyOf('Ed25519', entropy.bytes(keyBytes)));
  return {
    async deriveCodeKey({ codeID, secret }) {
      const seed = await deriveSeed(secret, `fleetward-enrolment-1\n${codeID}`);
      return { seed, verifier: publicPart(privateKeyOf('Ed25519', seed)) };
    },
    createExchangeKey,
    sign: (seed, transcript) => encode(sign(null, transcript, privateKeyOf('Ed25519', seed))),
    verify: (verifier, request) => isSigned(verifier ?? unknownKey, request) && verifier !== null,
    seal({ verifier, request }, plain) {
      const own = createExchangeKey();
      const privateKey = privateKeyOf('X25519', decode(own.privateKey));
      const context = sealContextOf(request, own.publicKey);
      try {
        const { key, iv, info } = sealingOf({ privateKey, publicKey: request.deviceKey, verifier, context });
        const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(info);
        const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
        return { brokerKey: own.publicKey, sealed: encode(sealed) };
      } catch {
        return null;
      }
    },
    open({ verifier, privateKey, request }, { brokerKey, sealed }) {
      const bytes = decode(sealed);
      if (bytes.length < tagBytes) return null;
      try {
        const own = privateKeyOf('X25519', decode(privateKey));
        const context = sealContextOf(request, brokerKey);
        const sealing = { privateKey: own, publicKey: brokerKey, verifier, context };
        const { key, iv, info } = sealingOf(sealing);
        const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes }).setAAD(info);
        decipher.setAuthTag(bytes.subarray(-tagBytes));
        return new Uint8Array(
          Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]),
        );
      } catch {
        return null;
      }
    },
    digest: (bytes) => createHash('sha256').update(bytes).digest('hex'),
  };
}
