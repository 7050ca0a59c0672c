// A reading of the key reader, as data for the vehicle, `status` and `doctor`. Types only.
import type { ReaderFault } from './key-protocol.ts';

/** `waiting`: the port could not be opened, or was lost; it is tried again. */
export type ReaderPhase = 'opening' | 'open' | 'waiting';

export interface ReaderReading {
  readonly phase: ReaderPhase;
  readonly fault: ReaderFault | 'port' | null;
  /** Why the port is not open; null when it is. */
  readonly portFault: string | null;
  /** Since the start: readings of keys, refused readings, and bytes outside of readings. */
  readonly keys: number;
  readonly rejected: number;
  readonly noise: number;
}
