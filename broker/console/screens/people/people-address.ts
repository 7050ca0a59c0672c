// Lists and dialogs of the people in an address. A separate file, as the router loads it at the start.

export const peopleLists = ['users', 'groups', 'own'] as const;

export const peopleDialogs = [
  'user-create',
  'user-edit',
  'user-password',
  'user-access',
  'user-confirm',
  'user-delete',
  'sessions-end',
  'totp-off',
  'session-end',
  'token-create',
  'own-password',
  'group-create',
  'group-edit',
  'group-delete',
] as const;
