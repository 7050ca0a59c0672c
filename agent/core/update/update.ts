// An update of the agent as a pure machine: a signed job is fetched when the link allows it, swapped when the vehicle is
// parked, and confirmed only after the new release has shown that it works; until then the one before comes back by itself.
// It must never restart a vehicle that may be driven, and never run anything: the launcher alone decides what starts.
//
//   job -> fetching -> staged -> swapping (restart, trial) -> confirmed
//            \-> refused, cancelled, superseded    \-> refused: the release before runs again
import { backoffMs } from '../../../src/core/backoff.ts';
import { compareVersions, isVersion } from '../../update/core/version.ts';
import {
  beginEvent,
  change,
  endEvent,
  endJob,
  failEvent,
  failJob,
  note,
  order,
  rest,
  setActive,
  tell,
  wait,
} from './update-draft.ts';
import { beginUpdate, takeTrialAnswer, watchTrial } from './update-trial.ts';
import {
  type ActiveUpdate,
  type UpdateDraft,
  type UpdateEffect,
  type UpdateInput,
  type UpdateJob,
  type UpdateLook,
  type UpdateRecord,
  type UpdateSetup,
  type UpdateState,
  updateLimits,
} from './update-types.ts';

/** `setup` null: firmware jobs are refused by the inbox, and nothing here ever happens. */
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

const isLate = ({ expiresMs }: UpdateJob, { latestUtcMs }: UpdateLook): boolean =>
  latestUtcMs !== null && latestUtcMs >= expiresMs;

/** True while the job can be ended without a trace: nothing was said to the launcher. */
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

function takeJob(draft: UpdateDraft, job: UpdateJob, setup: UpdateSetup): void {
  const { commandID, version } = job;
  if (isLate(job, draft.look)) return tell(draft, [endEvent(job, 'expired', 'it came too late')]);
  const objection = objectionTo(draft, job, setup);
  if (objection !== null) {
    note(draft, 'warn', 'firmware job refused', { commandID, version, reason: objection });
    return tell(draft, [beginEvent(job), failEvent(job, objection)]);
  }
  const { active } = draft.state.record;
  const replaced = active === null ? [] : [endEvent(active, 'superseded', 'a newer job came')];
  if (active !== null) order(draft, { kind: 'tidy' });
  rest(draft);
  const baseline = { board: false, gnss: false, broker: false };
  setActive(draft, { ...job, phase: 'fetching', baseline, swaps: 0 });
  note(draft, 'info', 'update begins', { commandID, version });
  tell(draft, [...replaced, beginEvent(job)]);
}

function cancel(draft: UpdateDraft, commandID: string): void {
  const { active } = draft.state.record;
  if (active?.commandID !== commandID) return;
  const { version } = active;
  if (!canEnd(active, draft.state))
    return note(draft, 'warn', 'update cannot be withdrawn any more', { commandID, version });
  note(draft, 'info', 'update withdrawn', { commandID, version });
  endJob(draft, [endEvent(active, 'cancelled', 'withdrawn')]);
}

function takeStaged(draft: UpdateDraft, input: Extract<UpdateInput, { kind: 'staged' }>): void {
  const { active } = draft.state.record;
  if (draft.state.work !== 'staging' || active?.commandID !== input.commandID) return;
  const { fault } = input;
  const { commandID, version } = active;
  if (fault === null) {
    rest(draft);
    setActive(draft, { ...active, phase: 'staged' });
    note(draft, 'info', 'update staged', { commandID, version });
    return tell(draft, []);
  }
  if (fault.kind === 'halted') return change(draft, { work: 'none' });
  const refusals = draft.state.refusals + (fault.kind === 'refused' ? 1 : 0);
  if (fault.kind === 'final' || refusals >= updateLimits.refusals)
    return failJob(draft, active, fault.reason);
  const { attempts } = draft.state;
  const { nowMs, fraction } = draft.look;
  const pauseMs = backoffMs(updateLimits.backoff, { attempt: attempts, fraction });
  change(draft, { work: 'none', refusals, attempts: attempts + 1, notBeforeMs: nowMs + pauseMs });
  wait(draft, fault.reason);
}

/** Says to the launcher, or takes back, what it is to start; whichever is right at this moment. */
function goOnWithSwap(draft: UpdateDraft, active: ActiveUpdate): void {
  const { version } = active;
  if (draft.look.swapObjection === null) {
    change(draft, { work: 'restarting' });
    note(draft, 'warn', 'restart for an update', { commandID: active.commandID, version });
    return order(draft, { kind: 'restart' });
  }
  change(draft, { work: 'withdrawing' });
  order(draft, { kind: 'withdraw', version });
}

function backToStaged(draft: UpdateDraft, active: ActiveUpdate, pauseMs: number): void {
  setActive(draft, { ...active, phase: 'staged' });
  change(draft, { work: 'none', notBeforeMs: draft.look.nowMs + pauseMs });
  tell(draft, []);
}

function takeSwapAnswer(draft: UpdateDraft, active: ActiveUpdate, input: UpdateInput): void {
  const { work } = draft.state;
  const { nowMs, swapObjection } = draft.look;
  const notBeforeMs = nowMs + updateLimits.retryMs;
  if (input.kind === 'committed' && work === 'committing') {
    if (!input.durable) return backToStaged(draft, active, updateLimits.retryMs);
    if (swapObjection !== null) return backToStaged(draft, active, 0);
    change(draft, { work: 'asking' });
    return order(draft, { kind: 'ask', version: active.version });
  }
  if (input.kind === 'asked' && work === 'asking')
    return input.fault === null ? goOnWithSwap(draft, active) : failJob(draft, active, input.fault);
  if (input.kind !== 'withdrawn' || work !== 'withdrawing') return;
  if (input.fault === null) return backToStaged(draft, active, 0);
  note(draft, 'error', 'trial not taken back', { version: active.version, reason: input.fault });
  change(draft, { work: 'none', notBeforeMs });
}

function watchActive(draft: UpdateDraft, active: ActiveUpdate): void {
  const { work, waiting, notBeforeMs } = draft.state;
  const { nowMs, fetchObjection, swapObjection, parts } = draft.look;
  if (canEnd(active, draft.state) && isLate(active, draft.look))
    return failJob(draft, active, `it ran out of time${waiting === '' ? '' : `: ${waiting}`}`);
  if (work === 'staging' && fetchObjection !== null && fetchObjection !== waiting) {
    wait(draft, fetchObjection);
    return order(draft, { kind: 'halt' });
  }
  if (work !== 'none' || nowMs < notBeforeMs) return;
  switch (active.phase) {
    case 'fetching': {
      if (fetchObjection !== null) return wait(draft, fetchObjection);
      change(draft, { work: 'staging', waiting: '' });
      return order(draft, { kind: 'stage', job: active });
    }
    case 'staged':
      if (swapObjection !== null) return wait(draft, swapObjection);
      // On disk before the launcher is asked: whatever is cut off then, the next start knows what it was.
      setActive(draft, { ...active, phase: 'swapping', baseline: parts });
      change(draft, { work: 'committing', waiting: '' });
      return tell(draft, [], true);
    case 'swapping':
      return goOnWithSwap(draft, active);
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
      return takeJob(draft, input.job, setup);
    case 'cancel':
      return cancel(draft, input.commandID);
    case 'staged':
      return takeStaged(draft, input);
    case 'committed':
    case 'asked':
    case 'withdrawn':
    case 'confirmed':
    case 'rejected':
      if (trial !== null) return takeTrialAnswer(draft, trial, input);
      return record.active === null ? undefined : takeSwapAnswer(draft, record.active, input);
  }
}

/** One step. Without a setup nothing ever happens. */
export function stepUpdate(
  state: UpdateState,
  input: UpdateInput,
  look: UpdateLook,
): { readonly state: UpdateState; readonly effects: readonly UpdateEffect[] } {
  const draft: UpdateDraft = { state, effects: [], look };
  if (state.setup !== null) react(draft, input, state.setup);
  return { state: draft.state, effects: draft.effects };
}
