// Checks what an API token may call. Deny by default: an operation that names no right is for logins only.
import { AppError } from '../../../src/core/errors.ts';
import { type Caller } from './caller.ts';
import type { Operation } from './operation.ts';

/** @throws AppError `forbidden` when the caller's API token does not cover the operation. A login covers every one. */
export function needTokenRight(
  { scopes, scope }: Caller,
  { id, token = 'none' }: Pick<Operation, 'id' | 'token'>,
): void {
  if (scopes === null || token === 'own') return;
  if (token === 'none') {
    throw new AppError('forbidden', `${id} is for logins: no API token may call it`, {
      hint: 'Log in with the password.',
    });
  }
  if (!scopes.includes(token.scope)) {
    const held = scopes.length === 0 ? 'none' : scopes.join(', ');
    throw new AppError(
      'forbidden',
      `${id} needs a token with the scope ${token.scope}; this one has ${held}`,
      {
        hint: 'Make a token with that scope: see `token`.',
      },
    );
  }
  if (scope.within === undefined || token.ofDevices) return;
  throw new AppError('forbidden', `${id} concerns the account, and this token names devices or groups`, {
    hint: 'Make a token that names none.',
  });
}
