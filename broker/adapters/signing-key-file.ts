// The private key that signs commands, in a file that only its owner can read. Whoever holds it can ask every vehicle
// to cut its engine: a file that others may read is refused, and an existing one is never overwritten.
import { createPrivateKey } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { generateSigningKey, publicKeyOf } from '../../src/adapters/signing.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';

export interface SigningKey {
  readonly privatePem: string;
  /** Raw public key in base64, as agents pin it. */
  readonly publicKey: string;
  /** True when the file was made by this call. */
  readonly isNew: boolean;
}

function fault(path: string, thrown: unknown): AppError {
  return new AppError('config', `signing key file ${path}: ${messageOf(thrown)}`, {
    cause: thrown,
    hint: 'Give another file with --signing-key-file, or correct the rights on its folder.',
  });
}

function create(path: string): SigningKey | null {
  const { privatePem, publicKey } = generateSigningKey();
  try {
    // `wx`: of two programs that start at once, one makes the key and the other reads it.
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, privatePem);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return { privatePem, publicKey, isNew: true };
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') return null;
    throw fault(path, thrown);
  }
}

function read(path: string): SigningKey {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0) {
    throw new AppError(
      'config',
      `signing key file ${path} has mode ${mode.toString(8)}: others may read it`,
      {
        hint: `Run: chmod 600 ${path}. If others may have read it, make a new key and enrol the agents again.`,
      },
    );
  }
  const privatePem = readFileSync(path, 'utf8');
  if (createPrivateKey(privatePem).asymmetricKeyType !== 'ed25519') throw new Error('is no Ed25519 key');
  return { privatePem, publicKey: publicKeyOf(privatePem), isNew: false };
}

/**
 * The key of the file; a new one (mode 0600) when there is no file.
 * @throws AppError `config` when the file is readable by others, is no Ed25519 key, or cannot be read or made.
 */
export function loadSigningKey(path: string): SigningKey {
  const made = create(path);
  if (made !== null) return made;
  try {
    return read(path);
  } catch (thrown) {
    throw thrown instanceof AppError ? thrown : fault(path, thrown);
  }
}
