// What the command machine takes up: signed envelopes of the broker, and requests made on the vehicle itself. Whoever asks,
// the command is told and kept in the same way. It must never take a replay, and never let an automatic request stand in
// the way of a person's.
import { type FeatureName, type FeatureState, featureNames } from '../../../src/core/event.ts';
import { isUnmet } from '../../../src/core/verdict.ts';
import type { CommandBody } from '../../../src/core/wire.ts';
import type { Evidence } from '../evidence/testimony.ts';
import { type CommandsState, type Draft, finish, report, setActive, setWork } from './command-draft.ts';
import { type ActiveCommand, draftOf, isAutomatic, type LocalSource } from './command-record.ts';
import { isSafeState } from './interlock.ts';

export interface EnvelopeInput {
  readonly kind: 'envelope';
  readonly body: CommandBody;
  readonly fitted: readonly FeatureName[];
  readonly boot: string;
}

/** A wish that arose on the vehicle: it has no counter, and an id that is unique by boot and number. */
export interface LocalInput {
  readonly kind: 'local';
  readonly commandID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly source: LocalSource;
  readonly reason: string;
  readonly fitted: readonly FeatureName[];
}

/** How every id of a local command begins. */
export const localPrefix = 'local-';

/** An automatic cut that could not be carried out for this long is given up (rule 7). */
const localLifeMs = 24 * 3_600_000;
/** The end of a wish that never expires. */
const neverMs = Number.MAX_SAFE_INTEGER;

/** What the time may be set back by without meaning that it was wrong when a local command was made. */
const setBackMs = 5 * 60_000;

/**
 * True once it is, or may be, past the end of the command's life: by the clock, or by the time that has passed since it came.
 * Also when an automatic command has more life before it than it was ever given: then it was made by a receiver whose clock was
 * ahead, perhaps by years.
 */
export function isExpired(
  command: Pick<ActiveCommand, 'commandID' | 'expiresMs' | 'source'>,
  { nowMs, latestUtcMs, trustedUtcMs, isServerBehind }: Evidence,
  ends: CommandsState['ends'],
): boolean {
  const endMs = ends[command.commandID];
  if (nowMs >= (endMs ?? Number.POSITIVE_INFINITY)) return true;
  if (endMs === undefined && isServerBehind && command.expiresMs !== neverMs) return true;
  if (latestUtcMs === null || trustedUtcMs === null) return false;
  const isAhead = command.source !== undefined && command.expiresMs !== neverMs;
  return (
    latestUtcMs >= command.expiresMs ||
    (isAhead && command.expiresMs - trustedUtcMs > localLifeMs + setBackMs)
  );
}

const isWaiting = (command: ActiveCommand | undefined): command is ActiveCommand =>
  command?.phase === 'received' || command?.phase === 'armed';

/** The same command again while it waits because the relay changed too often: a person insists (rule 11). */
function isReconfirming(command: ActiveCommand, older: ActiveCommand | undefined): boolean {
  if (!isWaiting(older) || older.state !== command.state || older.waiting === null) return false;
  return isUnmet(older.waiting, 'changes_per_hour') && !isAutomatic(command);
}

function acceptNew(
  work: Draft,
  wish: ActiveCommand,
  detail: { atMs: number; nowMs: number; reason?: string },
): void {
  const { feature } = wish;
  const { atMs } = detail;
  const older = work.state.record.active[feature];
  const waiting = work.state.record.next[feature];
  const command: ActiveCommand = isReconfirming(wish, older) ? { ...wish, isReconfirmed: true } : wish;
  if (command.expiresMs !== neverMs) {
    const endMs = detail.nowMs + Math.max(0, command.expiresMs - command.issuedMs);
    work.state = { ...work.state, ends: { ...work.state.ends, [command.commandID]: endMs } };
  }
  report(work, command, 'received', detail);
  if (waiting !== undefined) report(work, waiting, 'superseded', { atMs, reason: 'a newer command came' });
  if (older !== undefined && !isWaiting(older)) {
    const { record } = work.state;
    work.state = { ...work.state, record: { ...record, next: { ...record.next, [feature]: command } } };
    return;
  }
  if (older !== undefined) finish(work, older, 'superseded', { atMs, reason: 'a newer command came' });
  setActive(work, feature, command);
  setWork(work, feature, undefined);
}

/** Withdraws a command wherever it is; one that never came is remembered as withdrawn, so that it never will. */
function cancel(work: Draft, command: ActiveCommand, atMs: number): void {
  const { commandID } = command;
  for (const feature of featureNames) {
    const active = work.state.record.active[feature];
    const { [feature]: next, ...others } = work.state.record.next;
    if (next?.commandID === commandID) {
      work.state = { ...work.state, record: { ...work.state.record, next: others } };
      return report(work, next, 'cancelled', { atMs });
    }
    if (active?.commandID !== commandID) continue;
    if (active.phase === 'received' || active.phase === 'armed')
      return finish(work, active, 'cancelled', { atMs });
    return void work.effects.push({ kind: 'note', text: 'too late to cancel', commandID });
  }
  if (!sayAgain(work, command))
    report(work, command, 'cancelled', { atMs, reason: 'withdrawn before it came' });
}

/** Tells the state of a command that is known already; the broker asks because it lost our report. */
function sayAgain(work: Draft, command: ActiveCommand): boolean {
  const known = work.state.record.seen.find((entry) => entry.commandID === command.commandID);
  if (known === undefined) return false;
  work.effects.push({ kind: 'note', text: `known already: ${known.last}`, commandID: command.commandID });
  if (known.last !== 'requested' && known.last !== 'sent')
    work.events.push(draftOf(command, known.last, { reason: 'said again' }));
  return true;
}

/** A verified envelope. Replays change nothing and are answered with the state that the command has. */
export function acceptEnvelope(work: Draft, input: EnvelopeInput, evidence: Evidence): void {
  const { body, fitted, boot } = input;
  const { record } = work.state;
  const command: ActiveCommand = {
    commandID: body.commandID,
    feature: body.feature,
    state: body.state,
    issuedMs: body.issuedMs,
    expiresMs: body.expiresMs,
    phase: 'received',
    waiting: null,
    attempts: 0,
    mismatches: 0,
  };
  const atMs = evidence.trustedUtcMs ?? body.issuedMs;
  const note = (text: string): void =>
    void work.effects.push({ kind: 'note', text, commandID: body.commandID });
  if (body.boot !== boot) return note('the envelope is for another boot');
  if (body.counter <= record.counter) return note('the counter did not grow: a replay');
  work.state = { ...work.state, record: { ...record, counter: body.counter } };
  if (body.cancel) return cancel(work, command, atMs);
  if (sayAgain(work, command)) return;
  if (!fitted.includes(body.feature)) return report(work, command, 'refused', { atMs, reason: 'not fitted' });
  if (isExpired(command, evidence, work.state.ends)) {
    report(work, command, 'expired', { atMs, reason: 'expired on arrival' });
    return dropOlder(work, command.feature, atMs);
  }
  acceptNew(work, command, { atMs, nowMs: evidence.nowMs });
}

/**
 * A newer command came too late to be carried out, but people wish otherwise by now: what waits to be restricted is given
 * up. An older restore goes on.
 */
function dropOlder(work: Draft, feature: FeatureName, atMs: number): void {
  const { active, next } = work.state.record;
  const isGivenUp = (command: ActiveCommand | undefined): command is ActiveCommand =>
    isWaiting(command) && !isSafeState(feature, command.state);
  const detail = { atMs, reason: 'a newer command came' };
  const [older, waiting] = [active[feature], next[feature]];
  if (isGivenUp(waiting)) {
    const { [feature]: _dropped, ...others } = next;
    work.state = { ...work.state, record: { ...work.state.record, next: others } };
    report(work, waiting, 'superseded', detail);
  }
  if (isGivenUp(older)) finish(work, older, 'superseded', detail);
}

/** What each source may ask for, whatever else holds; all other wishes are refused. */
function isPermitted(work: Draft, { source, feature, state }: LocalInput): boolean {
  const isCut = feature === 'enginecutoff' && state === '1';
  switch (source) {
    case 'zone':
      return !isCut || work.state.rules.zoneCuts;
    case 'service':
      return feature === 'enginecutoff' && state === '0';
    case 'timer':
      return feature === 'cargoaccess' && state === '0';
  }
}

/** Why a request of the vehicle itself does not become a command; null when it does. */
function refusalOf(work: Draft, input: LocalInput, evidence: Evidence): string | null {
  const { feature, state, source, fitted } = input;
  const { active, next, confirmed } = work.state.record;
  if (!fitted.includes(feature)) return 'not fitted';
  if (!isPermitted(work, input)) return 'not permitted on this vehicle';
  if (!isAutomatic({ source })) return null;
  const isPersons = (command: ActiveCommand | undefined): boolean =>
    command !== undefined && !isAutomatic(command);
  if (isPersons(active[feature]) || isPersons(next[feature])) return 'a command of a person stands';
  if (!isSafeState(feature, state) && evidence.trustedUtcMs === null) return 'the time is unknown';
  const proven = confirmed[feature];
  const isLocal = proven?.commandID?.startsWith(localPrefix) === true;
  return feature === 'enginecutoff' && state === '0' && proven?.state === '1' && !isLocal
    ? 'the engine was cut by a person'
    : null;
}

/** An automatic request that changes nothing: what it asks for is on its way or holds already. */
function isPointless(work: Draft, { feature, state, source }: LocalInput): boolean {
  const { active, next, confirmed } = work.state.record;
  const newest = next[feature] ?? active[feature];
  return isAutomatic({ source }) && (newest ?? confirmed[feature])?.state === state;
}

/**
 * A wish of the vehicle itself. A person at the vehicle (`service`) counts as a person and overtakes what waits; an automatic
 * wish never supersedes a person's command, and never undoes a cut that a person made.
 */
export function acceptLocal(work: Draft, input: LocalInput, evidence: Evidence): void {
  const { commandID, feature, state, source, reason } = input;
  const atMs = evidence.trustedUtcMs ?? 0;
  const isSafe = isSafeState(feature, state);
  const refusal = refusalOf(work, input, evidence);
  const command: ActiveCommand = {
    commandID,
    feature,
    state,
    issuedMs: atMs,
    expiresMs: isSafe ? neverMs : atMs + localLifeMs,
    phase: 'received',
    waiting: null,
    attempts: 0,
    mismatches: 0,
    source,
  };
  if (refusal !== null) return report(work, command, 'refused', { atMs, reason: refusal });
  if (isPointless(work, input))
    return void work.effects.push({ kind: 'note', text: 'nothing to do', commandID });
  acceptNew(work, command, { atMs, nowMs: evidence.nowMs, reason });
}
