// What the people screens show, and the rights of a user with their reasons. Pure.
import type { Result } from '../api/operations.ts';

export type User = Result<'getAllUsers'>['users'][number];
export type Group = Result<'groups'>['groups'][number];
export type OpenSession = Result<'getTokens'>['tokens'][number];

/** Member of `groups` of a user that may read every device; no group can have this id. */
export const everyDevice = 'all';

type Sight = Pick<User, 'roleID' | 'groups'>;

export const seesEveryDevice = ({ roleID, groups }: Sight): boolean =>
  roleID === 'admin' || groups.includes(everyDevice);

/** Where groups limit the user, what was added would not be shown to it. */
export const mayAddDevices = (user: Sight): boolean => user.roleID !== 'viewer' && seesEveryDevice(user);

export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

export const tokenScopes = ['read', 'write', 'command', 'track', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** As the service wants them. */
export const passwordLeast = 12;
export const passwordMost = 256;

export const rightNames = ['see', 'change', 'command', 'second', 'manage'] as const;
export type RightName = (typeof rightNames)[number];

/** Why a user may do something, or not. */
export type RightReason =
  | 'suspended'
  | 'every'
  | 'groups'
  | 'noGroups'
  | 'role'
  | 'unconfirmed'
  | 'confirmed';

export interface Right {
  readonly name: RightName;
  readonly isAllowed: boolean;
  readonly reason: RightReason;
}

/** Rights of a user by role, groups and confirmation. A second person also counts only a day after the last change of rights. */
export function rightsOf({ isActive, roleID, groups, isConfirmed }: User): readonly Right[] {
  const isOperator = roleID !== 'viewer';
  const sees: RightReason = seesEveryDevice({ roleID, groups })
    ? 'every'
    : groups.length > 0
      ? 'groups'
      : 'noGroups';
  const second: RightReason = !isOperator ? 'role' : isConfirmed ? 'confirmed' : 'unconfirmed';
  const found: readonly Right[] = [
    { name: 'see', isAllowed: sees !== 'noGroups', reason: sees },
    { name: 'change', isAllowed: isOperator, reason: 'role' },
    { name: 'command', isAllowed: isOperator, reason: 'role' },
    { name: 'second', isAllowed: second === 'confirmed', reason: second },
    { name: 'manage', isAllowed: roleID === 'admin', reason: 'role' },
  ];
  return isActive ? found : found.map((right) => ({ ...right, isAllowed: false, reason: 'suspended' }));
}
