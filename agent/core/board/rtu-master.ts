// Modbus RTU master as a pure machine: jobs, bytes and time in; bytes and results out; timers are data (`wakeAtMs`). It must never return a value
// that belongs to another request, and never repeat a write by itself.
// The danger: an answer to a read names unit, function and length, but not the address. A late answer to a read of register n is a valid answer to
// the next read of register m. From then on every answer is one request late, for ever. Both masters on npm do this. First read answered after 350
// ms, the others after 60 ms, time-out 300 ms, five registers: reads 2 to 5 each return the register before.
// The rules: one request at a time. After any fault the bus is silent for the shortest response time-out, restarted by each byte. The unit is not
// polled again before `lateGuardMs` (longer than any time-out) have passed since the unanswered request. Bytes that arrive meanwhile are discarded;
// they only show how slow the unit is.
// The bound: no RTU master can recognise an answer later than `lateGuardMs`; boards answer within 100 ms. Sources: Serial Line V1.02 ("SL") 2.4 (one
// request at a time, response time-out, turn-around), 2.5.1.1 (3.5 characters).
import { checkRequest, encodeRequest, expectedLength, isWrite } from './modbus-frame.ts';
import { findAnswer, join, joined, type RtuFinding } from './rtu-search.ts';
import {
  type AskPermit,
  defaultRtuOptions,
  type RtuCounters,
  type RtuFault,
  type RtuInput,
  type RtuJob,
  type RtuMasterOptions,
  type RtuMasterState,
  type RtuOutput,
  type RtuPhase,
  type RtuPriority,
  type RtuResult,
} from './rtu-types.ts';
import {
  newRtuUnit,
  type RtuUnit,
  unitTimeoutMs,
  withAnswer,
  withFailure,
  withTurnaround,
} from './rtu-unit.ts';

type Draft = { -readonly [Key in keyof RtuMasterState]: RtuMasterState[Key] };

interface MasterStep {
  readonly draft: Draft;
  readonly permit: AskPermit;
  readonly outputs: RtuOutput[];
  readonly atMs: number;
}

const noBytes = new Uint8Array(0);
const priorities: readonly RtuPriority[] = ['relay', 'poll', 'config'];
/** A write to a safe state goes first. */
const rankOf = ({ isBlind, priority }: RtuJob): number =>
  isBlind === true ? -1 : priorities.indexOf(priority);
/** Longest glitch on the line when a driver releases the bus, in bytes; more may be a frame. */
const glitchBytes = 2;
const aliveMs = 5000;
/** Pause before a frame that the relay guard refused is asked for again. */
const heldMs = 25;

/** A master with its link down. Missing options come from `defaultRtuOptions`. */
export function createRtuMaster(options: Partial<RtuMasterOptions> = {}): RtuMasterState {
  const full = { ...defaultRtuOptions, ...options };
  return {
    options: full,
    phase: { kind: 'down' },
    queue: [],
    units: new Map(),
    hasEcho: full.echo === 'on',
    late: null,
    counters: {
      requests: 0,
      answers: 0,
      timeouts: 0,
      cut: 0,
      crc: 0,
      wrongUnit: 0,
      wrongFunction: 0,
      wrongLength: 0,
      wrongEcho: 0,
      tooLong: 0,
      exceptions: 0,
      noiseBytes: 0,
      lateAnswers: 0,
    },
    wakeAtMs: null,
  };
}

/**
 * One step; `atMs` is monotonic and never decreases. Every job gets exactly one `done`, unless cancelled.
 * @param permit asked for each frame; a job that it refuses waits until its deadline, and is refused without one.
 * @param mayRestrict false: jobs that need an answer stay in the queue, and a further step is due at once.
 */
export function stepRtuMaster(
  state: RtuMasterState,
  input: RtuInput,
  { permit, mayRestrict = true }: { readonly permit: AskPermit; readonly mayRestrict?: boolean },
): { readonly state: RtuMasterState; readonly outputs: readonly RtuOutput[] } {
  const step: MasterStep = { draft: { ...state }, outputs: [], atMs: input.atMs, permit };
  passTime(step);
  switch (input.kind) {
    case 'submit':
      submit(step, input.job);
      break;
    case 'cancel':
      step.draft.queue = step.draft.queue.filter((job) => job.id !== input.id);
      break;
    case 'bytes':
      receive(step, input.bytes);
      break;
    case 'up':
      handleLinkUp(step);
      break;
    case 'down':
      handleLinkDown(step);
      break;
    case 'time':
      break;
  }
  // After a result the caller goes first: a relay's read-back must not queue behind a waiting poll.
  if (!step.outputs.some((output) => output.kind === 'done')) sendNext(step, mayRestrict);
  step.draft.wakeAtMs = nextWakeMs(step.draft);
  return { state: step.draft, outputs: step.outputs };
}

function done(step: MasterStep, id: number, result: RtuResult): void {
  step.outputs.push({ kind: 'done', id, result });
}

function count(step: MasterStep, name: keyof RtuCounters, by = 1): void {
  if (by === 0) return;
  const counters: Record<keyof RtuCounters, number> = { ...step.draft.counters };
  counters[name] += by;
  step.draft.counters = counters;
}

function submit(step: MasterStep, job: RtuJob): void {
  const { draft } = step;
  const fault = checkRequest(job.request);
  if (fault !== null) return done(step, job.id, { kind: 'refused', reason: fault });
  // Never kept for later: a relay write must not be sent after the next open, when it may no longer be wanted.
  if (draft.phase.kind === 'down') return done(step, job.id, { kind: 'linkDown' });
  const rank = rankOf(job);
  if (draft.queue.length >= draft.options.queueLimit) {
    const last = draft.queue.at(-1);
    if (last === undefined || rankOf(last) <= rank) {
      return done(step, job.id, { kind: 'queueFull' });
    }
    draft.queue = draft.queue.slice(0, -1);
    done(step, last.id, { kind: 'queueFull' });
  }
  const behind = draft.queue.findIndex((other) => rankOf(other) > rank);
  const place = behind < 0 ? draft.queue.length : behind;
  draft.queue = [...draft.queue.slice(0, place), job, ...draft.queue.slice(place)];
}

function handleLinkUp(step: MasterStep): void {
  const { draft, atMs } = step;
  if (draft.phase.kind !== 'down') return;
  draft.hasEcho = draft.options.echo === 'on';
  draft.phase = idle(step, atMs + draft.options.timeoutMinMs);
}

function handleLinkDown(step: MasterStep): void {
  const { draft, atMs } = step;
  if (draft.phase.kind === 'down') return;
  const { phase } = draft;
  if (phase.kind === 'settling') done(step, phase.exchange.job.id, phase.result);
  if (phase.kind === 'waiting') {
    const { job, sentAtMs } = phase.exchange;
    done(step, job.id, isWrite(job.request) ? { kind: 'unknown', reason: 'linkDown' } : { kind: 'linkDown' });
    // The unit may still answer after the next open.
    const unit = unitOf(draft, job);
    const holdUntilMs = Math.max(unit.holdUntilMs, sentAtMs + draft.options.lateGuardMs, atMs);
    setUnit(draft, job, { ...unit, holdUntilMs });
  }
  for (const job of draft.queue) done(step, job.id, { kind: 'linkDown' });
  draft.queue = [];
  draft.late = null;
  draft.phase = { kind: 'down' };
}

function idle(step: MasterStep, quietUntilMs: number): RtuPhase {
  return {
    kind: 'idle',
    quietUntilMs,
    ceilingMs: Math.max(quietUntilMs, step.atMs + step.draft.options.silenceCeilingMs),
    noiseBytes: 0,
  };
}

function unitOf(draft: Draft, job: RtuJob): RtuUnit {
  return draft.units.get(job.request.unit) ?? newRtuUnit;
}

function setUnit(draft: Draft, job: RtuJob, unit: RtuUnit): void {
  draft.units = new Map(draft.units).set(job.request.unit, unit);
}

/** Time of `bytes` characters on the wire, ms. */
function wireMs(options: RtuMasterOptions, bytes: number): number {
  return (bytes * options.bitsPerChar * 1000) / options.baudRate;
}

/** SL 2.5.1.1: 3.5 characters, fixed at 1.75 ms above 19200 baud; plus 1 ms, because some boards count long. */
function gapMs(options: RtuMasterOptions): number {
  return Math.max(wireMs(options, 3.5), 1.75) + 1;
}

/** Handles what time alone ends. */
function passTime(step: MasterStep): void {
  const { phase } = step.draft;
  if (phase.kind === 'settling' && step.atMs >= phase.untilMs) accept(step, phase);
  if (phase.kind === 'waiting' && step.atMs >= phase.timeoutAtMs)
    fail(step, phase, lookAt(step, phase).fault ?? 'timeout');
}

const lookAt = (
  { draft }: MasterStep,
  { exchange, received }: RtuPhase & { kind: 'waiting' | 'settling' },
): RtuFinding => findAnswer(exchange, received.bytes, { mode: draft.options.echo, hasEcho: draft.hasEcho });

/** A blind write may go out before a read has shown whether the adapter echoes, so its answer does not prove that the unit answers. */
const isEvidence = ({ isBlind }: RtuJob): boolean => isBlind !== true;

function accept(step: MasterStep, phase: RtuPhase & { kind: 'settling' }): void {
  const { draft } = step;
  const { exchange, received } = phase;
  const { job } = exchange;
  const found = lookAt(step, phase);
  draft.hasEcho = found.hasEcho;
  count(step, phase.result.kind === 'exception' ? 'exceptions' : 'answers');
  count(step, 'noiseBytes', received.count - found.usedBytes);
  if (isEvidence(job)) setUnit(draft, job, withAnswer(unitOf(draft, job), step.atMs));
  draft.phase = idle(step, phase.untilMs);
  done(step, job.id, phase.result);
}

/** Ends an exchange without a good answer: the result, then silence on the bus and a pause for the unit. */
function fail(
  step: MasterStep,
  phase: RtuPhase & { kind: 'waiting' },
  reason: Exclude<RtuFault, 'linkDown'>,
): void {
  const { draft, atMs } = step;
  const { exchange, received } = phase;
  const { job } = exchange;
  const { lateGuardMs, timeoutMinMs } = draft.options;
  const unit = unitOf(draft, job);
  const found = lookAt(step, phase);
  draft.hasEcho = found.hasEcho;
  // A spoilt answer has arrived: no other is due and the silence has begun. Otherwise the answer may still be on its way.
  const hasCome = found.isSpoilt;
  const quietUntilMs = Math.max(atMs, (hasCome ? received.lastMs : atMs) + timeoutMinMs);
  const holdUntilMs = Math.max(quietUntilMs, exchange.sentAtMs + (hasCome ? 0 : lateGuardMs));
  const isOtherAlive = [...draft.units].some(
    ([address, { lastOkMs }]) =>
      address !== job.request.unit && lastOkMs !== null && atMs - lastOkMs < aliveMs,
  );
  setUnit(draft, job, withFailure(unit, { atMs, holdUntilMs, isOtherAlive }));
  count(step, reason === 'timeout' ? 'timeouts' : reason);
  count(step, 'noiseBytes', received.count - found.usedBytes);
  if (!hasCome) draft.late = { exchange, bytes: noBytes };
  draft.phase = idle(step, quietUntilMs);
  if (isWrite(job.request)) return done(step, job.id, { kind: 'unknown', reason });
  done(step, job.id, reason === 'timeout' ? { kind: 'timeout' } : { kind: 'invalid', reason });
}

function receive(step: MasterStep, bytes: Uint8Array): void {
  const { draft, atMs } = step;
  const { phase } = draft;
  if (phase.kind === 'waiting' || phase.kind === 'settling') return receiveAnswer(step, phase, bytes);
  count(step, 'noiseBytes', bytes.length);
  if (phase.kind === 'down') return;
  learnLate(step, bytes);
  const { timeoutMinMs, silenceCeilingMs } = draft.options;
  const noiseBytes = phase.noiseBytes + bytes.length;
  // After a glitch the silence need not be longer than between frames, unless the glitch may begin an answer that is due.
  const isGlitch = noiseBytes <= glitchBytes && !isAnswerDue(step);
  const silenceMs = isGlitch ? gapMs(draft.options) : timeoutMinMs;
  const isFirst = atMs >= phase.quietUntilMs;
  const ceilingMs = isFirst ? atMs + silenceCeilingMs : phase.ceilingMs;
  const quietUntilMs = Math.max(phase.quietUntilMs, Math.min(ceilingMs, atMs + silenceMs));
  draft.phase = { kind: 'idle', quietUntilMs, ceilingMs, noiseBytes };
}

/** True when the answer to an earlier request may still come. */
const isAnswerDue = ({ draft, atMs }: MasterStep): boolean =>
  [...draft.units.values()].some(({ holdUntilMs }) => holdUntilMs > atMs);

function receiveAnswer(
  step: MasterStep,
  phase: RtuPhase & { kind: 'waiting' | 'settling' },
  chunk: Uint8Array,
): void {
  const { draft, atMs } = step;
  const { exchange, timeoutAtMs } = phase;
  const received = joined(phase.received, chunk, atMs);
  const waiting = { kind: 'waiting', exchange, timeoutAtMs, received } as const;
  draft.phase = waiting;
  learnLate(step, chunk);
  const found = lookAt(step, waiting);
  if (found.answer === null) return;
  // Two answers to one request: one belongs to another request, and it is unknown which.
  if (found.isTwice) return fail(step, waiting, 'tooLong');
  if (phase.kind === 'waiting' && isEvidence(exchange.job)) {
    const wire = wireMs(draft.options, exchange.sent.length + expectedLength(exchange.job.request));
    const sampleMs = atMs - exchange.sentAtMs - wire;
    setUnit(draft, exchange.job, withTurnaround(unitOf(draft, exchange.job), sampleMs));
  }
  const silentMs = atMs + gapMs(draft.options);
  const untilMs =
    phase.kind === 'waiting' ? silentMs : Math.max(phase.untilMs, Math.min(silentMs, timeoutAtMs));
  draft.phase = { ...waiting, kind: 'settling', result: found.answer, untilMs };
}

/** Records the turn-around of a late answer; its value is discarded. */
function learnLate(step: MasterStep, chunk: Uint8Array): void {
  const { draft, atMs } = step;
  if (draft.late === null) return;
  const { exchange } = draft.late;
  const bytes = join(draft.late.bytes, chunk);
  draft.late = { exchange, bytes };
  const { answer } = findAnswer(exchange, bytes, { mode: 'off', hasEcho: false });
  if (answer === null) return;
  draft.late = null;
  if (answer.kind !== 'ok') return;
  count(step, 'lateAnswers');
  const wire = wireMs(draft.options, exchange.sent.length + expectedLength(exchange.job.request));
  setUnit(draft, exchange.job, withTurnaround(unitOf(draft, exchange.job), atMs - exchange.sentAtMs - wire));
}

/** Monotonic time from which line and unit let a queued job go, ms. */
function readyAtMs(draft: Draft, job: RtuJob): number {
  if (job.isBlind === true) return Number.NEGATIVE_INFINITY;
  const unit = unitOf(draft, job);
  const quietUntilMs = draft.phase.kind === 'idle' ? draft.phase.quietUntilMs : Number.NEGATIVE_INFINITY;
  const readyMs = Math.max(quietUntilMs, unit.holdUntilMs, job.heldUntilMs ?? Number.NEGATIVE_INFINITY);
  return job.priority === 'relay' ? readyMs : Math.max(readyMs, unit.pollsHeldUntilMs);
}

/** A job that the relay guard refuses waits for better readings, and lets the others pass; without a deadline it would wait for ever. */
function hold(step: MasterStep, job: RtuJob, mayRestrict: boolean): void {
  const { draft, atMs } = step;
  const isHeld = job.deadlineMs !== undefined;
  const held = isHeld ? [{ ...job, heldUntilMs: atMs + heldMs }] : [];
  draft.queue = draft.queue.flatMap((other) => (other === job ? held : [other]));
  if (isHeld) return sendNext(step, mayRestrict);
  done(step, job.id, { kind: 'refused', reason: 'the relay guard refuses it' });
}

function sendNext(step: MasterStep, mayRestrict: boolean): void {
  const { draft, atMs } = step;
  if (draft.queue.length === 0) return;
  const expired = draft.queue.filter((job) => job.deadlineMs !== undefined && job.deadlineMs < atMs);
  if (expired.length > 0) {
    draft.queue = draft.queue.filter((job) => !expired.includes(job));
    for (const job of expired) done(step, job.id, { kind: 'expired' });
  }
  const unanswered = draft.queue.filter((job) => job.needsAnswer === true && unitOf(draft, job).failures > 0);
  if (unanswered.length > 0) {
    draft.queue = draft.queue.filter((job) => !unanswered.includes(job));
    for (const job of unanswered) done(step, job.id, { kind: 'unanswered' });
    // The caller goes first, as after any result.
    return;
  }
  if (draft.phase.kind !== 'idle') return;
  const job = draft.queue.find((candidate) => readyAtMs(draft, candidate) <= atMs);
  if (job === undefined || (job.needsAnswer === true && !mayRestrict)) return;
  const permit = step.permit(job.request);
  if (permit === null) return hold(step, job, mayRestrict);
  draft.queue = draft.queue.filter((other) => other !== job);
  const sent = encodeRequest(permit.request);
  const wire = wireMs(draft.options, sent.length * (draft.hasEcho ? 2 : 1) + expectedLength(job.request));
  const timeoutMs = unitTimeoutMs(unitOf(draft, job), { ...draft.options, wireMs: wire });
  draft.phase = {
    kind: 'waiting',
    exchange: { job, sent, sentAtMs: atMs },
    timeoutAtMs: atMs + timeoutMs,
    received: { bytes: noBytes, count: 0, lastMs: atMs },
  };
  if (draft.late?.exchange.job.request.unit === job.request.unit) draft.late = null;
  count(step, 'requests');
  step.outputs.push({ kind: 'write', bytes: sent, permit });
}

function nextWakeMs(draft: Draft): number | null {
  const { phase, queue } = draft;
  let wakeMs = Infinity;
  if (phase.kind === 'waiting') wakeMs = phase.timeoutAtMs;
  if (phase.kind === 'settling') {
    const { resultByMs } = phase.exchange.job;
    const mayWait = resultByMs !== undefined && queue.length === 0;
    wakeMs = mayWait ? Math.max(phase.untilMs, resultByMs) : phase.untilMs;
  }
  for (const job of queue) {
    if (job.deadlineMs !== undefined) wakeMs = Math.min(wakeMs, job.deadlineMs + 1);
    if (phase.kind === 'idle') wakeMs = Math.min(wakeMs, readyAtMs(draft, job));
  }
  return wakeMs === Infinity ? null : wakeMs;
}
