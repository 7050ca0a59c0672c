// Scripted actions on a vehicle, planned before it starts: panic presses, doors, thefts, tows, each at a moment drawn from the seed.
// Pure: the same seed makes the same facts whatever the system under test does.
import type { Phase, Scenario } from './scenario-schema.ts';

export const actionKinds = ['panic', 'door', 'tamper', 'powerCut', 'refuel', 'fuelTheft', 'tow'] as const;
export type ActionKind = (typeof actionKinds)[number];

export interface ScriptedAction {
  readonly kind: ActionKind;
  /** Ms since the start of the run, as intended. */
  readonly atMs: number;
  /** Duration of a held button or open door; 0 for actions with a fixed course. */
  readonly forMs: number;
}

/** Random numbers from a seed. */
export interface Draw {
  fraction(): number;
  stream(name: string): Draw;
}

interface ActionRule {
  readonly perHour: keyof Scenario['actions'];
  readonly leastMs: number;
  readonly mostMs: number;
  /** No action starts this close to the end, so that its event can still be detected. */
  readonly beforeEndMs: number;
}

/** Longer than two readings and the debouncing of any input at the slowest reading. */
const heldMs = 3000;

const actionRules: Readonly<Record<ActionKind, ActionRule>> = {
  panic: { perHour: 'panicPerHour', leastMs: heldMs, mostMs: 5000, beforeEndMs: 6000 },
  door: { perHour: 'doorPerHour', leastMs: heldMs, mostMs: 8000, beforeEndMs: 9000 },
  tamper: { perHour: 'tamperPerHour', leastMs: heldMs, mostMs: 6000, beforeEndMs: 7000 },
  powerCut: { perHour: 'powerCutPerHour', leastMs: 5000, mostMs: 8000, beforeEndMs: 9000 },
  refuel: { perHour: 'refuelPerHour', leastMs: 0, mostMs: 0, beforeEndMs: 0 },
  fuelTheft: { perHour: 'fuelTheftPerHour', leastMs: 0, mostMs: 0, beforeEndMs: 0 },
  tow: { perHour: 'towPerHour', leastMs: 0, mostMs: 0, beforeEndMs: 0 },
};

/** Between the end of one and the beginning of the next of a kind. */
const restMs = 4000;
/** From the start of a vehicle until its inputs are known. */
export const settleMs = 5000;

export function phaseAt(phases: readonly Phase[], atMs: number): Phase | undefined {
  return phases.findLast((phase) => phase.atS * 1000 <= atMs);
}

function planKind(
  kind: ActionKind,
  scenario: Pick<Scenario, 'actions' | 'durationS' | 'phases'>,
  of: { readonly draw: Draw; readonly fromMs: number },
): readonly ScriptedAction[] {
  const rule = actionRules[kind];
  const perHour = scenario.actions[rule.perHour];
  const mostRate = Math.max(0, ...scenario.phases.map(({ rate }) => rate));
  if (perHour === 0 || mostRate === 0) return [];
  const actions: ScriptedAction[] = [];
  const meanMs = 3_600_000 / (perHour * mostRate);
  const lastMs = scenario.durationS * 1000 - rule.beforeEndMs;
  let freeMs = of.fromMs + settleMs;
  // A Poisson process, thinned where a phase asks for less (Lewis and Shedler 1979).
  for (let atMs = of.fromMs; ; ) {
    atMs += -Math.log(1 - of.draw.fraction()) * meanMs;
    if (atMs > lastMs) return actions;
    const forMs = rule.leastMs + Math.round(of.draw.fraction() * (rule.mostMs - rule.leastMs));
    const isKept = of.draw.fraction() * mostRate < (phaseAt(scenario.phases, atMs)?.rate ?? 0);
    if (!isKept || atMs < freeMs) continue;
    actions.push({ kind, atMs: Math.round(atMs), forMs });
    freeMs = atMs + forMs + restMs;
  }
}

/** All actions of a vehicle in the order of their time. @param of.fromMs when the vehicle starts, ms since the start of the run. */
export function planActions(
  scenario: Pick<Scenario, 'actions' | 'durationS' | 'phases'>,
  of: { readonly draw: Draw; readonly fromMs: number },
): readonly ScriptedAction[] {
  return actionKinds
    .flatMap((kind) => planKind(kind, scenario, { ...of, draw: of.draw.stream(kind) }))
    .sort((a, b) => a.atMs - b.atMs);
}

/** Start of a vehicle: with the first phase whose share includes it. Null: never. */
export function startMsOf(scenario: Pick<Scenario, 'fleet' | 'phases'>, index: number): number | null {
  const { devices } = scenario.fleet;
  const phase = scenario.phases.find(({ share }) => index < Math.round(share * devices));
  return phase === undefined ? null : phase.atS * 1000;
}
