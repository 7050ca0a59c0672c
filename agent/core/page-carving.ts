// Finds outbox rows in raw SQLite pages and tells whether a write-ahead log lost committed frames. For salvage only:
// it trusts no pointer, and what it finds counts only if the row's own checksum holds. Never throws.
// Layout: sqlite.org/fileformat2.html 1.6 (b-tree pages), 1.5 (varints), 4.1 to 4.3 (WAL).
import { decodeRow, type StoredRow } from './outbox-row.ts';

export const pageBytes = 1024;
const leafTablePage = 0x0d;
const leafHeaderBytes = 8;
/** Largest payload that lies wholly in the page, and the smallest part that does when it does not (format 1.6). */
const localMost = pageBytes - 35;
const localLeast = Math.floor(((pageBytes - 12) * 32) / 255) - 23;
/** A row is far shorter; a longer one is a damaged length. */
const payloadMost = 16 * 1024;

interface Varint {
  readonly value: number;
  readonly next: number;
}

function varintAt(bytes: Uint8Array, at: number): Varint | null {
  let value = 0;
  for (let index = 0; index < 8; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return null;
    value = value * 128 + (byte & 0x7f);
    if ((byte & 0x80) === 0) return { value, next: at + index + 1 };
  }
  return null;
}

/** Page by its number (1-based), null where there is none. */
export type PageAt = (number: number) => Uint8Array | null;

function payloadAt(
  page: Uint8Array,
  start: { at: number; length: number },
  pageAt: PageAt,
): Uint8Array | null {
  const { at, length } = start;
  if (length > payloadMost) return null;
  if (length <= localMost) return at + length <= page.length ? page.subarray(at, at + length) : null;
  const spill = localLeast + ((length - localLeast) % (pageBytes - 4));
  const local = spill <= localMost ? spill : localLeast;
  if (at + local + 4 > page.length) return null;
  const payload = new Uint8Array(length);
  payload.set(page.subarray(at, at + local));
  let filled = local;
  let next = new DataView(page.buffer, page.byteOffset + at + local, 4).getUint32(0);
  while (filled < length) {
    const overflow = next === 0 ? null : pageAt(next);
    if (overflow === null) return null;
    const part = overflow.subarray(4, 4 + Math.min(pageBytes - 4, length - filled));
    payload.set(part, filled);
    filled += part.length;
    next = new DataView(overflow.buffer, overflow.byteOffset, 4).getUint32(0);
  }
  return payload;
}

/** The blob of a record `(NULL, blob)`: what a table of a row id and one blob column stores. */
function blobOf(payload: Uint8Array): Uint8Array | null {
  const header = varintAt(payload, 0);
  const first = header && varintAt(payload, header.next);
  const second = first && varintAt(payload, first.next);
  if (!header || !first || !second || first.value !== 0 || second.value < 12 || second.value % 2 !== 0)
    return null;
  const length = (second.value - 12) / 2;
  return header.value + length === payload.length ? payload.subarray(header.value) : null;
}

export interface CarvedRow {
  readonly id: number;
  readonly row: StoredRow;
}

/** Every sound row of one page; empty when the page is no leaf of a table or holds none. */
export function carveRows(page: Uint8Array, pageAt: PageAt): readonly CarvedRow[] {
  if (page.length !== pageBytes || page[0] !== leafTablePage) return [];
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  const cells = Math.min(view.getUint16(3), Math.floor((pageBytes - leafHeaderBytes) / 2));
  const rows: CarvedRow[] = [];
  for (let cell = 0; cell < cells; cell++) {
    const length = varintAt(page, view.getUint16(leafHeaderBytes + cell * 2));
    const id = length && varintAt(page, length.next);
    const payload = id && payloadAt(page, { at: id.next, length: length.value }, pageAt);
    const blob = payload && blobOf(payload);
    const row = blob && decodeRow(blob);
    if (id && row) rows.push({ id: id.value, row });
  }
  return rows;
}

const walHeaderBytes = 32;
const frameHeaderBytes = 24;
const frameBytes = frameHeaderBytes + pageBytes;

type Sums = readonly [number, number];

function addSums(sums: Sums, bytes: Uint8Array, littleEndian: boolean): Sums {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [first, second] = sums;
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    first = (first + view.getUint32(at, littleEndian) + second) >>> 0;
    second = (second + view.getUint32(at + 4, littleEndian) + first) >>> 0;
  }
  return [first, second];
}

export interface WalFrame {
  readonly pageNumber: number;
  readonly page: Uint8Array;
}

/** Every whole frame of a log, sound or not, oldest first. */
export function walFrames(wal: Uint8Array): readonly WalFrame[] {
  const frames: WalFrame[] = [];
  for (let at = walHeaderBytes; at + frameBytes <= wal.length; at += frameBytes) {
    const pageNumber = new DataView(wal.buffer, wal.byteOffset + at, 4).getUint32(0);
    frames.push({ pageNumber, page: wal.subarray(at + frameHeaderBytes, at + frameBytes) });
  }
  return frames;
}

/**
 * Whether committed frames of a write-ahead log are unreadable. One torn transaction at the end is what a power cut
 * leaves and is no fault; a second commit behind a bad frame proves that the bad one had been synced before.
 */
export function walFault(wal: Uint8Array): string | null {
  if (wal.length < walHeaderBytes + frameBytes) return null;
  const view = new DataView(wal.buffer, wal.byteOffset, wal.length);
  const saltsFit = (at: number): boolean =>
    view.getUint32(at + 8) === view.getUint32(16) && view.getUint32(at + 12) === view.getUint32(20);
  const littleEndian = view.getUint32(0) === 0x377f0682;
  let sums = addSums([0, 0], wal.subarray(0, 24), littleEndian);
  if (sums[0] !== view.getUint32(24) || sums[1] !== view.getUint32(28)) {
    // A header torn while the log was started anew has salts that no frame shares: nothing was lost.
    return saltsFit(walHeaderBytes) ? 'the header of the write-ahead log is damaged' : null;
  }
  let commitsBehind = 0;
  let sound = true;
  for (let at = walHeaderBytes; at + frameBytes <= wal.length; at += frameBytes) {
    const fits = saltsFit(at);
    if (sound) {
      sums = addSums(sums, wal.subarray(at, at + 8), littleEndian);
      sums = addSums(sums, wal.subarray(at + frameHeaderBytes, at + frameBytes), littleEndian);
      // Other salts are what an older log left behind the end, or a damaged frame header: what comes behind tells.
      sound = fits && sums[0] === view.getUint32(at + 16) && sums[1] === view.getUint32(at + 20);
    }
    if (!sound && fits && view.getUint32(at + 4) !== 0) commitsBehind += 1;
  }
  return commitsBehind >= 2 ? 'a frame of the write-ahead log is damaged' : null;
}
