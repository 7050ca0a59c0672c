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

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const compareRanked = (one: Ranked, other: Ranked): number =>
  one.rank - other.rank ||
  compareText(one.vehicle.name, other.vehicle.name) ||
  compareText(one.vehicle.id, other.vehicle.id);

const sorted = (all: readonly Ranked[]): readonly Ranked[] => all.toSorted(compareRanked);

/** Worst first: by alarm, then doubt and silence, then movement, then name. */
export const worstFirst = (vehicles: readonly Vehicle[]): readonly Vehicle[] =>
  sorted(vehicles.map(ranked)).map(({ vehicle }) => vehicle);

/** Puts vehicles in their places. Both lists are in order, and the second is short: a place is searched, not passed by. */
function inserted(kept: readonly Ranked[], moved: readonly Ranked[]): readonly Ranked[] {
  if (moved.length === 0) return kept;
  const all: Ranked[] = [];
  let at = 0;
  for (const one of moved) {
    let [low, high] = [at, kept.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = kept[middle];
      if (other !== undefined && compareRanked(other, one) < 0) low = middle + 1;
      else high = middle;
    }
    for (const before of kept.slice(at, low)) all.push(before);
    all.push(one);
    at = low;
  }
  return all.concat(kept.slice(at));
}

/**
 * Sorts a fleet again after single vehicles changed. Those whose rank and name are the same keep their order without a comparison; the others are
 * put in their places.
 */
export function createWorstFirst(): (fleet: ReadonlyMap<string, Vehicle>) => readonly Vehicle[] {
  let ordered: readonly Ranked[] = [];
  return (fleet) => {
    const [kept, moved]: [Ranked[], Ranked[]] = [[], []];
    for (const before of ordered) {
      const vehicle = fleet.get(before.vehicle.id);
      if (vehicle === undefined) continue;
      const now = vehicle === before.vehicle ? before : ranked(vehicle);
      const isSame = now === before || (now.rank === before.rank && vehicle.name === before.vehicle.name);
      (isSame ? kept : moved).push(now);
    }
    const isWhole = kept.length + moved.length === fleet.size;
    ordered = isWhole ? inserted(kept, sorted(moved)) : sorted([...fleet.values()].map(ranked));
    return ordered.map(({ vehicle }) => vehicle);
  };
}
