// A command on the screens: the look of its state, and its course by the vehicle's records. Pure.
import { commandStates as ledgerStates } from '../../../src/core/events/event.ts';
import type { EventRecord, ListedCommand } from '../api/operations.ts';

/** States of the ledger, in the order of a life; the last seven end it. */
export const commandStates = ['approval', ...ledgerStates] as const;
export type CommandState = (typeof commandStates)[number];

/** Null for a state that this console does not know. */
export const commandStateOf = (text: string): CommandState | null =>
  commandStates.find((one) => one === text) ?? null;

/** A step in the course of a command, as a record of the vehicle reports it. */
export interface CommandStep {
  readonly eventID: string;
  /** Vehicle time and time of storing, epoch seconds. */
  readonly timestamp: number;
  readonly creationTime: number;
  readonly statusCode: number;
  /** The state that it reports; null where the record names none that this console knows. */
  readonly state: CommandState | null;
}

/** Boot and number of an event. */
function placeOf(eventID: string): { readonly boot: string; readonly seq: number } {
  const at = eventID.lastIndexOf(':');
  return { boot: eventID.slice(0, Math.max(0, at)), seq: Number(eventID.slice(at + 1)) || 0 };
}

/**
 * The records that report on a command, in the vehicle's order: by number within a boot, as its clock may be set meanwhile, and
 * boots by the time of storing. An armed command reports again while its reasons change: the first report has its begin.
 */
export function stepsOf(records: readonly EventRecord[], commandID: string): readonly CommandStep[] {
  const own = records.flatMap(
    ({ eventID = '', timestamp = 0, creationTime = 0, statusCode = 0, ...record }) =>
      record.commandID === commandID
        ? [{ eventID, timestamp, creationTime, statusCode, state: commandStateOf(record.commandState ?? '') }]
        : [],
  );
  const begun = new Map<string, number>();
  for (const { eventID, creationTime } of own) {
    const { boot } = placeOf(eventID);
    begun.set(boot, Math.min(creationTime, begun.get(boot) ?? creationTime));
  }
  return own
    .map((step) => ({ step, ...placeOf(step.eventID) }))
    .toSorted(
      (one, other) =>
        (begun.get(one.boot) ?? 0) - (begun.get(other.boot) ?? 0) ||
        (one.boot < other.boot ? -1 : one.boot > other.boot ? 1 : 0) ||
        one.seq - other.seq,
    )
    .map(({ step }) => step)
    .filter(({ state }, at, all) => state === null || state !== all[at - 1]?.state);
}

/** Request of a command, as a key of the texts; null for an unknown feature. */
export function askedOf({ feature, state }: Pick<ListedCommand, 'feature' | 'state'>) {
  switch (feature) {
    case 'enginecutoff':
      return state === '1' ? 'cut' : 'restore';
    case 'cargoaccess':
      return state === '1' ? 'unlock' : 'lock';
    case 'firmware':
      return 'firmware';
    case 'position':
      return 'position';
    default:
      return null;
  }
}

/** An order towards the safe state is never withdrawn here: that could only keep an engine cut or a cargo open. */
export const canWithdraw = ({ feature, state, commandState, hasEnded }: ListedCommand): boolean =>
  !hasEnded &&
  !((feature === 'enginecutoff' || feature === 'cargoaccess') && state === '0') &&
  (commandState !== 'executing' || feature === 'firmware');
