// When the vehicle asks its board to prove by the loop-back that it is alive, and what is logged of it. It orders nothing
// itself: `vehicle-control.ts` does.
import { featureNames } from '../../../src/core/events/event.ts';
import { boardAnsweredMs, type LoopbackState, stepLoopback } from '../board/loopback.ts';
import { changeOf } from '../protection/commands.ts';
import { judge, type RelayChange } from '../protection/interlock.ts';
import { waitsForBoard } from '../protection/witness-rules.ts';
import { evidenceOf, log, put, type StepContext, type VehicleState } from './vehicle-state.ts';

/** Changes to a restrictive state that wait: commands, and a confirmed cut that is not on its relay. */
function waitingChanges({ commands, relays }: VehicleState): readonly RelayChange[] {
  const { active, confirmed } = commands.record;
  const isCutOff =
    confirmed.enginecutoff?.state === '1' &&
    relays.readings.enginecutoff?.on !== true &&
    active.enginecutoff === undefined;
  const cutOff = { feature: 'enginecutoff', state: '1', occasion: 'reapply' } as const;
  const commanded = featureNames.flatMap((name) => {
    const command = active[name];
    return command?.state === '1' ? [changeOf(commands, command)] : [];
  });
  return isCutOff ? [...commanded, cutOff] : commanded;
}

/** A change waits for nothing but the proof that the board does not repeat old values: relays are not worn for less. */
function wantsLoopback(context: StepContext): boolean {
  const changes = waitingChanges(context.state);
  if (changes.length === 0) return false;
  const evidence = evidenceOf(context);
  const { rules } = context.state.commands;
  return changes.some((change) => waitsForBoard(judge(change, evidence, rules)));
}

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
  const { state, order } = stepLoopback(loopback, wantsLoopback(context), context.now.monoMs);
  putLoopback(context, state);
  return order;
}
