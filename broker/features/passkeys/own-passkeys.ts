// The passkeys of a user: listed, added and deleted. Each change needs the password again: a stolen session adds no way in.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { provePasswordAgain } from '../../api/accounts/password-proof.ts';
import { needUser } from '../../api/accounts/user-lookup.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { type Actor, auditEntry } from '../../api/base/audit-entry.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { passwordMost } from '../../core/accounts/password.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import { begun } from './begun.ts';
import { clientDataOf, registered, registrationOptions, relyingPartyOf } from './ceremony.ts';
import {
  ceremonyS,
  consumeCeremony,
  deletePasskey as deletion,
  insertPasskey,
  listPasskeys,
  type PasskeyRow,
  passkeysMost,
} from './passkey-store.ts';
import { browserOptions, passkeyIDText, registrationResponse } from './shapes.ts';

const passkey = Type.Object({
  passkeyID: passkeyIDText,
  name: Type.String({ description: 'As its user named it' }),
  isBackedUp: Type.Boolean({
    description: 'The authenticator keeps a copy elsewhere, such as at the maker of a phone',
  }),
  created: Type.Integer({ description: 'Epoch seconds' }),
  lastUsed: Type.Union([Type.Integer(), Type.Null()], { description: 'Epoch seconds; null: not used yet' }),
});
const view = ({ passkeyID, name, isBackedUp, createdS, lastUsedS }: PasskeyRow) => ({
  passkeyID,
  name,
  isBackedUp: isBackedUp === 1,
  created: createdS,
  lastUsed: lastUsedS,
});
const list = Type.Object({ ...envelope, passkeys: Type.Array(passkey, { maxItems: passkeysMost }) });
const examplePasskey = {
  passkeyID: 'q0Jx3hYbT1uC9nFvR7sLwA',
  name: 'Blue key on my ring',
  isBackedUp: false,
  created: 1763683200,
  lastUsed: null,
};

const passwordMember = Type.Optional(
  Type.String({ minLength: 1, maxLength: passwordMost, description: 'Password of the calling user' }),
);
const refusals = ['password_needed', 'password_wrong', 'throttled'] as const;

const getPasskeys = operation({
  id: 'getPasskeys',
  method: 'GET',
  path: '/auth/passkeys/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'List the own passkeys',
  description: 'Our addition. Passkeys of the calling user, the oldest first.',
  params: Type.Object({}),
  body: null,
  result: list,
  errors: [],
  effects: false,
  examples: { result: { passkeys: [examplePasskey] } },
  run: async ({ caller }, { db }) => ({ ...ok, passkeys: (await listPasskeys(db, caller)).map(view) }),
});

const beginPasskey = operation({
  id: 'beginPasskey',
  method: 'POST',
  path: '/auth/passkeys/begin/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Begin to add a passkey',
  description: `Our addition. Needs the \`password\` of the calling user. Give the \`options\` to the browser (\`navigator.credentials.create\`), and
finish with \`addPasskey\` within ${ceremonyS / 60} minutes, in the same session. A user may have ${passkeysMost} passkeys: one more answers 422 \`conflict\`.`,
  params: Type.Object({}),
  body: Type.Object({ password: passwordMember }, { additionalProperties: false }),
  result: Type.Object({ ...envelope, options: browserOptions }),
  errors: ['conflict', ...refusals],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { password: 'correct horse battery staple' },
    result: { options: { challenge: 'p0Gv2b7Xr9oKQh1sVtYc3Jm5Zl8NwEaDfUiTgRkSxHA' } },
  },
  async run({ body: { password }, caller, source }, services) {
    await provePasswordAgain(services, { caller, source }, password);
    const known = (await listPasskeys(services.db, caller)).map(({ passkeyID }) => passkeyID);
    if (known.length >= passkeysMost)
      throw new AppError('conflict', `You have ${passkeysMost} passkeys already`, {
        hint: 'Delete one that you no longer use.',
      });
    const challenge = await begun(services, caller.tokenHash);
    const party = relyingPartyOf(services.consoleUrl);
    return { ...ok, options: { ...(await registrationOptions(party, caller, { challenge, known })) } };
  },
});

/** For a logged-in user: the token is valid, so this is no 401, upon which a client would discard it. */
const notAdded = (): AppError =>
  new AppError('invalid_content', 'The browser has proven no passkey for this service; nothing was added', {
    hint: 'Begin again with beginPasskey. The address of the console must be that of the configuration (`consoleUrl`), or `localhost`.',
  });

const addPasskey = operation({
  id: 'addPasskey',
  method: 'POST',
  path: '/auth/passkeys/add/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Add a passkey',
  description: `Our addition. Finishes \`beginPasskey\` with the browser's answer. From the first passkey on the password of the user alone begins no session:
\`login\` answers 401 \`passkey_needed\`, and \`loginByPasskey\` begins one. Sessions that are open go on. The user's passkeys are returned. 422
\`invalid_content\` for a response that proves none or was not asked for in this session, \`conflict\` for a passkey that is known already.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      name: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'So that its user knows it in the list',
      }),
      response: registrationResponse,
    },
    { additionalProperties: false },
  ),
  result: list,
  errors: ['conflict'],
  effects: true,
  examples: {
    body: {
      name: 'Blue key on my ring',
      response: {
        id: 'q0Jx3hYbT1uC9nFvR7sLwA',
        rawId: 'q0Jx3hYbT1uC9nFvR7sLwA',
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
          attestationObject: 'o2NmbXRkbm9uZQ',
        },
      },
    },
    result: { passkeys: [examplePasskey] },
  },
  async run({ body: { name, response }, caller, source }, services) {
    const { db, clock, log } = services;
    const said = clientDataOf(response.response.clientDataJSON);
    if (said === null) throw notAdded();
    const nowS = Math.floor(clock.utcMs() / 1000);
    const ceremony = { challengeHash: hashToken(said.challenge), sessionHash: caller.tokenHash, nowS };
    const [taken] = await db.write([consumeCeremony(ceremony)]);
    const party = relyingPartyOf(services.consoleUrl, said.origin);
    const proven = taken?.changes === 1 ? await registered(response, party, said.challenge) : null;
    if (proven === null) throw notAdded();
    const { accountID, userID } = caller;
    const [added] = await db.write([
      insertPasskey({ ...proven, accountID, userID, name, createdS: nowS }),
      auditEntry(services, { caller, source }, { action: 'passkey.add', object: userID, detail: { name } }),
    ]);
    if (added?.changes !== 1)
      throw new AppError('conflict', 'This passkey is known already, or you have as many as you may');
    log.info('passkey_added', { accountID, userID, source });
    return { ...ok, passkeys: (await listPasskeys(db, caller)).map(view) };
  },
});

/** Whose passkey is to be deleted. @throws AppError `forbidden`, `not_found`. */
async function ownerOf(services: ApiServices, { caller }: Actor, userID: string) {
  if (userID === caller.userID) return caller;
  if (caller.role !== 'admin')
    throw new AppError('forbidden', 'Only an administrator deletes passkeys of other users');
  await needUser(services, caller, userID);
  return { accountID: caller.accountID, userID };
}

const deletePasskeys = operation({
  id: 'deletePasskeys',
  method: 'POST',
  path: '/auth/passkeys/delete/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Delete passkeys',
  description: `Our addition. Needs the \`password\` of the calling user. With \`passkeyID\` one own passkey is deleted, with \`userID\` all of that user: an
administrator helps somebody who has lost a key. Without a passkey the password alone begins a session again. One that is not there answers 404.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      passkeyID: Type.Optional(passkeyIDText),
      userID: Type.Optional(
        Type.String({ minLength: 1, maxLength: 64, description: 'All passkeys of this user' }),
      ),
      password: passwordMember,
    },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found', ...refusals],
  effects: true,
  examples: { body: { passkeyID: examplePasskey.passkeyID, password: 'correct horse battery staple' } },
  async run({ body: { passkeyID: named, userID: of, password }, caller, source }, services) {
    if ((named === undefined) === (of === undefined))
      throw new AppError('invalid_content', 'Send either passkeyID or userID; nothing was deleted');
    const actor = { caller, source };
    const owner = of === undefined ? caller : await ownerOf(services, actor, of);
    await provePasswordAgain(services, actor, password);
    const all = await listPasskeys(services.db, owner);
    const gone = named === undefined ? all : all.filter(({ passkeyID }) => passkeyID === named);
    if (gone.length === 0) throw new AppError('not_found', 'There is no such passkey');
    const { userID } = owner;
    await services.db.write(
      gone.flatMap(({ passkeyID, name }) => [
        deletion(owner, passkeyID),
        auditEntry(services, actor, { action: 'passkey.delete', object: userID, detail: { name } }),
      ]),
    );
    services.log.info('passkey_deleted', { accountID: caller.accountID, userID, source });
    return ok;
  },
});

export const ownPasskeyOperations = [getPasskeys, beginPasskey, addPasskey, deletePasskeys] as const;
