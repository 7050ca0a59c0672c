// Decodes the byte stream of a GNSS receiver into typed NMEA 0183 sentences: RMC, GGA, GNS, GLL, GSA, VTG, ZDA. The checksum is mandatory, and an
// empty field is null. A sentence with one invalid field only counts as received. The decoder never throws, never keeps more than one line of bytes,
// and never returns a value that the receiver did not send.
import { aim, createFieldReader, type FieldReader } from './nmea-fields.ts';
import { decodeFields, type Sentence, type Unusable } from './nmea-sentences.ts';
import { decodeSky, type SkySentence } from './nmea-sky.ts';

/** NMEA 0183 allows 82 characters; RTK receivers send 92 and more. Anything longer is noise. */
export const maxLineBytes = 256;

/** Bytes of an incomplete line, at most `maxLineBytes`. */
export interface NmeaState {
  readonly pending: Uint8Array;
}

/**
 * Number of rejected lines by reason: checksum does not match; no `*hh` at the end; longer than `maxLineBytes`; cut by another `$` or by a byte that
 * is not text, or with a field that violates the format of the sentence.
 */
interface Rejected {
  readonly checksum: number;
  readonly noChecksum: number;
  readonly tooLong: number;
  readonly malformed: number;
}

export interface Decoded {
  readonly state: NmeaState;
  /** In order of arrival, including those with a correct checksum that cannot be used. */
  readonly sentences: readonly Sentence[];
  /** Sentences about satellites and antenna only. */
  readonly sky: readonly SkySentence[];
  readonly rejected: Rejected;
  /** Number of good sentences of types that are not used. */
  readonly ignored: number;
  /** Bytes outside any line, without line ends; a wrong baud rate shows here. */
  readonly strayBytes: number;
}

const dollar = 0x24;
const star = 0x2a;
const cr = 0x0d;
const lf = 0x0a;
const emptyState: NmeaState = { pending: new Uint8Array(0) };
const nothingRejected: Rejected = { checksum: 0, noChecksum: 0, tooLong: 0, malformed: 0 };

export function createNmeaState(): NmeaState {
  return emptyState;
}

/** Decodes the next bytes of a stream, in chunks of any size. Never throws. The cost is linear in the bytes. */
export function decodeNmea(state: NmeaState, bytes: Uint8Array): Decoded {
  const stream = state.pending.length === 0 ? bytes : joined(state.pending, bytes);
  const reader = createFieldReader(stream);
  const sentences: Sentence[] = [];
  const sky: SkySentence[] = [];
  let rejected: Record<keyof Rejected, number> | null = null;
  const reject = (reason: keyof Rejected): void => {
    rejected ??= { ...nothingRejected };
    rejected[reason] += 1;
  };
  let ignored = 0;
  let strayBytes = 0;
  let at = 0;
  while (at < stream.length) {
    const byte = stream[at];
    if (byte !== dollar) {
      if (byte !== cr && byte !== lf) strayBytes += 1;
      at += 1;
      continue;
    }
    const end = lineEnd(stream, at);
    if (end === stream.length && end - at <= maxLineBytes) {
      const pending = stream.slice(at);
      return {
        state: { pending },
        sentences,
        sky,
        rejected: rejected ?? nothingRejected,
        ignored,
        strayBytes,
      };
    }
    const outcome = end - at > maxLineBytes ? 'tooLong' : decodeLine(reader, at, end);
    if (outcome === 'ignored') ignored += 1;
    else if (typeof outcome === 'string') reject(outcome);
    else if (outcome.type === 'GSV' || outcome.type === 'TXT') sky.push(outcome);
    else {
      if (outcome.type === 'unusable') reject('malformed');
      sentences.push(outcome);
    }
    at = end;
  }
  return { state: emptyState, sentences, sky, rejected: rejected ?? nothingRejected, ignored, strayBytes };
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** End of the line that starts at `from`: the first byte that is not text or is a `$`, or one past the limit. */
function lineEnd(stream: Uint8Array, from: number): number {
  const limit = Math.min(stream.length, from + maxLineBytes + 1);
  let at = from + 1;
  while (at < limit) {
    const byte = stream[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e || byte === dollar) return at;
    at += 1;
  }
  return at;
}

type Outcome = Sentence | SkySentence | 'ignored' | keyof Rejected;

/** Decodes the line in [from, end): `from` is the `$`, `end` the byte after the line. */
function decodeLine(reader: FieldReader, from: number, end: number): Outcome {
  const { bytes } = reader;
  const starAt = end - 3;
  if (starAt <= from || bytes[starAt] !== star) {
    return bytes[end] === cr || bytes[end] === lf ? 'noChecksum' : 'malformed';
  }
  let sum = 0;
  for (let i = from + 1; i < starAt; i += 1) sum ^= bytes[i] ?? 0;
  if (sum !== hexDigit(bytes[end - 2]) * 16 + hexDigit(bytes[end - 1])) return 'checksum';
  // Address: talker of two and formatter of three characters (IEC 61162-1); others are proprietary or queries.
  if (starAt - from < 7 || bytes[from + 6] !== 0x2c) return 'ignored';
  const talker = talkerName(bytes[from + 1] ?? 0, bytes[from + 2] ?? 0);
  aim(reader, from + 7, starAt);
  const sentence = decodeFields(reader, talker, from + 3) ?? decodeSky(reader, talker, from + 3);
  if (sentence === null) return 'ignored';
  return reader.bad ? unusableOf(bytes.subarray(from, end), sentence) : sentence;
}

function unusableOf(line: Uint8Array, sentence: Sentence | SkySentence): Unusable {
  const text = String.fromCharCode(...line);
  const timeMs = 'timeMs' in sentence ? sentence.timeMs : null;
  return { type: 'unusable', of: text.slice(3, 6), talker: text.slice(1, 3), timeMs, text };
}

function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

function talkerName(first: number, second: number): string {
  if (first === 0x47) {
    if (second === 0x50) return 'GP';
    if (second === 0x4e) return 'GN';
  }
  return String.fromCharCode(first, second);
}
