// The present time, its quality and its source. Monotonic time orders everything; UTC is an origin (the UTC of
// monotonic zero of this boot) that sources offer and this machine accepts or not. A time that was already sent is never
// stepped.
import type { TimeQuality } from '../../src/core/events/event.ts';

export const timeLimits = {
  /** Receiver and system clock that agree this well confirm each other. */
  confirmMs: 5000,
  /** A GNSS must agree with monotonic time over this many fixes in a row before its time counts. */
  gnssFixes: 5,
  /** Agreement wanted between fixes, and the smallest step worth making. */
  toleranceMs: 1000,
  /** A GNSS that is further than this from a signed server time counts as wrong: spoofed, or a rolled-over week number. */
  serverDisagreementMs: 60_000,
  /**
   * Monotonic time against true time: NTP may bend it by 500 ppm (adjtimex(2)), and the quartz of a small computer is off
   * by 100 ppm over temperature and ageing, doubled.
   */
  driftPpm: 700,
  /** The most that is granted to drift where a lag of the receiver is looked for: no small computer gains more between two answers of the broker. */
  driftMostMs: 3000,
  /**
   * A release is not in use for longer, so a clock that far after its build date is wrong. Less than the 1024 weeks
   * by which the week number of GPS rolls over, forward as well.
   */
  lifeMs: 19 * 365.25 * 86_400_000,
} as const;

/** An origin, and the monotonic time at which it was true. */
interface Mark {
  readonly originMs: number;
  readonly atMs: number;
}

export interface TimeState {
  /** Monotonic time of the agent's start, subtracted to give `upMs`. */
  readonly bootMonoMs: number;
  /** Build date of the agent: an earlier time is wrong. */
  readonly earliestUtcMs: number;
  /**
   * The newest time that was ever confirmed, from disk, UTC ms; null when there is none. An earlier clock is
   * rejected.
   */
  readonly newestUtcMs: number | null;
  readonly systemOriginMs: number | null;
  readonly serverOriginMs: number | null;
  /** The server's time if it was taken at the moment of our request, and when that was: see `latestUtcMs`. */
  readonly serverLatest: Mark | null;
  /** The latest that a signed envelope of the server, made since its welcome, proves: see `offerIssuedTime`. */
  readonly issuedLatest: Mark | null;
  /** The confirmed time, at the earliest that it can have been, when the server's clock was first seen to be set back in this run; null: it was not. */
  readonly setBackOriginMs: number | null;
  readonly gnssOriginMs: number | null;
  /** The receiver shows a time behind the newest confirmed one, so it is rejected. */
  readonly isGnssBehind: boolean;
  /** The last fix that agreed: the origin that is used is kept for hours, and the quartz drifts meanwhile. */
  readonly gnssLatest: Mark | null;
  /** The first disagreement of receiver and server in this boot, in ms; null while there was none. */
  readonly disputeMs: number | null;
  readonly candidate: { readonly originMs: number; readonly count: number } | null;
}

export function createTimeState(start: {
  readonly bootMonoMs: number;
  readonly earliestUtcMs: number;
  readonly newestUtcMs?: number | null;
}): TimeState {
  return {
    ...start,
    newestUtcMs: start.newestUtcMs ?? null,
    systemOriginMs: null,
    serverOriginMs: null,
    serverLatest: null,
    issuedLatest: null,
    setBackOriginMs: null,
    gnssOriginMs: null,
    isGnssBehind: false,
    gnssLatest: null,
    disputeMs: null,
    candidate: null,
  };
}

/** Whether a clock that shows this may be right: not before the agent was built, nor long after it. */
function isPossible({ earliestUtcMs }: TimeState, utcMs: number): boolean {
  return utcMs >= earliestUtcMs && utcMs < earliestUtcMs + timeLimits.lifeMs;
}

function originAt(
  { bootMonoMs }: TimeState,
  now: { readonly monoMs: number; readonly utcMs: number },
): number {
  return Math.round(now.utcMs - (now.monoMs - bootMonoMs));
}

const near = (a: number, b: number, most: number): boolean => Math.abs(a - b) <= most;

/** The system's wall clock, which is the RTC's or NTP's guess. */
export function offerSystemTime(state: TimeState, now: { monoMs: number; utcMs: number }): TimeState {
  const originMs = isPossible(state, now.utcMs) ? originAt(state, now) : null;
  const old = state.systemOriginMs;
  if (originMs === null || (old !== null && near(old, originMs, timeLimits.toleranceMs))) {
    return originMs === null && old !== null ? { ...state, systemOriginMs: null } : state;
  }
  return { ...state, systemOriginMs: originMs };
}

/**
 * Time from a signed welcome that echoed our nonce: not older than that nonce, which was made at `askedMs`. On a
 * slow link it may be half a minute old when it arrives.
 */
export function offerServerTime(
  state: TimeState,
  now: { readonly monoMs: number; readonly utcMs: number; readonly askedMs: number },
): TimeState {
  if (!isPossible(state, now.utcMs)) return state;
  const originMs = originAt(state, now);
  const { gnssOriginMs } = state;
  const gnssLies = gnssOriginMs !== null && !near(gnssOriginMs, originMs, timeLimits.serverDisagreementMs);
  const serverLatest = { originMs: originMs + Math.max(0, now.monoMs - now.askedMs), atMs: now.askedMs };
  const never = Number.NEGATIVE_INFINITY;
  const earliestMs = (state.serverOriginMs ?? never) - gainedMs(state.serverLatest, now.monoMs);
  const knownMs = Math.max(earliestMs, state.setBackOriginMs ?? never);
  const isSetBack = serverLatest.originMs < knownMs - timeLimits.toleranceMs;
  return {
    ...state,
    serverOriginMs: originMs,
    serverLatest,
    setBackOriginMs: isSetBack ? knownMs : null,
    issuedLatest: null,
    gnssOriginMs: gnssLies ? null : gnssOriginMs,
    gnssLatest: gnssLies ? null : state.gnssLatest,
    disputeMs: gnssLies ? (state.disputeMs ?? gnssOriginMs - originMs) : state.disputeMs,
  };
}

/**
 * The moment at which a verified envelope for this boot was made, by the server's clock: that clock shows at least
 * this now. It matters when the server's clock was corrected by years after its welcome: envelopes signed from then
 * on must not stay valid for years here.
 */
export function offerIssuedTime(
  state: TimeState,
  now: { readonly monoMs: number; readonly issuedMs: number },
): TimeState {
  const known = latestUtcMs(state, now.monoMs);
  if (!isPossible(state, now.issuedMs) || (known !== null && now.issuedMs <= known)) return state;
  const originMs = originAt(state, { monoMs: now.monoMs, utcMs: now.issuedMs });
  return { ...state, issuedLatest: { originMs, atMs: now.monoMs } };
}

/** UTC of a fix without doubts. Counts only once several in a row agree with monotonic time and with the server. */
export function offerGnssTime(state: TimeState, now: { monoMs: number; utcMs: number }): TimeState {
  if (!isPossible(state, now.utcMs)) return { ...state, candidate: null };
  const originMs = originAt(state, now);
  const { candidate, serverOriginMs } = state;
  const agrees = candidate !== null && near(candidate.originMs, originMs, timeLimits.toleranceMs);
  const count = agrees ? candidate.count + 1 : 1;
  const next = { originMs: agrees ? candidate.originMs : originMs, count };
  const disputed =
    serverOriginMs !== null && !near(serverOriginMs, originMs, timeLimits.serverDisagreementMs);
  if (count < timeLimits.gnssFixes) return { ...state, candidate: next };
  // This run began after the newest confirmed time: a clock that shows less at its beginning is behind.
  if (state.newestUtcMs !== null && originMs < state.newestUtcMs - timeLimits.toleranceMs)
    return { ...state, candidate: next, gnssOriginMs: null, gnssLatest: null, isGnssBehind: true };
  if (disputed) return { ...state, candidate: next, disputeMs: state.disputeMs ?? originMs - serverOriginMs };
  // A time that was delayed by the line or a busy machine looks earlier than it was; the later of both is the safe
  // one.
  const gnssLatest = { originMs: Math.max(next.originMs, originMs), atMs: now.monoMs };
  const old = state.gnssOriginMs;
  const isKept = old !== null && near(old, originMs, timeLimits.toleranceMs);
  const gnssOriginMs = isKept ? old : originMs;
  return { ...state, candidate: next, gnssOriginMs, gnssLatest, isGnssBehind: false };
}

export interface KnownOrigin {
  readonly originMs: number;
  readonly quality: TimeQuality;
}

/** The best origin there is; null while the time is unknown. */
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
 * is known: the system clock is never used for it (edge-agents 2.3 rule 3).
 */
export function trustedUtcMs(state: TimeState, monoMs: number): number | null {
  const originMs = state.serverOriginMs ?? state.gnssOriginMs;
  return originMs === null ? null : originMs + upMsAt(state, monoMs);
}

/** The system clock where it agrees with the receiver; null where it does not, or either is unknown. @param receiverMs origin of the receiver. */
function agreeingSystemUtcMs(
  state: TimeState,
  monoMs: number,
  receiverMs = state.gnssOriginMs,
): number | null {
  const { systemOriginMs } = state;
  if (systemOriginMs === null || receiverMs === null) return null;
  return near(systemOriginMs, receiverMs, timeLimits.confirmMs)
    ? systemOriginMs + upMsAt(state, monoMs)
    : null;
}

/** The origin that the receiver shows, be it disputed by the broker's clock; null while too few fixes agree. */
const shownOriginMs = ({ candidate }: TimeState): number | null =>
  candidate !== null && candidate.count >= timeLimits.gnssFixes ? candidate.originMs : null;

/** The most that our clock may have gained since a mark. */
const gainedMs = (mark: Mark | null, monoMs: number): number =>
  mark === null ? 0 : ((monoMs - mark.atMs) * timeLimits.driftPpm) / 1e6;

/**
 * What a fix is late against, at the earliest that it can be: trusted time less what our clock may have gained since the broker's answer, or the system
 * clock where it is behind that and agrees with the receiver. A broker's clock that is ahead makes no fix late. Null while unknown.
 */
export function fixReferenceUtcMs(state: TimeState, monoMs: number): number | null {
  const trustedMs = trustedUtcMs(state, monoMs);
  if (trustedMs === null) return null;
  const earliestMs = trustedMs - Math.min(timeLimits.driftMostMs, gainedMs(state.serverLatest, monoMs));
  return Math.min(earliestMs, agreeingSystemUtcMs(state, monoMs, shownOriginMs(state)) ?? earliestMs);
}

/**
 * Whether the time of this run is good enough for a command of an earlier one, whose age was not measured
 * meanwhile: the broker's signed time, or receiver and system clock that agree; and not behind the newest confirmed
 * time.
 */
export function isTimeConfirmed(state: TimeState, monoMs: number): boolean {
  const { serverOriginMs, newestUtcMs } = state;
  if (serverOriginMs === null) return agreeingSystemUtcMs(state, monoMs) !== null;
  return (
    newestUtcMs === null || serverOriginMs + upMsAt(state, monoMs) >= newestUtcMs - timeLimits.toleranceMs
  );
}

/** The broker's signed time is behind the newest confirmed one, or behind what it was in this run: its clock was set back since. */
export function isServerBehind(state: TimeState, monoMs: number): boolean {
  const { serverOriginMs, setBackOriginMs } = state;
  return serverOriginMs !== null && (setBackOriginMs !== null || !isTimeConfirmed(state, monoMs));
}

/**
 * The newest confirmed time by now, to be kept on disk, UTC ms; null while there was none. Where the broker's clock
 * was set back its time counts from now on; earlier commands have ended by then (`isExpired`).
 */
export function newestUtcMsAt(state: TimeState, monoMs: number): number | null {
  if (isServerBehind(state, monoMs)) return trustedUtcMs(state, monoMs);
  const utcMs = isTimeConfirmed(state, monoMs) ? trustedUtcMs(state, monoMs) : null;
  return utcMs === null ? state.newestUtcMs : Math.max(utcMs, state.newestUtcMs ?? 0);
}

function latestOf(mark: Mark | null, now: { readonly monoMs: number; readonly upMs: number }): number | null {
  if (mark === null) return null;
  // The most that a clock slow by `driftPpm` has lost since the mark.
  const driftMs = (Math.max(0, now.monoMs - mark.atMs) * timeLimits.driftPpm) / (1e6 - timeLimits.driftPpm);
  return Math.ceil(mark.originMs + now.upMs + driftMs);
}

/**
 * The latest that it can be now, by the same sources: what has expired by this time is not carried out, so that an old
 * welcome, a slow quartz or a rounded fix makes a command expire early and never late. Early by the way of the welcome or
 * the tolerance of GNSS, and by `driftPpm` of the time since. Null exactly when `trustedUtcMs` is.
 */
export function latestUtcMs(state: TimeState, monoMs: number): number | null {
  if (trustedUtcMs(state, monoMs) === null) return null;
  const now = { monoMs, upMs: upMsAt(state, monoMs) };
  const server = latestOf(state.serverLatest, now);
  const gnss = latestOf(state.gnssLatest, now);
  const bySystemMs = server === null ? (agreeingSystemUtcMs(state, monoMs) ?? 0) : 0;
  const base = server === null ? Math.max((gnss ?? 0) + timeLimits.toleranceMs, bySystemMs) : server + 1;
  return Math.max(base, (latestOf(state.issuedLatest, now) ?? 0) + 1);
}
