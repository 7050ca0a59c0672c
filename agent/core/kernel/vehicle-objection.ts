// What modules object to an order, before the command machine reads it. Orders to the safe state and withdrawals are never asked about.
import type { FeatureName, FeatureState } from '../../../src/core/events/event.ts';
import type { CommandBody } from '../../../src/core/wire/wire.ts';
import type { CommandStep } from '../protection/command-draft.ts';
import { type CommandInput, stepCommands } from '../protection/commands.ts';
import { isSafeState } from '../protection/interlock.ts';
import type { StepContext } from './module.ts';
import { evidenceOf } from './vehicle-state.ts';

interface Order {
  readonly feature: FeatureName;
  readonly state: FeatureState;
}

/** @param body null: a cause on the vehicle itself orders it. */
function objectionTo(
  context: StepContext,
  { feature, state }: Order,
  body: CommandBody | null,
): { readonly objection?: string } {
  if (isSafeState(feature, state)) return {};
  for (const module of context.modules) {
    const objection = module.objection?.(context.state, body, evidenceOf(context).latestUtcMs) ?? null;
    if (objection !== null) return { objection };
  }
  return {};
}

/** The input with the first objection to it. */
function withObjection(context: StepContext, input: CommandInput): CommandInput {
  if (input.kind === 'envelope')
    return input.body.cancel ? input : { ...input, ...objectionTo(context, input.body, input.body) };
  if (input.kind !== 'local' || !('feature' in input)) return input;
  return { ...input, ...objectionTo(context, input, null) };
}

/** One step of the command machine. */
export const stepOrder = (context: StepContext, input: CommandInput): CommandStep =>
  stepCommands(context.state.commands, withObjection(context, input), evidenceOf(context));
