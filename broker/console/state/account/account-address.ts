// Dialogs of the account in an address. A separate file, as the router loads it at the start.

export const accountDialogs = [
  'approval',
  'password',
  'breaker',
  'passkey',
  'passkey-delete',
  'totp',
  'totp-delete',
  'owner',
] as const;
