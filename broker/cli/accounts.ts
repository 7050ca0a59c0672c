// `fleetward-broker account` and `admin-token`: accounts and the operator's own token, on the machine itself.
import { readFileSync } from 'node:fs';
import { createSystemEntropy } from '../../src/adapters/system.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { createAccount, generatePassword } from '../accounts/administration.ts';
import { createAdminToken } from '../adapters/keys/admin-token-file.ts';
import { mapNamePattern } from '../ports/map-folder.ts';
import { runAccountCommand } from './account-commands.ts';
import type { AccountAction, Flags } from './command-line.ts';
import { needNoSignOfFleet } from './known-fleet.ts';
import { administer, configOf, needDatabase, print } from './program.ts';

/** The first line of a file; `-` is standard input. */
function readPassword(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8').split(/\r?\n/, 1)[0] ?? '';
  } catch (thrown) {
    throw new AppError('usage', `Cannot read the password file ${path}: ${messageOf(thrown)}`);
  }
}

/** @throws AppError `usage` for a text that is no name of a map file. */
function baseMapOf(flags: Flags): string | undefined {
  const name = flags['base-map'];
  if (typeof name !== 'string') return undefined;
  if (mapNamePattern.test(name)) return `file:${name}`;
  throw new AppError(
    'usage',
    `--base-map ${JSON.stringify(name)} is no name of a map file, such as toronto.pmtiles`,
  );
}

export async function runAccountCreate(flags: Flags): Promise<void> {
  const accountID = String(flags['accountID']);
  const userID = String(flags['admin']);
  const file = flags['password-file'];
  const config = configOf(flags).value;
  needNoSignOfFleet(config, flags);
  await administer(config, async (ports) => {
    const generated = file === undefined ? generatePassword(ports.entropy) : undefined;
    const password = generated ?? readPassword(String(file));
    await createAccount(ports, { accountID, userID, password, fields: { baseMap: baseMapOf(flags) } });
    const shown = generated === undefined ? {} : { password: generated };
    const line = generated === undefined ? '' : `\npassword: ${generated}   (shown once)`;
    print(flags, {
      json: { accountID, userID, ...shown },
      text: `account ${accountID}, administrator ${userID}${line}`,
    });
  });
}

export async function runAccount(flags: Flags, action: AccountAction): Promise<void> {
  const config = configOf(flags).value;
  needDatabase(config);
  await administer(config, async (ports) => {
    const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
    print(flags, await runAccountCommand({ ...ports, onProgress }, action, flags));
  });
}

export function runAdminToken(flags: Flags): void {
  const file = String(flags['file']);
  createAdminToken(file, createSystemEntropy());
  print(flags, {
    json: { file },
    text: `Wrote the token to ${file}\nStart the broker with --admin-token-file ${file}`,
  });
}
