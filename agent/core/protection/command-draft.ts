// One step of the command machine in progress: its state, its effects, and the operations shared by all transitions.
// It decides nothing; `commands.ts` does.
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
  /** Per feature: what the machine waits for right now. Not persisted. */
  readonly work: Readonly<Partial<Record<FeatureName, CommandProgress>>>;
  /** Number of the next commit, so that an old one's completion is never taken for a newer one's. */
  readonly nextCommit: number;
  /** When a command's reason to wait was last reported: a bad bus changes it many times a minute. */
  readonly reportedMs: Readonly<Partial<Record<FeatureName, number>>>;
  /**
   * Deadlines of commands that arrived in this run, monotonic: no clock change extends one. A command without an
   * entry arrived before the last restart.
   */
  readonly ends: Readonly<Record<string, number>>;
  /** When each relay last changed in this run, monotonic: no clock change shortens the time since. */
  readonly changedMs: Readonly<Partial<Record<FeatureName, number>>>;
}

export type CommandProgress =
  | { readonly kind: 'committing'; readonly token: string }
  /** `allowed`: the verdict that the order is carried out on. `withdrawn`: it was taken back by this one, and its outcome is awaited. */
  | {
      readonly kind: 'driving';
      readonly token: string;
      readonly allowed: Verdict;
      readonly withdrawn?: Verdict;
    }
  /** On disk as executing, and driven at the next fix. */
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
  /** Order the safe state over the order that is under way, at once. */
  | { readonly kind: 'withdraw'; readonly relay: FeatureName }
  | { readonly kind: 'note'; readonly text: string; readonly commandID: string };

export interface CommandStep {
  readonly state: CommandsState;
  readonly effects: readonly CommandEffect[];
}

/** Resumes from the record on disk. A command in execution at power loss is unknown until read back. */
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

/** Collects the changes of one step and turns them into a single commit. */
export interface Draft {
  state: CommandsState;
  readonly events: EventDraft[];
  readonly effects: CommandEffect[];
  /** Features whose machine waits for this commit. */
  readonly waits: FeatureName[];
}

/** Replaces the unfinished command of a feature. */
export function setActive(draft: Draft, feature: FeatureName, command: ActiveCommand | undefined): void {
  const { [feature]: _old, ...others } = draft.state.record.active;
  const active = command === undefined ? others : { ...others, [feature]: command };
  draft.state = { ...draft.state, record: { ...draft.state.record, active } };
}

/** Replaces what the machine of a feature waits for. */
export function setWork(draft: Draft, feature: FeatureName, value: CommandProgress | undefined): void {
  const { [feature]: _old, ...others } = draft.state.work;
  draft.state = { ...draft.state, work: value === undefined ? others : { ...others, [feature]: value } };
}

/** Reports a state of a command and remembers it. */
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

/** A change of the relay, for the rules on their rate. */
export function recordChange(draft: Draft, feature: FeatureName, { nowMs, trustedUtcMs }: Evidence): void {
  const { record } = draft.state;
  draft.state = { ...draft.state, changedMs: { ...draft.state.changedMs, [feature]: nowMs } };
  if (trustedUtcMs === null) return;
  const changes = [...(record.changesUtcMs[feature] ?? []), trustedUtcMs].slice(-commandLimits.changes);
  const changesUtcMs = { ...record.changesUtcMs, [feature]: changes };
  draft.state = { ...draft.state, record: { ...record, changesUtcMs } };
}

/** Ends the active command of a feature and activates the one that waited behind it. */
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

/** Deadlines are kept for unfinished commands. */
function pruneEnds(state: CommandsState): CommandsState {
  const ids = Object.keys(state.ends);
  if (ids.length === 0) return state;
  const { active, next } = state.record;
  const open = [...Object.values(active), ...Object.values(next)].map(({ commandID }) => commandID);
  if (ids.every((commandID) => open.includes(commandID))) return state;
  const kept = Object.entries(state.ends).filter(([commandID]) => open.includes(commandID));
  return { ...state, ends: Object.fromEntries(kept) };
}

/** Ends a step: all that was reported becomes one commit. */
export function commit(draft: Draft): CommandStep {
  draft.state = pruneEnds(draft.state);
  if (draft.events.length === 0) return { state: draft.state, effects: draft.effects };
  const token = `commit:${draft.state.nextCommit}`;
  draft.state = { ...draft.state, nextCommit: draft.state.nextCommit + 1 };
  for (const feature of draft.waits) setWork(draft, feature, { kind: 'committing', token });
  return { state: draft.state, effects: [...draft.effects, { kind: 'commit', events: draft.events, token }] };
}
