// Silence of a stream, by clocks instead of counted ticks, because a sleeping computer stops its timers. Pure.

/** One moment by both clocks of this computer. */
export interface Moment {
  /** Since the program began; it may stand still while the computer sleeps. */
  readonly monoMs: number;
  /** Of the wall clock, which may be set. */
  readonly wallMs: number;
}

/** The larger time of both clocks: neither sleep nor a clock that is set makes a value look younger. */
export const elapsedMs = (since: Moment, now: Moment): number =>
  Math.max(0, now.monoMs - since.monoMs, now.wallMs - since.wallMs);

/** The service gives a sign of life each second. After three without any the data may be old. */
const silentMs = 3000;
/** Without any for this long the connection is given up. */
const deadMs = 10_000;

export type Silence = 'none' | 'silent' | 'dead';

export function silenceOf(since: Moment, now: Moment): Silence {
  const ms = elapsedMs(since, now);
  return ms >= deadMs ? 'dead' : ms >= silentMs ? 'silent' : 'none';
}
