// The vehicle as one pure machine: an event in, a new state and effects out. Serial bytes, time, commits and MQTT are
// data here, so the very same code runs on a truck, in a load test and in a simulation with a virtual clock.
import { featureNames, type InputName, inputNames } from '../../src/core/event.ts';
import { statusCodes } from '../../src/core/status-codes.ts';
import type { Hello, Welcome } from '../../src/core/wire.ts';
import { parseAlarmMemory } from './alarms/alarm-memory.ts';
import { createAlarms } from './alarms/alarms.ts';
import { createBoard } from './board.ts';
import { createBoardNews } from './board-news.ts';
import { createCommandsState } from './command-draft.ts';
import { type CommandRecord } from './command-record.ts';
import { noSlots, type SlotFiles } from './config-record.ts';
import { createDelivery, type DeliveryInput, deliveryWakeMs, stepDelivery } from './delivery.ts';
import { createEpochState, epochDeadline } from './epochs.ts';
import { createSpeedState } from './evidence.ts';
import { createFuel, parseFuelMemory } from './fuel-memory.ts';
import { createInboxRecord, type InboxRecord } from './inbox.ts';
import { createInputs, type InputRule } from './inputs.ts';
import { createNmeaState } from './nmea.ts';
import { createPlausibilityState } from './plausibility.ts';
import {
  createPort,
  isLossNews,
  isOpeningNews,
  type PortInput,
  type PortOptions,
  portWakeMs,
  stepPort,
} from './port.ts';
import { describeProtection, rulesOf } from './protection.ts';
import { createRelaysState } from './relays.ts';
import { createReporting } from './reporting.ts';
import { createRequests, parseRequestRecord } from './requests.ts';
import { bestOrigin, createTimeState, offerServerTime, offerSystemTime, upMsAt } from './timekeeping.ts';
import { watchVehicle } from './vehicle-alarms.ts';
import {
  beginConfig,
  configHello,
  isConfigToken,
  noteConfigAck,
  noteConfigStored,
  noteSlot,
  startVehicleConfig,
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
import { createDiagnosis, noteCount, noteLoss, takeDiagnosis, watchDiagnosis } from './vehicle-diagnosis.ts';
import { watchFuel } from './vehicle-fuel.ts';
import { takeFirmware, takeMessage } from './vehicle-inbox.ts';
import { flushGnss, senseInputs, settleBoard, takeGnssBytes, tellBoard } from './vehicle-sensing.ts';
import { createService, takeServiceCode, watchService } from './vehicle-service.ts';
import {
  commitNow,
  log,
  type Now,
  type PortName,
  put,
  record,
  stamp,
  type VehicleConfig,
  type VehicleEffect,
  type VehicleEvent,
  type VehicleMemory,
  type VehicleState,
  vehicleLimits,
  type Work,
} from './vehicle-state.ts';
import { carryOutWishes } from './vehicle-zones.ts';
import { createWarning, warningWakeMs } from './warning.ts';
import { createVehicleZones } from './zones/zone-state.ts';

/** An input without a good sample for this many poll periods, but at least this long, is unknown. */
const stalePeriods = 5;
const staleLeastMs = 1000;

function inputRules(config: VehicleConfig): Partial<Record<InputName, InputRule>> {
  const rules: Partial<Record<InputName, InputRule>> = {};
  for (const name of inputNames) {
    const signal = config.profile.inputs[name];
    if (signal === undefined) continue;
    const periodMs = config.profile.polls[signal.poll]?.periodMs ?? 0;
    const staleMs = Math.max(staleLeastMs, periodMs * stalePeriods);
    rules[name] = {
      invert: signal.invert,
      debounceMs: signal.debounceMs,
      staleMs,
      immediate: name === 'panic' || name === 'crash',
    };
  }
  return rules;
}

/** A vehicle that has just been switched on, with what it remembers. */
export function createVehicle(
  config: VehicleConfig,
  given: {
    readonly now: Now;
    readonly bootMonoMs: number;
    readonly record: CommandRecord;
    readonly memory: VehicleMemory;
    readonly inbox?: InboxRecord;
    /** What was kept of answered requests. */
    readonly requests?: unknown;
    /** What was kept of the geozones; the zones themselves come by `applyZones`. */
    readonly zones?: unknown;
    readonly slots?: SlotFiles;
    readonly connectDelayMs: number;
  },
): VehicleState {
  const { now, memory } = given;
  const { monoMs } = now;
  const time = createTimeState({ bootMonoMs: given.bootMonoMs, earliestUtcMs: config.earliestUtcMs });
  const started = startVehicleConfig(given.slots ?? noSlots, config, monoMs);
  return {
    settings: started.settings,
    config: started.state,
    time: offerSystemTime(time, now),
    ports: { board: createPort(monoMs), gnss: createPort(monoMs) },
    board: createBoard(config.profile),
    inputs: createInputs(inputRules(config), monoMs),
    analogs: {},
    fuel: createFuel(parseFuelMemory(memory.fuel), monoMs),
    nmea: createNmeaState(),
    epochs: createEpochState({ earliestUtcMs: config.earliestUtcMs }),
    plausibility: createPlausibilityState(),
    speed: createSpeedState(),
    fix: null,
    reporting: createReporting(memory.odometerM),
    zones: createVehicleZones(given.zones),
    alarms: createAlarms(parseAlarmMemory(memory.alarms), monoMs),
    commands: createCommandsState(given.record, rulesOf(config.protection, config.profile)),
    relays: createRelaysState({
      wasIgnitionOn: memory.inputs.ignition === true,
      hasDriven: given.record.hasDriven === true,
    }),
    warning: createWarning(),
    service: createService(given.record.service, monoMs),
    nextLocal: 1,
    relaysReadMs: null,
    isBoardFresh: true,
    boardNews: createBoardNews(monoMs, memory.isBoardLost === true),
    isRoaming: false,
    memory,
    inbox: given.inbox ?? createInboxRecord(),
    requests: createRequests(parseRequestRecord(given.requests)),
    diagnosis: createDiagnosis(monoMs),
    delivery: createDelivery(monoMs, {
      firstDelayMs: given.connectDelayMs,
      traffic: memory.traffic,
      keepaliveS: config.broker.keepaliveS,
    }),
    pending: [],
    pendingSinceMs: monoMs,
    heartbeatMs: monoMs + started.settings.reporting.heartbeatS * 1000,
    tickMs: monoMs,
    fixes: 0,
    isStopping: false,
  };
}

function portOptions(work: Work, name: PortName): PortOptions {
  const options = vehicleLimits.port[name];
  return name === 'gnss' ? { ...options, silenceMs: work.config.gnssSilenceMs } : options;
}

function stepPortOf(work: Work, name: PortName, input: PortInput): void {
  const options = portOptions(work, name);
  const { monoMs, fraction } = work.now;
  const before = work.state.ports[name];
  const { state, effects } = stepPort(before, input, { ms: monoMs, fraction, options });
  put(work, { ports: { ...work.state.ports, [name]: state } });
  for (const effect of effects) {
    if (effect.kind === 'open') work.effects.push({ kind: 'openPort', port: name });
    if (effect.kind === 'close') work.effects.push({ kind: 'closePort', port: name });
    if (effect.kind !== 'lost') continue;
    // The first failure after a working link is news; the retries that follow are not.
    if (isLossNews(before)) {
      log(work, 'warn', 'port lost', { port: name, reason: effect.reason });
      noteLoss(work, name);
    }
    if (name !== 'board') continue;
    feedBoard(work, { kind: 'down', atMs: monoMs, reason: effect.reason });
    tellBoard(work, 'lost', effect.reason);
  }
}

/** Whether a whole and sound answer is there now. */
function hearBoard(work: Work, bytes: Uint8Array): boolean {
  feedBoard(work, { kind: 'bytes', bytes, atMs: work.now.monoMs });
  return work.state.board.master.phase.kind === 'settling';
}

function takeBytes(work: Work, name: PortName, bytes: Uint8Array): void {
  if (work.state.ports[name].kind !== 'open') return;
  const isGood = name === 'board' ? hearBoard(work, bytes) : takeGnssBytes(work, bytes);
  stepPortOf(work, name, { kind: 'bytes', isGood });
}

/** The data budget's light changed. Said with the priority of an alarm, so that it still leaves at red. */
function tellBudget(work: Work): void {
  const { light, traffic } = work.state.delivery;
  const { monthlyMb } = work.state.settings.link;
  const attributes = { light, usedMb: Math.round(traffic.bytes / 10_000) / 100, monthlyMb };
  log(work, light === 'green' ? 'info' : 'warn', 'data budget', attributes);
  record(work, { statusCode: statusCodes.DATA_BUDGET.code, attributes });
}

function deliver(work: Work, input: DeliveryInput): void {
  const { monoMs, fraction } = work.now;
  const origin = bestOrigin(work.state.time);
  const utcMs = origin === null ? null : origin.originMs + upMsAt(work.state.time, monoMs);
  const { link } = work.state.settings;
  const before = work.state.delivery.light;
  const { state, effects } = stepDelivery(work.state.delivery, input, {
    ms: monoMs,
    fraction,
    utcMs,
    link,
  });
  put(work, { delivery: state });
  if (state.light !== before) tellBudget(work);
  for (const effect of effects) work.effects.push({ kind: 'delivery', effect });
  if (input.kind === 'up') log(work, 'info', 'connected');
  if (input.kind === 'up') noteCount(work, 'connects');
  if (input.kind !== 'down') return;
  const isRefused = /password|authori/i.test(input.reason);
  const hint = isRefused ? 'Check device.account, device.id and the secret in broker.secretFile.' : undefined;
  log(work, 'warn', 'disconnected', { reason: input.reason, ...(hint === undefined ? {} : { hint }) });
}

function takeWelcome(work: Work, welcome: Welcome): void {
  const { phase } = work.state.delivery;
  const { accountID, deviceID, boot } = work.config;
  const isOurs = welcome.accountID === accountID && welcome.deviceID === deviceID && welcome.boot === boot;
  if (!isOurs || phase.kind !== 'up' || phase.nonce !== welcome.nonce) {
    return log(work, 'warn', 'welcome refused', { reason: 'not an answer to our hello' });
  }
  const time = offerServerTime(work.state.time, {
    monoMs: work.now.monoMs,
    utcMs: welcome.serverTimeMs,
    askedMs: phase.sinceMs,
  });
  put(work, { time });
  deliver(work, { kind: 'welcomed' });
}

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
  watchService(work);
  guardOrders(work);
  if (monoMs >= work.state.tickMs) {
    watchFuel(work, 'unknown');
    put(work, { tickMs: monoMs + vehicleLimits.tickMs, time: offerSystemTime(work.state.time, work.now) });
    lookAround(work);
    watchConfig(work);
    settleBoard(work);
    watchDiagnosis(work);
    watchVehicle(work, { kind: 'time' });
  }
}

function react(work: Work, event: VehicleEvent): void {
  switch (event.kind) {
    case 'start': {
      const { agentVersion, profile, protection } = work.config;
      const attributes = { agentVersion, board: profile.name, ...describeProtection(protection) };
      record(work, { statusCode: statusCodes.INITIALIZED.code, attributes });
      beginConfig(work);
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
      deliver(work, { kind: 'ack', ack: event.ack });
      noteConfigAck(work, event.ack);
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
    case 'config':
      takeConfig(work, event.received);
      break;
    case 'slotWritten':
      noteSlot(work, event.slot, event.fault);
      break;
    case 'serviceCode':
      takeServiceCode(work, event.code, 'socket');
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
  deliver(work, { kind: 'time' });
  const origin = bestOrigin(work.state.time);
  if (
    origin !== null &&
    (before === null || before.originMs !== origin.originMs || before.quality !== origin.quality)
  ) {
    work.effects.push({ kind: 'origin', ...origin });
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
export function helloOf(state: VehicleState, config: VehicleConfig, nonce: string): Hello {
  return {
    boot: config.boot,
    nonce,
    agentVersion: config.agentVersion,
    features: featureNames.filter((name) => config.profile.relays[name] !== undefined),
    sensors: [...Object.keys(config.profile.inputs), ...Object.keys(config.profile.analogs)],
    ...configHello(state),
    commandCounter: state.commands.record.counter,
    timeQuality: bestOrigin(state.time)?.quality ?? 'none',
  };
}
