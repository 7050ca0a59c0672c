// The present time, its quality and its source. Monotonic time orders everything. UTC is an origin (the UTC of monotonic zero of this boot) that
// sources offer and this machine accepts or rejects. A time that was already sent is never stepped.
import type { TimeQuality } from '../../src/core/events/event.ts';

export const timeLimits = {
  /** Maximum difference between receiver and system clock that confirm each other. */
  confirmMs: 5000,
  /** Number of fixes in a row that must agree with monotonic time before the time of a GNSS counts. */
  gnssFixes: 5,
  /** Maximum difference between fixes that agree, and smallest step worth making. */
  toleranceMs: 1000,
  /** A GNSS that differs more from a signed server time counts as wrong: spoofed, or with a rolled-over week number. */
  serverDisagreementMs: 60_000,
  /**
   * Monotonic time against true time: NTP may bend it by 500 ppm (adjtimex(2)). The quartz of a small computer is off by 100 ppm over temperature and
   * ageing, doubled.
   */
  driftPpm: 700,
  /** Maximum drift allowed for when a lag of the receiver is searched: no small computer gains more between two answers of the broker. */
  driftMostMs: 3000,
  /**
   * No release is in use for longer, so a clock that far after the build date is wrong. It is less than the 1024 weeks by which the week number of
   * GPS rolls over, which also happens forward.
   */
  lifeMs: 19 * 365.25 * 86_400_000,
} as const;

/** An origin, and the monotonic time at which it was true, ms. */
interface Mark {
  readonly originMs: number;
  readonly atMs: number;
}

export interface TimeState {
  /** Monotonic time of the agent's start, ms, subtracted to give `upMs`. */
  readonly bootMonoMs: number;
  /** Build date of the agent, UTC ms: an earlier time is wrong. */
  readonly earliestUtcMs: number;
  /** Newest time that was ever confirmed, from disk, UTC ms; null: none. An earlier clock is rejected. */
  readonly newestUtcMs: number | null;
  readonly systemOriginMs: number | null;
  readonly serverOriginMs: number | null;
  /** The server's time as if taken at the moment of our request, and that moment: see `latestUtcMs`. */
  readonly serverLatest: Mark | null;
  /** Latest time proven by a signed envelope that the server made since its welcome: see `offerIssuedTime`. */
  readonly issuedLatest: Mark | null;
  /** Earliest possible confirmed time, as an origin, when the server's clock was first seen set back in this run; null: it was not. */
  readonly setBackOriginMs: number | null;
  readonly gnssOriginMs: number | null;
  /** The receiver shows a time behind the newest confirmed one, so it is rejected. */
  readonly isGnssBehind: boolean;
  /** The last fix that agreed. The origin in use is kept for hours, and the quartz drifts meanwhile. */
  readonly gnssLatest: Mark | null;
  /** First disagreement of receiver and server in this boot, ms; null: none. */
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

/** True for a possible time: not before the build of the agent, nor long after it. */
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

/** Offers the system's wall clock, which is a guess of RTC or NTP. */
export function offerSystemTime(state: TimeState, now: { monoMs: number; utcMs: number }): TimeState {
  const originMs = isPossible(state, now.utcMs) ? originAt(state, now) : null;
  const old = state.systemOriginMs;
  if (originMs === null || (old !== null && near(old, originMs, timeLimits.toleranceMs))) {
    return originMs === null && old !== null ? { ...state, systemOriginMs: null } : state;
  }
  return { ...state, systemOriginMs: originMs };
}

/**
 * Offers the time of a signed welcome that echoed our nonce. It is not older than the nonce, which was made at `askedMs`. On a slow link it may be
 * half a minute old when it arrives.
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
 * Offers the time at which a verified envelope for this boot was made, by the server's clock, which now shows at least this. It matters when the
 * server's clock was corrected by years after its welcome: later envelopes must not stay valid for years here.
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

/** Offers the UTC of a fix without doubts. It counts only once several in a row agree with monotonic time and with the server. */
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
  // A time that was delayed by the line or a busy machine looks earlier than it was; the later of both is the safe one.
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

/** Best available origin; null: the time is unknown. */
export function bestOrigin(state: TimeState): KnownOrigin | null {
  if (state.gnssOriginMs !== null) return { originMs: state.gnssOriginMs, quality: 'gnss' };
  if (state.serverOriginMs !== null) return { originMs: state.serverOriginMs, quality: 'server' };
  if (state.systemOriginMs !== null) return { originMs: state.systemOriginMs, quality: 'rtc' };
  return null;
}

/** Monotonic time since this boot of the agent, ms. */
export function upMsAt(state: TimeState, monoMs: number): number {
  return Math.max(0, Math.round(monoMs - state.bootMonoMs));
}

/** UTC by the best origin; null: unknown. */
export function utcMsAt(state: TimeState, monoMs: number): number | null {
  const origin = bestOrigin(state);
  return origin === null ? null : origin.originMs + upMsAt(state, monoMs);
}

/**
 * UTC for judging the expiry of a command: the broker's signed time, else GNSS. Null if neither is known: the system clock is never used for it
 * (edge-agents 2.3 rule 3).
 */
export function trustedUtcMs(state: TimeState, monoMs: number): number | null {
  const originMs = state.serverOriginMs ?? state.gnssOriginMs;
  return originMs === null ? null : originMs + upMsAt(state, monoMs);
}

/** The system clock if it agrees with the receiver; null: it does not, or either is unknown. @param receiverMs origin of the receiver. */
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

/** Origin that the receiver shows, even if the broker's clock disputes it; null while too few fixes agree. */
const shownOriginMs = ({ candidate }: TimeState): number | null =>
  candidate !== null && candidate.count >= timeLimits.gnssFixes ? candidate.originMs : null;

/** Maximum gain of our clock since a mark, ms. */
const gainedMs = (mark: Mark | null, monoMs: number): number =>
  mark === null ? 0 : ((monoMs - mark.atMs) * timeLimits.driftPpm) / 1e6;

/**
 * Reference for the lateness of a fix, at its earliest: trusted time minus the possible gain of our clock since the broker's answer. If the system
 * clock is behind that and agrees with the receiver, it is the reference. A broker's clock that is ahead makes no fix late. Null: unknown.
 */
export function fixReferenceUtcMs(state: TimeState, monoMs: number): number | null {
  const trustedMs = trustedUtcMs(state, monoMs);
  if (trustedMs === null) return null;
  const earliestMs = trustedMs - Math.min(timeLimits.driftMostMs, gainedMs(state.serverLatest, monoMs));
  return Math.min(earliestMs, agreeingSystemUtcMs(state, monoMs, shownOriginMs(state)) ?? earliestMs);
}

/**
 * True when the time of this run is good enough for a command of an earlier one, whose age was not measured in between. It needs the broker's signed
 * time, or receiver and system clock that agree, and must not be behind the newest confirmed time.
 */
export function isTimeConfirmed(state: TimeState, monoMs: number): boolean {
  const { serverOriginMs, newestUtcMs } = state;
  if (serverOriginMs === null) return agreeingSystemUtcMs(state, monoMs) !== null;
  return (
    newestUtcMs === null || serverOriginMs + upMsAt(state, monoMs) >= newestUtcMs - timeLimits.toleranceMs
  );
}

/** True when the broker's signed time is behind the newest confirmed one, or behind an earlier value in this run: its clock was set back. */
export function isServerBehind(state: TimeState, monoMs: number): boolean {
  const { serverOriginMs, setBackOriginMs } = state;
  return serverOriginMs !== null && (setBackOriginMs !== null || !isTimeConfirmed(state, monoMs));
}

/**
 * The newest confirmed time up to now, to be kept on disk, UTC ms; null: none. After a setback of the broker's clock its time counts from now on;
 * earlier commands have ended by then (`isExpired`).
 */
export function newestUtcMsAt(state: TimeState, monoMs: number): number | null {
  if (isServerBehind(state, monoMs)) return trustedUtcMs(state, monoMs);
  const utcMs = isTimeConfirmed(state, monoMs) ? trustedUtcMs(state, monoMs) : null;
  return utcMs === null ? state.newestUtcMs : Math.max(utcMs, state.newestUtcMs ?? 0);
}

function latestOf(mark: Mark | null, now: { readonly monoMs: number; readonly upMs: number }): number | null {
  if (mark === null) return null;
  // Maximum loss of a clock that is slow by `driftPpm` since the mark.
  const driftMs = (Math.max(0, now.monoMs - mark.atMs) * timeLimits.driftPpm) / (1e6 - timeLimits.driftPpm);
  return Math.ceil(mark.originMs + now.upMs + driftMs);
}

/**
 * Latest possible present time, by the same sources. A command that has expired by this time is not carried out. An old welcome, a slow quartz or a
 * rounded fix thus makes a command expire early and never late. Early means by the transit of the welcome or the tolerance of GNSS, plus `driftPpm`
 * of the time since. Null exactly when `trustedUtcMs` is.
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
