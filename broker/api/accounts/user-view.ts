// A user in an answer. It must never hold a password, its hash, or a token.
import { type Static, Type } from 'typebox';
import { roles } from '../../core/accounts/session.ts';
import type { UserProfile } from '../../store/accounts/users.ts';
import { envelope, ok, text } from '../base/shapes.ts';

/** Shown among the groups of a user who sees every device; no group can have this id. */
export const everyDevice = 'all';

export const user = Type.Object({
  userID: text('Identifier within the account'),
  userDisplayName: text('Name for people'),
  userNotifyEmail: text('Address for notifications; may be empty'),
  contactPhone: text('Telephone number; may be empty'),
  timeZone: text('IANA time zone'),
  roleID: Type.Enum([...roles], { description: '`viewer`, `operator` or `admin`' }),
  groups: Type.Array(Type.String(), {
    description: 'Groups whose devices the user sees; with `all` in it, every device',
  }),
  isActive: Type.Boolean({ description: 'False: suspended' }),
  hasPassword: Type.Boolean({
    description: 'False: logs in at the login provider, which decides the role, and has no password here',
  }),
  isConfirmed: Type.Boolean({
    description:
      'False: does not count as a second user before `confirmUser` by another administrator than `grantedBy`',
  }),
  grantedBy: text(
    'Administrator who created or promoted the user, or gave the user a password or more devices (`OpenID Connect`: the login provider did); empty once confirmed',
  ),
  createdOn: Type.Integer({ description: 'When it was made (epoch seconds)' }),
  ...envelope,
});
export type UserView = Omit<Static<typeof user>, 'status_code' | 'success'>;

/** A user without the envelope. */
export function viewUser(profile: UserProfile): UserView {
  return {
    userID: profile.userID,
    userDisplayName: profile.displayName,
    userNotifyEmail: profile.notifyEmail,
    contactPhone: profile.phone,
    timeZone: profile.timeZone,
    roleID: profile.role,
    groups: [...(profile.seesAll ? [everyDevice] : []), ...profile.groups],
    isActive: profile.isActive,
    hasPassword: profile.identity === null,
    isConfirmed: profile.grantedBy === null,
    grantedBy: profile.grantedBy ?? '',
    createdOn: profile.createdS,
  };
}

export const exampleUser: Static<typeof user> = {
  userID: 'guest',
  userDisplayName: 'guest',
  userNotifyEmail: '',
  contactPhone: '',
  timeZone: 'America/Toronto',
  roleID: 'viewer',
  groups: ['north'],
  isActive: true,
  hasPassword: true,
  isConfirmed: true,
  grantedBy: '',
  createdOn: 1763683200,
  ...ok,
};
