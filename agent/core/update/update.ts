// An update of the agent as a pure machine: a signed job is fetched when the link allows it and swapped when the
// vehicle is parked. It is confirmed only after the new release works; until then the previous one returns by itself.
// It must never restart the agent of a vehicle that may be driven, and never run anything: the launcher alone chooses
// the release. States: job -> fetching -> staged -> swapping (restart, trial) -> confirmed; before the swap ->
// refused, cancelled, superseded; after it -> refused, and the previous release runs again.

import { compareVersions, isVersion } from '../../../src/core/releases/version.ts';
import { retryDelayMs } from '../../../src/core/retry-delay.ts';
import {
  commitEvents,
  endJob,
  failJob,
  jobEvent,
  logLine,
  putState,
  queueTask,
  reportWaiting,
  resetProgress,
  setActive,
} from './update-draft.ts';
import { beginUpdate, handleTrialResult, watchTrial } from './update-trial.ts';
import {
  type ActiveUpdate,
  type UpdateDraft,
  type UpdateEffect,
  type UpdateInput,
  type UpdateJob,
  type UpdateRecord,
  type UpdateSetup,
  type UpdateState,
  updateLimits,
  type VehicleSnapshot,
} from './update-types.ts';

/** `setup` null: firmware jobs are refused by the inbox, and this machine stays idle. */
export function createUpdate(record: UpdateRecord, setup: UpdateSetup | null): UpdateState {
  return {
    setup,
    record,
    work: 'none',
    refusals: 0,
    attempts: 0,
    notBeforeMs: 0,
    waiting: '',
    trial: null,
  };
}

const isLate = ({ expiresMs }: UpdateJob, { latestUtcMs }: VehicleSnapshot): boolean =>
  latestUtcMs !== null && latestUtcMs >= expiresMs;

/** True while the job can be ended without a trace: the launcher was not asked yet. */
const canEnd = ({ phase }: ActiveUpdate, { work }: UpdateState): boolean =>
  phase !== 'swapping' && (work === 'none' || work === 'staging');

function objectionTo(draft: UpdateDraft, job: UpdateJob, { running }: UpdateSetup): string | null {
  const { active } = draft.state.record;
  if (!isVersion(job.version)) return `${job.version} is not a version that a release can have`;
  if (compareVersions(job.version, running) <= 0)
    return `release ${job.version} is not newer than ${running}, which runs`;
  if (draft.state.trial !== null || (active !== null && !canEnd(active, draft.state)))
    return 'another release is being tried';
  return active !== null && active.issuedMs > job.issuedMs ? 'a newer job is under way' : null;
}

function handleJob(draft: UpdateDraft, job: UpdateJob, setup: UpdateSetup): void {
  const { commandID, version } = job;
  if (isLate(job, draft.look)) return commitEvents(draft, [jobEvent(job, 'expired', 'it came too late')]);
  const objection = objectionTo(draft, job, setup);
  if (objection !== null) {
    logLine(draft, 'warn', 'firmware_job_refused', { commandID, version, reason: objection });
    return commitEvents(draft, [jobEvent(job, 'executing'), jobEvent(job, 'refused', objection)]);
  }
  const { active } = draft.state.record;
  const replaced = active === null ? [] : [jobEvent(active, 'superseded', 'a newer job came')];
  if (active !== null) queueTask(draft, { kind: 'tidy' });
  resetProgress(draft);
  const baseline = { board: false, gnss: false, broker: false };
  setActive(draft, { ...job, phase: 'fetching', baseline, swaps: 0 });
  logLine(draft, 'info', 'update_started', { commandID, version });
  commitEvents(draft, [...replaced, jobEvent(job, 'executing')]);
}

function cancel(draft: UpdateDraft, commandID: string): void {
  const { active } = draft.state.record;
  if (active?.commandID !== commandID) return;
  const { version } = active;
  if (!canEnd(active, draft.state))
    return logLine(draft, 'warn', 'update_not_withdrawn', { commandID, version });
  logLine(draft, 'info', 'update_withdrawn', { commandID, version });
  endJob(draft, [jobEvent(active, 'cancelled', 'withdrawn')]);
}

function handleStaged(draft: UpdateDraft, input: Extract<UpdateInput, { kind: 'staged' }>): void {
  const { active } = draft.state.record;
  if (draft.state.work !== 'staging' || active?.commandID !== input.commandID) return;
  const { fault } = input;
  const { commandID, version } = active;
  if (fault === null) {
    resetProgress(draft);
    setActive(draft, { ...active, phase: 'staged' });
    logLine(draft, 'info', 'update_staged', { commandID, version });
    return commitEvents(draft, []);
  }
  if (fault.kind === 'halted') return putState(draft, { work: 'none' });
  const refusals = draft.state.refusals + (fault.kind === 'refused' ? 1 : 0);
  if (fault.kind === 'final' || refusals >= updateLimits.refusals)
    return failJob(draft, active, fault.reason);
  const { attempts } = draft.state;
  const { nowMs, fraction } = draft.look;
  const pauseMs = retryDelayMs(updateLimits.backoff, { attempt: attempts, fraction });
  putState(draft, { work: 'none', refusals, attempts: attempts + 1, notBeforeMs: nowMs + pauseMs });
  reportWaiting(draft, fault.reason);
}

/** Asks the launcher to start the release, or withdraws that; whichever is right at this moment. */
function continueSwap(draft: UpdateDraft, active: ActiveUpdate): void {
  const { version } = active;
  if (draft.look.swapObjection === null) {
    putState(draft, { work: 'restarting' });
    logLine(draft, 'warn', 'update_restart', { commandID: active.commandID, version });
    return queueTask(draft, { kind: 'restart' });
  }
  putState(draft, { work: 'withdrawing' });
  queueTask(draft, { kind: 'withdraw', version });
}

function backToStaged(draft: UpdateDraft, active: ActiveUpdate, pauseMs: number): void {
  setActive(draft, { ...active, phase: 'staged' });
  putState(draft, { work: 'none', notBeforeMs: draft.look.nowMs + pauseMs });
  commitEvents(draft, []);
}

function handleSwapAnswer(draft: UpdateDraft, active: ActiveUpdate, input: UpdateInput): void {
  const { work } = draft.state;
  const { nowMs, swapObjection } = draft.look;
  const notBeforeMs = nowMs + updateLimits.retryMs;
  if (input.kind === 'committed' && work === 'committing') {
    if (!input.durable) return backToStaged(draft, active, updateLimits.retryMs);
    if (swapObjection !== null) return backToStaged(draft, active, 0);
    putState(draft, { work: 'asking' });
    return queueTask(draft, { kind: 'ask', version: active.version });
  }
  if (input.kind === 'asked' && work === 'asking')
    return input.fault === null ? continueSwap(draft, active) : failJob(draft, active, input.fault);
  if (input.kind !== 'withdrawn' || work !== 'withdrawing') return;
  if (input.fault === null) return backToStaged(draft, active, 0);
  logLine(draft, 'error', 'trial_not_withdrawn', { version: active.version, reason: input.fault });
  putState(draft, { work: 'none', notBeforeMs });
}

function watchActive(draft: UpdateDraft, active: ActiveUpdate): void {
  const { work, waiting, notBeforeMs } = draft.state;
  const { nowMs, fetchObjection, swapObjection, parts } = draft.look;
  if (canEnd(active, draft.state) && isLate(active, draft.look))
    return failJob(draft, active, `it ran out of time${waiting === '' ? '' : `: ${waiting}`}`);
  if (work === 'staging' && fetchObjection !== null && fetchObjection !== waiting) {
    reportWaiting(draft, fetchObjection);
    return queueTask(draft, { kind: 'halt' });
  }
  if (work !== 'none' || nowMs < notBeforeMs) return;
  switch (active.phase) {
    case 'fetching': {
      if (fetchObjection !== null) return reportWaiting(draft, fetchObjection);
      putState(draft, { work: 'staging', waiting: '' });
      return queueTask(draft, { kind: 'stage', job: active });
    }
    case 'staged':
      if (swapObjection !== null) return reportWaiting(draft, swapObjection);
      // On disk before the launcher is asked: after a power cut the next start knows the job.
      setActive(draft, { ...active, phase: 'swapping', baseline: parts });
      putState(draft, { work: 'committing', waiting: '' });
      return commitEvents(draft, [], true);
    case 'swapping':
      return continueSwap(draft, active);
  }
}

function start(draft: UpdateDraft, setup: UpdateSetup): void {
  const { active } = draft.state.record;
  const isOutrun =
    active !== null && active.phase !== 'swapping' && compareVersions(active.version, setup.running) <= 0;
  if (isOutrun) failJob(draft, active, `release ${setup.running} runs by now`);
  beginUpdate(draft, setup);
}

function react(draft: UpdateDraft, input: UpdateInput, setup: UpdateSetup): void {
  const { trial, record } = draft.state;
  switch (input.kind) {
    case 'start':
      return start(draft, setup);
    case 'time':
      if (trial !== null) return watchTrial(draft, trial, setup);
      return record.active === null ? undefined : watchActive(draft, record.active);
    case 'job':
      return handleJob(draft, input.job, setup);
    case 'cancel':
      return cancel(draft, input.commandID);
    case 'staged':
      return handleStaged(draft, input);
    case 'committed':
    case 'asked':
    case 'withdrawn':
    case 'confirmed':
    case 'rejected':
      if (trial !== null) return handleTrialResult(draft, trial, input);
      return record.active === null ? undefined : handleSwapAnswer(draft, record.active, input);
  }
}

/** One step. Without a setup it does nothing. */
export function stepUpdate(
  state: UpdateState,
  input: UpdateInput,
  look: VehicleSnapshot,
): { readonly state: UpdateState; readonly effects: readonly UpdateEffect[] } {
  const draft: UpdateDraft = { state, effects: [], look };
  if (state.setup !== null) react(draft, input, state.setup);
  return { state: draft.state, effects: draft.effects };
}
