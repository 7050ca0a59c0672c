// The update of the agent in the vehicle: feeds the machine of `update.ts` with link, ignition and motion, and
// performs its effects. A restart is requested only while the vehicle is shown to be parked; nothing here moves a
// relay.
import { featureNames } from '../../../src/core/events/event.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import { type Evidence, looksStill } from '../evidence/testimony.ts';
import { addTraffic, trafficCost } from '../link/data-budget.ts';
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
  stamp,
  type VehicleState,
} from './vehicle-state.ts';

const limits = {
  /** Ignition off for so long where there is no view of the sky, and no evidence of movement. */
  blindMs: 600_000,
  /** What a mobile network bills for a downloaded byte: TLS records, TCP and IP headers, acknowledgements. */
  overhead: 1.06,
} as const;

const token = 'update';

/** True for the commit that an update waits for. */
export const isUpdateToken = (of: string): boolean => of === token;

/**
 * Why no download is allowed now: only while the link works, on the home network, and while the data budget is
 * green.
 */
function fetchObjectionOf({ delivery, isRoaming }: VehicleState): string | null {
  if (delivery.phase.kind !== 'up') return 'there is no connection';
  if (isRoaming) return 'the modem is roaming';
  return delivery.light === 'green' ? null : `the data budget is ${delivery.light}`;
}

/** Why the vehicle does not count as parked. Unknown is never off, and never standing. */
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

function swapObjectionOf({ state }: StepContext, evidence: Evidence): string | null {
  const { record, work } = state.commands;
  if (state.isStopping) return 'the agent is stopping';
  if (evidence.panic.value === true) return 'the panic button is pressed';
  const isBusy = featureNames.some(
    (name) =>
      record.active[name] !== undefined || record.next[name] !== undefined || work[name] !== undefined,
  );
  if (isBusy) return 'a command has not ended';
  if (state.config.write !== null || state.config.trial !== null) return 'a configuration is being tried';
  return motionObjection(evidence, state.update.setup?.parkedMs ?? Number.POSITIVE_INFINITY);
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
    swapObjection: swapObjectionOf(context, evidence),
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

/** What of an update a person at the unit may see; null while there is none. */
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
