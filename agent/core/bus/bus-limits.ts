// Limits of the reader of a vehicle bus, and thresholds of movement.

export const busLimits = {
  /** Slots, one for each signal and sender; frames of further ones are not read. */
  slots: 128,
  /** Senders whose trouble codes are kept. */
  codeSources: 16,
  /** More frames in a second are counted and not read. */
  framesPerS: 2000,
  /** "Most of the values are reliable after ca. 10 seconds after ignition on" (FMS standard). */
  settleMs: 10_000,
  /** After this long without a frame the bus starts again. */
  gapMs: 1000,
  /** Trouble codes are sent once a second; those of a sender that fell silent end after this long. */
  codesMs: 10_000,
  /** A vehicle that is faster moves. Standing trucks were recorded with up to 0.34 km/h. */
  movingKmh: 3,
  /** An engine that turns so fast in `runningFrames` frames runs; a starter turns it slower. */
  runningRpm: 300,
  runningFrames: 3,
} as const;
