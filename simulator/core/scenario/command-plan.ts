// The plan of commands of state 1: moments, vehicles and features, drawn from the seed. Pure: a run can count them before it starts, and
// the same seed gives the same commands however long answers take.

import type { Scenario } from './scenario-schema.ts';
import { phaseAt, startMsOf } from './scripted-actions.ts';

/** Random numbers from a seed; integers include both ends. */
export interface CommandDraw {
  fraction(): number;
  integer(low: number, high: number): number;
}

export interface PlannedCommand {
  /** Place among the vehicles that are on the road. */
  readonly vehicle: number;
  readonly feature: Scenario['commands']['features'][number];
}

type Commanding = Pick<Scenario, 'commands' | 'phases'>;

/** The next moment, ms of the run, and if it gives a command: none while the rate is zero. */
export function nextCommand(
  { commands, phases }: Commanding,
  draw: CommandDraw,
  of: { readonly beforeMs: number; readonly factor: number },
): { readonly dueMs: number; readonly isCommand: boolean } {
  const { beforeMs, factor } = of;
  const perMs = (commands.perMinute * factor * (phaseAt(phases, beforeMs)?.rate ?? 0)) / 60_000;
  const waitMs = -Math.log(1 - draw.fraction()) * (perMs === 0 ? 1000 : 1 / perMs);
  return { dueMs: beforeMs + waitMs, isCommand: perMs > 0 };
}

/** A user may give 10 commands of state 1 within a minute; a second over for the clocks of two machines. */
const userMost = 10;
const userWindowMs = 61_000;

/** Leaves out commands beyond the limit of a user. Of fixed size. */
export function createPace(): { mayCommand(dueMs: number): boolean } {
  const recent: number[] = [];
  return {
    mayCommand(dueMs) {
      while ((recent[0] ?? dueMs) < dueMs - userWindowMs) recent.shift();
      if (recent.length >= userMost) return false;
      recent.push(dueMs);
      return true;
    },
  };
}

/** The vehicle and feature of a command; null while no vehicle has started. */
export function pickCommand(
  { commands }: Commanding,
  draw: CommandDraw,
  vehicles: number,
): PlannedCommand | null {
  const vehicle = draw.integer(0, Math.max(0, vehicles - 1));
  const feature = commands.features[draw.integer(0, commands.features.length - 1)];
  return vehicles === 0 || feature === undefined ? null : { vehicle, feature };
}

export interface DatedCommand {
  /** Ms of the run. */
  readonly atMs: number;
  /** Number in the fleet, from 0. */
  readonly index: number;
  readonly feature: PlannedCommand['feature'];
}

/** Commands of state 1 that the scenario plans, at most `most`; one to a relay that waits for its restore is left out by the run. */
export function planCommands(scenario: Scenario, draw: CommandDraw, most: number): readonly DatedCommand[] {
  const { commands, durationS, fleet } = scenario;
  if (commands.perMinute === 0 || fleet.kind === 'tracker') return [];
  const starts = Array.from({ length: fleet.devices }, (_, index) => ({
    index,
    startMs: startMsOf(scenario, index),
  }));
  const freeMs = new Map<string, number>();
  const pace = createPace();
  const planned: DatedCommand[] = [];
  for (let atMs = 0; planned.length < most; ) {
    const { dueMs, isCommand } = nextCommand(scenario, draw, { beforeMs: atMs, factor: 1 });
    if (dueMs >= durationS * 1000) return planned;
    atMs = dueMs;
    if (!isCommand) continue;
    const road = starts.filter(({ startMs }) => startMs !== null && startMs <= dueMs);
    const order = pickCommand(scenario, draw, road.length);
    const index = road[order?.vehicle ?? 0]?.index;
    const key = `${index} ${order?.feature}`;
    if (order === null || index === undefined || (freeMs.get(key) ?? 0) > dueMs || !pace.mayCommand(dueMs))
      continue;
    freeMs.set(key, dueMs + commands.restoreS * 1000);
    planned.push({ atMs: dueMs, index, feature: order.feature });
  }
  return planned;
}
