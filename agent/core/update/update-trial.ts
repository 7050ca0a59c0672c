// A release on trial: the facts at its start, the check that everything works as before, and the end of the trial.
// It must never confirm a release that was not shown to work, nor keep one past its time, which the launcher ends
// too.
import {
  commitEvents,
  endJob,
  failJob,
  jobEvent,
  logLine,
  putState,
  queueTask,
  resetProgress,
  setActive,
} from './update-draft.ts';
import {
  type ActiveUpdate,
  type UpdateDraft,
  type UpdateInput,
  type UpdateSetup,
  type UpdateTrial,
  updateLimits,
  type WorkingConnections,
} from './update-types.ts';

/** Of a trial whose record was lost: what every vehicle must be able to do. */
const strictBaseline: WorkingConnections = { board: true, gnss: false, broker: true };
const nothing: WorkingConnections = { board: false, gnss: false, broker: false };

function beginTrial(draft: UpdateDraft, version: string, baseline: WorkingConnections): void {
  const trial = { version, sinceMs: draft.look.nowMs, baseline, seen: nothing, healthySinceMs: null };
  putState(draft, { trial });
  logLine(draft, 'warn', 'release_on_trial', { version, ...baseline });
}

/** The new release runs and is confirmed. */
function complete(draft: UpdateDraft, version: string): void {
  const { active } = draft.state.record;
  putState(draft, { trial: null });
  logLine(draft, 'info', 'release_confirmed', { version });
  if (active !== null && active.version === version) return endJob(draft, [jobEvent(active, 'confirmed')]);
  resetProgress(draft);
  queueTask(draft, { kind: 'tidy' });
}

/** Resolves a swap that was requested before this start. */
function resolveSwap(draft: UpdateDraft, active: ActiveUpdate, { running, facts }: UpdateSetup): void {
  const { version, baseline } = active;
  if (running === version) {
    if (facts.trial === version) return beginTrial(draft, version, baseline);
    return complete(draft, version);
  }
  const rejection = facts.rejected.find((one) => one.version === version);
  if (rejection !== undefined) return failJob(draft, active, rejection.reason);
  if (facts.trial === version) {
    const reason = 'the launcher could not start it';
    queueTask(draft, { kind: 'reject', version, reason });
    return failJob(draft, active, reason);
  }
  const swaps = active.swaps + 1;
  if (swaps >= updateLimits.swaps)
    return failJob(draft, active, 'nothing is known of the release that was to be tried');
  // Power was cut between the record and the request to the launcher.
  setActive(draft, { ...active, phase: 'staged', swaps });
  commitEvents(draft, []);
}

/** What the start finds. */
export function beginUpdate(draft: UpdateDraft, setup: UpdateSetup): void {
  const { active } = draft.state.record;
  const { running, facts } = setup;
  if (active?.phase === 'swapping') return resolveSwap(draft, active, setup);
  if (facts.trial === running) beginTrial(draft, running, strictBaseline);
  else if (active === null) queueTask(draft, { kind: 'tidy' });
}

function missingParts({ baseline, seen }: UpdateTrial, now: WorkingConnections): readonly string[] {
  return [
    ...(baseline.board && !now.board ? ['the I/O board is silent'] : []),
    ...(baseline.gnss && !seen.gnss ? ['the GNSS receiver sent nothing'] : []),
    ...(baseline.broker && !seen.broker ? ['the broker was never reached'] : []),
  ];
}

/** Checks whether the release on trial works, and ends the trial one way or the other. */
export function watchTrial(draft: UpdateDraft, before: UpdateTrial, setup: UpdateSetup): void {
  const { nowMs, parts } = draft.look;
  const seen: WorkingConnections = {
    board: before.seen.board || parts.board,
    gnss: before.seen.gnss || parts.gnss,
    broker: before.seen.broker || parts.broker,
  };
  const missing = missingParts({ ...before, seen }, parts);
  const healthySinceMs = missing.length > 0 ? null : (before.healthySinceMs ?? nowMs);
  const trial: UpdateTrial = { ...before, seen, healthySinceMs };
  putState(draft, { trial, waiting: missing.join('; ') });
  if (draft.state.work !== 'none' || nowMs < draft.state.notBeforeMs) return;
  if (healthySinceMs !== null && nowMs - healthySinceMs >= setup.healthMs) {
    // The last proof: a commit succeeds.
    putState(draft, { work: 'proving' });
    return commitEvents(draft, [], true);
  }
  if (nowMs - before.sinceMs < setup.trialMs * updateLimits.giveUpShare) return;
  const why = missing.length > 0 ? missing.join('; ') : 'it did not work for long enough in one go';
  const reason = `given up after its trial: ${why}`;
  logLine(draft, 'error', 'release_dropped', { version: before.version, reason });
  putState(draft, { work: 'rejecting' });
  queueTask(draft, { kind: 'reject', version: before.version, reason });
}

/** An answer that a trial waits for. */
export function handleTrialResult(draft: UpdateDraft, trial: UpdateTrial, input: UpdateInput): void {
  const { version } = trial;
  const { work } = draft.state;
  const notBeforeMs = draft.look.nowMs + updateLimits.retryMs;
  if (input.kind === 'committed' && work === 'proving') {
    if (!input.durable) return putState(draft, { work: 'none', trial: { ...trial, healthySinceMs: null } });
    putState(draft, { work: 'confirming' });
    return queueTask(draft, { kind: 'confirm', version });
  }
  if (input.kind === 'confirmed' && work === 'confirming') {
    if (input.fault === null) return complete(draft, version);
    logLine(draft, 'error', 'release_not_confirmed', { version, reason: input.fault });
    return putState(draft, { work: 'none', notBeforeMs });
  }
  if (input.kind !== 'rejected' || work !== 'rejecting') return;
  // Not written down: the launcher counts the start, and the next one decides.
  if (input.fault !== null) logLine(draft, 'error', 'release_not_rejected', { version, reason: input.fault });
  putState(draft, { work: 'restarting' });
  queueTask(draft, { kind: 'restart' });
}
