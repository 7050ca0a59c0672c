// The fixed figures of fuel monitoring, with the evidence for each. None can be configured.
export const fuelLimits = {
  /** Samples become a median of this long, which removes single spikes (33 points within 1 s in recorded drives). */
  slotMs: 10_000,
  slotSamples: 16,
  /** Samples further apart than this do not share a median. */
  slotGapMs: 15_000,
  /** Medians kept while standing: the longest settle time. */
  slots: 18,
  /** Slosh after a stop, and a sender that is powered by the ignition. */
  blankMs: 30_000,
  /** A standstill ends when movement lasts this long; with the ignition off a GNSS fix that wanders is likelier. */
  movingMs: 5000,
  movingParkedMs: 20_000,
  /** ... and when it is unknown for so long whether it moves, with the ignition not off. */
  unknownMs: 60_000,
  /** After this long without a sample the known level of this standstill counts as from another place. */
  gapMs: 300_000,
  /** Without a settled level for longer than the blank time and this many settle times, the tank may have changed unseen. */
  unseenSettles: 2,
  /** Medians in a settled level differ by no more: the widest of the recorded standstills is 0.02. */
  settledSpread: 0.03,
  steadySpread: 0.02,
  /** ... and this little when no fuel flows: more than 0.4 of the tank an hour is seen within a minute. */
  restSpread: 0.006,
  /** With the ignition on a vehicle creeps below the speed that counts as moving, and the slope changes. */
  idleMargin: 0.03,
  /**
   * Between different places, and drives: a hill tilts the level by 0.08 up or down, and medians of five minutes of driving
   * differ by 0.077 (recorded drives). So a smaller change is never refill or theft, with any settings.
   */
  elsewhere: 0.18,
  /** ... and so many times that where the stop was watched: a sender without current may have shown a level. */
  watched: 1.5,
  /** The sender's step: medians further apart are another level; `stepOf` judges the last changes. */
  stepLeast: 0.015,
  stepGapMs: 40_000,
  steps: 8,
  /** A smaller one is slosh: recorded senders that are fine changed by 0.043 on rough roads. */
  stepCoarse: 0.045,
  /** A sender that has not moved yet counts, between places, as one with steps of this. */
  stepUnknown: 0.05,
  /** A change of less than so many steps may be rounding at one border between two of them. */
  stepsLeast: 1.5,
  /** Below all differences that count; what fractions differ by in binary. */
  epsilon: 1e-6,
  /** A parked level may drift so much in an hour: parking heater, temperature (diesel: 0.0008 of its volume a kelvin). */
  parkedPerHour: 0.002,
  /** A sender fed by the supply reads less as that sinks; at most so much of a change is put down to it. */
  supplyMargin: 0.1,
  /** Below this supply voltage the board's own reading is invalid. */
  supplyLeastV: 6,
  /** A theft in progress is reported again this often, and at its end. */
  againMs: 600_000,
  /** The rest of a theft that was reported already is reported if it is at least this. */
  restFraction: 0.02,
  /** Minutes of driving in the level before a stop, and after it. */
  trendMinutes: 15,
  afterMinutes: 5,
  /** With fewer the next stop finds no level to compare. */
  afterLeastMinutes: 3,
  slotsPerMinute: 6,
  /** A level at an end of the scale. */
  emptyEnd: 0.005,
  fullEnd: 0.995,
  /**
   * Not caused by liquid: samples that rest within `jumpSpread` on both sides of a change of this size within 3 s.
   * Pumps and drains stay below a tank a minute (0.017 a second); a float with reed contacts makes steps of up to 0.05.
   */
  jump: 0.1,
  jumpToEnd: 0.05,
  jumpSpread: 0.02,
  jumpSpanMs: 30_000,
  /** Sender faults: bad for so long, good for so long, in at least so many samples. */
  badMs: 30_000,
  goodMs: 60_000,
  badSamples: 5,
  readGapMs: 150_000,
  pinnedMinutes: 3,
  /** Minutes of driving without any change; a float with steps of `stuckStep` in a big tank needs up to two hours for one. */
  stuckMinutes: 240,
  stuckStep: 0.1,
  stuckSpread: 0.003,
} as const;
