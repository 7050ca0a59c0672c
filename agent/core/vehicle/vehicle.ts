// The vehicle as one pure machine: an event in, a new state and effects out. Serial bytes, time, commits and MQTT are
// data here, so the very same code runs on a truck, in a load test and in a simulation with a virtual clock.

import { featureNames } from '../../../src/core/event.ts';
import { statusCodes } from '../../../src/core/status-codes.ts';
import type { Ack, Hello } from '../../../src/core/wire.ts';
import { witnessStatesOf } from '../evidence/testimony.ts';
import { epochDeadline } from '../gnss/epochs.ts';
import { deliveryWakeMs } from '../link/delivery.ts';
import { isOpeningNews, type PortOptions, portWakeMs } from '../port.ts';
import { describeProtection } from '../protection/protection.ts';
import { warningWakeMs } from '../protection/warning.ts';
import { bestOrigin, offerSystemTime, trustedUtcMs } from '../timekeeping.ts';
import { watchVehicle } from './vehicle-alarms.ts';
import {
  beginConfig,
  configHello,
  isConfigToken,
  noteConfigAck,
  noteConfigStored,
  noteSlot,
  takeConfig,
  watchConfig,
} from './vehicle-config.ts';
import {
  feedBoard,
  guardOrders,
  lookAround,
  noteCommitted,
  requestLocal,
  takeCommand,
} from './vehicle-control.ts';
import { deliver, takeWelcome, tellDispute } from './vehicle-delivery.ts';
import { takeDiagnosis, watchDiagnosis } from './vehicle-diagnosis.ts';
import { type VehicleEffect, type VehicleEvent } from './vehicle-events.ts';
import { watchEvidence } from './vehicle-evidence.ts';
import { watchFuel } from './vehicle-fuel.ts';
import { takeFirmware, takeMessage } from './vehicle-inbox.ts';
import { stepPortOf, takeBytes } from './vehicle-ports.ts';
import { flushGnss, senseInputs, settleBoard } from './vehicle-sensing.ts';
import { takeServiceCode, watchService } from './vehicle-service.ts';
import {
  commitNow,
  log,
  type Now,
  put,
  record,
  stamp,
  type VehicleConfig,
  type VehicleState,
  vehicleLimits,
  type Work,
} from './vehicle-state.ts';
import { isUpdateToken, stepUpdateOf, takeUpdateNews } from './vehicle-update.ts';
import { carryOutWishes } from './vehicle-zones.ts';

/** All that time alone brings about. */
function passTime(work: Work): void {
  const { monoMs } = work.now;
  for (const name of ['board', 'gnss'] as const) stepPortOf(work, name, { kind: 'time' });
  const { wakeAtMs } = work.state.board;
  if (wakeAtMs !== null && monoMs >= wakeAtMs) feedBoard(work, { kind: 'time', atMs: monoMs });
  senseInputs(work, { kind: 'time', atMs: monoMs });
  flushGnss(work);
  carryOutWishes(work, requestLocal);
  const { pending, pendingSinceMs } = work.state;
  if (pending.length > 0 && monoMs - pendingSinceMs >= work.config.windowMs) commitNow(work, []);
  if (monoMs >= work.state.heartbeatMs) {
    put(work, { heartbeatMs: monoMs + work.state.settings.reporting.heartbeatS * 1000 });
    record(work, { statusCode: statusCodes.HEARTBEAT.code });
  }
  watchEvidence(work);
  watchService(work);
  guardOrders(work);
  if (monoMs >= work.state.tickMs) {
    watchFuel(work, 'unknown');
    put(work, { tickMs: monoMs + vehicleLimits.tickMs, time: offerSystemTime(work.state.time, work.now) });
    lookAround(work);
    watchConfig(work);
    settleBoard(work);
    watchDiagnosis(work);
    stepUpdateOf(work, { kind: 'time' });
    watchVehicle(work, { kind: 'time' });
  }
}

/** Nothing is deleted or confirmed for a broker that has not shown the pinned key on this link. */
function takeAck(work: Work, ack: Ack): void {
  const { phase } = work.state.delivery;
  if (phase.kind !== 'up' || !phase.welcomed)
    return log(work, 'warn', 'ack_before_welcome', { boot: ack.boot });
  deliver(work, { kind: 'ack', ack });
  noteConfigAck(work, ack);
}

function react(work: Work, event: VehicleEvent): void {
  switch (event.kind) {
    case 'start': {
      const { agentVersion, profile, protection } = work.config;
      const attributes = { agentVersion, board: profile.name, ...describeProtection(protection) };
      record(work, { statusCode: statusCodes.INITIALIZED.code, attributes });
      beginConfig(work);
      stepUpdateOf(work, { kind: 'start' });
      break;
    }
    case 'time':
      break;
    case 'stop':
      put(work, { isStopping: true });
      commitNow(work, [stamp(work, { statusCode: statusCodes.SHUTDOWN.code })], { record: true });
      break;
    case 'opened':
      if (isOpeningNews(work.state.ports[event.port])) log(work, 'info', 'port open', { port: event.port });
      stepPortOf(work, event.port, { kind: 'opened' });
      if (event.port === 'board') feedBoard(work, { kind: 'up', atMs: work.now.monoMs });
      break;
    case 'failed':
    case 'down':
      stepPortOf(work, event.port, { kind: event.kind, reason: event.reason });
      break;
    case 'bytes':
      takeBytes(work, event.port, event.bytes);
      break;
    case 'committed':
      if (isConfigToken(event.token)) noteConfigStored(work, event);
      else if (isUpdateToken(event.token)) stepUpdateOf(work, { kind: 'committed', durable: event.durable });
      else noteCommitted(work, event.token, event.durable);
      break;
    case 'delivery':
      deliver(work, event.input);
      break;
    case 'network':
      put(work, { isRoaming: event.isRoaming });
      break;
    case 'welcome':
      takeWelcome(work, event.welcome);
      break;
    case 'ack':
      takeAck(work, event.ack);
      break;
    case 'command':
      takeCommand(work, event.body, event.receipt);
      break;
    case 'firmware':
      takeFirmware(work, event.body);
      break;
    case 'message':
      takeMessage(work, event.body);
      break;
    case 'request':
    case 'unit':
    case 'excerpt':
      takeDiagnosis(work, event);
      break;
    case 'update':
      takeUpdateNews(work, event.news);
      break;
    case 'config':
      takeConfig(work, event.received);
      break;
    case 'slotWritten':
      noteSlot(work, event.slot, event.fault);
      break;
    case 'serviceCode':
      takeServiceCode(work, event.code, 'socket');
      break;
    case 'driverMessage':
      record(work, { statusCode: statusCodes.MESSAGE.code, attributes: { message: event.text } });
      break;
  }
}

/** One step. Time is looked at in every step, whatever the event. */
export function stepVehicle(
  state: VehicleState,
  event: VehicleEvent,
  given: { readonly now: Now; readonly config: VehicleConfig },
): { readonly state: VehicleState; readonly effects: readonly VehicleEffect[] } {
  const work: Work = { state, effects: [], now: given.now, config: given.config, receipts: [] };
  const before = bestOrigin(state.time);
  react(work, event);
  if (!work.state.isStopping) passTime(work);
  if (state.time.disputeMs === null) tellDispute(work);
  deliver(work, { kind: 'time' });
  const origin = bestOrigin(work.state.time);
  if (
    origin !== null &&
    (before === null || before.originMs !== origin.originMs || before.quality !== origin.quality)
  ) {
    // First of all: what is read from the outbox in this very step, on a welcome for one, is to have the new time.
    work.effects.unshift({ kind: 'origin', ...origin });
  }
  return { state: work.state, effects: work.effects };
}

/** Monotonic time of the next step that time alone demands. */
export function vehicleWakeMs(state: VehicleState, config: VehicleConfig): number {
  const gnssOptions: PortOptions = { ...vehicleLimits.port.gnss, silenceMs: config.gnssSilenceMs };
  return Math.min(
    portWakeMs(state.ports.board, vehicleLimits.port.board),
    portWakeMs(state.ports.gnss, gnssOptions),
    state.board.wakeAtMs ?? Number.POSITIVE_INFINITY,
    state.inputs.wakeAtMs ?? Number.POSITIVE_INFINITY,
    epochDeadline(state.epochs) ?? Number.POSITIVE_INFINITY,
    state.pending.length > 0 ? state.pendingSinceMs + config.windowMs : Number.POSITIVE_INFINITY,
    state.heartbeatMs,
    state.tickMs,
    deliveryWakeMs(state.delivery, state.settings.link),
    warningWakeMs(state.warning),
  );
}

/** What the vehicle says of itself on every connect. */
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
  };
}
