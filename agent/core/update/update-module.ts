// The update of the agent as a module of the vehicle: answers firmware jobs, feeds the machine of `update.ts` with link, ignition and motion, and
// performs its effects. It restarts the agent only while the vehicle is shown to be parked; nothing here moves a relay.
import type { FirmwareBody } from '../../../src/core/wire/wire.ts';
import { isCount, isIdText, isObject, isText } from '../../../src/core/wire/wire-checks.ts';
import type { Evidence } from '../evidence/testimony.ts';
import type { StepContext, VehicleModule, VehicleState } from '../kernel/module.ts';
import { restObjectionOf } from '../kernel/vehicle-rest.ts';
import { commitDrafts, evidenceOf, isOurs, log, put } from '../kernel/vehicle-state.ts';
import { addTraffic, trafficCost } from '../link/data-budget.ts';
import { latestUtcMs, utcMsAt } from '../timekeeping.ts';
import { createUpdate, stepUpdate } from './update.ts';
import { standardUpdate, type UpdateSettings, updateFault, updateSchema } from './update-config.ts';
import { jobEvent } from './update-draft.ts';
import {
  type ActiveUpdate,
  noUpdateRecord,
  type UpdateEffect,
  type UpdateInput,
  type UpdateRecord,
  type UpdateResult,
  type UpdateSetup,
  type UpdateState,
  type UpdateTask,
  type VehicleSnapshot,
  type WorkingConnections,
} from './update-types.ts';

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    /** Ids of the newest jobs that were answered, newest last. */
    readonly jobs: readonly string[];
    readonly update: UpdateState;
  }
  interface ModuleRows {
    readonly jobs: readonly string[];
    readonly update: UpdateRecord;
  }
  interface ModuleConfig {
    readonly update?: UpdateSettings;
    /** Absent: no release of the agent can be swapped here. */
    readonly updateSetup?: UpdateSetup;
  }
  interface ModuleEvents {
    /** Verified, and acknowledged at once: one that was not kept comes again on the next connect. */
    readonly firmware: { readonly body: FirmwareBody };
    readonly update: { readonly result: UpdateResult };
  }
  interface ModuleEffects {
    readonly update: { readonly task: UpdateTask };
  }
  interface ModuleFacts {
    /** The update of the agent that is under way, and why it waits; null while there is none. */
    readonly update: ReturnType<typeof describeUpdate>;
  }
}

const limits = {
  /** Number of remembered ids of answered jobs. */
  jobs: 16,
  /** What a mobile network bills for a downloaded byte: TLS records, TCP and IP headers, acknowledgements. */
  overhead: 1.06,
} as const;

/** Of the commit that an update waits for. */
const token = 'update';

/**
 * Why no download is allowed now: only while the link works, on the home network, and while the data budget is
 * green.
 */
function fetchObjectionOf({ delivery, isRoaming }: VehicleState): string | null {
  if (delivery.phase.kind !== 'up') return 'there is no connection';
  if (isRoaming) return 'the modem is roaming';
  return delivery.light === 'green' ? null : `the data budget is ${delivery.light}`;
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

function lookOf(context: StepContext, setup: UpdateSetup): VehicleSnapshot {
  const { state, now } = context;
  return {
    nowMs: now.monoMs,
    fraction: now.fraction,
    latestUtcMs: latestUtcMs(state.time, now.monoMs),
    fetchObjection: fetchObjectionOf(state),
    swapObjection: restObjectionOf(context, setup.parkedMs),
    parts: partsOf(state, evidenceOf(context)),
  };
}

/** Counts downloaded bytes; the light follows with the next step of the session. */
function recordCarried(context: StepContext, bytes: number): void {
  const { delivery, time } = context.state;
  const utcMs = utcMsAt(time, context.now.monoMs);
  put(context, { delivery: { ...delivery, traffic: addTraffic(delivery.traffic, Math.ceil(bytes), utcMs) } });
}

function perform(context: StepContext, effect: UpdateEffect): void {
  switch (effect.kind) {
    case 'task':
      if (effect.task.kind === 'stage') recordCarried(context, trafficCost.connect);
      context.effects.push({ kind: 'update', task: effect.task });
      break;
    case 'commit':
      commitDrafts(context, effect.events, effect.isAwaited ? { token } : {});
      break;
    case 'log':
      log(context, effect.level, effect.event, effect.fields);
      break;
  }
}

/** One step of the update. */
function watchUpdate(context: StepContext, input: UpdateInput): void {
  const { update } = context.state;
  if (update.setup === null) return;
  // Idle most of the time.
  if (input.kind === 'time' && update.record.active === null && update.trial === null) return;
  const { state, effects } = stepUpdate(update, input, lookOf(context, update.setup));
  put(context, { update: state });
  for (const effect of effects) perform(context, effect);
}

/** A result of the updater. */
function handleResult(context: StepContext, result: UpdateResult): void {
  if (result.kind === 'carried') recordCarried(context, result.bytes * limits.overhead);
  else watchUpdate(context, result);
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

/** A verified firmware job, or its withdrawal. */
function handleFirmware(context: StepContext, body: FirmwareBody): void {
  const { commandID, version, url, sha256, issuedMs, expiresMs, cancel } = body;
  if (!isOurs(context, body)) return log(context, 'error', 'firmware_not_for_this_boot', { commandID });
  const { jobs, update } = context.state;
  if (jobs.includes(commandID))
    return cancel ? watchUpdate(context, { kind: 'cancel', commandID }) : undefined;
  put(context, { jobs: [...jobs, commandID].slice(-limits.jobs) });
  const job = { commandID, version, url, sha256, issuedMs, expiresMs };
  if (update.setup !== null && !cancel) return watchUpdate(context, { kind: 'job', job });
  const reason = 'this unit is updated by its package manager';
  const drafts = cancel
    ? [jobEvent(job, 'cancelled', 'withdrawn before it came')]
    : [jobEvent(job, 'executing'), jobEvent(job, 'refused', reason)];
  commitDrafts(context, drafts);
  if (!cancel) log(context, 'warn', 'firmware_refused', { commandID, version, reason });
}

function parseActive(value: unknown): ActiveUpdate | null {
  if (!isObject(value) || !isObject(value['baseline'])) return null;
  const { commandID, version, url, sha256, issuedMs, expiresMs, swaps, baseline } = value;
  const phase = (['fetching', 'staged', 'swapping'] as const).find((one) => one === value['phase']);
  if (!isIdText(commandID) || !isText(version, 64) || !isText(url, 1000) || !isText(sha256, 64)) return null;
  if (!/^[0-9a-f]{64}$/.test(sha256) || phase === undefined) return null;
  if (!isCount(issuedMs) || !isCount(expiresMs) || !isCount(swaps)) return null;
  const { board, gnss, broker } = baseline;
  const worked = { board: board === true, gnss: gnss === true, broker: broker === true };
  return { commandID, version, url, sha256, issuedMs, expiresMs, phase, baseline: worked, swaps };
}

/** The record as it was stored. One that is not whole counts as no update, and the start then decides by the launcher's state. */
export function parseUpdateRecord(value: unknown): UpdateRecord {
  const active = isObject(value) ? parseActive(value['active']) : null;
  return active === null ? noUpdateRecord : { active };
}

const phaseWords = {
  fetching: 'is being fetched',
  staged: 'is ready',
  swapping: 'starts now',
  trial: 'runs on trial',
} as const;

export const updateModule: VehicleModule = {
  tables: [
    {
      table: 'update',
      schema: updateSchema,
      configOf: (table: UpdateSettings = standardUpdate) => table,
      fault: (table: UpdateSettings = standardUpdate) => updateFault(table),
    },
  ],
  create: ({ config, rows }) => ({
    jobs: Array.isArray(rows['jobs']) ? rows['jobs'].filter(isIdText) : [],
    update: createUpdate(parseUpdateRecord(rows['update']), config.updateSetup ?? null),
  }),
  rows: ({ jobs, update }) => ({ jobs, update: update.record }),
  on: {
    start: (context) => watchUpdate(context, { kind: 'start' }),
    committed(context, event) {
      if (event.token === token) watchUpdate(context, { kind: 'committed', durable: event.durable });
    },
    firmware: (context, { body }) => handleFirmware(context, body),
    update: (context, { result }) => handleResult(context, result),
  },
  tick: (context) => watchUpdate(context, { kind: 'time' }),
  wakefulness: ({ update }) =>
    update.record.active !== null || update.trial !== null ? 'an update is under way' : null,
  facts: (state) => ({ update: describeUpdate(state) }),
  lastLines({ update }) {
    if (update === null) return [];
    const { version, phase, waiting } = update;
    const why = waiting === '' ? '' : `, waits: ${waiting}`;
    return [
      { level: 'note', name: 'Update', words: `release ${version} ${phaseWords[phase]}${why}`, todo: '' },
    ];
  },
};
