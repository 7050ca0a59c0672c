// Decides when the board must prove by the loop-back that it is alive, and logs the result. It orders nothing itself:
// `vehicle-control.ts` does.
import { boardAnsweredMs, type LoopbackState, stepLoopback } from '../board/loopback.ts';
import { needsLoopback } from '../protection/waiting-changes.ts';
import { evidenceOf, log, put, type StepContext } from './vehicle-state.ts';

/** The loop-back as it became; a change of its answer is logged. */
export function putLoopback(context: StepContext, next: LoopbackState): void {
  const isAnswering = boardAnsweredMs(next) !== null;
  if (isAnswering !== (boardAnsweredMs(context.state.loopback) !== null))
    log(context, isAnswering ? 'info' : 'warn', 'loopback', { answers: isAnswering });
  // What waits for the answer is decided at once.
  if (isAnswering && boardAnsweredMs(next) !== boardAnsweredMs(context.state.loopback))
    put(context, { tickMs: context.now.monoMs });
  put(context, { loopback: next });
}

/** The order that is due now; null: none. */
export function loopbackOrder(context: StepContext): boolean | null {
  if (context.config.profile.loopback === undefined) return null;
  const { loopback } = context.state;
  const isNeeded = needsLoopback(context.state, () => evidenceOf(context));
  const { state, order } = stepLoopback(loopback, isNeeded, context.now.monoMs);
  putLoopback(context, state);
  return order;
}
