// What time it is, how well that is known, and by whom. Monotonic time orders everything; UTC is an origin (the UTC of
// monotonic zero of this boot) that sources offer and this machine accepts or not. Never steps what was already sent.
import type { TimeQuality } from '../../src/core/event.ts';

export const timeLimits = {
  /** A GNSS must agree with monotonic time over this many fixes in a row before its time counts. */
  gnssFixes: 5,
  /** Agreement wanted between fixes, and the smallest step worth making. */
  toleranceMs: 1000,
  /** A GNSS that is further than this from a signed server time is spoofed, or its week number rolled over. */
  serverDisagreementMs: 60_000,
  /** Quartz of a small computer: 100 ppm over temperature and ageing, doubled. */
  driftPpm: 200,
} as const;

export interface TimeState {
  /** Monotonic time of the agent's start, subtracted to give `upMs`. */
  readonly bootMonoMs: number;
  /** No real clock shows less: the build date of the agent. */
  readonly earliestUtcMs: number;
  readonly systemOriginMs: number | null;
  readonly serverOriginMs: number | null;
  /** The server's time as it would be had it been told the moment we asked, and when it came: see `latestUtcMs`. */
  readonly serverLatest: { readonly originMs: number; readonly atMs: number } | null;
  readonly gnssOriginMs: number | null;
  readonly candidate: { readonly originMs: number; readonly count: number } | null;
}

export function createTimeState(start: { bootMonoMs: number; earliestUtcMs: number }): TimeState {
  return {
    ...start,
    systemOriginMs: null,
    serverOriginMs: null,
    serverLatest: null,
    gnssOriginMs: null,
    candidate: null,
  };
}

const near = (a: number, b: number, most: number): boolean => Math.abs(a - b) <= most;

/** The system's wall clock, which is the RTC's or NTP's guess. */
export function offerSystemTime(state: TimeState, now: { monoMs: number; utcMs: number }): TimeState {
  const originMs =
    now.utcMs >= state.earliestUtcMs ? Math.round(now.utcMs - (now.monoMs - state.bootMonoMs)) : null;
  const old = state.systemOriginMs;
  if (originMs === null || (old !== null && near(old, originMs, timeLimits.toleranceMs))) {
    return originMs === null && old !== null ? { ...state, systemOriginMs: null } : state;
  }
  return { ...state, systemOriginMs: originMs };
}

/**
 * Time from a signed welcome that echoed our nonce: not older than that nonce, which was made at `askedMs`. On a slow
 * link it may be half a minute old when it comes.
 */
export function offerServerTime(
  state: TimeState,
  now: { readonly monoMs: number; readonly utcMs: number; readonly askedMs: number },
): TimeState {
  if (now.utcMs < state.earliestUtcMs) return state;
  const originMs = Math.round(now.utcMs - (now.monoMs - state.bootMonoMs));
  const gnssLies =
    state.gnssOriginMs !== null && !near(state.gnssOriginMs, originMs, timeLimits.serverDisagreementMs);
  const serverLatest = { originMs: originMs + Math.max(0, now.monoMs - now.askedMs), atMs: now.monoMs };
  return {
    ...state,
    serverOriginMs: originMs,
    serverLatest,
    gnssOriginMs: gnssLies ? null : state.gnssOriginMs,
  };
}

/** UTC of a fix without doubts. Counts only once several in a row agree with monotonic time and with the server. */
export function offerGnssTime(state: TimeState, now: { monoMs: number; utcMs: number }): TimeState {
  if (now.utcMs < state.earliestUtcMs) return { ...state, candidate: null };
  const originMs = Math.round(now.utcMs - (now.monoMs - state.bootMonoMs));
  const { candidate, serverOriginMs } = state;
  const agrees = candidate !== null && near(candidate.originMs, originMs, timeLimits.toleranceMs);
  const count = agrees ? candidate.count + 1 : 1;
  const next = { ...state, candidate: { originMs: agrees ? candidate.originMs : originMs, count } };
  const disputed =
    serverOriginMs !== null && !near(serverOriginMs, originMs, timeLimits.serverDisagreementMs);
  if (count < timeLimits.gnssFixes || disputed) return next;
  if (state.gnssOriginMs !== null && near(state.gnssOriginMs, originMs, timeLimits.toleranceMs)) return next;
  return { ...next, gnssOriginMs: originMs };
}

export interface KnownOrigin {
  readonly originMs: number;
  readonly quality: TimeQuality;
}

/** The best origin there is; null while nobody knows the time. */
export function bestOrigin(state: TimeState): KnownOrigin | null {
  if (state.gnssOriginMs !== null) return { originMs: state.gnssOriginMs, quality: 'gnss' };
  if (state.serverOriginMs !== null) return { originMs: state.serverOriginMs, quality: 'server' };
  if (state.systemOriginMs !== null) return { originMs: state.systemOriginMs, quality: 'rtc' };
  return null;
}

/** Monotonic ms since this boot of the agent. */
export function upMsAt(state: TimeState, monoMs: number): number {
  return Math.max(0, Math.round(monoMs - state.bootMonoMs));
}

/**
 * UTC for judging whether a command has expired: the broker's own signed time first, else GNSS. Null when neither
 * is known: the system clock is never trusted with that (edge-agents 2.3 rule 3).
 */
export function trustedUtcMs(state: TimeState, monoMs: number): number | null {
  const originMs = state.serverOriginMs ?? state.gnssOriginMs;
  return originMs === null ? null : originMs + upMsAt(state, monoMs);
}

/**
 * The latest that it can be now, by the same sources: what has expired by this time is not carried out, so that an old
 * welcome, a slow quartz or a rounded fix makes a command expire early and never late.
 */
export function latestUtcMs(state: TimeState, monoMs: number): number | null {
  const { serverLatest, gnssOriginMs } = state;
  const upMs = upMsAt(state, monoMs);
  if (serverLatest !== null) {
    const driftMs = ((monoMs - serverLatest.atMs) * timeLimits.driftPpm) / 1e6;
    return Math.ceil(serverLatest.originMs + upMs + driftMs) + 1;
  }
  return gnssOriginMs === null ? null : gnssOriginMs + upMs + timeLimits.toleranceMs;
}
