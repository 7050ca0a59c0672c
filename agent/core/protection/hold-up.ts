// Detects that the process was suspended or starved of the CPU while a restrictive change waits, by timers that fire late (event loop lag): what
// arrived meanwhile is read late and would be taken for new. A timer is due every 50 ms then.

export const holdUpLimits = {
  everyMs: 50,
  /** More than this in sum was a hold-up: above the delays of a busy machine and of the garbage collection. */
  lateMs: 100,
  /** The sum falls by this share of the time that passes. */
  forgottenShare: 0.2,
  /** What is left of it after a hold-up, so that a second one is seen sooner. */
  leftMs: 50,
} as const;

/** Both moments monotonic. */
export interface HoldUpWatch {
  /** When time demands the next step. */
  readonly dueMs: number;
  /** When the last hold-up ended; before the first, when the watch began: what was before is not known. */
  readonly endedMs: number;
  /** By how much the last steps were late, in sum. */
  readonly lateMs: number;
}

/** The watch at this step; the same object until time demands one. @param watch null: none was kept. */
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
