// The I/O board as a pure machine on top of the RTU master: polls, decodes, drives relays and proves it by reading back. It never reports a relay
// from memory and never keeps an order for a board that is not connected. It never energises a relay before it was read after a (re)connect
// (edge-agents 2.3 rule 9), nor in a step that brings new readings, which the vehicle must judge first. The safe state needs no answer: it is written
// whatever the board sends.

import { featureNames } from '../../../src/core/events/event.ts';
import { decodeRelay } from './board-decode.ts';
import {
  type BoardProfile,
  bitsPerChar,
  pollRequest,
  type RelayName,
  readAddress,
  relayRequest,
  urgentPoll,
  wiringOf,
  wiringsOf,
} from './board-profile.ts';
import { afterSetup, idleSetup, setupRequest } from './board-setup.ts';
import type { BoardInput, BoardOutput, BoardPurpose, BoardState, PendingJob } from './board-types.ts';
import { type BoardDraft, type BoardStep, emit, freshUnit, recordAnswer, setProblem } from './board-watch.ts';
import { formatException, formatRequest, type ModbusRequest } from './modbus-frame.ts';
import { duePolls, loopbackWaitsForUrgent, setupWaitsForUrgent, waitsForUrgent } from './poll-order.ts';
import {
  afterNoReading,
  afterReading,
  afterWrite,
  newOrder,
  type RelayMove,
  type RelayOrder,
  withWriteQueued,
} from './relay-order.ts';
import { createRtuMaster, stepRtuMaster } from './rtu-master.ts';
import type { AskPermit, RtuInput, RtuJob, RtuMasterOptions, RtuResult } from './rtu-types.ts';

/** Interval of requests for a range that the board refuses: it gains no register, but may be reconfigured. */
const refusedPeriodMs = 5000;
/** Job ids begin at 1. */
const noJob = 0;
/** Maximum delay of a good result, until the step that the next poll needs anyway. This saves one step. */
const resultLatestMs = 40;

/** A board with its link down. `options` are those of the master; speed and framing come from the profile. */
export function createBoard(profile: BoardProfile, options: Partial<RtuMasterOptions> = {}): BoardState {
  return {
    profile,
    master: createRtuMaster({
      baudRate: profile.serial.baudRate,
      bitsPerChar: bitsPerChar(profile.serial),
      ...options,
    }),
    isLinkUp: false,
    nextId: 1,
    jobs: [],
    polls: {},
    units: {},
    setup: profile.setup.map(() => idleSetup),
    orders: {},
    problems: {},
    life: { isAlive: null, atMs: Number.NEGATIVE_INFINITY, deadSinceMs: null },
    mayInterpose: true,
    wakeAtMs: null,
  };
}

/** One step; `atMs` is monotonic and never decreases. Every `setRelay` gets exactly one `relayResult`. @param permit asks the relay guard for a frame. */
export function stepBoard(
  state: BoardState,
  input: BoardInput,
  permit: AskPermit,
): { readonly state: BoardState; readonly outputs: readonly BoardOutput[] } {
  const step: BoardStep = { draft: { ...state }, outputs: [], atMs: input.atMs, permit };
  switch (input.kind) {
    case 'up':
      handleLinkUp(step);
      break;
    case 'down':
      handleLinkDown(step, input.reason);
      break;
    case 'bytes':
    case 'time':
      feedMaster(step, input);
      break;
    case 'setRelay':
      setRelay(step, input);
      break;
  }
  schedule(step);
  // The master sends nothing in a step that ends a job, so that jobs that follow from the result can go first.
  feedMaster(step, { kind: 'time', atMs: input.atMs });
  step.draft.wakeAtMs = nextWakeMs(step.draft, input.atMs);
  return { state: step.draft, outputs: step.outputs };
}

function handleLinkUp(step: BoardStep): void {
  const { draft, atMs } = step;
  if (draft.isLinkUp) return;
  const { profile } = draft;
  const relayPolls = new Set(wiringsOf(profile).map(([, relay]) => relay.poll));
  const names = Object.keys(profile.polls).sort(
    (left, right) => Number(relayPolls.has(right)) - Number(relayPolls.has(left)),
  );
  draft.isLinkUp = true;
  draft.polls = Object.fromEntries(
    names.map((poll) => [poll, { nextAtMs: atMs, isPending: false, askedMs: null }]),
  );
  draft.units = Object.fromEntries(Object.keys(profile.units).map((unit) => [unit, freshUnit]));
  feedMaster(step, { kind: 'up', atMs });
}

function handleLinkDown(step: BoardStep, reason: string): void {
  const { draft, atMs } = step;
  if (!draft.isLinkUp) return;
  draft.isLinkUp = false;
  feedMaster(step, { kind: 'down', atMs });
  const held = draft.orders.loopback;
  if (held !== undefined) {
    const outcome = held.writes > 0 ? 'unknown' : 'refused';
    const move = { kind: 'end', outcome, reason: 'the link went down', readBack: null } as const;
    endOrder(step, 'loopback', { order: held, move });
  }
  for (const poll of Object.keys(draft.profile.polls)) emit(step, poll, null);
  draft.units = {};
  draft.polls = {};
  draft.jobs = [];
  draft.setup = draft.profile.setup.map(() => idleSetup);
  step.outputs.push({ kind: 'boardDown', unit: null, reason });
}

function feedMaster(step: BoardStep, input: RtuInput): void {
  const { draft, outputs } = step;
  const { phase } = draft.master;
  const sentMs = 'exchange' in phase ? phase.exchange.sentAtMs : input.atMs;
  // New readings must be judged before a relay is energised; the vehicle judges them at the end of this step.
  const hasReadings = outputs.some(({ kind }) => kind !== 'write' && kind !== 'relayResult');
  const stepped = stepRtuMaster(draft.master, input, { permit: step.permit, mayRestrict: !hasReadings });
  draft.master = stepped.state;
  for (const output of stepped.outputs) {
    if (output.kind === 'write') {
      outputs.push(output);
      continue;
    }
    const job = jobOf(draft, output.id);
    if (job === undefined) continue;
    forget(draft, output.id);
    finish(step, { job, result: output.result, sentMs });
  }
}

const jobOf = ({ jobs }: BoardDraft, id: number): PendingJob | undefined => jobs.find((job) => job.id === id);

function forget(draft: BoardDraft, id: number): void {
  draft.jobs = draft.jobs.filter((job) => job.id !== id);
}

function submit(
  step: BoardStep,
  purpose: BoardPurpose,
  job: { readonly request: ModbusRequest } & Pick<
    RtuJob,
    'priority' | 'deadlineMs' | 'needsAnswer' | 'isBlind' | 'resultByMs'
  >,
): void {
  const { draft, atMs } = step;
  const id = draft.nextId;
  draft.nextId += 1;
  draft.jobs = [...draft.jobs, { id, purpose, request: job.request }];
  feedMaster(step, { kind: 'submit', job: { ...job, id }, atMs });
}

interface Finished {
  readonly job: PendingJob;
  readonly result: RtuResult;
  readonly sentMs: number;
}

function finish(step: BoardStep, finished: Finished): void {
  const { purpose } = finished.job;
  switch (purpose.kind) {
    case 'poll':
      return finishPoll(step, purpose.poll, finished);
    case 'setup':
      return finishSetup(step, purpose.at, finished);
    case 'relayWrite':
    case 'relayRead':
      return finishOrder(step, purpose, finished);
  }
}

function finishPoll(step: BoardStep, name: string, { job, result, sentMs }: Finished): void {
  const { draft, atMs } = step;
  const poll = draft.profile.polls[name];
  const state = draft.polls[name];
  if (poll === undefined || state === undefined) return;
  // A queued exchange with the loop-back output takes the one place behind the urgent poll.
  if (name === urgentPoll(draft.profile)) draft.mayInterpose = draft.orders.loopback?.held !== null;
  const refusedUntilMs = result.kind === 'exception' ? atMs + refusedPeriodMs : state.nextAtMs;
  const nextAtMs = Math.max(state.nextAtMs, refusedUntilMs);
  const askedMs = result.kind === 'ok' ? sentMs : state.askedMs;
  draft.polls = { ...draft.polls, [name]: { nextAtMs, isPending: false, askedMs } };
  recordAnswer(step, { name, unit: poll.unit, request: job.request, result });
}

function finishSetup(step: BoardStep, at: number, { job, result }: Finished): void {
  const { draft, atMs } = step;
  const rule = draft.profile.setup[at];
  const before = draft.setup[at];
  if (rule === undefined || before === undefined || !draft.isLinkUp) return;
  const verdict = afterSetup(rule, before, { request: job.request, result, atMs });
  draft.setup = draft.setup.map((progress, index) => (index === at ? verdict.progress : progress));
  if (verdict.problem !== undefined) setProblem(step, `setup/${at}`, verdict.problem);
}

function setRelay(step: BoardStep, input: BoardInput & { readonly kind: 'setRelay' }): void {
  const { draft, atMs } = step;
  const { relay } = input;
  supersede(step, relay);
  const wiring = wiringOf(draft.profile, relay);
  const refusal =
    wiring === undefined
      ? `${relay} is not fitted`
      : !draft.isLinkUp
        ? 'the link to the board is down'
        : atMs > input.deadlineMs
          ? 'the deadline passed before it could be sent'
          : null;
  if (refusal !== null || wiring === undefined) {
    const result = { outcome: 'refused', reason: refusal, readBack: null } as const;
    step.outputs.push({ kind: 'relayResult', relay, token: input.token, ...result });
    return;
  }
  const isSafe = !input.energised && featureNames.some((feature) => feature === relay);
  const mayWrite = isSafe || (draft.units[wiring.unit]?.areRelaysRead ?? false);
  perform(step, relay, {
    order: newOrder({ ...input, isSafe }),
    move: { kind: mayWrite ? 'write' : 'read' },
  });
}

/** The newest order of a relay wins. The outcome of the older one is unknown unless nothing was written. */
function supersede(step: BoardStep, relay: RelayName): void {
  const { draft, atMs } = step;
  const old = draft.orders[relay];
  if (old === undefined) return;
  const { phase } = draft.master;
  const isInFlight = 'exchange' in phase && phase.exchange.job.id === old.jobId;
  const isWriting = jobOf(draft, old.jobId)?.purpose.kind === 'relayWrite';
  forget(draft, old.jobId);
  feedMaster(step, { kind: 'cancel', id: old.jobId, atMs });
  const didNothing = old.writes === 0 && !(isInFlight && isWriting);
  endOrder(step, relay, {
    order: old,
    move: {
      kind: 'end',
      outcome: didNothing ? 'refused' : 'unknown',
      reason: 'superseded by a newer order',
      readBack: null,
    },
  });
}

function endOrder(
  step: BoardStep,
  relay: RelayName,
  ended: { readonly order: RelayOrder; readonly move: RelayMove & { readonly kind: 'end' } },
): void {
  const { [relay]: _, ...orders } = step.draft.orders;
  step.draft.orders = orders;
  const { outcome, reason, readBack } = ended.move;
  step.outputs.push({ kind: 'relayResult', relay, token: ended.order.token, outcome, reason, readBack });
}

function perform(
  step: BoardStep,
  relay: RelayName,
  judged: { readonly order: RelayOrder; readonly move: RelayMove },
): void {
  const { draft } = step;
  const { move } = judged;
  if (move.kind === 'end') return endOrder(step, relay, { order: judged.order, move });
  // A loop-back must not delay a sample of the panic button, because no person ordered it.
  if (relay === 'loopback')
    draft.orders = { ...draft.orders, loopback: { ...judged.order, jobId: noJob, held: move } };
  else exchange(step, relay, { ...judged, priority: 'relay' });
}

function exchange(
  step: BoardStep,
  relay: RelayName,
  judged: { readonly order: RelayOrder; readonly move: RelayMove; readonly priority: RtuJob['priority'] },
): void {
  const { draft } = step;
  const { move, priority } = judged;
  const request = relayRequest(draft.profile, relay, move.kind === 'write' ? judged.order : null);
  if (request === null) return;
  const order = move.kind === 'write' ? withWriteQueued(judged.order) : judged.order;
  // Stored before the submission, because the result may come within the same step.
  draft.orders = { ...draft.orders, [relay]: { ...order, jobId: draft.nextId, held: null } };
  // Only the restrictive write waits for a line that answers; a restore is sent into any.
  const { deadlineMs, energised: needsAnswer, isSafe: isBlind } = order;
  const conditions = move.kind === 'write' ? { deadlineMs, needsAnswer, isBlind } : {};
  const kind = move.kind === 'write' ? 'relayWrite' : 'relayRead';
  submit(step, { kind, relay }, { request, priority, ...conditions });
}

/** Continues a loop-back order in the place of another poll. */
function resumeHeld(step: BoardStep): void {
  const { draft, atMs } = step;
  const order = draft.orders.loopback;
  if (order === undefined || order.held === null || loopbackWaitsForUrgent(draft, atMs)) return;
  draft.mayInterpose = false;
  exchange(step, 'loopback', { order, move: order.held, priority: 'poll' });
}

function finishOrder(
  step: BoardStep,
  purpose: { readonly kind: 'relayWrite' | 'relayRead'; readonly relay: RelayName },
  { job, result }: Finished,
): void {
  const { draft, atMs } = step;
  const { relay } = purpose;
  const order = draft.orders[relay];
  const wiring = wiringOf(draft.profile, relay);
  const { request } = job;
  if (order === undefined || wiring === undefined || order.jobId !== job.id) return;
  const describe = (code: number) => `${formatRequest(request)}: ${formatException(code)}`;
  if (purpose.kind === 'relayWrite')
    return perform(step, relay, afterWrite(order, result, { atMs, describe }));
  if (!draft.isLinkUp || result.kind === 'linkDown') {
    const outcome = order.writes > 0 ? 'unknown' : 'refused';
    const move = { kind: 'end', outcome, reason: 'the link went down', readBack: null } as const;
    return endOrder(step, relay, { order, move });
  }
  recordAnswer(step, { name: wiring.poll, unit: wiring.unit, request, result });
  if (result.kind === 'ok') {
    const first = draft.profile.polls[wiring.poll]?.first ?? 0;
    const on = decodeRelay(wiring, result.values[readAddress(wiring) - first] ?? null);
    return perform(step, relay, afterReading(order, { on, atMs }));
  }
  const reason =
    result.kind === 'exception' ? describe(result.code) : 'the board does not answer the read-back';
  return perform(step, relay, afterNoReading(order, { reason, atMs }));
}

/** Submits what is due: one job at a time for each poll and each set-up entry. */
function schedule(step: BoardStep): void {
  const { draft, atMs } = step;
  if (!draft.isLinkUp) return;
  const urgent = urgentPoll(draft.profile);
  for (const name of duePolls(draft, atMs)) {
    const poll = draft.profile.polls[name];
    const state = draft.polls[name];
    if (poll === undefined || state === undefined || waitsForUrgent(draft, name, atMs)) continue;
    const request = pollRequest(draft.profile, poll);
    if (request === null) continue;
    const nextAtMs = poll.periodMs + (state.nextAtMs + poll.periodMs > atMs ? state.nextAtMs : atMs);
    draft.polls = { ...draft.polls, [name]: { ...state, nextAtMs, isPending: true } };
    if (name !== urgent) draft.mayInterpose = false;
    const resultByMs = Math.min(nextAtMs, atMs + resultLatestMs);
    submit(step, { kind: 'poll', poll: name }, { request, priority: 'poll', resultByMs });
  }
  resumeHeld(step);
  for (const [at, progress] of draft.setup.entries()) {
    const rule = draft.profile.setup[at];
    const unit = rule && draft.profile.units[rule.unit]?.address;
    if (rule === undefined || unit === undefined) continue;
    if (progress.isPending || progress.dueAtMs === null || progress.dueAtMs > atMs) continue;
    if (setupWaitsForUrgent(draft, atMs)) continue;
    draft.mayInterpose = false;
    draft.setup = draft.setup.map((other, index) => (index === at ? { ...other, isPending: true } : other));
    submit(step, { kind: 'setup', at }, { request: setupRequest(rule, unit, progress), priority: 'config' });
  }
}

function nextWakeMs(draft: BoardDraft, atMs: number): number | null {
  let wakeMs = draft.master.wakeAtMs ?? Infinity;
  if (draft.isLinkUp) {
    // Polls that wait for the urgent one are considered again when it ends.
    for (const [name, { isPending, nextAtMs }] of Object.entries(draft.polls)) {
      if (isPending || (nextAtMs <= atMs && waitsForUrgent(draft, name, atMs))) continue;
      wakeMs = Math.min(wakeMs, nextAtMs);
    }
    for (const { isPending, dueAtMs } of draft.setup) {
      const waits = dueAtMs !== null && dueAtMs <= atMs && setupWaitsForUrgent(draft, atMs);
      if (!isPending && dueAtMs !== null && !waits) wakeMs = Math.min(wakeMs, dueAtMs);
    }
  }
  return wakeMs === Infinity ? null : wakeMs;
}
