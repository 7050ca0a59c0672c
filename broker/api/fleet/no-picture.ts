// There is nothing to hold: the account was deleted, or is larger than what may be held.

export class NoPicture extends Error {}
