// The marks of vehicles as features of the map, and what of them changed since they were drawn last: MapLibre copies to its worker only that.
// Pure.
import type { Feature, Point } from 'geojson';
import type { GeoJSONSourceDiff } from 'maplibre-gl';
import { severityOf, stateOf, type Vehicle } from '../state/fleet.ts';
import type { Place } from '../state/here.ts';
import { isJoined } from '../state/joined-script.ts';

const severityRank = { act: 2, 'act-taken': 2, look: 1, none: 0 } as const;

export interface VehicleMark {
  /** The same object as before: it has not changed. */
  readonly vehicle: Vehicle;
  readonly place: Place;
  /** Vehicles whose marks lie on this one. */
  readonly others: number;
}

/** Marks that a source of the map shows, by id of the vehicle. */
export type DrawnMarks = ReadonlyMap<string, VehicleMark>;

function featureOf({ vehicle, place, others }: VehicleMark): Feature<Point> {
  const severity = severityOf(vehicle);
  const state = stateOf(vehicle);
  return {
    type: 'Feature',
    properties: {
      id: vehicle.id,
      // Their marks lie on each other: one of the names says how many more there are.
      name: others === 0 ? vehicle.name : `${vehicle.name} +${others}`,
      isJoined: isJoined(vehicle.name),
      mark: `mark-${state}`,
      turn: state === 'moving' ? vehicle.heading : 0,
      ring: severity === 'none' ? '' : `ring-${severity}`,
      worst: severityRank[severity],
    },
    geometry: { type: 'Point', coordinates: [...place] },
  };
}

/** What makes of the marks `before` those of `after`; null for nothing. */
export function markChanges(before: DrawnMarks, after: DrawnMarks): GeoJSONSourceDiff | null {
  const add: Feature<Point>[] = [];
  for (const [id, mark] of after) {
    const last = before.get(id);
    const isSame = last?.vehicle === mark.vehicle && last.place === mark.place && last.others === mark.others;
    if (!isSame) add.push(featureOf(mark));
  }
  const remove = [...before.keys()].filter((id) => !after.has(id));
  return add.length + remove.length === 0 ? null : { add, remove };
}
