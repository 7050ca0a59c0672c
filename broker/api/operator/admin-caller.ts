// Authentication on the operator's listener: the token of the admin token file, and the one that only reads. The operator is no user of any account,
// so the token reaches no account's data, and no user's token is valid here.
import { AppError } from '../../../src/core/errors.ts';
import { tokenOf } from '../../core/accounts/session.ts';
import { wholeAccount } from '../../store/base/scope.ts';
import { isSecret } from '../../store/devices/device-secret.ts';
import type { Caller } from '../base/caller.ts';

/** The service itself, as the audit log knows it; no account can have this id. */
const serviceAccount = '';

/** Names in the operator's token; decoration only. */
export const operatorNames = { accountID: 'service', userID: 'operator' } as const;

const callerOf = (tokenHash: string, role: 'admin' | 'viewer'): Caller => ({
  accountID: serviceAccount,
  userID: operatorNames.userID,
  role,
  tokenHash,
  scope: wholeAccount(serviceAccount),
  scopes: null,
  fleetRevision: 0,
});

/**
 * @param tokenHash SHA-256 of the token in hexadecimal; null: there is none.
 * @param viewTokenHash the same of the token that only reads the state of the service.
 * @returns the host's check of every request.
 */
export function createOperatorCheck(tokenHash: string | null, viewTokenHash: string | null = null) {
  const known = [
    ...(tokenHash === null ? [] : [callerOf(tokenHash, 'admin')]),
    ...(viewTokenHash === null ? [] : [callerOf(viewTokenHash, 'viewer')]),
  ];
  return async (header: string | undefined): Promise<Caller> => {
    const token = tokenOf(header);
    const bytes = new TextEncoder().encode(token ?? '');
    // Each is compared, in constant time.
    const [caller] = known.filter((one) => isSecret(bytes, one.tokenHash));
    if (token !== null && caller !== undefined) return caller;
    throw new AppError('unauthorized', 'The token is not one of the service operator', {
      hint: 'Send the line of the file that `fleetward-broker admin-token` made in the request header `authorization`.',
    });
  };
}

/** @throws AppError `not_found` for all but the service's operator, in any list of operations. */
export function needOperator(caller: Caller): void {
  if (caller.accountID !== serviceAccount) throw new AppError('not_found', 'There is nothing here');
}
