// One-time codes of an authenticator app, the second factor where no passkey can be had. For the login only: no code stands under an order.
import { AppError } from '../../../src/core/errors.ts';
import { loginAgainOperations } from '../../api/accounts/login-again.ts';
import { feature } from '../feature.ts';
import { totpLoginOperations } from './login.ts';
import { ownTotpOperations } from './own-totp.ts';
import { hasTotp, totpTables } from './totp-store.ts';

/** A user who also has a passkey may sign in with either. */
const codeNeeded = (): AppError =>
  new AppError(
    'code_needed',
    'This user logs in with a one-time code; the password alone begins no session',
    {
      hint: 'Use loginByTotp, or loginByPasskey where the user has a passkey. Programs use API tokens.',
    },
  );

export const totp = feature({
  tables: totpTables,
  operations: [...ownTotpOperations, ...totpLoginOperations],
  follows: loginAgainOperations,
  needsMore: async (db, user) => ((await hasTotp(db, user)) ? codeNeeded() : null),
});
