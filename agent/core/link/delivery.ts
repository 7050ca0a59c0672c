// The agent's side of the MQTT session: when to connect, send and disconnect, and what is in flight. mqtt.js is only the
// transport. Events are sent, and deleted on an `ack`, only on a link whose broker has proven the pinned key by a signed welcome.
// A link without acknowledgements is destroyed, and everything in flight counts as unsent.
import { retryDelayMs } from '../../../src/core/retry-delay.ts';
import type { LinkSettings } from '../../../src/core/settings/link.ts';
import type { Ack } from '../../../src/core/wire/wire.ts';
import { addTraffic, type BudgetLight, budgetLightOf, type Traffic, trafficCost } from './data-budget.ts';
import { createKeepalive, type Keepalive, linkIsUp, loseLink, openLink, recordSent } from './keepalive.ts';

export const deliveryLimits = {
  /** Maximum number of batches in flight; 1 to 4 on cellular. */
  window: 4,
  /** Maximum number of these with old events, so that a new event always finds a free place. */
  backlogWindow: 3,
  /** Burst of old events after a rest, in seconds of their rate. */
  burstS: 0.25,
  /** Old events wait until about one batch of them may go. */
  paceEvents: 50,
  /** Without any acknowledgement for this long the link is dead, even if TCP is up. Each one counts, because a broker may slow a backlog. */
  ackTimeoutMs: 30_000,
  connectTimeoutMs: 30_000,
  /** A connection that held for this long resets the back-off. */
  stableMs: 60_000,
  /** Interval of requests for the broker's time; the possible error of the agent's time grows until then (15 s at 700 ppm). */
  renewMs: 6 * 3_600_000,
  /** Minimum interval of hellos that are sent again because their content changed. */
  refreshMs: 600_000,
  backoff: { baseMs: 2000, capMs: 120_000, floorMs: 250 },
} as const;

export interface InFlight {
  readonly boot: string;
  readonly seqs: readonly number[];
  readonly sentMs: number;
  readonly isBacklog: boolean;
}

export interface Session {
  readonly sinceMs: number;
  readonly nonce: string;
  /** Monotonic time at which the nonce was made, ms: a welcome that returns it is not older. */
  readonly askedMs: number;
  /** Subscribed, hello sent. */
  readonly greeted: boolean;
  readonly welcomed: boolean;
  /** The content of the last hello is outdated. */
  readonly isOutdated: boolean;
  /** The last welcome on this link offers the short topic for events. */
  readonly isShort: boolean;
}

export interface DeliveryState {
  readonly phase:
    | { readonly kind: 'waiting'; readonly untilMs: number; readonly why: string }
    | { readonly kind: 'connecting'; readonly sinceMs: number }
    | ({ readonly kind: 'up' } & Session);
  readonly attempt: number;
  readonly inFlight: readonly InFlight[];
  /** The outbox is being read for the next batch; `stale`: something was stored since the read began. */
  readonly fetching: 'no' | 'yes' | 'stale';
  /** Lanes of the running read. */
  readonly asked: Lanes;
  /** Part of the outbox that was exhausted at the last read: all of it, or everything that is not paced. */
  readonly empty: 'nothing' | 'live' | 'all';
  /** Monotonic time at which events that wait for company are sent, ms; infinity: none wait. */
  readonly heldUntilMs: number;
  /** Number of old events that may be sent now; refills with time. */
  readonly allowance: { readonly events: number; readonly atMs: number };
  readonly acknowledged: number;
  /** Monotonic time of the last acknowledgement of something in flight, ms. */
  readonly ackedMs: number;
  readonly traffic: Traffic;
  readonly light: BudgetLight;
  /** Monotonic time up to which keep-alives of the link are counted, ms. */
  readonly countedMs: number;
  readonly keepalive: Keepalive;
}

/** Events that a read of the outbox may return. `live`: urgent events of any age, and events stored on this link. */
export interface Lanes {
  /** Maximum number of old events; 0: live only. */
  readonly backlog: number;
  readonly urgentOnly: boolean;
}

const nothingAsked: Lanes = { backlog: 0, urgentOnly: false };

export type DeliveryInput =
  | { readonly kind: 'time' }
  /** Events were stored that may wait for company until this monotonic time, ms. */
  | { readonly kind: 'stored'; readonly dueMs: number }
  | { readonly kind: 'up'; readonly nonce: string }
  | { readonly kind: 'greeted' }
  /** Nonce of a further hello on the same link. */
  | { readonly kind: 'renewed'; readonly nonce: string }
  /** `isSilent`: a keep-alive got no answer. */
  | { readonly kind: 'down'; readonly reason: string; readonly isSilent?: boolean }
  | { readonly kind: 'welcomed'; readonly isShort: boolean }
  | { readonly kind: 'outdated' }
  | {
      readonly kind: 'fetched';
      readonly boot: string;
      readonly seqs: readonly number[];
      /** Of the payloads. */
      readonly bytes: number;
      readonly isBacklog: boolean;
    }
  | { readonly kind: 'empty' }
  | { readonly kind: 'ack'; readonly ack: Ack };

export type DeliveryEffect =
  | { readonly kind: 'connect'; readonly keepaliveS: number }
  | { readonly kind: 'greet'; readonly nonce: string }
  /** Requests a new nonce, reported by `renewed`, and a hello with it. */
  | { readonly kind: 'renew' }
  | { readonly kind: 'destroy'; readonly reason: string }
  | { readonly kind: 'rewind' }
  /** `isShort`: the events go to the short topic. */
  | ({ readonly kind: 'fetch'; readonly isShort: boolean } & Lanes)
  | { readonly kind: 'forget'; readonly boot: string; readonly ranges: Ack['ranges'] };

/**
 * @param start.firstDelayMs random delay of the first connect: the vehicles of a depot must not all connect at power-up.
 * @param start.keepaliveS the installer's choice, from which the interval that the network holds is learnt.
 */
export function createDelivery(
  nowMs: number,
  start: { readonly firstDelayMs: number; readonly traffic: Traffic; readonly keepaliveS: number },
): DeliveryState {
  return {
    phase: { kind: 'waiting', untilMs: nowMs + start.firstDelayMs, why: 'starting' },
    attempt: 0,
    inFlight: [],
    fetching: 'no',
    asked: nothingAsked,
    empty: 'nothing',
    heldUntilMs: Number.POSITIVE_INFINITY,
    allowance: { events: 0, atMs: nowMs },
    acknowledged: 0,
    ackedMs: nowMs,
    traffic: start.traffic,
    light: 'green',
    countedMs: nowMs,
    keepalive: createKeepalive(start.keepaliveS),
  };
}

/** True when everything that may be sent now was sent. */
export function isDrained({ empty, heldUntilMs }: DeliveryState): boolean {
  return empty === 'all' && heldUntilMs === Number.POSITIVE_INFINITY;
}

interface Now {
  readonly ms: number;
  readonly fraction: number;
  /** Null: unknown. */
  readonly utcMs: number | null;
  readonly link: LinkSettings;
}

interface DeliveryStep {
  readonly state: DeliveryState;
  readonly effects: readonly DeliveryEffect[];
}

function howLost(state: DeliveryState, isSilent: boolean): Parameters<typeof loseLink>[2] {
  if (isSilent) return 'ping';
  return state.inFlight.length > 0 ? 'sending' : 'other';
}

function disconnect(state: DeliveryState, reason: string, now: Now, isSilent = false): DeliveryStep {
  const stable = state.phase.kind === 'up' && now.ms - state.phase.sinceMs >= deliveryLimits.stableMs;
  const attempt = stable ? 0 : state.attempt;
  const delayMs = retryDelayMs(deliveryLimits.backoff, { attempt, fraction: now.fraction });
  return {
    state: {
      ...state,
      phase: { kind: 'waiting', untilMs: now.ms + delayMs, why: reason },
      attempt: attempt + 1,
      inFlight: [],
      fetching: 'no',
      ...lookAgain,
      keepalive: loseLink(state.keepalive, now.ms, howLost(state, isSilent)),
    },
    effects: [{ kind: 'rewind' }],
  };
}

/** Everything that was stored is to be read. */
const lookAgain = { empty: 'nothing', heldUntilMs: Number.POSITIVE_INFINITY } as const;

/** Lets stored events wait until they are due. A running read takes them along, or another one follows it. */
function hold(state: DeliveryState, dueMs: number, nowMs: number): DeliveryState {
  const heldUntilMs = Math.min(state.heldUntilMs, dueMs);
  if (state.fetching === 'no' && heldUntilMs > nowMs) return { ...state, heldUntilMs };
  return { ...state, ...lookAgain, fetching: state.fetching === 'no' ? 'no' : 'stale' };
}

function inRanges(seq: number, ranges: Ack['ranges']): boolean {
  return ranges.some(([from, to]) => seq >= from && seq <= to);
}

function handleAck(state: DeliveryState, ack: Ack, nowMs: number): DeliveryStep {
  const before = state.inFlight.reduce((sum, batch) => sum + batch.seqs.length, 0);
  const inFlight = state.inFlight
    .map((batch) =>
      batch.boot === ack.boot
        ? { ...batch, seqs: batch.seqs.filter((seq) => !inRanges(seq, ack.ranges)) }
        : batch,
    )
    .filter((batch) => batch.seqs.length > 0);
  const after = inFlight.reduce((sum, batch) => sum + batch.seqs.length, 0);
  const ackedMs = after < before ? nowMs : state.ackedMs;
  return {
    state: { ...state, inFlight, ackedMs, acknowledged: state.acknowledged + before - after },
    effects: [{ kind: 'forget', boot: ack.boot, ranges: ack.ranges }],
  };
}

/** Monotonic start of the present wait for an acknowledgement, ms; infinity: none is awaited. */
function unansweredSinceMs({ inFlight: [oldest], ackedMs }: DeliveryState): number {
  return oldest === undefined ? Number.POSITIVE_INFINITY : Math.max(oldest.sentMs, ackedMs);
}

function stall(state: DeliveryState, now: Now): string | null {
  const { phase } = state;
  if (phase.kind === 'connecting') {
    return now.ms - phase.sinceMs > deliveryLimits.connectTimeoutMs ? 'no connection in time' : null;
  }
  if (phase.kind !== 'up') return null;
  if (now.ms - unansweredSinceMs(state) > deliveryLimits.ackTimeoutMs) return 'no acknowledgement in time';
  return !phase.welcomed && now.ms - phase.sinceMs > deliveryLimits.ackTimeoutMs
    ? 'no welcome in time'
    : null;
}

const most = (link: LinkSettings): number => Math.max(1, link.backlogPerS * deliveryLimits.burstS);

function allowanceAt({ allowance }: DeliveryState, now: Pick<Now, 'ms' | 'link'>): number {
  const grown = allowance.events + ((now.ms - allowance.atMs) / 1000) * now.link.backlogPerS;
  return Math.min(most(now.link), grown);
}

/** Lanes that may be read now; null: the window is full, or there is nothing to read. */
function lanesOf(state: DeliveryState, now: Now): Lanes | null {
  if (state.empty === 'all' || state.inFlight.length >= deliveryLimits.window) return null;
  const urgentOnly = state.light === 'red';
  const oldOnes = state.inFlight.filter((batch) => batch.isBacklog).length;
  const mayBeOld = state.light === 'green' && oldOnes < deliveryLimits.backlogWindow;
  const allowed = Math.floor(allowanceAt(state, now));
  const backlog = mayBeOld && allowed >= Math.min(most(now.link), deliveryLimits.paceEvents) ? allowed : 0;
  return state.empty === 'live' && backlog === 0 ? null : { backlog, urgentOnly };
}

/** Monotonic time at which a further hello is due on this link, ms. */
function renewDueMs({ askedMs, isOutdated }: Session): number {
  return askedMs + (isOutdated ? deliveryLimits.refreshMs : deliveryLimits.renewMs);
}

/** Requests the broker's time again on a long link, or sends a changed hello. */
function renew(step: DeliveryStep, now: Now): DeliveryStep {
  const { state, effects } = step;
  const { phase } = state;
  if (phase.kind !== 'up' || !phase.welcomed || now.ms < renewDueMs(phase)) return step;
  // The new nonce follows at once. Until then a welcome with the old one would count as fresher than it is.
  const asked = { ...phase, askedMs: now.ms, nonce: '', isOutdated: false };
  return { state: { ...state, phase: asked }, effects: [...effects, { kind: 'renew' }] };
}

/** Requests the next batch if the window allows, and connects or disconnects when due. */
function advance(step: DeliveryStep, now: Now): DeliveryStep {
  const { state, effects } = step;
  const { phase } = state;
  if (phase.kind === 'waiting') {
    if (now.ms < phase.untilMs) return step;
    const keepalive = openLink(state.keepalive, now.link.keepaliveMostS);
    return {
      state: { ...state, phase: { kind: 'connecting', sinceMs: now.ms }, keepalive },
      effects: [...effects, { kind: 'connect', keepaliveS: keepalive.everyS }],
    };
  }
  const reason = stall(state, now);
  if (reason !== null) {
    const down = disconnect(state, reason, now);
    return { state: down.state, effects: [...effects, { kind: 'destroy', reason }, ...down.effects] };
  }
  if (phase.kind !== 'up' || !phase.greeted || !phase.welcomed) return step;
  const asked = state.fetching === 'no' ? lanesOf(state, now) : null;
  if (asked === null) return step;
  const fetch = { kind: 'fetch', isShort: phase.isShort, ...asked } as const;
  return { state: { ...state, fetching: 'yes', asked }, effects: [...effects, fetch] };
}

function react(state: DeliveryState, input: DeliveryInput, now: Now): DeliveryStep {
  const { phase } = state;
  const none: DeliveryStep = { state, effects: [] };
  const change = (piece: Partial<Session>): DeliveryStep =>
    phase.kind === 'up' ? { state: { ...state, phase: { ...phase, ...piece } }, effects: [] } : none;
  switch (input.kind) {
    case 'time':
      return none;
    case 'stored':
      return { state: hold(state, input.dueMs, now.ms), effects: [] };
    case 'up': {
      const session: Session = {
        sinceMs: now.ms,
        nonce: input.nonce,
        askedMs: now.ms,
        greeted: false,
        welcomed: false,
        isOutdated: false,
        isShort: false,
      };
      return {
        state: {
          ...state,
          phase: { kind: 'up', ...session },
          keepalive: linkIsUp(state.keepalive, now.ms),
        },
        effects: [{ kind: 'greet', nonce: input.nonce }],
      };
    }
    case 'greeted':
      return change({ greeted: true });
    case 'renewed':
      return change({ nonce: input.nonce });
    case 'outdated':
      return change({ isOutdated: true });
    case 'welcomed':
      return change({ welcomed: true, isShort: input.isShort });
    case 'down':
      return phase.kind === 'waiting' ? none : disconnect(state, input.reason, now, input.isSilent);
    case 'fetched': {
      if (state.fetching === 'no') return none;
      const { boot, seqs, isBacklog } = input;
      const spent = isBacklog ? seqs.length : 0;
      const allowance = { events: allowanceAt(state, now) - spent, atMs: now.ms };
      const inFlight = [...state.inFlight, { boot, seqs, sentMs: now.ms, isBacklog }];
      const keepalive = recordSent(state.keepalive, now.ms, now.link.keepaliveMostS);
      return { state: { ...state, fetching: 'no', allowance, inFlight, keepalive }, effects: [] };
    }
    case 'empty': {
      // An event was stored during the read of the outbox, which may have missed it.
      const found = state.asked.backlog > 0 || state.light !== 'green' ? 'all' : 'live';
      const empty = state.fetching === 'yes' ? found : 'nothing';
      return { state: { ...state, fetching: 'no', empty }, effects: [] };
    }
    case 'ack':
      return phase.kind === 'up' && phase.welcomed ? handleAck(state, input.ack, now.ms) : none;
  }
}

/** Counts the traffic of the link and updates the budget light. */
function count(state: DeliveryState, input: DeliveryInput, now: Now): DeliveryState {
  const isUp = state.phase.kind === 'up';
  const everyMs = state.keepalive.everyS * 1000;
  const pings = isUp ? Math.floor((now.ms - state.countedMs) / everyMs) : 0;
  const countedMs = isUp ? state.countedMs + pings * everyMs : now.ms;
  const exchange =
    input.kind === 'up'
      ? trafficCost.connect
      : input.kind === 'fetched'
        ? trafficCost.publish + input.bytes
        : input.kind === 'renewed'
          ? trafficCost.renewal
          : 0;
  const bytes = exchange + pings * trafficCost.keepalive;
  const traffic = bytes === 0 ? state.traffic : addTraffic(state.traffic, bytes, now.utcMs);
  const light = budgetLightOf(traffic, now.link, now.utcMs);
  // Another light allows other events.
  const empty = light === state.light ? state.empty : 'nothing';
  const isSame = traffic === state.traffic && countedMs === state.countedMs && light === state.light;
  return isSame ? state : { ...state, traffic, countedMs, light, empty };
}

/** One step of the session. The budget is counted first, because its light decides which events the rest may request. */
export function stepDelivery(state: DeliveryState, input: DeliveryInput, now: Now): DeliveryStep {
  const due = state.heldUntilMs <= now.ms ? hold(state, now.ms, now.ms) : state;
  return advance(renew(react(count(due, input, now), input, now), now), now);
}

/** Monotonic time at which old events may continue, ms: several at once rather than one by one. */
function paceWakeMs(state: DeliveryState, link: LinkSettings): number {
  const waits = state.empty === 'live' && state.fetching === 'no' && state.light === 'green';
  const oldOnes = state.inFlight.filter((batch) => batch.isBacklog).length;
  if (!waits || oldOnes >= deliveryLimits.backlogWindow) return Number.POSITIVE_INFINITY;
  const wanted = Math.min(most(link), deliveryLimits.paceEvents);
  return state.allowance.atMs + (Math.max(0, wanted - state.allowance.events) / link.backlogPerS) * 1000;
}

/** Monotonic time of the next step, ms; infinity: only inputs matter. */
export function deliveryWakeMs(state: DeliveryState, link: LinkSettings): number {
  const { phase } = state;
  if (phase.kind === 'waiting') return phase.untilMs;
  if (phase.kind === 'connecting') return phase.sinceMs + deliveryLimits.connectTimeoutMs + 1;
  const ackDue = unansweredSinceMs(state) + deliveryLimits.ackTimeoutMs + 1;
  const renewDue = phase.welcomed ? renewDueMs(phase) : Number.POSITIVE_INFINITY;
  const due = Math.min(ackDue, renewDue, paceWakeMs(state, link), state.heldUntilMs);
  return phase.welcomed ? due : Math.min(due, phase.sinceMs + deliveryLimits.ackTimeoutMs + 1);
}
