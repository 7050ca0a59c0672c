// Life of one serial port: open, watch for silence, re-open with jittered back-off for ever. Losing a port is a
// degraded state that is reported, never an exit. One machine and one deadline; the caller owns the link object.
import { backoffMs } from '../../src/core/backoff.ts';

export interface PortOptions {
  /** No byte for this long while open: the link is stale and is opened anew (G5: three poll periods). */
  readonly silenceMs: number;
  readonly baseMs: number;
  readonly capMs: number;
}

export type PortState =
  | { readonly kind: 'waiting'; readonly untilMs: number; readonly attempt: number; readonly why: string }
  | { readonly kind: 'opening'; readonly attempt: number; readonly sinceMs: number }
  | {
      readonly kind: 'open';
      readonly lastByteMs: number;
      readonly openedMs: number;
      readonly attempt: number;
    };

export type PortInput =
  | { readonly kind: 'time' }
  | { readonly kind: 'opened' }
  | { readonly kind: 'bytes' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'down'; readonly reason: string };

export type PortEffect =
  | { readonly kind: 'open' }
  | { readonly kind: 'close' }
  | { readonly kind: 'lost'; readonly reason: string };

/** Open for this long without a fault: the next loss starts its back-off anew. */
const stableMs = 10_000;
/** An open that neither succeeds nor fails is given up; its late result is ignored by the caller. */
const openTimeoutMs = 10_000;

export function createPort(nowMs: number): PortState {
  return { kind: 'waiting', untilMs: nowMs, attempt: 0, why: 'not opened yet' };
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
    const delayMs = backoffMs(
      { baseMs: options.baseMs, capMs: options.capMs, floorMs: options.baseMs / 4 },
      { attempt, fraction: now.fraction },
    );
    return { kind: 'waiting', untilMs: now.ms + delayMs, attempt: attempt + 1, why };
  };
  switch (state.kind) {
    case 'waiting':
      if (now.ms < state.untilMs) return { state, effects: [] };
      return {
        state: { kind: 'opening', attempt: state.attempt, sinceMs: now.ms },
        effects: [{ kind: 'open' }],
      };
    case 'opening':
      if (input.kind === 'opened') {
        return {
          state: { kind: 'open', lastByteMs: now.ms, openedMs: now.ms, attempt: state.attempt },
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
      const attempt = now.ms - state.openedMs > stableMs ? 0 : state.attempt;
      if (input.kind === 'bytes') return { state: { ...state, lastByteMs: now.ms }, effects: [] };
      if (input.kind === 'down') {
        return { state: later(attempt, input.reason), effects: [{ kind: 'lost', reason: input.reason }] };
      }
      if (now.ms - state.lastByteMs <= options.silenceMs) return { state, effects: [] };
      const reason = `silent for ${Math.round(options.silenceMs / 1000)} s`;
      return { state: later(attempt, reason), effects: [{ kind: 'close' }, { kind: 'lost', reason }] };
    }
  }
}

/** Monotonic time at which the machine wants to be stepped again. */
export function portWakeMs(state: PortState, options: PortOptions): number {
  switch (state.kind) {
    case 'waiting':
      return state.untilMs;
    case 'opening':
      return state.sinceMs + openTimeoutMs;
    case 'open':
      return state.lastByteMs + options.silenceMs + 1;
  }
}
