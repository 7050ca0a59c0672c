// A release on trial: what the start finds, whether all that worked before works again, and the word that ends it. It must
// never confirm a release that was not shown to work, and never keep one past its time: the launcher ends that one anyhow.
import {
  change,
  completeEvent,
  endJob,
  failJob,
  note,
  order,
  rest,
  setActive,
  tell,
} from './update-draft.ts';
import {
  type ActiveUpdate,
  type UpdateDraft,
  type UpdateInput,
  type UpdateSetup,
  type UpdateTrial,
  updateLimits,
  type WorkingParts,
} from './update-types.ts';

/** Of a trial whose record was lost: what every vehicle must be able to do. */
const strictBaseline: WorkingParts = { board: true, gnss: false, broker: true };
const nothing: WorkingParts = { board: false, gnss: false, broker: false };

function beginTrial(draft: UpdateDraft, version: string, baseline: WorkingParts): void {
  const trial = { version, sinceMs: draft.look.nowMs, baseline, seen: nothing, healthySinceMs: null };
  change(draft, { trial });
  note(draft, 'warn', 'release on trial', { version, ...baseline });
}

/** The new release runs and is confirmed. */
function complete(draft: UpdateDraft, version: string): void {
  const { active } = draft.state.record;
  change(draft, { trial: null });
  note(draft, 'info', 'release confirmed', { version });
  if (active !== null && active.version === version) return endJob(draft, [completeEvent(active)]);
  rest(draft);
  order(draft, { kind: 'tidy' });
}

/** The swap was asked for before this start: what became of it. */
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
    order(draft, { kind: 'reject', version, reason });
    return failJob(draft, active, reason);
  }
  const swaps = active.swaps + 1;
  if (swaps >= updateLimits.swaps)
    return failJob(draft, active, 'nothing is known of the release that was to be tried');
  // Power was cut between the record and the word to the launcher.
  setActive(draft, { ...active, phase: 'staged', swaps });
  tell(draft, []);
}

/** What the start finds. */
export function beginUpdate(draft: UpdateDraft, setup: UpdateSetup): void {
  const { active } = draft.state.record;
  const { running, facts } = setup;
  if (active?.phase === 'swapping') return resolveSwap(draft, active, setup);
  if (facts.trial === running) beginTrial(draft, running, strictBaseline);
  else if (active === null) order(draft, { kind: 'tidy' });
}

function missingParts({ baseline, seen }: UpdateTrial, now: WorkingParts): readonly string[] {
  return [
    ...(baseline.board && !now.board ? ['the I/O board is silent'] : []),
    ...(baseline.gnss && !seen.gnss ? ['the GNSS receiver was never heard'] : []),
    ...(baseline.broker && !seen.broker ? ['the broker was never reached'] : []),
  ];
}

/** Looks whether the release on trial works, and ends the trial one way or the other. */
export function watchTrial(draft: UpdateDraft, before: UpdateTrial, setup: UpdateSetup): void {
  const { nowMs, parts } = draft.look;
  const seen: WorkingParts = {
    board: before.seen.board || parts.board,
    gnss: before.seen.gnss || parts.gnss,
    broker: before.seen.broker || parts.broker,
  };
  const missing = missingParts({ ...before, seen }, parts);
  const healthySinceMs = missing.length > 0 ? null : (before.healthySinceMs ?? nowMs);
  const trial: UpdateTrial = { ...before, seen, healthySinceMs };
  change(draft, { trial, waiting: missing.join('; ') });
  if (draft.state.work !== 'none' || nowMs < draft.state.notBeforeMs) return;
  if (healthySinceMs !== null && nowMs - healthySinceMs >= setup.healthMs) {
    // The last proof: a commit goes through.
    change(draft, { work: 'proving' });
    return tell(draft, [], true);
  }
  if (nowMs - before.sinceMs < setup.trialMs * updateLimits.giveUpShare) return;
  const why = missing.length > 0 ? missing.join('; ') : 'it did not work for long enough in one go';
  const reason = `given up after its trial: ${why}`;
  note(draft, 'error', 'release given up', { version: before.version, reason });
  change(draft, { work: 'rejecting' });
  order(draft, { kind: 'reject', version: before.version, reason });
}

/** An answer that a trial waits for. */
export function takeTrialAnswer(draft: UpdateDraft, trial: UpdateTrial, input: UpdateInput): void {
  const { version } = trial;
  const { work } = draft.state;
  const notBeforeMs = draft.look.nowMs + updateLimits.retryMs;
  if (input.kind === 'committed' && work === 'proving') {
    if (!input.durable) return change(draft, { work: 'none', trial: { ...trial, healthySinceMs: null } });
    change(draft, { work: 'confirming' });
    return order(draft, { kind: 'confirm', version });
  }
  if (input.kind === 'confirmed' && work === 'confirming') {
    if (input.fault === null) return complete(draft, version);
    note(draft, 'error', 'release not confirmed', { version, reason: input.fault });
    return change(draft, { work: 'none', notBeforeMs });
  }
  if (input.kind !== 'rejected' || work !== 'rejecting') return;
  // Not written down: the launcher counts the start, and the next one decides.
  if (input.fault !== null) note(draft, 'error', 'release not rejected', { version, reason: input.fault });
  change(draft, { work: 'restarting' });
  order(draft, { kind: 'restart' });
}
