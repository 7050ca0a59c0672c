// The request header `Range` (RFC 9110 section 14). Pure. One range of bytes is served; any other header is ignored and the whole is
// served, as the RFC allows.

export interface ByteRange {
  /** First byte. */
  readonly start: number;
  /** Last byte, included. */
  readonly end: number;
}

const pattern = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i;

/**
 * The part of `size` bytes that a header asks for.
 * @returns `whole` without a header, and for a header that is not one range of bytes; `none` when the range begins behind the end.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | 'whole' | 'none' {
  const [, first = '', last = ''] = pattern.exec(header ?? '') ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'none' : { start: size - length, end: size - 1 };
  }
  const [start, end] = [Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1)];
  // RFC 9110 section 14.1.1: a last byte before the first one makes the header invalid, so it is ignored.
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= size ? 'none' : { start, end };
}

/**
 * Whether `If-Range` lets a range be served (RFC 9110 section 13.1.5): without the header, or when it has exactly this strong validator or
 * this time.
 */
export function isRangeFresh(
  header: string | undefined,
  { etag, lastModified }: { readonly etag: string; readonly lastModified: string },
): boolean {
  return header === undefined || header === etag || header === lastModified;
}
