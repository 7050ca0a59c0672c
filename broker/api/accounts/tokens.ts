// Tokens of the calling user: make one for a program, list what is open in his name, end it. A token never has more
// rights than its user has at the moment of the call, and only a login can make one.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { formatToken, sessionLimits, tokenRandomBytes } from '../../core/session.ts';
import {
  apiTokensMost,
  hashToken,
  hasToken,
  insertApiToken,
  listSessions,
  revokeToken,
  tokenIDOf,
} from '../../store/sessions.ts';
import { operation } from '../operation.ts';
import { envelope, ok } from '../shapes.ts';
import { trail } from '../trail.ts';

const epochMost = 99_999_999_999;
const defaultLifeS = 90 * 24 * 3600;

const createToken = operation({
  id: 'token',
  method: 'POST',
  path: '/auth/token/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Authentication',
  summary: 'Make a token for a program',
  description: `Gives an API token of the calling user, shown this once. It is sent like the token of a login. It lives until
\`expires\` (epoch seconds; at most 366 days ahead, 90 days when absent) whether it is used or not, and acts with the role,
the groups and the account that its user has at the moment of each call. It ends earlier when its user is suspended or
deleted, when his password is changed, or by \`revokeToken\`; suspending the account refuses it.

Only a login may make tokens: with an API token the call answers 422 \`conflict\`, so that no token can replace itself
before it ends. A user has at most ${apiTokensMost} of them.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      description: Type.String({ minLength: 1, maxLength: 128, description: 'What it is for' }),
      expires: Type.Optional(
        Type.Integer({ minimum: 1, maximum: epochMost, description: 'When it ends (epoch seconds)' }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    token: Type.String({ description: '`<accountID>%7C<userID>%7C<random>`; shown once' }),
    tokenID: Type.String({ description: 'Names the token in the list; gives no right' }),
    expires: Type.Integer({ description: 'When it ends (epoch seconds)' }),
  }),
  errors: ['conflict'],
  effects: true,
  answerIsSecret: true,
  examples: {
    params: {},
    body: { description: 'Nightly report' },
    result: {
      ...ok,
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
      throw new AppError('invalid_content', '/expires must lie ahead, by at most 366 days', {
        details: [{ pointer: '/expires', message: 'must lie ahead, by at most 366 days' }],
      });
    }
    const token = formatToken({ accountID, userID }, services.entropy.bytes(tokenRandomBytes));
    const tokenHash = hashToken(token);
    const tokenID = tokenIDOf(tokenHash);
    const { description } = body;
    const byTokenHash = caller.tokenHash;
    const deed = { action: 'token.create', object: tokenID, detail: { description, expires: expiresS } };
    const [inserted] = await services.db.write([
      insertApiToken({ accountID, userID, tokenHash, description, atS, expiresS, byTokenHash }),
      trail(services, { caller, source }, { ...deed, onlyIf: hasToken(caller, tokenID) }),
    ]);
    if (inserted?.changes !== 1) {
      throw new AppError('conflict', `no token was made: ${apiTokensMost} are open, or this is no login`, {
        hint: 'Log in with the password, and revoke a token that is no longer used.',
      });
    }
    return { ...ok, token, tokenID, expires: expiresS };
  },
});

const tokenEntry = Type.Object({
  tokenID: Type.String({ description: 'Names the token; gives no right' }),
  kind: Type.Enum(['login', 'api'], { description: 'Session of a login, or API token' }),
  description: Type.String({ description: 'As given when it was made; empty for a login' }),
  createdOn: Type.Integer({ description: 'When it was made (epoch seconds)' }),
  lastUsedOn: Type.Integer({ description: 'Last use, to the minute (epoch seconds)' }),
  expires: Type.Integer({ description: 'Latest end (epoch seconds)' }),
  isCurrent: Type.Boolean({ description: 'True for the token of this call' }),
});

const listTokens = operation({
  id: 'getTokens',
  method: 'GET',
  path: '/auth/tokens/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Authentication',
  summary: 'Tokens of the calling user',
  description: `Every login and API token that is open in the name of the calling user, newest first. The tokens themselves are
shown to nobody: the service keeps only their hashes. Tokens of other users are not shown, not even to administrators,
who end them by suspending the user or setting his password.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, tokens: Type.Array(tokenEntry) }),
  errors: [],
  effects: false,
  examples: {
    params: {},
    body: null,
    result: {
      ...ok,
      tokens: [
        {
          tokenID: '3b1f0a9c5d7e2468',
          kind: 'api',
          description: 'Nightly report',
          createdOn: 1763683200,
          lastUsedOn: 1763683260,
          expires: 1771459200,
          isCurrent: false,
        },
      ],
    },
  },
  async run({ caller }, { db, clock }) {
    const sessions = await listSessions(db, caller, Math.floor(clock.utcMs() / 1000));
    return {
      ...ok,
      tokens: sessions.map((session) => ({
        tokenID: session.tokenID,
        kind: session.kind,
        description: session.description,
        createdOn: session.createdS,
        lastUsedOn: session.lastUsedS,
        expires: session.expiresS ?? session.createdS + sessionLimits.absoluteS,
        isCurrent: session.tokenHash === caller.tokenHash,
      })),
    };
  },
});

const endToken = operation({
  id: 'revokeToken',
  method: 'POST',
  path: '/auth/revoketoken/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Authentication',
  summary: 'End a token of the calling user',
  description: `Ends one login or API token of the calling user by its \`tokenID\`; also the one of this call. Its next use answers
401, live streams that it opened end within seconds. Another user's token answers 404.`,
  params: Type.Object({}),
  body: Type.Object(
    { tokenID: Type.String({ minLength: 1, maxLength: 64, description: 'As listed by `getTokens`' }) },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { params: {}, body: { tokenID: '3b1f0a9c5d7e2468' }, result: ok },
  async run({ body, caller, source }, services) {
    const { tokenID } = body;
    const deed = { action: 'token.revoke', object: tokenID, onlyIf: hasToken(caller, tokenID) };
    const results = await services.db.write([
      trail(services, { caller, source }, deed),
      revokeToken(caller, tokenID),
    ]);
    if (results.at(-1)?.changes === 0) throw new AppError('not_found', 'you have no token of this tokenID');
    return ok;
  },
});

export const tokenOperations = [createToken, listTokens, endToken] as const;
