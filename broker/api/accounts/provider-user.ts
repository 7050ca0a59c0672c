// The user of an identity that the login provider has authenticated: created at the first login, updated from the claims at each later one. A
// user with a password is never taken over, and what a claim grants waits for a confirmation like any other grant.
import { AppError } from '../../../src/core/errors.ts';
import { hexId } from '../../../src/core/ids.ts';
import {
  type IdentityDecision,
  type ProviderUser,
  providerActor,
} from '../../core/accounts/provider-identity.ts';
import { findAccount, findUser, type UserKey, type UserRow } from '../../store/accounts/accounts.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import { unknownGroups } from '../../store/accounts/groups.ts';
import { userOfIdentity } from '../../store/accounts/provider-logins.ts';
import { revokeSessions } from '../../store/accounts/sessions.ts';
import {
  changeUser,
  createUser,
  findProfile,
  type UserFields,
  type UserProfile,
  type UserRecord,
  usersMost,
} from '../../store/accounts/users.ts';
import type { ApiServices } from '../base/api-services.ts';
import { mayAct } from './password-proof.ts';
import { noticeOf } from './user-notice.ts';
import { everyDevice } from './user-view.ts';

type Accepted = Extract<IdentityDecision, { readonly kind: 'accepted' }>;

/** Groups of a user; the claim may name more than that. */
const groupsMost = 100;

const refused = (message: string, hint: string): AppError => new AppError('forbidden', message, { hint });

const noAccount = (): AppError =>
  refused('The login provider names no account of this service for you', 'Ask the operator of the service.');

interface Audited {
  readonly key: UserKey;
  readonly source: string;
  readonly action: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

const entryOf = ({ clock }: ApiServices, { key, source, action, detail }: Audited) => ({
  accountID: key.accountID,
  atMs: Math.round(clock.utcMs()),
  actor: providerActor,
  source,
  action,
  object: key.userID,
  detail,
});

function recordOf(services: ApiServices, audited: Audited): UserRecord {
  const { key } = audited;
  return {
    audit: (onlyIf) => insertAudit(entryOf(services, audited), onlyIf),
    notify: (onlyIf) => noticeOf(services, key, { userID: key.userID, topic: 'unconfirmed', onlyIf }),
  };
}

/** The devices that the claims allow: those of known groups; ids that are no group of the account are left out. */
async function devicesOf(
  { db }: ApiServices,
  { user, groups }: Accepted,
): Promise<{ readonly seesAll: boolean; readonly groups: readonly string[] } | null> {
  if (groups === null) return null;
  const named = [...new Set(groups)].filter((group) => group !== everyDevice && group.length <= 64);
  const asked = named.slice(0, groupsMost);
  const unknown = new Set(await unknownGroups(db, user.accountID, asked));
  return {
    seesAll: groups.includes(everyDevice),
    groups: asked.filter((group) => !unknown.has(group)).sort(),
  };
}

async function makeUser(services: ApiServices, accepted: Accepted, source: string): Promise<string> {
  const { db, clock, entropy } = services;
  const { user, userID, role, displayName } = accepted;
  if (userID === null) {
    throw refused(
      'The login provider gives no name that a user of this service may have',
      'Ask the operator of the service: oidc.userClaim names the claim, of which 1 to 64 letters and digits must remain.',
    );
  }
  const key = { accountID: user.accountID, userID };
  const createdS = Math.floor(clock.utcMs() / 1000);
  const devices = await devicesOf(services, accepted);
  // A mark that is unique like a hash and that no password has.
  const passwordHash = `provider:${hexId(entropy.bytes(32))}`;
  const fields = { ...devices, role, displayName: displayName ?? userID, passwordHash };
  const detail = { roleID: role, ...(devices === null ? {} : { groups: devices.groups }) };
  const audited = { key, source, action: 'user.create', detail };
  const made = { ...key, createdS, grantedBy: providerActor, identity: user.identity, fields };
  const results = await db.write(createUser(made, recordOf(services, audited)));
  services.wakeDelivery();
  if (results[1]?.changes === 1) return userID;
  // Two first logins of one person at the same moment.
  const other = await userOfIdentity(db, user);
  if (other !== null) return other;
  throw new AppError(
    'conflict',
    `There is another user ${userID} already, or the account has its ${usersMost} users`,
    {
      hint: 'Ask an administrator to delete that user, or for another name at the provider; nothing is taken over.',
    },
  );
}

/** Changes of the user by the claims; null: none. */
async function changesOf(
  services: ApiServices,
  accepted: Accepted,
  profile: UserProfile,
): Promise<UserFields | null> {
  const devices = await devicesOf(services, accepted);
  const hasSameDevices =
    devices === null ||
    (devices.seesAll === profile.seesAll && devices.groups.join() === [...profile.groups].sort().join());
  if (profile.role === accepted.role && hasSameDevices) return null;
  return {
    role: accepted.role === profile.role ? undefined : accepted.role,
    ...(hasSameDevices ? {} : devices),
  };
}

async function applyClaims(
  services: ApiServices,
  accepted: Accepted,
  { key, source }: { readonly key: UserKey; readonly source: string },
): Promise<void> {
  const profile = await findProfile(services.db, key);
  const fields = profile === null ? null : await changesOf(services, accepted, profile);
  if (fields === null) return;
  const { role, groups } = fields;
  const audited = { key, source, action: 'user.update', detail: { roleID: role, groups } };
  const change = { ...key, fields, nowS: Math.floor(services.clock.utcMs() / 1000), actor: providerActor };
  const results = await services.db.write(changeUser(change, recordOf(services, audited)));
  services.wakeDelivery();
  if (results.at(-1)?.changes === 1) return;
  throw new AppError('conflict', `${key.userID} is the last active administrator of the account`, {
    hint: 'Make another user an administrator first; the login provider takes that role away.',
  });
}

/** Ends the sessions of a user whose claims no longer give a role. */
async function endSessionsOf(services: ApiServices, user: ProviderUser, source: string): Promise<void> {
  const userID = await userOfIdentity(services.db, user);
  if (userID === null) return;
  const key = { accountID: user.accountID, userID };
  const detail = { reason: 'no_role' };
  await services.db.write([
    insertAudit(entryOf(services, { key, source, action: 'login.refuse', detail })),
    ...revokeSessions({ ...key, exceptHash: null, kind: null }),
  ]);
}

/**
 * The user by a decision on claims, made or changed by them.
 * @throws AppError `forbidden` without an account, name or role; `conflict` when the name is taken, or the last administrator
 * would lose the role; `login_failed` for a suspended user or account.
 */
export async function userOfClaims(
  services: ApiServices,
  decision: IdentityDecision,
  source: string,
): Promise<UserRow> {
  const { db, clock } = services;
  if (decision.kind === 'refused') {
    if (decision.reason !== 'no_role') throw noAccount();
    await endSessionsOf(services, decision.user, source);
    throw refused(
      'The login provider gives you no role in this service',
      'Ask the operator of the service: oidc.roleClaim and oidc.roles say which values give one.',
    );
  }
  const { accountID } = decision.user;
  const nowS = clock.utcMs() / 1000;
  const account = await findAccount(db, accountID);
  const isOpen = account?.isActive === true && (account.expiresS === null || nowS < account.expiresS);
  if (!isOpen) throw noAccount();
  const known = await userOfIdentity(db, decision.user);
  const userID = known ?? (await makeUser(services, decision, source));
  const key = { accountID, userID };
  const before = await findUser(db, key);
  // A login at the provider does not end a suspension by an administrator.
  if (before === null || !mayAct(before, nowS)) {
    throw new AppError('login_failed', 'The user is suspended in this service', {
      hint: 'Ask an administrator of the account.',
    });
  }
  if (known !== null) await applyClaims(services, decision, { key, source });
  return before;
}

/** Members of a change by an administrator that the login provider may decide. */
interface DecidedMembers {
  readonly password?: string | undefined;
  readonly roleID?: string | undefined;
  readonly groups?: readonly string[] | undefined;
}

/**
 * Refuses a change of what the login provider decides of its users, which its next login would undo.
 * @throws AppError `conflict`.
 */
export function needNothingOfProvider({ identityProvider }: ApiServices, input: DecidedMembers): void {
  const limitsDevices = identityProvider !== null && identityProvider.rules.groupsClaim !== null;
  const decided = ['password', 'roleID', ...(limitsDevices ? (['groups'] as const) : [])] as const;
  const member = decided.find((name) => input[name] !== undefined);
  if (member === undefined) return;
  const message = `The login provider decides the ${member} of this user; nothing was changed`;
  throw new AppError('conflict', message, {
    details: [{ pointer: `/${member}`, message: 'is decided by the login provider' }],
    hint: 'Change it at the provider, or suspend the user with isActive false.',
  });
}
