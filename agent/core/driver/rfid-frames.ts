// Serial RFID readers for 125 kHz tags (EM4100), 9600 baud, 8N1. Nothing is sent to them. Ten hex digits and the exclusive or of
// their five bytes, as two digits or as one raw byte, between STX and ETX (RDM6300, Seeed/ITEAD data sheet), also with CR and LF
// (ID-12LA, ID Innovations data sheet "ID-2LA, ID-12LA, ID-20LA", ASCII format), or bare before CR, LF, ETX or a pause.
//
// RDM6300 sends a tag some 15 times a second while it is there, and sometimes reads a wrong one with a right checksum. So a tag
// counts once it was read twice within a second. ID-12LA sends a tag once; so do others, of kind `rfid-once`.
import { isKeyID, keyOf } from './key-id.ts';
import { type KeyProtocol, type KeyStep, noStep } from './key-protocol.ts';

const stx = 0x02;
const etx = 0x03;
const lf = 0x0a;
const cr = 0x0d;
const comma = 0x2c;
const idDigits = 10;
/** Digits and checksum. */
const frameMost = 12;

const timing = {
  /** A tag is read again within this, ms. */
  againMs: 1000,
  /** Without STX a pause is an end too: RDM6300 rests for 50 ms between two frames, ms. */
  pauseMs: 40,
} as const;

/** Tags that wait for their second reading. */
const tagsMost = 8;
/** Readings after which a reader is taken to send no checksum. */
const bareMost = 2;

const isHex = (byte: number | undefined): boolean =>
  byte !== undefined && /[0-9A-Fa-f]/.test(String.fromCharCode(byte));
const isEnd = (byte: number): boolean => byte === etx || byte === cr || byte === lf;

/** The tag of a reading without its ends; null for one that is damaged. The tag of zeros is what a reader without a tag reads. */
function tagOf(reading: readonly number[]): string | null {
  if (reading.length !== frameMost && reading.length !== idDigits + 1) return null;
  const digits = reading.slice(0, reading.length === frameMost ? frameMost : idDigits);
  if (!digits.every(isHex)) return null;
  const pairs = String.fromCharCode(...digits).match(/../g) ?? [];
  const bytes = [...pairs.map((pair) => Number.parseInt(pair, 16)), ...reading.slice(digits.length)];
  const id = keyOf(bytes.slice(0, 5));
  const isSound = bytes.reduce((sum, byte) => sum ^ byte, 0) === 0;
  return isSound && isKeyID(id) && id !== '0000000000' ? id : null;
}

/** A number without a checksum, as converters of Wiegand send it: `0012345678`, `123,45678`, ten hex digits. */
const barePattern = /^(?:\d{3},\d{5}|\d{8,10}|[0-9A-Fa-f]{10})$/;

interface Frames {
  /** A tag is sent again and again while it lies there. */
  readonly isRepeating: boolean;
  /** What came of a reading; null: outside of one. */
  reading: number[] | null;
  /** It began with STX. */
  isFramed: boolean;
  /** The newest byte, monotonic ms. */
  byteMs: number;
  /** Tags by their newest reading. */
  readonly seen: Map<string, { readonly atMs: number; readonly isConfirmed: boolean }>;
  /** Readings without a checksum since the last tag. */
  bare: number;
}

/** Forgets tags that were not read again; those that were read only once are refused readings. */
function forget(frames: Frames, nowMs: number): KeyStep {
  let rejected = 0;
  for (const [id, { atMs, isConfirmed }] of frames.seen) {
    if (nowMs - atMs <= timing.againMs && frames.seen.size <= tagsMost) continue;
    frames.seen.delete(id);
    if (!isConfirmed) rejected += 1;
  }
  return { ...noStep, rejected };
}

/** @param end the byte that ended the reading; null: a pause, or the beginning of another one. */
function endReading(frames: Frames, end: number | null, nowMs: number): KeyStep {
  const { isFramed, isRepeating, seen } = frames;
  const raw = frames.reading?.[idDigits];
  // Before a pause it was the end of ten digits.
  const isOwnEnd = end === null && raw !== undefined && isEnd(raw);
  const reading = isOwnEnd ? frames.reading?.slice(0, idDigits) : frames.reading;
  frames.reading = null;
  if (reading === null || reading === undefined || reading.length === 0) return noStep;
  // A raw checksum is one only before an end.
  const id = end === null && reading.length !== frameMost ? null : tagOf(reading);
  if (id !== null) {
    frames.bare = 0;
    const forgotten = forget(frames, nowMs);
    // CR within a frame: an ID-12LA, which sends a tag once.
    const isConfirmed = !isRepeating || (isFramed && end === cr) || seen.has(id);
    seen.delete(id);
    seen.set(id, { atMs: nowMs, isConfirmed });
    return { ...forgotten, keys: isConfirmed ? [id] : [] };
  }
  const isBare = barePattern.test(String.fromCharCode(...reading));
  if (isBare) frames.bare += 1;
  return isBare || isFramed ? { ...noStep, rejected: 1 } : { ...noStep, noise: reading.length };
}

/** A byte outside of a reading. */
function begin(frames: Frames, byte: number): KeyStep {
  frames.isFramed = byte === stx;
  if (frames.isFramed) frames.reading = [];
  else if (isHex(byte)) frames.reading = [byte];
  // Further end bytes after a reading are no noise.
  else return { ...noStep, noise: isEnd(byte) ? 0 : 1 };
  return noStep;
}

/** The byte after ten digits and one that is no digit: that was a raw checksum, of any value, if the reading ends here. */
function handleAfterRaw(
  frames: Frames,
  reading: readonly number[],
  byte: number,
  nowMs: number,
): readonly KeyStep[] {
  if (isEnd(byte) && tagOf(reading) !== null) return [endReading(frames, byte, nowMs)];
  const last = reading[idDigits] ?? 0;
  frames.reading = reading.slice(0, idDigits);
  const ended = endReading(frames, isEnd(last) ? last : null, nowMs);
  return [ended, ...(last === stx ? [begin(frames, stx)] : []), ...handleByte(frames, byte, nowMs)];
}

function handleByte(frames: Frames, byte: number, nowMs: number): readonly KeyStep[] {
  const { reading, isFramed } = frames;
  if (reading === null) return [begin(frames, byte)];
  const mayBeRaw = isFramed && reading.length === idDigits;
  if (isFramed && reading.length === idDigits + 1 && !isHex(reading[idDigits]))
    return handleAfterRaw(frames, reading, byte, nowMs);
  if (!mayBeRaw && byte === stx) return [endReading(frames, null, nowMs), begin(frames, byte)];
  if (!mayBeRaw && isEnd(byte)) return [endReading(frames, byte, nowMs)];
  if (!isFramed && reading.length > frameMost) return [{ ...noStep, noise: 1 }];
  reading.push(byte);
  const belongs = mayBeRaw || isHex(byte) || byte === comma;
  return belongs && !(isFramed && reading.length > frameMost) ? [] : [endReading(frames, null, nowMs)];
}

function pause(frames: Frames, nowMs: number): KeyStep {
  const isOver = nowMs - frames.byteMs >= (frames.isFramed ? timing.againMs : timing.pauseMs);
  return isOver ? endReading(frames, null, nowMs) : noStep;
}

const sumOf = (steps: readonly KeyStep[]): KeyStep => ({
  writes: [],
  keys: steps.flatMap(({ keys }) => keys),
  rejected: steps.reduce((sum, { rejected }) => sum + rejected, 0),
  noise: steps.reduce((sum, { noise }) => sum + noise, 0),
});

/** A reader that sends tags by itself. @param isRepeating as long as they lie there; such a tag counts once it was read twice. */
export function createRfidFrames(isRepeating = true): KeyProtocol {
  const frames: Frames = {
    isRepeating,
    reading: null,
    isFramed: false,
    byteMs: 0,
    seen: new Map(),
    bare: 0,
  };
  return {
    begin() {
      frames.reading = null;
      frames.bare = 0;
      return noStep;
    },
    bytes(bytes, nowMs) {
      const steps = [pause(frames, nowMs)];
      for (const byte of bytes) steps.push(...handleByte(frames, byte, nowMs));
      frames.byteMs = nowMs;
      return sumOf(steps);
    },
    time: (nowMs) => sumOf([pause(frames, nowMs), forget(frames, nowMs)]),
    wakeMs() {
      const { reading, isFramed, byteMs, seen } = frames;
      const pauseMs = isFramed ? timing.againMs : timing.pauseMs;
      const ends = [...seen.values()].map(({ atMs }) => atMs + timing.againMs + 1);
      return Math.min(...ends, reading === null ? Number.POSITIVE_INFINITY : byteMs + pauseMs);
    },
    fault: () => (frames.bare >= bareMost ? 'no_checksum' : null),
  };
}
