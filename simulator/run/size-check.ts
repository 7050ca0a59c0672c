// Checks before a run that the scenario plans what it needs to observe: it cannot observe actions that its seed does not plan.

import { createSeededEntropy } from '../core/random.ts';
import { needsOf, plannedText } from '../core/result/expectations.ts';
import { planCommands } from '../core/scenario/command-plan.ts';
import type { Scenario } from '../core/scenario/scenario-schema.ts';
import { type ActionKind, actionKinds, startMsOf } from '../core/scenario/scripted-actions.ts';
import { parkedBeforeMs } from './fleet/action-runner.ts';
import { drawActions, entropyOf } from './fleet/agent-starter.ts';

/** Actions of all vehicles by kind that can begin before the end; counted up to what is needed. */
function countActions(
  scenario: Scenario,
  needed: Readonly<Record<ActionKind, number>>,
): Record<ActionKind, number> {
  const seed = createSeededEntropy(scenario.seed);
  const counts = Object.fromEntries(actionKinds.map((kind) => [kind, 0])) as Record<ActionKind, number>;
  const isEnough = (): boolean => actionKinds.every((kind) => counts[kind] >= needed[kind]);
  for (let index = 0; index < scenario.fleet.devices && !isEnough(); index += 1) {
    if (startMsOf(scenario, index) === null) continue;
    for (const { kind, atMs } of drawActions(scenario, { index, entropy: entropyOf(seed, index) }))
      if (atMs + parkedBeforeMs(kind) <= scenario.durationS * 1000) counts[kind] += 1;
  }
  return counts;
}

/** Needs that the scenario does not plan, as text; empty: the run can prove something. */
export function unplannedNeeds(scenario: Scenario): readonly string[] {
  const needed = needsOf(scenario);
  const actions = countActions(scenario, needed);
  const draw = createSeededEntropy(scenario.seed).stream('commands');
  const planned = { ...actions, commands: planCommands(scenario, draw, needed.commands).length };
  const names = [...actionKinds, 'commands'] as const;
  return names.flatMap((name) =>
    planned[name] < needed[name] ? [plannedText(name, planned[name], needed[name])] : [],
  );
}
