// The order in which new connections begin: first in, first out, so many at work at once, and a bound on those who wait. Pure.
// Nobody may hold a place at work by doing nothing: whoever takes too long gives it up and goes on without one.

export interface ArrivalLineLimits {
  /** Connections that wait, at most. */
  readonly waitingMost: number;
  /** Connections that have begun and hold a place, at most. */
  readonly atWorkMost: number;
}

/** Connections are told apart by identity. */
export interface ArrivalLine<One extends object> {
  /** Takes the last place of the line; false when there is none. */
  enter(one: One): boolean;
  /** The first in line, which is at work from now on; null when nobody waits or no place is free. */
  next(): One | null;
  /** Gives up its place, in the line or at work; nothing when it has none. */
  leave(one: One): void;
  waiting(): number;
  atWork(): number;
}

export function createArrivalLine<One extends object>({
  waitingMost,
  atWorkMost,
}: ArrivalLineLimits): ArrivalLine<One> {
  // Sets go through their members in the order in which these came, and let anyone out at once.
  const line = new Set<One>();
  const working = new Set<One>();
  return {
    enter(one) {
      if (line.size >= waitingMost) return false;
      line.add(one);
      return true;
    },
    next() {
      if (working.size >= atWorkMost) return null;
      const [first] = line;
      if (first === undefined) return null;
      line.delete(first);
      working.add(first);
      return first;
    },
    leave(one) {
      line.delete(one);
      working.delete(one);
    },
    waiting: () => line.size,
    atWork: () => working.size,
  };
}

/** Type of a record of TLS that holds a handshake message (RFC 8446 section 5.1). */
const handshakeType = 22;
const recordHeaderBytes = 5;
/** Bytes of a client's first record: half a kilobyte, two with keys of the coming kind, some more with a ticket. */
const recordMost = 8192;
/** What is needed to find a first record at most. */
export const firstRecordMost = recordHeaderBytes + recordMost;

/**
 * True when the first record of a TLS client is there as a whole, or is none that is worth waiting for: whoever speaks TLS
 * says what is wrong with it.
 * @param bytes all that came in so far.
 */
export function hasFirstRecord(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false;
  if (bytes[0] !== handshakeType) return true;
  if (bytes.length < recordHeaderBytes) return false;
  const length = ((bytes[3] ?? 0) << 8) | (bytes[4] ?? 0);
  return length > recordMost || bytes.length >= recordHeaderBytes + length;
}
