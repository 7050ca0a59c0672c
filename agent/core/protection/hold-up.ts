// Whether this process is held up (suspended, or starved of the CPU) while a restrictive change waits: what came meanwhile is read late and would be
// taken for new. Time demands a step every 50 ms then; one that comes late shows it.

export const holdUpLimits = {
  everyMs: 50,
  /** Later than this was a hold-up: above the delays of a busy machine and of the garbage collection. */
  lateMs: 100,
} as const;

/** Both monotonic. */
export interface HoldUpWatch {
  /** When time demands the next step. */
  readonly dueMs: number;
  /** When the last hold-up ended; before the first, when the watch began: what was before is not known. */
  readonly endedMs: number;
}

/** The watch at this step; the same object until time demands one. @param watch null: none was kept. */
export function holdUpWatchAfter(watch: HoldUpWatch | null, nowMs: number): HoldUpWatch {
  if (watch !== null && nowMs < watch.dueMs) return watch;
  const isLate = watch === null || nowMs - watch.dueMs > holdUpLimits.lateMs;
  return { dueMs: nowMs + holdUpLimits.everyMs, endedMs: isLate ? nowMs : watch.endedMs };
}
