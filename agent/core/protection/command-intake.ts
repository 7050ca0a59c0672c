// Intake of the command machine: signed envelopes of the broker, and requests made on the vehicle itself. Both are reported and recorded in the same
// way. A replay is never accepted, and an automatic request never blocks a person's command.
import { type FeatureName, type FeatureState, featureNames } from '../../../src/core/events/event.ts';
import { isUnmet } from '../../../src/core/verdict/verdict.ts';
import type { CommandBody } from '../../../src/core/wire/wire.ts';
import type { OrderProof } from '../../guard/order.ts';
import type { Evidence } from '../evidence/testimony.ts';
import { timeLimits } from '../timekeeping.ts';
import { type CommandsState, type Draft, finish, report, setActive, setWork } from './command-draft.ts';
import {
  type ActiveCommand,
  type CommandRecord,
  draftOf,
  isAutomatic,
  type LocalSource,
  type ZoneSide,
} from './command-record.ts';
import { isSafeState } from './interlock.ts';

export interface EnvelopeInput {
  readonly kind: 'envelope';
  readonly body: CommandBody;
  readonly fitted: readonly FeatureName[];
  readonly boot: string;
  /** Why it is refused; absent: no module objects. */
  readonly objection?: string;
  readonly proof?: OrderProof;
}

/** Drops the restrictions that wait. */
export interface LocalDrop {
  readonly kind: 'local';
  /** The reason. */
  readonly dropped: string;
}

/** The vehicle crossed a border: withdraws commands that wait because it was on the other side. */
export interface LocalCrossing {
  readonly kind: 'local';
  readonly crossed: ZoneSide;
}

/** A request made on the vehicle. It has no counter; boot and number make its id unique. */
export interface LocalRequest {
  readonly kind: 'local';
  readonly commandID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly source: LocalSource;
  readonly reason: string;
  /** Side of the geozone border on which the vehicle is. */
  readonly side?: ZoneSide;
  readonly fitted: readonly FeatureName[];
  /** Why it is refused; absent: no module objects. */
  readonly objection?: string;
}

export type LocalInput = LocalRequest | LocalCrossing | LocalDrop;

/** Prefix of the ids of local commands. */
export const localPrefix = 'local-';

/** An automatic cut that could not be carried out within this time is given up (rule 7). */
const localLifeMs = 24 * 3_600_000;
/** The deadline of a request that never expires. */
const neverMs = Number.MAX_SAFE_INTEGER;

/** Maximum setback of the clock that does not prove the time of a local command wrong. */
const setBackMs = 5 * 60_000;

/**
 * True once the deadline has passed or may have passed, by the clock or by the time since arrival. Also true for an automatic command with more time
 * left than it was ever given: a receiver whose clock was ahead, perhaps by years, made it.
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

/**
 * Expiry to store on disk, where it must hold after a restart without the monotonic deadline. If the clock was set back since the command arrived,
 * `expiresMs` comes from a clock that was ahead. The remaining life is then counted from the present time.
 */
function expiresByPresentClock(
  { commandID, expiresMs }: Pick<ActiveCommand, 'commandID' | 'expiresMs'>,
  { nowMs, latestUtcMs, trustedUtcMs }: Evidence,
  ends: CommandsState['ends'],
): number {
  const endMs = ends[commandID];
  if (endMs === undefined || latestUtcMs === null || trustedUtcMs === null) return expiresMs;
  const isSetBack = latestUtcMs + (endMs - nowMs) < expiresMs - timeLimits.toleranceMs;
  return isSetBack ? Math.min(expiresMs, Math.floor(trustedUtcMs + (endMs - nowMs))) : expiresMs;
}

/** Recalculates stored expiries that come from a clock which was set back since (`expiresByPresentClock`). @returns whether one changed. */
export function renewEnds(draft: Draft, evidence: Evidence): boolean {
  const { record, ends } = draft.state;
  const renewed = (commands: CommandRecord['active']): CommandRecord['active'] => {
    const late = Object.values(commands).flatMap((command) => {
      const expiresMs = expiresByPresentClock(command, evidence, ends);
      return expiresMs === command.expiresMs ? [] : [[command.feature, { ...command, expiresMs }] as const];
    });
    return late.length === 0 ? commands : { ...commands, ...Object.fromEntries(late) };
  };
  const [active, next] = [renewed(record.active), renewed(record.next)];
  if (active === record.active && next === record.next) return false;
  draft.state = { ...draft.state, record: { ...record, active, next } };
  return true;
}

/** True for a command that nothing was tried for yet. */
export const isWaiting = (command: ActiveCommand | undefined): command is ActiveCommand =>
  command?.phase === 'received' || command?.phase === 'armed';

/** True for the same command again while the first waits because the relay changed too often: a person insists (rule 11). */
function isReconfirming(command: ActiveCommand, older: ActiveCommand | undefined): boolean {
  if (!isWaiting(older) || older.state !== command.state || older.waiting === null) return false;
  return isUnmet(older.waiting, 'changes_per_hour') && !isAutomatic(command);
}

function acceptNew(
  draft: Draft,
  offered: ActiveCommand,
  detail: { atMs: number; evidence: Evidence; reason?: string },
): void {
  const { feature } = offered;
  const { atMs, evidence } = detail;
  const older = draft.state.record.active[feature];
  const waiting = draft.state.record.next[feature];
  const command: ActiveCommand = isReconfirming(offered, older)
    ? { ...offered, isReconfirmed: true }
    : offered;
  if (command.expiresMs !== neverMs) {
    const sinceMs = Math.max(command.issuedMs, evidence.latestUtcMs ?? 0);
    const endMs = evidence.nowMs + Math.max(0, command.expiresMs - sinceMs);
    draft.state = { ...draft.state, ends: { ...draft.state.ends, [command.commandID]: endMs } };
  }
  report(draft, command, 'received', detail);
  if (waiting !== undefined)
    report(draft, waiting, 'superseded', { atMs, reason: 'a newer command replaced it' });
  if (older !== undefined && !isWaiting(older)) {
    const { record } = draft.state;
    draft.state = { ...draft.state, record: { ...record, next: { ...record.next, [feature]: command } } };
    return;
  }
  if (older !== undefined)
    finish(draft, older, 'superseded', { atMs, reason: 'a newer command replaced it' });
  setActive(draft, feature, command);
  setWork(draft, feature, undefined);
}

/** Withdraws a command that is not in execution. One that never arrived is remembered as withdrawn, so that it is never executed. */
function cancel(draft: Draft, command: ActiveCommand, atMs: number): void {
  const { commandID } = command;
  for (const feature of featureNames) {
    const active = draft.state.record.active[feature];
    const { [feature]: next, ...others } = draft.state.record.next;
    if (next?.commandID === commandID) {
      draft.state = { ...draft.state, record: { ...draft.state.record, next: others } };
      return report(draft, next, 'cancelled', { atMs });
    }
    if (active?.commandID !== commandID) continue;
    if (active.phase === 'received' || active.phase === 'armed')
      return finish(draft, active, 'cancelled', { atMs });
    return void draft.effects.push({ kind: 'note', text: 'too late to cancel', commandID });
  }
  if (!sayAgain(draft, command))
    report(draft, command, 'cancelled', { atMs, reason: 'withdrawn before it came' });
}

/** Reports the state of a known command again. The broker repeats an envelope when our report was lost. */
function sayAgain(draft: Draft, command: ActiveCommand): boolean {
  const known = draft.state.record.seen.find((entry) => entry.commandID === command.commandID);
  if (known === undefined) return false;
  draft.effects.push({ kind: 'note', text: `known already: ${known.last}`, commandID: command.commandID });
  if (known.last === 'requested' || known.last === 'sent') return true;
  const { active, next } = draft.state.record;
  const held = [active[command.feature], next[command.feature]].find(
    (one) => one?.commandID === command.commandID,
  );
  // A waiting command keeps its reason, so that the broker continues to show it.
  const verdict = held?.waiting ?? null;
  draft.events.push(draftOf(command, known.last, verdict === null ? { reason: 'said again' } : { verdict }));
  return true;
}

/** Accepts a verified envelope. A replay changes nothing; its answer is the state of the command. */
export function acceptEnvelope(draft: Draft, input: EnvelopeInput, evidence: Evidence): void {
  const { body, fitted, boot, proof, objection } = input;
  const { record } = draft.state;
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
    ...(proof === undefined || body.state === '0' ? {} : { proof }),
  };
  const atMs = evidence.trustedUtcMs ?? body.issuedMs;
  const reject = (text: string): void =>
    void draft.effects.push({ kind: 'note', text, commandID: body.commandID });
  if (body.boot !== boot) return reject('the envelope is for another boot');
  if (body.counter <= record.counter) return reject('the counter did not grow: a replay');
  draft.state = { ...draft.state, record: { ...record, counter: body.counter } };
  if (body.cancel) return cancel(draft, command, atMs);
  if (sayAgain(draft, command)) return;
  if (!fitted.includes(body.feature))
    return report(draft, command, 'refused', { atMs, reason: 'not fitted' });
  if (objection !== undefined) return report(draft, command, 'refused', { atMs, reason: objection });
  if (isExpired(command, evidence, draft.state.ends)) {
    report(draft, command, 'expired', { atMs, reason: 'expired on arrival' });
    return dropOlder(draft, command.feature, atMs);
  }
  acceptNew(draft, command, { atMs, evidence });
}

/** A newer command expired before it arrived, so operators want another state by now: drops a waiting restriction. An older restore continues. */
function dropOlder(draft: Draft, feature: FeatureName, atMs: number): void {
  giveUp(draft, feature, () => true, { to: 'superseded', atMs, reason: 'a newer command replaced it' });
}

/** Ends matching restrictions that wait, the active command and the one behind it. */
function giveUp(
  draft: Draft,
  feature: FeatureName,
  isMeant: (command: ActiveCommand) => boolean,
  end: { readonly to: 'superseded' | 'cancelled'; readonly atMs: number; readonly reason: string },
): void {
  const { to, ...detail } = end;
  const { active, next } = draft.state.record;
  const isGivenUp = (command: ActiveCommand | undefined): command is ActiveCommand =>
    isWaiting(command) && !isSafeState(feature, command.state) && isMeant(command);
  const [older, waiting] = [active[feature], next[feature]];
  if (isGivenUp(waiting)) {
    const { [feature]: _dropped, ...others } = next;
    draft.state = { ...draft.state, record: { ...draft.state.record, next: others } };
    report(draft, waiting, to, detail);
  }
  if (isGivenUp(older)) finish(draft, older, to, detail);
}

/** Requests that each source may make under any conditions; all others are refused. */
function isPermitted(draft: Draft, { source, feature, state }: LocalRequest): boolean {
  const isCut = feature === 'enginecutoff' && state === '1';
  switch (source) {
    case 'zone':
      return !isCut || draft.state.rules.zoneCuts;
    case 'service':
      return feature === 'enginecutoff' && state === '0';
  }
}

/** Reason to refuse a request of the vehicle itself; null: it becomes a command. */
function refusalOf(draft: Draft, input: LocalRequest, evidence: Evidence): string | null {
  const { feature, state, source, fitted } = input;
  const { active, next, confirmed } = draft.state.record;
  if (!fitted.includes(feature)) return 'not fitted';
  if (!isPermitted(draft, input)) return 'not permitted on this vehicle';
  if (input.objection !== undefined) return input.objection;
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

/** True for an automatic request whose target state is in progress or already confirmed. */
function isPointless(draft: Draft, { feature, state, source }: LocalRequest): boolean {
  const { active, next, confirmed } = draft.state.record;
  const newest = next[feature] ?? active[feature];
  return isAutomatic({ source }) && (newest ?? confirmed[feature])?.state === state;
}

const proofOf = (feature: FeatureName, { id: zoneID, to }: ZoneSide, untilMs: number): OrderProof => ({
  kind: 'zone',
  feature,
  zoneID,
  to,
  untilMs,
});

/**
 * Accepts a request of the vehicle itself. A person at the vehicle (`service`) supersedes waiting commands. An automatic request never supersedes a
 * person's command and never undoes a person's cut.
 */
export function acceptLocal(draft: Draft, input: LocalInput, evidence: Evidence): void {
  const atMs = evidence.trustedUtcMs ?? 0;
  if ('crossed' in input) return withdrawCrossed(draft, input.crossed, atMs);
  if ('dropped' in input) return dropWaiting(draft, { to: 'cancelled', atMs, reason: input.dropped });
  const { commandID, feature, state, source, reason, side } = input;
  const isSafe = isSafeState(feature, state);
  const refusal = refusalOf(draft, input, evidence);
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
    ...(side === undefined ? {} : { side }),
    ...(side === undefined || isSafe ? {} : { proof: proofOf(feature, side, atMs + localLifeMs) }),
  };
  if (refusal !== null) return report(draft, command, 'refused', { atMs, reason: refusal });
  if (isPointless(draft, input))
    return void draft.effects.push({ kind: 'note', text: 'nothing to do', commandID });
  acceptNew(draft, command, { atMs, evidence, reason });
}

function withdrawCrossed(draft: Draft, crossed: ZoneSide, atMs: number): void {
  const isBeyond = ({ side }: ActiveCommand): boolean =>
    side !== undefined && side.id === crossed.id && side.to !== crossed.to;
  const reason = `the vehicle is ${crossed.to} of geozone ${crossed.id} again`;
  for (const feature of featureNames) giveUp(draft, feature, isBeyond, { to: 'cancelled', atMs, reason });
}

function dropWaiting(draft: Draft, end: Parameters<typeof giveUp>[3]): void {
  for (const feature of featureNames) giveUp(draft, feature, () => true, end);
}
