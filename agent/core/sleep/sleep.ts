// When a parked unit asks for a suspend of its machine: the vehicle is shown to be parked, nothing is to be done or sent, and that has lasted.
// The unit that suspends stops the agent before and starts it after, so that a wake is a start: nothing that was known before counts as
// evidence. Pure.

export const sleepLimits = {
  /** Nothing spoke against it for this long: a commit is on disk, and what it stored is sent. */
  calmMs: 30_000,
  /** A request that nothing answered is repeated after this. */
  againMs: 600_000,
} as const;

export interface SleepConfig {
  /** The ignition must be off for this long. */
  readonly afterMs: number;
  /** Awake at least this long after a start. */
  readonly awakeMs: number;
  /** The machine wakes by itself after this, seconds. */
  readonly wakeS: number;
}

export interface SleepState {
  /** Since when nothing speaks against it, monotonic ms; null: something does. */
  readonly calmSinceMs: number | null;
  readonly requestedMs: number | null;
  /** Why the unit stays awake; '' when nothing speaks against sleep. */
  readonly objection: string;
}

export const createSleep = (): SleepState => ({ calmSinceMs: null, requestedMs: null, objection: '' });

/** @param given.objection why the unit is to stay awake; null: nothing. `startedMs`: of the agent, monotonic. */
export function stepSleep(
  state: SleepState,
  config: SleepConfig,
  given: { readonly objection: string | null; readonly startedMs: number; readonly nowMs: number },
): { readonly state: SleepState; readonly isRequested: boolean } {
  const { objection, startedMs, nowMs } = given;
  if (objection !== null) return { state: { ...state, calmSinceMs: null, objection }, isRequested: false };
  const calmSinceMs = state.calmSinceMs ?? nowMs;
  const { requestedMs } = state;
  const isDue =
    nowMs - calmSinceMs >= sleepLimits.calmMs &&
    nowMs - startedMs >= config.awakeMs &&
    (requestedMs === null || nowMs - requestedMs >= sleepLimits.againMs);
  return {
    state: { calmSinceMs, objection: '', requestedMs: isDue ? nowMs : requestedMs },
    isRequested: isDue,
  };
}
