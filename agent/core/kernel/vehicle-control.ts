// The vehicle's commands and relays: joins the command machine, the supervisor and the board. The only place that
// orders a relay, and only as the effect of one of those two machines.
import { type FeatureName, featureNames } from '../../../src/core/events/event.ts';
import { isAllowed } from '../../../src/core/verdict/verdict.ts';
import { verdictText } from '../../../src/core/verdict/verdict-text.ts';
import type { OrderProof } from '../../guard/order.ts';
import { stepBoard } from '../board/board.ts';
import type { RelayName } from '../board/board-profile.ts';
import type { BoardInput, BoardOutput } from '../board/board-types.ts';
import { recordLoopbackOrder, recordLoopbackOutput } from '../board/loopback.ts';
import type { CommandEffect, CommandStep } from '../protection/command-draft.ts';
import { type LocalRequest, localPrefix } from '../protection/command-intake.ts';
import { adoptRelay } from '../protection/command-record.ts';
import { type CommandInput, recordReadBack, wantsWarning } from '../protection/commands.ts';
import {
  type RelayEffect,
  recordRelays,
  recordRepair,
  recordUnlock,
  superviseRelays,
} from '../protection/relays.ts';
import { recordWarningOrder, recordWarningRead, stepWarning } from '../protection/warning.ts';
import { offerIssuedTime } from '../timekeeping.ts';
import type { VehicleEvent } from './vehicle-events.ts';
import {
  isDriven,
  isUnderWay,
  permitOf,
  recordBoardFacts,
  recordGuardOrder,
  verdictUnderWay,
} from './vehicle-guard.ts';
import { loopbackOrder, putLoopback } from './vehicle-loopback.ts';
import { stepOrder } from './vehicle-objection.ts';
import { handleBoardOutputs } from './vehicle-sensing.ts';
import { commitNow, evidenceOf, log, put, record, type StepContext, stamp } from './vehicle-state.ts';

/** The order back to the safe state is repeated for this long before the supervisor continues. */
const withdrawWithinMs = 5000;

/** One task of a step. Its follow-up tasks are performed right after it, before tasks that were planned earlier. */
type Task =
  | Extract<BoardOutput, { kind: 'relays' | 'relayResult' }>
  | CommandEffect
  | RelayEffect
  /** An input of the command machine. */
  | { readonly kind: 'command'; readonly input: CommandInput }
  /** Relays as they were read, for commands whose outcome is unknown. */
  | { readonly kind: 'readBack'; readonly known: KnownRelays }
  | { readonly kind: 'guard'; readonly relay: FeatureName }
  | { readonly kind: 'supervise' | 'superviseWarning' | 'superviseLoopback' };

type Tasks = readonly Task[];
const guards: Tasks = featureNames.map((relay) => ({ kind: 'guard', relay }));
type KnownRelays = Readonly<Partial<Record<FeatureName, boolean>>>;

/** A step takes some dozens at most. */
const tasksMost = 10_000;

function perform(context: StepContext, task: Task): Tasks {
  switch (task.kind) {
    case 'relays':
      return handleRelays(context, task.values);
    case 'relayResult':
      return handleResult(context, task);
    case 'command':
      return adoptCommandStep(context, stepOrder(context, task.input));
    case 'readBack':
      return handleReadBack(context, task.known);
    case 'supervise':
      return supervise(context);
    case 'superviseWarning':
      return superviseWarning(context);
    case 'superviseLoopback':
      return superviseLoopback(context);
    case 'guard':
      return guardOrder(context, task.relay);
    case 'withdraw': {
      const { relay } = task;
      return orderRelay(context, {
        relay,
        on: false,
        token: `withdraw:${relay}`,
        withinMs: withdrawWithinMs,
      });
    }
    case 'commit':
    case 'drive':
    case 'note':
      return performCommandEffect(context, task);
    case 'event':
    case 'adopt':
    case 'repair':
      return performRelayEffect(context, task);
  }
}

/** Performs the tasks in order, each with its follow-ups before the next. */
function performAll(context: StepContext, tasks: Tasks): void {
  const queue = [...tasks];
  let count = 0;
  for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
    if (++count > tasksMost) throw new Error(`a step of the vehicle has more than ${tasksMost} tasks`);
    queue.unshift(...perform(context, task));
  }
}

const relayOutputs = (outputs: readonly BoardOutput[]): Tasks =>
  outputs.flatMap((output) => (output.kind === 'relays' || output.kind === 'relayResult' ? [output] : []));

function stepBoardOf(context: StepContext, input: BoardInput): readonly BoardOutput[] {
  const { state, outputs } = stepBoard(context.state.board, input, (request) => permitOf(context, request));
  put(context, { board: state });
  recordBoardFacts(context, outputs);
  handleBoardOutputs(context, outputs);
  return outputs;
}

/** Gives the board an input and handles all of its outputs; false when there were none. */
export function feedBoard(context: StepContext, input: BoardInput): boolean {
  const outputs = stepBoardOf(context, input);
  performAll(context, relayOutputs(outputs));
  return outputs.length > 0;
}

function handleRelays(
  context: StepContext,
  values: Readonly<Partial<Record<RelayName, boolean | null>>>,
): Tasks {
  const { warning, loopback } = values;
  if (loopback !== undefined)
    putLoopback(context, recordLoopbackOutput(context.state.loopback, loopback, context.now.monoMs));
  if (warning !== undefined)
    put(context, { warning: recordWarningRead(context.state.warning, warning, context.now.monoMs) });
  // A range that holds only the other outputs does not include these.
  if (featureNames.every((name) => values[name] === undefined)) return [{ kind: 'superviseWarning' }];
  const known: Partial<Record<FeatureName, boolean>> = {};
  for (const name of featureNames) {
    const value = values[name];
    if (value !== undefined && value !== null) known[name] = value;
  }
  if (Object.keys(known).length === 0) {
    put(context, { relaysReadMs: null });
    return [];
  }
  const atMs = context.now.monoMs;
  const relays = recordRelays(context.state.relays, known, { atMs, boardCameUp: context.state.isBoardFresh });
  put(context, { relays, relaysReadMs: atMs, isBoardFresh: false });
  return [{ kind: 'readBack', known }, { kind: 'supervise' }];
}

/**
 * Decides commands with an unknown outcome by a reading of their relays. While an order is still at the board no
 * reading is final: a withdrawn order may appear carried out and be undone right after. If it were confirmed then, a
 * repair would write it again, with less proof than a command.
 */
function handleReadBack(context: StepContext, known: KnownRelays): Tasks {
  const { orders } = context.state.board;
  const settled: Partial<Record<FeatureName, boolean>> = {};
  for (const name of featureNames) {
    const on = known[name];
    if (on !== undefined && orders[name] === undefined) settled[name] = on;
  }
  return adoptCommandStep(context, recordReadBack(context.state.commands, settled, evidenceOf(context)));
}

function handleResult(context: StepContext, result: Extract<BoardOutput, { kind: 'relayResult' }>): Tasks {
  const { relay, token, outcome, readBack } = result;
  const reason = result.reason ?? outcome;
  const atMs = context.now.monoMs;
  if (relay === 'loopback') {
    putLoopback(context, recordLoopbackOrder(context.state.loopback, { outcome, readBack }, atMs));
    return [];
  }
  if (relay === 'warning') {
    put(context, { warning: recordWarningOrder(context.state.warning, readBack, atMs) });
    log(context, outcome === 'confirmed' ? 'info' : 'warn', 'warning_output', {
      order: token,
      outcome,
      reason,
    });
    return [];
  }
  put(context, { relays: recordRepair(context.state.relays, { feature: relay, readBack, atMs }) });
  log(context, outcome === 'confirmed' ? 'info' : 'warn', 'relay_order_done', {
    relay,
    order: token,
    outcome,
    reason,
  });
  if (token.startsWith('drive:'))
    return [{ kind: 'command', input: { kind: 'driven', token, outcome, reason } }];
  const readings: Tasks = readBack === null ? [] : [{ kind: 'readBack', known: { [relay]: readBack } }];
  return [...readings, { kind: 'supervise' }];
}

function orderRelay(
  context: StepContext,
  order: { relay: RelayName; on: boolean; token: string; withinMs: number },
): Tasks {
  const atMs = context.now.monoMs;
  const { relay, on, token, withinMs } = order;
  const { unlockMs } = context.state.commands.rules;
  const isUnlock = relay === 'cargoaccess' && on;
  // A loop-back is ordered every few seconds; only its answer is logged.
  if (relay !== 'loopback') log(context, 'info', 'relay_order', { relay, energised: on, order: token });
  if (isUnlock) put(context, { relays: recordUnlock(context.state.relays, atMs + unlockMs) });
  const outputs = stepBoardOf(context, {
    kind: 'setRelay',
    relay,
    energised: on,
    ...(isUnlock ? { holdMs: unlockMs } : {}),
    token,
    deadlineMs: atMs + withinMs,
    atMs,
  });
  return relayOutputs(outputs);
}

/** An order of the command machine or of the supervisor. */
const orderFeature = (
  context: StepContext,
  { feature, state, token, withinMs }: Extract<CommandEffect | RelayEffect, { kind: 'drive' | 'repair' }>,
): Tasks => orderRelay(context, { relay: feature, on: state === '1', token, withinMs });

function adoptCommandStep(context: StepContext, { state, effects }: CommandStep): Tasks {
  put(context, { commands: state });
  return effects;
}

function performCommandEffect(
  context: StepContext,
  effect: Exclude<CommandEffect, { kind: 'withdraw' }>,
): Tasks {
  switch (effect.kind) {
    case 'commit': {
      const events = effect.events.map((draft) => stamp(context, draft));
      for (const draft of effect.events)
        log(context, 'info', 'command', {
          ...draft.attributes,
          commandID: draft.commandID,
          state: draft.commandState,
        });
      commitNow(context, events, { token: effect.token, record: true });
      return [];
    }
    case 'drive':
      return orderFeature(context, effect);
    case 'note':
      log(context, 'warn', 'command_envelope', { commandID: effect.commandID, text: effect.text });
      return [];
  }
}

/** A warning or loop-back order that waits in the queue this long is decided again. */
const outputWithinMs = 1000;

/** Sounds or silences the warning output, as the commands want it at this moment. */
function superviseWarning(context: StepContext): Tasks {
  if (context.config.profile.outputs?.warning === undefined) return [];
  const { commands, warning } = context.state;
  const isCutWaiting = commands.record.active.enginecutoff?.state === '1';
  const wants = isCutWaiting && wantsWarning(commands, evidenceOf(context));
  const { state, order, draft } = stepWarning(warning, wants, context.now.monoMs);
  put(context, { warning: state });
  if (draft !== null) record(context, draft);
  if (order === null) return [];
  return orderRelay(context, { relay: 'warning', on: order, token: 'warning', withinMs: outputWithinMs });
}

/** Toggles the spare output of the loop-back while a restrictive change waits; else it rests. */
function superviseLoopback(context: StepContext): Tasks {
  const on = loopbackOrder(context);
  if (on === null) return [];
  return orderRelay(context, { relay: 'loopback', on, token: 'loopback', withinMs: outputWithinMs });
}

function supervise(context: StepContext): Tasks {
  const { state, effects } = superviseRelays(context.state.relays, {
    commands: context.state.commands,
    evidence: evidenceOf(context),
    ordered: featureNames.filter((name) => context.state.board.orders[name] !== undefined),
  });
  put(context, { relays: state });
  return effects;
}

function performRelayEffect(context: StepContext, effect: RelayEffect): Tasks {
  switch (effect.kind) {
    case 'event':
      log(context, 'warn', 'relay', effect.draft.attributes ?? {});
      record(context, effect.draft);
      return [];
    case 'adopt': {
      const { commands } = context.state;
      put(context, {
        commands: { ...commands, record: adoptRelay(commands.record, effect.feature, effect.state) },
      });
      log(context, 'info', 'relay', effect.draft.attributes ?? {});
      commitNow(context, [stamp(context, effect.draft)], { record: true });
      return [];
    }
    case 'repair':
      return orderFeature(context, effect);
  }
}

function guardOrder(context: StepContext, relay: FeatureName): Tasks {
  if (!isUnderWay(context, relay)) return [];
  const { commands, relays } = context.state;
  const isDriving = isDriven(context, relay);
  // Leaves a relay that is already restrictive, and a repair towards the safe state.
  if (!isDriving && commands.record.confirmed[relay]?.state !== '1') return [];
  if (relays.readings[relay]?.on !== false) return [];
  const verdict = verdictUnderWay(context, relay);
  if (isAllowed(verdict)) return [];
  log(context, 'warn', 'relay_order_withdrawn', { relay, code: verdict.code, reason: verdictText(verdict) });
  // Recorded first: the withdrawing order ends it.
  const noted: Tasks = isDriving
    ? [{ kind: 'command', input: { kind: 'withdrawn', feature: relay, verdict } }]
    : [];
  return [...noted, { kind: 'withdraw', relay }];
}

/** Lets the board do timed work. Its readings of this step are judged before it energises a relay. */
export function passBoardTime(context: StepContext): void {
  performAll(context, guards);
  feedBoard(context, { kind: 'time', atMs: context.now.monoMs });
}

/**
 * Withdraws a restrictive order that still waits at the board when evidence against it appears: the bus may be slow,
 * the driver is not. It writes the safe state; the outcome of the order is then read, never assumed.
 */
export function guardOrders(context: StepContext): void {
  const { loopback, outputs } = context.config.profile;
  const isQuiet = loopback === undefined && outputs?.warning === undefined;
  // Without these outputs no order can come about here: most steps have nothing to guard.
  if (isQuiet && !featureNames.some((relay) => isUnderWay(context, relay))) return;
  performAll(context, [{ kind: 'superviseWarning' }, ...guards, { kind: 'superviseLoopback' }]);
}

type CommandEvent = Extract<VehicleEvent, { kind: 'command' }>;

/** A verified command envelope for this device. The receipt is given once the commit that holds it is durable. */
export function handleCommand(context: StepContext, { body, receipt, token }: CommandEvent): void {
  const { accountID, deviceID, boot, profile } = context.config;
  if (body.accountID !== accountID || body.deviceID !== deviceID) {
    log(context, 'error', 'command_not_for_this_device', { commandID: body.commandID });
    context.effects.push({ kind: 'acknowledge', receipt });
    return;
  }
  const { monoMs } = context.now;
  if (body.boot === boot)
    put(context, { time: offerIssuedTime(context.state.time, { monoMs, issuedMs: body.issuedMs }) });
  const fitted = featureNames.filter((name) => profile.relays[name] !== undefined);
  context.receipts.push(receipt);
  const proof: OrderProof = { kind: 'broker', token };
  recordGuardOrder(context, proof);
  performAll(context, [{ kind: 'command', input: { kind: 'envelope', body, fitted, boot, proof } }]);
  for (const left of context.receipts.splice(0)) context.effects.push({ kind: 'acknowledge', receipt: left });
  reviewCommands(context);
}

/**
 * A request made on the vehicle itself: by a geozone, or a person at the vehicle (`service`). It goes through the same record, interlock and
 * events as a command of the broker. An automatic cut needs `zoneCuts`, is prevent-start in every mode, and never blocks a person's command.
 */
export function requestLocal(
  context: StepContext,
  request: Pick<LocalRequest, 'feature' | 'state' | 'source' | 'reason' | 'side'>,
): void {
  const { boot, profile } = context.config;
  const { nextLocal } = context.state;
  put(context, { nextLocal: nextLocal + 1 });
  const fitted = featureNames.filter((name) => profile.relays[name] !== undefined);
  const commandID = `${localPrefix}${boot}-${nextLocal}`;
  performAll(context, [{ kind: 'command', input: { kind: 'local', commandID, ...request, fitted } }]);
  const { active, next } = context.state.commands.record;
  const taken = [active[request.feature], next[request.feature]].find((one) => one?.commandID === commandID);
  if (taken?.proof !== undefined) recordGuardOrder(context, taken.proof);
  reviewCommands(context);
}

/** A commit that a command waited for. */
export function handleCommitted(context: StepContext, token: string, durable: boolean): void {
  performAll(context, [{ kind: 'command', input: { kind: 'committed', token, durable } }]);
}

/** Decides on commands and relays again, because time has passed, evidence changed, or what happened ends a command. */
export function reviewCommands(context: StepContext, input: CommandInput = { kind: 'time' }): void {
  performAll(context, [{ kind: 'command', input }, { kind: 'supervise' }]);
}
