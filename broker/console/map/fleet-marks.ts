// Draws the vehicles of the live map: all in one clustered source, the selected one above them in a second. When zoomed in,
// gliding vehicles are in a third, which is small enough to change ten times a second.
import type { GeoJSONSource, Map as LibreMap } from 'maplibre-gl';
import type { Vehicle } from '../state/fleet.ts';
import { type Glide, glideOf, placeAt } from '../state/glide.ts';
import { type Place, placeCounts } from '../state/here.ts';
import { zoomOfSingles } from './presses.ts';
import { createShownMarks, type ShownMarks, type VehicleMark } from './vehicle-marks.ts';

export interface FleetMarks {
  show(vehicles: readonly Vehicle[], selected: string | null): void;
  /** A style has been loaded: its sources are empty. */
  begin(): void;
  end(): void;
}

type Source = 'vehicles' | 'gliding' | 'selected';

/** Least time between two updates of all vehicles: MapLibre's worker clusters them each time. */
const showMs = 1000;
const glideMs = 100;
/** Marks that glide at one time. */
const glidesMost = 300;

const isCalm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Visibility of a place; null: the map is too far out for gliding, or motion is off. */
function sightOf(map: LibreMap): ((place: Place) => boolean) | null {
  if (map.getZoom() < zoomOfSingles || isCalm()) return null;
  const bounds = map.getBounds();
  return (place) => bounds.contains([...place] as [number, number]);
}

interface GlideInput {
  readonly vehicles: readonly Vehicle[];
  readonly atMs: number;
  /** Those of the moment before. */
  readonly glides: ReadonlyMap<string, Glide>;
  /** A mark as it was drawn last. */
  lastOf(deviceID: string): VehicleMark | undefined;
}

/** Continued and new glides. */
function nextGlides(map: LibreMap, { vehicles, atMs, glides, lastOf }: GlideInput): Map<string, Glide> {
  const isInSight = sightOf(map);
  const next = new Map<string, Glide>();
  if (isInSight === null) return next;
  for (const vehicle of vehicles) {
    const { id } = vehicle;
    const last = lastOf(id);
    const present = glides.get(id);
    const isNew = last !== undefined && last.vehicle.fixS !== vehicle.fixS;
    const from = present === undefined ? last?.place : placeAt(present, atMs);
    const glide = isNew && from !== undefined ? glideOf(last.vehicle, vehicle, from, atMs) : present;
    if (glide == null || glide.endMs <= atMs || next.size >= glidesMost) continue;
    if (isInSight(glide.from) || isInSight(glide.to)) next.set(id, glide);
  }
  return next;
}

export function createFleetMarks(map: LibreMap): FleetMarks {
  let vehicles: readonly Vehicle[] = [];
  let selected: string | null = null;
  let isDirty = false;
  let glides = new Map<string, Glide>();
  const drawn: Readonly<Record<Source, ShownMarks>> = {
    vehicles: createShownMarks(),
    gliding: createShownMarks(),
    selected: createShownMarks(),
  };

  const draw = (name: Source): void => {
    const changes = drawn[name].show();
    // A map that is removed meanwhile rejects what its worker has not drawn.
    if (changes !== null)
      void map
        .getSource<GeoJSONSource>(name)
        ?.updateData(changes)
        .catch(() => undefined);
  };
  /** While a style is being replaced there are no sources; the next one is given all. */
  const hasSources = (): boolean => map.getSource('vehicles') !== undefined;
  const lastOf = (id: string): VehicleMark | undefined =>
    drawn.vehicles.get(id) ?? drawn.gliding.get(id) ?? drawn.selected.get(id);
  const drawAll = (): void => {
    if (!hasSources()) return;
    isDirty = false;
    const atMs = performance.now();
    glides = nextGlides(map, { vehicles, atMs, glides, lastOf });
    const countAt = placeCounts(vehicles);
    for (const vehicle of vehicles) {
      const { id, place } = vehicle;
      if (place === null) continue;
      const glide = glides.get(id);
      const name = id === selected ? 'selected' : glide === undefined ? 'vehicles' : 'gliding';
      drawn[name].put(vehicle, glide === undefined ? place : placeAt(glide, atMs), countAt(place) - 1);
    }
    for (const name of ['vehicles', 'gliding', 'selected'] as const) draw(name);
  };
  const drawGlides = (): void => {
    if (glides.size === 0 || !hasSources()) return;
    const atMs = performance.now();
    for (const name of ['gliding', 'selected'] as const) {
      for (const { vehicle, place, others } of drawn[name].marks()) {
        const glide = glides.get(vehicle.id);
        drawn[name].put(vehicle, glide === undefined ? place : placeAt(glide, atMs), others);
      }
      draw(name);
    }
  };
  const timers = [
    setInterval(() => {
      if (isDirty && map.isStyleLoaded() !== undefined) drawAll();
    }, showMs),
    setInterval(drawGlides, glideMs),
  ];
  // Farther away they belong to clusters.
  map.on('zoomend', () => {
    if (drawn.gliding.marks().length > 0 && map.getZoom() < zoomOfSingles) drawAll();
  });
  return {
    show(nextVehicles, nextSelected) {
      const isUrgent = nextSelected !== selected || vehicles.length === 0;
      [vehicles, selected, isDirty] = [nextVehicles, nextSelected, true];
      if (isUrgent) drawAll();
    },
    begin() {
      for (const marks of Object.values(drawn)) marks.clear();
      drawAll();
    },
    end() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
