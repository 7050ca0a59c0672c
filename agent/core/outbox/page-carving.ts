// Finds outbox rows in raw SQLite pages and detects whether a write-ahead log lost committed frames. For salvage only: it trusts no pointer, and a
// row counts only if its own checksum is right. Never throws. Layout: sqlite.org/fileformat2.html 1.6 (b-tree pages), 1.5 (varints), 4.1 to 4.3
// (WAL).
import { decodeRow, type StoredRow, seqOf } from './outbox-row.ts';

export const pageBytes = 512;
const leafTablePage = 0x0d;
const leafHeaderBytes = 8;
/** Largest payload that is entirely in the page, and smallest local part of a longer payload (format 1.6). */
const localMost = pageBytes - 35;
const localLeast = Math.floor(((pageBytes - 12) * 32) / 255) - 23;
/** A row is far shorter; a longer one has a damaged length. */
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

/** Page by its number (1-based); null: there is none. */
export type PageAt = (number: number) => Uint8Array | null;

/** Size of the local part of a payload that does not fit into the page. */
function localBytes(length: number): number {
  const spill = localLeast + ((length - localLeast) % (pageBytes - 4));
  return spill <= localMost ? spill : localLeast;
}

function payloadAt(
  page: Uint8Array,
  start: { at: number; length: number },
  pageAt: PageAt,
): Uint8Array | null {
  const { at, length } = start;
  if (length > payloadMost) return null;
  if (length <= localMost) return at + length <= page.length ? page.subarray(at, at + length) : null;
  const local = localBytes(length);
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

/** Blob of a record `(NULL, blob)`, the format of a table with a row id and one blob column. */
function blobOf(payload: Uint8Array): Uint8Array | null {
  const header = varintAt(payload, 0);
  const first = header && varintAt(payload, header.next);
  const second = first && varintAt(payload, first.next);
  if (!header || !first || !second || first.value !== 0 || second.value < 12 || second.value % 2 !== 0)
    return null;
  const length = (second.value - 12) / 2;
  return header.value + length === payload.length ? payload.subarray(header.value) : null;
}

interface Cell {
  /** Bytes occupied in the page. */
  readonly bytes: number;
  readonly id: number;
  readonly row: StoredRow;
}

function cellAt(page: Uint8Array, start: number, pageAt: PageAt): Cell | null {
  const length = varintAt(page, start);
  const id = length && varintAt(page, length.next);
  const payload = id && payloadAt(page, { at: id.next, length: length.value }, pageAt);
  const blob = payload && blobOf(payload);
  const row = blob && decodeRow(blob);
  if (!length || !id || !row) return null;
  const local = length.value <= localMost ? length.value : localBytes(length.value) + 4;
  return { bytes: Math.max(4, id.next - start + local), id: id.value, row };
}

/** Bytes on the list of free blocks; null: the list is inconsistent. */
function freeBytes(view: DataView): number | null {
  let sum = 0;
  let at = view.getUint16(1);
  for (let last = 0; at !== 0; ) {
    if (at <= last || at + 4 > pageBytes) return null;
    sum += view.getUint16(at + 2);
    last = at;
    at = view.getUint16(at);
  }
  return sum;
}

/**
 * Cells of an intact table leaf: every cell is a row under its own number, in order, and cells and free space make up the page. Null otherwise,
 * because the pointers of the page may then hide rows.
 */
function soundCells(page: Uint8Array, pageAt: PageAt): readonly Cell[] | null {
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  const count = view.getUint16(3);
  if (page[0] !== leafTablePage || leafHeaderBytes + count * 2 > view.getUint16(5)) return null;
  const cells: Cell[] = [];
  let filled = freeBytes(view);
  if (filled === null) return null;
  filled += view.getUint8(7);
  for (let index = 0; index < count; index++) {
    const cell = cellAt(page, view.getUint16(leafHeaderBytes + index * 2), pageAt);
    if (cell === null || cell.id <= (cells.at(-1)?.id ?? 0) || seqOf(cell.id) !== cell.row.event.seq)
      return null;
    filled += cell.bytes;
    cells.push(cell);
  }
  return filled === pageBytes - view.getUint16(5) ? cells : null;
}

const recordHeaderLeast = 3;
const recordHeaderMost = 5;

/** Finds everything that looks like the record `(NULL, blob)` from its header on. It needs no pointer, length or row id of the page. */
function scanRows(page: Uint8Array, pageAt: PageAt): readonly StoredRow[] {
  const found: StoredRow[] = [];
  for (let at = 0; at + recordHeaderLeast < page.length; at++) {
    const header = page[at] ?? 0;
    if (header < recordHeaderLeast || header > recordHeaderMost || page[at + 1] !== 0) continue;
    const type = varintAt(page, at + 2);
    if (type === null || type.next - at !== header || type.value < 12 || type.value % 2 !== 0) continue;
    const length = header + (type.value - 12) / 2;
    const payload = payloadAt(page, { at, length }, pageAt);
    const row = payload && decodeRow(payload.subarray(header));
    if (row) found.push(row);
  }
  return found;
}

/**
 * All intact rows of one page, identified by their content. An intact leaf yields the rows that it points to; any other page is searched byte by
 * byte.
 */
export function carveRows(page: Uint8Array, pageAt: PageAt): readonly StoredRow[] {
  if (page.length !== pageBytes) return [];
  return soundCells(page, pageAt)?.map(({ row }) => row) ?? scanRows(page, pageAt);
}

const fileHeaderBytes = 100;
const innerTablePage = 0x05;

/** Numbers of the pages that hold the schema table of an intact file: the first page, and the pages that it points to. */
export function schemaPages(file: Uint8Array): readonly number[] {
  if (file.length < pageBytes || file[fileHeaderBytes] !== innerTablePage) return [1];
  const view = new DataView(file.buffer, file.byteOffset, pageBytes);
  const count = view.getUint16(fileHeaderBytes + 3);
  const cells = Array.from({ length: count }, (_value, index) =>
    view.getUint32(view.getUint16(fileHeaderBytes + 12 + index * 2)),
  );
  return [1, ...cells, view.getUint32(fileHeaderBytes + 8)];
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

/** All whole frames of a log, valid or not, oldest first. */
export function walFrames(wal: Uint8Array): readonly WalFrame[] {
  const frames: WalFrame[] = [];
  for (let at = walHeaderBytes; at + frameBytes <= wal.length; at += frameBytes) {
    const pageNumber = new DataView(wal.buffer, wal.byteOffset + at, 4).getUint32(0);
    frames.push({ pageNumber, page: wal.subarray(at + frameHeaderBytes, at + frameBytes) });
  }
  return frames;
}

function frameSums(view: DataView, at: number): Sums {
  return [view.getUint32(at + 16), view.getUint32(at + 20)];
}

interface LogView {
  readonly wal: Uint8Array;
  readonly view: DataView;
  readonly littleEndian: boolean;
}

/** Checksum that the frame at `at` must have if `before` is the checksum of the frame in front of it. */
function sumsOf({ wal, littleEndian }: LogView, at: number, before: Sums): Sums {
  const sums = addSums(before, wal.subarray(at, at + 8), littleEndian);
  return addSums(sums, wal.subarray(at + frameHeaderBytes, at + frameBytes), littleEndian);
}

const sameSums = (a: Sums, b: Sums): boolean => a[0] === b[0] && a[1] === b[1];

/**
 * True when the frames behind the first bad frame were committed before it. Failed transactions (a failing fsync, a full disk) were all written to
 * one place, each over the one before. Each leaves only a contiguous tail that ends with its only commit. Frames that were committed in sequence are
 * contiguous over commits.
 */
function wasCommitted(log: LogView, frames: readonly number[], sumsOfFirst: Sums): boolean {
  const { view } = log;
  // A commit of an older use of the log proves nothing; the first bad frame may be one.
  const isCommit = (at: number): boolean => view.getUint32(at + 4) !== 0 && sharesSalt(view, at);
  let commits = 0;
  let inRun = 0;
  let hangsTogether = false;
  let computed = sumsOfFirst;
  for (const [index, at] of frames.entries()) {
    const before = frames[index - 1];
    const stored = frameSums(view, at);
    if (before !== undefined) {
      const next = sumsOf(log, at, computed);
      // Either the content of the frame before is damaged and its checksum is not, or the other way round.
      const follows = sameSums(next, stored) || sameSums(sumsOf(log, at, frameSums(view, before)), stored);
      // A run that ends without its commit is no tail of a transaction: something in it is damaged.
      if (!follows && !isCommit(before)) hangsTogether = true;
      if (!follows) inRun = 0;
      computed = follows ? stored : next;
    }
    if (!isCommit(at)) continue;
    commits += 1;
    inRun += 1;
    if (inRun >= 2) hangsTogether = true;
  }
  return commits >= 2 && hangsTogether;
}

/** Magic number of either byte order, version and page size: the same in every header of our logs (format 4.1). */
function isOfFormat(view: DataView): boolean {
  const isMagic = view.getUint32(0) >>> 1 === 0x377f0682 >>> 1;
  return isMagic && view.getUint32(4) === 3_007_000 && view.getUint32(8) === pageBytes;
}

const frameStarts = (wal: Uint8Array): readonly number[] =>
  Array.from(
    { length: Math.floor((wal.length - walHeaderBytes) / frameBytes) },
    (_value, index) => walHeaderBytes + index * frameBytes,
  );

/** One matching salt is enough: a new log has two different ones, a damaged header has one wrong one. */
function sharesSalt(view: DataView, at: number): boolean {
  return view.getUint32(at + 8) === view.getUint32(16) || view.getUint32(at + 12) === view.getUint32(20);
}

/**
 * Fault if committed frames of a write-ahead log are unreadable; null: none. A power cut leaves one torn transaction at the end, which is no fault. A
 * second commit behind a bad frame proves that the bad one had been synced before, unless both are remains of failed transactions.
 */
export function walFault(wal: Uint8Array): string | null {
  if (wal.length < walHeaderBytes + frameBytes) return null;
  const view = new DataView(wal.buffer, wal.byteOffset, wal.length);
  const saltsFit = (at: number): boolean =>
    view.getUint32(at + 8) === view.getUint32(16) && view.getUint32(at + 12) === view.getUint32(20);
  const log: LogView = { wal, view, littleEndian: view.getUint32(0) === 0x377f0682 };
  let sums = addSums([0, 0], wal.subarray(0, 24), log.littleEndian);
  if (!sameSums(sums, [view.getUint32(24), view.getUint32(28)])) {
    // A header torn during the restart of the log has this format and salts that no frame shares: nothing was lost.
    return isOfFormat(view) && !frameStarts(wal).some((at) => sharesSalt(view, at))
      ? null
      : 'the header of the write-ahead log is damaged';
  }
  const behind: number[] = [];
  for (let at = walHeaderBytes; at + frameBytes <= wal.length; at += frameBytes) {
    const fits = saltsFit(at);
    if (behind.length > 0) {
      if (fits) behind.push(at);
      continue;
    }
    sums = sumsOf(log, at, sums);
    // Other salts mark the end, where an older use of the log begins, unless frames of this one follow.
    if (!fits || !sameSums(sums, frameSums(view, at))) behind.push(at);
  }
  return wasCommitted(log, behind, sums) ? 'a frame of the write-ahead log is damaged' : null;
}
