// One step of a vehicle in progress: the helpers that kernel and modules share. Pure.

import {
  eventLimits,
  type FeatureName,
  type FleetEvent,
  featureNames,
  type InputName,
  inputNames,
} from '../../../src/core/events/event.ts';
import { statusPriority } from '../../../src/core/events/status-codes.ts';
import { inputValue, readingOf } from '../board/inputs.ts';
import type { Sensed } from '../evidence/contact.ts';
import { type Evidence, testimonyOf } from '../evidence/testimony.ts';
import type { Fix } from '../gnss/epochs.ts';
import { type StampedEvent } from '../outbox/stamped-event.ts';
import type { EventDraft } from '../protection/command-record.ts';
import { warningEvidence } from '../protection/warning.ts';
import type { PortOptions } from '../serial-port-state.ts';
import {
  bestOrigin,
  isServerBehind,
  isTimeConfirmed,
  latestUtcMs,
  newestUtcMsAt,
  trustedUtcMs,
  upMsAt,
} from '../timekeeping.ts';
import { presentZone } from '../zones/zone-state.ts';
import { positionFields } from './event-position.ts';
import type { Attributes, StepContext, VehicleState } from './module.ts';
import type { PortName, VehicleConfig, VehicleMemory } from './vehicle-types.ts';

export type { StepContext, VehicleState } from './module.ts';

export const vehicleLimits = {
  /** A fix older than this is not attached to an event. */
  fixAgeMs: 10_000,
  /** A read-back of the relays older than this does not prove that the board answers. */
  relaysAgeMs: 15_000,
  /** Positions held back at most, whatever the window. */
  pending: 200,
  /** Period of the evaluation of evidence while a command waits or a relay differs. */
  tickMs: 500,
  port: {
    // Longer than the pause after which a refused range is polled again: a wrong profile is no lost port. A port that
    // was plugged in again is found within a second; a try costs next to nothing.
    board: { silenceMs: 6500, uselessMs: 30_000, baseMs: 500, capMs: 1000 },
    gnss: { silenceMs: 5000, uselessMs: 30_000, baseMs: 500, capMs: 1000 },
  } satisfies Record<PortName, PortOptions>,
} as const;

/** True when a piece differs from the state. A loop without a closure: it runs several times in every step. */
function isChange(state: VehicleState, piece: Partial<VehicleState>): boolean {
  for (const name of Object.keys(piece) as (keyof VehicleState)[])
    if (piece[name] !== state[name]) return true;
  return false;
}

/** Replaces pieces of the state, which is copied once a step, and not at all while every piece is unchanged. */
export function put(context: StepContext, piece: Partial<VehicleState>): void {
  if (!isChange(context.state, piece)) return;
  if (context.state !== context.copy) {
    context.copy = { ...context.state };
    context.state = context.copy;
  }
  Object.assign(context.copy, piece);
  context.proven = undefined;
}

export function log(
  context: StepContext,
  level: 'info' | 'warn' | 'error',
  event: string,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  context.effects.push({ kind: 'log', level, event, fields });
}

/** A digital input as it is now, debounced. */
export function sensed(state: VehicleState, name: InputName): Sensed {
  return inputValue(state.inputs, name);
}

/** Current evidence; computed once for each state of a step, as several machines ask for it. */
export function evidenceOf(context: StepContext): Evidence {
  context.proven ??= readEvidence(context);
  return context.proven;
}

/** A module's veto of a relay change, such as the vehicle bus. */
function vetoEvidence({ state, modules }: StepContext, atMs: number): Pick<Evidence, 'bus'> {
  let bus: Evidence['bus'];
  for (const vetoAt of modules.veto) {
    const veto = vetoAt(state, atMs);
    if (veto !== null)
      bus = {
        isMoving: veto.isMoving || bus?.isMoving === true,
        isEngineRunning: veto.isEngineRunning || bus?.isEngineRunning === true,
      };
  }
  return bus === undefined ? {} : { bus };
}

/** Last request of the inputs that are witnesses; when it is unknown, none of them counts. */
export function inputsAskedMs(state: VehicleState, { profile }: VehicleConfig): number {
  let askedMs = Number.POSITIVE_INFINITY;
  for (const name of ['ignition', 'motion'] as const) {
    if (readingOf(state.inputs, name).reading === 'unknown') continue;
    const poll = state.board.polls[profile.inputs[name]?.poll ?? ''];
    askedMs = Math.min(askedMs, poll?.askedMs ?? Number.NEGATIVE_INFINITY);
  }
  return askedMs;
}

function readEvidence(context: StepContext): Evidence {
  const { state, now, config } = context;
  const readMs = state.relaysReadMs;
  const { monoMs: atMs } = now;
  const utcMs = trustedUtcMs(state.time, atMs);
  return {
    ...testimonyOf(state.evidence, { atMs, utcMs }),
    nowMs: atMs,
    panic: sensed(state, 'panic'),
    trustedUtcMs: utcMs,
    latestUtcMs: latestUtcMs(state.time, atMs),
    isTimeBehind: state.time.isGnssBehind,
    isServerBehind: isServerBehind(state.time, atMs),
    isTimeConfirmed: isTimeConfirmed(state.time, atMs),
    boardAlive: readMs !== null && atMs - readMs <= vehicleLimits.relaysAgeMs,
    isLineDown: !state.board.isLinkUp,
    askedMs: inputsAskedMs(state, config),
    heldUpMs: state.holdUp?.endedMs ?? atMs,
    ...vetoEvidence(context, atMs),
    ...(config.profile.outputs?.warning === undefined
      ? {}
      : { warning: warningEvidence(state.warning, atMs) }),
  };
}

/** Inputs as they were at that moment. What has changed since is left out: a stop is known only when it has lasted, and the key may be off by then. */
function inputsAt(state: VehicleState, atMs: number): FleetEvent['inputs'] {
  const known: Partial<Record<InputName, boolean>> = {};
  for (const name of inputNames) {
    const { value, sinceMs } = sensed(state, name);
    if (value !== null && sinceMs <= atMs) known[name] = value;
  }
  return known;
}

function knownOutputs(state: VehicleState): FleetEvent['outputs'] {
  const known: Partial<Record<FeatureName, boolean>> = {};
  for (const name of featureNames) {
    const reading = state.relays.readings[name];
    if (reading !== undefined && state.relaysReadMs !== null) known[name] = reading.on;
  }
  return known;
}

/** The last plausible fix if it belongs to that moment. */
function fixAt({ fix }: VehicleState, atMs: number): Fix | null {
  return fix === null || Math.abs(atMs - fix.atMonoMs) > vehicleLimits.fixAgeMs ? null : fix;
}

/**
 * The attributes of a draft with those that modules add, such as the driver's key. Positions and heartbeats get none, as it would
 * double their size; nor do events without place for more.
 */
function withModules({ state, modules }: StepContext, { statusCode, attributes }: EventDraft) {
  if (statusPriority(statusCode) === 3) return {};
  let named: Attributes | undefined;
  for (const attributesOf of modules.eventAttributes) {
    const more = attributesOf(state);
    const next = more === null ? null : { ...attributes, ...named, ...more };
    if (next !== null && JSON.stringify(next).length <= eventLimits.attributesBytes) named = next;
  }
  return named === undefined ? {} : { attributes: named };
}

/** Gives a draft its time, place, and the inputs of that time. `fix`: where it was then, if the caller knows better. */
export function stamp(
  context: StepContext,
  draft: EventDraft,
  atMs = context.now.monoMs,
  fix = fixAt(context.state, atMs),
): StampedEvent {
  const { state } = context;
  const upMs = upMsAt(state.time, atMs);
  const origin = bestOrigin(state.time);
  const { fuel } = state.analogs;
  const event = {
    timestamp: origin === null ? null : origin.originMs + upMs,
    upMs,
    timeQuality: origin?.quality ?? 'none',
    odometer: Math.round(state.reporting.odometerM) / 1000,
    ...(typeof fuel === 'number' ? { fuelLevel: Math.round(fuel * 1000) / 1000 } : {}),
    inputs: inputsAt(state, atMs) ?? {},
    ...positionFields(fix),
    ...(fix === null ? {} : presentZone(state.zones)),
    ...draft,
    ...withModules(context, draft),
    outputs: { ...knownOutputs(state), ...draft.outputs },
  } as const;
  return { event, priority: statusPriority(draft.statusCode) };
}

/** Commits events now, together with every waiting position, the vehicle's memory and, on request, the records. */
export function commitNow(
  context: StepContext,
  events: readonly StampedEvent[],
  with_: {
    readonly token?: string;
    readonly record?: boolean;
    readonly inbox?: boolean;
    readonly requests?: boolean;
  } = {},
): void {
  const { state } = context;
  let memory: VehicleMemory = {
    ...state.memory,
    odometerM: Math.round(state.reporting.odometerM),
    traffic: state.delivery.traffic,
    evidence: state.evidence.record,
    newestUtcMs: newestUtcMsAt(state.time, context.now.monoMs),
  };
  for (const remember of context.modules.remember) memory = { ...memory, ...remember(state) };
  context.effects.push({
    kind: 'commit',
    events: [...state.pending, ...events],
    record: with_.record === true ? state.commands.record : null,
    memory,
    ...(with_.inbox === true ? { inbox: state.inbox, update: state.update.record } : {}),
    ...(with_.requests === true ? { requests: state.requests.record } : {}),
    zones: state.zones.record,
    token: with_.token ?? null,
    receipts: context.receipts.splice(0),
  });
  put(context, { pending: [], memory });
}

/** Records one fact: at once, or within the window if it is of the lowest class. */
export function record(
  context: StepContext,
  draft: EventDraft,
  atMs = context.now.monoMs,
  fix?: Fix | null,
): void {
  const stamped = fix === undefined ? stamp(context, draft, atMs) : stamp(context, draft, atMs, fix);
  const { pending } = context.state;
  const waits =
    stamped.priority === 3 && context.config.windowMs > 0 && pending.length < vehicleLimits.pending;
  if (!waits) return commitNow(context, [stamped]);
  const pendingSinceMs = pending.length === 0 ? context.now.monoMs : context.state.pendingSinceMs;
  put(context, { pending: [...pending, stamped], pendingSinceMs });
}
