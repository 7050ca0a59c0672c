// The ways into a session: password, password and one-time code, passkey, login code, and what the login provider sent the browser back with.
import type { Arrival } from './arrival.ts';
import { call, ServiceError } from './call.ts';
import { loginByPasskey } from './passkeys.ts';
import { beginSession, leaveEnded, session } from './session.ts';

export interface Credentials {
  readonly accountID: string;
  readonly userID: string;
  readonly password: string;
}

export type Entry =
  | (Credentials & { readonly kind: 'password' })
  | (Credentials & { readonly kind: 'totp'; readonly code: string })
  | Arrival
  | { readonly kind: 'passkey' };

/** The provider sent an error, or this tab began no login. */
const notBegun = (): ServiceError =>
  new ServiceError(
    { code: 'login_failed', detail: 'The login at the provider was not completed', hint: null },
    0,
  );

/** Begins the session of this tab. @throws ServiceError */
export async function signIn(entry: Entry): Promise<void> {
  if (entry.kind === 'password') {
    const { accountID, userID, password } = entry;
    const { token } = await call('login', { body: { accountID, userID, password } });
    return beginSession({ token, accountID, userID, logoutURL: '' });
  }
  if (entry.kind === 'totp') {
    const { accountID, userID, password, code } = entry;
    const { token } = await call('loginByTotp', { body: { accountID, userID, password, code } });
    return beginSession({ token, accountID, userID, logoutURL: '' });
  }
  if (entry.kind === 'passkey') {
    const { token, accountID, userID } = await loginByPasskey();
    const before = session.get();
    // Nothing of an ended session is shown to another user.
    if (before?.accountID !== accountID || before.userID !== userID) leaveEnded();
    return beginSession({ token, accountID, userID, logoutURL: '' });
  }
  if (entry.kind === 'code') {
    const { token, accountID, userID } = await call('loginByCode', { body: { code: entry.code } });
    return beginSession({ token, accountID, userID, logoutURL: '' });
  }
  const { loginSecret, code, state, iss } = entry;
  if (loginSecret === null || code === '') throw notBegun();
  const body = { loginSecret, code, state, ...(iss === null ? {} : { iss }) };
  const { token, accountID, userID, logoutURL } = await call('finishProviderLogin', { body });
  beginSession({ token, accountID, userID, logoutURL });
}
