// The course of an order by the service's answers: its steps in order of time, its end, and its effect since. Pure.
import type { Approval, CommandRecord, ListedCommand } from '../../api/operations.ts';
import { type CutState, cutStateOf, type EndState, toneOf } from './cut-view.ts';

export type StepName =
  | 'asked'
  | 'waits'
  | 'waits_persons'
  | 'approved'
  | 'queued'
  | 'sent'
  | 'received'
  | 'armed'
  | 'executing'
  | 'undone'
  | EndState;

export interface Step {
  readonly name: StepName;
  readonly kind: 'done' | 'now' | 'later' | 'good' | 'bad' | 'off';
  /** By the clock of the service, epoch seconds; null: not known, or not yet. */
  readonly at: number | null;
  /** By the clock of the vehicle, where the two differ; null: they do not, or it reported nothing. */
  readonly ownAt: number | null;
  /** User who did it; empty where the vehicle or the time did. */
  readonly by: string;
}

const endKinds = { ok: 'good', look: 'bad', off: 'off', busy: 'now' } as const;

const end = (name: EndState, at: number | null, by = ''): Step => ({
  name,
  kind: endKinds[toneOf(name)],
  at,
  ownAt: null,
  by,
});

const ahead: readonly StepName[] = ['sent', 'received', 'armed', 'executing', 'confirmed'];
const laterSteps = (after: StepName | null): readonly Step[] =>
  ahead
    .slice(after === null ? 0 : ahead.indexOf(after) + 1)
    .map((name) => ({ name, kind: 'later' as const, at: null, ownAt: null, by: '' }));

/**
 * Times of consecutive steps by one clock: no step is earlier than the first, nor later than the next known one. Reports may be
 * stored out of order.
 */
export function inOrder(times: readonly (number | null)[]): readonly (number | null)[] {
  const first = times.find((at) => at !== null) ?? 0;
  let bound = Number.POSITIVE_INFINITY;
  return times
    .toReversed()
    .map((at) => {
      if (at !== null) bound = Math.min(bound, Math.max(at, first));
      return at === null ? null : bound;
    })
    .toReversed();
}

const ordered = (steps: readonly Step[]): readonly Step[] => {
  const times = inOrder(steps.map(({ at }) => at));
  return steps.map((step, index) => ({ ...step, at: times[index] ?? null }));
};

const approvalEnds: Readonly<Record<string, EndState>> = {
  refused: 'refused',
  withdrawn: 'cancelled',
  expired: 'expired',
  void: 'expired',
};

/** The state of a request to a second person that gave no command. */
export const requestState = ({ approvalState }: Approval): CutState =>
  approvalEnds[approvalState] ?? 'approval';

/** Persons of the owner's list who agreed, by their names. */
const agreedSteps = (request: Approval | null): readonly Step[] =>
  (request?.signing?.given ?? []).map(({ name, at }) => ({
    name: 'approved',
    kind: 'done',
    at,
    ownAt: null,
    by: name,
  }));

/** The course of a request to a second person that gave no command yet. */
export function courseOfRequest(request: Approval): readonly Step[] {
  const asked: Step = {
    name: 'asked',
    kind: 'done',
    at: request.requested,
    ownAt: null,
    by: request.requestedBy,
  };
  const state = requestState(request);
  const agreed = agreedSteps(request);
  if (state === 'approval')
    return [
      asked,
      ...agreed,
      {
        name: request.signing === null ? 'waits' : 'waits_persons',
        kind: 'now',
        at: request.requested,
        ownAt: null,
        by: '',
      },
      ...laterSteps(null),
    ];
  const at = request.approvalState === 'expired' ? request.expires : request.decided || request.expires;
  return ordered([
    asked,
    ...agreed,
    end(state as EndState, at, state === 'expired' ? '' : request.decidedBy),
  ]);
}

/** When the vehicle reported a state first, epoch seconds. */
export interface Report {
  /** By its own clock. */
  readonly ownAt: number;
  /** When the service stored it. */
  readonly at: number;
}

/** Reports of a command, by its states. */
export type Reports = ReadonlyMap<string, Report>;

/** Two clocks that show times to the second and differ by less than this agree, s. */
const clockFaultS = 2;

/** The time by the vehicle's clock; null where it says nothing new. */
export const ownTimeOf = (ownAt: number, at: number): number | null =>
  ownAt > 0 && Math.abs(ownAt - at) >= clockFaultS ? ownAt : null;

/**
 * The course of a command. A state before the present one stands only where the vehicle reported it: nothing is guessed.
 * @param approval the request that it came of, null without one.
 */
export function courseOf(
  record: CommandRecord,
  approval: Approval | null,
  reports: Reports,
): readonly Step[] {
  const state = cutStateOf(record.commandState);
  const plain = { kind: 'done', ownAt: null, by: '' } as const;
  const asked: Step = {
    ...plain,
    name: 'asked',
    at: approval?.requested ?? record.issued,
    by: record.issuer,
  };
  const approved: readonly Step[] =
    record.approver === '' || approval?.signing?.given.length
      ? agreedSteps(approval)
      : [{ ...plain, name: 'approved', at: approval?.decided ?? record.issued, by: record.approver }];
  const ownAtOf = (name: string, at: number): number | null => ownTimeOf(reports.get(name)?.ownAt ?? 0, at);
  const reported: readonly Step[] = (['received', 'armed', 'executing'] as const).flatMap((name) => {
    const at = reports.get(name)?.at;
    return at === undefined || name === state ? [] : [{ ...plain, name, at, ownAt: ownAtOf(name, at) }];
  });
  const wasSent =
    reported.length > 0 || ['received', 'armed', 'executing', 'confirmed', 'refused'].includes(state);
  const sent: readonly Step[] = wasSent ? [{ ...plain, name: 'sent', at: null }] : [];
  const before = [asked, ...approved, ...sent, ...reported];
  const until = (name: StepName, at: number, ownAt: number | null, after: StepName | null) =>
    ordered([...before, { name, kind: 'now', at, ownAt, by: '' }, ...laterSteps(after)]);
  if (state === 'requested' || state === 'approval') return until('queued', record.updated, null, null);
  if (state === 'sent') return until('sent', record.updated, null, 'sent');
  const at = reports.get(state)?.at ?? record.updated;
  const ownAt = ownAtOf(state, at);
  if (state === 'received' || state === 'armed' || state === 'executing')
    return until(state, at, ownAt, state);
  const by = state === 'cancelled' ? record.cancelledBy : '';
  return ordered([...before, { ...end(state, at, by), ownAt }]);
}

/** Current effect of an ended order of state 1, by the read-back relay and later orders. */
export interface Aftermath {
  /**
   * `holds`: nothing changed since. `undoing`: an order back is under way. `undone`: the relay went back. `replaced`: the relay is in state 1, and
   * not by this order.
   */
  readonly kind: 'holds' | 'undoing' | 'undone' | 'replaced';
  /** User of the order back; empty where there is none: a service code, an installer, a timer. */
  readonly by: string;
  /** Time by the clock of the service; null: unknown. */
  readonly at: number | null;
}

/** A confirmed order shows in the list of devices a moment later, s. */
const readBackS = 5;

/**
 * @param commands of the vehicle, the newest first. @param read the relay as read back; null: not known.
 * @param nowS at the service.
 */
export function aftermathOf(
  record: CommandRecord,
  commands: readonly ListedCommand[],
  { read, nowS }: { readonly read: string | null; readonly nowS: number },
): Aftermath {
  const isDone = cutStateOf(record.commandState) === 'confirmed';
  const place = commands.findIndex(({ commandID }) => commandID === record.commandID);
  const later = commands
    .slice(0, place < 0 ? undefined : place)
    .filter(({ feature, issued }) => feature === record.feature && issued >= record.issued);
  const newest = later.find(({ commandState }) => cutStateOf(commandState) === 'confirmed');
  const back = later.find(
    ({ state, commandState }) => state === '0' && cutStateOf(commandState) === 'confirmed',
  );
  const undone: Aftermath = { kind: 'undone', by: back?.issuer ?? '', at: back?.updated ?? null };
  const isBack = newest?.state === '0' && (read !== '1' || nowS - newest.updated < readBackS);
  const isRead = read === '0' && nowS - record.updated >= readBackS;
  if (isDone && (isRead || isBack)) return undone;
  const open = later.find(({ state, hasEnded }) => state === '0' && !hasEnded);
  if (read === '1' && (newest !== undefined || (!isDone && record.commandState !== 'unknown')))
    return { kind: 'replaced', by: newest?.issuer ?? '', at: newest?.updated ?? null };
  if (isDone && open !== undefined) return { kind: 'undoing', by: open.issuer, at: open.issued };
  return { kind: 'holds', by: '', at: null };
}
