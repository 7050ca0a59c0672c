// Presses on the map, by pointer or with Enter at its middle: on a vehicle, on a cluster, which opens, or on several vehicles at
// one place.
import type { GeoJSONSource, Map as LibreMap, MapGeoJSONFeature, PointLike } from 'maplibre-gl';
import type { Place } from '../state/here.ts';

interface PressHandlers {
  onSelect(deviceID: string): void;
  /** Their marks lie on each other there. */
  onSeveral(places: readonly Place[]): void;
  /** Presses set points now, and open nothing. */
  isDrawing(): boolean;
}

/** Half the side of what a press at a point takes in, px: a mark has 12. */
const reach = { pointer: 6, middle: 22 } as const;
/** From this zoom on there are no clusters (see the style). */
export const zoomOfSingles = 14;
/** Greatest zoom of a press: a town's street fills the map. */
const zoomMost = 17;
/** Vehicles of a cluster that are read: their places decide if zooming can separate them. */
const leavesMost = 500;
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

/** Whether the largest zoom still shows them as one. */
function isOnePlace(map: LibreMap, places: readonly Place[]): boolean {
  const scale = 2 ** (map.getMaxZoom() - map.getZoom());
  const points = places.map((place) => map.project([...place] as [number, number]));
  const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);
  const widest = Math.max(spread(points.map(({ x }) => x)), spread(points.map(({ y }) => y)));
  return widest * scale < apartPx;
}

async function openCluster(
  map: LibreMap,
  feature: MapGeoJSONFeature,
  { onSeveral }: PressHandlers,
): Promise<void> {
  const cluster: unknown = feature.properties['cluster_id'];
  const source = map.getSource<GeoJSONSource>('vehicles');
  const center = placeOf(feature);
  if (typeof cluster !== 'number' || source === undefined || center === null) return;
  const zoom = await source.getClusterExpansionZoom(cluster);
  if (zoom >= zoomOfSingles) {
    const leaves = placesOf(await source.getClusterLeaves(cluster, leavesMost, 0));
    if (leaves.length > 1 && isOnePlace(map, leaves)) return onSeveral(leaves);
  }
  map.easeTo({ center: [...center] as [number, number], zoom: Math.min(zoom + 0.3, zoomMost) });
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
  if (cluster !== undefined) void openCluster(map, cluster, handlers).catch(() => undefined);
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
