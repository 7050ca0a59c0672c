// Keeps the relays as last confirmed (edge-agents 2.3 rules 9 and 10). It compares every read-back with the required state, repairs a bounded number
// of times, and re-applies a confirmed cut only with the proof that a command needs. It never re-opens a cargo lock by itself and never writes a
// relay that a command is working on. A relay that must be in the safe state and was not read so is written repeatedly, whether or not the board is
// understood.
import { type FeatureName, type FeatureState, featureNames } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { isAllowed } from '../../../src/core/verdict/verdict.ts';
import type { Evidence } from '../evidence/testimony.ts';
import type { CommandsState } from './command-draft.ts';
import { type EventDraft, relayStatusCode } from './command-record.ts';
import { isBusy, wasWithdrawn } from './commands.ts';
import { judge, orderWithinMs } from './interlock.ts';
import { type InterlockRules } from './interlock-rules.ts';

export const relayLimits = {
  tries: 3,
  betweenTriesMs: 10_000,
  /** A repair to the safe state is written repeatedly for this long; the next step decides again. */
  withinMs: 5000,
  /** Interval of the tries, without end, for a relay that wrongly keeps the engine cut. */
  neverGiveUpMs: 60_000,
  /** Maximum age of a read-back that a repair may rest on. */
  readingMs: 15_000,
  /** A cut of unknown outcome is taken back if no reading settles it within this time on an open line. */
  unprovenCutMs: 5000,
} as const;

interface Watch {
  readonly tries: number;
  readonly nextTryMs: number;
  readonly faulted: boolean;
  readonly repairing: boolean;
  /** The relay fell off while the board was off. This is expected, so it is re-applied without an alarm. */
  readonly atStart: boolean;
}

interface Reading {
  readonly on: boolean;
  readonly atMs: number;
}

export interface RelaysState {
  readonly readings: Readonly<Partial<Record<FeatureName, Reading>>>;
  readonly watch: Readonly<Partial<Record<FeatureName, Watch>>>;
  /** Monotonic time at which the cargo lock is closed, ms; null: no known opening, so an open lock is closed at once. */
  readonly lockAtMs: number | null;
  /** Monotonic time of the next order to the safe state for a relay of unknown state, ms. */
  readonly releaseAtMs: Readonly<Partial<Record<FeatureName, number>>>;
}

export function createRelaysState(): RelaysState {
  return { readings: {}, watch: {}, lockAtMs: null, releaseAtMs: {} };
}

/** Records an unlock: the cargo may stay open until `lockAtMs`. Not persisted, so a restart locks at once. */
export function recordUnlock(state: RelaysState, lockAtMs: number): RelaysState {
  return { ...state, lockAtMs };
}

export type RelayEffect =
  | {
      readonly kind: 'repair';
      readonly feature: FeatureName;
      readonly state: FeatureState;
      readonly token: string;
      readonly withinMs: number;
    }
  | { readonly kind: 'event'; readonly draft: EventDraft }
  /** Adopts the state that was found, because it is right to keep it. */
  | {
      readonly kind: 'adopt';
      readonly feature: FeatureName;
      readonly state: FeatureState;
      readonly draft: EventDraft;
    };

interface RelayStep {
  readonly state: RelaysState;
  readonly effects: readonly RelayEffect[];
}

type AlarmName = 'RELAY_MISMATCH' | 'RELAY_FAULT' | 'RELAY_RESTORED';

function alarm(
  name: AlarmName,
  feature: FeatureName,
  detail: { read: boolean; wanted: FeatureState; reason: string },
): EventDraft {
  return {
    statusCode: statusCodes[name].code,
    outputs: { [feature]: detail.read },
    attributes: { feature, wanted: detail.wanted, reason: detail.reason },
  };
}

/** Records a reading of the board, and whether it is the first one after it came up. */
export function recordRelays(
  state: RelaysState,
  relays: Readonly<Partial<Record<FeatureName, boolean>>>,
  seen: { readonly atMs: number; readonly boardCameUp: boolean },
): RelaysState {
  let next = state;
  for (const feature of featureNames) {
    const on = relays[feature];
    if (on === undefined) continue;
    next = { ...next, readings: { ...next.readings, [feature]: { on, atMs: seen.atMs } } };
    if (!seen.boardCameUp) continue;
    const fresh: Watch = { tries: 0, nextTryMs: 0, faulted: false, repairing: false, atStart: true };
    next = { ...next, watch: { ...next.watch, [feature]: fresh } };
  }
  return next;
}

/** Records the outcome of a repair. The reading follows from it, so that the next step does not repeat the repair. */
export function recordRepair(
  state: RelaysState,
  result: { readonly feature: FeatureName; readonly readBack: boolean | null; readonly atMs: number },
): RelaysState {
  const watch = state.watch[result.feature];
  const next =
    watch === undefined
      ? state
      : { ...state, watch: { ...state.watch, [result.feature]: { ...watch, repairing: false } } };
  if (result.readBack === null) return next;
  return {
    ...next,
    readings: { ...next.readings, [result.feature]: { on: result.readBack, atMs: result.atMs } },
  };
}

function setWatch(state: RelaysState, feature: FeatureName, watch: Watch | undefined): RelaysState {
  const { [feature]: _old, ...others } = state.watch;
  return { ...state, watch: watch === undefined ? others : { ...others, [feature]: watch } };
}

function matches(state: RelaysState, feature: FeatureName, wanted: FeatureState): RelayStep {
  const watch = state.watch[feature];
  if (watch === undefined) return { state, effects: [] };
  const cleared = setWatch(state, feature, undefined);
  if (watch.tries === 0 && watch.atStart) return { state: cleared, effects: [] };
  const reason = watch.atStart ? 're-applied after the board started' : 'the relay is as it should be again';
  const detail = { read: wanted === '1', wanted, reason };
  return { state: cleared, effects: [{ kind: 'event', draft: alarm('RELAY_RESTORED', feature, detail) }] };
}

function differs(
  state: RelaysState,
  feature: FeatureName,
  look: { wanted: FeatureState; evidence: Evidence; rules: InterlockRules },
): RelayStep {
  const { wanted, evidence, rules } = look;
  const read = wanted === '0';
  const effects: RelayEffect[] = [];
  let watch = state.watch[feature];
  if (watch === undefined) {
    watch = { tries: 0, nextTryMs: 0, faulted: false, repairing: false, atStart: false };
    effects.push({
      kind: 'event',
      draft: alarm('RELAY_MISMATCH', feature, {
        read,
        wanted,
        reason: 'the relay is not as it was last confirmed',
      }),
    });
  }
  const verdict = judge({ feature, state: wanted, occasion: 'reapply' }, evidence, rules);
  const due = !watch.repairing && evidence.nowMs >= watch.nextTryMs;
  if (!isAllowed(verdict) || !due) return { state: setWatch(state, feature, watch), effects };
  if (watch.tries >= relayLimits.tries && !watch.faulted) {
    const reason = `the relay did not follow ${watch.tries} times`;
    effects.push({ kind: 'event', draft: alarm('RELAY_FAULT', feature, { read, wanted, reason }) });
    watch = { ...watch, faulted: true };
  }
  if (watch.faulted && wanted === '1') return { state: setWatch(state, feature, watch), effects };
  const pauseMs = watch.faulted ? relayLimits.neverGiveUpMs : relayLimits.betweenTriesMs;
  const withinMs = orderWithinMs({ feature, state: wanted }, relayLimits.withinMs);
  // A cut may be on the wire as late as that; the pause between two begins there.
  const nextTryMs = evidence.nowMs + pauseMs + (wanted === '1' ? withinMs : 0);
  watch = { ...watch, tries: watch.tries + 1, nextTryMs, repairing: true };
  effects.push({ kind: 'repair', feature, state: wanted, token: `repair:${feature}`, withinMs });
  return { state: setWatch(state, feature, watch), effects };
}

/** A relay without a record: a first start, or a lost record. */
function unrecorded(state: RelaysState, feature: FeatureName, read: boolean): RelayStep {
  if (read && feature === 'cargoaccess') {
    const reason = 'found unlocked with no record of a command: it is being locked';
    const draft = alarm('RELAY_MISMATCH', feature, { read, wanted: '0', reason });
    const watch: Watch = { tries: 0, nextTryMs: 0, faulted: false, repairing: false, atStart: false };
    return {
      state: setWatch(state, feature, watch),
      effects: [{ kind: 'adopt', feature, state: '0', draft }],
    };
  }
  const found: FeatureState = read ? '1' : '0';
  const draft: EventDraft = {
    statusCode: relayStatusCode(feature, found),
    outputs: { [feature]: read },
    attributes: { feature, state: found, reason: 'found so at the start, with no record of a command' },
  };
  return { state, effects: [{ kind: 'adopt', feature, state: found, draft }] };
}

/** A cargo lock that was opened and reads shut: the board's own time was over, the agent shut it, or the relay fell off. */
function lockedAgain(state: RelaysState, evidence: Evidence): RelayStep {
  const feature = 'cargoaccess';
  const isOver = state.lockAtMs !== null && evidence.nowMs >= state.lockAtMs;
  const otherwise = isOver ? 'locked again: its time was over' : 'the relay fell off: locked stays locked';
  const reason = isDriving(evidence) ? 'locked again: the vehicle drives' : otherwise;
  const draft: EventDraft = {
    statusCode: statusCodes.DOOR_LOCK.code,
    outputs: { [feature]: false },
    attributes: { feature, state: '0', reason },
  };
  return {
    state: { ...setWatch(state, feature, undefined), lockAtMs: null },
    effects: [{ kind: 'adopt', feature, state: '0', draft }],
  };
}

const isDriving = ({ drive }: Evidence): boolean => drive.state === 'driving';

const mayBeOpen = ({ lockAtMs }: RelaysState, evidence: Evidence): boolean =>
  lockAtMs !== null && evidence.nowMs < lockAtMs && !isDriving(evidence);

/** Closes a cargo lock that is open past its time, for an unknown time, or on a vehicle that drives; retries without end. */
function lockWhenOver(state: RelaysState, evidence: Evidence): RelayStep {
  const feature = 'cargoaccess';
  const { nowMs } = evidence;
  if (mayBeOpen(state, evidence)) return matches(state, feature, '1');
  const fresh: Watch = { tries: 0, nextTryMs: 0, faulted: false, repairing: false, atStart: false };
  const watch = state.watch[feature] ?? fresh;
  if (watch.repairing || nowMs < watch.nextTryMs) return { state, effects: [] };
  const isNewFault = watch.tries >= relayLimits.tries && !watch.faulted;
  const detail = {
    read: true,
    wanted: '0',
    reason: `the relay did not follow ${watch.tries} times`,
  } as const;
  const alarms: RelayEffect[] = isNewFault
    ? [{ kind: 'event', draft: alarm('RELAY_FAULT', feature, detail) }]
    : [];
  const nextTryMs = nowMs + relayLimits.betweenTriesMs;
  const faulted = watch.faulted || isNewFault;
  const next = setWatch(state, feature, {
    ...watch,
    tries: watch.tries + 1,
    nextTryMs,
    faulted,
    repairing: true,
  });
  return {
    state: next,
    effects: [
      ...alarms,
      { kind: 'repair', feature, state: '0', token: `relock:${feature}`, withinMs: relayLimits.withinMs },
    ],
  };
}

interface Supervision {
  readonly commands: CommandsState;
  readonly evidence: Evidence;
  /** Relays with an order at the board. */
  readonly ordered: readonly FeatureName[];
}

function isKnown({ readings }: RelaysState, feature: FeatureName, { nowMs, boardAlive }: Evidence): boolean {
  const reading = readings[feature];
  return boardAlive && reading !== undefined && nowMs - reading.atMs <= relayLimits.readingMs;
}

/**
 * Time without a reading after which the safe state is ordered, ms; null: it is not ordered. It is ordered for a relay that must be in its safe state
 * and was last read otherwise, or was written so without a read-back. It is also ordered if a cut may have been carried out and nothing proves it any
 * more.
 */
function releaseAfterMs(
  state: RelaysState,
  feature: FeatureName,
  { commands, evidence }: Supervision,
): number | null {
  const active = commands.record.active[feature];
  const isLockOver = feature === 'cargoaccess' && !mayBeOpen(state, evidence);
  if (active?.phase === 'unknown') {
    if (active.state === '0' || wasWithdrawn(active) || isLockOver) return 0;
    return feature === 'enginecutoff' ? relayLimits.unprovenCutMs : null;
  }
  if (isBusy(commands, feature) || isKnown(state, feature, evidence)) return null;
  const isRestricted = commands.record.confirmed[feature]?.state === '1';
  const isOwed = isRestricted ? isLockOver : state.readings[feature]?.on === true;
  return isOwed ? 0 : null;
}

/** Orders the safe state at a bounded rate, in whatever condition the line is. */
function releaseAgain(
  state: RelaysState,
  feature: FeatureName,
  now: Supervision & { readonly afterMs: number },
): RelayStep {
  const { nowMs, isLineDown } = now.evidence;
  if (isLineDown === true) return { state: withoutRelease(state, feature), effects: [] };
  const dueMs = state.releaseAtMs[feature] ?? nowMs + now.afterMs;
  const isDue = nowMs >= dueMs && !now.ordered.includes(feature);
  const nextMs = isDue ? nowMs + relayLimits.betweenTriesMs : dueMs;
  const { withinMs } = relayLimits;
  return {
    state: { ...state, releaseAtMs: { ...state.releaseAtMs, [feature]: nextMs } },
    effects: isDue ? [{ kind: 'repair', feature, state: '0', token: `withdraw:${feature}`, withinMs }] : [],
  };
}

function withoutRelease(state: RelaysState, feature: FeatureName): RelaysState {
  if (state.releaseAtMs[feature] === undefined) return state;
  const { [feature]: _, ...releaseAtMs } = state.releaseAtMs;
  return { ...state, releaseAtMs };
}

function lookAt(before: RelaysState, feature: FeatureName, now: Supervision): RelayStep {
  const afterMs = releaseAfterMs(before, feature, now);
  if (afterMs !== null) return releaseAgain(before, feature, { ...now, afterMs });
  const state = withoutRelease(before, feature);
  const { commands, evidence } = now;
  const reading = state.readings[feature];
  if (reading === undefined || !isKnown(state, feature, evidence) || isBusy(commands, feature))
    return { state, effects: [] };
  const confirmed = commands.record.confirmed[feature];
  if (confirmed === undefined) return unrecorded(state, feature, reading.on);
  if (feature === 'cargoaccess' && confirmed.state === '1')
    return reading.on ? lockWhenOver(state, evidence) : lockedAgain(state, evidence);
  if ((reading.on ? '1' : '0') === confirmed.state) return matches(state, feature, confirmed.state);
  const { rules } = commands;
  return differs(state, feature, { wanted: confirmed.state, evidence, rules });
}

/** One step of every relay. Call it with each read-back and with time. */
export function superviseRelays(state: RelaysState, now: Supervision): RelayStep {
  const effects: RelayEffect[] = [];
  let next: RelaysState = state;
  for (const feature of featureNames) {
    const step = lookAt(next, feature, now);
    next = step.state;
    effects.push(...step.effects);
  }
  return { state: next, effects };
}
