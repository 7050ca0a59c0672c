// What a user looks like in an answer. It must never hold a password, its hash, or a token.
import { type Static, Type } from 'typebox';
import { roles } from '../../core/session.ts';
import type { UserProfile } from '../../store/users.ts';
import { envelope, ok } from '../shapes.ts';

/** Stands among the groups of a user who sees every device; no group can have this id. */
export const everyDevice = 'all';

const text = (description: string) => Type.String({ description });

export const user = Type.Object({
  userID: text('Identifier within the account'),
  userDisplayName: text('Name for people'),
  userNotifyEmail: text('Address for notifications; may be empty'),
  contactPhone: text('Telephone number; may be empty'),
  timeZone: text('IANA time zone'),
  roleID: Type.Enum([...roles], { description: '`viewer`, `operator` or `admin`' }),
  groups: Type.Array(Type.String(), {
    description: 'Groups whose devices the user sees; with `all` in it he sees every device',
  }),
  isActive: Type.Boolean({ description: 'False: suspended' }),
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
  createdOn: 1763683200,
  ...ok,
};
