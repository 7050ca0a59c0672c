// Presses on the map, by pointer or with Enter at its middle: on a vehicle, on a cluster, which opens, or on several vehicles at
// one place.
import type { Map as LibreMap, MapGeoJSONFeature, PointLike } from 'maplibre-gl';
import type { Place } from '../state/here.ts';
import { boundsOf } from './bounds.ts';

interface PressHandlers {
  onSelect(deviceID: string): void;
  /** Their marks lie on each other there. */
  onSeveral(places: readonly Place[]): void;
  /** Places of the vehicles of a cluster, by its number. */
  placesIn(cluster: number): readonly Place[];
  /** Presses set points now, and open nothing. */
  isDrawing(): boolean;
}

/** Half the side of what a press at a point takes in, px: a mark has 12. */
const reach = { pointer: 6, middle: 22 } as const;
/** Greatest zoom of a press: a town's street fills the map. */
const zoomMost = 17;
/** Vehicles of a list of those at one place. */
const severalMost = 500;
/** Two marks are apart from so many px on, at the largest zoom. */
const apartPx = 24;

const markLayers = ['marks', 'gliding-marks', 'selected-mark'];

function placeOf({ geometry }: MapGeoJSONFeature | GeoJSON.Feature): Place | null {
  if (geometry.type !== 'Point') return null;
  const [longitude, latitude] = geometry.coordinates;
  return longitude === undefined || latitude === undefined ? null : [longitude, latitude];
}

const placesOf = (features: readonly (MapGeoJSONFeature | GeoJSON.Feature)[]): readonly Place[] =>
  features.map(placeOf).filter((place) => place !== null);

/** A cluster is a list where the largest zoom still shows its vehicles as one; else the map goes to them. */
function openCluster(map: LibreMap, places: readonly Place[], { onSeveral }: PressHandlers): void {
  const bounds = boundsOf(places);
  if (bounds === null) return;
  const scale = 2 ** (map.getMaxZoom() - map.getZoom());
  const [one, other] = [map.project(bounds[0]), map.project(bounds[1])];
  const widest = Math.max(Math.abs(one.x - other.x), Math.abs(one.y - other.y));
  if (widest * scale < apartPx) return onSeveral(places.slice(0, severalMost));
  map.fitBounds(bounds, { padding: 80, maxZoom: Math.max(zoomMost, map.getZoom() + 1) });
}

function press(map: LibreMap, { x, y }: { x: number; y: number }, by: number, handlers: PressHandlers): void {
  // While a style is being replaced there are no layers.
  if (handlers.isDrawing() || map.getLayer('marks') === undefined) return;
  const box: [PointLike, PointLike] = [
    [x - by, y - by],
    [x + by, y + by],
  ];
  const marks = map.queryRenderedFeatures(box, { layers: markLayers });
  // A feature at the edge of tiles comes once for each of them.
  const byID = new Map(marks.map((feature) => [String(feature.properties['id']), feature]));
  const [only] = byID.keys();
  if (byID.size > 1) return handlers.onSeveral(placesOf([...byID.values()]));
  if (only !== undefined) return handlers.onSelect(only);
  const [cluster] = map.queryRenderedFeatures(box, { layers: ['clusters'] });
  if (cluster !== undefined)
    openCluster(map, handlers.placesIn(Number(cluster.properties['number'])), handlers);
}

/** Listens to the pointer, and to Enter while the map has the focus: its middle is marked then. */
export function listenToPresses(map: LibreMap, handlers: PressHandlers): void {
  const pointer = (cursor: string) => () => {
    map.getCanvas().style.cursor = cursor;
  };
  for (const layer of ['clusters', ...markLayers]) {
    map.on('mouseenter', layer, pointer('pointer'));
    map.on('mouseleave', layer, pointer(''));
  }
  map.on('click', ({ point }) => press(map, point, reach.pointer, handlers));
  map.getCanvas().addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const { clientWidth, clientHeight } = map.getContainer();
    press(map, { x: clientWidth / 2, y: clientHeight / 2 }, reach.middle, handlers);
  });
}
