// One step of a vehicle in progress: the helpers that kernel and modules share. Pure.

import {
  eventLimits,
  type FeatureName,
  type FleetEvent,
  featureNames,
  type InputName,
  inputNames,
} from '../../../src/core/events/event.ts';
import { statusCodes, statusPriority } from '../../../src/core/events/status-codes.ts';
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
import { positionFields } from './event-position.ts';
import type { Attributes, StepContext, VehicleState } from './module.ts';
import type { ModuleRows } from './module-slots.ts';
import type { PortName, UnitCounts, VehicleConfig, VehicleMemory } from './vehicle-types.ts';

export type { StepContext, VehicleState } from './module.ts';

export const vehicleLimits = {
  /** A fix older than this is not attached to an event. */
  fixAgeMs: 10_000,
  /** A read-back of the relays older than this does not prove that the board answers. */
  relaysAgeMs: 15_000,
  /** Positions held back at most, whatever the window. */
  pending: 200,
  /** A change of state waits this long for others that can share its packet, and never longer than positions may. */
  companyMs: 2000,
  /** How often evidence is evaluated while a command waits or a relay differs. */
  tickMs: 500,
  port: {
    // Longer than the pause after which a refused range is polled again: a wrong profile is no lost port. A port that
    // was plugged in again is found within a second; a try costs next to nothing.
    board: { silenceMs: 6500, uselessMs: 30_000, baseMs: 500, capMs: 1000 },
    gnss: { silenceMs: 5000, uselessMs: 30_000, baseMs: 500, capMs: 1000 },
  } satisfies Record<PortName, PortOptions>,
} as const;

/** Whether a piece differs from what the state holds. A loop without a closure: it runs several times in every step. */
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

/** Counts for the next Diagnostic. */
export function addCount(context: StepContext, name: keyof UnitCounts, more = 1): void {
  const { counts } = context.state;
  if (more !== 0) put(context, { counts: { ...counts, [name]: counts[name] + more } });
}

/** Signed for this vehicle and this boot: a replayed old envelope belongs to another boot. */
export function isOurs(
  { config }: StepContext,
  { accountID, deviceID, boot }: Pick<VehicleConfig, 'accountID' | 'deviceID' | 'boot'>,
): boolean {
  return accountID === config.accountID && deviceID === config.deviceID && boot === config.boot;
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

/** What is proven now; computed once for each state of a step, as several machines ask for it. */
export function evidenceOf(context: StepContext): Evidence {
  context.proven ??= readEvidence(context);
  return context.proven;
}

/** What a module knows that speaks against a relay change, such as the vehicle bus. */
function vetoEvidence({ state, modules }: StepContext, atMs: number): Pick<Evidence, 'bus'> {
  let bus: Evidence['bus'];
  for (const module of modules) {
    const veto = module.veto?.(state, atMs) ?? null;
    if (veto !== null)
      bus = {
        isMoving: veto.isMoving || bus?.isMoving === true,
        isEngineRunning: veto.isEngineRunning || bus?.isEngineRunning === true,
      };
  }
  return bus === undefined ? {} : { bus };
}

/** When the board was last asked for the inputs that are witnesses; of one that is not known nothing is believed. */
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
 * The attributes of a draft with those that modules add, such as the driver's key. Positions and heartbeats go without, which would double
 * their size. So does an event whose attributes have no place left.
 */
function withModules({ state, modules }: StepContext, { statusCode, attributes }: EventDraft) {
  if (statusPriority(statusCode) === 3) return {};
  let named: Attributes | undefined;
  for (const module of modules) {
    const more = module.eventAttributes?.(state) ?? null;
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
  let place: Pick<FleetEvent, 'geozoneID'> = {};
  if (fix !== null) for (const module of context.modules) place = { ...place, ...module.place?.(state) };
  const event = {
    timestamp: origin === null ? null : origin.originMs + upMs,
    upMs,
    timeQuality: origin?.quality ?? 'none',
    odometer: Math.round(state.reporting.odometerM) / 1000,
    ...(typeof fuel === 'number' ? { fuelLevel: Math.round(fuel * 1000) / 1000 } : {}),
    inputs: inputsAt(state, atMs) ?? {},
    ...positionFields(fix),
    ...place,
    ...draft,
    ...withModules(context, draft),
    outputs: { ...knownOutputs(state), ...draft.outputs },
  } as const;
  return { event, priority: statusPriority(draft.statusCode) };
}

/** People wait for these, or the process does: they leave at once, as alarms do. */
const answers: ReadonlySet<number> = new Set(
  [
    statusCodes.QUERY,
    statusCodes.DIAGNOSTIC,
    statusCodes.MESSAGE_RECEIVED,
    statusCodes.CONFIG_START,
    statusCodes.CONFIG_COMPLETE,
    statusCodes.CONFIG_FAILED,
    statusCodes.CONFIG_RESET,
    statusCodes.SHUTDOWN,
  ].map(({ code }) => code),
);

/** Monotonic time until which a commit of these events and all that wait may go without being sent, ms. */
function sendByMs(
  { state, config, now }: Pick<StepContext, 'state' | 'config' | 'now'>,
  events: readonly StampedEvent[],
): number {
  const waits = ({ priority, event }: StampedEvent): boolean =>
    priority === 2 && !answers.has(event.statusCode);
  const companyMs = Math.min(vehicleLimits.companyMs, config.windowMs);
  const pendingMs =
    state.pending.length > 0 ? state.pendingSinceMs + config.windowMs : Number.POSITIVE_INFINITY;
  return events.reduce(
    (dueMs, event) => Math.min(dueMs, now.monoMs + (waits(event) ? companyMs : 0)),
    pendingMs,
  );
}

interface CommitOptions {
  readonly token?: string;
  readonly record?: boolean;
}

/** Commits drafts of this moment. */
export function commitDrafts(
  context: StepContext,
  drafts: readonly EventDraft[],
  options?: CommitOptions,
): void {
  const events = drafts.map((draft) => stamp(context, draft));
  commitNow(context, events, options);
}

/** Commits events now, together with every position that waits, the vehicle's memory and, if asked for, the records. */
export function commitNow(
  context: StepContext,
  events: readonly StampedEvent[],
  with_: CommitOptions = {},
): void {
  const { state } = context;
  let memory: VehicleMemory = {
    ...state.memory,
    odometerM: Math.round(state.reporting.odometerM),
    traffic: state.delivery.traffic,
    evidence: state.evidence.record,
    newestUtcMs: newestUtcMsAt(state.time, context.now.monoMs),
  };
  let rows: Partial<ModuleRows> = {};
  for (const module of context.modules) {
    memory = { ...memory, ...module.remember?.(state) };
    rows = { ...rows, ...module.rows?.(state) };
  }
  context.effects.push({
    kind: 'commit',
    events: [...state.pending, ...events],
    sendByMs: sendByMs(context, events),
    record: with_.record === true ? state.commands.record : null,
    memory,
    rows,
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
