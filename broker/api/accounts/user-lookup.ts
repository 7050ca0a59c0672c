// One user of the account, if visible to the caller: administrators see all users, others only themselves.
import { AppError } from '../../../src/core/errors.ts';
import { findProfile, type UserProfile } from '../../store/accounts/users.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Caller } from '../base/caller.ts';

/** @throws AppError `not_found`, with the same message for a user of another account. */
export async function needUser(services: ApiServices, caller: Caller, userID: string): Promise<UserProfile> {
  const { accountID } = caller;
  const isAllowed = caller.role === 'admin' || caller.userID === userID;
  const profile = isAllowed ? await findProfile(services.db, { accountID, userID }) : null;
  if (profile === null) throw new AppError('not_found', `There is no user ${JSON.stringify(userID)}`);
  return profile;
}
