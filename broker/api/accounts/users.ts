// Users of the account: administrators create, change and delete them; every user reads itself and changes its own
// password. No answer holds a password or its hash, and the account never loses its last active
// administrator with a password.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import { roles } from '../../core/accounts/session.ts';
import { mailboxOrNoneSource } from '../../core/notifications/delivery-targets.ts';
import { unknownGroups } from '../../store/accounts/groups.ts';
import {
  changeUser,
  createUser,
  deleteUser,
  listProfiles,
  type UserFields,
  type UserProfile,
  type UserRecord,
  usersMost,
} from '../../store/accounts/users.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, type AuditedAction, auditEntry, changesOf } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import {
  lineText,
  needKnown,
  needStrongPassword,
  needTimeZone,
  newPassword,
  timeZone,
} from '../base/input-members.ts';
import { operation, type Pages } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { changePassword } from './own-password.ts';
import { needNothingOfProvider } from './provider-user.ts';
import { needUser } from './user-lookup.ts';
import { noticeOf } from './user-notice.ts';
import { everyDevice, exampleUser, type UserView, user, viewUser } from './user-view.ts';

const getUser = operation({
  id: 'getUser',
  method: 'GET',
  path: '/user/getuser/{userID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Users',
  summary: 'One user',
  description: `Administrators see every user of the account; others see only themselves. Anything else answers 404, whether there
is such a user or not. A password is never shown.`,
  params: Type.Object({ userID: Type.String({ description: 'The user' }) }),
  body: null,
  result: user,
  errors: ['not_found'],
  effects: false,
  examples: { params: { userID: 'guest' }, result: exampleUser },
  async run({ params, caller }, services) {
    return { ...viewUser(await needUser(services, caller, params.userID)), ...ok };
  },
});

/** A user may be in a hundred groups. */
const usersPerPage = 50;

async function* allUsers({ db }: ApiServices, accountID: string): Pages<UserView> {
  let after = '';
  for (;;) {
    const page = await listProfiles(db, accountID, { after, limit: usersPerPage });
    if (page.length > 0) yield page.map(viewUser);
    const last = page.at(-1);
    if (last === undefined || page.length < usersPerPage) return;
    after = last.userID;
  }
}

const { status_code: _status, success: _success, ...userMembers } = user.properties;
const { status_code: _code, success: _one, ...exampleMembers } = exampleUser;

const getAllUsers = operation({
  id: 'getAllUsers',
  method: 'GET',
  path: '/user/getallusers/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Users',
  summary: 'All users of the account',
  description: `Every user of the account in the order of user ids, suspended ones too. A password is never shown.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, users: Type.Array(Type.Object(userMembers)) }),
  errors: [],
  effects: false,
  examples: { result: { users: [exampleMembers] } },
  async run({ caller }, services) {
    return { ...ok, users: allUsers(services, caller.accountID) };
  },
});

const profileMembers = {
  userDisplayName: Type.Optional(lineText(128, 'Name for people')),
  userNotifyEmail: Type.Optional(
    Type.String({
      maxLength: 254,
      pattern: mailboxOrNoneSource,
      description: 'Address for notifications, one mailbox that mail can reach; empty for none',
    }),
  ),
  contactPhone: Type.Optional(lineText(32, 'Telephone number; may be empty')),
  timeZone: Type.Optional(timeZone),
  groups: Type.Optional(
    Type.Array(Type.String({ pattern: idPatternSource }), {
      maxItems: 100,
      uniqueItems: true,
      description: `Groups whose devices the user sees. \`${everyDevice}\` in it: every device; an empty list: none`,
    }),
  ),
  roleID: Type.Optional(Type.Enum([...roles], { description: '`viewer`, `operator` or `admin`' })),
  isActive: Type.Optional(Type.Boolean({ description: 'False: suspended' })),
} as const;

const about = `\`roleID\`: a \`viewer\` reads, an \`operator\` also changes devices and zones and sends commands, an \`admin\` also
manages users, groups, rules and the account. \`groups\`: the user sees the devices of these groups only;
\`${everyDevice}\` in the list stands for every device, an empty list for none. Administrators always see every device. A group
that does not exist answers 422 with a pointer to it. A password is 12 to 256 characters; those that are tried first
everywhere, and those that are little more than the name of the account or user, answer 422. It is kept as an argon2id hash
only and never stands in an answer, a log or the audit log.

**Second user.** Whom an administrator creates, promotes, lets in again, or gives a password or more devices is not confirmed
(\`isConfirmed\` false): such a user neither requests nor approves an engine cut in an account with \`needsApproval\`, nor helps to switch that
off or to reset the breaker, before a day has passed and another administrator has called \`confirmUser\`.`;

interface UserInput {
  readonly password?: string | undefined;
  readonly userDisplayName?: string | undefined;
  readonly userNotifyEmail?: string | undefined;
  readonly contactPhone?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly roleID?: (typeof roles)[number] | undefined;
  readonly isActive?: boolean | undefined;
}

/** Fields of a user in the body, checked against the account. Hashes the password last, as it is costly. */
async function readFields(
  input: UserInput,
  key: { readonly accountID: string; readonly userID: string },
  services: ApiServices,
): Promise<UserFields> {
  const { password, groups } = input;
  if (password !== undefined) needStrongPassword(password, key);
  needTimeZone(input.timeZone);
  const named = groups?.filter((group) => group !== everyDevice);
  if (groups !== undefined && named !== undefined) {
    const unknown = await unknownGroups(services.db, key.accountID, named);
    needKnown(groups, { unknown, member: 'groups', what: 'group' });
  }
  return {
    passwordHash: password === undefined ? undefined : await services.passwords.hash(password),
    role: input.roleID,
    displayName: input.userDisplayName,
    notifyEmail: input.userNotifyEmail,
    phone: input.contactPhone,
    timeZone: input.timeZone,
    isActive: input.isActive,
    seesAll: groups?.includes(everyDevice),
    groups: named,
  };
}

/** Of a password the audit log says only that it is new. */
const passwordDetail = ({ password }: UserInput) => (password === undefined ? {} : { hasNewPassword: true });

/** The audit detail of an input. */
function detailOf(input: UserInput): Readonly<Record<string, unknown>> {
  const { password: _secret, ...rest } = input;
  return { ...rest, ...passwordDetail(input) };
}

/** The audit detail of a change. The order of groups says nothing. */
function changeDetail(known: UserProfile, input: UserInput): Readonly<Record<string, unknown>> {
  const { password: _secret, ...rest } = input;
  const sorted = (groups: readonly string[] | undefined) => groups?.toSorted();
  const before = viewUser(known);
  return {
    ...changesOf({ ...before, groups: sorted(before.groups) }, { ...rest, groups: sorted(rest.groups) }),
    ...passwordDetail(input),
  };
}

/** Audit entries in the batch of a user's change. */
function recordOf(services: ApiServices, actor: Actor, audited: AuditedAction): UserRecord {
  return {
    audit: (onlyIf) => auditEntry(services, actor, { ...audited, onlyIf }),
    notify: (onlyIf) =>
      noticeOf(services, actor.caller, { userID: audited.object, topic: 'unconfirmed', onlyIf }),
  };
}

const makeUser = operation({
  id: 'createUser',
  method: 'POST',
  path: '/user/createuser/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Users',
  summary: 'Create a user',
  description: `Creates a user of the caller's account. Absent members: role \`viewer\`, every device, the account's time zone, the
user id as name, active. A user of that id, in any letter case, that is there already answers 422 \`conflict\` and stays as it is; so does the
${usersMost + 1}st user of an account.

${about}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      userID: Type.String({ pattern: idPatternSource, description: '1 to 64 of `A-Z a-z 0-9 _ -`' }),
      password: newPassword,
      ...profileMembers,
    },
    { additionalProperties: false },
  ),
  result: user,
  errors: ['conflict', 'throttled'],
  effects: true,
  // A repeat is known by a hash of the body, which would be a fast hash of the password.
  answerIsSecret: true,
  examples: {
    body: {
      userID: 'night-shift',
      password: 'seven lamps over the yard',
      roleID: 'operator',
      groups: ['north'],
    },
    result: {
      ...exampleUser,
      userID: 'night-shift',
      userDisplayName: 'night-shift',
      roleID: 'operator',
      isConfirmed: false,
      grantedBy: 'admin',
    },
  },
  async run({ body, caller, source }, services) {
    const { userID, ...input } = body;
    const key = { accountID: caller.accountID, userID };
    const fields = await readFields(input, key, services);
    const createdS = Math.floor(services.clock.utcMs() / 1000);
    const role = fields.role ?? 'viewer';
    const passwordHash = fields.passwordHash ?? '';
    const audited = { action: 'user.create', object: userID, detail: { ...detailOf(input), roleID: role } };
    const results = await services.db.write(
      createUser(
        {
          ...key,
          createdS,
          grantedBy: caller.userID,
          identity: null,
          fields: { ...fields, passwordHash, role },
        },
        recordOf(services, { caller, source }, audited),
      ),
    );
    services.wakeDelivery();
    if (results[1]?.changes !== 1) {
      throw new AppError(
        'conflict',
        `There is a user ${userID} already, in this or another letter case, or the account has its ${usersMost} users`,
        {
          details: [{ pointer: '/userID', message: 'is taken, or the account is full' }],
          hint: 'Change a user with updateUser.',
        },
      );
    }
    return { ...viewUser(await needUser(services, caller, userID)), ...ok };
  },
});

/** Reason why a change did not happen: no such user (404), or the last active administrator (422). */
async function refuseLast(services: ApiServices, caller: Caller, userID: string): Promise<never> {
  await needUser(services, caller, userID);
  throw new AppError(
    'conflict',
    `${userID} is the last active administrator of the account who has a password`,
    {
      hint: 'Make another user with a password an administrator first.',
    },
  );
}

const editUser = operation({
  id: 'updateUser',
  method: 'POST',
  path: '/user/updateuser/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Users',
  summary: 'Change a user',
  description: `Changes the given members and leaves the others; \`groups\` replaces the whole list. A new \`password\` and
\`isActive\` false end every login and API token of the user at once. Your own password is changed with \`changePassword\`,
which wants the old one: here it answers 422 \`conflict\`. A new role holds from the next call on. The last active administrator of the account who has a password can neither be demoted
nor suspended: 422 \`conflict\`, also when two administrators try it on each other at the same moment. Of a user of the login
provider (\`hasPassword\` false) \`password\`, \`roleID\` and, where it names them, \`groups\` answer 422 \`conflict\`.

${about}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      userID: Type.String({ minLength: 1, maxLength: 64, description: 'The user' }),
      password: Type.Optional(newPassword),
      ...profileMembers,
    },
    { additionalProperties: false },
  ),
  result: user,
  errors: ['not_found', 'conflict', 'throttled'],
  effects: true,
  // A repeat is known by a hash of the body, which would be a fast hash of the password.
  answerIsSecret: true,
  examples: {
    body: { userID: 'guest', userDisplayName: 'Gate house', groups: ['all'] },
    result: { ...exampleUser, userDisplayName: 'Gate house', groups: ['all'] },
  },
  async run({ body, caller, source }, services) {
    const { userID, ...input } = body;
    const key = { accountID: caller.accountID, userID };
    const known = await needUser(services, caller, userID);
    if (known.identity !== null) needNothingOfProvider(services, input);
    if (input.password !== undefined && userID === caller.userID) {
      throw new AppError('conflict', 'Your own password is changed with the old one', {
        details: [{ pointer: '/password', message: 'is your own' }],
        hint: 'Use changePassword.',
      });
    }
    const fields = await readFields(input, key, services);
    const nowS = Math.floor(services.clock.utcMs() / 1000);
    const audited = { action: 'user.update', object: userID, detail: changeDetail(known, input) };
    const results = await services.db.write(
      changeUser(
        { ...key, fields, nowS, actor: caller.userID },
        recordOf(services, { caller, source }, audited),
      ),
    );
    services.wakeDelivery();
    if (results.at(-1)?.changes !== 1) await refuseLast(services, caller, userID);
    return { ...viewUser(await needUser(services, caller, userID)), ...ok };
  },
});

const removeUser = operation({
  id: 'deleteUser',
  method: 'POST',
  path: '/user/deleteuser/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Users',
  summary: 'Delete a user',
  description: `Deletes a user; logins and API tokens of the user end at once, live streams within seconds. Recorded actions stay in
the audit log and in the command ledger under the user's id. You cannot delete yourself, and the last active administrator of the
account who has a password cannot be deleted (422 \`conflict\`), also when two administrators delete each other at the same moment. An unknown
user answers 404. A user of the login provider is made anew at the next login there: suspend such a user instead.`,
  params: Type.Object({}),
  body: Type.Object(
    { userID: Type.String({ minLength: 1, maxLength: 64, description: 'The user' }) },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { userID: 'leaver' } },
  async run({ body, caller, source }, services) {
    const { userID } = body;
    if (userID === caller.userID) {
      throw new AppError('conflict', 'You cannot delete yourself', {
        hint: 'Ask another administrator of the account.',
      });
    }
    const audited = { action: 'user.delete', object: userID };
    const results = await services.db.write(
      deleteUser({ accountID: caller.accountID, userID }, (onlyIf) =>
        auditEntry(services, { caller, source }, { ...audited, onlyIf }),
      ),
    );
    if (results.at(-1)?.changes !== 1) await refuseLast(services, caller, userID);
    return ok;
  },
});

export const userOperations = [makeUser, editUser, removeUser, getUser, getAllUsers, changePassword] as const;
