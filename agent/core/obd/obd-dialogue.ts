// One step of the dialogue with an adapter: what an answer, or time alone, leads to, and the command that is written next.
import type { ElmReading, ElmWord } from './elm-answer.ts';
import { isCan, isRequest, type ObdCommand } from './obd-commands.ts';
import {
  hasOneAnswer,
  learnCommand,
  searchCommand,
  setupPlan,
  stepLearn,
  stepSearch,
  stepSetup,
  voltsIn,
} from './obd-opening.ts';
import { isLow, type ObdPermission } from './obd-permission.ts';
import { nextPoll, type PollRecord, type ScheduleFacts } from './obd-schedule.ts';
import {
  answerMs,
  endSession,
  type ObdInput,
  type ObdReading,
  type ObdSession,
  type ObdStep,
  obdTiming,
  readingOf,
  recordError,
  restartSession,
} from './obd-session.ts';
import {
  modeOf,
  pidsIn,
  readPid,
  readStatus,
  refusalIn,
  signalOf,
  speedPid,
  statusPid,
  voltsPid,
} from './obd-signals.ts';

export interface ObdMoment {
  readonly nowMs: number;
  readonly permission: ObdPermission;
}

export interface DialogueStep extends ObdStep {
  /** To be written now; null: nothing. */
  readonly command: ObdCommand | null;
}

const isDriving = ({ movedMs }: ObdSession, nowMs: number): boolean => nowMs - movedMs <= obdTiming.drivingMs;

function scheduleOf(state: ObdSession, nowMs: number): ScheduleFacts {
  return {
    polls: state.polls,
    hasLongRequests: state.hasLongRequests,
    isDriving: isDriving(state, nowMs),
    offers: (pid) => state.units.some(({ pids }) => pids.includes(pid)),
    isCounted: (pids) => state.hasAnswerCount && hasOneAnswer(state, pids),
  };
}

/** The name under which the record of a request is kept: without the number of answers. */
const nameOf = (command: ObdCommand): ObdCommand => {
  switch (command) {
    case '010D1':
      return '010D';
    case '010C1':
      return '010C';
    case '010D0C1':
      return '010D0C';
    default:
      return command;
  }
};

/** The supply was measured: low twice in a row ends the session. */
function withSupply(state: ObdSession, volts: number): ObdSession {
  const lowReadings = isLow(volts) ? state.lowReadings + 1 : 0;
  const next = { ...state, volts, lowReadings };
  return lowReadings >= obdTiming.lowMost ? endSession(next, 'battery_low') : next;
}

/** Another number of codes, over all control units: the list is read at once. */
function withCodeCount(state: ObdSession, codeCount: number): ObdSession {
  const { '03': _asked, ...others } = state.polls;
  const isOther = state.codeCount !== null && state.codeCount !== codeCount;
  return { ...state, codeCount, polls: isOther ? others : state.polls };
}

/** What the answers of mode 01 change of the dialogue itself. */
function withValues(given: ObdSession, { messages }: ElmReading, nowMs: number): ObdSession {
  let state = given;
  let codes: number | null = null;
  for (const message of messages)
    for (const [pid, data] of pidsIn(message) ?? []) {
      const signal = signalOf(pid);
      const value = signal === undefined ? null : readPid(signal, data);
      if (pid === speedPid && typeof value === 'number' && value > 0) state = { ...state, movedMs: nowMs };
      if (pid === voltsPid && typeof value === 'number') state = withSupply(state, value);
      if (pid === statusPid) codes = (codes ?? 0) + readStatus(data).codes;
    }
  return codes === null ? state : withCodeCount(state, codes);
}

const withRecord = (state: ObdSession, command: ObdCommand, record: PollRecord): ObdSession => ({
  ...state,
  polls: { ...state.polls, [nameOf(command)]: record },
});

/** Messages that answer a request. */
function answersOf({ messages }: ElmReading, mode: number): ElmReading['messages'] {
  return messages.filter(({ data }) => data[0] === mode + 0x40);
}

function readingsOf(
  state: ObdSession,
  mode: number,
  messages: ElmReading['messages'],
): readonly ObdReading[] {
  if (mode === 1) return [{ kind: 'answers', messages }];
  if (mode !== 3 && mode !== 7 && mode !== 10) return [];
  const isCounted = state.protocol !== null && isCan(state.protocol);
  return [{ kind: 'codes', mode, isCounted, messages }];
}

/** The answer to a request of the schedule. */
function stepPoll(state: ObdSession, command: ObdCommand, reading: ElmReading, nowMs: number): ObdStep {
  const before = state.polls[nameOf(command)];
  const record: PollRecord = { askedMs: before?.askedMs ?? nowMs, failures: before?.failures ?? 0 };
  const failed = withRecord(state, command, { ...record, failures: record.failures + 1 });
  if (!isRequest(command)) {
    const volts = voltsIn(reading);
    if (volts === null) return { state: failed, readings: [] };
    const next = withSupply(withRecord(state, command, { ...record, failures: 0 }), volts);
    return { state: next, readings: [{ kind: 'volts', volts }] };
  }
  const mode = modeOf(command);
  const messages = answersOf(reading, mode);
  if (messages.length === 0) {
    const isRefused = reading.messages.some((message) => refusalIn(message, mode) !== null);
    const silent =
      reading.words.includes('no_data') || reading.words.includes('unable') ? state.silent + 1 : 0;
    if (silent >= obdTiming.silentMost) return { state: endSession(failed, 'silent_vehicle'), readings: [] };
    return { state: { ...failed, silent: isRefused ? 0 : silent }, readings: [] };
  }
  const good = withRecord({ ...state, silent: 0 }, command, { ...record, failures: 0 });
  return {
    state: mode === 1 ? withValues(good, { ...reading, messages }, nowMs) : good,
    readings: readingsOf(state, mode, messages),
  };
}

const errorWords: readonly ElmWord[] = ['bus_error', 'data_error', 'stopped'];

/** What the words of an answer change before its content is read. */
function afterWords(
  given: ObdSession,
  command: ObdCommand,
  { words, dropped }: ElmReading,
  nowMs: number,
): ObdSession {
  const state = dropped === 0 ? given : { ...given, errors: given.errors + dropped };
  // Its name without a question for it: it started anew.
  const isNamed = words.includes('version') && command !== 'ATI' && command !== 'STI';
  if (words.includes('reset') || isNamed) return restartSession(state, nowMs, obdTiming.dipMs);
  if (words.includes('alert')) return endSession(state, 'silent_adapter');
  // While the protocol is searched, an error is that of a protocol which the car does not speak.
  const isError = state.phase !== 'search' && isRequest(command);
  return isError && words.some((word) => errorWords.includes(word)) ? recordError(state, nowMs) : state;
}

/** After an answer of the car there is a pause; the adapter itself needs none. */
function pausedAfter(state: ObdSession, command: ObdCommand, nowMs: number): ObdSession {
  if (!isRequest(command)) return state;
  const { drivingGapMs, standingGapMs } = obdTiming;
  const isFast = state.phase !== 'poll' || isDriving(state, nowMs);
  return {
    ...state,
    notBeforeMs: Math.max(state.notBeforeMs, nowMs + (isFast ? drivingGapMs : standingGapMs)),
  };
}

/** The answer to what was asked. */
function stepAnswered(given: ObdSession, command: ObdCommand, reading: ElmReading, nowMs: number): ObdStep {
  const state = afterWords(given, command, reading, nowMs);
  if (state.phase !== given.phase) return { state, readings: [] };
  switch (state.phase) {
    case 'setup':
      return { state: stepSetup(state, reading), readings: [] };
    case 'search':
      return { state: stepSearch(state, command, reading), readings: [] };
    case 'learn':
      return stepLearn(state, command, reading);
    case 'poll':
      return stepPoll(state, command, reading, nowMs);
    case 'reset':
    case 'ended':
      return { state, readings: [] };
  }
}

function handleAnswer(
  state: ObdSession,
  input: Extract<ObdInput, { kind: 'answer' }>,
  nowMs: number,
): ObdStep {
  const { asked, phase } = state;
  if (phase === 'ended') return { state, readings: [] };
  if (asked === null) {
    // Nothing was asked: it began anew, or a late answer.
    const { words } = readingOf(state, input.answer, 'ATZ');
    const isNew = words.includes('reset') || words.includes('version');
    return {
      state: isNew && phase !== 'reset' ? restartSession(state, nowMs, obdTiming.dipMs) : state,
      readings: [],
    };
  }
  const { command } = asked;
  const reading = readingOf(state, input.answer, command);
  if (phase === 'reset') {
    // What else comes answers what was asked before.
    const isReset = reading.words.includes('version');
    return { state: isReset ? { ...state, phase: 'setup', asked: null } : state, readings: [] };
  }
  // A prompt without a line is that of before.
  if (input.answer.lines.length === 0) return { state, readings: [] };
  const step = stepAnswered({ ...state, asked: null }, command, reading, nowMs);
  return { ...step, state: pausedAfter(step.state, command, nowMs) };
}

/** The command of this moment; null: none. A learning that is complete leads to the schedule. */
function commandAt(
  state: ObdSession,
  nowMs: number,
): { readonly state: ObdSession; readonly command: ObdCommand | null } {
  switch (state.phase) {
    case 'reset':
      return { state, command: 'ATZ' };
    case 'setup':
      return { state, command: setupPlan[state.step]?.command ?? null };
    case 'search':
      return { state, command: searchCommand(state) };
    case 'learn': {
      const command = learnCommand(state);
      return command === null
        ? commandAt({ ...state, phase: 'poll', polledSinceMs: nowMs }, nowMs)
        : { state, command };
    }
    case 'poll': {
      const next = nextPoll(scheduleOf(state, nowMs), nowMs);
      if (next === null || next.dueMs > nowMs) return { state, command: null };
      const failures = state.polls[next.name]?.failures ?? 0;
      return { state: withRecord(state, next.name, { askedMs: nowMs, failures }), command: next.command };
    }
    case 'ended':
      return { state, command: null };
  }
}

/** One step: an answer, or time alone. Without permission no command comes out. */
export function stepObd(given: ObdSession, input: ObdInput, { nowMs, permission }: ObdMoment): DialogueStep {
  const step: ObdStep =
    input.kind === 'answer' ? handleAnswer(given, input, nowMs) : { state: given, readings: [] };
  const { readings } = step;
  let { state } = step;
  const { asked } = state;
  if (asked !== null && nowMs - asked.atMs >= answerMs(state, asked.command))
    // Its state is not known: it is reset.
    state = restartSession(state, nowMs, 0);
  if (permission !== 'granted' || state.asked !== null || nowMs < state.notBeforeMs)
    return { state, readings, command: null };
  const next = commandAt(state, nowMs);
  if (next.command === null) return { ...next, readings };
  return {
    state: { ...next.state, asked: { command: next.command, atMs: nowMs } },
    readings,
    command: next.command,
  };
}

/** Monotonic time of the next step that time alone demands; infinite at the end. */
export function obdWakeMs(state: ObdSession, nowMs: number): number {
  const { asked, phase, notBeforeMs } = state;
  if (phase === 'ended') return Number.POSITIVE_INFINITY;
  if (asked !== null) return asked.atMs + answerMs(state, asked.command);
  const dueMs =
    phase === 'poll' ? (nextPoll(scheduleOf(state, nowMs), nowMs)?.dueMs ?? nowMs + 60_000) : nowMs;
  return Math.max(notBeforeMs, dueMs);
}
