// The persisted command machine. It carries out a command at most once, never after its expiry, only with the interlock's permission, and reports
// every state.
// Each transition is an event that is committed with the new state BEFORE its effect. The relay is driven only after the commit of `executing`, and
// only if the interlock still agrees at that moment (edge-agents 2.3 rules 5 to 7).
// States: received -> armed (waiting, with the reason) -> executing -> confirmed; received -> refused, expired, superseded, cancelled; executing ->
// unknown -> (read back) confirmed or armed.
// A change to the safe state waits neither for an answer of the board nor for a restriction that is in progress or unknown; it supersedes that
// restriction.
import { type FeatureName, featureNames } from '../../../src/core/events/event.ts';
import {
  isAllowed,
  isSameVerdict,
  type RuleName,
  type Verdict,
  verdictOf,
} from '../../../src/core/verdict/verdict.ts';
import type { Evidence } from '../evidence/testimony.ts';
import {
  type CommandStep,
  type CommandsState,
  commit,
  type Draft,
  finish,
  recordChange,
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
  renewEnds,
} from './command-intake.ts';
import { type ActiveCommand, commandLimits, isAutomatic, wantedState } from './command-record.ts';
import {
  awaitsReading,
  isSafeState,
  judge,
  orderWithinMs,
  type RelayChange,
  wantsWarningOnly,
} from './interlock.ts';
import { interlockLimits } from './interlock-rules.ts';

export type CommandInput =
  | EnvelopeInput
  | LocalInput
  /** `durable` false: the disk refuses the commit. Only a change to a safe state then continues. */
  | { readonly kind: 'committed'; readonly token: string; readonly durable: boolean }
  | {
      readonly kind: 'driven';
      readonly token: string;
      readonly outcome: 'confirmed' | 'mismatch' | 'unknown' | 'refused';
      readonly reason: string;
    }
  /** The order of this feature is being taken back, because the verdict no longer allows it. */
  | { readonly kind: 'withdrawn'; readonly feature: FeatureName; readonly verdict: Verdict }
  | { readonly kind: 'time' };

export function changeOf(state: CommandsState, command: ActiveCommand): RelayChange {
  return {
    feature: command.feature,
    state: command.state,
    occasion: isAutomatic(command) ? 'automatic' : 'command',
    changesUtcMs: state.record.changesUtcMs[command.feature] ?? [],
    changedMs: state.changedMs[command.feature] ?? null,
    isReconfirmed: command.isReconfirmed === true,
    isInherited: state.ends[command.commandID] === undefined,
  };
}

function verdictOn(state: CommandsState, command: ActiveCommand, evidence: Evidence): Verdict {
  return judge(changeOf(state, command), evidence, state.rules);
}

/** A verdict with one reason from outside the interlock. */
function because(rule: RuleName, value: string): Verdict {
  return verdictOf([{ rule, isMet: false, value, needed: 'works', sinceMs: null }]);
}

function wait(draft: Draft, command: ActiveCommand, detail: { verdict: Verdict; evidence: Evidence }): void {
  const { feature } = command;
  const { verdict, evidence } = detail;
  const reportedMs = draft.state.reportedMs[feature] ?? Number.NEGATIVE_INFINITY;
  const isSame = command.waiting !== null && isSameVerdict(command.waiting, verdict);
  if (command.phase === 'armed' && (isSame || evidence.nowMs - reportedMs < commandLimits.reportMs)) return;
  setActive(draft, feature, { ...command, phase: 'armed', waiting: verdict });
  draft.state = { ...draft.state, reportedMs: { ...draft.state.reportedMs, [feature]: evidence.nowMs } };
  report(draft, command, 'armed', { atMs: evidence.trustedUtcMs ?? 0, verdict });
  draft.waits.push(feature);
}

/** Verdict on a change at this moment. A silent board leaves everything else unknown. The safe state needs only an open line. */
const presentVerdict = (evidence: Evidence, isSafe: boolean, judged: () => Verdict): Verdict =>
  (isSafe ? evidence.isLineDown !== true : evidence.boardAlive) ? judged() : because('board_alive', 'silent');

/** Verdict on a cut or an unlock as if a person ordered it now. It changes no command, relay or time. */
export function rehearse(state: CommandsState, feature: FeatureName, evidence: Evidence): Verdict {
  const changesUtcMs = state.record.changesUtcMs[feature] ?? [];
  const change = {
    feature,
    state: '1',
    occasion: 'command',
    changesUtcMs,
    isRehearsal: true,
  } as const;
  return presentVerdict(evidence, false, () => judge(change, evidence, state.rules));
}

/**
 * One step of one feature: expire, wait, or drive. The order matters:
 * 1. A change to the safe state overtakes a restriction first; it waits for no commit and no order.
 * 2. A commit or an order in progress is awaited, and an unknown outcome is read back before anything else.
 * 3. A newer command supersedes this one before a pause: the pause belongs to this command only.
 * 4. Expiry is checked before the verdict, so that no expired command is carried out.
 * 5. `executing` is committed before the relay is driven.
 */
function consider(draft: Draft, feature: FeatureName, evidence: Evidence): void {
  const command = draft.state.record.active[feature];
  const busy = draft.state.work[feature];
  if (command === undefined) return;
  if (isOvertaken(draft.state, command)) return overtake(draft, command, evidence);
  if (busy?.kind === 'committing' || busy?.kind === 'driving') return;
  // Rule 6: after an unknown outcome, read before acting. The next read-back decides (`recordReadBack`).
  if (command.phase === 'unknown') return;
  const atMs = evidence.trustedUtcMs ?? 0;
  if (draft.state.record.next[feature] !== undefined) {
    finish(draft, command, 'superseded', { atMs, reason: 'a newer command replaced it' });
    draft.waits.push(feature);
    return;
  }
  if (busy?.kind === 'ready' && command.phase === 'executing') return driveNow(draft, command, evidence);
  if (busy?.kind === 'pausing' && evidence.nowMs < busy.untilMs) return;
  if (isExpired(command, evidence, draft.state.ends)) {
    finish(draft, command, 'expired', { atMs, verdict: command.waiting });
    draft.waits.push(feature);
    return;
  }
  const isSafe = isSafeState(feature, command.state);
  const verdict = presentVerdict(evidence, isSafe, () => verdictOn(draft.state, command, evidence));
  if (!isAllowed(verdict)) return wait(draft, command, { verdict, evidence });
  setActive(draft, feature, { ...command, phase: 'executing', waiting: null });
  report(draft, command, 'executing', { atMs });
  draft.waits.push(feature);
}

/** True when a change to the safe state waits behind one away from it. */
function isOvertaken({ record }: CommandsState, { feature, state }: ActiveCommand): boolean {
  const next = record.next[feature];
  return next !== undefined && isSafeState(feature, next.state) && !isSafeState(feature, state);
}

/** Ends a restriction for the change to the safe state behind it, whatever the outcome of its order, and starts that change. */
function overtake(draft: Draft, command: ActiveCommand, evidence: Evidence): void {
  const { feature } = command;
  const isDriving = draft.state.work[feature]?.kind === 'driving';
  // The relay may have moved unseen, which counts as a change (rule 11).
  if (isDriving || command.phase === 'unknown') recordChange(draft, feature, evidence);
  // Does not wait for the commit: until then the restrictive order would be unguarded.
  if (isDriving) draft.effects.push({ kind: 'withdraw', relay: feature });
  finish(draft, command, 'superseded', {
    atMs: evidence.trustedUtcMs ?? 0,
    reason: 'a newer command replaced it',
  });
  draft.waits.push(feature);
  consider(draft, feature, evidence);
}

/** After the commit of `executing`: judges again, then drives the relay. */
function afterCommit(
  draft: Draft,
  feature: FeatureName,
  now: { durable: boolean; evidence: Evidence },
): void {
  const { durable, evidence } = now;
  setWork(draft, feature, undefined);
  const command = draft.state.record.active[feature];
  if (command?.phase !== 'executing') return;
  if (!durable && !isSafeState(feature, command.state)) {
    setActive(draft, feature, { ...command, phase: 'armed', waiting: because('storage', 'failed') });
    setWork(draft, feature, { kind: 'pausing', untilMs: evidence.nowMs + commandLimits.retryMostMs });
    return;
  }
  driveNow(draft, command, evidence);
}

/** Judges a command that is stored as executing once more, then drives the relay. */
function driveNow(draft: Draft, command: ActiveCommand, evidence: Evidence): void {
  const { feature } = command;
  setWork(draft, feature, undefined);
  const verdict = verdictOn(draft.state, command, evidence);
  const atMs = evidence.trustedUtcMs ?? 0;
  if (isExpired(command, evidence, draft.state.ends)) {
    finish(draft, command, 'expired', { atMs });
    draft.waits.push(feature);
    return;
  }
  if (!isAllowed(verdict)) {
    if (!awaitsReading(verdict)) return wait(draft, command, { verdict, evidence });
    setWork(draft, feature, { kind: 'ready' });
    return;
  }
  const endMs = draft.state.ends[command.commandID] ?? Number.POSITIVE_INFINITY;
  const byClockMs =
    evidence.latestUtcMs === null ? commandLimits.driveMs : command.expiresMs - evidence.latestUtcMs;
  const token = `drive:${command.commandID}`;
  setWork(draft, feature, { kind: 'driving', token, allowed: verdict });
  const withinMs = Math.min(orderWithinMs(command, commandLimits.driveMs), byClockMs, endMs - evidence.nowMs);
  draft.effects.push({ kind: 'drive', feature, state: command.state, token, withinMs });
}

/** @param proof verdict that permitted the order; null: it was judged before a restart. */
function recordConfirmed(
  draft: Draft,
  command: ActiveCommand,
  { evidence, proof }: { evidence: Evidence; proof: Verdict | null },
): void {
  const { feature, state, commandID } = command;
  const atMs = evidence.trustedUtcMs;
  if (wantedState(draft.state.record, feature) !== state) recordChange(draft, feature, evidence);
  const { record } = draft.state;
  const proven = command.proof === undefined ? {} : { proof: command.proof };
  const confirmed = { ...record.confirmed, [feature]: { state, commandID, ...proven } };
  draft.state = { ...draft.state, record: { ...record, confirmed } };
  // A safe state has no rules.
  const verdict = proof?.rules.length === 0 ? null : proof;
  finish(draft, command, 'confirmed', { atMs: atMs ?? 0, verdict });
  draft.waits.push(feature);
}

function driven(draft: Draft, input: Extract<CommandInput, { kind: 'driven' }>, evidence: Evidence): void {
  for (const feature of featureNames) {
    const busy = draft.state.work[feature];
    const command = draft.state.record.active[feature];
    if (busy?.kind !== 'driving' || busy.token !== input.token || command === undefined) continue;
    setWork(draft, feature, undefined);
    const atMs = evidence.trustedUtcMs ?? 0;
    if (input.outcome === 'confirmed')
      return recordConfirmed(draft, command, { evidence, proof: busy.allowed });
    const { withdrawn } = busy;
    if (input.outcome === 'unknown') {
      const waiting = withdrawn ?? because('relay_follows', 'unknown');
      setActive(draft, feature, { ...command, phase: 'unknown', waiting });
      const why = withdrawn === undefined ? { reason: input.reason } : { verdict: withdrawn };
      report(draft, command, 'unknown', { atMs, ...why });
      draft.waits.push(feature);
      return;
    }
    // The order was taken back before it was on the wire: nothing was tried.
    if (withdrawn !== undefined) return wait(draft, command, { verdict: withdrawn, evidence });
    const isMismatch = input.outcome === 'mismatch';
    return retry(draft, command, { isMismatch, reason: input.reason, evidence });
  }
}

interface Failure {
  readonly isMismatch: boolean;
  readonly reason: string;
  readonly evidence: Evidence;
}

/** The board refused, or the relay was read back unchanged: decides again after a pause. */
function retry(draft: Draft, tried: ActiveCommand, detail: Failure): void {
  const attempts = tried.attempts + 1;
  const mismatches = tried.mismatches + (detail.isMismatch ? 1 : 0);
  const command: ActiveCommand = { ...tried, attempts, mismatches };
  const { feature } = command;
  const atMs = detail.evidence.trustedUtcMs ?? 0;
  const verdict = because('relay_follows', detail.isMismatch ? 'mismatch' : 'refused');
  const { reason } = detail;
  const isHopeless = mismatches >= commandLimits.mismatches || attempts >= commandLimits.attempts;
  if (isHopeless && !isSafeState(feature, command.state)) {
    // The read-back may be wrong, and the relay must not stay in an unknown state.
    draft.effects.push({ kind: 'withdraw', relay: feature });
    finish(draft, command, 'refused', { atMs, verdict, reason });
    draft.waits.push(feature);
    return;
  }
  setActive(draft, feature, { ...command, phase: 'armed', waiting: verdict });
  report(draft, command, 'armed', { atMs, verdict, reason });
  const backOffMs = commandLimits.retryMs * 2 ** Math.min(attempts - 1, 10);
  // The relay may have closed and opened again unseen, so a restriction keeps the pause between two changes (rule 11).
  const leastMs = isSafeState(feature, command.state) ? 0 : interlockLimits.betweenChangesMs;
  const pauseMs = Math.max(leastMs, Math.min(commandLimits.retryMostMs, backOffMs));
  setWork(draft, feature, { kind: 'pausing', untilMs: detail.evidence.nowMs + pauseMs });
}

/** Ends a step that reports nothing but changed state which must survive a power cut. */
function commitRecord({ state, effects }: Draft): CommandStep {
  return { state, effects: [...effects, { kind: 'commit', events: [], token: 'record' }] };
}

export function stepCommands(state: CommandsState, input: CommandInput, evidence: Evidence): CommandStep {
  const draft: Draft = { state, events: [], effects: [], waits: [] };
  switch (input.kind) {
    case 'envelope':
      acceptEnvelope(draft, input, evidence);
      // The counter is part of the record and is committed even if nothing else changed.
      if (draft.state.record !== state.record && draft.events.length === 0) return commitRecord(draft);
      break;
    case 'local':
      acceptLocal(draft, input, evidence);
      break;
    case 'committed':
      for (const feature of featureNames) {
        const busy = draft.state.work[feature];
        if (busy?.kind === 'committing' && busy.token === input.token)
          afterCommit(draft, feature, { durable: input.durable, evidence });
      }
      break;
    case 'driven':
      driven(draft, input, evidence);
      break;
    case 'withdrawn': {
      const busy = draft.state.work[input.feature];
      if (busy?.kind === 'driving') setWork(draft, input.feature, { ...busy, withdrawn: input.verdict });
      break;
    }
    case 'time':
      for (const feature of featureNames) consider(draft, feature, evidence);
      // Comes after the features, so that an expired command is not renewed.
      if (renewEnds(draft, evidence) && draft.events.length === 0) return commitRecord(draft);
      break;
  }
  return commit(draft);
}

/** True for a lock that may have opened and closed before it was read: another try could open it twice for one command. */
function closesByItself({ feature, state }: ActiveCommand): boolean {
  return feature === 'cargoaccess' && state === '1';
}

type Withdrawn = ActiveCommand & { readonly waiting: Verdict };

/** True when the last order was taken back for the reason in `waiting`. */
export function wasWithdrawn(command: ActiveCommand): command is Withdrawn {
  const { waiting } = command;
  return waiting !== null && waiting.rules.every(({ rule }) => rule !== 'relay_follows');
}

/**
 * The order was taken back and the relay is unchanged: the relay did not fail, so the command waits as before. The relay may have closed unseen in
 * between, which counts as a change (rule 11).
 */
function goOnWaiting(draft: Draft, command: Withdrawn, evidence: Evidence): void {
  const { feature, waiting } = command;
  const atMs = evidence.trustedUtcMs;
  recordChange(draft, feature, evidence);
  setActive(draft, feature, { ...command, phase: 'armed' });
  report(draft, command, 'armed', { atMs: atMs ?? 0, verdict: waiting });
  setWork(draft, feature, { kind: 'pausing', untilMs: evidence.nowMs + interlockLimits.betweenChangesMs });
}

/** Uses relays read from the board to decide commands with an unknown outcome (rule 6). */
export function recordReadBack(
  state: CommandsState,
  relays: Readonly<Partial<Record<FeatureName, boolean>>>,
  evidence: Evidence,
): CommandStep {
  const draft: Draft = { state, events: [], effects: [], waits: [] };
  for (const feature of featureNames) {
    const command = draft.state.record.active[feature];
    const on = relays[feature];
    if (command?.phase !== 'unknown' || on === undefined || draft.state.work[feature] !== undefined) continue;
    if ((on ? '1' : '0') === command.state) recordConfirmed(draft, command, { evidence, proof: null });
    else if (closesByItself(command)) {
      const reason = 'outcome unknown: the lock may have opened and closed; send the command again';
      finish(draft, command, 'refused', { atMs: evidence.trustedUtcMs ?? 0, reason });
      draft.waits.push(feature);
    } else if (wasWithdrawn(command)) goOnWaiting(draft, command, evidence);
    else retry(draft, command, { isMismatch: true, reason: 'read back', evidence });
  }
  return commit(draft);
}

/**
 * True while the warning output is to sound: a cut waits for it, or is on its way with ignition on. False once a rule forbids the cut, so that the
 * next warning lasts its full time.
 */
export function wantsWarning(state: CommandsState, evidence: Evidence): boolean {
  const command = state.record.active.enginecutoff;
  if (command?.state !== '1' || command.phase === 'unknown' || evidence.ignition.value !== true) return false;
  if (state.record.next.enginecutoff !== undefined || isExpired(command, evidence, state.ends)) return false;
  const verdict = verdictOn(state, command, evidence);
  return isAllowed(verdict) || wantsWarningOnly(verdict);
}

/** True while a command drives or may have driven this relay; no other part may write it then. */
export function isBusy(state: CommandsState, feature: FeatureName): boolean {
  const phase = state.record.active[feature]?.phase;
  return phase === 'executing' || phase === 'unknown' || state.work[feature]?.kind === 'driving';
}
