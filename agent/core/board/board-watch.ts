// Which units of the board live, whether board and profile fit, and what the answers mean. Part of the board machine.
// It must never let a relay be written that was not read since its unit came up.
import { decodePoll } from './board-decode.ts';
import { wiringsOf } from './board-profile.ts';
import { idleSetup } from './board-setup.ts';
import type { BoardOutput, BoardState, UnitState } from './board-types.ts';
import { formatException, formatRequest, type ModbusRequest } from './modbus-frame.ts';
import type { RtuResult } from './rtu-types.ts';

export type BoardDraft = { -readonly [Key in keyof BoardState]: BoardState[Key] };

/** One step of the board machine under way. */
export interface BoardWork {
  readonly draft: BoardDraft;
  readonly outputs: BoardOutput[];
  readonly atMs: number;
}

export const freshUnit: UnitState = { isUp: null, failures: 0, areRelaysRead: false };
const failuresToDown = 3;

/** Samples of everything in a poll's range; null = not known. */
export function emit(work: BoardWork, poll: string, values: readonly number[] | null): void {
  work.outputs.push(...decodePoll(work.draft.profile, poll, { values, atMs: work.atMs }));
}

/** Takes in what a read of a poll's range says about values, unit and profile. */
export function noteAnswer(
  work: BoardWork,
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
    hear(work, read.unit, name);
    setProblem(work, place, null);
    emit(work, name, result.values);
  } else if (result.kind === 'exception') {
    hear(work, read.unit, null);
    const isNew = setProblem(work, place, `${formatRequest(read.request)}: ${formatException(result.code)}`);
    if (isNew) emit(work, name, null);
  } else if (result.kind === 'timeout' || result.kind === 'invalid') {
    const fault = result.kind === 'timeout' ? 'no answer' : `bad answer (${result.reason})`;
    miss(work, read.unit, `${formatRequest(read.request)}: ${fault}`);
  }
}

/** The unit answered; `poll` is the range it gave, null when it refused. */
function hear(work: BoardWork, name: string, poll: string | null): void {
  const { draft, atMs } = work;
  const unit = draft.units[name] ?? freshUnit;
  const relays = wiringsOf(draft.profile).filter(([, relay]) => relay.unit === name);
  const areRelaysRead = unit.areRelaysRead || relays.some(([, relay]) => relay.poll === poll);
  draft.units = { ...draft.units, [name]: { isUp: true, failures: 0, areRelaysRead } };
  if (unit.isUp !== true) {
    const address = draft.profile.units[name]?.address ?? 0;
    work.outputs.push({ kind: 'boardUp', unit: address, reason: `unit ${address} answers` });
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

function miss(work: BoardWork, name: string, reason: string): void {
  const { draft } = work;
  const unit = draft.units[name] ?? freshUnit;
  const failures = unit.failures + 1;
  draft.units = { ...draft.units, [name]: { ...unit, failures } };
  if (failures < failuresToDown || unit.isUp === false) return;
  // What it is when it comes back is not known: its relays are read again before they are written.
  draft.units = { ...draft.units, [name]: { isUp: false, failures, areRelaysRead: false } };
  const address = draft.profile.units[name]?.address ?? null;
  work.outputs.push({ kind: 'boardDown', unit: address, reason });
  for (const [key, poll] of Object.entries(draft.profile.polls)) {
    if (poll.unit === name) emit(work, key, null);
  }
}

/** True when this is news. */
export function setProblem(work: BoardWork, place: string, reason: string | null): boolean {
  const { draft } = work;
  if ((draft.problems[place] ?? null) === reason) return false;
  const { [place]: _, ...others } = draft.problems;
  draft.problems = reason === null ? others : { ...others, [place]: reason };
  work.outputs.push({ kind: 'problem', place, reason });
  return true;
}
