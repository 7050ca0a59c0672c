// Operator actions on accounts and devices, at the broker's machine or through the operator's own listener. There are no
// default passwords; a secret is returned once and kept only as a hash. Every change is in the service's own audit log (the
// chain '') and, if the account outlives it, in the account's.
import { AppError } from '../../src/core/errors.ts';
import { isId } from '../../src/core/ids.ts';
import type { Clock, Database, Entropy, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { type Passwords, weaknessOf } from '../core/accounts/password.ts';
import { type DeviceKey } from '../core/device-key.ts';
import {
  beginDeletion,
  devicesCutOff,
  mayDelete,
  resumeAccount,
} from '../store/accounts/account-deletion.ts';
import {
  type AccountFields,
  type AccountRow,
  accountExists,
  findAccount,
  insertAccount,
  insertFirstAdmin,
  isKept,
  lockAccount,
  type UserKey,
  updateAccount,
} from '../store/accounts/accounts.ts';
import { type AuditEntry, insertAudit } from '../store/accounts/audit.ts';
import { confirm, isUnconfirmed } from '../store/accounts/second-person.ts';
import { findProfile } from '../store/accounts/users.ts';
import { isOpenByOther, resetBreaker } from '../store/commands/command-caps.ts';
import { isThere } from '../store/devices/device-limit.ts';
import { findDevice, insertDevice } from '../store/devices/devices.ts';
import { isWithoutCuts, listCuttingZones } from '../store/geozones/geozones.ts';
import { notifyAdministrators } from '../store/notifications/user-notices.ts';
import { issueDeviceSecret } from './issue-device-secret.ts';

export interface AdministrationPorts {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly passwords: Passwords;
  /** Address that the request came from; absent at the machine itself. */
  readonly source?: string;
}

function needIds(ids: Readonly<Record<string, string>>): void {
  for (const [name, id] of Object.entries(ids)) {
    if (isId(id)) continue;
    throw new AppError('usage', `${name} ${JSON.stringify(id)} is no id: 1 to 64 of A-Z a-z 0-9 _ -`);
  }
}

interface AuditedAction {
  readonly action: string;
  readonly accountID: string;
  /** The account itself unless given. */
  readonly object?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly onlyIf?: Statement;
}

/** In the service's own log, and in the account's so that its administrators see what was done to it. */
export function auditEntryOf(
  ports: AdministrationPorts,
  { action, accountID, object = accountID, detail = {}, onlyIf }: AuditedAction,
) {
  const entry: AuditEntry = {
    accountID,
    atMs: Math.round(ports.clock.utcMs()),
    actor: 'operator',
    source: ports.source ?? '',
    action,
    object,
    detail,
  };
  return [insertAudit(entry, onlyIf), insertAudit({ ...entry, accountID: '' }, onlyIf)];
}

const nowSOf = ({ clock }: AdministrationPorts): number => Math.floor(clock.utcMs() / 1000);

/**
 * Creates an account with its first administrator.
 * @param account its password has 12 to 256 characters and is not one of the obvious ones.
 * @throws AppError `conflict` when there is such an account, `usage` for a bad id or password.
 */
export async function createAccount(
  ports: AdministrationPorts,
  account: UserKey & { readonly password: string; readonly fields?: AccountFields },
): Promise<void> {
  const { accountID, userID, password, fields = {} } = account;
  needIds({ accountID, userID });
  const weakness = weaknessOf(password, account);
  if (weakness !== null) throw new AppError('usage', `The password ${weakness}`);
  if (await accountExists(ports.db, accountID)) {
    throw new AppError('conflict', `There is an account ${accountID} already`, {
      hint: 'Choose another id.',
    });
  }
  const passwordHash = await ports.passwords.hash(password);
  const createdS = nowSOf(ports);
  // Of two at once the second finds the first one's administrator, whose hash is another.
  const isMine = sql`EXISTS (SELECT 1 FROM users WHERE account_id = ${accountID} AND password_hash = ${passwordHash})`;
  const audited = { action: 'account.create', accountID, detail: { userID, ...fields }, onlyIf: isMine };
  const [inserted] = await ports.db.write([
    insertAccount({ accountID, displayName: fields.displayName ?? accountID, createdS }),
    insertFirstAdmin({ accountID, userID, passwordHash, createdS }),
    updateAccount(accountID, fields, isMine),
    ...auditEntryOf(ports, audited),
  ]);
  if (inserted?.changes !== 1)
    throw new AppError('conflict', `Account ${accountID} was created at the same time`);
}

/** A password for a first administrator: 144 random bits as text. */
export function generatePassword(entropy: Entropy): string {
  return Buffer.from(entropy.bytes(18)).toString('base64url');
}

/** @throws AppError `not_found`. */
export async function needAccount(ports: AdministrationPorts, accountID: string): Promise<AccountRow> {
  const row = await findAccount(ports.db, accountID);
  if (row === null) throw new AppError('not_found', `There is no account ${JSON.stringify(accountID)}`);
  return row;
}

/**
 * Confirms that a user is a separate person, for an account without a second administrator to do it: see `confirmUser` of
 * the interface. Changes and records nothing when no confirmation is pending.
 * @throws AppError `not_found`.
 */
export async function confirmUser(ports: AdministrationPorts, key: UserKey): Promise<void> {
  const { accountID, userID } = key;
  await needAccount(ports, accountID);
  const known = await findProfile(ports.db, key);
  if (known === null) throw new AppError('not_found', `There is no user ${JSON.stringify(userID)}`);
  const detail = { grantedBy: known.grantedBy ?? '' };
  const audited = { action: 'user.confirm', accountID, object: userID, detail, onlyIf: isUnconfirmed(key) };
  const noticeNo = 1 + Math.floor(ports.entropy.fraction() * 2 ** 47);
  const atMs = Math.round(ports.clock.utcMs());
  const notice = { ...key, topic: 'confirmed', atMs, noticeNo, onlyIf: isUnconfirmed(key) } as const;
  await ports.db.write([
    lockAccount(accountID),
    ...auditEntryOf(ports, audited),
    ...notifyAdministrators(notice),
    confirm(key, sql`1 = 1`),
  ]);
}

/**
 * Closes every breaker of an account, for one without a second administrator to do it: see `resetBreaker` of the interface. Changes and
 * records nothing while all are closed.
 * @throws AppError `not_found`.
 */
export async function resetBreakers(ports: AdministrationPorts, accountID: string): Promise<void> {
  await needAccount(ports, accountID);
  // The operator of the service is no user of the account.
  const operator = { accountID, userID: '' };
  const onlyIf = isOpenByOther(operator);
  await ports.db.write([
    lockAccount(accountID),
    ...auditEntryOf(ports, { action: 'command.resetbreaker', accountID, object: accountID, onlyIf }),
    ...resetBreaker({ ...operator, atMs: ports.clock.utcMs() }, onlyIf),
  ]);
}

/** @throws AppError `conflict` naming geozones that ask for an engine cut, for which no second user would be asked. */
export async function needNoCuttingZones(db: Database, accountID: string): Promise<void> {
  const zones = await listCuttingZones(db, accountID);
  if (zones.length === 0) return;
  const message = `geozones of the account cut engines without a second user: ${zones.join(', ')}`;
  throw new AppError('conflict', `${message}; nothing was changed`, {
    details: [{ pointer: '/needsApproval', message }],
    hint: 'Switch ...EngineOff off in each of them at /geozone/updategeozone first.',
  });
}

/**
 * Changes an account. `isActive` false suspends it: its tokens are refused at once, its devices and streams end within
 * seconds; true opens it again, also when its deletion waits for a device that is cut off.
 * @throws AppError `not_found`, `conflict` while it is being deleted or a geozone stands against the rule of a second user.
 */
export async function changeAccount(
  ports: AdministrationPorts,
  accountID: string,
  fields: AccountFields,
): Promise<AccountRow> {
  await needAccount(ports, accountID);
  const { isActive, ...others } = fields;
  const isRuling = fields.needsApproval === true;
  if (isRuling) await needNoCuttingZones(ports.db, accountID);
  const fits = isRuling ? isWithoutCuts(accountID) : sql`1 = 1`;
  const isResuming = isActive === true;
  const audited = {
    action: 'account.update',
    accountID,
    detail: { ...fields },
    onlyIf: sql`${isKept(accountID)} AND ${fits}`,
  };
  const results = await ports.db.write([
    lockAccount(accountID),
    ...(isResuming ? [resumeAccount(accountID)] : []),
    ...auditEntryOf(ports, audited),
    updateAccount(accountID, isResuming ? others : fields, fits),
  ]);
  if (results.at(-1)?.changes !== 1) {
    if (isRuling) await needNoCuttingZones(ports.db, accountID);
    throw new AppError('conflict', `Account ${accountID} is being deleted`, {
      hint: 'Its id can be used again once all of its data is removed.',
    });
  }
  return needAccount(ports, accountID);
}

/**
 * Begins to delete an account: it is closed at once, and its rows are removed in small batches by whichever process works on it next.
 * @throws AppError `not_found`, `conflict` while a cut-off is active or under way in it, or its deletion has begun.
 */
export async function beginAccountDeletion(ports: AdministrationPorts, accountID: string): Promise<void> {
  const row = await needAccount(ports, accountID);
  const onlyIf = mayDelete(accountID);
  const results = await ports.db.write([
    ...auditEntryOf(ports, { action: 'account.delete', accountID, onlyIf }),
    beginDeletion(accountID, nowSOf(ports)),
  ]);
  if (results.at(-1)?.changes === 1 || row.deletingS !== null) return;
  const devices = await devicesCutOff(ports.db, accountID);
  const shown = devices.length === 0 ? '' : `: ${devices.join(', ')}`;
  throw new AppError('conflict', `An engine of account ${accountID} is cut off, or is to be${shown}`, {
    hint: 'Restore these engines first: afterwards it is impossible.',
  });
}

/**
 * Creates a device and issues its secret.
 * @returns the secret, which cannot be read again.
 * @throws AppError `not_found` for an unknown account, `conflict` when there is such a device, `usage` for a bad id.
 */
export async function createDevice(ports: AdministrationPorts, key: DeviceKey): Promise<string> {
  needIds({ accountID: key.accountID, deviceID: key.deviceID });
  if (!(await accountExists(ports.db, key.accountID))) {
    throw new AppError('not_found', `There is no account ${key.accountID}`, {
      hint: 'Create it with: fleetward-broker account create',
    });
  }
  if ((await findDevice(ports.db, key)) !== null) {
    throw new AppError('conflict', `Account ${key.accountID} has a device ${key.deviceID} already`, {
      hint: 'Issue a new secret with: fleetward-broker device secret',
    });
  }
  const createdS = nowSOf(ports);
  const fields = { description: `Device ${key.deviceID}`, displayName: key.deviceID };
  const entry = { action: 'device.create', object: key.deviceID, detail: {}, actor: 'operator' };
  const [inserted] = await ports.db.write([
    ...insertDevice(key, { createdS, fields }),
    insertAudit(
      { ...entry, accountID: key.accountID, atMs: createdS * 1000, source: ports.source ?? '' },
      isThere(key),
    ),
  ]);
  if (inserted?.changes !== 1) {
    throw new AppError('conflict', `Account ${key.accountID} is at its limit of devices`, {
      hint: 'Raise its limit with: fleetward-broker account limit',
    });
  }
  return issueDeviceSecret(ports.db, ports.entropy, ports.clock, key);
}
