// Durations in ms and in s.

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const weekMs = 7 * dayMs;
export const hourS = 3600;
export const dayS = 24 * hourS;
