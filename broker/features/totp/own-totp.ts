// The authenticator app of a user: looked at, set up, taken off. Each change needs the password again: a stolen session adds no way in.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { provePasswordAgain } from '../../api/accounts/password-proof.ts';
import { needUser } from '../../api/accounts/user-lookup.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { type Actor, auditEntry } from '../../api/base/audit-entry.ts';
import type { Caller } from '../../api/base/caller.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { passwordMost } from '../../core/accounts/password.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import { hashToken, revokeSessions } from '../../store/accounts/sessions.ts';
import {
  base32,
  codeRules,
  groupedCode,
  otpauthURL,
  recoveryBytes,
  stepOfCode,
  typedCode,
} from './one-time-code.ts';
import {
  beginSetup,
  confirmSetup,
  countRecovery,
  deleteTotp as deletion,
  findSetup,
  findTotp,
  hasTotp,
  isSetUp,
  isTotp,
  recoveryMost,
  setupS,
} from './totp-store.ts';

const app = Type.Object({
  created: Type.Integer({ description: 'Epoch seconds' }),
  lastUsed: Type.Union([Type.Integer(), Type.Null()], { description: 'Epoch seconds; null: not used yet' }),
  recoveryCodes: Type.Integer({
    minimum: 0,
    maximum: recoveryMost,
    description: 'Recovery codes that are left',
  }),
});
const passwordMember = Type.Optional(
  Type.String({ minLength: 1, maxLength: passwordMost, description: 'Password of the calling user' }),
);
const found = {
  ...envelope,
  totp: Type.Union([app, Type.Null()], { description: 'Null: the user has none' }),
};
const exampleApp = { created: 1763683200, lastUsed: null, recoveryCodes: recoveryMost };

async function view({ db }: ApiServices, user: Caller): Promise<Static<typeof app> | null> {
  const [row, recoveryCodes] = await Promise.all([findTotp(db, user), countRecovery(db, user)]);
  return row === null ? null : { created: row.createdS, lastUsed: row.lastUsedS, recoveryCodes };
}

const getTotp = operation({
  id: 'getTotp',
  method: 'GET',
  path: '/auth/totp/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Read whether the own login needs one-time codes',
  description: 'Our addition. The authenticator app of the calling user. Its secret is never shown again.',
  params: Type.Object({}),
  body: null,
  result: Type.Object(found),
  errors: [],
  effects: false,
  examples: { result: { totp: exampleApp } },
  run: async ({ caller }, services) => ({ ...ok, totp: await view(services, caller) }),
});

const nowSOf = ({ clock }: ApiServices): number => Math.floor(clock.utcMs() / 1000);

const beginTotp = operation({
  id: 'beginTotp',
  method: 'POST',
  path: '/auth/totp/begin/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Begin to set up an authenticator app',
  description: `Our addition, for users whose devices offer no passkeys: a passkey is safer, because no false page can take it. Needs the \`password\` of the
calling user. Show \`otpauthURL\` as a QR code and \`secret\` as text, once; the app computes codes by RFC 6238 (SHA-1, ${codeRules.digits} digits, ${codeRules.stepS} s). Finish with
\`confirmTotp\` within ${setupS / 60} minutes, in the same session. Until then the login is as before, with an app of before too. A user of the login provider gets 422 \`conflict\`:
the provider asks for further factors.`,
  params: Type.Object({}),
  body: Type.Object({ password: passwordMember }, { additionalProperties: false }),
  result: Type.Object({
    ...envelope,
    secret: Type.String({ description: 'Base32, for an app that reads no QR code' }),
    otpauthURL: Type.String({ description: 'The same as the app reads it from a QR code' }),
    expires: Type.Integer({ description: 'When this set-up ends (epoch seconds)' }),
  }),
  errors: ['conflict', 'password_needed', 'password_wrong', 'throttled'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { password: 'correct horse battery staple' },
    result: {
      secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
      otpauthURL:
        'otpauth://totp/Fleetward:dispatch%20(acme)?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Fleetward',
      expires: 1763683800,
    },
  },
  async run({ body: { password }, caller, source }, services) {
    const { db, entropy } = services;
    if ((await needUser(services, caller, caller.userID)).identity !== null)
      throw new AppError('conflict', 'You log in at a provider, which asks for further factors itself');
    await provePasswordAgain(services, { caller, source }, password);
    const bytes = entropy.bytes(codeRules.secretBytes);
    const nowS = nowSOf(services);
    const setup = { ...caller, sessionHash: caller.tokenHash, nowS };
    await db.write(beginSetup(setup, Buffer.from(bytes).toString('base64url')));
    const secret = base32(bytes);
    return { ...ok, secret, otpauthURL: otpauthURL(secret, caller), expires: nowS + setupS };
  },
});

/** For a logged-in user: the token is valid, so this is no 401, upon which a client would discard it. */
const notPresent = (): AppError =>
  new AppError('invalid_content', 'The code is not the present one; nothing was changed', {
    details: [{ pointer: '/code', message: 'is not the present code' }],
    hint: 'Type the newest code. Set the clock of the phone by its network: codes depend on it.',
  });

const notOpen = (): AppError =>
  new AppError('conflict', 'No set-up waits for a code in this session; nothing was changed', {
    hint: `Begin again with beginTotp, and finish within ${setupS / 60} minutes.`,
  });

const confirmTotp = operation({
  id: 'confirmTotp',
  method: 'POST',
  path: '/auth/totp/confirm/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Finish setting up an authenticator app',
  description: `Our addition. Finishes \`beginTotp\` with the present \`code\` of the app. From then on the password of the user alone begins no session: \`login\`
answers 401 \`code_needed\`, and \`loginByTotp\` begins one. Sessions that are open go on. The answer holds ${recoveryMost} recovery codes, which stand in place of a code
once each; they are shown this once. An app and recovery codes of before no longer count. 422 \`invalid_content\` for a wrong code,
\`conflict\` where no set-up waits in this session.`,
  params: Type.Object({}),
  body: Type.Object(
    { code: Type.String({ minLength: 6, maxLength: 16, description: 'The code that the app shows' }) },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...found,
    codes: Type.Array(Type.String(), {
      description: 'Recovery codes, each works once',
      maxItems: recoveryMost,
    }),
  }),
  errors: ['conflict', 'invalid_content'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { code: '287082' },
    result: { totp: exampleApp, codes: ['MZXW-6YTB-OI5G-KJ3D', 'NBSW-Y3DP-EB3W-64TM'] },
  },
  async run({ body, caller, source }, services) {
    const { db, entropy, log } = services;
    const setup = { ...caller, sessionHash: caller.tokenHash, nowS: nowSOf(services) };
    const secret = await findSetup(db, setup);
    if (secret === null) throw notOpen();
    const step = stepOfCode(typedCode(body.code)?.code ?? '', {
      secret: Buffer.from(secret, 'base64url'),
      nowS: setup.nowS,
      lastStep: -1,
    });
    if (step === null) throw notPresent();
    const made = Array.from({ length: recoveryMost }, () => base32(entropy.bytes(recoveryBytes)));
    const { accountID, userID } = caller;
    const results = await db.write([
      lockAccount(accountID),
      auditEntry(
        services,
        { caller, source },
        { action: 'totp.add', object: userID, onlyIf: isSetUp(setup, secret) },
      ),
      ...confirmSetup(setup, { secret, step, codeHashes: made.map(hashToken) }),
    ]);
    if (results.at(-1)?.changes !== 1) throw notOpen();
    log.info('totp_added', { accountID, userID, source });
    return { ...ok, totp: await view(services, caller), codes: made.map(groupedCode) };
  },
});

/** Whose app is to be taken off. @throws AppError `forbidden`, `not_found`. */
async function ownerOf(services: ApiServices, { caller }: Actor, userID: string) {
  if (caller.role !== 'admin')
    throw new AppError('forbidden', 'Only an administrator takes the authenticator app off other users');
  await needUser(services, caller, userID);
  return { accountID: caller.accountID, userID };
}

const deleteTotp = operation({
  id: 'deleteTotp',
  method: 'POST',
  path: '/auth/totp/delete/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Take an authenticator app off a user',
  description: `Our addition. Needs the \`password\` of the calling user. Without \`userID\` the own app goes; with it that of another user, by an administrator who
helps somebody who has lost a phone: then the sessions and API tokens of that user end. Recovery codes go too. The password alone begins a session again. Where there is none it answers 404.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      userID: Type.Optional(
        Type.String({ minLength: 1, maxLength: 64, description: 'Another user of the account' }),
      ),
      password: passwordMember,
    },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found', 'password_needed', 'password_wrong', 'throttled'],
  effects: true,
  examples: { body: { password: 'correct horse battery staple' } },
  async run({ body: { userID: of, password }, caller, source }, services) {
    const actor = { caller, source };
    const isOwn = of === undefined || of === caller.userID;
    const owner = isOwn ? caller : await ownerOf(services, actor, of);
    await provePasswordAgain(services, actor, password);
    const { accountID, userID } = owner;
    if (!(await hasTotp(services.db, owner)))
      throw new AppError('not_found', 'The user has no authenticator app');
    await services.db.write([
      lockAccount(accountID),
      auditEntry(services, actor, { action: 'totp.delete', object: userID, onlyIf: isTotp(owner) }),
      ...(isOwn ? [] : revokeSessions({ accountID, userID, exceptHash: null, kind: null })),
      ...deletion(owner),
    ]);
    services.log.info('totp_deleted', { accountID, userID, source });
    return ok;
  },
});

export const ownTotpOperations = [getTotp, beginTotp, confirmTotp, deleteTotp] as const;
