// The agent's side of the MQTT session: when to connect, when to send, what is in flight, when to give up. mqtt.js is
// only the transport; deleting from the outbox happens on the broker's `ack` alone. A link on which acknowledgements
// stop is destroyed, and everything in flight counts as unsent.
import { backoffMs } from '../../src/core/backoff.ts';
import type { Ack } from '../../src/core/wire.ts';

export const deliveryLimits = {
  /** Batches on the way at once; 1 to 4 on cellular. */
  window: 4,
  /** Without an acknowledgement for this long the link is dead, whatever TCP says. */
  ackTimeoutMs: 30_000,
  connectTimeoutMs: 30_000,
  /** A connection that held this long resets the back-off. */
  stableMs: 60_000,
  backoff: { baseMs: 2000, capMs: 120_000, floorMs: 250 },
} as const;

export interface InFlight {
  readonly boot: string;
  readonly seqs: readonly number[];
  readonly sentMs: number;
}

export interface Session {
  readonly sinceMs: number;
  readonly nonce: string;
  /** Subscribed, and hello is out. */
  readonly greeted: boolean;
  readonly welcomed: boolean;
}

export interface DeliveryState {
  readonly phase:
    | { readonly kind: 'waiting'; readonly untilMs: number; readonly why: string }
    | { readonly kind: 'connecting'; readonly sinceMs: number }
    | ({ readonly kind: 'up' } & Session);
  readonly attempt: number;
  readonly inFlight: readonly InFlight[];
  /** The outbox is being read for the next batch; `stale` when something was stored since the read began. */
  readonly fetching: 'no' | 'yes' | 'stale';
  /** The outbox had nothing more when last asked. */
  readonly drained: boolean;
  readonly acknowledged: number;
}

export type DeliveryInput =
  | { readonly kind: 'time' }
  | { readonly kind: 'stored' }
  | { readonly kind: 'up'; readonly nonce: string }
  | { readonly kind: 'greeted' }
  | { readonly kind: 'down'; readonly reason: string }
  | { readonly kind: 'welcomed' }
  | { readonly kind: 'fetched'; readonly boot: string; readonly seqs: readonly number[] }
  | { readonly kind: 'empty' }
  | { readonly kind: 'ack'; readonly ack: Ack };

export type DeliveryEffect =
  | { readonly kind: 'connect' }
  | { readonly kind: 'greet'; readonly nonce: string }
  | { readonly kind: 'destroy'; readonly reason: string }
  | { readonly kind: 'rewind' }
  | { readonly kind: 'fetch' }
  | { readonly kind: 'forget'; readonly boot: string; readonly ranges: Ack['ranges'] };

/** @param firstDelayMs random delay of the first connect, so that a depot that powers up does not connect at once. */
export function createDelivery(nowMs: number, firstDelayMs: number): DeliveryState {
  return {
    phase: { kind: 'waiting', untilMs: nowMs + firstDelayMs, why: 'starting' },
    attempt: 0,
    inFlight: [],
    fetching: 'no',
    drained: false,
    acknowledged: 0,
  };
}

interface Now {
  readonly ms: number;
  readonly fraction: number;
  /** Events have a usable time; without it sending waits for the welcome, which brings one. */
  readonly timeKnown: boolean;
}

interface DeliveryStep {
  readonly state: DeliveryState;
  readonly effects: readonly DeliveryEffect[];
}

function goDown(state: DeliveryState, reason: string, now: Now): DeliveryStep {
  const stable = state.phase.kind === 'up' && now.ms - state.phase.sinceMs >= deliveryLimits.stableMs;
  const attempt = stable ? 0 : state.attempt;
  const delayMs = backoffMs(deliveryLimits.backoff, { attempt, fraction: now.fraction });
  return {
    state: {
      ...state,
      phase: { kind: 'waiting', untilMs: now.ms + delayMs, why: reason },
      attempt: attempt + 1,
      inFlight: [],
      fetching: 'no',
      drained: false,
    },
    effects: [{ kind: 'rewind' }],
  };
}

function inRanges(seq: number, ranges: Ack['ranges']): boolean {
  return ranges.some(([from, to]) => seq >= from && seq <= to);
}

function noteAck(state: DeliveryState, ack: Ack): DeliveryStep {
  const before = state.inFlight.reduce((sum, batch) => sum + batch.seqs.length, 0);
  const inFlight = state.inFlight
    .map((batch) =>
      batch.boot === ack.boot
        ? { ...batch, seqs: batch.seqs.filter((seq) => !inRanges(seq, ack.ranges)) }
        : batch,
    )
    .filter((batch) => batch.seqs.length > 0);
  const after = inFlight.reduce((sum, batch) => sum + batch.seqs.length, 0);
  return {
    state: { ...state, inFlight, acknowledged: state.acknowledged + before - after },
    effects: [{ kind: 'forget', boot: ack.boot, ranges: ack.ranges }],
  };
}

function stall(state: DeliveryState, now: Now): string | null {
  const { phase } = state;
  if (phase.kind === 'connecting') {
    return now.ms - phase.sinceMs > deliveryLimits.connectTimeoutMs ? 'no connection in time' : null;
  }
  if (phase.kind !== 'up') return null;
  const oldest = state.inFlight[0];
  if (oldest !== undefined && now.ms - oldest.sentMs > deliveryLimits.ackTimeoutMs)
    return 'no acknowledgement in time';
  return !phase.welcomed && now.ms - phase.sinceMs > deliveryLimits.ackTimeoutMs
    ? 'no welcome in time'
    : null;
}

/** Asks for the next batch when there is room, and connects or gives up when it is time. */
function settle(step: DeliveryStep, now: Now): DeliveryStep {
  const { state, effects } = step;
  const { phase } = state;
  if (phase.kind === 'waiting') {
    if (now.ms < phase.untilMs) return step;
    return {
      state: { ...state, phase: { kind: 'connecting', sinceMs: now.ms } },
      effects: [...effects, { kind: 'connect' }],
    };
  }
  const reason = stall(state, now);
  if (reason !== null) {
    const down = goDown(state, reason, now);
    return { state: down.state, effects: [...effects, { kind: 'destroy', reason }, ...down.effects] };
  }
  if (phase.kind !== 'up' || !phase.greeted || !(now.timeKnown || phase.welcomed)) return step;
  if (state.fetching !== 'no' || state.drained || state.inFlight.length >= deliveryLimits.window) return step;
  return { state: { ...state, fetching: 'yes' }, effects: [...effects, { kind: 'fetch' }] };
}

function react(state: DeliveryState, input: DeliveryInput, now: Now): DeliveryStep {
  const { phase } = state;
  const none: DeliveryStep = { state, effects: [] };
  switch (input.kind) {
    case 'time':
      return none;
    case 'stored':
      return {
        state: { ...state, drained: false, fetching: state.fetching === 'no' ? 'no' : 'stale' },
        effects: [],
      };
    case 'up': {
      const session: Session = { sinceMs: now.ms, nonce: input.nonce, greeted: false, welcomed: false };
      return {
        state: { ...state, phase: { kind: 'up', ...session } },
        effects: [{ kind: 'greet', nonce: input.nonce }],
      };
    }
    case 'greeted':
      return phase.kind === 'up'
        ? { state: { ...state, phase: { ...phase, greeted: true } }, effects: [] }
        : none;
    case 'welcomed':
      return phase.kind === 'up'
        ? { state: { ...state, phase: { ...phase, welcomed: true } }, effects: [] }
        : none;
    case 'down':
      return phase.kind === 'waiting' ? none : goDown(state, input.reason, now);
    case 'fetched': {
      if (state.fetching === 'no') return none;
      const batch: InFlight = { boot: input.boot, seqs: input.seqs, sentMs: now.ms };
      return { state: { ...state, fetching: 'no', inFlight: [...state.inFlight, batch] }, effects: [] };
    }
    case 'empty':
      return { state: { ...state, fetching: 'no', drained: state.fetching === 'yes' }, effects: [] };
    case 'ack':
      return noteAck(state, input.ack);
  }
}

/** One step of the session. */
export function stepDelivery(state: DeliveryState, input: DeliveryInput, now: Now): DeliveryStep {
  return settle(react(state, input, now), now);
}

/** Monotonic time at which the machine wants to be stepped again; infinity when only inputs matter. */
export function deliveryWakeMs(state: DeliveryState): number {
  const { phase } = state;
  if (phase.kind === 'waiting') return phase.untilMs;
  if (phase.kind === 'connecting') return phase.sinceMs + deliveryLimits.connectTimeoutMs + 1;
  const oldest = state.inFlight[0];
  const ackDue =
    oldest === undefined ? Number.POSITIVE_INFINITY : oldest.sentMs + deliveryLimits.ackTimeoutMs + 1;
  return phase.welcomed ? ackDue : Math.min(ackDue, phase.sinceMs + deliveryLimits.ackTimeoutMs + 1);
}
