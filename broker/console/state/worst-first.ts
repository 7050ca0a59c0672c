// The order of the list of vehicles: worst first. Only what changed is put in its place again, so that a large fleet costs little. Pure.
import {
  type Priority,
  type Severity,
  severityOf,
  stateOf,
  type Vehicle,
  type VehicleState,
} from './fleet.ts';

const severities: readonly Severity[] = ['act', 'act-taken', 'look', 'none'];
const states: readonly VehicleState[] = ['doubtful', 'offline', 'moving', 'unknown', 'standing'];
const priorities: readonly Priority[] = ['critical', 'high', 'low'];

const worstRankOf = (vehicle: Vehicle): number =>
  severities.indexOf(severityOf(vehicle)) * 100 +
  (vehicle.alarm === null ? 0 : priorities.indexOf(vehicle.alarm.priority) * 10) +
  states.indexOf(stateOf(vehicle));

interface Ranked {
  readonly vehicle: Vehicle;
  readonly rank: number;
}

const ranked = (vehicle: Vehicle): Ranked => ({ vehicle, rank: worstRankOf(vehicle) });

const compareRanked = (one: Ranked, other: Ranked): number =>
  one.rank - other.rank ||
  (one.vehicle.name < other.vehicle.name ? -1 : one.vehicle.name > other.vehicle.name ? 1 : 0);

const sorted = (all: readonly Ranked[]): readonly Ranked[] => all.toSorted(compareRanked);

/** Worst first: by alarm, then doubt and silence, then movement, then name. */
export const worstFirst = (vehicles: readonly Vehicle[]): readonly Vehicle[] =>
  sorted(vehicles.map(ranked)).map(({ vehicle }) => vehicle);

/**
 * Sorts a fleet again after single vehicles changed. Those with another rank or name stand behind the others, which are in order: such a list
 * is sorted in one pass.
 */
export function createWorstFirst(): (fleet: ReadonlyMap<string, Vehicle>) => readonly Vehicle[] {
  let ordered: readonly Ranked[] = [];
  return (fleet) => {
    const [kept, moved]: [Ranked[], Ranked[]] = [[], []];
    for (const before of ordered) {
      const vehicle = fleet.get(before.vehicle.id);
      if (vehicle === undefined) continue;
      const now = vehicle === before.vehicle ? before : ranked(vehicle);
      const isSame = now.rank === before.rank && vehicle.name === before.vehicle.name;
      (isSame ? kept : moved).push(now);
    }
    const known = kept.concat(moved);
    ordered = sorted(known.length === fleet.size ? known : [...fleet.values()].map(ranked));
    return ordered.map(({ vehicle }) => vehicle);
  };
}
