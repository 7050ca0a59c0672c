// Order in which new connections begin: first in, first out, with limits on those in progress and those waiting. Pure. An idle connection cannot
// block a slot: after a timeout it frees the slot and continues without one.

export interface HandshakeOrderLimits {
  /** Maximum number of waiting connections. */
  readonly waitingMost: number;
  /** Maximum number of connections that have begun and hold a slot. */
  readonly atWorkMost: number;
}

/** Connections are compared by identity. */
export interface HandshakeOrder<One extends object> {
  /** Joins the end of the queue; false: it is full. */
  enter(one: One): boolean;
  /** First in the queue, which begins now; null: none waits or no slot is free. */
  next(): One | null;
  /** Leaves the queue or frees its slot; does nothing without either. */
  leave(one: One): void;
  waiting(): number;
  atWork(): number;
}

export function createHandshakeOrder<One extends object>({
  waitingMost,
  atWorkMost,
}: HandshakeOrderLimits): HandshakeOrder<One> {
  // Sets iterate in insertion order and remove any member at once.
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

/** Type of a TLS record with a handshake message (RFC 8446 section 5.1). */
const handshakeType = 22;
const recordHeaderBytes = 5;
/** Maximum size of a client's first record: half a kilobyte, two with post-quantum keys, some more with a ticket. */
const recordMost = 8192;
/** Maximum number of bytes needed to find a first record. */
export const firstRecordMost = recordHeaderBytes + recordMost;

/**
 * True when the first record of a TLS client is complete, or cannot become one: the TLS layer then reports the fault.
 * @param bytes everything received so far.
 */
export function hasFirstRecord(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false;
  if (bytes[0] !== handshakeType) return true;
  if (bytes.length < recordHeaderBytes) return false;
  const length = ((bytes[3] ?? 0) << 8) | (bytes[4] ?? 0);
  return length > recordMost || bytes.length >= recordHeaderBytes + length;
}
