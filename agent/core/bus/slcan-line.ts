// Turns the bytes of an SLCAN adapter (LAWICEL CAN232 protocol) into CAN frames and answers. A line with one wrong character is rejected
// whole, the next line end synchronises again, and at most one line is kept. Never throws and never returns a frame that was not sent.

/** One frame of the bus. */
export interface CanFrame {
  /** 11 bits, or 29 bits where `isExtended`. */
  readonly id: number;
  readonly isExtended: boolean;
  /** 0 to 8 bytes. */
  readonly data: Uint8Array;
}

/** `ok`: an empty line, the answer to a good command. `refused`: BEL, the answer to a bad one. */
export type SlcanAnswer =
  | { readonly kind: 'ok' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'text'; readonly text: string };

export interface SlcanLines {
  readonly state: SlcanState;
  readonly frames: readonly CanFrame[];
  readonly answers: readonly SlcanAnswer[];
  /** Well-formed remote frames, which carry no data. */
  readonly remotes: number;
  /** Lines that are neither a frame nor a text: noise, a wrong speed, lost bytes. */
  readonly rejected: number;
}

/** The line that is not complete yet. */
export interface SlcanState {
  readonly pending: Uint8Array;
  /** The rest of a line that is too long is skipped. */
  readonly isSkipping: boolean;
}

/** The longest frame line has 30 characters; the version of CANable 2.5 has some 250, by its source. */
export const slcanLineMost = 512;

const cr = 0x0d;
const lf = 0x0a;
const bel = 0x07;
const tab = 0x09;
/** Milliseconds of an adapter's time stamp (command Z1) stay below this. */
const stampMost = 60_000;

const none = new Uint8Array(0);
const emptyState: SlcanState = { pending: none, isSkipping: false };

export const createSlcanState = (): SlcanState => emptyState;

/** The value of 0-9, A-F and a-f by its character; else -1. */
const digits = Int8Array.from({ length: 256 }, (_, code) =>
  /[0-9A-Fa-f]/.test(String.fromCharCode(code)) ? Number.parseInt(String.fromCharCode(code), 16) : -1,
);

/** The hexadecimal number in [from, to); -1 when a character is no digit. */
function hexAt(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = digits[bytes[at] ?? 0] ?? -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/** The frame in [from, to), whose first letter is one of `tTrR`; `remote` or null when it is malformed. */
function frameAt(bytes: Uint8Array, from: number, to: number): CanFrame | 'remote' | null {
  const letter = bytes[from];
  const isExtended = letter === 0x54 || letter === 0x52;
  const isRemote = letter === 0x72 || letter === 0x52;
  const lengthAt = from + 1 + (isExtended ? 8 : 3);
  if (to <= lengthAt) return null;
  const id = hexAt(bytes, from + 1, lengthAt);
  const length = hexAt(bytes, lengthAt, lengthAt + 1);
  if (id < 0 || id > (isExtended ? 0x1fffffff : 0x7ff) || length < 0 || length > 8) return null;
  const dataAt = lengthAt + 1;
  const stampAt = dataAt + (isRemote ? 0 : 2 * length);
  if (to !== stampAt) {
    const stamp = to === stampAt + 4 ? hexAt(bytes, stampAt, to) : -1;
    if (stamp < 0 || stamp >= stampMost) return null;
  }
  if (isRemote) return 'remote';
  const data = new Uint8Array(length);
  for (let n = 0; n < length; n += 1) {
    const byte = hexAt(bytes, dataAt + 2 * n, dataAt + 2 * n + 2);
    if (byte < 0) return null;
    data[n] = byte;
  }
  return { id, isExtended, data };
}

/** A printable text, tabs included, that begins with no letter of a frame; null for anything else. */
function textAt(bytes: Uint8Array, from: number, to: number): string | null {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if ((byte < 0x20 && byte !== tab) || byte > 0x7e) return null;
  }
  return String.fromCharCode(...bytes.subarray(from, to));
}

const isFrameLetter = (byte: number | undefined): boolean =>
  byte === 0x54 || byte === 0x74 || byte === 0x52 || byte === 0x72;

const isEnd = (byte: number | undefined): boolean => byte === cr || byte === bel || byte === lf;

/** The bytes from before and the new ones, as one. */
function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Decodes the next bytes, however they were cut. The cost is linear in the bytes. */
export function decodeSlcan(state: SlcanState, bytes: Uint8Array): SlcanLines {
  const stream = joined(state.pending, bytes);
  const frames: CanFrame[] = [];
  const answers: SlcanAnswer[] = [];
  let remotes = 0;
  let rejected = 0;
  let { isSkipping } = state;
  let from = 0;
  for (let at = 0; at < stream.length; at += 1) {
    const byte = stream[at];
    if (!isEnd(byte)) continue;
    const line = { from, to: at };
    from = at + 1;
    if (isSkipping || line.to - line.from > slcanLineMost) {
      isSkipping = false;
      rejected += 1;
    } else if (line.to === line.from) {
      if (byte === cr) answers.push({ kind: 'ok' });
    } else if (isFrameLetter(stream[line.from])) {
      // A BEL in the middle of a frame ends it: what is left of it is no frame.
      const frame = byte === bel ? null : frameAt(stream, line.from, line.to);
      if (frame === 'remote') remotes += 1;
      else if (frame === null) rejected += 1;
      else frames.push(frame);
    } else {
      const text = byte === bel ? null : textAt(stream, line.from, line.to);
      if (text === null) rejected += 1;
      else answers.push({ kind: 'text', text });
    }
    if (byte === bel) answers.push({ kind: 'refused' });
  }
  const rest = stream.length - from;
  const isLong = isSkipping || rest > slcanLineMost;
  return {
    state: isLong
      ? { pending: none, isSkipping: true }
      : rest === 0
        ? emptyState
        : { pending: stream.slice(from), isSkipping: false },
    frames,
    answers,
    remotes,
    rejected,
  };
}
