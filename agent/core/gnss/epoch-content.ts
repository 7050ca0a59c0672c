// What the sentences of one epoch have said so far, and whether that makes a fix. Positions of void sentences are
// never kept here, so they cannot leak into a fix.
import type { Gga, Gll, Gns, Gsa, Rmc, Sentence, Vtg } from './nmea-sentences.ts';

/** What one kind of sentence says over all its talkers: one constellation without a fix does not undo another's. */
type Witness = 'silent' | 'void' | 'fix';

export interface EpochContent {
  /** UTC as ms of the day; null until a sentence brings it. */
  readonly timeMs: number | null;
  /** Days since 1970-01-01, of RMC or ZDA. */
  readonly day: number | null;
  /** Which sentences with a verdict came, by `seenBit`. */
  readonly seen: number;
  /** RMC or GLL is void, or anything is estimated, manual or simulated. */
  readonly vetoed: boolean;
  readonly gga: Witness;
  readonly gns: Witness;
  readonly gsa: Witness;
  /** Where the position comes from; a better source replaces a worse. 0 none, 1 GLL, 2 GNS, 3 GGA, 4 RMC. */
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
  readonly vtgSpeedKmh: number | null;
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
  vtgSpeedKmh: null,
};

/** A sentence that says itself whether there is a fix. */
export type VerdictSentence = Rmc | Gga | Gns | Gll;

const verdictTypes = ['RMC', 'GGA', 'GNS', 'GLL'] as const;
const talkers = ['GP', 'GN', 'GL', 'GA', 'GB', 'BD', 'GQ'] as const;

/** One bit for each type and talker; all unknown talkers share the eighth. */
export function seenBit(sentence: VerdictSentence): number {
  const talker = talkers.findIndex((name) => name === sentence.talker);
  return 1 << (verdictTypes.indexOf(sentence.type) * 8 + (talker < 0 ? talkers.length : talker));
}

/** True once a sentence came that says whether there is a fix. */
export function hasVerdict(content: EpochContent): boolean {
  return content.seen !== 0;
}

/** A fix: somebody gave a position and nobody contradicts. */
export function isFix(content: EpochContent): boolean {
  const { source, vetoed, gga, gns, gsa } = content;
  return source !== 0 && !vetoed && gga !== 'void' && gns !== 'void' && gsa !== 'void';
}

/** Modes that are a measured position (IEC 61162-1, RMC): autonomous, differential, precise, RTK, float RTK. */
function isMeasured(mode: string | null): boolean {
  return mode === null || mode === 'A' || mode === 'D' || mode === 'P' || mode === 'R' || mode === 'F';
}

/** True if this sentence alone says that the position of its epoch is no fix. */
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
      return false;
    default:
      return sentence satisfies never;
  }
}

/** `content` with `sentence` added. The caller has made sure that it is of the same epoch. */
export function noteSentence(content: EpochContent, sentence: Sentence): EpochContent {
  switch (sentence.type) {
    case 'RMC':
      return noteRmc(noteVerdict(content, sentence), sentence);
    case 'GGA':
      return noteGga(noteVerdict(content, sentence), sentence);
    case 'GNS':
      return noteGns(noteVerdict(content, sentence), sentence);
    case 'GLL': {
      const next = noteVerdict(content, sentence);
      return isVoidWitness(sentence) ? next : notePosition(next, sentence, 1);
    }
    case 'GSA':
      return noteGsa(content, sentence);
    case 'VTG':
      return noteVtg(content, sentence);
    case 'ZDA':
      if (sentence.timeMs === null) return content;
      return { ...content, timeMs: sentence.timeMs, day: content.day ?? sentence.day };
    default:
      return sentence satisfies never;
  }
}

function noteVerdict(content: EpochContent, sentence: VerdictSentence): EpochContent {
  return {
    ...content,
    timeMs: content.timeMs ?? sentence.timeMs,
    seen: content.seen | seenBit(sentence),
    vetoed: content.vetoed || isVoidWitness(sentence),
  };
}

function notePosition(content: EpochContent, sentence: VerdictSentence, source: 1 | 2 | 3 | 4): EpochContent {
  const { latitude, longitude } = sentence;
  if (latitude === null || longitude === null || source <= content.source) return content;
  return { ...content, source, latitude, longitude };
}

function noteRmc(content: EpochContent, rmc: Rmc): EpochContent {
  const day = rmc.day ?? content.day;
  if (isVoidWitness(rmc)) return { ...content, day };
  const { speedKmh, headingDeg, mode } = rmc;
  return notePosition({ ...content, day, rmcValid: true, speedKmh, headingDeg, mode }, rmc, 4);
}

function noteGga(content: EpochContent, gga: Gga): EpochContent {
  if (gga.quality === 0) return { ...content, gga: content.gga === 'fix' ? 'fix' : 'void' };
  const next: EpochContent = {
    ...content,
    gga: 'fix',
    altitudeM: content.altitudeM ?? gga.altitudeM,
    satellites: largest(content.satellites, gga.satellites),
    hdop: content.hdop ?? gga.hdop,
  };
  return notePosition(next, gga, 3);
}

function noteGns(content: EpochContent, gns: Gns): EpochContent {
  if (!/[ADPRF]/.test(gns.modes)) return { ...content, gns: content.gns === 'fix' ? 'fix' : 'void' };
  const next: EpochContent = {
    ...content,
    gns: 'fix',
    altitudeM: content.altitudeM ?? gns.altitudeM,
    satellites: largest(content.satellites, gns.satellites),
    hdop: content.hdop ?? gns.hdop,
  };
  return notePosition(next, gns, 2);
}

function noteGsa(content: EpochContent, gsa: Gsa): EpochContent {
  const gsaHdop = content.gsaHdop ?? gsa.hdop;
  if (gsa.dimension === 1) return { ...content, gsaHdop, gsa: content.gsa === 'fix' ? 'fix' : 'void' };
  const gsaDimension = gsa.dimension > content.gsaDimension ? gsa.dimension : content.gsaDimension;
  return { ...content, gsaHdop, gsaDimension, gsa: 'fix' };
}

/** The first VTG counts: a later one in a stream without pauses may open the next burst. */
function noteVtg(content: EpochContent, vtg: Vtg): EpochContent {
  const counts = content.vtgSpeedKmh === null && vtg.speedKmh !== null && isMeasured(vtg.mode);
  return counts ? { ...content, vtgSpeedKmh: vtg.speedKmh } : content;
}

function largest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
