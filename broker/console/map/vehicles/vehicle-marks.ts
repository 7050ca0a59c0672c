// Vehicle marks as map features, and their changes since the last drawing: MapLibre copies only these to its worker. Pure.
import type { Feature, Point } from 'geojson';
import type { GeoJSONSourceDiff } from 'maplibre-gl';
import { severityOf, type Vehicle } from '../../state/fleet.ts';
import type { Place } from '../../state/here.ts';
import { isJoined } from '../../state/joined-script.ts';
import { worstOf } from './clusters.ts';
import { formOf, turnOf } from './mark-layers.ts';

export interface VehicleMark {
  /** The same object as before: it has not changed. */
  readonly vehicle: Vehicle;
  readonly place: Place;
  /** Vehicles whose marks lie on this one. */
  readonly others: number;
}

function featureOf({ vehicle, place, others }: VehicleMark): Feature<Point> {
  const severity = severityOf(vehicle);
  return {
    type: 'Feature',
    properties: {
      id: vehicle.id,
      // Their marks lie on each other: one of the names says how many more there are.
      name: others === 0 ? vehicle.name : `${vehicle.name} +${others}`,
      isJoined: isJoined(vehicle.name),
      mark: `mark-${formOf(vehicle)}`,
      turn: turnOf(vehicle),
      ring: severity === 'none' ? '' : `ring-${severity}`,
      worst: worstOf(vehicle),
    },
    geometry: { type: 'Point', coordinates: [...place] },
  };
}

interface Shown extends VehicleMark {
  /** The picture that it was put into last. */
  picture: number;
}

/** The marks that one source of the map shows. Changed in place: most of a fleet stays as it was from one picture to the next. */
export interface ShownMarks {
  get(deviceID: string): VehicleMark | undefined;
  marks(): readonly VehicleMark[];
  /** Puts a mark into the next picture. */
  put(vehicle: Vehicle, place: Place, others: number): void;
  /** Shows the picture: what changes by it, null for nothing. What was not put into it is gone. */
  show(): GeoJSONSourceDiff | null;
  /** The source shows nothing. */
  clear(): void;
}

export function createShownMarks(): ShownMarks {
  const shown = new Map<string, Shown>();
  let add: Feature<Point>[] = [];
  let [picture, count] = [0, 0];
  return {
    get: (deviceID) => shown.get(deviceID),
    marks: () => [...shown.values()],
    put(vehicle, place, others) {
      count += 1;
      const last = shown.get(vehicle.id);
      if (last?.vehicle === vehicle && last.place === place && last.others === others) {
        last.picture = picture;
        return;
      }
      const mark = { vehicle, place, others, picture };
      shown.set(vehicle.id, mark);
      add.push(featureOf(mark));
    },
    show() {
      const remove: string[] = [];
      if (count < shown.size) {
        for (const [id, mark] of shown) if (mark.picture !== picture) remove.push(id);
        for (const id of remove) shown.delete(id);
      }
      const changes = add.length + remove.length === 0 ? null : { add, remove };
      add = [];
      picture += 1;
      count = 0;
      return changes;
    },
    clear() {
      shown.clear();
      add = [];
      count = 0;
    },
  };
}
