// Ages and lengths of time as numbers of two units; the words are made at the edge. Pure.

export interface Span {
  readonly unit: 's' | 'min' | 'h' | 'd';
  readonly value: number;
  /** The next smaller unit; null where it says nothing. */
  readonly rest: number | null;
}

/** `2 s`, `1 min 06 s`, `2 h 14 min`, `3 d 4 h`. @param seconds negative counts as 0. */
export function spanOf(seconds: number): Span {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return { unit: 's', value: whole, rest: null };
  if (whole < 3600) return { unit: 'min', value: Math.floor(whole / 60), rest: whole % 60 };
  if (whole < 86_400)
    return { unit: 'h', value: Math.floor(whole / 3600), rest: Math.floor((whole % 3600) / 60) };
  return { unit: 'd', value: Math.floor(whole / 86_400), rest: Math.floor((whole % 86_400) / 3600) };
}

/**
 * Clock of the service minus clock of this computer, s; 0: not known.
 * @param date header of an answer.
 */
export function skewOf(date: string | null, nowMs: number): number {
  const atMs = Date.parse(date ?? '');
  return Number.isNaN(atMs) ? 0 : Math.round((atMs - nowMs) / 1000);
}
