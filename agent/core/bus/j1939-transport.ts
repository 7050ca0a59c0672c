// Messages of more than 8 bytes that are broadcast in parts (BAM, SAE J1939-21). A gap, a wrong length or a pause drops the message;
// transfers between two nodes are ignored, as this node answers nothing.
import type { J1939Id } from './j1939-frame.ts';

export const transportLimits = {
  /** Transfers at the same time, one for each source. */
  sessions: 8,
  bytes: 256,
  /** Between two parts, ms (T1 of SAE J1939-21). */
  pauseMs: 750,
} as const;

const connectionManagement = 60_416;
const dataTransfer = 60_160;
const broadcastAnnounce = 32;
const partBytes = 7;

export interface LongMessage {
  readonly pgn: number;
  readonly source: number;
  readonly data: Uint8Array;
}

interface Session {
  readonly pgn: number;
  readonly data: Uint8Array;
  readonly parts: number;
  nextPart: number;
  atMs: number;
}

/** Assembles broadcast messages. */
export interface Transport {
  /** Takes one frame; gives the message that it completes, or null. */
  take(id: J1939Id, data: Uint8Array, atMs: number): LongMessage | null;
  /** Transfers that were dropped since the start. */
  dropped(): number;
}

/** @param isWanted whether messages of a parameter group are read at all. */
export function createTransport(isWanted: (pgn: number) => boolean): Transport {
  const sessions = new Map<number, Session>();
  let dropped = 0;

  const drop = (source: number): void => {
    if (sessions.delete(source)) dropped += 1;
  };
  const expire = (atMs: number): void => {
    for (const [source, session] of sessions) if (atMs - session.atMs > transportLimits.pauseMs) drop(source);
  };
  const announce = (source: number, data: Uint8Array, atMs: number): void => {
    // A new announcement ends the one before, whatever it was.
    drop(source);
    const [control = 0, low = 0, high = 0, parts = 0, , ...group] = data;
    const [groupLow = 0, groupMiddle = 0, groupHigh = 0] = group;
    if (control !== broadcastAnnounce || data.length !== 8) return;
    const size = low + 256 * high;
    const pgn = groupLow + 256 * groupMiddle + 65_536 * groupHigh;
    if (!isWanted(pgn)) return;
    const isSound = size > 8 && size <= transportLimits.bytes && parts === Math.ceil(size / partBytes);
    if (sessions.size >= transportLimits.sessions) expire(atMs);
    if (!isSound || sessions.size >= transportLimits.sessions) {
      dropped += 1;
      return;
    }
    sessions.set(source, { pgn, data: new Uint8Array(size), parts, nextPart: 1, atMs });
  };
  const transfer = (source: number, part: Uint8Array, atMs: number): LongMessage | null => {
    const session = sessions.get(source);
    if (session === undefined) return null;
    const isLate = atMs - session.atMs > transportLimits.pauseMs;
    if (part.length !== 8 || part[0] !== session.nextPart || isLate) {
      drop(source);
      return null;
    }
    const from = (session.nextPart - 1) * partBytes;
    session.data.set(part.subarray(1, 1 + Math.min(partBytes, session.data.length - from)), from);
    session.atMs = atMs;
    session.nextPart += 1;
    if (session.nextPart <= session.parts) return null;
    sessions.delete(source);
    return { pgn: session.pgn, source, data: session.data };
  };
  return {
    take(id, data, atMs) {
      if (id.destination !== null) return null;
      if (id.pgn === connectionManagement) announce(id.source, data, atMs);
      return id.pgn === dataTransfer ? transfer(id.source, data, atMs) : null;
    },
    dropped: () => dropped,
  };
}
