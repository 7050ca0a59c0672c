// The seed's plan for each vehicle: its start, its driver's timetable, actions, commands and faults. It depends on nothing that a
// run measures.
import { changesOf, type Terminals } from '../../core/ledger/facts.ts';
import { createSeededEntropy, type SeededEntropy } from '../../core/random.ts';
import { planCommands } from '../../core/scenario/command-plan.ts';
import type { Scenario } from '../../core/scenario/scenario-schema.ts';
import { startMsOf } from '../../core/scenario/scripted-actions.ts';
import type { Route } from '../../world/routes.ts';
import { drawActions, drawVehicle, entropyOf, readTracks } from '../fleet/agent-starter.ts';
import { startGapMs } from '../fleet/fleet.ts';
import type { FactLine } from './facts-file.ts';

/** Two phases of a timetable are further apart. */
const stepS = 1;
const exactS = 0.0005;

function terminalsAt(route: Route, tS: number): Terminals {
  const { ignition, cabinDoor, cargoDoor } = route.at(tS);
  return { ignition, cabinDoor, cargoDoor, panic: false, tamper: false, externalPower: true };
}

/** Time of a change at the terminals between two times of a timetable, to half a millisecond. */
function changeS(route: Route, fromS: number, toS: number): number {
  const before = changesOf(null, terminalsAt(route, fromS)).join();
  let [low, high] = [fromS, toS];
  while (high - low > exactS) {
    const middle = (low + high) / 2;
    if (changesOf(null, terminalsAt(route, middle)).join() === before) low = middle;
    else high = middle;
  }
  return high;
}

/** The driver's actions between two times of the timetable; at the first time the states of the start. */
function roadFacts(route: Route, of: { startS: number; forS: number }) {
  const { startS, forS } = of;
  let before = terminalsAt(route, startS);
  const found = changesOf(null, before).map((kind) => ({ kind, afterS: 0 }));
  for (let atS = stepS; atS < forS; atS += stepS) {
    const now = terminalsAt(route, startS + atS);
    const kinds = changesOf(before, now);
    if (kinds.length > 0) {
      const afterS = changeS(route, startS + atS - stepS, startS + atS) - startS;
      found.push(...kinds.map((kind) => ({ kind, afterS })));
    }
    before = now;
  }
  return found;
}

interface Drawn {
  readonly scenario: Scenario;
  readonly seed: SeededEntropy;
  readonly tracks: readonly Route[];
}

function ofVehicle({ scenario, seed, tracks }: Drawn, index: number): readonly FactLine[] {
  const phaseMs = startMsOf(scenario, index);
  const vehicle = index + 1;
  const ofFaults = scenario.faults
    .filter(({ kind, share }) => kind !== 'broker-kill' && index < Math.round(share * scenario.fleet.devices))
    .map(({ kind, atS, forS }): FactLine => {
      const at = { vehicle, atMs: Math.round(atS * 1000) };
      return { ...at, what: 'fault', kind, forMs: Math.round(forS * 1000) };
    });
  if (phaseMs === null) return ofFaults;
  const startMs = phaseMs + startGapMs(scenario, index);
  const start = { vehicle, atMs: Math.round(startMs), what: 'start', kind: scenario.fleet.kind } as const;
  if (scenario.fleet.kind === 'tracker') return [...ofFaults, start];
  const entropy = entropyOf(seed, index);
  const { route, startS } = drawVehicle(scenario, { index, entropy, tracks });
  const forS = scenario.durationS - startMs / 1000;
  const road = roadFacts(route, { startS, forS }).map(({ kind, afterS }): FactLine => {
    return { vehicle, atMs: Math.round(startMs + afterS * 1000), what: 'road', kind };
  });
  const actions = drawActions(scenario, { index, entropy }).map(({ kind, atMs, forMs }): FactLine => {
    return { vehicle, atMs, what: 'action', kind, forMs };
  });
  return [...ofFaults, { ...start, routeS: Math.round(startS * 1000) / 1000 }, ...road, ...actions];
}

/** Everything that the seed plans, in no order. Rejects as the routes of the scenario do. */
export async function plannedFacts(scenario: Scenario): Promise<readonly FactLine[]> {
  const seed = createSeededEntropy(scenario.seed);
  const drawn: Drawn = { scenario, seed, tracks: await readTracks(scenario.route.files) };
  const ofFleet = Array.from({ length: scenario.fleet.devices }, (_, index) =>
    ofVehicle(drawn, index),
  ).flat();
  const commands = planCommands(scenario, seed.stream('commands'), Number.POSITIVE_INFINITY);
  const ofCommands = commands.map(({ atMs, index, feature }): FactLine => {
    const at = { vehicle: index + 1, atMs: Math.round(atMs) };
    return { ...at, what: 'command', kind: feature, state: '1' };
  });
  const kills = scenario.faults.filter(({ kind }) => kind === 'broker-kill');
  const ofBroker = kills.map(({ kind, atS, forS }): FactLine => {
    return { vehicle: 0, atMs: atS * 1000, what: 'fault', kind, forMs: forS * 1000 };
  });
  return [...ofFleet, ...ofCommands, ...ofBroker];
}
