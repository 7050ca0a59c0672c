// Who we are to push services (VAPID, RFC 8292): an ES256 key in a file that only its owner can read, and a short-lived
// token for each push service. Browsers subscribe with the public key, so an existing file is never overwritten: every
// subscription would be lost.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { AppError, messageOf } from '../../src/core/errors.ts';

export interface VapidKey {
  readonly privateKey: KeyObject;
  /** Base64url of the uncompressed point. */
  readonly publicKey: string;
}

function fault(path: string, thrown: unknown): AppError {
  return new AppError('config', `push key file ${path}: ${messageOf(thrown)}`, {
    cause: thrown,
    hint: 'Give another file with --vapid-key-file, or correct the rights on its folder.',
  });
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

/** Makes the file unless there is one. */
function create(path: string): void {
  try {
    // `wx`: of two programs that start at once, one makes the key and the other reads it.
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, generateVapidKey());
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') return;
    throw thrown;
  }
}

/**
 * The key of the file; a new one (mode 0600) when there is no file.
 * @throws AppError `config` when the file is readable by others, is no P-256 key, or cannot be read or made.
 */
export function loadVapidKey(path: string): VapidKey {
  try {
    create(path);
    const mode = statSync(path).mode & 0o777;
    if ((mode & 0o077) !== 0) {
      throw new AppError('config', `push key file ${path} has mode ${mode.toString(8)}: others may read it`, {
        hint: `Run: chmod 600 ${path}. If others may have read it, delete it: browsers must then subscribe again.`,
      });
    }
    return vapidKeyOf(readFileSync(path, 'utf8'));
  } catch (thrown) {
    throw thrown instanceof AppError ? thrown : fault(path, thrown);
  }
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
