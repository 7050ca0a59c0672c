// One step of the command machine in the making: its state, its effects, and the few moves that every transition is made
// of. It decides nothing; `commands.ts` does.
import {
  type CommandState,
  type FeatureName,
  type FeatureState,
  featureNames,
} from '../../../src/core/event.ts';
import {
  type ActiveCommand,
  type CommandRecord,
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
  readonly work: Readonly<Partial<Record<FeatureName, CommandWork>>>;
  /** Number of the next commit, so that an old one's completion is never taken for a newer one's. */
  readonly nextCommit: number;
  /** When a command's reason to wait was last reported: a bad bus changes it many times a minute. */
  readonly toldMs: Readonly<Partial<Record<FeatureName, number>>>;
  /**
   * Ends of the lives of commands that came in this run, monotonic: whatever the clocks do, none outlives its life. A command
   * that is not here came before the last restart.
   */
  readonly ends: Readonly<Record<string, number>>;
}

export type CommandWork =
  | { readonly kind: 'committing'; readonly token: string }
  | { readonly kind: 'driving'; readonly token: string }
  | { readonly kind: 'pausing'; readonly untilMs: number };

export type CommandEffect =
  /** Commit `events` and the record together, then say `committed` with the token. */
  | { readonly kind: 'commit'; readonly events: readonly EventDraft[]; readonly token: string }
  | {
      readonly kind: 'drive';
      readonly feature: FeatureName;
      readonly state: FeatureState;
      readonly token: string;
      readonly withinMs: number;
    }
  | { readonly kind: 'note'; readonly text: string; readonly commandID: string };

export interface CommandStep {
  readonly state: CommandsState;
  readonly effects: readonly CommandEffect[];
}

/** Takes up a record from disk. A command that was being executed when power failed is unknown until read back. */
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
  return { rules, record: { ...record, active }, work: {}, nextCommit: 1, toldMs: {}, ends: {} };
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
export function setActive(work: Draft, feature: FeatureName, command: ActiveCommand | undefined): void {
  const { [feature]: _old, ...others } = work.state.record.active;
  const active = command === undefined ? others : { ...others, [feature]: command };
  work.state = { ...work.state, record: { ...work.state.record, active } };
}

/** Replaces what the machine of a feature waits for. */
export function setWork(work: Draft, feature: FeatureName, value: CommandWork | undefined): void {
  const { [feature]: _old, ...others } = work.state.work;
  work.state = { ...work.state, work: value === undefined ? others : { ...others, [feature]: value } };
}

/** Reports a state of a command and remembers it. */
export function report(
  work: Draft,
  command: Pick<ActiveCommand, 'commandID' | 'feature' | 'state' | 'source'>,
  to: Exclude<CommandState, 'requested' | 'sent'>,
  detail: ReportDetail & { atMs: number },
): void {
  work.events.push(draftOf(command, to, detail));
  const entry = { commandID: command.commandID, atMs: detail.atMs, last: to };
  work.state = { ...work.state, record: remember(work.state.record, entry) };
}

/** Ends the active command of a feature and takes up the one that waited behind it. */
export function finish(
  work: Draft,
  command: ActiveCommand,
  to: 'confirmed' | 'refused' | 'expired' | 'superseded' | 'cancelled',
  detail: ReportDetail & { atMs: number },
): void {
  report(work, command, to, detail);
  const { [command.feature]: next, ...others } = work.state.record.next;
  work.state = { ...work.state, record: { ...work.state.record, next: others } };
  setActive(work, command.feature, next);
  setWork(work, command.feature, undefined);
}

/** Ends are kept for commands that are not finished. */
function pruneEnds(state: CommandsState): CommandsState {
  const { active, next } = state.record;
  const open = [...Object.values(active), ...Object.values(next)].map(({ commandID }) => commandID);
  const kept = Object.entries(state.ends).filter(([commandID]) => open.includes(commandID));
  return kept.length === Object.keys(state.ends).length
    ? state
    : { ...state, ends: Object.fromEntries(kept) };
}

/** Ends a step: all that was reported becomes one commit. */
export function commit(work: Draft): CommandStep {
  work.state = pruneEnds(work.state);
  if (work.events.length === 0) return { state: work.state, effects: work.effects };
  const token = `commit:${work.state.nextCommit}`;
  work.state = { ...work.state, nextCommit: work.state.nextCommit + 1 };
  for (const feature of work.waits) setWork(work, feature, { kind: 'committing', token });
  return { state: work.state, effects: [...work.effects, { kind: 'commit', events: work.events, token }] };
}
