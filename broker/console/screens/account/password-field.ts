// The field of the password that the user has now, before a change of how the user signs in.
const passwordMost = 256;

export const passwordField = (label: string) =>
  ({
    name: 'password',
    label,
    type: 'password',
    autoComplete: 'current-password',
    most: passwordMost,
    isRequired: true,
  }) as const;
