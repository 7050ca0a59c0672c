// The page of the wallboard: no screen of the console, for it takes a token of its own. Pure.

export const wallboardPath = '/console/wallboard';
