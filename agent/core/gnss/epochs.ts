// Joins the sentences of one GNSS epoch, from all talkers, into one fix or one void report. A fix needs a sentence that confirms it and none that
// denies it. Void, estimated, manual and simulated positions must never become a fix, and an epoch must never become two fixes. Only RMC, GGA, GNS
// and GLL open and close an epoch.

import { dayMs } from '../../../src/core/durations.ts';
import {
  addSentence,
  dayBeside,
  type EpochContent,
  emptyContent,
  estimateOf,
  formatterOf,
  hasVerdict,
  isFix,
  isVerdict,
  isVoidWitness,
  seenBit,
  stepOfDay,
  type VerdictSentence,
} from './epoch-content.ts';
import type { Sentence, Zda } from './nmea-sentences.ts';

/** Reason not to use a fix without further evidence. The first three come from the epoch itself. */
export type FixDoubt =
  | 'date-before-build'
  | 'speed-mismatch'
  | 'null-island'
  | 'jump'
  | 'position-vs-doppler'
  | 'speed-implausible'
  | 'time-backwards'
  | 'clock-drift';

export interface Fix {
  /**
   * UTC of the receiver, ms; null while it has no date. It is raw: with the doubt `date-before-build` the receiver is 1024 weeks in the past (GPS
   * week roll-over). Such a time must neither set a clock nor stamp an event.
   */
  readonly utcMs: number | null;
  /** Monotonic time at which the first sentence of the epoch arrived, ms. */
  readonly atMonoMs: number;
  /** Degrees, WGS 84. */
  readonly latitude: number;
  readonly longitude: number;
  /** Above mean sea level. */
  readonly altitudeM: number | null;
  /** Speed over ground, from RMC (Doppler), else from VTG; null: neither states it. */
  readonly speedKmh: number | null;
  /** The speed is from VTG: good for reports and alarms, but no proof of standstill (DESIGN 8). */
  readonly isSpeedOfVtg?: true;
  /** True course over ground, 0 up to but not 360. */
  readonly headingDeg: number | null;
  readonly hdop: number | null;
  readonly satellites: number | null;
  readonly dimension: 2 | 3;
  /** Mode indicator of RMC: A autonomous, D differential, R and F RTK, P precise; null without it (before NMEA 2.3). */
  readonly mode: string | null;
  /** An RMC with status A or D is part of the epoch. */
  readonly rmcValid: boolean;
  readonly doubts: readonly FixDoubt[];
}

export type EpochReport =
  | { readonly kind: 'fix'; readonly fix: Fix }
  /** `estimatedKmh`: speed by dead reckoning (mode E of RMC), which proves no standstill; null: none. */
  | {
      readonly kind: 'void';
      readonly utcMs: number | null;
      readonly atMonoMs: number;
      readonly estimatedKmh: number | null;
    };

export interface EpochConfig {
  /** Build date of the agent, UTC ms. A receiver with an earlier time is wrong. */
  readonly earliestUtcMs: number;
}

interface OpenEpoch {
  readonly content: EpochContent;
  readonly firstMonoMs: number;
}

interface ClosedEpoch {
  readonly timeMs: number | null;
  readonly seen: number;
  readonly utcMs: number | null;
  readonly firstMonoMs: number;
  readonly wasFix: boolean;
}

interface KnownDate {
  readonly day: number;
  readonly timeMs: number;
  readonly monoMs: number;
}

export interface EpochState {
  readonly config: EpochConfig;
  readonly open: OpenEpoch | null;
  readonly closed: ClosedEpoch | null;
  /** Date of the last fix; completes epochs with a time only (GGA, GNS, GLL). */
  readonly date: KnownDate | null;
  /** Date of the last ZDA. */
  readonly zda: KnownDate | null;
  /** Receiver time of the last sentence of each type, and the shortest time between two of one type; null until two have arrived. */
  readonly latest: Readonly<Record<string, number>>;
  readonly everyMs: number | null;
  /** Monotonic time of the last received byte, ms. */
  readonly receivedMonoMs: number;
  /** Silence that ends an epoch, ms; grows if it proved too short for this receiver. */
  readonly silenceMs: number;
}

/** Result of a step. Reports are in the order of their epochs. */
export interface EpochStep {
  readonly state: EpochState;
  readonly reports: readonly EpochReport[];
}

/** Times in ms. */
export const epochLimits = {
  /** Longer than the gaps inside a burst: 17 ms for a line of 82 characters at 38400 Bd, 85 ms at 9600 Bd, USB latency 16. */
  silenceMs: 100,
  maxSilenceMs: 800,
  /** Sentences with the time of the epoch just closed are late until then; after it the receiver's clock has stopped. */
  lateMs: 900,
  /** An epoch that noise prolongs is closed after this; a slow line (4800 Bd with many GSV) takes 2 s. */
  holdMs: 3000,
  /** An older date is not carried over to an epoch without one: midnight could have passed unseen. */
  dateLifeMs: 12 * 3_600_000,
  /** A ZDA dates an epoch within this time of it, because it may have the time of sending. */
  zdaMs: 1000,
  /** Times this close are one epoch until the interval of the receiver is known; then those within half of the interval are. */
  besideMs: 50,
  slowestMs: 10_000,
  /** RMC and VTG print the same speed. A disagreement is more than rounding (1 km/h) and one epoch of braking. */
  speedMismatchKmh: 5,
  speedMismatchShare: 0.05,
} as const;

const none: readonly EpochReport[] = [];

export function createEpochState(config: EpochConfig): EpochState {
  const { silenceMs } = epochLimits;
  const nothing = { open: null, closed: null, date: null, zda: null, latest: {}, everyMs: null } as const;
  return { config, ...nothing, receivedMonoMs: 0, silenceMs };
}

/**
 * Handles the next sentence. Reports the previous epoch if this sentence shows that it has ended.
 * @param atMonoMs monotonic time of arrival, ms
 */
export function assembleEpochs(state: EpochState, sentence: Sentence, atMonoMs: number): EpochStep {
  const received: EpochState = { ...state, receivedMonoMs: atMonoMs };
  if (!isVerdict(sentence)) return { state: addDetail(state, received, sentence), reports: none };
  const paced = recordPace(received, sentence);
  if (isLate(paced, sentence, atMonoMs)) return recordLate(paced, sentence);
  if (paced.open === null || isStalePrelude(state, paced.open, atMonoMs))
    return { state: begin(paced, sentence, atMonoMs), reports: none };
  if (!startsNewEpoch(paced, paced.open, sentence)) {
    const open = { ...paced.open, content: addSentence(paced.open.content, sentence) };
    return { state: { ...paced, open }, reports: none };
  }
  const { state: ended, reports } = close(paced, paced.open);
  // The new sentence may still belong to the epoch just closed, if the bursts of two receivers are interleaved.
  if (sentence.timeMs !== null && isLate(ended, sentence, atMonoMs))
    return recordLate(ended, sentence, reports);
  return { state: begin(ended, sentence, atMonoMs), reports };
}

/** A sentence without a verdict adds to the open epoch, or opens only the details of the next one. */
function addDetail(state: EpochState, received: EpochState, sentence: Sentence): EpochState {
  const { open, receivedMonoMs: atMonoMs } = received;
  if (sentence.type === 'ZDA') return recordZda(received, sentence, atMonoMs);
  if (sentence.type === 'unusable' || (open === null && isDetailLate(received, atMonoMs))) return received;
  if (open === null || isStalePrelude(state, open, atMonoMs)) return begin(received, sentence, atMonoMs);
  return { ...received, open: { ...open, content: addSentence(open.content, sentence) } };
}

/** The date of a fix is known as soon as its ZDA arrives, even after the fix. */
function recordZda(state: EpochState, { day, timeMs }: Zda, monoMs: number): EpochState {
  if (day === null || timeMs === null) return state;
  const zda: KnownDate = { day, timeMs, monoMs };
  const { closed } = state;
  const isOfFix =
    closed?.wasFix === true && isTail(state, monoMs) && isNear(closed.timeMs, timeMs, epochLimits.zdaMs);
  return { ...state, zda, date: isOfFix ? zda : state.date };
}

/** Records the arrival of bytes, valid or not: the burst is not over. Call it once per chunk. */
export function recordBytes(state: EpochState, atMonoMs: number): EpochState {
  return state.open === null ? state : { ...state, receivedMonoMs: atMonoMs };
}

/** Monotonic time at which `flushEpoch` is due, ms; null: no epoch is open. */
export function epochDeadline(state: EpochState): number | null {
  if (state.open === null || !hasVerdict(state.open.content)) return null;
  return Math.min(state.receivedMonoMs + state.silenceMs, state.open.firstMonoMs + epochLimits.holdMs);
}

/** Ends the epoch by silence if that is due; otherwise changes nothing. */
export function flushEpoch(state: EpochState, atMonoMs: number): EpochStep {
  const deadline = epochDeadline(state);
  if (state.open === null || deadline === null || atMonoMs < deadline) return { state, reports: none };
  return close(state, state.open);
}

function begin(state: EpochState, sentence: Sentence, atMonoMs: number): EpochState {
  return { ...state, open: { content: addSentence(emptyContent, sentence), firstMonoMs: atMonoMs } };
}

/** Sentences without a verdict before a silence are the rest of an earlier burst; they would date the epoch back. */
function isStalePrelude(state: EpochState, open: OpenEpoch, atMonoMs: number): boolean {
  return !hasVerdict(open.content) && atMonoMs - state.receivedMonoMs >= state.silenceMs;
}

/** True when two times of day are less than `withinMs` apart. An unknown time is close to an unknown one only. */
function isNear(a: number | null, b: number | null, withinMs: number): boolean {
  return a === null || b === null ? a === b : Math.abs(stepOfDay(a, b)) < withinMs;
}

/** Learns the report interval of the receiver from two sentences of one type. */
function recordPace(state: EpochState, sentence: VerdictSentence): EpochState {
  const { timeMs } = sentence;
  const formatter = formatterOf(sentence);
  const before = state.latest[formatter];
  if (timeMs === null || before === timeMs) return state;
  const latest = { ...state.latest, [formatter]: timeMs };
  const stepMs = before === undefined ? 0 : stepOfDay(before, timeMs);
  if (stepMs <= 0 || stepMs > epochLimits.slowestMs) return { ...state, latest };
  // A longer step usually means a lost sentence.
  const everyMs = state.everyMs === null ? stepMs : Math.min(stepMs, state.everyMs * 1.1);
  return { ...state, latest, everyMs };
}

/** Some receivers stamp each sentence of an epoch separately: RMC 10 ms beside GGA. */
function isBeside(state: EpochState, a: number | null, b: number | null): boolean {
  return isNear(a, b, state.everyMs === null ? epochLimits.besideMs : state.everyMs / 2);
}

function startsNewEpoch(state: EpochState, open: OpenEpoch, sentence: VerdictSentence): boolean {
  const { content, firstMonoMs } = open;
  const ageMs = state.receivedMonoMs - firstMonoMs;
  if (ageMs > epochLimits.holdMs) return true;
  const isRepeated = (content.seen & seenBit(sentence)) !== 0;
  if (sentence.timeMs === null || content.timeMs === null) return isRepeated;
  if (sentence.timeMs !== content.timeMs)
    return isRepeated || !isBeside(state, sentence.timeMs, content.timeMs);
  return isRepeated && ageMs >= epochLimits.lateMs; // the receiver's clock has stopped
}

/** True so soon after an epoch that new sentences may be its rest. */
function isTail({ closed }: EpochState, atMonoMs: number): boolean {
  return closed !== null && atMonoMs - closed.firstMonoMs < epochLimits.lateMs;
}

/** A sentence without a time after the silence belongs to the epoch before, unless the next one is due. */
function isDetailLate(state: EpochState, atMonoMs: number): boolean {
  const { closed, everyMs } = state;
  const isDue = closed !== null && everyMs !== null && atMonoMs - closed.firstMonoMs > 0.75 * everyMs;
  return isTail(state, atMonoMs) && !isDue;
}

/** True for a sentence of the epoch that was reported last: it must not cause a second report. */
function isLate(state: EpochState, sentence: VerdictSentence, atMonoMs: number): boolean {
  const { closed, open } = state;
  const { timeMs } = sentence;
  if (closed === null || !isTail(state, atMonoMs)) return false;
  if (timeMs === null) return open === null && closed.timeMs === null;
  const isOfOpen = open !== null && isBeside(state, open.content.timeMs, timeMs);
  if (timeMs === closed.timeMs) return !isOfOpen;
  return !isOfOpen && (closed.seen & seenBit(sentence)) === 0 && isBeside(state, closed.timeMs, timeMs);
}

/** A late sentence can only withdraw a fix. It also shows that the silence was too short. */
function recordLate(state: EpochState, sentence: VerdictSentence, before = none): EpochStep {
  const { closed, open } = state;
  if (closed === null || sentence.timeMs === null) return { state, reports: before };
  const silenceMs = open === null ? Math.min(state.silenceMs * 2, epochLimits.maxSilenceMs) : state.silenceMs;
  if (!closed.wasFix || !isVoidWitness(sentence)) return { state: { ...state, silenceMs }, reports: before };
  const estimatedKmh = estimateOf(sentence);
  const report: EpochReport = {
    kind: 'void',
    utcMs: closed.utcMs,
    atMonoMs: closed.firstMonoMs,
    estimatedKmh,
  };
  return {
    state: { ...state, silenceMs, closed: { ...closed, wasFix: false } },
    reports: [...before, report],
  };
}

function close(state: EpochState, epoch: OpenEpoch): EpochStep {
  const { content, firstMonoMs } = epoch;
  if (!hasVerdict(content)) return { state: { ...state, open: null }, reports: none };
  const wasFix = isFix(content);
  const day = content.day ?? zdaDay(state.zda, epoch) ?? carriedDay(state.date, epoch);
  // GLL alone without a date is the tail of a burst that was joined midway: too little for a report. gpsd decides the same.
  if (wasFix && content.source === 1 && day === null)
    return { state: { ...state, open: null }, reports: none };
  const { timeMs } = content;
  const utcMs = day === null || timeMs === null ? null : day * dayMs + timeMs;
  // The date of a void epoch may come from an unset clock: it is reported, but not carried over to other epochs.
  const date = wasFix && day !== null && timeMs !== null ? { day, timeMs, monoMs: firstMonoMs } : state.date;
  const closed: ClosedEpoch = { timeMs, seen: content.seen, utcMs, firstMonoMs, wasFix };
  const report: EpochReport = wasFix
    ? { kind: 'fix', fix: fixOf(state.config, epoch, utcMs) }
    : { kind: 'void', utcMs, atMonoMs: firstMonoMs, estimatedKmh: content.estimatedKmh };
  return { state: { ...state, open: null, closed, date }, reports: [report] };
}

/** Date for an epoch with a ZDA close by, also with midnight between the two; null: none. */
function zdaDay(zda: KnownDate | null, { content: { timeMs }, firstMonoMs }: OpenEpoch): number | null {
  if (zda === null || timeMs === null || !isNear(zda.timeMs, timeMs, epochLimits.zdaMs)) return null;
  if (Math.abs(firstMonoMs - zda.monoMs) > epochLimits.holdMs) return null;
  return dayBeside(zda, timeMs);
}

/** Date for an epoch with a time only: the date of the last fix, or the next day if midnight lies between; null: none. */
function carriedDay(date: KnownDate | null, epoch: OpenEpoch): number | null {
  const { timeMs } = epoch.content;
  if (date === null || timeMs === null || epoch.firstMonoMs - date.monoMs > epochLimits.dateLifeMs)
    return null;
  return date.timeMs - timeMs > dayMs / 2 ? date.day + 1 : date.day;
}

function fixOf(config: EpochConfig, epoch: OpenEpoch, utcMs: number | null): Fix {
  const { content, firstMonoMs: atMonoMs } = epoch;
  const { latitude, longitude, altitudeM, satellites, mode, rmcValid, vtg } = content;
  const speedKmh = content.speedKmh ?? vtg?.speedKmh ?? null;
  const headingDeg = content.headingDeg ?? vtg?.headingDeg ?? null;
  const guessed = altitudeM === null ? 2 : 3; // as in gpsd, without GSA: GGA with an altitude is 3D
  const dimension = content.gsaDimension === 1 ? guessed : content.gsaDimension;
  const hdop = content.hdop ?? content.gsaHdop;
  const doubts: FixDoubt[] = [];
  if (utcMs !== null && utcMs < config.earliestUtcMs) doubts.push('date-before-build');
  if (speedsDisagree(content.speedKmh, vtg?.speedKmh ?? null)) doubts.push('speed-mismatch');
  // 0° N 0° E is in the Gulf of Guinea; a receiver that reports exactly this has an empty register, not a position.
  if (latitude === 0 && longitude === 0) doubts.push('null-island');
  const place = {
    latitude,
    longitude,
    altitudeM,
    speedKmh,
    ...(content.speedKmh === null && speedKmh !== null ? { isSpeedOfVtg: true as const } : {}),
    headingDeg,
    hdop,
    satellites,
    dimension,
  } as const;
  return { utcMs, atMonoMs, ...place, mode, rmcValid, doubts };
}

function speedsDisagree(rmcKmh: number | null, vtgKmh: number | null): boolean {
  if (rmcKmh === null || vtgKmh === null) return false;
  const { speedMismatchKmh, speedMismatchShare } = epochLimits;
  return Math.abs(rmcKmh - vtgKmh) > speedMismatchKmh + speedMismatchShare * Math.max(rmcKmh, vtgKmh);
}
