// Life cycle of one serial port: open, watch for silence, re-open with jittered delay for ever. The loss of a port is
// a degraded state that is reported, never an exit. One machine and one deadline; the caller owns the link object.
import { retryDelayMs } from '../../src/core/retry-delay.ts';

export interface PortOptions {
  /** No byte for this long while open: the link is stale and is reopened (G5: three poll periods). */
  readonly silenceMs: number;
  /**
   * No valid frame or sentence for this long, whatever bytes arrive: an adapter may have lost its speed in a brown-
   * out.
   */
  readonly uselessMs: number;
  readonly baseMs: number;
  readonly capMs: number;
}

export type PortState =
  | {
      readonly kind: 'waiting';
      readonly untilMs: number;
      readonly attempt: number;
      readonly why: string;
      /** The last opening brought no valid data: a further opening is not reported. */
      readonly isMute: boolean;
    }
  | {
      readonly kind: 'opening';
      readonly attempt: number;
      readonly sinceMs: number;
      readonly isMute: boolean;
    }
  | {
      readonly kind: 'open';
      readonly lastByteMs: number;
      /** Null: no valid data since it was opened. */
      readonly lastGoodMs: number | null;
      readonly openedMs: number;
      readonly attempt: number;
    };

export type PortInput =
  | { readonly kind: 'time' }
  | { readonly kind: 'opened' }
  /** `isGood`: a whole and sound frame or sentence was among them. */
  | { readonly kind: 'bytes'; readonly isGood: boolean }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'down'; readonly reason: string };

export type PortEffect =
  | { readonly kind: 'open' }
  | { readonly kind: 'close' }
  | { readonly kind: 'lost'; readonly reason: string };

/** Useful for this long: the next loss restarts its retry delay, and is reported. */
const stableMs = 10_000;
/** An open that neither succeeds nor fails is given up; its late result is ignored by the caller. */
const openTimeoutMs = 10_000;

export function createPort(nowMs: number): PortState {
  return { kind: 'waiting', untilMs: nowMs, attempt: 0, why: 'not opened yet', isMute: false };
}

interface PortStep {
  readonly state: PortState;
  readonly effects: readonly PortEffect[];
}

/** One step. `fraction` is a random number in [0, 1) for the jitter. */
export function stepPort(
  state: PortState,
  input: PortInput,
  now: { readonly ms: number; readonly fraction: number; readonly options: PortOptions },
): PortStep {
  const { options } = now;
  const later = (attempt: number, why: string): PortState => {
    const delayMs = retryDelayMs(
      { baseMs: options.baseMs, capMs: options.capMs, floorMs: options.baseMs / 4 },
      { attempt, fraction: now.fraction },
    );
    const isMute = state.kind === 'open' && state.lastGoodMs === null;
    return { kind: 'waiting', untilMs: now.ms + delayMs, attempt: attempt + 1, why, isMute };
  };
  switch (state.kind) {
    case 'waiting':
      if (now.ms < state.untilMs) return { state, effects: [] };
      return {
        state: { kind: 'opening', attempt: state.attempt, sinceMs: now.ms, isMute: state.isMute },
        effects: [{ kind: 'open' }],
      };
    case 'opening':
      if (input.kind === 'opened') {
        return {
          state: {
            kind: 'open',
            lastByteMs: now.ms,
            lastGoodMs: null,
            openedMs: now.ms,
            attempt: state.attempt,
          },
          effects: [],
        };
      }
      if (input.kind === 'failed' || input.kind === 'down') {
        return {
          state: later(state.attempt, input.reason),
          effects: [{ kind: 'lost', reason: input.reason }],
        };
      }
      if (now.ms - state.sinceMs < openTimeoutMs) return { state, effects: [] };
      return {
        state: later(state.attempt, 'opening hangs'),
        effects: [{ kind: 'close' }, { kind: 'lost', reason: 'opening hangs' }],
      };
    case 'open': {
      const { lastGoodMs, openedMs } = state;
      const wasStable = lastGoodMs !== null && lastGoodMs - openedMs > stableMs;
      const attempt = wasStable ? 0 : state.attempt;
      if (input.kind === 'bytes') {
        const received = { ...state, lastByteMs: now.ms };
        return { state: input.isGood ? { ...received, lastGoodMs: now.ms } : received, effects: [] };
      }
      if (input.kind === 'down') {
        return { state: later(attempt, input.reason), effects: [{ kind: 'lost', reason: input.reason }] };
      }
      const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
      if (now.ms <= uselessAfterMs(state, options)) return { state, effects: [] };
      const isSilent = now.ms - state.lastByteMs > options.silenceMs;
      const reason = isSilent
        ? `silent for ${seconds(options.silenceMs)}`
        : `nothing but garbage for ${seconds(options.uselessMs)}: is the speed right?`;
      return { state: later(attempt, reason), effects: [{ kind: 'close' }, { kind: 'lost', reason }] };
    }
  }
}

/** The last moment at which an open port counts as useful without another byte. */
function uselessAfterMs(state: PortState & { kind: 'open' }, options: PortOptions): number {
  const usefulMs = state.lastGoodMs ?? state.openedMs;
  const silentMs = state.lastByteMs + options.silenceMs;
  return state.lastByteMs > usefulMs ? Math.min(silentMs, usefulMs + options.uselessMs) : silentMs;
}

/** True when a loss of this port is to be reported; false while retries keep failing. */
export function isFirstLoss(state: PortState): boolean {
  switch (state.kind) {
    case 'waiting':
      return false;
    case 'opening':
      return state.attempt === 0;
    case 'open':
      return state.attempt === 0 || state.lastGoodMs !== null;
  }
}

/** True when the opening of this port is to be reported. */
export function isFirstOpening(state: PortState): boolean {
  return state.kind === 'opening' && !state.isMute;
}

/** Monotonic time at which the machine wants to be stepped again. */
export function portWakeMs(state: PortState, options: PortOptions): number {
  switch (state.kind) {
    case 'waiting':
      return state.untilMs;
    case 'opening':
      return state.sinceMs + openTimeoutMs;
    case 'open':
      return uselessAfterMs(state, options) + 1;
  }
}
