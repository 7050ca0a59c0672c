// State of the operator's page, and its age. Pure.

import { elapsedMs, type Moment } from '../../../../src/core/silence.ts';
import type { StatusView } from '../../api/operations.ts';

export const operatorFaults = ['unauthorized', 'busy', 'unreachable', 'unreadable'] as const;
export type OperatorFault = (typeof operatorFaults)[number];

export interface OperatorState {
  /** Null: not read yet, or not to be shown any more. */
  readonly view: StatusView | null;
  /** Sending time of the request that `view` answers; null with it. */
  readonly asked: Moment | null;
  /** Fault of the last request; null: it was answered, or none was sent. */
  readonly fault: OperatorFault | null;
}

export const firstOperatorState: OperatorState = { view: null, asked: null, fault: null };

/** A view whose question is older is old: two more should have been answered by then. */
export const oldAfterMs = 30_000;

export const withStatus = (view: StatusView, asked: Moment): OperatorState => ({ view, asked, fault: null });

/** Read data stays, as old; without the right to read nothing stays. */
export const withOperatorFault = (state: OperatorState, fault: OperatorFault): OperatorState =>
  fault === 'unauthorized' ? { ...firstOperatorState, fault } : { ...state, fault };

/** How long ago the view was true, ms. */
export const ageOfView = ({ asked }: OperatorState, now: Moment): number =>
  asked === null ? 0 : elapsedMs(asked, now);

export const isOld = (state: OperatorState, now: Moment): boolean =>
  state.view !== null && (state.fault !== null || ageOfView(state, now) > oldAfterMs);

/** Queue with the oldest entry; null when nothing waits. */
export function oldestOf(view: StatusView): NonNullable<StatusView['queues']>['listed'][number] | null {
  const waiting = (view.queues?.listed ?? []).filter((queue) => queue.waiting > 0);
  return waiting.toSorted((one, other) => other.oldestS - one.oldestS)[0] ?? null;
}
