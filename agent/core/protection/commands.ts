// The persisted command machine: accept once, never late, never unsafe, and say every state. Each transition is an
// event that is committed together with the new state BEFORE anything is done about it; the relay is driven only
// after the commit of `executing`, and only if the interlock still agrees at that moment (edge-agents 2.3 rules 5 to 7).
//
//   received -> armed(waiting: why) -> executing -> confirmed
//        \-> refused, expired, superseded, cancelled      executing -> unknown -> (read back) confirmed | armed
import { type FeatureName, featureNames } from '../../../src/core/event.ts';
import {
  isAllowed,
  isSameVerdict,
  type RuleName,
  type Verdict,
  verdictOf,
} from '../../../src/core/verdict.ts';
import type { Evidence } from '../evidence/testimony.ts';
import {
  type CommandStep,
  type CommandsState,
  commit,
  type Draft,
  finish,
  report,
  setActive,
  setWork,
} from './command-draft.ts';
import {
  acceptEnvelope,
  acceptLocal,
  type EnvelopeInput,
  isExpired,
  type LocalInput,
} from './command-intake.ts';
import { type ActiveCommand, commandLimits, isAutomatic, wantedState } from './command-record.ts';
import { isSafeState, judge, orderWithinMs, type RelayChange, wantsWarningOnly } from './interlock.ts';
import { interlockLimits } from './interlock-rules.ts';

export type CommandInput =
  | EnvelopeInput
  | LocalInput
  /** `durable` false: the disk does not take it. Then only a change to a safe state goes on. */
  | { readonly kind: 'committed'; readonly token: string; readonly durable: boolean }
  | {
      readonly kind: 'driven';
      readonly token: string;
      readonly outcome: 'confirmed' | 'mismatch' | 'unknown' | 'refused';
      readonly reason: string;
    }
  | { readonly kind: 'time' };

function changesOf(work: Draft, feature: FeatureName): readonly number[] {
  return work.state.record.changesUtcMs[feature] ?? [];
}

/** The change that a command asks for, as the interlock is asked about it. */
export function changeOf(state: CommandsState, command: ActiveCommand): RelayChange {
  return {
    feature: command.feature,
    state: command.state,
    occasion: isAutomatic(command) ? 'automatic' : 'command',
    changesUtcMs: state.record.changesUtcMs[command.feature] ?? [],
    isReconfirmed: command.isReconfirmed === true,
    isInherited: state.ends[command.commandID] === undefined,
  };
}

/** The verdict of the interlock on a command at this moment. */
function verdictOn(state: CommandsState, command: ActiveCommand, evidence: Evidence): Verdict {
  return judge(changeOf(state, command), evidence, state.rules);
}

/** A verdict that consists of one reason outside of the interlock. */
function because(rule: RuleName, value: string): Verdict {
  return verdictOf([{ rule, isMet: false, value, needed: 'works', sinceMs: null }]);
}

function wait(work: Draft, command: ActiveCommand, detail: { verdict: Verdict; evidence: Evidence }): void {
  const { feature } = command;
  const { verdict, evidence } = detail;
  const toldMs = work.state.toldMs[feature] ?? Number.NEGATIVE_INFINITY;
  const isSame = command.waiting !== null && isSameVerdict(command.waiting, verdict);
  if (command.phase === 'armed' && (isSame || evidence.nowMs - toldMs < commandLimits.tellMs)) return;
  setActive(work, feature, { ...command, phase: 'armed', waiting: verdict });
  work.state = { ...work.state, toldMs: { ...work.state.toldMs, [feature]: evidence.nowMs } };
  report(work, command, 'armed', { atMs: evidence.trustedUtcMs ?? 0, verdict });
  work.waits.push(feature);
}

/** One look at one feature: expire, wait, or go. */
function consider(work: Draft, feature: FeatureName, evidence: Evidence): void {
  const command = work.state.record.active[feature];
  const busy = work.state.work[feature];
  if (command === undefined || busy?.kind === 'committing' || busy?.kind === 'driving') return;
  // Rule 6: after an unknown outcome, look before acting: the next read-back decides (`noteReadBack`).
  if (command.phase === 'unknown') return;
  const atMs = evidence.trustedUtcMs ?? 0;
  if (work.state.record.next[feature] !== undefined) {
    finish(work, command, 'superseded', { atMs, reason: 'a newer command came' });
    work.waits.push(feature);
    return;
  }
  // A pause is of this command: nothing that replaces it waits for it.
  if (busy?.kind === 'pausing' && evidence.nowMs < busy.untilMs) return;
  if (isExpired(command, evidence, work.state.ends)) {
    finish(work, command, 'expired', { atMs, verdict: command.waiting });
    work.waits.push(feature);
    return;
  }
  const verdict = evidence.boardAlive
    ? verdictOn(work.state, command, evidence)
    : because('board_alive', 'silent');
  if (!isAllowed(verdict)) return wait(work, command, { verdict, evidence });
  setActive(work, feature, { ...command, phase: 'executing', waiting: null });
  report(work, command, 'executing', { atMs });
  work.waits.push(feature);
}

/** After the commit of `executing`: the interlock is asked once more, then the relay is driven. */
function afterCommit(work: Draft, feature: FeatureName, now: { durable: boolean; evidence: Evidence }): void {
  const { durable, evidence } = now;
  setWork(work, feature, undefined);
  const command = work.state.record.active[feature];
  if (command?.phase !== 'executing') return;
  if (!durable && !isSafeState(feature, command.state)) {
    setActive(work, feature, { ...command, phase: 'armed', waiting: because('storage', 'failed') });
    setWork(work, feature, { kind: 'pausing', untilMs: evidence.nowMs + commandLimits.retryMostMs });
    return;
  }
  const verdict = verdictOn(work.state, command, evidence);
  const atMs = evidence.trustedUtcMs ?? 0;
  if (!isAllowed(verdict)) return wait(work, command, { verdict, evidence });
  if (isExpired(command, evidence, work.state.ends)) {
    finish(work, command, 'expired', { atMs });
    work.waits.push(feature);
    return;
  }
  const endMs = work.state.ends[command.commandID] ?? Number.POSITIVE_INFINITY;
  const byClockMs =
    evidence.latestUtcMs === null ? commandLimits.driveMs : command.expiresMs - evidence.latestUtcMs;
  const token = `drive:${command.commandID}`;
  setWork(work, feature, { kind: 'driving', token });
  const usualMs = isSafeState(feature, command.state)
    ? commandLimits.driveMs
    : orderWithinMs(evidence, commandLimits.driveMs);
  const withinMs = Math.min(usualMs, byClockMs, endMs - evidence.nowMs);
  work.effects.push({ kind: 'drive', feature, state: command.state, token, withinMs });
}

function noteConfirmed(work: Draft, command: ActiveCommand, evidence: Evidence): void {
  const { feature, state, commandID } = command;
  const { record } = work.state;
  const changed = wantedState(work.state.record, feature) !== state;
  const atMs = evidence.trustedUtcMs;
  const changes =
    changed && atMs !== null
      ? [...changesOf(work, feature), atMs].slice(-commandLimits.changes)
      : changesOf(work, feature);
  const confirmed = { ...record.confirmed, [feature]: { state, commandID } };
  const changesUtcMs = { ...record.changesUtcMs, [feature]: changes };
  work.state = { ...work.state, record: { ...record, confirmed, changesUtcMs } };
  finish(work, command, 'confirmed', { atMs: atMs ?? 0 });
  work.waits.push(feature);
}

function driven(work: Draft, input: Extract<CommandInput, { kind: 'driven' }>, evidence: Evidence): void {
  for (const feature of featureNames) {
    const busy = work.state.work[feature];
    const command = work.state.record.active[feature];
    if (busy?.kind !== 'driving' || busy.token !== input.token || command === undefined) continue;
    setWork(work, feature, undefined);
    const atMs = evidence.trustedUtcMs ?? 0;
    if (input.outcome === 'confirmed') return noteConfirmed(work, command, evidence);
    if (input.outcome === 'unknown') {
      setActive(work, feature, {
        ...command,
        phase: 'unknown',
        waiting: because('relay_follows', 'unknown'),
      });
      report(work, command, 'unknown', { atMs, reason: input.reason });
      work.waits.push(feature);
      return;
    }
    const isMismatch = input.outcome === 'mismatch';
    return retry(work, command, { isMismatch, reason: input.reason, evidence });
  }
}

interface Failure {
  readonly isMismatch: boolean;
  readonly reason: string;
  readonly evidence: Evidence;
  readonly leastPauseMs?: number;
}

/** Refused by the board or read back as not changed: it is judged anew after a pause. */
function retry(work: Draft, tried: ActiveCommand, detail: Failure): void {
  const attempts = tried.attempts + 1;
  const mismatches = tried.mismatches + (detail.isMismatch ? 1 : 0);
  const command: ActiveCommand = { ...tried, attempts, mismatches };
  const { feature } = command;
  const atMs = detail.evidence.trustedUtcMs ?? 0;
  const verdict = because('relay_follows', detail.isMismatch ? 'mismatch' : 'refused');
  const { reason } = detail;
  const isHopeless = mismatches >= commandLimits.mismatches || attempts >= commandLimits.attempts;
  if (isHopeless && !isSafeState(feature, command.state)) {
    finish(work, command, 'refused', { atMs, verdict, reason });
    work.waits.push(feature);
    return;
  }
  setActive(work, feature, { ...command, phase: 'armed', waiting: verdict });
  report(work, command, 'armed', { atMs, verdict, reason });
  const backOffMs = commandLimits.retryMs * 2 ** Math.min(attempts - 1, 10);
  const pauseMs = Math.max(detail.leastPauseMs ?? 0, Math.min(commandLimits.retryMostMs, backOffMs));
  setWork(work, feature, { kind: 'pausing', untilMs: detail.evidence.nowMs + pauseMs });
}

/** One step of the machine. */
export function stepCommands(state: CommandsState, input: CommandInput, evidence: Evidence): CommandStep {
  const work: Draft = { state, events: [], effects: [], waits: [] };
  switch (input.kind) {
    case 'envelope':
      acceptEnvelope(work, input, evidence);
      // The counter is part of the record: it is committed even when nothing else changed.
      if (work.state.record !== state.record && work.events.length === 0) {
        return {
          state: work.state,
          effects: [...work.effects, { kind: 'commit', events: [], token: 'counter' }],
        };
      }
      break;
    case 'local':
      acceptLocal(work, input, evidence);
      break;
    case 'committed':
      for (const feature of featureNames) {
        const busy = work.state.work[feature];
        if (busy?.kind === 'committing' && busy.token === input.token)
          afterCommit(work, feature, { durable: input.durable, evidence });
      }
      break;
    case 'driven':
      driven(work, input, evidence);
      break;
    case 'time':
      for (const feature of featureNames) consider(work, feature, evidence);
      break;
  }
  return commit(work);
}

/** A lock that reads shut may have been open in between: trying again could open it twice for one command. */
function closesByItself({ feature, state }: ActiveCommand): boolean {
  return feature === 'cargoaccess' && state === '1';
}

/** Relays as read from the board: decides commands whose outcome is unknown (rule 6). */
export function noteReadBack(
  state: CommandsState,
  relays: Readonly<Partial<Record<FeatureName, boolean>>>,
  evidence: Evidence,
): CommandStep {
  const work: Draft = { state, events: [], effects: [], waits: [] };
  for (const feature of featureNames) {
    const command = work.state.record.active[feature];
    const on = relays[feature];
    if (command?.phase !== 'unknown' || on === undefined || work.state.work[feature] !== undefined) continue;
    if ((on ? '1' : '0') === command.state) noteConfirmed(work, command, evidence);
    else if (closesByItself(command)) {
      const reason = 'nobody knows whether the lock opened and closed again: give the command once more';
      finish(work, command, 'refused', { atMs: evidence.trustedUtcMs ?? 0, reason });
      work.waits.push(feature);
    } else {
      // It may have closed and been opened again: that is a change of the relay, though nobody saw it (rule 11).
      const leastPauseMs = isSafeState(feature, command.state) ? 0 : interlockLimits.betweenChangesMs;
      retry(work, command, { isMismatch: true, reason: 'read back', evidence, leastPauseMs });
    }
  }
  return commit(work);
}

/**
 * True while the warning output is to sound: a cut waits for it, or is on its way with ignition on. False once anything
 * speaks against the cut, so that the next warning is a whole one.
 */
export function wantsWarning(state: CommandsState, evidence: Evidence): boolean {
  const command = state.record.active.enginecutoff;
  if (command?.state !== '1' || command.phase === 'unknown' || evidence.ignition.value !== true) return false;
  if (state.record.next.enginecutoff !== undefined || isExpired(command, evidence, state.ends)) return false;
  const verdict = verdictOn(state, command, evidence);
  return isAllowed(verdict) || wantsWarningOnly(verdict);
}

/** True while a command is driving or may have driven this relay, so that nobody else writes it. */
export function isBusy(state: CommandsState, feature: FeatureName): boolean {
  const phase = state.record.active[feature]?.phase;
  return phase === 'executing' || phase === 'unknown' || state.work[feature]?.kind === 'driving';
}
