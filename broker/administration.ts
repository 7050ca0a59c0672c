// What an operator does at the broker's own machine: create an account with its first administrator, create a device,
// issue its secret. Nothing here has a default password; a secret is returned once and kept only as a hash.
import { AppError } from '../src/core/errors.ts';
import { isId } from '../src/core/ids.ts';
import type { Clock, Database, Entropy } from '../src/ports.ts';
import { type Passwords, passwordLeast, passwordMost } from './core/password.ts';
import { issueDeviceSecret } from './device-secret.ts';
import { accountExists, insertAccount, insertUser, type UserKey } from './store/accounts.ts';
import { type DeviceKey, findDevice, insertDevice } from './store/devices.ts';

export interface AdministrationPorts {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly passwords: Passwords;
}

function needIds(ids: Readonly<Record<string, string>>): void {
  for (const [name, id] of Object.entries(ids)) {
    if (isId(id)) continue;
    throw new AppError('usage', `${name} ${JSON.stringify(id)} is no id: 1 to 64 of A-Z a-z 0-9 _ -`);
  }
}

/**
 * Creates an account with its first administrator.
 * @param password of 12 to 256 characters.
 * @throws AppError `conflict` when there is such an account, `usage` for a bad id or password.
 */
export async function createAccount(
  ports: AdministrationPorts,
  account: UserKey & { readonly password: string },
): Promise<void> {
  const { accountID, userID, password } = account;
  needIds({ accountID, userID });
  if (password.length < passwordLeast || password.length > passwordMost) {
    throw new AppError('usage', `the password must have ${passwordLeast} to ${passwordMost} characters`);
  }
  if (await accountExists(ports.db, accountID)) {
    throw new AppError('conflict', `there is an account ${accountID} already`, {
      hint: 'Choose another id.',
    });
  }
  const passwordHash = await ports.passwords.hash(password);
  const createdS = Math.floor(ports.clock.utcMs() / 1000);
  const [inserted] = await ports.db.write([
    insertAccount({ accountID, displayName: accountID, createdS }),
    insertUser({ accountID, userID, passwordHash, role: 'admin', createdS }),
  ]);
  if (inserted?.changes !== 1)
    throw new AppError('conflict', `account ${accountID} was created at the same time`);
}

/** A password for a first administrator: 144 random bits as text. */
export function generatePassword(entropy: Entropy): string {
  return Buffer.from(entropy.bytes(18)).toString('base64url');
}

/**
 * Creates a device and issues its secret.
 * @returns the secret, which cannot be read again.
 * @throws AppError `not_found` for an unknown account, `conflict` when there is such a device, `usage` for a bad id.
 */
export async function createDevice(ports: AdministrationPorts, key: DeviceKey): Promise<string> {
  needIds({ accountID: key.accountID, deviceID: key.deviceID });
  if (!(await accountExists(ports.db, key.accountID))) {
    throw new AppError('not_found', `there is no account ${key.accountID}`, {
      hint: 'Create it with: fleetward-broker account create',
    });
  }
  if ((await findDevice(ports.db, key)) !== null) {
    throw new AppError('conflict', `account ${key.accountID} has a device ${key.deviceID} already`, {
      hint: 'Issue a new secret with: fleetward-broker device secret',
    });
  }
  const createdS = Math.floor(ports.clock.utcMs() / 1000);
  const fields = { description: `Device ${key.deviceID}`, displayName: key.deviceID };
  await ports.db.write(insertDevice(key, { createdS, fields }));
  return issueDeviceSecret(ports.db, ports.entropy, ports.clock, key);
}
