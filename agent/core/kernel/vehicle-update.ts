// The update of the agent in the vehicle, and the sleep of a parked unit. It feeds the machine of `update.ts` with link, ignition
// and motion, and performs its effects. Both are requested only while the vehicle counts as parked; nothing here moves a relay.
import { featureNames, type InputName } from '../../../src/core/events/event.ts';
import type { EpisodeName } from '../alarms/alarm-memory.ts';
import { memoryOf } from '../alarms/alarms.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import { type Evidence, looksStill } from '../evidence/testimony.ts';
import { addTraffic, trafficCost } from '../link/data-budget.ts';
import { isDrained } from '../link/delivery.ts';
import { wantedState } from '../protection/command-record.ts';
import { bestOrigin, latestUtcMs, upMsAt } from '../timekeeping.ts';
import { stepUpdate } from '../update/update.ts';
import type {
  UpdateEffect,
  UpdateInput,
  UpdateResult,
  VehicleSnapshot,
  WorkingConnections,
} from '../update/update-types.ts';
import {
  commitNow,
  evidenceOf,
  log,
  put,
  type StepContext,
  sensed,
  stamp,
  type VehicleState,
} from './vehicle-state.ts';

const limits = {
  /** Least time of ignition off without a position and without evidence of movement. */
  blindMs: 600_000,
  /** Billed bytes for a downloaded byte: TLS records, TCP and IP headers, acknowledgements. */
  overhead: 1.06,
} as const;

/** Alarms during which the machine stays awake. A low battery and a lost position are none of them: a garage has no sky, and sleep saves the battery. */
const wakefulAlarms: readonly EpisodeName[] = [
  'engine',
  'motion',
  'tow',
  'cut',
  'jam',
  'suspect',
  'forced',
  'driving',
];
const wakefulInputs: readonly InputName[] = ['tamper', 'crash'];

const token = 'update';

/** True for the commit that an update waits for. */
export const isUpdateToken = (of: string): boolean => of === token;

/** Objection to a download, which needs a working link, the home network and a green data budget; null: none. */
function fetchObjectionOf({ delivery, isRoaming }: VehicleState): string | null {
  if (delivery.phase.kind !== 'up') return 'there is no connection';
  if (isRoaming) return 'the modem is roaming';
  return delivery.light === 'green' ? null : `the data budget is ${delivery.light}`;
}

/**
 * Objection: the vehicle does not count as parked. An unknown ignition is never off. Without a position standstill is assumed
 * after `blindMs` of ignition off, unless something shows movement.
 */
function motionObjection(evidence: Evidence, parkedMs: number): string | null {
  const { nowMs, ignition, witnesses, gnss, suspectMs } = evidence;
  const offMs = ignition.value === false ? nowMs - ignition.sinceMs : null;
  if (offMs === null) return 'the ignition is not known to be off';
  if (offMs < parkedMs) return 'the ignition was turned off a moment ago';
  if (witnesses.motion.claim === 'active') return 'the motion sensor reports movement';
  if (gnss.kind === 'moving') return 'the vehicle moves';
  if (looksStill(gnss)) return null;
  if (suspectMs !== null && nowMs - suspectMs < gnssLimits.suspectMs) return 'the position is doubtful';
  return offMs < Math.max(parkedMs, limits.blindMs) ? 'standstill is not known' : null;
}

/** Objection: the vehicle is not at rest, or has work to do. @param parkedMs how long the ignition must be off. */
function restObjectionOf({ state }: StepContext, evidence: Evidence, parkedMs: number): string | null {
  const { record, work } = state.commands;
  if (state.isStopping) return 'the agent is stopping';
  if (evidence.panic.value === true) return 'the panic button is pressed';
  const isBusy = featureNames.some(
    (name) =>
      record.active[name] !== undefined || record.next[name] !== undefined || work[name] !== undefined,
  );
  if (isBusy) return 'a command has not ended';
  if (state.config.write !== null || state.config.trial !== null) return 'a configuration is being tried';
  return motionObjection(evidence, parkedMs);
}

/** Objection to a suspend of the machine now; null: none. */
export function sleepObjectionOf(context: StepContext, afterMs: number): string | null {
  const { state } = context;
  const { phase, inFlight } = state.delivery;
  const rest = restObjectionOf(context, evidenceOf(context), afterMs);
  if (rest !== null) return rest;
  if (wantedState(state.commands.record, 'enginecutoff') === '1') return 'the engine is cut off';
  const alarm =
    wakefulInputs.find((name) => sensed(state, name).value === true) ??
    memoryOf(state.alarms).on.find((name) => wakefulAlarms.includes(name));
  if (alarm !== undefined) return `an alarm is active: ${alarm}`;
  if (state.update.record.active !== null || state.update.trial !== null) return 'an update is under way';
  if (phase.kind !== 'up' || !phase.welcomed) return 'there is no session with the broker';
  return state.pending.length > 0 || inFlight.length > 0 || !isDrained(state.delivery)
    ? 'stored events are not delivered yet'
    : null;
}

function partsOf({ ports, delivery }: VehicleState, evidence: Evidence): WorkingConnections {
  const { board, gnss } = ports;
  const { phase, acknowledged } = delivery;
  return {
    board: board.kind === 'open' && (evidence.boardAlive || evidence.ignition.value !== null),
    gnss: gnss.kind === 'open' && gnss.lastByteMs > gnss.openedMs,
    broker: phase.kind === 'up' && phase.welcomed && acknowledged > 0,
  };
}

function lookOf(context: StepContext): VehicleSnapshot {
  const { state, now } = context;
  const evidence = evidenceOf(context);
  return {
    nowMs: now.monoMs,
    fraction: now.fraction,
    latestUtcMs: latestUtcMs(state.time, now.monoMs),
    fetchObjection: fetchObjectionOf(state),
    swapObjection: restObjectionOf(
      context,
      evidence,
      state.update.setup?.parkedMs ?? Number.POSITIVE_INFINITY,
    ),
    parts: partsOf(state, evidence),
  };
}

/** Counts downloaded bytes; the light follows with the next step of the session. */
function recordCarried(context: StepContext, bytes: number): void {
  const { delivery, time } = context.state;
  const origin = bestOrigin(time);
  const utcMs = origin === null ? null : origin.originMs + upMsAt(time, context.now.monoMs);
  put(context, { delivery: { ...delivery, traffic: addTraffic(delivery.traffic, Math.ceil(bytes), utcMs) } });
}

function perform(context: StepContext, effect: UpdateEffect): void {
  switch (effect.kind) {
    case 'task':
      if (effect.task.kind === 'stage') recordCarried(context, trafficCost.connect);
      context.effects.push({ kind: 'update', task: effect.task });
      break;
    case 'commit':
      commitNow(
        context,
        effect.events.map((draft) => stamp(context, draft)),
        // The inbox, which knows that the job was answered, and the record of the update go together.
        { inbox: true, ...(effect.isAwaited ? { token } : {}) },
      );
      break;
    case 'log':
      log(context, effect.level, effect.event, effect.fields);
      break;
  }
}

/** One step of the update. */
export function stepUpdateOf(context: StepContext, input: UpdateInput): void {
  const { update } = context.state;
  if (update.setup === null) return;
  // Idle most of the time.
  if (input.kind === 'time' && update.record.active === null && update.trial === null) return;
  const { state, effects } = stepUpdate(update, input, lookOf(context));
  put(context, { update: state });
  for (const effect of effects) perform(context, effect);
}

/** A result of the updater. */
export function handleUpdateResult(context: StepContext, result: UpdateResult): void {
  if (result.kind === 'carried') recordCarried(context, result.bytes * limits.overhead);
  else stepUpdateOf(context, result);
}

/** Update as shown to a person at the unit; null: none. */
export function describeUpdate({ update }: VehicleState): {
  readonly version: string;
  readonly phase: 'fetching' | 'staged' | 'swapping' | 'trial';
  readonly waiting: string;
} | null {
  const { trial, record, waiting } = update;
  if (trial !== null) return { version: trial.version, phase: 'trial', waiting };
  if (record.active === null) return null;
  return { version: record.active.version, phase: record.active.phase, waiting };
}
