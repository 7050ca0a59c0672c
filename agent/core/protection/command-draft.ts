// One step of the command machine in progress: its state, its effects, and the operations that all transitions share. It decides nothing;
// `commands.ts` does.
import {
  type CommandState,
  type FeatureName,
  type FeatureState,
  featureNames,
} from '../../../src/core/events/event.ts';
import type { Verdict } from '../../../src/core/verdict/verdict.ts';
import type { Evidence } from '../evidence/testimony.ts';
import {
  type ActiveCommand,
  type CommandRecord,
  commandLimits,
  draftOf,
  type EventDraft,
  type ReportDetail,
  remember,
} from './command-record.ts';
import { type InterlockRules, standardRules } from './interlock-rules.ts';

export interface CommandsState {
  /** The installer's choice; never changes while the agent runs. */
  readonly rules: InterlockRules;
  readonly record: CommandRecord;
  /** Progress per feature. Not persisted. */
  readonly work: Readonly<Partial<Record<FeatureName, CommandProgress>>>;
  /** Number of the next commit; distinguishes the completion of an old commit from a newer one. */
  readonly nextCommit: number;
  /** Monotonic time of the last report of a reason to wait, ms: a bad bus changes the reason many times a minute. */
  readonly reportedMs: Readonly<Partial<Record<FeatureName, number>>>;
  /**
   * Monotonic deadlines of commands that arrived in this run, ms, so that no clock change extends one. A command without an entry arrived before the
   * last restart.
   */
  readonly ends: Readonly<Record<string, number>>;
  /** Monotonic time of the last change of each relay in this run, ms, so that no clock change shortens the time since. */
  readonly changedMs: Readonly<Partial<Record<FeatureName, number>>>;
}

export type CommandProgress =
  | { readonly kind: 'committing'; readonly token: string }
  /** `allowed`: the verdict that permitted the order. `withdrawn`: the verdict that took it back, while its outcome is awaited. */
  | {
      readonly kind: 'driving';
      readonly token: string;
      readonly allowed: Verdict;
      readonly withdrawn?: Verdict;
    }
  /** Stored as executing; driven at the next fix. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'pausing'; readonly untilMs: number };

export type CommandEffect =
  /** Commit `events` and the record together, then feed `committed` with the token. */
  | { readonly kind: 'commit'; readonly events: readonly EventDraft[]; readonly token: string }
  | {
      readonly kind: 'drive';
      readonly feature: FeatureName;
      readonly state: FeatureState;
      readonly token: string;
      readonly withinMs: number;
    }
  /** Orders the safe state at once, over the order in progress. */
  | { readonly kind: 'withdraw'; readonly relay: FeatureName }
  | { readonly kind: 'note'; readonly text: string; readonly commandID: string };

export interface CommandStep {
  readonly state: CommandsState;
  readonly effects: readonly CommandEffect[];
}

/** Resumes from the record on disk. The outcome of a command in execution at power loss is unknown until read back. */
export function createCommandsState(
  record: CommandRecord,
  rules: InterlockRules = standardRules,
): CommandsState {
  const active: Partial<Record<FeatureName, ActiveCommand>> = {};
  for (const name of featureNames) {
    const command = record.active[name];
    if (command !== undefined)
      active[name] = command.phase === 'executing' ? { ...command, phase: 'unknown' } : command;
  }
  return {
    rules,
    record: { ...record, active },
    work: {},
    nextCommit: 1,
    reportedMs: {},
    ends: {},
    changedMs: {},
  };
}

/** Collects the changes of one step and turns them into one commit. */
export interface Draft {
  state: CommandsState;
  readonly events: EventDraft[];
  readonly effects: CommandEffect[];
  /** Features whose machine waits for this commit. */
  readonly waits: FeatureName[];
}

export function setActive(draft: Draft, feature: FeatureName, command: ActiveCommand | undefined): void {
  const { [feature]: _old, ...others } = draft.state.record.active;
  const active = command === undefined ? others : { ...others, [feature]: command };
  draft.state = { ...draft.state, record: { ...draft.state.record, active } };
}

export function setWork(draft: Draft, feature: FeatureName, value: CommandProgress | undefined): void {
  const { [feature]: _old, ...others } = draft.state.work;
  draft.state = { ...draft.state, work: value === undefined ? others : { ...others, [feature]: value } };
}

export function report(
  draft: Draft,
  command: Pick<ActiveCommand, 'commandID' | 'feature' | 'state' | 'source'>,
  to: Exclude<CommandState, 'requested' | 'sent'>,
  detail: ReportDetail & { atMs: number },
): void {
  draft.events.push(draftOf(command, to, detail));
  const entry = { commandID: command.commandID, atMs: detail.atMs, last: to };
  draft.state = { ...draft.state, record: remember(draft.state.record, entry) };
}

/** Records a change of the relay for the rate rules. */
export function recordChange(draft: Draft, feature: FeatureName, { nowMs, trustedUtcMs }: Evidence): void {
  const { record } = draft.state;
  draft.state = { ...draft.state, changedMs: { ...draft.state.changedMs, [feature]: nowMs } };
  if (trustedUtcMs === null) return;
  const changes = [...(record.changesUtcMs[feature] ?? []), trustedUtcMs].slice(-commandLimits.changes);
  const changesUtcMs = { ...record.changesUtcMs, [feature]: changes };
  draft.state = { ...draft.state, record: { ...record, changesUtcMs } };
}

/** Ends the active command of a feature and activates the one behind it. */
export function finish(
  draft: Draft,
  command: ActiveCommand,
  to: 'confirmed' | 'refused' | 'expired' | 'superseded' | 'cancelled',
  detail: ReportDetail & { atMs: number },
): void {
  report(draft, command, to, detail);
  const { [command.feature]: next, ...others } = draft.state.record.next;
  draft.state = { ...draft.state, record: { ...draft.state.record, next: others } };
  setActive(draft, command.feature, next);
  setWork(draft, command.feature, undefined);
}

/** Drops the deadlines of finished commands. */
function pruneEnds(state: CommandsState): CommandsState {
  const ids = Object.keys(state.ends);
  if (ids.length === 0) return state;
  const { active, next } = state.record;
  const open = [...Object.values(active), ...Object.values(next)].map(({ commandID }) => commandID);
  if (ids.every((commandID) => open.includes(commandID))) return state;
  const kept = Object.entries(state.ends).filter(([commandID]) => open.includes(commandID));
  return { ...state, ends: Object.fromEntries(kept) };
}

/** Ends a step: one commit holds all reports. */
export function commit(draft: Draft): CommandStep {
  draft.state = pruneEnds(draft.state);
  if (draft.events.length === 0) return { state: draft.state, effects: draft.effects };
  const token = `commit:${draft.state.nextCommit}`;
  draft.state = { ...draft.state, nextCommit: draft.state.nextCommit + 1 };
  for (const feature of draft.waits) setWork(draft, feature, { kind: 'committing', token });
  return { state: draft.state, effects: [...draft.effects, { kind: 'commit', events: draft.events, token }] };
}
