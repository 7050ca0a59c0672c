// Thrown when an account cannot be cached: it was deleted, or is larger than the cache may hold.

export class NotCached extends Error {}
