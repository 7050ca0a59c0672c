// Damps the reports of board losses and returns to operators. A loss is reported at once. A return is reported only when it has lasted, longer after
// each relapse (the simplest form of route flap damping, RFC 2439). Pure. Never use it to decide whether the board is alive: evidence and inputs
// follow the board machine itself, which is immediate.

export interface BoardReportState {
  /** Present state of the board machine. */
  readonly isLost: boolean;
  readonly isReportedLost: boolean;
  /** Monotonic time of the last change of `isLost`, ms. */
  readonly changedMs: number;
  /** Monotonic start of the reported loss, ms; null: before this start. */
  readonly lostMs: number | null;
  /** Number of losses since then, including that one. */
  readonly losses: number;
  /** Time for which it must answer before its return is reported, ms. */
  readonly holdMs: number;
  /** Monotonic time of the last reported return, ms; null: none. */
  readonly restoredMs: number | null;
}

export type BoardReportInput =
  | { readonly kind: 'lost' | 'answers'; readonly atMs: number; readonly reason: string }
  | { readonly kind: 'time'; readonly atMs: number };

/** Report as of `atMs`. */
export type BoardReport =
  | { readonly kind: 'lost'; readonly atMs: number; readonly reason: string }
  | {
      readonly kind: 'restored';
      readonly atMs: number;
      readonly losses: number;
      /** Time from the first loss to the last return, ms; null: the loss was before this start. */
      readonly lostForMs: number | null;
    };

export const boardReportLimits = {
  /** First delay before a return is reported; each relapse doubles it, up to `holdMostMs`. */
  holdMs: 10_000,
  holdMostMs: 600_000,
  /** A loss within this many hold times after a return is a relapse. */
  relapsePauses: 6,
} as const;

/** @param isReportedLost state last reported before this start. */
export function createBoardReport(atMs: number, isReportedLost: boolean): BoardReportState {
  return {
    isLost: isReportedLost,
    isReportedLost,
    changedMs: atMs,
    lostMs: null,
    losses: isReportedLost ? 1 : 0,
    holdMs: boardReportLimits.holdMs,
    restoredMs: null,
  };
}

interface Step {
  readonly state: BoardReportState;
  readonly report: BoardReport | null;
}

/** One step; `atMs` is monotonic. In the long run, any bus causes at most one loss and one return per `holdMostMs`. */
export function stepBoardReport(before: BoardReportState, input: BoardReportInput): Step {
  switch (input.kind) {
    case 'lost':
      return before.isLost ? { state: before, report: null } : lose(before, input);
    case 'answers':
      return before.isLost
        ? { state: { ...before, isLost: false, changedMs: input.atMs }, report: null }
        : { state: before, report: null };
    case 'time':
      return reportReturn(before, input.atMs);
  }
}

function lose(
  before: BoardReportState,
  { atMs, reason }: { readonly atMs: number; readonly reason: string },
): Step {
  const lost = { ...before, isLost: true, changedMs: atMs };
  if (before.isReportedLost) return { state: { ...lost, losses: before.losses + 1 }, report: null };
  const { holdMs, holdMostMs, relapsePauses } = boardReportLimits;
  const isRelapse = before.restoredMs !== null && atMs - before.restoredMs < before.holdMs * relapsePauses;
  const nextHoldMs = isRelapse ? Math.min(before.holdMs * 2, holdMostMs) : holdMs;
  return {
    state: { ...lost, isReportedLost: true, lostMs: atMs, losses: 1, holdMs: nextHoldMs },
    report: { kind: 'lost', atMs, reason },
  };
}

function reportReturn(before: BoardReportState, atMs: number): Step {
  const { isLost, isReportedLost, changedMs, holdMs, losses, lostMs } = before;
  if (isLost || !isReportedLost || atMs - changedMs < holdMs) return { state: before, report: null };
  return {
    state: { ...before, isReportedLost: false, restoredMs: atMs },
    report: {
      kind: 'restored',
      atMs: changedMs,
      losses,
      lostForMs: lostMs === null ? null : changedMs - lostMs,
    },
  };
}
