// The token of the service's operator, in a file that only its owner can read. It can delete every account:
// a file that others may read is refused, and an existing one is never overwritten.
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { AppError, codeOf, messageOf } from '../../../src/core/errors.ts';
import type { Entropy } from '../../../src/ports.ts';
import { operatorNames } from '../../api/operator/admin-caller.ts';
import { formatToken, parseToken, tokenRandomBytes } from '../../core/accounts/session.ts';
import { hashToken } from '../../store/accounts/sessions.ts';

function fault(path: string, thrown: unknown): AppError {
  const isThere = codeOf(thrown) === 'EEXIST';
  return new AppError('config', `admin token file ${path}: ${messageOf(thrown)}`, {
    cause: thrown,
    hint: isThere
      ? 'Remove it first to replace the token, then start the broker again.'
      : 'Make it with: fleetward-broker admin-token --file <path>',
  });
}

/** Makes the file with a new token, mode 0600. @throws AppError `config` when there is one, or it cannot be made. */
export function createAdminToken(path: string, entropy: Entropy): void {
  const token = formatToken(operatorNames, entropy.bytes(tokenRandomBytes));
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
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
export function loadAdminTokenHash(path: string): string {
  let line: string;
  let mode: number;
  try {
    mode = statSync(path).mode & 0o777;
    line = readFileSync(path, 'utf8').split(/\r?\n/, 1)[0] ?? '';
  } catch (thrown) {
    throw fault(path, thrown);
  }
  if ((mode & 0o077) !== 0) {
    throw new AppError(
      'config',
      `admin token file ${path} has mode ${mode.toString(8)}: others may read it`,
      {
        hint: 'If others may have read it, make a new one; else run chmod 600 on it.',
      },
    );
  }
  if (parseToken(line) === null) {
    throw new AppError('config', `admin token file ${path} holds no token in its first line`, {
      hint: 'Make it with: fleetward-broker admin-token --file <path>',
    });
  }
  return hashToken(line);
}
