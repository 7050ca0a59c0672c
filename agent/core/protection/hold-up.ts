// Detects a process that was suspended or starved of the CPU while a restrictive change waits, by timers that fire late (event loop lag). Data that
// arrived meanwhile is read late and would look new. During such a wait a timer is due every 50 ms.

export const holdUpLimits = {
  everyMs: 50,
  /** A larger sum of delays is a hold-up. It lies above the delays of a busy machine and of garbage collection. */
  lateMs: 100,
  /** Share of the elapsed time by which the sum falls. */
  forgottenShare: 0.2,
  /** Sum that remains after a hold-up, so that a second one is detected sooner. */
  leftMs: 50,
} as const;

/** Times are monotonic, ms. */
export interface HoldUpWatch {
  /** Time at which the next step is due. */
  readonly dueMs: number;
  /** End of the last hold-up. Before the first one: start of the watch, because the time before it is unknown. */
  readonly endedMs: number;
  /** Sum of the recent delays, ms. */
  readonly lateMs: number;
}

/** The watch after this step; the same object while no step is due. @param watch null: no watch yet. */
export function holdUpWatchAfter(watch: HoldUpWatch | null, nowMs: number): HoldUpWatch {
  const { everyMs, forgottenShare, leftMs } = holdUpLimits;
  const dueMs = nowMs + everyMs;
  if (watch === null) return { dueMs, endedMs: nowMs, lateMs: 0 };
  if (nowMs < watch.dueMs) return watch;
  const stepLateMs = nowMs - watch.dueMs;
  const lateMs = stepLateMs + Math.max(0, watch.lateMs - forgottenShare * (everyMs + stepLateMs));
  return lateMs > holdUpLimits.lateMs
    ? { dueMs, endedMs: nowMs, lateMs: leftMs }
    : { dueMs, endedMs: watch.endedMs, lateMs };
}
