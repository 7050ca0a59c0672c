// Serial protocol of a kind of key reader, as a machine over bytes and time. Types only.

/** `rfid` sends a tag again and again while it lies there, `rfid-once` once; a `ds2480b` is asked. */
export const readerKinds = ['rfid', 'rfid-once', 'ds2480b'] as const;
export type ReaderKind = (typeof readerKinds)[number];

/** `no_answer`: a reader that is asked says nothing sensible; `shorted`: the probe of the keys is; `no_checksum`: it sends bare numbers. */
export type ReaderFault = 'no_answer' | 'shorted' | 'no_checksum';

export interface KeyStep {
  /** Bytes to send to the reader. */
  readonly writes: readonly number[];
  /** Keys that were read with a sound checksum, each time they are read. */
  readonly keys: readonly string[];
  /** Readings that were refused: a wrong checksum, a wrong length, characters that do not belong there, a tag that was not repeated. */
  readonly rejected: number;
  /** Bytes outside of any reading. */
  readonly noise: number;
}

export interface KeyProtocol {
  /** The port has been opened. */
  begin(nowMs: number): KeyStep;
  bytes(bytes: Uint8Array, nowMs: number): KeyStep;
  time(nowMs: number): KeyStep;
  /** When `time` is due, monotonic ms; infinite: never. */
  wakeMs(): number;
  /** Null: none that is known. */
  fault(): ReaderFault | null;
}

export const noStep: KeyStep = { writes: [], keys: [], rejected: 0, noise: 0 };
