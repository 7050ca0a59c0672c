// The state of a vehicle whose unit has just been switched on: only what was stored is known. Pure.
import { type InputName, inputNames } from '../../../src/core/events/event.ts';
import { parseAlarmMemory } from '../alarms/alarm-memory.ts';
import { createAlarms } from '../alarms/alarms.ts';
import { createBoard } from '../board/board.ts';
import { createBoardReport } from '../board/board-report.ts';
import { createInputs, type InputRule } from '../board/inputs.ts';
import { createLoopback } from '../board/loopback.ts';
import { noSlots, type SlotFiles } from '../config/config-record.ts';
import { createEpochState } from '../gnss/epochs.ts';
import { createNmeaState } from '../gnss/nmea.ts';
import { createPlausibilityState } from '../gnss/plausibility.ts';
import { noReceiverFacts } from '../gnss/receiver-facts.ts';
import type { ModuleStates } from '../kernel/module-slots.ts';
import { startVehicleConfig } from '../kernel/vehicle-config.ts';
import { startEvidence } from '../kernel/vehicle-evidence.ts';
import { startGuard } from '../kernel/vehicle-guard.ts';
import { createService } from '../kernel/vehicle-service.ts';
import { type VehicleState } from '../kernel/vehicle-state.ts';
import { type Now, type VehicleConfig, type VehicleMemory } from '../kernel/vehicle-types.ts';
import { createDelivery } from '../link/delivery.ts';
import { createCommandsState } from '../protection/command-draft.ts';
import { type CommandRecord } from '../protection/command-record.ts';
import { rulesOf } from '../protection/protection.ts';
import { createRelaysState } from '../protection/relays.ts';
import { createWarning } from '../protection/warning.ts';
import { createReporting } from '../reporting.ts';
import { createPort } from '../serial-port-state.ts';
import { createTimeState, offerSystemTime } from '../timekeeping.ts';

import { modules } from './modules.ts';

/** An input without a good sample for this many poll periods, but at least this long, is unknown. */
const stalePeriods = 5;
const staleLeastMs = 1000;

/** How each fitted input is read. */
export function inputRules(config: Pick<VehicleConfig, 'profile'>): Partial<Record<InputName, InputRule>> {
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
    /** When the machine was switched on, monotonic. */
    readonly poweredMs: number;
    readonly record: CommandRecord;
    readonly memory: VehicleMemory;
    /** Rows of the modules, as they were stored. */
    readonly rows?: Readonly<Record<string, unknown>>;
    readonly slots?: SlotFiles;
    readonly connectDelayMs: number;
  },
): VehicleState {
  const { now, memory, poweredMs, rows = {} } = given;
  const { monoMs } = now;
  const { earliestUtcMs } = config;
  const newestUtcMs = typeof memory.newestUtcMs === 'number' ? memory.newestUtcMs : null;
  const time = createTimeState({ bootMonoMs: given.bootMonoMs, earliestUtcMs, newestUtcMs });
  const rules = rulesOf(config.protection, config.profile);
  const started = startVehicleConfig(given.slots ?? noSlots, config, monoMs);
  const slices = modules.map((module) => module.create?.({ config, memory, rows, nowMs: monoMs }));
  const states = Object.assign({}, ...slices) as ModuleStates;
  const list = states.owner?.owner?.list ?? null;
  return {
    ...states,
    settings: started.settings,
    config: started.state,
    zoneCount: 0,
    time: offerSystemTime(time, now),
    ports: { board: createPort(monoMs), gnss: createPort(monoMs) },
    board: createBoard(config.profile),
    inputs: createInputs(inputRules(config), monoMs),
    analogs: {},
    analogsReadMs: {},
    nmea: createNmeaState(),
    epochs: createEpochState({ earliestUtcMs: config.earliestUtcMs }),
    plausibility: createPlausibilityState(),
    receiver: noReceiverFacts,
    evidence: startEvidence(config, memory.evidence, { hdopMost: rules.hdopMost, poweredMs, nowMs: monoMs }),
    fix: null,
    reporting: createReporting(memory.odometerM),
    alarms: createAlarms(parseAlarmMemory(memory.alarms), monoMs),
    commands: createCommandsState(given.record, rules),
    relays: createRelaysState(),
    warning: createWarning(),
    loopback: createLoopback(),
    service: createService(given.record.service, monoMs),
    nextLocal: 1,
    relaysReadMs: null,
    isBoardFresh: true,
    boardReport: createBoardReport(monoMs, memory.isBoardLost === true),
    isRoaming: false,
    memory,
    counts: { boardLosses: 0, gnssLosses: 0, nmeaRejected: 0, connects: 0 },
    delivery: createDelivery(monoMs, {
      firstDelayMs: given.connectDelayMs,
      traffic: memory.traffic,
      keepaliveS: config.broker.keepaliveS,
    }),
    pending: [],
    pendingSinceMs: monoMs,
    heartbeatMs: monoMs + started.settings.reporting.heartbeatS * 1000,
    tickMs: monoMs,
    holdUp: null,
    guard: startGuard(config, given.record, { atMs: monoMs, list }),
    fixes: 0,
    isStopping: false,
  };
}
