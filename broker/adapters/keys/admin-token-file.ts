// The token of the service's operator, in a file that only its owner can read. It can delete every account:
// a file that others may read is refused, and an existing one is never overwritten.
import { closeSync, fchmodSync, fchownSync, fsyncSync, openSync, statSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError, codeOf, messageOf } from '../../../src/core/errors.ts';
import type { Entropy } from '../../../src/ports.ts';
import { operatorNames } from '../../api/operator/admin-caller.ts';
import { formatToken, parseToken, tokenRandomBytes } from '../../core/accounts/session.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import { readSecretLine } from './secret-file.ts';

function fault(path: string, thrown: unknown): AppError {
  const isThere = codeOf(thrown) === 'EEXIST';
  return new AppError('config', `admin token file ${path}: ${messageOf(thrown)}`, {
    cause: thrown,
    hint: isThere
      ? 'Remove it first to replace the token, then start the broker again.'
      : 'Make it with: fleetward-broker admin-token --file <path>',
  });
}

/** Root makes it for the service: its folder says which group that is (`/etc/fleetward-broker`), or which user. */
function giveToService(file: number, path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(resolve(path)));
  fchownSync(file, uid, gid);
  if (uid === 0 && gid !== 0) fchmodSync(file, 0o640);
}

/** Makes the file with a new token, mode 0600; by root with that of its folder. @throws AppError `config` when there is one, or it cannot be made. */
export function createAdminToken(path: string, entropy: Entropy): void {
  const token = formatToken(operatorNames, entropy.bytes(tokenRandomBytes));
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      giveToService(file, path);
      writeSync(file, `${token}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (thrown) {
    throw fault(path, thrown);
  }
}

/**
 * SHA-256 of the token in the file; the token itself is not kept.
 * @throws AppError `config` when others may read the file, it holds no token, or it cannot be read.
 */
export function loadAdminTokenHash(setting: string, path: string): string {
  const hint = 'Make it with: fleetward-broker admin-token --file <path>';
  const line = readSecretLine(setting, path, hint);
  if (parseToken(line) !== null) return hashToken(line);
  throw new AppError('config', `${setting} ${path} holds no token in its first line`, { hint });
}
