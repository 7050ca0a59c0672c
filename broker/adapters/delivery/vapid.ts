// Who we are to push services (VAPID, RFC 8292): an ES256 key in a file that only its owner can read, and a short-lived
// token for each push service. Browsers subscribe with the public key, so an existing file is never overwritten: every
// subscription would be lost.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { openKeyFile } from '../keys/key-file.ts';

export interface VapidKey {
  readonly privateKey: KeyObject;
  /** Base64url of the uncompressed point. */
  readonly publicKey: string;
}

/** The key pair of a private PEM. @throws Error when it is no P-256 key. */
export function vapidKeyOf(privatePem: string): VapidKey {
  const privateKey = createPrivateKey(privatePem);
  const { crv, x = '', y = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (crv !== 'P-256') throw new Error('is no P-256 key');
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { privateKey, publicKey: point.toString('base64url') };
}

/** A new private key as PEM. */
export function generateVapidKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/**
 * The key of the file; a new one (mode 0600) when there is no file.
 * @throws AppError `config` when the file is readable by others, is no P-256 key, or cannot be read or made.
 */
export function loadVapidKey(path: string): VapidKey {
  return openKeyFile({
    path,
    name: 'push key file',
    flag: '--vapid-key-file',
    remedy: 'delete it: browsers must then subscribe again',
    generate: generateVapidKey,
    parse: vapidKeyOf,
  }).key;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** How long a token is good; push services take at most 24 hours. */
const tokenS = 12 * 3600;

/** The `authorization` header for the push service of an endpoint. */
export function vapidHeader(
  key: VapidKey,
  {
    endpoint,
    contact,
    nowS,
  }: { readonly endpoint: string; readonly contact: string | null; readonly nowS: number },
): string {
  const claims = {
    aud: new URL(endpoint).origin,
    exp: nowS + tokenS,
    ...(contact === null ? {} : { sub: contact }),
  };
  const signed = `${base64url({ typ: 'JWT', alg: 'ES256' })}.${base64url(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${signed}.${signature.toString('base64url')}, k=${key.publicKey}`;
}
