// What an address may name of the account. Apart from the rest, as the router loads it at the start.

export const accountDialogs = ['approval', 'password', 'breaker'] as const;
