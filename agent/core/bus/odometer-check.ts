// Accepts an odometer of the bus only when readings agree: gateways send defaults after a start, and one was recorded to jump by 158,000 km.

export const odometerLimits = {
  /** A first value, and a jump, are accepted after this many readings that agree. */
  readings: 3,
  /** Readings agree within this, km. */
  agreeKm: 0.5,
  /** No vehicle is faster, km/h. */
  speedKmh: 200,
  /** No vehicle has driven as far, km; the top of a range has. */
  mostKm: 10_000_000,
} as const;

export interface OdometerState {
  /** The last accepted value, and when it was read, monotonic ms; null: none yet. */
  readonly km: number | null;
  readonly atMs: number;
  /** A value that is not accepted yet, and how many readings agreed with it. */
  readonly candidateKm: number | null;
  readonly readings: number;
  /** Accepted values that did not follow from the one before. */
  readonly jumps: number;
}

export const createOdometer = (): OdometerState => ({
  km: null,
  atMs: 0,
  candidateKm: null,
  readings: 0,
  jumps: 0,
});

/** The state after one reading. */
export function stepOdometer(state: OdometerState, km: number, atMs: number): OdometerState {
  const { agreeKm, speedKmh, readings: enough, mostKm: farthestKm } = odometerLimits;
  if (km > farthestKm) return state;
  if (state.km !== null) {
    const mostKm = agreeKm + (speedKmh * (atMs - state.atMs)) / 3_600_000;
    if (km >= state.km && km - state.km <= mostKm)
      return { ...state, km, atMs, candidateKm: null, readings: 0 };
  }
  const { candidateKm } = state;
  const agrees = candidateKm !== null && km >= candidateKm && km - candidateKm <= agreeKm;
  const readings = agrees ? state.readings + 1 : 1;
  if (readings < enough) return { ...state, candidateKm: km, readings };
  const jumps = state.km === null ? state.jumps : state.jumps + 1;
  return { km, atMs, candidateKm: null, readings: 0, jumps };
}
