// Content of one epoch so far, and whether it makes a fix. Positions of void sentences are never kept here, so they cannot leak into a fix.
import { dayMs } from '../../../src/core/durations.ts';
import type { Gga, Gll, Gns, Gsa, Rmc, Sentence, Unusable, Vtg } from './nmea-sentences.ts';

/** Verdict of one kind of sentence over all its talkers: one constellation without a fix does not void another's. */
type Witness = 'silent' | 'void' | 'fix';

export interface EpochContent {
  /** UTC as ms of the day; null until a sentence brings it. */
  readonly timeMs: number | null;
  /** Days since 1970-01-01, from RMC. */
  readonly day: number | null;
  /** Sentences with a verdict that arrived, usable or not, as `seenBit` flags. */
  readonly seen: number;
  /** RMC or GLL is void, or anything is estimated, manual or simulated. */
  readonly vetoed: boolean;
  readonly gga: Witness;
  readonly gns: Witness;
  readonly gsa: Witness;
  /** Source of the position; a better source replaces a worse. 0 none, 1 GLL, 2 GNS, 3 GGA, 4 RMC. */
  readonly source: 0 | 1 | 2 | 3 | 4;
  readonly latitude: number;
  readonly longitude: number;
  readonly altitudeM: number | null;
  readonly satellites: number | null;
  readonly hdop: number | null;
  readonly gsaHdop: number | null;
  readonly gsaDimension: 1 | 2 | 3;
  readonly rmcValid: boolean;
  readonly speedKmh: number | null;
  readonly headingDeg: number | null;
  readonly mode: string | null;
  /** Speed by dead reckoning, km/h; null: none. */
  readonly estimatedKmh: number | null;
  readonly vtg: Vtg | null;
}

export const emptyContent: EpochContent = {
  timeMs: null,
  day: null,
  seen: 0,
  vetoed: false,
  gga: 'silent',
  gns: 'silent',
  gsa: 'silent',
  source: 0,
  latitude: 0,
  longitude: 0,
  altitudeM: null,
  satellites: null,
  hdop: null,
  gsaHdop: null,
  gsaDimension: 1,
  rmcValid: false,
  speedKmh: null,
  headingDeg: null,
  mode: null,
  estimatedKmh: null,
  vtg: null,
};

/** A sentence that states whether there is a fix, or would if it were usable. */
export type VerdictSentence = Rmc | Gga | Gns | Gll | Unusable;

const verdictTypes: readonly string[] = ['RMC', 'GGA', 'GNS', 'GLL'];
const talkers = ['GP', 'GN', 'GL', 'GA', 'GB', 'BD', 'GQ'] as const;

export const formatterOf = (sentence: Sentence): string =>
  sentence.type === 'unusable' ? sentence.of : sentence.type;

/** Step from `from` to `to` on the clock of a day, ms, the shorter way round; negative is backwards. */
export const stepOfDay = (from: number, to: number): number =>
  ((to - from + 1.5 * dayMs) % dayMs) - dayMs / 2;

/** Day of a time close to another one with a known day; midnight may lie between them. */
export const dayBeside = (known: { readonly day: number; readonly timeMs: number }, timeMs: number): number =>
  known.day + Math.round((known.timeMs + stepOfDay(known.timeMs, timeMs) - timeMs) / dayMs);

/** True for sentences that open, close and prolong an epoch. Others do not: ZDA often has the time of sending (Trimble). */
export const isVerdict = (sentence: Sentence): sentence is VerdictSentence =>
  verdictTypes.includes(formatterOf(sentence));

/** One bit per type and talker; all unknown talkers share the eighth. */
export function seenBit(sentence: VerdictSentence): number {
  const talker = talkers.findIndex((name) => name === sentence.talker);
  return 1 << (verdictTypes.indexOf(formatterOf(sentence)) * 8 + (talker < 0 ? talkers.length : talker));
}

/** True once a sentence that states whether there is a fix has arrived. */
export function hasVerdict(content: EpochContent): boolean {
  return content.seen !== 0;
}

/** True when there is a position and no sentence contradicts it. */
export function isFix(content: EpochContent): boolean {
  const { source, vetoed, gga, gns, gsa } = content;
  return source !== 0 && !vetoed && gga !== 'void' && gns !== 'void' && gsa !== 'void';
}

/** Modes of a measured position (IEC 61162-1, RMC): autonomous, differential, precise, RTK, float RTK. */
export function isMeasured(mode: string | null): boolean {
  return mode === null || mode === 'A' || mode === 'D' || mode === 'P' || mode === 'R' || mode === 'F';
}

/** True when this sentence alone voids the position of its epoch. */
export function isVoidWitness(sentence: Sentence): boolean {
  switch (sentence.type) {
    case 'RMC':
    case 'GLL':
      return !sentence.valid || !isMeasured(sentence.mode);
    case 'GGA':
      return sentence.quality >= 6 && sentence.quality <= 8;
    case 'GNS':
      return /[EMS]/.test(sentence.modes);
    case 'GSA':
    case 'VTG':
    case 'ZDA':
    case 'unusable':
      return false;
    default:
      return sentence satisfies never;
  }
}

/** Adds `sentence` to `content`. The caller ensures that both are of the same epoch. */
export function addSentence(content: EpochContent, sentence: Sentence): EpochContent {
  switch (sentence.type) {
    case 'RMC':
      return recordRmc(recordVerdict(content, sentence), sentence);
    case 'GGA':
      return recordGga(recordVerdict(content, sentence), sentence);
    case 'GNS':
      return recordGns(recordVerdict(content, sentence), sentence);
    case 'GLL': {
      const next = recordVerdict(content, sentence);
      return isVoidWitness(sentence) ? next : recordPosition(next, sentence, 1);
    }
    case 'GSA':
      return recordGsa(content, sentence);
    case 'VTG':
      return recordVtg(content, sentence);
    case 'ZDA':
      return content;
    case 'unusable':
      return isVerdict(sentence) ? recordVerdict(content, sentence) : content;
    default:
      return sentence satisfies never;
  }
}

function recordVerdict(content: EpochContent, sentence: VerdictSentence): EpochContent {
  return {
    ...content,
    timeMs: content.timeMs ?? sentence.timeMs,
    seen: content.seen | seenBit(sentence),
    vetoed: content.vetoed || isVoidWitness(sentence),
  };
}

function recordPosition(
  content: EpochContent,
  sentence: Exclude<VerdictSentence, Unusable>,
  source: 1 | 2 | 3 | 4,
): EpochContent {
  const { latitude, longitude } = sentence;
  if (latitude === null || longitude === null || source <= content.source) return content;
  return { ...content, source, latitude, longitude };
}

/** Estimated speed (dead reckoning) of an RMC or VTG, km/h; null for any other sentence. */
export function estimateOf(sentence: Sentence): number | null {
  const isEstimate = (sentence.type === 'RMC' || sentence.type === 'VTG') && sentence.mode === 'E';
  return isEstimate ? sentence.speedKmh : null;
}

/** RMC may carry a slightly different time from the sentence that gave the epoch its time. */
function dayOfEpoch({ timeMs }: EpochContent, date: { day: number; timeMs: number | null }): number {
  return timeMs === null || date.timeMs === null
    ? date.day
    : dayBeside({ day: date.day, timeMs: date.timeMs }, timeMs);
}

function recordRmc(content: EpochContent, rmc: Rmc): EpochContent {
  const day = rmc.day === null ? content.day : dayOfEpoch(content, { day: rmc.day, timeMs: rmc.timeMs });
  if (isVoidWitness(rmc)) return { ...content, day, estimatedKmh: estimateOf(rmc) ?? content.estimatedKmh };
  const { speedKmh, headingDeg, mode } = rmc;
  return recordPosition({ ...content, day, rmcValid: true, speedKmh, headingDeg, mode }, rmc, 4);
}

function recordGga(content: EpochContent, gga: Gga): EpochContent {
  if (gga.quality === 0) return { ...content, gga: content.gga === 'fix' ? 'fix' : 'void' };
  const next: EpochContent = {
    ...content,
    gga: 'fix',
    altitudeM: content.altitudeM ?? gga.altitudeM,
    satellites: largest(content.satellites, gga.satellites),
    hdop: content.hdop ?? gga.hdop,
  };
  return recordPosition(next, gga, 3);
}

function recordGns(content: EpochContent, gns: Gns): EpochContent {
  if (!/[ADPRF]/.test(gns.modes)) return { ...content, gns: content.gns === 'fix' ? 'fix' : 'void' };
  const next: EpochContent = {
    ...content,
    gns: 'fix',
    altitudeM: content.altitudeM ?? gns.altitudeM,
    satellites: largest(content.satellites, gns.satellites),
    hdop: content.hdop ?? gns.hdop,
  };
  return recordPosition(next, gns, 2);
}

function recordGsa(content: EpochContent, gsa: Gsa): EpochContent {
  const gsaHdop = content.gsaHdop ?? gsa.hdop;
  if (gsa.dimension === 1) return { ...content, gsaHdop, gsa: content.gsa === 'fix' ? 'fix' : 'void' };
  const gsaDimension = gsa.dimension > content.gsaDimension ? gsa.dimension : content.gsaDimension;
  return { ...content, gsaHdop, gsaDimension, gsa: 'fix' };
}

/** The first VTG counts: in a stream without pauses a later one may belong to the next burst. */
function recordVtg(content: EpochContent, vtg: Vtg): EpochContent {
  if (!isMeasured(vtg.mode)) return { ...content, estimatedKmh: content.estimatedKmh ?? estimateOf(vtg) };
  return content.vtg === null && vtg.speedKmh !== null ? { ...content, vtg } : content;
}

function largest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
