// The private key that signs commands, in a file that only its owner can read. It can make every vehicle
// cut its engine: a file that others may read is refused, and an existing one is never overwritten.
import { createPrivateKey } from 'node:crypto';
import { generateSigningKey, publicKeyOf } from '../../../src/adapters/signing.ts';
import { openKeyFile } from './key-file.ts';

export interface SigningKey {
  readonly privatePem: string;
  /** Raw public key in base64, as agents pin it. */
  readonly publicKey: string;
  /** True when the file was made by this call. */
  readonly isNew: boolean;
}

function parse(privatePem: string): Omit<SigningKey, 'isNew'> {
  if (createPrivateKey(privatePem).asymmetricKeyType !== 'ed25519') throw new Error('is no Ed25519 key');
  return { privatePem, publicKey: publicKeyOf(privatePem) };
}

/**
 * The key of the file; a new one (mode 0600) when there is no file.
 * @throws AppError `config` when the file is readable by others, is no Ed25519 key, or cannot be read or made.
 */
export function loadSigningKey(path: string): SigningKey {
  const { key, isNew } = openKeyFile({
    path,
    name: 'signing key file',
    flag: '--signing-key-file',
    remedy: 'make a new key and enrol the agents again',
    generate: () => generateSigningKey().privatePem,
    parse,
  });
  return { ...key, isNew };
}
