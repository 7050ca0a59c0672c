// Passkeys of users: a login by PIN or finger, which no page of another address can steal. From the first one on, the password alone begins no
// session.
import { AppError } from '../../../src/core/errors.ts';
import { loginAgainOperations } from '../../api/accounts/login-again.ts';
import { feature } from '../feature.ts';
import { passkeyLoginOperations } from './login.ts';
import { ownPasskeyOperations } from './own-passkeys.ts';
import { hasPasskey, passkeyTables } from './passkey-store.ts';

const passkeyNeeded = (): AppError =>
  new AppError('passkey_needed', 'This user logs in with a passkey; the password alone begins no session', {
    hint: 'Use beginPasskeyLogin and loginByPasskey. Programs use API tokens.',
  });

export const passkeys = feature({
  tables: passkeyTables,
  operations: [...ownPasskeyOperations, ...passkeyLoginOperations],
  follows: loginAgainOperations,
  needsMore: async (db, user) => ((await hasPasskey(db, user)) ? passkeyNeeded() : null),
});
