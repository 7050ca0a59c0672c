// The order in which new connections begin: first in, first out, with limits on those in progress and those waiting. Pure.
// An idle connection cannot block a slot: after a timeout it gives it up and continues without one.

export interface HandshakeOrderLimits {
  /** Connections that wait, at most. */
  readonly waitingMost: number;
  /** Connections that have begun and hold a slot, at most. */
  readonly atWorkMost: number;
}

/** Connections are compared by identity. */
export interface HandshakeOrder<One extends object> {
  /** Joins the end of the queue; false when it is full. */
  enter(one: One): boolean;
  /** The first in the queue, which begins now; null when none waits or no slot is free. */
  next(): One | null;
  /** Leaves the queue or frees its slot; nothing when it has neither. */
  leave(one: One): void;
  waiting(): number;
  atWork(): number;
}

export function createHandshakeOrder<One extends object>({
  waitingMost,
  atWorkMost,
}: HandshakeOrderLimits): HandshakeOrder<One> {
  // Sets go through their members in the order in which these came, and remove any of them at once.
  const queue = new Set<One>();
  const begun = new Set<One>();
  return {
    enter(one) {
      if (queue.size >= waitingMost) return false;
      queue.add(one);
      return true;
    },
    next() {
      if (begun.size >= atWorkMost) return null;
      const [first] = queue;
      if (first === undefined) return null;
      queue.delete(first);
      begun.add(first);
      return first;
    },
    leave(one) {
      queue.delete(one);
      begun.delete(one);
    },
    waiting: () => queue.size,
    atWork: () => begun.size,
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
 * True when the first record of a TLS client is there as a whole, or cannot become one: the TLS
 * layer reports what is wrong with it.
 * @param bytes all that came in so far.
 */
export function hasFirstRecord(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false;
  if (bytes[0] !== handshakeType) return true;
  if (bytes.length < recordHeaderBytes) return false;
  const length = ((bytes[3] ?? 0) << 8) | (bytes[4] ?? 0);
  return length > recordMost || bytes.length >= recordHeaderBytes + length;
}
