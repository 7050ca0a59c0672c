// A private key in a file that only its owner can read, made at the first start. An existing file is never overwritten: what
// others trust would be lost with it. A file that others may read is refused.
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { AppError, codeOf, messageOf } from '../../../src/core/errors.ts';

interface KeyFile<Key> {
  readonly path: string;
  /** In messages: `signing key file`. */
  readonly name: string;
  /** Setting that names the file. */
  readonly flag: string;
  /** What to do about a key that others may have read. */
  readonly remedy: string;
  /** A new private key as PEM. */
  generate(): string;
  /** @throws Error when the PEM is no key of the kind. */
  parse(privatePem: string): Key;
}

/** Makes the file; false when there is one. */
function create({ path, generate }: KeyFile<unknown>): boolean {
  try {
    // `wx`: of two programs that start at once, one makes the key and the other reads it.
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, generate());
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/**
 * The key of the file; a new one (mode 0600) when there is no file.
 * @throws AppError `config` when the file is readable by others, holds no such key, or cannot be read or made.
 */
export function openKeyFile<Key>(file: KeyFile<Key>): { readonly key: Key; readonly isNew: boolean } {
  const { path, name, flag, remedy } = file;
  try {
    const isNew = create(file);
    const mode = statSync(path).mode & 0o777;
    if ((mode & 0o077) !== 0) {
      throw new AppError('config', `${name} ${path} has mode ${mode.toString(8)}: others may read it`, {
        hint: `Run: chmod 600 ${path}. If others may have read it, ${remedy}.`,
      });
    }
    return { key: file.parse(readFileSync(path, 'utf8')), isNew };
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('config', `${name} ${path}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: `Give another file with ${flag}, or correct the rights on its folder.`,
    });
  }
}
