// Operations shared by all transitions of an update, and its events. It decides nothing; `update.ts` and `update-
// trial.ts` do.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { EventDraft } from '../protection/command-record.ts';
import {
  type ActiveUpdate,
  noUpdateRecord,
  type UpdateDraft,
  type UpdateJob,
  type UpdateState,
  type UpdateTask,
  updateLimits,
} from './update-types.ts';

const stages = {
  executing: statusCodes.CONFIG_START,
  /** The release before runs. */
  refused: statusCodes.CONFIG_FAILED,
  /** The new release runs. */
  confirmed: statusCodes.CONFIG_COMPLETE,
  // It ended before anything was changed.
  cancelled: statusCodes.COMMAND_CANCELLED,
  superseded: statusCodes.COMMAND_SUPERSEDED,
  expired: statusCodes.COMMAND_EXPIRED,
} as const;

/** The event of a job. */
export function jobEvent(
  { commandID, version }: UpdateJob,
  commandState: keyof typeof stages,
  reason = '',
): EventDraft {
  const attributes = {
    version,
    ...(reason === '' ? {} : { reason: reason.slice(0, updateLimits.reasonCharacters) }),
  };
  return { statusCode: stages[commandState].code, commandID, commandState, attributes };
}

/** Replaces pieces of the state. */
export function putState(draft: UpdateDraft, piece: Partial<UpdateState>): void {
  draft.state = { ...draft.state, ...piece };
}

/** Queues an updater task. */
export function queueTask(draft: UpdateDraft, task: UpdateTask): void {
  draft.effects.push({ kind: 'task', task });
}

/** Commits events with the record as it is now. */
export function commitEvents(draft: UpdateDraft, events: readonly EventDraft[], isAwaited = false): void {
  draft.effects.push({ kind: 'commit', events, isAwaited });
}

/** Writes a log line. */
export function logLine(
  draft: UpdateDraft,
  level: 'info' | 'warn' | 'error',
  event: string,
  fields: Readonly<Record<string, unknown>>,
): void {
  draft.effects.push({ kind: 'log', level, event, fields });
}

/** Replaces the job in the record; to be followed by `commitEvents`. */
export function setActive(draft: UpdateDraft, active: ActiveUpdate | null): void {
  putState(draft, { record: active === null ? noUpdateRecord : { active } });
}

/** Back to the initial state: no task is awaited, and no failure counts. */
export function resetProgress(draft: UpdateDraft): void {
  putState(draft, { work: 'none', refusals: 0, attempts: 0, notBeforeMs: 0, waiting: '' });
}

/** Ends the job with these events, and deletes what was fetched for it. */
export function endJob(draft: UpdateDraft, events: readonly EventDraft[]): void {
  setActive(draft, null);
  resetProgress(draft);
  commitEvents(draft, events);
  queueTask(draft, { kind: 'tidy' });
}

/** Ends the job: the release before goes on. */
export function failJob(draft: UpdateDraft, job: UpdateJob, reason: string): void {
  logLine(draft, 'warn', 'update_failed', { commandID: job.commandID, version: job.version, reason });
  endJob(draft, [jobEvent(job, 'refused', reason)]);
}

/** Reports why the update waits, once for each reason. */
export function reportWaiting(draft: UpdateDraft, waiting: string): void {
  const { active } = draft.state.record;
  if (active === null || draft.state.waiting === waiting) return;
  putState(draft, { waiting });
  logLine(draft, 'info', 'update_waiting', {
    commandID: active.commandID,
    version: active.version,
    phase: active.phase,
    reason: waiting,
  });
}
