// What really happens to a vehicle in a hostile life: key, speed, place, tunnels, tow trucks. The agent never sees it; every move of
// a relay is judged by it alone.

/** Numbers in [0, 1) from a seed (mulberry32): the same seed, the same life. */
export function createLuck(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const stepMs = 500;
export const halfSeconds = (ms: number): number => Math.round(ms / stepMs) * stepMs;

/** A driver's acceleration and braking, and how a vehicle slows down that has no drive, km/h per s. */
const cityPull = { up: 7, down: 11, roll: 11 } as const;
/** No engine has moved a vehicle sooner after its key was turned. */
const startLeastMs = 1500;

export interface Truth {
  ignition: boolean;
  ignitionSinceMs: number;
  speedKmh: number;
  targetKmh: number;
  /** Since when it has been faster than 3 km/h; null while it is not. */
  movingSinceMs: number | null;
  /** Moved by others with its key off. */
  isTowed: boolean;
  isInTunnel: boolean;
  /** When it last left one. */
  tunnelEndMs: number;
  northM: number;
  pull: { readonly up: number; readonly down: number; readonly roll: number };
}

export function createTruth(isParked: boolean, nowMs: number): Truth {
  return {
    ignition: !isParked,
    ignitionSinceMs: nowMs - 60_000,
    speedKmh: isParked ? 0 : 50,
    targetKmh: isParked ? 0 : 50,
    movingSinceMs: isParked ? null : nowMs - 60_000,
    isTowed: false,
    isInTunnel: false,
    tunnelEndMs: Number.NEGATIVE_INFINITY,
    northM: 0,
    pull: cityPull,
  };
}

export function turnKey(truth: Truth, isOn: boolean, nowMs: number): void {
  if (truth.ignition === isOn) return;
  truth.ignition = isOn;
  truth.ignitionSinceMs = nowMs;
  if (isOn) truth.isTowed = false;
}

/** One step of the road. */
export function moveOn(truth: Truth, nowMs: number): void {
  const hasRun = truth.ignition && nowMs - truth.ignitionSinceMs >= startLeastMs;
  const isDriven = hasRun || truth.isTowed;
  const target = isDriven ? truth.targetKmh : 0;
  const { up, down, roll } = truth.pull;
  const seconds = stepMs / 1000;
  const fall = (isDriven ? down : roll) * seconds;
  truth.speedKmh += Math.max(-fall, Math.min(up * seconds, target - truth.speedKmh));
  if (truth.speedKmh < 0.01) truth.speedKmh = 0;
  if (truth.isInTunnel) truth.tunnelEndMs = nowMs;
  truth.northM += (truth.speedKmh / 3.6) * seconds;
  truth.movingSinceMs = truth.speedKmh > 3 ? (truth.movingSinceMs ?? nowMs) : null;
  if (truth.speedKmh === 0 && truth.targetKmh === 0) truth.isTowed = false;
}
