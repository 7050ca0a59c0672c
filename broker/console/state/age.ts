// Ages and lengths of time as numbers of two units; the words are made at the edge. How long a stream has been silent: by clocks and never by
// counted ticks, for a computer that sleeps stops its timers. Pure.

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

/** One moment by both clocks of this computer. */
export interface Moment {
  /** Since the page was opened; it may stand still while the computer sleeps. */
  readonly monoMs: number;
  /** Of the wall clock, which may be set. */
  readonly wallMs: number;
}

/** By the clock that says more: no sleep and no change of a clock makes a value younger. */
export const elapsedMs = (since: Moment, now: Moment): number =>
  Math.max(0, now.monoMs - since.monoMs, now.wallMs - since.wallMs);

/** The service gives a sign of life each second. After three without any, what the page shows may be old. */
const silentMs = 3000;
/** Without any for this long the connection is given up. */
const deadMs = 10_000;

export type Silence = 'none' | 'silent' | 'dead';

export function silenceOf(since: Moment, now: Moment): Silence {
  const ms = elapsedMs(since, now);
  return ms >= deadMs ? 'dead' : ms >= silentMs ? 'silent' : 'none';
}

/**
 * Clock of the service minus clock of this computer, s; 0: not known.
 * @param date header of an answer.
 */
export function skewOf(date: string | null, nowMs: number): number {
  const atMs = Date.parse(date ?? '');
  return Number.isNaN(atMs) ? 0 : Math.round((atMs - nowMs) / 1000);
}
