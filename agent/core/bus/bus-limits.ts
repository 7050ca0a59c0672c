// Limits of what is read of a vehicle bus, and what speaks for movement on it.

export const busLimits = {
  /** Slots, one for each signal and sender; frames of further ones are not read. */
  slots: 128,
  /** Senders whose trouble codes are kept. */
  codeSources: 16,
  /** More frames in a second are counted and not read. */
  framesPerS: 2000,
  /** "Most of the values are reliable after ca. 10 seconds after ignition on" (FMS standard). */
  settleMs: 10_000,
  /** Without any frame for this long the bus begins anew. */
  gapMs: 1000,
  /** Trouble codes are sent once a second; those of a sender that fell silent end after this long. */
  codesMs: 10_000,
  /** A vehicle that is faster moves. Standing trucks were recorded with up to 0.34 km/h. */
  movingKmh: 3,
  /** A speed that is no more than noise: zero of a standing vehicle, with the 0.34 km/h that were recorded. */
  stillKmh: 0.5,
  /** Hard braking on dry road (8 m/s2), over a second at most; and what sensors leave out at a crawl. A faster drop of a speed is no stop of a vehicle. */
  brakingKmhPerS: 29,
  brakingMostMs: 1000,
  crawlKmh: 5,
  /** From this speed on a sender is taken to measure a drive again. */
  driveKmh: 10,
  /** A sender is alive when one of its measurements changed within this time; a gateway that repeats its last values is not. */
  aliveMs: 10_000,
  /** Key-switch voltage from which the key is on. */
  keyOnV: 6,
  /** An engine that turns so fast in `runningFrames` frames runs; a starter turns it slower. */
  runningRpm: 300,
  runningFrames: 3,
} as const;
