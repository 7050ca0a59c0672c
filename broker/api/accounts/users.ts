// Users of the account: administrators create, change and delete them; everybody sees himself and changes his own
// password. No answer ever holds a password or its hash, and the account never loses its last active administrator.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import { passwordMost } from '../../core/password.ts';
import { roles } from '../../core/session.ts';
import { unknownGroups } from '../../store/groups.ts';
import {
  changeOwnPassword,
  changeUser,
  createUser,
  deleteUser,
  findProfile,
  listProfiles,
  type UserFields,
  type UserProfile,
  usersMost,
} from '../../store/users.ts';
import { type ApiServices, type Caller, operation, type Pages } from '../operation.ts';
import { envelope, ok } from '../shapes.ts';
import { trail } from '../trail.ts';
import { provePassword } from './password-proof.ts';
import { lineText, needKnown, needStrongPassword, needTimeZone, newPassword, timeZone } from './people.ts';
import { everyDevice, exampleUser, type UserView, user, viewUser } from './user-view.ts';

/** @throws AppError `not_found`, in the same words for a user of another account. */
async function needUser(services: ApiServices, caller: Caller, userID: string): Promise<UserProfile> {
  const { accountID } = caller;
  const isAllowed = caller.role === 'admin' || caller.userID === userID;
  const profile = isAllowed ? await findProfile(services.db, { accountID, userID }) : null;
  if (profile === null) throw new AppError('not_found', `there is no user ${JSON.stringify(userID)}`);
  return profile;
}

const getUser = operation({
  id: 'getUser',
  method: 'GET',
  path: '/user/getuser/{userID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Users',
  summary: 'One user',
  description: `Administrators see every user of the account; others see only themselves. Anything else answers 404, whether there
is such a user or not. A password is never shown.`,
  params: Type.Object({ userID: Type.String({ description: 'The user' }) }),
  body: null,
  result: user,
  errors: ['not_found'],
  effects: false,
  examples: { params: { userID: 'guest' }, body: null, result: exampleUser },
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
  tag: 'Users',
  summary: 'All users of the account',
  description: `Every user of the account in the order of user ids, suspended ones too. A password is never shown.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, users: Type.Array(Type.Object(userMembers)) }),
  errors: [],
  effects: false,
  examples: { params: {}, body: null, result: { ...ok, users: [exampleMembers] } },
  async run({ caller }, services) {
    return { ...ok, users: allUsers(services, caller.accountID) };
  },
});

const profileMembers = {
  userDisplayName: Type.Optional(lineText(128, 'Name for people')),
  userNotifyEmail: Type.Optional(lineText(254, 'Address for notifications; may be empty')),
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
manages users, groups, rules and the account. \`groups\`: the user sees the devices of these groups only; the word
\`${everyDevice}\` in the list stands for every device, an empty list for none. Administrators always see every device. A group
that does not exist answers 422 with a pointer to it. A password is 12 to 256 characters; those that are tried first
everywhere, and those that are little more than the name of the account or user, answer 422. It is kept as an argon2id hash
only and never stands in an answer, a log or the audit log.`;

interface Wish {
  readonly password?: string | undefined;
  readonly userDisplayName?: string | undefined;
  readonly userNotifyEmail?: string | undefined;
  readonly contactPhone?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly roleID?: (typeof roles)[number] | undefined;
  readonly isActive?: boolean | undefined;
}

/** What the body says about a user, checked against the account. Hashes the password last: that is the costly part. */
async function readWish(
  wish: Wish,
  key: { readonly accountID: string; readonly userID: string },
  services: ApiServices,
): Promise<UserFields> {
  const { password, groups } = wish;
  if (password !== undefined) needStrongPassword(password, key);
  needTimeZone(wish.timeZone);
  const named = groups?.filter((group) => group !== everyDevice);
  if (groups !== undefined && named !== undefined) {
    const unknown = await unknownGroups(services.db, key.accountID, named);
    needKnown(groups, { unknown, member: 'groups', what: 'group' });
  }
  return {
    passwordHash: password === undefined ? undefined : await services.passwords.hash(password),
    role: wish.roleID,
    displayName: wish.userDisplayName,
    notifyEmail: wish.userNotifyEmail,
    phone: wish.contactPhone,
    timeZone: wish.timeZone,
    isActive: wish.isActive,
    seesAll: groups?.includes(everyDevice),
    groups: named,
  };
}

/** What the audit log tells of a wish: everything but the password, of which it tells that there is a new one. */
function detailOf({ password, ...rest }: Wish): Readonly<Record<string, unknown>> {
  return password === undefined ? { ...rest } : { ...rest, hasNewPassword: true };
}

const makeUser = operation({
  id: 'createUser',
  method: 'POST',
  path: '/user/createuser/authorization',
  forms: ['versioned'],
  access: 'admin',
  tag: 'Users',
  summary: 'Create a user',
  description: `Creates a user of the caller's account. Absent members: role \`viewer\`, every device, the account's time zone, the
user id as name, active. A user of that id that is there already answers 422 \`conflict\` and stays as it is; so does the
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
    params: {},
    body: {
      userID: 'night-shift',
      password: 'seven lamps over the yard',
      roleID: 'operator',
      groups: ['north'],
    },
    result: { ...exampleUser, userID: 'night-shift', userDisplayName: 'night-shift', roleID: 'operator' },
  },
  async run({ body, caller, source }, services) {
    const { userID, ...wish } = body;
    const key = { accountID: caller.accountID, userID };
    const fields = await readWish(wish, key, services);
    const createdS = Math.floor(services.clock.utcMs() / 1000);
    const role = fields.role ?? 'viewer';
    const passwordHash = fields.passwordHash ?? '';
    const deed = { action: 'user.create', object: userID, detail: { ...detailOf(wish), roleID: role } };
    const results = await services.db.write(
      createUser({ ...key, createdS, fields: { ...fields, passwordHash, role } }, (onlyIf) =>
        trail(services, { caller, source }, { ...deed, onlyIf }),
      ),
    );
    if (results[1]?.changes !== 1) {
      throw new AppError('conflict', `there is a user ${userID} already, or ${usersMost} of them`, {
        details: [{ pointer: '/userID', message: 'is taken, or the account is full' }],
        hint: 'Change a user with updateUser.',
      });
    }
    return { ...viewUser(await needUser(services, caller, userID)), ...ok };
  },
});

/** Why a change did not happen: there is no such user (404), or he is the last active administrator (422). */
async function refuseLast(services: ApiServices, caller: Caller, userID: string): Promise<never> {
  await needUser(services, caller, userID);
  throw new AppError('conflict', `${userID} is the last active administrator of the account`, {
    hint: 'Make another user an administrator first.',
  });
}

const editUser = operation({
  id: 'updateUser',
  method: 'POST',
  path: '/user/updateuser/authorization',
  forms: ['versioned'],
  access: 'admin',
  tag: 'Users',
  summary: 'Change a user',
  description: `Changes the given members and leaves the others; \`groups\` replaces the whole list. A new \`password\` and
\`isActive\` false end every login and API token of the user at once. Your own password is changed with \`changePassword\`,
which wants the old one: here it answers 422 \`conflict\`. A new role holds from the next call on. The last active administrator of the account can neither be demoted
nor suspended: 422 \`conflict\`, also when two administrators try it on each other at the same moment.

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
    params: {},
    body: { userID: 'guest', userDisplayName: 'Gate house', groups: ['all'] },
    result: { ...exampleUser, userDisplayName: 'Gate house', groups: ['all'] },
  },
  async run({ body, caller, source }, services) {
    const { userID, ...wish } = body;
    const key = { accountID: caller.accountID, userID };
    await needUser(services, caller, userID);
    if (wish.password !== undefined && userID === caller.userID) {
      throw new AppError('conflict', 'your own password is changed with the old one', {
        details: [{ pointer: '/password', message: 'is your own' }],
        hint: 'Use changePassword.',
      });
    }
    const fields = await readWish(wish, key, services);
    const nowS = Math.floor(services.clock.utcMs() / 1000);
    const deed = { action: 'user.update', object: userID, detail: detailOf(wish) };
    const results = await services.db.write(
      changeUser({ ...key, fields, nowS }, (onlyIf) =>
        trail(services, { caller, source }, { ...deed, onlyIf }),
      ),
    );
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
  tag: 'Users',
  summary: 'Delete a user',
  description: `Deletes a user; his logins and API tokens end at once, his live streams within seconds. What he did stays in
the audit log and in the command ledger under his name. Nobody deletes himself, and the last active administrator of the
account cannot be deleted (422 \`conflict\`), also when two administrators delete each other at the same moment. An unknown
user answers 404.`,
  params: Type.Object({}),
  body: Type.Object(
    { userID: Type.String({ minLength: 1, maxLength: 64, description: 'The user' }) },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { params: {}, body: { userID: 'leaver' }, result: ok },
  async run({ body, caller, source }, services) {
    const { userID } = body;
    if (userID === caller.userID) {
      throw new AppError('conflict', 'nobody deletes himself', {
        hint: 'Ask another administrator of the account.',
      });
    }
    const deed = { action: 'user.delete', object: userID };
    const results = await services.db.write(
      deleteUser({ accountID: caller.accountID, userID }, (onlyIf) =>
        trail(services, { caller, source }, { ...deed, onlyIf }),
      ),
    );
    if (results.at(-1)?.changes !== 1) await refuseLast(services, caller, userID);
    return ok;
  },
});

const changePassword = operation({
  id: 'changePassword',
  method: 'POST',
  path: '/user/changepassword/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Users',
  summary: 'Change your own password',
  description: `Sets the password of the calling user. All his other logins and API tokens end; the token of the call goes on. A
wrong \`currentPassword\` answers 401 \`login_failed\` and counts as a failed login: after some of them the answer is 503
\`throttled\`. Administrators set the password of others with \`updateUser\`. \`newPassword\` is checked as there.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      currentPassword: Type.String({
        minLength: 1,
        maxLength: passwordMost,
        description: 'The one until now',
      }),
      newPassword,
    },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['login_failed', 'throttled', 'conflict'],
  effects: true,
  // A repeat is known by a hash of the body, which would be a fast hash of the password.
  answerIsSecret: true,
  examples: {
    params: {},
    body: { currentPassword: 'correct horse battery staple', newPassword: 'seven lamps over the yard' },
    result: ok,
  },
  async run({ body, caller, source }, services) {
    const { accountID, userID, tokenHash } = caller;
    needStrongPassword(body.newPassword, caller, '/newPassword');
    const credentials = { accountID, userID, password: body.currentPassword, address: source };
    const oldHash = await provePassword(credentials, services);
    const passwordHash = await services.passwords.hash(body.newPassword);
    const results = await services.db.write(
      changeOwnPassword({ accountID, userID, oldHash, passwordHash, tokenHash }, (onlyIf) =>
        trail(services, { caller, source }, { action: 'user.password', object: userID, onlyIf }),
      ),
    );
    if (results.at(-1)?.changes !== 1) {
      throw new AppError('conflict', 'the password was changed by somebody else at the same moment');
    }
    return ok;
  },
});

export const userOperations = [makeUser, editUser, removeUser, getUser, getAllUsers, changePassword] as const;
