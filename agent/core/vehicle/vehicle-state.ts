// The whole state of a vehicle and one step of it in progress: the types of `vehicle.ts` and the helpers shared by
// its parts. Events and effects are in `vehicle-events.ts`. Types and pure helpers only.

import {
  eventLimits,
  type FeatureName,
  type FleetEvent,
  featureNames,
  type InputName,
  inputNames,
} from '../../../src/core/events/event.ts';
import { statusPriority } from '../../../src/core/events/status-codes.ts';
import type { Settings } from '../../../src/core/settings/settings.ts';
import type { AlarmsState } from '../alarms/alarms.ts';
import type { AnalogName } from '../board/board-profile.ts';
import type { BoardReportState } from '../board/board-report.ts';
import type { BoardState } from '../board/board-types.ts';
import { type InputsState, inputValue, readingOf } from '../board/inputs.ts';
import type { LoopbackState } from '../board/loopback.ts';
import type { BusReading } from '../bus/bus-reading.ts';
import type { BusReportState } from '../bus/bus-report.ts';
import { busVetoAt } from '../bus/bus-veto.ts';
import type { ConfigState } from '../config/config-types.ts';
import type { DriverState } from '../driver/driver.ts';
import type { Sensed } from '../evidence/contact.ts';
import { type EvidenceState } from '../evidence/evidence-state.ts';
import { type Evidence, testimonyOf } from '../evidence/testimony.ts';
import { fuelMemoryOf } from '../fuel/fuel-memory.ts';
import type { FuelState } from '../fuel/fuel-types.ts';
import type { EpochState, Fix } from '../gnss/epochs.ts';
import type { NmeaState } from '../gnss/nmea.ts';
import type { PlausibilityState } from '../gnss/plausibility.ts';
import type { ReceiverFacts } from '../gnss/receiver-facts.ts';
import type { DeliveryState } from '../link/delivery.ts';
import type { InboxRecord } from '../link/inbox.ts';
import type { RequestsState } from '../link/requests.ts';
import type { LlsReading } from '../lls/lls.ts';
import type { ModemSight } from '../modem/modem-reading.ts';
import type { ModemReportState } from '../modem/modem-report.ts';
import { type StampedEvent } from '../outbox/stamped-event.ts';
import type { CommandsState } from '../protection/command-draft.ts';
import type { EventDraft } from '../protection/command-record.ts';
import type { HoldUpWatch } from '../protection/hold-up.ts';
import type { RelaysState } from '../protection/relays.ts';
import { type WarningState, warningEvidence } from '../protection/warning.ts';
import type { ReportingState } from '../reporting.ts';
import type { PortOptions, PortState } from '../serial-port-state.ts';
import type { SleepState } from '../sleep/sleep.ts';
import {
  bestOrigin,
  isServerBehind,
  isTimeConfirmed,
  latestUtcMs,
  newestUtcMsAt,
  type TimeState,
  trustedUtcMs,
  upMsAt,
} from '../timekeeping.ts';
import type { UpdateState } from '../update/update-types.ts';
import { presentZone, type VehicleZones } from '../zones/zone-state.ts';
import { positionFields } from './event-position.ts';
import type { VehicleEffect } from './vehicle-events.ts';
import type {
  DiagnosisState,
  Now,
  PortName,
  ServiceState,
  VehicleConfig,
  VehicleMemory,
} from './vehicle-types.ts';

export interface VehicleState {
  /** What holds now: the installer's, with the signed configuration laid over them. */
  readonly settings: Settings;
  readonly config: ConfigState;
  readonly time: TimeState;
  readonly ports: Readonly<Record<PortName, PortState>>;
  readonly board: BoardState;
  readonly inputs: InputsState<InputName>;
  /** Analog signals as last read; null = outside of its valid range, absent = never read or the board is lost. */
  readonly analogs: Readonly<Partial<Record<AnalogName, number | null>>>;
  /** When each was last read, monotonic. */
  readonly analogsReadMs: Readonly<Partial<Record<AnalogName, number>>>;
  readonly fuel: FuelState;
  /** What the vehicle bus showed last; null: none is read. */
  readonly bus: BusReading | null;
  readonly busReport: BusReportState;
  /** Who drives; null: no reader of keys is configured. */
  readonly driver: DriverState | null;
  /** What the digital fuel sender showed last; null: nothing yet. Its level is among the analogs. */
  readonly fuelSender: LlsReading | null;
  readonly nmea: NmeaState;
  readonly epochs: EpochState;
  readonly plausibility: PlausibilityState;
  readonly receiver: ReceiverFacts;
  readonly evidence: EvidenceState;
  /** The last plausible fix. */
  readonly fix: Fix | null;
  readonly reporting: ReportingState;
  readonly zones: VehicleZones;
  readonly alarms: AlarmsState;
  readonly commands: CommandsState;
  readonly relays: RelaysState;
  readonly warning: WarningState;
  /** At rest and without an answer for ever where the profile has none. */
  readonly loopback: LoopbackState;
  readonly service: ServiceState;
  /** Number of the next local command of this boot. */
  readonly nextLocal: number;
  /** Last read-back of the relays, and whether the next one is the first since the board came up. */
  readonly relaysReadMs: number | null;
  readonly isBoardFresh: boolean;
  readonly boardReport: BoardReportState;
  /** From the modem; unknown counts as the home network. */
  readonly isRoaming: boolean;
  /** Modem and SIM as read last; null: none was asked yet. */
  readonly modem: ModemSight | null;
  readonly modemReport: ModemReportState;
  readonly memory: VehicleMemory;
  readonly inbox: InboxRecord;
  readonly requests: RequestsState;
  readonly diagnosis: DiagnosisState;
  readonly update: UpdateState;
  readonly sleep: SleepState;
  readonly delivery: DeliveryState;
  /** Positions that wait for their window. */
  readonly pending: readonly StampedEvent[];
  readonly pendingSinceMs: number;
  readonly heartbeatMs: number;
  readonly tickMs: number;
  /** Kept while a restrictive change waits; else null. */
  readonly holdUp: HoldUpWatch | null;
  /** Fixes since the start, plausible or not. */
  readonly fixes: number;
  /** No new work is started; stored events are still delivered. */
  readonly isStopping: boolean;
}

/** One step in progress: a state to be replaced piece by piece by `put`, and the effects so far. */
export interface StepContext {
  state: VehicleState;
  /** The copy that this step has made of the state: later pieces go into it. A step must not keep the whole state beyond a `put`. */
  copy?: VehicleState;
  readonly effects: VehicleEffect[];
  readonly now: Now;
  readonly config: VehicleConfig;
  readonly receipts: number[];
  /** The evidence of the state as it is now, once it was asked for. */
  proven?: Evidence | undefined;
}

export const vehicleLimits = {
  /** A fix older than this is not attached to an event. */
  fixAgeMs: 10_000,
  /** A read-back of the relays older than this does not prove that the board answers. */
  relaysAgeMs: 15_000,
  /** Positions held back at most, whatever the window. */
  pending: 200,
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

function busEvidence({ bus }: VehicleState, atMs: number): Pick<Evidence, 'bus'> {
  const veto = busVetoAt(bus, atMs);
  return veto === null ? {} : { bus: veto };
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

function readEvidence({ state, now, config }: StepContext): Evidence {
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
    ...busEvidence(state, atMs),
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
 * The attributes of a draft with the driver's key. Positions and heartbeats go without it, which would double their size: they belong to
 * the driver of the event before. So does an event whose attributes have no place left.
 */
function withDriver({ driver }: VehicleState, { statusCode, attributes }: EventDraft) {
  const driverUniqueId = driver?.id ?? null;
  if (driverUniqueId === null || statusPriority(statusCode) === 3) return {};
  const named = { ...attributes, driverUniqueId };
  return JSON.stringify(named).length > eventLimits.attributesBytes ? {} : { attributes: named };
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
    ...withDriver(state, draft),
    outputs: { ...knownOutputs(state), ...draft.outputs },
  } as const;
  return { event, priority: statusPriority(draft.statusCode) };
}

/** Commits events now, together with every position that waits, the vehicle's memory and, if asked for, the records. */
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
  const memory: VehicleMemory = {
    ...state.memory,
    odometerM: Math.round(state.reporting.odometerM),
    traffic: state.delivery.traffic,
    fuel: fuelMemoryOf(state.fuel),
    evidence: state.evidence.record,
    newestUtcMs: newestUtcMsAt(state.time, context.now.monoMs),
    ...(state.driver === null ? {} : { driver: state.driver.id }),
    ...(state.bus === null ? {} : { busCounters: state.busReport.senders }),
  };
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
