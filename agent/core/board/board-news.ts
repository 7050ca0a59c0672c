// What operators hear of losses and returns of the board: few, true events. A loss is told at once; a return only when it
// has lasted, for longer after each relapse (route flap damping, RFC 2439, in its simplest form). Pure. It must never be
// asked whether the board lives: evidence and inputs go by the board machine itself, which is instant.

export interface BoardNews {
  /** As the board machine says at this moment. */
  readonly isLost: boolean;
  /** As operators were told last. */
  readonly isToldLost: boolean;
  /** When `isLost` became what it is. */
  readonly changedMs: number;
  /** When the loss that was told began; null when that was before this start. */
  readonly lostMs: number | null;
  /** How often it was lost since then, that one included. */
  readonly losses: number;
  /** For how long it must answer before its return is told. */
  readonly holdMs: number;
  /** When its return was told last; null: never. */
  readonly restoredMs: number | null;
}

export type BoardNewsInput =
  | { readonly kind: 'lost' | 'answers'; readonly atMs: number; readonly reason: string }
  | { readonly kind: 'time'; readonly atMs: number };

/** What is to be told, as of `atMs`. */
export type BoardTold =
  | { readonly kind: 'lost'; readonly atMs: number; readonly reason: string }
  | {
      readonly kind: 'restored';
      readonly atMs: number;
      readonly losses: number;
      /** From the first loss to the last return; null when the loss was before this start. */
      readonly lostForMs: number | null;
    };

export const boardNewsLimits = {
  /** First pause before a return is told; doubled by each relapse. */
  holdMs: 10_000,
  holdMostMs: 600_000,
  /** A loss within this many pauses after a return is a relapse. */
  relapsePauses: 6,
} as const;

/** @param isToldLost what operators were told last, before this start. */
export function createBoardNews(atMs: number, isToldLost: boolean): BoardNews {
  return {
    isLost: isToldLost,
    isToldLost,
    changedMs: atMs,
    lostMs: null,
    losses: isToldLost ? 1 : 0,
    holdMs: boardNewsLimits.holdMs,
    restoredMs: null,
  };
}

interface Step {
  readonly news: BoardNews;
  readonly told: BoardTold | null;
}

/** One input; `atMs` is monotonic. However bad the bus: one loss and one return in any `holdMostMs`, in the long run. */
export function stepBoardNews(before: BoardNews, input: BoardNewsInput): Step {
  switch (input.kind) {
    case 'lost':
      return before.isLost ? { news: before, told: null } : lose(before, input);
    case 'answers':
      return before.isLost
        ? { news: { ...before, isLost: false, changedMs: input.atMs }, told: null }
        : { news: before, told: null };
    case 'time':
      return settle(before, input.atMs);
  }
}

function lose(before: BoardNews, { atMs, reason }: { readonly atMs: number; readonly reason: string }): Step {
  const lost = { ...before, isLost: true, changedMs: atMs };
  if (before.isToldLost) return { news: { ...lost, losses: before.losses + 1 }, told: null };
  const { holdMs, holdMostMs, relapsePauses } = boardNewsLimits;
  const isRelapse = before.restoredMs !== null && atMs - before.restoredMs < before.holdMs * relapsePauses;
  const nextHoldMs = isRelapse ? Math.min(before.holdMs * 2, holdMostMs) : holdMs;
  return {
    news: { ...lost, isToldLost: true, lostMs: atMs, losses: 1, holdMs: nextHoldMs },
    told: { kind: 'lost', atMs, reason },
  };
}

function settle(before: BoardNews, atMs: number): Step {
  const { isLost, isToldLost, changedMs, holdMs, losses, lostMs } = before;
  if (isLost || !isToldLost || atMs - changedMs < holdMs) return { news: before, told: null };
  return {
    news: { ...before, isToldLost: false, restoredMs: atMs },
    told: {
      kind: 'restored',
      atMs: changedMs,
      losses,
      lostForMs: lostMs === null ? null : changedMs - lostMs,
    },
  };
}
