// Joins the sentences of one GNSS epoch, from all talkers, into one fix or one void report. Rule: a fix needs a
// sentence that confirms it and none that denies it; void, estimated, manual and simulated positions must never
// become a fix, and an epoch must never become two fixes.

import {
  addSentence,
  type EpochContent,
  emptyContent,
  estimateOf,
  hasVerdict,
  isFix,
  isVoidWitness,
  seenBit,
} from './epoch-content.ts';
import type { Sentence } from './nmea-sentences.ts';

/** Why a fix should not be used without further evidence. The first three are found in the epoch itself. */
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
   * UTC of the receiver in ms, null while it has no date. Raw: with the doubt `date-before-build` the receiver is
   * 1024 weeks in the past (GPS week roll-over) and this is not a time to set a clock by or to stamp an event with.
   */
  readonly utcMs: number | null;
  /** Monotonic time when the first sentence of the epoch arrived. */
  readonly atMonoMs: number;
  /** Degrees, WGS 84. */
  readonly latitude: number;
  readonly longitude: number;
  /** Above mean sea level. */
  readonly altitudeM: number | null;
  /** Over ground, from RMC (Doppler). VTG only cross-checks it: null without RMC. */
  readonly speedKmh: number | null;
  /** True course over ground, 0 up to but not 360. */
  readonly headingDeg: number | null;
  readonly hdop: number | null;
  readonly satellites: number | null;
  readonly dimension: 2 | 3;
  /** Mode indicator of RMC: A autonomous, D differential, R and F RTK, P precise; null without it (before NMEA 2.3). */
  readonly mode: string | null;
  /** An RMC with status A is part of the epoch. */
  readonly rmcValid: boolean;
  readonly doubts: readonly FixDoubt[];
}

export type EpochReport =
  | { readonly kind: 'fix'; readonly fix: Fix }
  /** `estimatedKmh`: speed by dead reckoning (mode E of RMC), which proves no standstill; null without. */
  | {
      readonly kind: 'void';
      readonly utcMs: number | null;
      readonly atMonoMs: number;
      readonly estimatedKmh: number | null;
    };

export interface EpochConfig {
  /** Build date of the agent: an earlier time from a receiver is wrong. */
  readonly earliestUtcMs: number;
}

interface OpenEpoch {
  readonly content: EpochContent;
  readonly firstMonoMs: number;
}

interface ClosedEpoch {
  readonly timeMs: number | null;
  readonly utcMs: number | null;
  readonly firstMonoMs: number;
  readonly wasFix: boolean;
}

/** The last date known from a fix, to complete epochs that bring a time only (GGA, GNS, GLL). */
interface KnownDate {
  readonly day: number;
  readonly timeMs: number;
  readonly monoMs: number;
}

export interface EpochState {
  readonly config: EpochConfig;
  readonly open: OpenEpoch | null;
  readonly closed: ClosedEpoch | null;
  readonly date: KnownDate | null;
  /** Monotonic time of the last received byte. */
  readonly receivedMonoMs: number;
  /** Silence that ends an epoch; grows when it proved too short for this receiver. */
  readonly silenceMs: number;
}

/** What a step gives back. Reports are in the order of their epochs. */
export interface EpochStep {
  readonly state: EpochState;
  readonly reports: readonly EpochReport[];
}

/** Times in ms. */
export const epochLimits = {
  /** Above the gaps inside a burst: 17 ms for a line of 82 characters at 38400 Bd, 85 ms at 9600 Bd, USB latency 16. */
  silenceMs: 100,
  maxSilenceMs: 800,
  /** Sentences with the time of the epoch just closed are late; after this the receiver's clock has stopped. */
  lateMs: 900,
  /** An epoch prolonged by noise is closed at last; a slow line (4800 Bd with many GSV) takes 2 s. */
  holdMs: 3000,
  /** A date older than this is not carried over to an epoch that has none: midnight could have passed unseen. */
  dateLifeMs: 12 * 3_600_000,
  /** RMC and VTG print the same speed; more than rounding (1 km/h) and one epoch of braking is a disagreement. */
  speedMismatchKmh: 5,
  speedMismatchShare: 0.05,
} as const;

const dayMs = 86_400_000;
const none: readonly EpochReport[] = [];

export function createEpochState(config: EpochConfig): EpochState {
  const { silenceMs } = epochLimits;
  return { config, open: null, closed: null, date: null, receivedMonoMs: 0, silenceMs };
}

/**
 * Handles the next sentence. Reports the previous epoch if this sentence shows that it has ended.
 * @param atMonoMs monotonic time of arrival
 */
export function assembleEpochs(state: EpochState, sentence: Sentence, atMonoMs: number): EpochStep {
  const received: EpochState = { ...state, receivedMonoMs: atMonoMs };
  if (isLate(received, sentence, atMonoMs)) return recordLate(received, sentence);
  if (received.open === null || isStalePrelude(state, received.open, atMonoMs))
    return { state: begin(received, sentence, atMonoMs), reports: none };
  if (!startsNewEpoch(received.open, sentence, atMonoMs)) {
    const open = { ...received.open, content: addSentence(received.open.content, sentence) };
    return { state: { ...received, open }, reports: none };
  }
  const { state: ended, reports } = close(received, received.open);
  // The new sentence may still be of the epoch just closed, if two receivers' bursts are interleaved.
  if (timeOf(sentence) !== null && isLate(ended, sentence, atMonoMs))
    return recordLate(ended, sentence, reports);
  return { state: begin(ended, sentence, atMonoMs), reports };
}

/** Records that bytes arrived, valid or not: the burst is not over. Call it once a chunk. */
export function recordBytes(state: EpochState, atMonoMs: number): EpochState {
  return state.open === null ? state : { ...state, receivedMonoMs: atMonoMs };
}

/** Monotonic time at which `flushEpoch` is due, null if no epoch is open. */
export function epochDeadline(state: EpochState): number | null {
  if (state.open === null || !hasVerdict(state.open.content)) return null;
  return Math.min(state.receivedMonoMs + state.silenceMs, state.open.firstMonoMs + epochLimits.holdMs);
}

/** Ends the epoch by silence if it is due; otherwise changes nothing. */
export function flushEpoch(state: EpochState, atMonoMs: number): EpochStep {
  const deadline = epochDeadline(state);
  if (state.open === null || deadline === null || atMonoMs < deadline) return { state, reports: none };
  return close(state, state.open);
}

function timeOf(sentence: Sentence): number | null {
  return sentence.type === 'GSA' || sentence.type === 'VTG' ? null : sentence.timeMs;
}

function begin(state: EpochState, sentence: Sentence, atMonoMs: number): EpochState {
  return { ...state, open: { content: addSentence(emptyContent, sentence), firstMonoMs: atMonoMs } };
}

/** Sentences without a verdict before a silence are the rest of an earlier burst; they would date the epoch back. */
function isStalePrelude(state: EpochState, open: OpenEpoch, atMonoMs: number): boolean {
  return !hasVerdict(open.content) && atMonoMs - state.receivedMonoMs >= state.silenceMs;
}

function startsNewEpoch(open: OpenEpoch, sentence: Sentence, atMonoMs: number): boolean {
  const { content, firstMonoMs } = open;
  if (atMonoMs - firstMonoMs > epochLimits.holdMs) return true;
  switch (sentence.type) {
    case 'GSA':
    case 'VTG':
      return false; // they carry no time and belong to what is open
    case 'ZDA':
      return sentence.timeMs !== null && content.timeMs !== null && sentence.timeMs !== content.timeMs;
    case 'RMC':
    case 'GGA':
    case 'GNS':
    case 'GLL': {
      // Only sentences before the first one with a verdict may take over its time.
      const isPrelude = content.timeMs === null && !hasVerdict(content);
      if (isPrelude) return false;
      const isRepeated = (content.seen & seenBit(sentence)) !== 0;
      if (sentence.timeMs === null) return isRepeated;
      if (sentence.timeMs !== content.timeMs) return true;
      return isRepeated && atMonoMs - firstMonoMs >= epochLimits.lateMs; // the receiver's clock stands
    }
    default:
      return sentence satisfies never;
  }
}

/** True for a sentence of the epoch that was reported last: it must not make a second report. */
function isLate(state: EpochState, sentence: Sentence, atMonoMs: number): boolean {
  const { closed, open } = state;
  if (closed === null || atMonoMs - closed.firstMonoMs >= epochLimits.lateMs) return false;
  if (sentence.type === 'GSA' || sentence.type === 'VTG') return open === null;
  if (sentence.timeMs === null) return open === null && closed.timeMs === null;
  return sentence.timeMs === closed.timeMs && open?.content.timeMs !== sentence.timeMs;
}

/** A late sentence can only take a fix back. It also shows that the silence awaited was too short. */
function recordLate(state: EpochState, sentence: Sentence, before = none): EpochStep {
  const { closed, open } = state;
  if (closed === null || timeOf(sentence) === null) return { state, reports: before };
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
  const day = content.day ?? carriedDay(state.date, epoch);
  // GLL alone and no date: the tail of a burst that was joined midway. Too little for a report, as gpsd decides too.
  if (wasFix && content.source === 1 && day === null)
    return { state: { ...state, open: null }, reports: none };
  const { timeMs } = content;
  const utcMs = day === null || timeMs === null ? null : day * dayMs + timeMs;
  // The date of a void epoch may come from an unset clock: it is reported, but not carried over to other epochs.
  const date = wasFix && day !== null && timeMs !== null ? { day, timeMs, monoMs: firstMonoMs } : state.date;
  const closed: ClosedEpoch = { timeMs, utcMs, firstMonoMs, wasFix };
  const report: EpochReport = wasFix
    ? { kind: 'fix', fix: fixOf(state.config, epoch, utcMs) }
    : { kind: 'void', utcMs, atMonoMs: firstMonoMs, estimatedKmh: content.estimatedKmh };
  return { state: { ...state, open: null, closed, date }, reports: [report] };
}

/** The date for an epoch with only a time: that of the last fix, or the next day if midnight is in between. */
function carriedDay(date: KnownDate | null, epoch: OpenEpoch): number | null {
  const { timeMs } = epoch.content;
  if (date === null || timeMs === null || epoch.firstMonoMs - date.monoMs > epochLimits.dateLifeMs)
    return null;
  return date.timeMs - timeMs > dayMs / 2 ? date.day + 1 : date.day;
}

function fixOf(config: EpochConfig, epoch: OpenEpoch, utcMs: number | null): Fix {
  const { content, firstMonoMs: atMonoMs } = epoch;
  const { latitude, longitude, altitudeM, speedKmh, headingDeg, satellites, mode, rmcValid } = content;
  const guessed = altitudeM === null ? 2 : 3; // without GSA, as gpsd does: GGA with an altitude is 3D
  const dimension = content.gsaDimension === 1 ? guessed : content.gsaDimension;
  const hdop = content.hdop ?? content.gsaHdop;
  const doubts: FixDoubt[] = [];
  if (utcMs !== null && utcMs < config.earliestUtcMs) doubts.push('date-before-build');
  if (speedsDisagree(speedKmh, content.vtgSpeedKmh)) doubts.push('speed-mismatch');
  // 0° N 0° E is in the Gulf of Guinea; a receiver that reports exactly this has an empty register, not a position.
  if (latitude === 0 && longitude === 0) doubts.push('null-island');
  const place = {
    latitude,
    longitude,
    altitudeM,
    speedKmh,
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
