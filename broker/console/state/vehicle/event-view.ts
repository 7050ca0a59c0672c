// Which events a vehicle's screens show, and their numbers. Pure.
import type { EventKind } from './vehicle-view.ts';

/** Positions and heartbeats, as the service's streams leave them out. */
const routine: ReadonlySet<number> = new Set([61472, 61477, 61536, 61714, 61716, 61717, 61724, 4384]);

/** Kinds that ask for attention by themselves. */
const alarmCodes: ReadonlySet<number> = new Set([
  4360, 4361, 4364, 4365, 4368, 4370, 4376, 4377, 61720, 61792, 62673, 63553, 63601, 63621, 63625, 63809,
  63826, 63828, 63838, 64784, 64787, 64803, 64805, 64807, 64821, 64825,
]);

export function matchesKind(statusCode: number, kind: EventKind): boolean {
  if (kind === 'all') return true;
  return kind === 'changes' ? !routine.has(statusCode) : alarmCodes.has(statusCode);
}

/** `<boot>:<sequence>`; null for what is none. */
export function eventNumber(eventID: string): { readonly boot: string; readonly seq: number } | null {
  const [, boot, seq] = /^(.+):(\d+)$/.exec(eventID) ?? [];
  return boot === undefined || seq === undefined ? null : { boot, seq: Number(seq) };
}

/** True when these contain the events before and after this one in its boot. */
export function hasNeighbours(eventID: string, all: ReadonlySet<string>): boolean {
  const number = eventNumber(eventID);
  if (number === null) return false;
  return all.has(`${number.boot}:${number.seq - 1}`) && all.has(`${number.boot}:${number.seq + 1}`);
}
