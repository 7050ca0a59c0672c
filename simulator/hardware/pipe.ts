// A serial cable in memory: the agent's end is an `OpenByteLink`, the other end is the simulated hardware. Bytes take the time
// of the baud rate; faults are drawn from the seed. Bytes in flight are bounded.
import { AppError } from '../../src/core/errors.ts';
import type { ByteLink, ByteLinkHandlers, Clock, OpenByteLink, SerialSettings } from '../../src/ports.ts';
import type { SeededEntropy } from '../core/random.ts';

/** Faults of each piece that is written at either end; all 0 is a good cable. */
export interface PipeFaults {
  readonly delayMs: number;
  /** Probabilities, 0 to 1: the piece is lost whole; has at least two bytes changed; loses its end. */
  readonly loss: number;
  readonly garble: number;
  readonly cut: number;
}

export const noPipeFaults: PipeFaults = { delayMs: 0, loss: 0, garble: 0, cut: 0 };

export interface PipeOptions {
  readonly clock: Clock;
  readonly entropy: SeededEntropy;
  /** The line as the hardware is set: an end that opens it otherwise reads and writes garbage. */
  readonly line: Omit<SerialSettings, 'path'>;
  /** Bytes that reached the hardware. */
  onBytes(bytes: Uint8Array): void;
}

interface PipeCounts {
  readonly toHardware: number;
  readonly toAgent: number;
  /** Bytes without an open link, or beyond the bound. */
  readonly dropped: number;
}

export interface Pipe {
  readonly open: OpenByteLink;
  /** The hardware sends; false without an open link: the bytes are lost, as on a real line. */
  send(bytes: Uint8Array): boolean;
  setFaults(faults: Partial<PipeFaults>): void;
  /** Pulls the plug: the open link goes down and no new one can be opened until `plug`. */
  unplug(): void;
  plug(): void;
  isOpen(): boolean;
  counts(): PipeCounts;
}

/** Bytes on their way in one direction; a UART and its driver hold no more. */
const maxInFlightBytes = 16 * 1024;

/** One direction of an open link: keeps the order and the speed of the line. */
export interface Lane {
  /** False when the line is full: the bytes are gone. */
  carry(bytes: Uint8Array, faults: PipeFaults): boolean;
}

interface Session {
  readonly handlers: ByteLinkHandlers;
  readonly isGarbage: boolean;
  readonly toHardware: Lane;
  readonly toAgent: Lane;
}

/** Changes two to four bytes (or the only one): the piece always differs. */
function garbled(bytes: Uint8Array, entropy: SeededEntropy): Uint8Array {
  const copy = bytes.slice();
  const first = entropy.integer(0, copy.length - 1);
  const places = new Set([first, (first + entropy.integer(1, Math.max(1, copy.length - 1))) % copy.length]);
  for (let more = entropy.integer(0, 2); more > 0; more -= 1) places.add(entropy.integer(0, copy.length - 1));
  for (const at of places) copy[at] = (copy[at] ?? 0) ^ entropy.integer(1, 255);
  return copy;
}

/** What arrives of `bytes`; null if nothing does. Draws the same count of numbers whatever happens. */
export function damage(bytes: Uint8Array, faults: PipeFaults, entropy: SeededEntropy): Uint8Array | null {
  const [lost, garbles, cuts, keep] = [
    entropy.chance(faults.loss),
    entropy.chance(faults.garble),
    entropy.chance(faults.cut),
    entropy.fraction(),
  ];
  if (lost || bytes.length === 0) return null;
  const kept = cuts ? bytes.slice(0, Math.floor(keep * bytes.length)) : bytes;
  if (kept.length === 0) return null;
  return garbles ? garbled(kept, entropy) : kept;
}

function isSameLine(a: Omit<SerialSettings, 'path'>, b: Omit<SerialSettings, 'path'>): boolean {
  return (
    a.baudRate === b.baudRate &&
    a.parity === b.parity &&
    a.dataBits === b.dataBits &&
    a.stopBits === b.stopBits
  );
}

/** Bits of one character on the line: start, data, parity, stop. */
function characterMs(line: Omit<SerialSettings, 'path'>): number {
  const bits = 1 + line.dataBits + (line.parity === 'none' ? 0 : 1) + line.stopBits;
  return (bits * 1000) / line.baudRate;
}

/** One direction of a line at its real speed: what does not fit is dropped, never kept for later. */
export function createLane(
  options: Omit<PipeOptions, 'onBytes'>,
  deliver: (bytes: Uint8Array) => void,
): Lane {
  const { clock, entropy } = options;
  const byteMs = characterMs(options.line);
  let freeMs = 0;
  let inFlightBytes = 0;
  return {
    carry(bytes, faults) {
      const count = bytes.length;
      if (inFlightBytes + count > maxInFlightBytes) return false;
      const nowMs = clock.monoMs();
      freeMs = Math.max(freeMs, nowMs) + count * byteMs;
      inFlightBytes += count;
      const arriving = damage(bytes.slice(), faults, entropy);
      clock.after(freeMs + faults.delayMs - nowMs, () => {
        inFlightBytes -= count;
        if (arriving !== null) deliver(arriving);
      });
      return true;
    },
  };
}

/** A cable that is plugged in and good. */
export function createPipe(options: PipeOptions): Pipe {
  const counts = { toHardware: 0, toAgent: 0, dropped: 0 };
  let faults = noPipeFaults;
  let isPlugged = true;
  let session: Session | null = null;

  const carry = (of: Session, lane: Lane, bytes: Uint8Array): void => {
    const onThisLine = of.isGarbage ? { ...faults, garble: 1 } : faults;
    if (!lane.carry(bytes, onThisLine)) counts.dropped += bytes.length;
  };
  const openLink = (settings: SerialSettings, handlers: ByteLinkHandlers): ByteLink => {
    if (!isPlugged) throw new AppError('serial', `${settings.path} is not there: the simulated cable is out`);
    if (session !== null) throw new AppError('serial', `${settings.path} is already open`);
    const mine: Session = {
      handlers,
      isGarbage: !isSameLine(settings, options.line),
      toHardware: createLane(options, (bytes) => {
        counts.toHardware += bytes.length;
        options.onBytes(bytes);
      }),
      toAgent: createLane(options, (bytes) => {
        if (session !== mine) return;
        counts.toAgent += bytes.length;
        handlers.onBytes(bytes);
      }),
    };
    session = mine;
    return {
      write(bytes) {
        if (session !== mine) return false;
        carry(mine, mine.toHardware, bytes);
        return true;
      },
      close() {
        if (session === mine) session = null;
        return Promise.resolve();
      },
    };
  };

  return {
    open: async (settings, handlers) => openLink(settings, handlers),
    send(bytes) {
      if (session === null) counts.dropped += bytes.length;
      else carry(session, session.toAgent, bytes);
      return session !== null;
    },
    setFaults(change) {
      faults = { ...faults, ...change };
    },
    unplug() {
      isPlugged = false;
      const current = session;
      session = null;
      current?.handlers.onDown('the simulated cable was pulled');
    },
    plug() {
      isPlugged = true;
    },
    isOpen: () => session !== null,
    counts: () => ({ ...counts }),
  };
}
