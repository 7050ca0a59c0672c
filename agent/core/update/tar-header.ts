// One header of a tar archive in the POSIX ustar form (POSIX.1-1988, pax(1) "ustar Interchange Format"), as strict as
// our own writer: plain files only. Links, folders, devices, extensions and odd numbers are refused, so no entry can
// point elsewhere.
import { isReleasePath } from './manifest.ts';

export const tarBlockBytes = 512;

export type TarHeader =
  | { readonly kind: 'file'; readonly path: string; readonly sizeBytes: number }
  /** A block of zeros: the archive ends. */
  | { readonly kind: 'end' }
  | { readonly kind: 'bad'; readonly reason: string };

/** ASCII up to the first NUL; null when something follows it, or a byte is not printable ASCII. */
function textAt(block: Uint8Array, at: number, length: number): string | null {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  const bytes = end < 0 ? field : field.subarray(0, end);
  const isPadded = end < 0 || field.subarray(end).every((byte) => byte === 0);
  if (!isPadded || !bytes.every((byte) => byte > 0x20 && byte < 0x7f)) return null;
  return String.fromCharCode(...bytes);
}

/** Octal digits, then NUL or blank only; null otherwise. */
function octalAt(block: Uint8Array, at: number, length: number): number | null {
  const text = String.fromCharCode(...block.subarray(at, at + length));
  // oxlint-disable-next-line no-control-regex
  const digits = /^([0-7]{1,11})[\0 ]*$/.exec(text)?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 8);
}

/** Sum of all bytes, those of the checksum itself counted as blanks. */
function sumOf(block: Uint8Array): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

/** Reads a block of 512 bytes. Never throws. */
export function parseTarHeader(block: Uint8Array): TarHeader {
  const bad = (reason: string): TarHeader => ({ kind: 'bad', reason: `archive: ${reason}` });
  if (block.length !== tarBlockBytes) return bad('it ends inside of a header');
  if (block.every((byte) => byte === 0)) return { kind: 'end' };
  if (octalAt(block, 148, 8) !== sumOf(block)) return bad('the checksum of a header is wrong');
  if (String.fromCharCode(...block.subarray(257, 265)) !== 'ustar\x0000') return bad('it is not ustar');
  const [name, prefix] = [textAt(block, 0, 100), textAt(block, 345, 155)];
  const path = prefix === '' ? name : `${prefix ?? ''}/${name ?? ''}`;
  if (name === null || prefix === null || path === null || !isReleasePath(path))
    return bad('a path is not allowed');
  if (block[156] !== 0x30) return bad(`${path} is not a plain file`);
  const sizeBytes = octalAt(block, 124, 12);
  return sizeBytes === null ? bad(`${path} has no size`) : { kind: 'file', path, sizeBytes };
}
