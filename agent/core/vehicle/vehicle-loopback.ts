// When the vehicle asks its board to prove by the loop-back that it is alive, and what is logged of it. It orders nothing
// itself: `vehicle-control.ts` does.
import { featureNames } from '../../../src/core/events/event.ts';
import { boardAnsweredMs, type LoopbackState, stepLoopback } from '../board/loopback.ts';
import { log, put, type StepContext, type VehicleState } from './vehicle-state.ts';

/** A change to a restrictive state waits: a command for one is active, or a confirmed cut is not on its relay. */
export function wantsLoopback({ commands, relays }: Pick<VehicleState, 'commands' | 'relays'>): boolean {
  const { active, confirmed } = commands.record;
  const isCutOff = confirmed.enginecutoff?.state === '1' && relays.readings.enginecutoff?.on !== true;
  return isCutOff || featureNames.some((name) => active[name]?.state === '1');
}

/** The loop-back as it became; a change of its answer is logged. */
export function putLoopback(context: StepContext, next: LoopbackState): void {
  const isAnswering = boardAnsweredMs(next) !== null;
  if (isAnswering !== (boardAnsweredMs(context.state.loopback) !== null))
    log(context, isAnswering ? 'info' : 'warn', 'loopback', { answers: isAnswering });
  put(context, { loopback: next });
}

/** The order that is due now; null: none. */
export function loopbackOrder(context: StepContext): boolean | null {
  if (context.config.profile.loopback === undefined) return null;
  const { loopback } = context.state;
  const { state, order } = stepLoopback(loopback, wantsLoopback(context.state), context.now.monoMs);
  putLoopback(context, state);
  return order;
}
