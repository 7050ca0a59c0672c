// The vehicle as one pure machine: an event in, a new state and effects out. Serial bytes, time, commits and MQTT are
// data here, so the very same code runs on a truck, in a load test and in a simulation with a virtual clock.

import { featureNames } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Ack, Hello } from '../../../src/core/wire/wire.ts';
import { witnessStatesOf } from '../evidence/testimony.ts';
import { epochDeadline } from '../gnss/epochs.ts';
import { watchVehicle } from '../kernel/vehicle-alarms.ts';
import {
  beginConfig,
  configHello,
  handleConfig,
  handleConfigAck,
  handleConfigStored,
  handleSlotWritten,
  isConfigToken,
  watchConfig,
} from '../kernel/vehicle-config.ts';
import {
  feedBoard,
  guardOrders,
  handleCommand,
  handleCommitted,
  passBoardTime,
  reviewCommands,
} from '../kernel/vehicle-control.ts';
import { deliver, handleWelcome, reportTimeDispute } from '../kernel/vehicle-delivery.ts';
import { type VehicleEffect, type VehicleEvent } from '../kernel/vehicle-events.ts';
import { watchEvidence } from '../kernel/vehicle-evidence.ts';
import { recordGuardFact } from '../kernel/vehicle-guard.ts';
import { handleBytes, portOptions, stepPortOf } from '../kernel/vehicle-ports.ts';
import { attributesOf, flushGnss, reportBoardReturn, senseInputs } from '../kernel/vehicle-sensing.ts';
import { handleServiceCode, watchService } from '../kernel/vehicle-service.ts';
import {
  commitNow,
  inputsAskedMs,
  log,
  put,
  record,
  type StepContext,
  stamp,
  type VehicleState,
  vehicleLimits,
} from '../kernel/vehicle-state.ts';
import { type Now, type PortName, type VehicleConfig } from '../kernel/vehicle-types.ts';
import { deliveryWakeMs } from '../link/delivery.ts';
import { holdUpWatchAfter } from '../protection/hold-up.ts';
import { inputAgeMostMs } from '../protection/interlock.ts';
import { describeProtection } from '../protection/protection.ts';
import { isChangeWaiting } from '../protection/waiting-changes.ts';
import { warningWakeMs } from '../protection/warning.ts';
import { isFirstOpening, portWakeMs } from '../serial-port-state.ts';
import { bestOrigin, offerSystemTime, trustedUtcMs } from '../timekeeping.ts';
import { modules } from './modules.ts';

/** While a restrictive change waits: whether this process was held up until now. An order that was not sent by then is taken back. */
function watchHoldUp(context: StepContext): void {
  const { holdUp } = context.state;
  if (holdUp === null) return;
  const next = holdUpWatchAfter(holdUp, context.now.monoMs);
  put(context, { holdUp: next });
  if (next.endedMs !== holdUp.endedMs) guardOrders(context);
}

/** All that time alone brings about. */
function passTime(context: StepContext): void {
  const { monoMs } = context.now;
  for (const name of ['board', 'gnss'] as const) stepPortOf(context, name, { kind: 'time' });
  const { wakeAtMs } = context.state.board;
  if (wakeAtMs !== null && monoMs >= wakeAtMs) passBoardTime(context);
  senseInputs(context, { kind: 'time', atMs: monoMs });
  flushGnss(context);
  for (const module of modules) module.settled?.(context);
  const { pending, pendingSinceMs } = context.state;
  if (pending.length > 0 && monoMs - pendingSinceMs >= context.config.windowMs) commitNow(context, []);
  if (monoMs >= context.state.heartbeatMs) {
    put(context, { heartbeatMs: monoMs + context.state.settings.reporting.heartbeatS * 1000 });
    record(context, { statusCode: statusCodes.HEARTBEAT.code, ...attributesOf(context, 'heartbeat') });
  }
  watchEvidence(context);
  watchService(context);
  guardOrders(context);
  if (monoMs >= context.state.tickMs) {
    put(context, {
      tickMs: monoMs + vehicleLimits.tickMs,
      time: offerSystemTime(context.state.time, context.now),
    });
    reviewCommands(context);
    watchConfig(context);
    reportBoardReturn(context);
    watchVehicle(context, { kind: 'time' });
    for (const module of modules) module.tick?.(context);
  }
  const { holdUp } = context.state;
  if (!isChangeWaiting(context.state)) put(context, { holdUp: null });
  else if (holdUp === null) put(context, { holdUp: holdUpWatchAfter(null, monoMs) });
}

/** Nothing is deleted or confirmed for a broker that has not proven the pinned key on this link. */
function handleAck(context: StepContext, ack: Ack): void {
  const { phase } = context.state.delivery;
  if (phase.kind !== 'up' || !phase.welcomed)
    return log(context, 'warn', 'ack_before_welcome', { boot: ack.boot });
  deliver(context, { kind: 'ack', ack });
  handleConfigAck(context, ack);
}

function begin(context: StepContext): void {
  const { agentVersion, profile, protection } = context.config;
  const attributes = { agentVersion, board: profile.name, ...describeProtection(protection) };
  record(context, { statusCode: statusCodes.INITIALIZED.code, attributes });
  beginConfig(context);
}

function handleOpened(context: StepContext, port: PortName): void {
  if (isFirstOpening(context.state.ports[port])) log(context, 'info', 'port_open', { port });
  stepPortOf(context, port, { kind: 'opened' });
  if (port === 'board') feedBoard(context, { kind: 'up', atMs: context.now.monoMs });
}

/** Takes the event of its own kind. */
type Handler = (context: StepContext, event: VehicleEvent) => void;

function react(context: StepContext, event: Exclude<VehicleEvent, { kind: 'bytes' }>): void {
  switch (event.kind) {
    case 'start':
      begin(context);
      break;
    case 'time':
      break;
    case 'stop':
      put(context, { isStopping: true });
      commitNow(context, [stamp(context, { statusCode: statusCodes.SHUTDOWN.code })], { record: true });
      break;
    case 'opened':
      handleOpened(context, event.port);
      break;
    case 'failed':
    case 'down':
      stepPortOf(context, event.port, { kind: event.kind, reason: event.reason });
      break;
    case 'committed':
      if (isConfigToken(event.token)) handleConfigStored(context, event);
      else handleCommitted(context, event.token, event.durable);
      break;
    case 'delivery':
      deliver(context, event.input);
      break;
    case 'network':
      put(context, { isRoaming: event.isRoaming });
      break;
    case 'welcome':
      handleWelcome(context, event.welcome);
      break;
    case 'ack':
      handleAck(context, event.ack);
      break;
    case 'command':
      handleCommand(context, event);
      break;
    case 'config':
      handleConfig(context, event.received);
      break;
    case 'slotWritten':
      handleSlotWritten(context, event.slot, event.fault);
      break;
    case 'serviceCode':
      handleServiceCode(context, event.code, 'socket');
      break;
    default: // Of a module.
      break;
  }
  for (const { on } of modules) (on?.[event.kind] as Handler | undefined)?.(context, event);
}

/**
 * One step. Timers are checked in every step, whatever the event, except for bytes that complete nothing while
 * nothing is due: most bytes of a serial line are parts of an answer.
 */
export function stepVehicle(
  state: VehicleState,
  event: VehicleEvent,
  given: { readonly now: Now; readonly config: VehicleConfig },
): { readonly state: VehicleState; readonly effects: readonly VehicleEffect[] } {
  const context: StepContext = {
    state,
    effects: [],
    now: given.now,
    config: given.config,
    modules,
    receipts: [],
  };
  const before = bestOrigin(state.time);
  recordGuardFact(context, { kind: 'step', atMs: given.now.monoMs });
  watchHoldUp(context);
  if (event.kind !== 'bytes') react(context, event);
  else if (!handleBytes(context, event.port, event.bytes) && !isDue(context))
    return { state: context.state, effects: context.effects };
  if (!context.state.isStopping) {
    passTime(context);
    if (areInputsNew(context, state)) reviewCommands(context);
  }
  if (state.time.disputeMs === null) reportTimeDispute(context);
  if (isDeliveryDue(context, state)) deliver(context, { kind: 'time' });
  const origin = bestOrigin(context.state.time);
  if (
    origin !== null &&
    (before === null || before.originMs !== origin.originMs || before.quality !== origin.quality)
  ) {
    // First of all: a read of the outbox in this very step, on a welcome for one, must use the new time.
    context.effects.unshift({ kind: 'origin', ...origin });
  }
  return { state: context.state, effects: context.effects };
}

/** A slow board has answered: what waits for a reading of the inputs is decided while it is new. */
function areInputsNew({ state, config, now }: StepContext, before: VehicleState): boolean {
  if (state.board.polls === before.board.polls) return false;
  const askedMs = inputsAskedMs(before, config);
  const heldUpMs = state.holdUp?.endedMs ?? Number.NEGATIVE_INFINITY;
  const wasOld = now.monoMs - askedMs > inputAgeMostMs({ nowMs: now.monoMs, heldUpMs });
  return wasOld && inputsAskedMs(state, config) > askedMs;
}

/** Whether the session may have something to do: it, the time or the settings changed, it waited for this moment, or a tick passed. */
function isDeliveryDue({ state, now }: StepContext, before: VehicleState): boolean {
  const { delivery, settings, time, tickMs } = state;
  const hasChanged = delivery !== before.delivery || time !== before.time || settings !== before.settings;
  return hasChanged || tickMs !== before.tickMs || now.monoMs >= deliveryWakeMs(delivery, settings.link);
}

function isDue({ state, config, now }: StepContext): boolean {
  return now.monoMs >= vehicleWakeMs(state, config);
}

/** Monotonic time of the next step that time alone demands. */
export function vehicleWakeMs(state: VehicleState, config: VehicleConfig): number {
  return Math.min(
    portWakeMs(state.ports.board, portOptions(config, 'board')),
    portWakeMs(state.ports.gnss, portOptions(config, 'gnss')),
    state.board.wakeAtMs ?? Number.POSITIVE_INFINITY,
    state.inputs.wakeAtMs ?? Number.POSITIVE_INFINITY,
    epochDeadline(state.epochs) ?? Number.POSITIVE_INFINITY,
    state.pending.length > 0 ? state.pendingSinceMs + config.windowMs : Number.POSITIVE_INFINITY,
    state.heartbeatMs,
    state.tickMs,
    state.holdUp?.dueMs ?? Number.POSITIVE_INFINITY,
    deliveryWakeMs(state.delivery, state.settings.link),
    warningWakeMs(state.warning),
  );
}

/** The content of `hello` on every connect. */
export function helloOf(
  state: VehicleState,
  config: VehicleConfig,
  given: { readonly nonce: string; readonly nowMs: number },
): Hello {
  const { nonce, nowMs } = given;
  return {
    boot: config.boot,
    nonce,
    agentVersion: config.agentVersion,
    features: featureNames.filter((name) => config.profile.relays[name] !== undefined),
    sensors: [...Object.keys(config.profile.inputs), ...Object.keys(config.profile.analogs)],
    witnesses: witnessStatesOf(state.evidence, { atMs: nowMs, utcMs: trustedUtcMs(state.time, nowMs) }),
    ...configHello(state),
    commandCounter: state.commands.record.counter,
    timeQuality: bestOrigin(state.time)?.quality ?? 'none',
    ...Object.assign({}, ...modules.map((module) => module.hello?.(state))),
  };
}
