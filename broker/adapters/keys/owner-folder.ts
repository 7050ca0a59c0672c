// The owner's folder on a machine that never sees the service: sealed private keys, the document of the owner, and the draft that waits for
// signatures. A key is never overwritten; other files are replaced whole or not at all.
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  scryptSync,
  sign,
} from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError, codeOf, messageOf } from '../../../src/core/errors.ts';
import { needPrivate } from './secret-file.ts';

/** 128 MiB and about half a second for each guess at a passphrase (RFC 7914). */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 } as const;
const keyType = 'fleetward-owner-key-1';
/** Prefix of 32 raw bytes in PKCS #8 (RFC 8410 section 7). */
const pkcs8Head = '302e020100300506032b657004220420';
const seedBytes = 32;
const tagBytes = 16;

const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from(pkcs8Head, 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });

/** The public key of a seed, base64 of 32 bytes. */
function publicOf(seed: Uint8Array): string {
  const { x = '' } = createPublicKey(privateKeyOf(seed)).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
}

function writeNew(file: string, text: string): void {
  const handle = openSync(file, 'wx', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** @throws AppError `conflict` for a file that is there, `storage` for what the disk says. */
function onDisk<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    if (codeOf(thrown) === 'EEXIST')
      throw new AppError('conflict', `${what}: it is there already, and a key is never overwritten`, {
        hint: 'Name another folder or file.',
      });
    throw new AppError('storage', `${what}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: 'Check the rights on the folder and the free space of its disk.',
    });
  }
}

function invalid(file: string, reason: string): AppError {
  return new AppError('invalid_content', `${file} is no key of an owner: ${reason}`, {
    hint: 'Take the file that `owner create` made, or restore it from its paper: `fleetward-broker owner restore`.',
  });
}

/** Makes a sealed key file. @param seed 32 bytes. @returns the public key. */
export function writeOwnerKey(file: string, seed: Uint8Array, passphrase: string): string {
  const publicKey = publicOf(seed);
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const key = scryptSync(passphrase, salt, seedBytes, cost);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(`${keyType}\n${publicKey}`));
  const sealed = Buffer.concat([cipher.update(seed), cipher.final(), cipher.getAuthTag()]);
  const text = { type: keyType, publicKey, salt, iv, sealed };
  const encoded = Object.fromEntries(
    Object.entries(text).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.toString('base64'),
    ]),
  );
  onDisk(`Cannot make the key ${file}`, () => writeNew(file, `${JSON.stringify(encoded, null, 2)}\n`));
  return publicKey;
}

export const newSeed = (): Uint8Array => new Uint8Array(randomBytes(seedBytes));

export interface OpenedKey {
  readonly publicKey: string;
  /** Base64url. */
  sign(text: string): string;
}

/** @throws AppError `invalid_content`, `config` for a file that others can read, `login_failed` for a wrong passphrase. */
export function openOwnerKey(file: string, passphrase: string): OpenedKey {
  const { type, publicKey, salt, iv, sealed } = readJson(file) as Readonly<Record<string, unknown>>;
  if (type !== keyType || typeof publicKey !== 'string') throw invalid(file, 'it has another type');
  if (typeof salt !== 'string' || typeof iv !== 'string' || typeof sealed !== 'string')
    throw invalid(file, 'a member is missing');
  onDisk(`Cannot read ${file}`, () => needPrivate('the key', file));
  const bytes = Buffer.from(sealed, 'base64');
  const ivBytes = Buffer.from(iv, 'base64');
  if (bytes.length !== seedBytes + tagBytes || ivBytes.length !== 12)
    throw invalid(file, 'a member has another length');
  const key = scryptSync(passphrase, Buffer.from(salt, 'base64'), seedBytes, cost);
  const decipher = createDecipheriv('aes-256-gcm', key, ivBytes, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(`${keyType}\n${publicKey}`)).setAuthTag(bytes.subarray(seedBytes));
  try {
    const privateKey = privateKeyOf(
      Buffer.concat([decipher.update(bytes.subarray(0, seedBytes)), decipher.final()]),
    );
    return { publicKey, sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url') };
  } catch (thrown) {
    throw new AppError('login_failed', `The passphrase does not open ${file}, or the file was changed`, {
      cause: thrown,
      hint: 'Nothing was signed. Without the passphrase restore the key from its paper: `fleetward-broker owner restore`.',
    });
  }
}

/** @throws AppError `not_found`, `invalid_content`, `storage`. */
export function readJson(file: string): object {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value !== 'object' || value === null) throw new SyntaxError('it is no JSON object');
    return value;
  } catch (thrown) {
    const code =
      codeOf(thrown) === 'ENOENT'
        ? 'not_found'
        : thrown instanceof SyntaxError
          ? 'invalid_content'
          : 'storage';
    throw new AppError(code, `Cannot read ${file}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: 'Name the folder of the owner with --dir; `fleetward-broker owner create` makes one.',
    });
  }
}

export function openOwnerFolder(path: string) {
  const fileOf = (name: string): string => join(path, name);
  return {
    fileOf,
    /** For the owner alone. */
    make: (): void =>
      void onDisk(`Cannot make ${path}`, () => mkdirSync(path, { recursive: true, mode: 0o700 })),
    /** @throws AppError `conflict` when it is there. */
    addFile: (name: string, value: object): void =>
      onDisk(`Cannot make ${fileOf(name)}`, () => writeNew(fileOf(name), `${JSON.stringify(value)}\n`)),
    replace(name: string, value: object): void {
      const fresh = fileOf(`.${name}.new`);
      onDisk(`Cannot write ${fileOf(name)}`, () => {
        rmSync(fresh, { force: true });
        writeNew(fresh, `${JSON.stringify(value)}\n`);
        renameSync(fresh, fileOf(name));
      });
    },
    remove: (name: string): void =>
      onDisk(`Cannot remove ${fileOf(name)}`, () => rmSync(fileOf(name), { force: true })),
    read: (name: string): object => readJson(fileOf(name)),
    /** Null: it is not there. */
    find(name: string): object | null {
      try {
        return readJson(fileOf(name));
      } catch (thrown) {
        if (thrown instanceof AppError && thrown.code === 'not_found') return null;
        throw thrown;
      }
    },
  };
}
