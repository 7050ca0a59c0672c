// Sessions: API tokens are made, logins and tokens listed and ended, one's own and, for administrators, those of their users. A
// token never has more rights than its user at the time of the call, and only a login can create one.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { formatToken, sessionLimits, tokenRandomBytes, tokenScopes } from '../../core/accounts/session.ts';
import type { UserKey } from '../../store/accounts/accounts.ts';
import { findVisibleGroup } from '../../store/accounts/groups.ts';
import {
  apiTokensMost,
  hashToken,
  hasOtherSessions,
  hasToken,
  insertApiToken,
  listSessions,
  revokeSessions,
  revokeToken,
  type TokenRow,
  tokenIDOf,
} from '../../store/accounts/sessions.ts';
import { listRegistrations, type RegistrationRow } from '../../store/notifications/push.ts';
import type { NamedDevices } from '../../store/schema/accounts.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { invalidAt } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';
import { needUser } from './user-lookup.ts';

const epochMost = 99_999_999_999;
const defaultLifeS = 90 * 24 * 3600;

/** Devices that a token may name. */
const namedDevicesMost = 50;
/** Groups that a token may name. */
const namedGroupsMost = 20;

const ids = (most: number, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: most, description });

/**
 * The devices and groups by id, with their numbers. Null when neither list is given.
 * @throws AppError `not_found` for one that the caller does not see.
 */
async function namedOf(
  services: ApiServices,
  caller: Caller,
  body: { readonly devices?: readonly string[]; readonly groups?: readonly string[] },
): Promise<NamedDevices | null> {
  if (body.devices === undefined && body.groups === undefined) return null;
  const devices: Record<string, number> = {};
  for (const deviceID of body.devices ?? [])
    devices[deviceID] = (await needDevice(services, caller, deviceID)).deviceNo;
  const groups: Record<string, number> = {};
  for (const groupID of body.groups ?? []) {
    const groupNo = await findVisibleGroup(services.db, caller.scope, groupID);
    if (groupNo === null) throw new AppError('not_found', `There is no group ${JSON.stringify(groupID)}`);
    groups[groupID] = groupNo;
  }
  return { devices, groups };
}

const createToken = operation({
  id: 'token',
  method: 'POST',
  path: '/auth/token/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Make a token for a program',
  description: `Gives an API token of the calling user, shown once. It is sent like the token of a login. It is valid until
\`expires\` (epoch seconds; at most 366 days ahead, 90 days when absent) whether it is used or not, and acts with the role,
the groups and the account that its user has at the moment of each call, and only within its own \`scopes\`: \`read\` shows,
\`write\` changes what is recorded, \`command\` orders and asks vehicles (restores too), \`track\` sends positions of other makers' trackers and nothing else,
\`admin\` manages users, rules and the account. Without \`scopes\` it may \`read\`. \`devices\` and \`groups\` limit it further: it then sees these devices only, of those
that its user sees, and reaches nothing that concerns the whole account, like geozones. What no scope covers (passwords,
tokens, sessions) needs a login. A call beyond the scopes answers 422 \`forbidden\`. It ends earlier when its user is suspended or
deleted, when its password is changed, or by \`revokeToken\`; suspending the account refuses it.

Only a login with a password may create tokens, as one would outlive what a login provider says of its user: with an API token the call answers 422 \`forbidden\`, so that no token can replace itself
before it ends. A user has at most ${apiTokensMost} of them.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      description: Type.String({ minLength: 1, maxLength: 128, description: 'What it is for' }),
      expires: Type.Optional(
        Type.Integer({ minimum: 1, maximum: epochMost, description: 'When it ends (epoch seconds)' }),
      ),
      scopes: Type.Optional(
        Type.Array(Type.Enum([...tokenScopes]), {
          minItems: 1,
          maxItems: tokenScopes.length,
          description: 'What it may be used for; `read` when absent',
        }),
      ),
      devices: Type.Optional(ids(namedDevicesMost, 'Only these devices')),
      groups: Type.Optional(ids(namedGroupsMost, 'Only devices that are in one of these groups')),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    token: Type.String({ description: '`<accountID>%7C<userID>%7C<random>`; shown once' }),
    tokenID: Type.String({ description: 'Names the token in the list; gives no right' }),
    expires: Type.Integer({ description: 'When it ends (epoch seconds)' }),
  }),
  errors: ['conflict', 'not_found'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { description: 'Nightly report' },
    result: {
      token: 'acme%7Cdispatch%7C0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      tokenID: '3b1f0a9c5d7e2468',
      expires: 1771459200,
    },
  },
  async run({ body, caller, source }, services) {
    const { accountID, userID } = caller;
    const atS = Math.floor(services.clock.utcMs() / 1000);
    const expiresS = body.expires ?? atS + defaultLifeS;
    if (expiresS <= atS || expiresS > atS + sessionLimits.apiTokenS) {
      throw invalidAt('/expires', 'must lie ahead, by at most 366 days');
    }
    const token = formatToken({ accountID, userID }, services.entropy.bytes(tokenRandomBytes));
    const tokenHash = hashToken(token);
    const tokenID = tokenIDOf(tokenHash);
    const { description, devices, groups } = body;
    const scopes = tokenScopes.filter((scope) => (body.scopes ?? ['read']).includes(scope));
    const deviceLimit = await namedOf(services, caller, body);
    const byTokenHash = caller.tokenHash;
    const detail = { description, expires: expiresS, scopes, devices, groups };
    const audited = { action: 'token.create', object: tokenID, detail };
    const [inserted] = await services.db.write([
      insertApiToken({
        accountID,
        userID,
        tokenHash,
        description,
        scopes,
        deviceLimit,
        atS,
        expiresS,
        byTokenHash,
      }),
      auditEntry(services, { caller, source }, { ...audited, onlyIf: hasToken(caller, tokenID) }),
    ]);
    if (inserted?.changes !== 1) {
      throw new AppError(
        'conflict',
        `No token was created: the user has ${apiTokensMost} already, or this is no login with a password`,
        {
          hint: 'Log in with the password, and revoke a token that is no longer used.',
        },
      );
    }
    return { ...ok, token, tokenID, expires: expiresS };
  },
});

const tokenEntry = Type.Object({
  tokenID: Type.String({ description: 'Names the token; gives no right' }),
  kind: Type.Enum(['login', 'api'], { description: 'Session of a login, or API token' }),
  description: Type.String({ description: 'As given when it was made; empty for a login' }),
  userAgent: Type.String({ description: 'What the client called itself at login; empty for a token' }),
  scopes: Type.Array(Type.Enum([...tokenScopes]), {
    description: 'What it may be used for; a login: everything',
  }),
  devices: Type.Array(Type.String(), { description: 'Devices that it is limited to' }),
  groups: Type.Array(Type.String(), { description: 'Groups that it is limited to' }),
  isLimited: Type.Boolean({ description: 'True: only `devices` and those in `groups`' }),
  createdOn: Type.Integer({ description: 'When it was made (epoch seconds)' }),
  lastUsedOn: Type.Integer({ description: 'Last use, to the minute (epoch seconds)' }),
  expires: Type.Integer({ description: 'Latest end (epoch seconds)' }),
  isCurrent: Type.Boolean({ description: 'True for the token of this call' }),
});

const pushEntry = Type.Object({
  pushID: Type.String({ description: "For `unregisterPush`; empty where it is another user's" }),
  service: Type.String({ description: 'Host of the push service; empty for an opaque token of an app' }),
  isRegistered: Type.Boolean({ description: 'Whether it is switched on' }),
  createdOn: Type.Integer({ description: 'When it was stored (epoch seconds)' }),
  tokenID: Type.String({ description: 'Session that it ends with; empty when that has run out' }),
});

/** The caller, or as an administrator another user of the account. @throws AppError `forbidden`, `not_found`. */
async function ownerOf(services: ApiServices, caller: Caller, userID: string | undefined): Promise<UserKey> {
  if (userID === undefined || userID === caller.userID) return caller;
  const { accountID } = await needUser(services, caller, userID);
  return { accountID, userID };
}

const userMember = Type.Optional(
  Type.String({ minLength: 1, maxLength: 64, description: 'As an administrator: of this user' }),
);

function viewToken(session: TokenRow, { tokenHash }: Caller): Static<typeof tokenEntry> {
  const { deviceLimit } = session;
  return {
    tokenID: session.tokenID,
    kind: session.kind,
    description: session.description,
    userAgent: session.userAgent,
    scopes: [...(session.scopes ?? tokenScopes)],
    devices: Object.keys(deviceLimit?.devices ?? {}),
    groups: Object.keys(deviceLimit?.groups ?? {}),
    isLimited: deviceLimit !== null,
    createdOn: session.createdS,
    lastUsedOn: session.lastUsedS,
    expires: session.expiresS ?? session.createdS + sessionLimits.absoluteS,
    isCurrent: session.tokenHash === tokenHash,
  };
}

function viewPush(row: RegistrationRow, sessions: readonly TokenRow[], isOwn: boolean) {
  const session = sessions.find(({ tokenHash }) => tokenHash === row.sessionHash);
  return {
    pushID: isOwn ? row.pushID : '',
    service: row.endpoint === '' ? '' : new URL(row.endpoint).hostname,
    isRegistered: row.isRegistered,
    createdOn: row.createdS,
    tokenID: session?.tokenID ?? '',
  };
}

const listTokens = operation({
  id: 'getTokens',
  method: 'GET',
  path: '/auth/tokens/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'own',
  tag: 'Authentication',
  summary: 'Sessions of a user: logins and tokens',
  description: `Every login and API token that is open in the name of the calling user, newest first; for administrators with
\`?userID=\` those of any user of the account (for others 404). The tokens themselves are never shown again: the service keeps only their hashes. With
an API token the list holds that token only. \`pushes\` lists the registrations for push notifications of the same user and sessions.`,
  params: Type.Object({}),
  query: Type.Object({ userID: userMember }, { additionalProperties: false }),
  body: null,
  result: Type.Object({ ...envelope, tokens: Type.Array(tokenEntry), pushes: Type.Array(pushEntry) }),
  errors: ['not_found'],
  effects: false,
  examples: {
    result: {
      tokens: [
        {
          tokenID: '3b1f0a9c5d7e2468',
          kind: 'api',
          description: 'Nightly report',
          userAgent: '',
          scopes: ['read'],
          devices: [],
          groups: ['north'],
          isLimited: true,
          createdOn: 1763683200,
          lastUsedOn: 1763683260,
          expires: 1771459200,
          isCurrent: false,
        },
      ],
      pushes: [],
    },
  },
  async run({ query, caller }, services) {
    const owner = await ownerOf(services, caller, query.userID);
    const sessions = await listSessions(services.db, owner, Math.floor(services.clock.utcMs() / 1000));
    const shown = sessions.filter(
      ({ tokenHash }) => caller.scopes === null || tokenHash === caller.tokenHash,
    );
    const isOwn = owner.userID === caller.userID;
    const pushes = (await listRegistrations(services.db, owner)).filter(
      ({ sessionHash }) => caller.scopes === null || sessionHash === caller.tokenHash,
    );
    return {
      ...ok,
      tokens: shown.map((session) => viewToken(session, caller)),
      pushes: pushes.map((row) => viewPush(row, shown, isOwn)),
    };
  },
});

const endToken = operation({
  id: 'revokeToken',
  method: 'POST',
  path: '/auth/revoketoken/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'End a session: a login or a token',
  description: `Ends one login or API token of the calling user by its \`tokenID\`; also the one of this call. Administrators end that
of any user of the account with \`userID\`. Its next use answers 401, live streams that it opened end within seconds. A
session of another user answers 404. With an API token 422 \`forbidden\`; \`logout\` ends it.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      tokenID: Type.String({ minLength: 1, maxLength: 64, description: 'As listed by `getTokens`' }),
      userID: userMember,
    },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { body: { tokenID: '3b1f0a9c5d7e2468' } },
  async run({ body, caller, source }, services) {
    const { tokenID } = body;
    const owner = await ownerOf(services, caller, body.userID);
    const detail = { userID: owner.userID };
    const audited = { action: 'token.revoke', object: tokenID, detail, onlyIf: hasToken(owner, tokenID) };
    const results = await services.db.write([
      auditEntry(services, { caller, source }, audited),
      ...revokeToken(owner, tokenID),
    ]);
    if (results.at(-1)?.changes === 0) {
      throw new AppError('not_found', 'The user has no token of this tokenID', {
        hint: '`getTokens` lists them.',
      });
    }
    return ok;
  },
});

const endTokens = operation({
  id: 'revokeTokens',
  method: 'POST',
  path: '/auth/revoketokens/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'End all other sessions',
  description: `Ends every login and API token of the calling user but the one of this call, or with \`kind\` only the logins or only
the API tokens. Administrators end those of any user of the account with \`userID\`. \`ended\` says how many. Takes effect as
\`revokeToken\`; with an API token 422 \`forbidden\`.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      userID: userMember,
      kind: Type.Optional(Type.Enum(['login', 'api'], { description: 'Only these; both when absent' })),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    ended: Type.Integer({ minimum: 0, description: 'Sessions that ended' }),
  }),
  errors: ['not_found'],
  effects: true,
  examples: { body: { kind: 'login' }, result: { ended: 2 } },
  async run({ body, caller, source }, services) {
    const { accountID, userID } = await ownerOf(services, caller, body.userID);
    const kind = body.kind ?? null;
    const ended = { accountID, userID, kind, exceptHash: caller.tokenHash };
    const detail = kind === null ? {} : { kind };
    const audited = { action: 'token.revokeall', object: userID, detail, onlyIf: hasOtherSessions(ended) };
    const results = await services.db.write([
      auditEntry(services, { caller, source }, audited),
      ...revokeSessions(ended),
    ]);
    return { ...ok, ended: results.at(-1)?.changes ?? 0 };
  },
});

export const tokenOperations = [createToken, listTokens, endToken, endTokens] as const;
