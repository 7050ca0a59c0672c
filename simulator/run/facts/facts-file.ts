// The lines of a facts file: a header, what the seed plans, what happened, and the end. Planned lines depend on scenario and seed alone, so
// those of two runs can be compared byte by byte. NDJSON: one JSON object a line.

import type { Ledger } from '../../core/ledger/ledger.ts';
import type { Outcome } from '../../core/result/verdict.ts';
import type { FaultSpan, Scenario } from '../../core/scenario/scenario-schema.ts';

export const factsFormat = { format: 'fleetward-facts', version: 1 } as const;

/** One fact; further members depend on `what`. */
export interface FactLine {
  /** Number of the vehicle in the fleet, from 1; 0: the broker, or the fleet as a whole. */
  readonly vehicle: number;
  /** Whole ms of the run. */
  readonly atMs: number;
  readonly what: 'start' | 'road' | 'action' | 'command' | 'fault' | 'fact' | 'contact';
  /** Kind of the fact, action or fault, or the feature of a relay. */
  readonly kind: string;
  readonly [member: string]: string | number | boolean | null;
}

/** What a run leaves for its facts file. */
export interface RunWorld {
  readonly ledger: Pick<Ledger, 'vehicles' | 'commands'>;
  readonly devices: readonly { readonly deviceID: string; readonly index: number }[];
  readonly faults: readonly FaultSpan[];
}

const textOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** By vehicle, then by time, then by text: the order depends on the facts alone. */
function sorted(facts: readonly FactLine[]): readonly FactLine[] {
  return facts.toSorted(
    (one, other) =>
      one.vehicle - other.vehicle ||
      one.atMs - other.atMs ||
      textOrder(JSON.stringify(one), JSON.stringify(other)),
  );
}

/** Occurred lines of the simulated world: facts, moves of relay contacts, commands, faults. */
export function happenedFacts({ ledger, devices, faults }: RunWorld): readonly FactLine[] {
  const numbers = new Map(devices.map(({ deviceID, index }) => [deviceID, index + 1]));
  const ofVehicles = [...ledger.vehicles.values()].flatMap(({ deviceID, facts, contacts }) => {
    const vehicle = numbers.get(deviceID);
    if (vehicle === undefined) return [];
    return [
      ...facts.map(({ kind, atMs }): FactLine => ({ vehicle, atMs: Math.round(atMs), what: 'fact', kind })),
      ...contacts.map(({ feature, atMs, energised, token }): FactLine => {
        const at = { vehicle, atMs: Math.round(atMs) };
        return { ...at, what: 'contact', kind: feature, energised, order: token };
      }),
    ];
  });
  const commands = [...ledger.commands.values()].map((command): FactLine => {
    const { deviceID, commandID, feature, state, requestedMs, endState } = command;
    const at = { vehicle: numbers.get(deviceID) ?? 0, atMs: Math.round(requestedMs) };
    return { ...at, what: 'command', kind: feature, state, commandID, endState };
  });
  const spans = faults.map(({ kind, share, fromMs, toMs }): FactLine => {
    const forMs = Math.round(toMs) - Math.round(fromMs);
    return { vehicle: 0, atMs: Math.round(fromMs), what: 'fault', kind, forMs, share };
  });
  return sorted([...ofVehicles, ...commands, ...spans]);
}

const lineOf = (value: Readonly<Record<string, unknown>>): string => `${JSON.stringify(value)}\n`;

/** The header and the planned lines: the same for the same scenario and seed, byte by byte. */
export function* seededLines(
  name: string,
  scenario: Scenario,
  planned: readonly FactLine[],
): Generator<string> {
  const { seed, fleet, durationS } = scenario;
  const { kind, devices } = fleet;
  yield lineOf({ ...factsFormat, scenario: name, seed, kind, devices, durationS });
  for (const fact of sorted(planned)) yield lineOf({ part: 'planned', ...fact });
}

/** The lines after those: they differ from run to run by moments, and by what the service and the machine took. */
export function* happenedLines(
  world: RunWorld,
  of: { readonly elapsedS: number; readonly outcome: Outcome },
): Generator<string> {
  for (const fact of happenedFacts(world)) yield lineOf({ part: 'happened', ...fact });
  yield lineOf({ part: 'end', atMs: Math.round(of.elapsedS * 1000), outcome: of.outcome });
}
