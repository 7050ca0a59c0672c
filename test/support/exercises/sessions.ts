// Logins and API tokens: begun, listed, limited, ended.
import { createAuthenticatorApp } from '../http/authenticator-app.ts';
import { createSoftwarePasskey } from '../http/software-passkey.ts';
import { area, type Bench, mustHide, mustRefuse, mustShow, userIDs } from './bench.ts';

interface Session {
  readonly tokenID: string;
  readonly kind: string;
  readonly isCurrent: boolean;
}

interface State {
  api: { readonly token: string; readonly tokenID: string };
  readonly key: ReturnType<typeof createSoftwarePasskey>;
  challenge: string;
  app: ReturnType<typeof createAuthenticatorApp> | null;
  recovery: string;
}

const readSessions = async (bench: Bench, token: string): Promise<readonly Session[]> =>
  (await bench.read<{ tokens: readonly Session[] }>('/auth/tokens', { token })).tokens;

async function logIn(bench: Bench, user: 'viewer' | 'operator'): Promise<string> {
  const userID = userIDs[user];
  const body = { accountID: bench.accountID, userID, password: bench.passwordOf(user) };
  const { token } = await bench.call<{ token: string }>('login', { as: null, body });
  bench.secret(token);
  bench.changed('login', userID, user);
  return token;
}

export const sessions = area<State>(
  () => ({
    api: { token: '', tokenID: '' },
    key: createSoftwarePasskey(),
    challenge: '',
    app: null,
    recovery: '',
  }),
  [
    {
      operation: 'login',
      async run(bench) {
        const token = await logIn(bench, 'viewer');
        const current = (await readSessions(bench, token)).find(({ isCurrent }) => isCurrent);
        mustShow(bench, 'a new login', { shown: current, wanted: { kind: 'login' } });
        const body = { accountID: bench.accountID, userID: userIDs.viewer, password: bench.unique() };
        await mustRefuse(bench, 'login', { as: null, body, code: 'login_failed' });
      },
    },
    {
      operation: 'logout',
      async run(bench) {
        const token = await logIn(bench, 'viewer');
        const params = { accountID: bench.accountID, userID: userIDs.viewer };
        const other = { ...params, userID: userIDs.operator };
        await mustRefuse(bench, 'logout', { as: { token }, params: other, code: 'not_found' });
        await bench.call('logout', { as: { token }, params });
        bench.changed('logout', userIDs.viewer, 'viewer');
        await mustHide(bench, '/auth/tokens', { as: { token }, code: 'unauthorized' });
      },
    },
    {
      operation: 'token',
      async run(bench, state) {
        const body = { description: 'Nightly report', scopes: ['read'] };
        state.api = await bench.call<State['api']>('token', { as: 'operator', body });
        const { token, tokenID } = state.api;
        bench.secret(token);
        bench.changed('token.create', tokenID, 'operator');
        const shown = (await readSessions(bench, token)).find((one) => one.tokenID === tokenID);
        mustShow(bench, 'a new token', { shown, wanted: { kind: 'api', ...body } });
        const device = { deviceID: 'operations-none' };
        await mustRefuse(bench, 'createDevice', { as: { token }, body: device, code: 'forbidden' });
      },
    },
    {
      operation: 'revokeToken',
      async run(bench, { api }) {
        const { token, tokenID } = api;
        const ofOther = { as: 'viewer', body: { tokenID } } as const;
        await mustRefuse(bench, 'revokeToken', { ...ofOther, code: 'not_found' });
        await bench.call('revokeToken', { as: 'operator', body: { tokenID } });
        bench.changed('token.revoke', tokenID, 'operator');
        await mustHide(bench, '/auth/tokens', { as: { token }, code: 'unauthorized' });
        await mustRefuse(bench, 'revokeToken', { as: 'operator', body: { tokenID }, code: 'not_found' });
      },
    },
    {
      operation: 'revokeTokens',
      async run(bench) {
        const token = await logIn(bench, 'operator');
        const { ended } = await bench.call<{ ended: number }>('revokeTokens', { as: 'operator', body: {} });
        bench.changed('token.revokeall', userIDs.operator, 'operator');
        bench.look(ended === 1, `revokeTokens ended ${ended} sessions instead of 1`);
        await mustHide(bench, '/auth/tokens', { as: { token }, code: 'unauthorized' });
        await bench.read('/auth/tokens', 'operator');
      },
    },
    {
      operation: 'loginByCode',
      async run(bench) {
        const code = await bench.loginCode(userIDs.viewer);
        bench.secret(code);
        const answer = await bench.call<{ token: string }>('loginByCode', { as: null, body: { code } });
        bench.secret(answer.token);
        bench.changed('login', userIDs.viewer, 'viewer');
        mustShow(bench, 'a login by code', { shown: answer, wanted: { userID: userIDs.viewer } });
        await bench.read('/auth/tokens', { token: answer.token });
        await mustRefuse(bench, 'loginByCode', { as: null, body: { code }, code: 'login_failed' });
      },
    },
    {
      operation: 'beginPasskey',
      async run(bench, state) {
        const password = bench.passwordOf('viewer');
        const asked = { as: 'viewer', body: { password } } as const;
        const { options } = await bench.call<{ options: { challenge: string } }>('beginPasskey', asked);
        state.challenge = options.challenge;
        await mustRefuse(bench, 'beginPasskey', { as: 'viewer', body: {}, code: 'password_needed' });
      },
    },
    {
      operation: 'addPasskey',
      async run(bench, { key, challenge }) {
        const body = { name: 'Ring', response: key.create({ challenge }) };
        await bench.call('addPasskey', { as: 'viewer', body });
        bench.changed('passkey.add', userIDs.viewer, 'viewer');
        await mustRefuse(bench, 'addPasskey', { as: 'viewer', body, code: 'invalid_content' });
        const { passkeys } = await bench.read<{ passkeys: readonly object[] }>('/auth/passkeys', 'viewer');
        mustShow(bench, 'a new passkey', { shown: passkeys[0], wanted: { passkeyID: key.id, name: 'Ring' } });
        const password = bench.passwordOf('viewer');
        const login = { accountID: bench.accountID, userID: userIDs.viewer, password };
        await mustRefuse(bench, 'login', { as: null, body: login, code: 'passkey_needed' });
      },
    },
    {
      operation: 'beginPasskeyLogin',
      async run(bench, state) {
        const begun = await bench.call<{ options: { challenge: string } }>('beginPasskeyLogin', { as: null });
        state.challenge = begun.options.challenge;
      },
    },
    {
      operation: 'loginByPasskey',
      async run(bench, { key, challenge }) {
        const body = { response: key.get({ challenge }) };
        const answer = await bench.call<{ token: string }>('loginByPasskey', { as: null, body });
        bench.secret(answer.token);
        bench.changed('login', userIDs.viewer, 'viewer');
        await mustRefuse(bench, 'loginByPasskey', { as: null, body, code: 'login_failed' });
      },
    },
    {
      operation: 'deletePasskeys',
      async run(bench, { key }) {
        const body = { passkeyID: key.id, password: bench.passwordOf('viewer') };
        await bench.call('deletePasskeys', { as: 'viewer', body });
        bench.changed('passkey.delete', userIDs.viewer, 'viewer');
        await mustRefuse(bench, 'deletePasskeys', { as: 'viewer', body, code: 'not_found' });
      },
    },
    {
      operation: 'beginTotp',
      async run(bench, state) {
        const password = bench.passwordOf('viewer');
        const asked = { as: 'viewer', body: { password } } as const;
        const { secret } = await bench.call<{ secret: string }>('beginTotp', asked);
        bench.secret(secret);
        state.app = createAuthenticatorApp(secret);
        await mustRefuse(bench, 'beginTotp', { as: 'viewer', body: {}, code: 'password_needed' });
      },
    },
    {
      operation: 'confirmTotp',
      async run(bench, state) {
        const body = { code: state.app?.code(Date.now()) ?? '' };
        const { codes } = await bench.call<{ codes: readonly string[] }>('confirmTotp', {
          as: 'viewer',
          body,
        });
        for (const code of codes) bench.secret(code);
        state.recovery = codes[0] ?? '';
        bench.changed('totp.add', userIDs.viewer, 'viewer');
        await mustRefuse(bench, 'confirmTotp', { as: 'viewer', body, code: 'conflict' });
        const { totp } = await bench.read<{ totp: object | null }>('/auth/totp', 'viewer');
        mustShow(bench, 'a new authenticator app', {
          shown: totp ?? {},
          wanted: { recoveryCodes: codes.length },
        });
        const password = bench.passwordOf('viewer');
        const login = { accountID: bench.accountID, userID: userIDs.viewer, password };
        await mustRefuse(bench, 'login', { as: null, body: login, code: 'code_needed' });
      },
    },
    {
      operation: 'loginByTotp',
      async run(bench, { recovery: code }) {
        const password = bench.passwordOf('viewer');
        const body = { accountID: bench.accountID, userID: userIDs.viewer, password, code };
        const answer = await bench.call<{ token: string }>('loginByTotp', { as: null, body });
        bench.secret(answer.token);
        bench.changed('login', userIDs.viewer, 'viewer');
        await mustRefuse(bench, 'loginByTotp', { as: null, body, code: 'login_failed' });
        bench.changed('totp.fail', userIDs.viewer, 'viewer');
      },
    },
    {
      operation: 'deleteTotp',
      async run(bench) {
        const body = { password: bench.passwordOf('viewer') };
        await bench.call('deleteTotp', { as: 'viewer', body });
        bench.changed('totp.delete', userIDs.viewer, 'viewer');
        await mustRefuse(bench, 'deleteTotp', { as: 'viewer', body, code: 'not_found' });
      },
    },
  ],
);
