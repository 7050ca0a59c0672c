// Authentication on the operator's listener: the one token of the admin token file. The operator is no user of any account,
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

/** @param tokenHash SHA-256 of the token in hexadecimal. @returns what the host asks about every request. */
export function createOperatorCheck(tokenHash: string) {
  const caller: Caller = {
    accountID: serviceAccount,
    userID: operatorNames.userID,
    role: 'admin',
    tokenHash,
    scope: wholeAccount(serviceAccount),
    scopes: null,
    fleetRevision: 0,
  };
  return async (header: string | undefined): Promise<Caller> => {
    const token = tokenOf(header);
    if (token !== null && isSecret(new TextEncoder().encode(token), tokenHash)) return caller;
    throw new AppError('unauthorized', 'The token is not the one of the service operator', {
      hint: 'Send the line of the file that `fleetward-broker admin-token` made in the request header `authorization`.',
    });
  };
}

/** @throws AppError `not_found` for anybody but the service's operator, whatever list an operation was put into. */
export function needOperator(caller: Caller): void {
  if (caller.accountID !== serviceAccount) throw new AppError('not_found', 'There is nothing here');
}
