// Tracks which units of the board are alive and whether board and profile match, and interprets the answers. Part of the board machine. A relay that
// was not read since its unit came up must never be written.
import { decodeLife, decodePoll } from './board-decode.ts';
import { wiringsOf } from './board-profile.ts';
import { idleSetup } from './board-setup.ts';
import type { BoardOutput, BoardState, UnitState } from './board-types.ts';
import { formatException, formatRequest, type ModbusRequest } from './modbus-frame.ts';
import type { AskPermit, RtuResult } from './rtu-types.ts';

export type BoardDraft = { -readonly [Key in keyof BoardState]: BoardState[Key] };

export interface BoardStep {
  readonly draft: BoardDraft;
  readonly permit: AskPermit;
  readonly outputs: BoardOutput[];
  readonly atMs: number;
}

export const freshUnit: UnitState = { isUp: null, failures: 0, areRelaysRead: false };
const failuresToDown = 3;
/** Maximum age of a life reading that counts for contacts in another poll. */
const lifeMostMs = 1000;
/** Time for which a life input must read 0 before it is reported: a loose wire must not fill the outbox. */
const deadReportMs = 10_000;

/** Emits samples of everything in a poll's range; null: unknown. */
export function emit(step: BoardStep, poll: string, values: readonly number[] | null): void {
  const { draft, atMs } = step;
  const { profile } = draft;
  if (profile.life?.poll === poll) recordLife(step, decodeLife(profile, poll, values));
  const life = atMs - draft.life.atMs <= lifeMostMs ? draft.life.isAlive : null;
  step.outputs.push(...decodePoll(profile, poll, { values, atMs, life }));
}

function recordLife(step: BoardStep, isAlive: boolean | null): void {
  const { draft, atMs } = step;
  const deadSinceMs = isAlive === false ? (draft.life.deadSinceMs ?? atMs) : null;
  draft.life = { isAlive, atMs, deadSinceMs };
  if (isAlive === true) setProblem(step, 'life', null);
  else if (deadSinceMs !== null && atMs - deadSinceMs >= deadReportMs)
    setProblem(
      step,
      'life',
      'the contacts of its unit have no supply, or the wire of the life input is broken',
    );
}

/** Handles the values of one poll's range: samples, unit state and profile checks. */
export function recordAnswer(
  step: BoardStep,
  read: {
    readonly name: string;
    readonly unit: string;
    readonly request: ModbusRequest;
    readonly result: RtuResult;
  },
): void {
  const { name, result } = read;
  const place = `polls/${name}`;
  if (result.kind === 'ok') {
    markUnitUp(step, read.unit, name);
    setProblem(step, place, null);
    emit(step, name, result.values);
  } else if (result.kind === 'exception') {
    markUnitUp(step, read.unit, null);
    const isNew = setProblem(step, place, `${formatRequest(read.request)}: ${formatException(result.code)}`);
    if (isNew) emit(step, name, null);
  } else if (result.kind === 'timeout' || result.kind === 'invalid') {
    const fault = result.kind === 'timeout' ? 'no answer' : `bad answer (${result.reason})`;
    miss(step, read.unit, `${formatRequest(read.request)}: ${fault}`);
  }
}

/** Records an answer of the unit; `poll` is the range that it returned, null: it refused. */
function markUnitUp(step: BoardStep, name: string, poll: string | null): void {
  const { draft, atMs } = step;
  const unit = draft.units[name] ?? freshUnit;
  // Fast path for nearly every answer: nothing changes.
  if (unit.isUp === true && unit.failures === 0 && unit.areRelaysRead) return;
  const relays = wiringsOf(draft.profile).filter(([, relay]) => relay.unit === name);
  const areRelaysRead = unit.areRelaysRead || relays.some(([, relay]) => relay.poll === poll);
  draft.units = { ...draft.units, [name]: { isUp: true, failures: 0, areRelaysRead } };
  if (unit.isUp !== true) {
    const address = draft.profile.units[name]?.address ?? 0;
    step.outputs.push({ kind: 'boardUp', unit: address, reason: `unit ${address} answers` });
  }
  const isReady = relays.length === 0 || areRelaysRead;
  const wasReady = unit.isUp === true && (relays.length === 0 || unit.areRelaysRead);
  if (!isReady || wasReady) return;
  draft.setup = draft.setup.map((progress, at) =>
    draft.profile.setup[at]?.unit === name && !progress.isPending
      ? { ...idleSetup, dueAtMs: atMs }
      : progress,
  );
}

function miss(step: BoardStep, name: string, reason: string): void {
  const { draft } = step;
  const unit = draft.units[name] ?? freshUnit;
  const failures = unit.failures + 1;
  draft.units = { ...draft.units, [name]: { ...unit, failures } };
  if (failures < failuresToDown || unit.isUp === false) return;
  // The state after its return is unknown, so its relays are read again before they are written.
  draft.units = { ...draft.units, [name]: { isUp: false, failures, areRelaysRead: false } };
  const address = draft.profile.units[name]?.address ?? null;
  step.outputs.push({ kind: 'boardDown', unit: address, reason });
  for (const [key, poll] of Object.entries(draft.profile.polls)) {
    if (poll.unit === name) emit(step, key, null);
  }
}

/** @returns whether the problem changed. */
export function setProblem(step: BoardStep, place: string, reason: string | null): boolean {
  const { draft } = step;
  if ((draft.problems[place] ?? null) === reason) return false;
  const { [place]: _, ...others } = draft.problems;
  draft.problems = reason === null ? others : { ...others, [place]: reason };
  step.outputs.push({ kind: 'problem', place, reason });
  return true;
}
