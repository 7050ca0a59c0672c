// The vehicle's commands and relays: joins the command machine, the supervisor and the board. The only place from
// which a relay order leaves, and it leaves only as the effect of one of those two machines.
import { type FeatureName, type FeatureState, featureNames } from '../../../src/core/event.ts';
import { isAllowed } from '../../../src/core/verdict.ts';
import { verdictText } from '../../../src/core/verdict-text.ts';
import type { CommandBody } from '../../../src/core/wire.ts';
import { stepBoard } from '../board/board.ts';
import type { RelayName } from '../board/board-profile.ts';
import type { BoardInput, BoardOutput } from '../board/board-types.ts';
import type { CommandStep } from '../protection/command-draft.ts';
import { localPrefix } from '../protection/command-intake.ts';
import { adoptRelay, type LocalSource } from '../protection/command-record.ts';
import {
  type CommandInput,
  changeOf,
  noteReadBack,
  stepCommands,
  wantsWarning,
} from '../protection/commands.ts';
import { judge } from '../protection/interlock.ts';
import { noteRelays, noteRepair, noteUnlock, superviseRelays } from '../protection/relays.ts';
import { noteWarningOrder, noteWarningRead, stepWarning } from '../protection/warning.ts';
import { offerIssuedTime } from '../timekeeping.ts';
import { takeBoardOutputs } from './vehicle-sensing.ts';
import { commitNow, evidenceOf, log, put, record, stamp, type Work } from './vehicle-state.ts';

/** A repair that is not on the wire by then is dropped; the next look decides anew. */
const repairWithinMs = 2000;
/** The order back to the safe state waits longer than any order away from it. */
const withdrawWithinMs = 5000;

/** Feeds the board and deals with all that it says. */
export function feedBoard(work: Work, input: BoardInput): void {
  const { state, outputs } = stepBoard(work.state.board, input);
  put(work, { board: state });
  takeBoardOutputs(work, outputs);
  for (const output of outputs) {
    if (output.kind === 'relays') takeRelays(work, output.values);
    if (output.kind === 'relayResult') takeResult(work, output);
  }
}

function takeRelays(work: Work, values: Readonly<Partial<Record<RelayName, boolean | null>>>): void {
  const { warning } = values;
  if (warning !== undefined)
    put(work, { warning: noteWarningRead(work.state.warning, warning, work.now.monoMs) });
  // A range that holds nothing but the warning output says nothing about the others.
  if (featureNames.every((name) => values[name] === undefined)) return superviseWarning(work);
  const known: Partial<Record<FeatureName, boolean>> = {};
  for (const name of featureNames) {
    const value = values[name];
    if (value !== undefined && value !== null) known[name] = value;
  }
  if (Object.keys(known).length === 0) return put(work, { relaysReadMs: null });
  const atMs = work.now.monoMs;
  const relays = noteRelays(work.state.relays, known, { atMs, boardCameUp: work.state.isBoardFresh });
  put(work, { relays, relaysReadMs: atMs, isBoardFresh: false });
  judgeUnknown(work, known);
  supervise(work);
}

/**
 * Decides commands whose outcome is unknown by what a reading says of their relays. While an order is still with the board no
 * reading is the last word: an order that is taken back may be seen carried out, and be undone right after. Called confirmed then,
 * it would be written again as a repair, which asks for less than a command does.
 */
function judgeUnknown(work: Work, known: Readonly<Partial<Record<FeatureName, boolean>>>): void {
  const { orders } = work.state.board;
  const settled: Partial<Record<FeatureName, boolean>> = {};
  for (const name of featureNames) {
    const on = known[name];
    if (on !== undefined && orders[name] === undefined) settled[name] = on;
  }
  takeCommandStep(work, noteReadBack(work.state.commands, settled, evidenceOf(work)));
}

function takeResult(work: Work, result: Extract<BoardOutput, { kind: 'relayResult' }>): void {
  const { relay, token, outcome, readBack } = result;
  const reason = result.reason ?? outcome;
  const atMs = work.now.monoMs;
  if (relay === 'warning') {
    put(work, { warning: noteWarningOrder(work.state.warning, readBack, atMs) });
    return log(work, outcome === 'confirmed' ? 'info' : 'warn', 'warning output', {
      order: token,
      outcome,
      reason,
    });
  }
  put(work, { relays: noteRepair(work.state.relays, { feature: relay, readBack, atMs }) });
  log(work, outcome === 'confirmed' ? 'info' : 'warn', 'relay order done', {
    relay,
    order: token,
    outcome,
    reason,
  });
  if (token.startsWith('drive:')) return step(work, { kind: 'driven', token, outcome, reason });
  if (readBack !== null) judgeUnknown(work, { [relay]: readBack });
  supervise(work);
}

function orderRelay(
  work: Work,
  order: { relay: RelayName; on: boolean; token: string; withinMs: number },
): void {
  const atMs = work.now.monoMs;
  const { relay, on, token, withinMs } = order;
  const { unlockMs } = work.state.commands.rules;
  const isUnlock = relay === 'cargoaccess' && on;
  log(work, 'info', 'relay order', { relay, energised: on, order: token });
  if (isUnlock) put(work, { relays: noteUnlock(work.state.relays, atMs + unlockMs) });
  feedBoard(work, {
    kind: 'setRelay',
    relay,
    energised: on,
    ...(isUnlock ? { holdMs: unlockMs } : {}),
    token,
    deadlineMs: atMs + withinMs,
    atMs,
  });
}

function takeCommandStep(work: Work, { state, effects }: CommandStep): void {
  put(work, { commands: state });
  for (const effect of effects) {
    switch (effect.kind) {
      case 'commit': {
        const events = effect.events.map((draft) => stamp(work, draft));
        for (const draft of effect.events)
          log(work, 'info', 'command', {
            ...draft.attributes,
            commandID: draft.commandID,
            state: draft.commandState,
          });
        commitNow(work, events, { token: effect.token, record: true });
        break;
      }
      case 'drive':
        orderRelay(work, {
          relay: effect.feature,
          on: effect.state === '1',
          token: effect.token,
          withinMs: effect.withinMs,
        });
        break;
      case 'note':
        log(work, 'warn', 'command envelope', { commandID: effect.commandID, text: effect.text });
        break;
    }
  }
}

function step(work: Work, input: CommandInput): void {
  takeCommandStep(work, stepCommands(work.state.commands, input, evidenceOf(work)));
}

/** A warning that waits in the queue this long is decided anew. */
const warnWithinMs = 1000;

/** Sounds or silences the warning output, as the commands want it at this moment. */
function superviseWarning(work: Work): void {
  if (work.config.profile.outputs?.warning === undefined) return;
  const { commands, warning } = work.state;
  const isCutWaiting = commands.record.active.enginecutoff?.state === '1';
  const wants = isCutWaiting && wantsWarning(commands, evidenceOf(work));
  const { state, order, draft } = stepWarning(warning, wants, work.now.monoMs);
  put(work, { warning: state });
  if (draft !== null) record(work, draft);
  if (order === null) return;
  orderRelay(work, { relay: 'warning', on: order, token: 'warning', withinMs: warnWithinMs });
}

function supervise(work: Work): void {
  const { state, effects } = superviseRelays(work.state.relays, {
    commands: work.state.commands,
    evidence: evidenceOf(work),
  });
  put(work, { relays: state });
  for (const effect of effects) {
    switch (effect.kind) {
      case 'event':
        log(work, 'warn', 'relay', effect.draft.attributes ?? {});
        record(work, effect.draft);
        break;
      case 'adopt': {
        const { commands } = work.state;
        put(work, {
          commands: { ...commands, record: adoptRelay(commands.record, effect.feature, effect.state) },
        });
        log(work, 'info', 'relay', effect.draft.attributes ?? {});
        commitNow(work, [stamp(work, effect.draft)], { record: true });
        break;
      }
      case 'repair':
        orderRelay(work, {
          relay: effect.feature,
          on: effect.state === '1',
          token: effect.token,
          withinMs: repairWithinMs,
        });
        break;
    }
  }
}

/**
 * Takes a restrictive order back that is still with the board when something begins to speak against it: the bus may be
 * slow, the driver is not. The safe state is written over it; what came of the order is then read, never assumed.
 */
export function guardOrders(work: Work): void {
  superviseWarning(work);
  for (const relay of featureNames) {
    const { commands, relays } = work.state;
    const wanted = commands.record.active[relay]?.state;
    const isDriving = commands.work[relay]?.kind === 'driving' && wanted === '1';
    if (!isDriving && relays.watch[relay]?.repairing !== true) continue;
    // A relay that is restrictive already is left alone, as is a repair towards the safe state.
    if (!isDriving && commands.record.confirmed[relay]?.state !== '1') continue;
    if (relays.readings[relay]?.on !== false) continue;
    const active = commands.record.active[relay];
    const change =
      isDriving && active !== undefined
        ? changeOf(commands, active)
        : ({ feature: relay, state: '1', occasion: 'reapply' } as const);
    const verdict = judge({ ...change, isOnTheWay: true }, evidenceOf(work), commands.rules);
    if (isAllowed(verdict)) continue;
    log(work, 'warn', 'relay order withdrawn', { relay, code: verdict.code, reason: verdictText(verdict) });
    orderRelay(work, { relay, on: false, token: `withdraw:${relay}`, withinMs: withdrawWithinMs });
  }
}

/** A verified command envelope for this device. The receipt is given once the commit that holds it is durable. */
export function takeCommand(work: Work, body: CommandBody, receipt: number): void {
  const { accountID, deviceID, boot, profile } = work.config;
  if (body.accountID !== accountID || body.deviceID !== deviceID) {
    log(work, 'error', 'command for another device', { commandID: body.commandID });
    work.effects.push({ kind: 'acknowledge', receipt });
    return;
  }
  const { monoMs } = work.now;
  if (body.boot === boot)
    put(work, { time: offerIssuedTime(work.state.time, { monoMs, issuedMs: body.issuedMs }) });
  const fitted = featureNames.filter((name) => profile.relays[name] !== undefined);
  work.receipts.push(receipt);
  step(work, { kind: 'envelope', body, fitted, boot });
  for (const left of work.receipts.splice(0)) work.effects.push({ kind: 'acknowledge', receipt: left });
  lookAround(work);
}

/**
 * A wish that arose on the vehicle itself: of a geozone, a timer, or a person at the vehicle (`service`). It goes through the
 * same record, interlock and events as a command of the broker; its id is unique by boot and number. An automatic cut
 * needs `[protection] zoneCuts`, is prevent-start in every mode, and never stands in the way of a person's command.
 */
export function requestLocal(
  work: Work,
  request: {
    readonly feature: FeatureName;
    readonly state: FeatureState;
    readonly source: LocalSource;
    readonly reason: string;
  },
): void {
  const { boot, profile } = work.config;
  const { nextLocal } = work.state;
  put(work, { nextLocal: nextLocal + 1 });
  const fitted = featureNames.filter((name) => profile.relays[name] !== undefined);
  step(work, { kind: 'local', commandID: `${localPrefix}${boot}-${nextLocal}`, ...request, fitted });
  lookAround(work);
}

/** A commit that a command waited for. */
export function noteCommitted(work: Work, token: string, durable: boolean): void {
  step(work, { kind: 'committed', token, durable });
}

/** Looks at commands and relays anew, because time went by or evidence changed. */
export function lookAround(work: Work): void {
  step(work, { kind: 'time' });
  supervise(work);
}
