// Files with one secret: a password, a token, a passphrase, a key. It must never take a file that any user of the machine can
// read. The rule on rights is the one of PostgreSQL for its keys: the owner alone, or root's file with a group
// (`root:fleetward-broker`, 0640).
import { readFileSync, type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { AppError, codeOf, messageOf } from '../../../src/core/errors.ts';

const rootUid = 0;

/** Whether more users than those meant can read a file with these rights. */
const isOpen = ({ mode, uid }: Stats): boolean => (mode & (uid === rootUid ? 0o037 : 0o077)) !== 0;

/** What lets this user read the file, as commands; undefined when the fault is another. */
export function rightsHint(file: string, thrown: unknown): string | undefined {
  if (codeOf(thrown) !== 'EACCES') return undefined;
  const { username } = userInfo();
  return `The user ${username} must be able to read it: chown root:${username} ${file} && chmod 640 ${file}; every folder
  above it needs the right x for that user.`;
}

/** Refuses a file that more users than its owner, and the group of one of root's, can read. @throws AppError `config`, or Error when there is none. */
export function needPrivate(setting: string, file: string): void {
  const found = statSync(file);
  if (!isOpen(found)) return;
  const mode = (found.mode & 0o777).toString(8);
  throw new AppError('config', `${setting} ${file} can be read by others (mode ${mode})`, {
    hint: `Run: chmod 600 ${file} (root's own with a group: chmod 640). If others may have read it, make a new one.`,
  });
}

/**
 * The first line of a secret file, without its line end.
 * @param setting names it in messages: `oidc.clientSecretFile`.
 * @param remedy what to do where the rights are not the cause.
 * @throws AppError `config` when others can read the file, it cannot be read, or its first line is empty.
 */
export function readSecretLine(
  setting: string,
  file: string,
  remedy = 'Correct the setting, or write the secret into the first line of the file.',
): string {
  try {
    needPrivate(setting, file);
    const line = readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? '';
    if (line === '') throw new Error('its first line is empty');
    return line;
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('config', `${setting} ${file}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: rightsHint(file, thrown) ?? remedy,
    });
  }
}
