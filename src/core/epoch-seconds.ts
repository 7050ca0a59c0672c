// Times as answers show them.

/** UTC in ms since 1970 as whole seconds; at least 0, and 0 where there is no time. */
export const epochSeconds = (ms: number | null): number => Math.max(0, Math.floor((ms ?? 0) / 1000));
