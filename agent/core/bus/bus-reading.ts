// A reading of the vehicle bus at one moment, as data for the vehicle, `status` and the doctor. Times are monotonic ms.
import type { BusName } from './j1939-signals.ts';
import type { DriverCard, TroubleCode } from './j1939-texts.ts';
import type { BitRate, OpeningRefusal, SlcanDialect } from './slcan-opening.ts';

/** One signal of one sender. */
export interface BusValue {
  readonly name: BusName;
  /** Suspect parameter number. */
  readonly spn: number;
  /** Address of the sender. */
  readonly source: number;
  /** In the unit of `busSignals`; null: the sender has none, and why. */
  readonly value: number | null;
  readonly fault: 'error' | 'not_available' | null;
  readonly atMs: number;
  /** Mean time between two frames, ms; null: only one has come. */
  readonly periodMs: number | null;
  /** From then on older frames do not count. */
  readonly untilMs: number;
  /** False for 10 s after a start or a gap: senders begin with defaults. */
  readonly isSettled: boolean;
}

/** Evidence of movement, or of a running engine. */
export interface BusActivity {
  /** km/h, or 1/min. */
  readonly value: number;
  readonly source: number;
  /** The frame is fresh until then. */
  readonly untilMs: number;
}

/** A text or list of one sender, and when it came. */
export interface BusText<T> {
  readonly value: T;
  readonly source: number;
  readonly atMs: number;
}

/** All that the frames gave. */
export interface BusView {
  /** The newest frame; null: none since the port was opened. */
  readonly frameMs: number | null;
  readonly frames: number;
  /** Frames with 11 bits, which J1939 does not use. */
  readonly foreign: number;
  /** Long messages that were not complete. */
  readonly dropped: number;
  readonly isSettled: boolean;
  readonly values: readonly BusValue[];
  readonly vin: BusText<string> | null;
  readonly driverCards: BusText<readonly [DriverCard, DriverCard]> | null;
  readonly troubleCodes: readonly BusText<readonly TroubleCode[]>[];
  readonly odometerJumps: number;
  readonly movement: BusActivity | null;
  readonly engine: BusActivity | null;
}

/** `waiting`: the last try failed. `searching`: the bit rate at which frames come. */
export type BusPhase = 'waiting' | 'opening' | 'searching' | 'open';

/** What the adapter is and does. */
export interface BusAdapter {
  readonly phase: BusPhase;
  /** Why it waits; null when it does not. */
  readonly refusal: OpeningRefusal | 'no_frames' | 'port' | null;
  /** What the port reported; null: nothing. */
  readonly portFault: string | null;
  readonly dialect: SlcanDialect | null;
  readonly version: string | null;
  readonly bitRate: BitRate | null;
  /** Bytes that were ever written to the port, all of them to set the adapter up. */
  readonly writtenBytes: number;
  readonly rejected: number;
  readonly remotes: number;
  /** Frames that were not read because more came than `busLimits.framesPerS`. */
  readonly skipped: number;
  readonly framesPerS: number;
}

export interface BusReading {
  readonly atMs: number;
  readonly adapter: BusAdapter;
  readonly view: BusView;
}

/** Whether a value counts at `nowMs`. */
export function isCurrent({ value, untilMs, isSettled }: BusValue, nowMs: number): boolean {
  return value !== null && isSettled && nowMs <= untilMs;
}
