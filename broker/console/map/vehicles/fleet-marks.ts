// Draws the vehicles of the live map: those in sight and around it, from far in clusters; the selected one above them in a source of its own.
// When zoomed in, gliding vehicles are in another, which is small enough to change ten times a second. No source grows with the fleet.
import type { GeoJSONSource, Map as LibreMap } from 'maplibre-gl';
import type { Vehicle } from '../../state/fleet.ts';
import { type Glide, glideOf, placeAt } from '../../state/glide.ts';
import { type Place, placeCounts } from '../../state/here.ts';
import { createShownClusters, type ShownClusters } from './cluster-marks.ts';
import { type Box, boxOf, groupsInSight, type Placed, placedOf, zoomOfSingles } from './clusters.ts';
import { createShownMarks, type ShownMarks, type VehicleMark } from './vehicle-marks.ts';

export interface FleetMarks {
  show(vehicles: readonly Vehicle[], selected: string | null): void;
  /** A style has been loaded: its sources are empty. */
  begin(): void;
  /** Places of the vehicles of a cluster, by its number. */
  placesIn(cluster: number): readonly Place[];
  end(): void;
}

type Source = 'vehicles' | 'gliding' | 'selected';

/** Least time between two updates of all vehicles in sight. */
const showMs = 1000;
const glideMs = 100;
/** Marks that glide at one time. */
const glidesMost = 300;
/** So much of its width and height is drawn on each side of what is seen. */
const aside = 0.5;

const isCalm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

function seenBox(map: LibreMap): Box {
  const bounds = map.getBounds();
  return boxOf(bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth());
}

function widened({ left, right, top, bottom }: Box): Box {
  const [x, y] = [(right - left) * aside, (bottom - top) * aside];
  return { left: left - x, right: right + x, top: Math.max(0, top - y), bottom: Math.min(1, bottom + y) };
}

const covers = (box: Box, { left, right, top, bottom }: Box): boolean =>
  box.left <= left && box.right >= right && box.top <= Math.max(0, top) && box.bottom >= Math.min(1, bottom);

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

interface Fleet {
  readonly placed: Placed;
  readonly selected: string | null;
}

function drawChanges(map: LibreMap, name: Source, changes: ReturnType<ShownMarks['show']>): void {
  if (changes === null) return;
  // A map that is removed meanwhile rejects what its worker has not drawn.
  void map
    .getSource<GeoJSONSource>(name)
    ?.updateData(changes)
    .catch(() => undefined);
}

function drawClusters(map: LibreMap, features: ReturnType<ShownClusters['show']>): void {
  if (features === null) return;
  void map
    .getSource<GeoJSONSource>('clusters')
    ?.setData({ type: 'FeatureCollection', features: [...features] })
    .catch(() => undefined);
}

export function createFleetMarks(map: LibreMap): FleetMarks {
  let fleet: Fleet = { placed: placedOf([]), selected: null };
  let isDirty = false;
  /** What is drawn, at which whole zoom. */
  let [box, zoom]: [Box, number] = [boxOf(0, 0, 0, 0), 0];
  let glides = new Map<string, Glide>();
  const clusters = createShownClusters();
  const drawn: Readonly<Record<Source, ShownMarks>> = {
    vehicles: createShownMarks(),
    gliding: createShownMarks(),
    selected: createShownMarks(),
  };

  const draw = (name: Source): void => drawChanges(map, name, drawn[name].show());
  /** While a style is being replaced there are no sources; the next one is given all. */
  const hasSources = (): boolean => map.getSource('vehicles') !== undefined;
  const lastOf = (id: string): VehicleMark | undefined =>
    drawn.vehicles.get(id) ?? drawn.gliding.get(id) ?? drawn.selected.get(id);
  const drawAll = (): void => {
    if (!hasSources()) return;
    isDirty = false;
    const atMs = performance.now();
    const { placed, selected } = fleet;
    [box, zoom] = [widened(seenBox(map)), Math.floor(map.getZoom())];
    const groups = groupsInSight(placed, { box, zoom, selected });
    const chosen = selected === null ? undefined : placed.vehicles.find(({ id }) => id === selected);
    const vehicles = chosen === undefined ? groups.singles : [...groups.singles, chosen];
    glides = nextGlides(map, { vehicles, atMs, glides, lastOf });
    const countAt = placeCounts(vehicles);
    for (const vehicle of vehicles) {
      const { id, place } = vehicle;
      if (place === null) continue;
      const glide = glides.get(id);
      const name = vehicle === chosen ? 'selected' : glide === undefined ? 'vehicles' : 'gliding';
      drawn[name].put(vehicle, glide === undefined ? place : placeAt(glide, atMs), countAt(place) - 1);
    }
    drawClusters(map, clusters.show(groups.clusters));
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
  map.on('move', () => {
    if (Math.floor(map.getZoom()) !== zoom || !covers(box, seenBox(map))) drawAll();
  });
  return {
    show(vehicles, selected) {
      const isUrgent = selected !== fleet.selected || fleet.placed.vehicles.length === 0;
      if (vehicles !== fleet.placed.vehicles || isUrgent) isDirty = true;
      fleet = {
        placed: vehicles === fleet.placed.vehicles ? fleet.placed : placedOf(vehicles, fleet.placed),
        selected,
      };
      if (isUrgent) drawAll();
    },
    begin() {
      for (const marks of Object.values(drawn)) marks.clear();
      clusters.clear();
      drawAll();
    },
    placesIn: clusters.placesIn,
    end() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
