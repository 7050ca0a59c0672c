// The map: the only file that loads MapLibre. Screens give it vehicles; it reports what was pressed and where it was moved to.
import type { Feature, FeatureCollection } from 'geojson';
import { addProtocol, Map as LibreMap, Marker, ScaleControl, setWorkerUrl } from 'maplibre-gl';
import 'maplibre-gl/dist/maplibre-gl.css';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import type { Point } from '../../../src/core/geo/geo.ts';
import type { Zone } from '../../../src/core/geo/geozone.ts';
import type { Geozone } from '../api/operations.ts';
import type { Vehicle } from '../state/fleet.ts';
import type { Place } from '../state/here.ts';
import type { MapPlace } from '../state/map-place.ts';
import { type BaseMap, partReader } from './base-map.ts';
import { boundsOf, type Corners } from './bounds.ts';
import { coloursOf } from './colours.ts';
import type { Drawing, DrawingHandlers } from './drawing.ts';
import { createWorld } from './drawn-world.ts';
import { createGround, type Ground } from './ground.ts';
import { markImages, pixelRatio } from './images.ts';
import { drawJoinedNames } from './joined-names.ts';
import { listenToPresses } from './presses.ts';
import type { createReplayMark, ReplayMark } from './replay-mark.ts';
import { setData } from './sources.ts';
import { createFleetMarks, type FleetMarks } from './vehicles/fleet-marks.ts';
import { graticule } from './world/graticule.ts';
import type { createWays, ReadWays } from './world/ways.ts';
import { draftShapes, zoneShapes } from './zone-shapes.ts';

export interface MapOptions {
  readonly host: HTMLElement;
  /** Null: the place of the vehicles, once they are there. */
  readonly place: MapPlace | null;
  /** Names the map for a screen reader. */
  readonly title: string;
  /** The style sheet scales the host up so many times, so that marks and names are read from afar; 1 unless given. */
  readonly magnified?: number;
  /** The scale is in miles and feet. */
  readonly isInMiles?: boolean;
  onSelect(deviceID: string): void;
  /** Pressed were several vehicles at one place. */
  onSeveral(places: readonly Place[]): void;
  onMove(place: MapPlace): void;
}

export interface FleetMap {
  show(vehicles: readonly Vehicle[], selected: string | null): void;
  /** The geozones; a change replaces all. */
  showZones(zones: readonly Geozone[]): void;
  /** The geozone that is selected or being drawn; its points can be moved while the map draws. */
  showDraft(draft: Zone | null): void;
  fitDraft(): void;
  /** Presses set points from now on; null: they open what is there. The code of it is loaded with the first drawing. */
  draw(handlers: DrawingHandlers | null): Promise<void>;
  /** The middle of what is shown. */
  middle(): Point;
  /** The way of the selected vehicle; a break in it is a list of its own. @param late the part that arrived late. */
  showTrack(track: Track, late?: Track): void;
  /** The place of a replay; null takes it from the map. */
  showReplay(mark: ReplayMark | null): void;
  fitTrack(): void;
  /** Goes to a vehicle, nearer if the map shows more than a town. */
  goTo(vehicle: Vehicle): void;
  fit(): void;
  zoom(step: 1 | -1): void;
  /** What lies below the vehicles. @param base null: the world that ships. @param language of its labels. */
  showBase(base: BaseMap | null, language: string): void;
  /** Draws where the fleet has driven as faint streets; nothing before. */
  showWays(read: ReadWays): void;
  /** The theme has changed. */
  repaint(): void;
  remove(): void;
}

export type Track = readonly (readonly (readonly [longitude: number, latitude: number])[])[];

const collection = (features: readonly Feature[]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: [...features],
});

interface Shown {
  vehicles: readonly Vehicle[];
  track: Track;
  zones: FeatureCollection;
  draft: Zone | null;
  lateTrack: Track;
}

function drawTrack(map: LibreMap, { track, lateTrack }: Shown): void {
  const featureOfTrack = (lines: Track, isLate: boolean): Feature => ({
    type: 'Feature',
    properties: { isLate },
    geometry: { type: 'MultiLineString', coordinates: lines.map((line) => line.map((place) => [...place])) },
  });
  setData(map, 'track', collection([featureOfTrack(track, false), featureOfTrack(lateTrack, true)]));
}

function boundsOfDraft(draft: Zone | null): Corners | null {
  const places = (draft?.points ?? []).map(({ latitude, longitude }) => [longitude, latitude]);
  for (const { geometry } of draftShapes(draft).features) {
    if (!('coordinates' in geometry)) continue;
    const numbers = (geometry.coordinates as unknown[]).flat(3) as number[];
    for (let at = 0; at + 1 < numbers.length; at += 2) places.push(numbers.slice(at, at + 2));
  }
  return boundsOf(places);
}

const placesOf = (vehicles: readonly Vehicle[]) =>
  vehicles.flatMap(({ place }) => (place === null ? [] : [place]));

/** The selected zone, and the drawing of one. */
function createDraft(map: LibreMap, host: HTMLElement, shown: Shown) {
  let handlers: DrawingHandlers | null = null;
  let drawing: Drawing | null = null;
  const show = (): void => {
    setData(map, 'draft', draftShapes(shown.draft));
    drawing?.show(shown.draft?.points ?? []);
  };
  return {
    isOn: () => handlers !== null,
    pause: () => drawing?.pause(),
    /** With each new style of the map, which takes all layers away. */
    begin() {
      drawing?.resume();
      show();
    },
    methods: {
      showDraft(draft: Zone | null) {
        shown.draft = draft;
        show();
      },
      fitDraft() {
        const bounds = boundsOfDraft(shown.draft);
        if (bounds !== null) map.fitBounds(bounds, { padding: 56, maxZoom: 16, animate: false });
      },
      async draw(wanted: DrawingHandlers | null) {
        handlers = wanted;
        drawing?.end();
        drawing = null;
        if (wanted === null) return;
        const { startDrawing } = await import('./drawing.ts');
        if (handlers !== wanted) return;
        drawing = startDrawing(map, host, wanted);
        show();
      },
      middle(): Point {
        const { lat, lng } = map.getCenter().wrap();
        return { latitude: lat, longitude: lng };
      },
    },
  };
}

/** Distances of the lines of the grid, degrees. */
const steps = [10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001] as const;

function drawGrid(map: LibreMap): void {
  const { lng, lat } = map.getCenter().wrap();
  const wanted = 180 / 2 ** map.getZoom();
  const step = steps.find((one) => one <= wanted) ?? 0.001;
  setData(map, 'graticule', graticule(lng, lat, step));
}

const ignore = (): undefined => undefined;

/** The fleet's own ways, once they are wanted. */
function createOwnWays(map: LibreMap) {
  let ways: ReturnType<typeof createWays> | null = null;
  const draw = (features: readonly Feature[]): void => setData(map, 'ways', collection(features));
  async function begin(read: ReadWays): Promise<void> {
    const { createWays: create } = await import('./world/ways.ts');
    ways ??= create(map, read, draw);
  }
  return {
    want: (read: ReadWays) => void begin(read).catch(ignore),
    /** With each new style of the map. */
    show: () => ways?.show(),
    end: () => ways?.end(),
  };
}

/** The code of the mark is loaded with the first replay; without it the replay goes on without the mark. */
function createReplay(map: LibreMap): (mark: ReplayMark | null) => void {
  let loaded: Promise<ReturnType<typeof createReplayMark>> | null = null;
  const markerOf = (element: HTMLElement): Marker => new Marker({ element, rotationAlignment: 'map' });
  return (mark) => {
    if (mark === null && loaded === null) return;
    loaded ??= import('./replay-mark.ts').then(({ createReplayMark: create }) => create(map, markerOf));
    void loaded.then((show) => show(mark)).catch(ignore);
  };
}

function listen(
  map: LibreMap,
  options: MapOptions,
  { isDrawing, placesIn }: { readonly isDrawing: () => boolean } & Pick<FleetMarks, 'placesIn'>,
): void {
  const { onSelect, onSeveral } = options;
  listenToPresses(map, { onSelect, onSeveral, isDrawing, placesIn });
  map.on('moveend', ({ originalEvent }) => {
    // Only what a person did; the map's own moves follow the address already.
    if (originalEvent === undefined) return;
    const { lat, lng } = map.getCenter().wrap();
    options.onMove({ latitude: lat, longitude: lng, zoom: map.getZoom() });
  });
}

const nothingShown = (): Shown => ({
  vehicles: [],
  track: [],
  lateTrack: [],
  zones: collection([]),
  draft: null,
});

function openMap(
  { host, place, title, magnified = 1, isInMiles = false }: MapOptions,
  ground: Ground,
): LibreMap {
  setWorkerUrl(workerUrl);
  const map = new LibreMap({
    container: host,
    style: ground.style(),
    transformRequest: (url) => ({ url: ground.address(url) }),
    center: place === null ? [10, 30] : [place.longitude, place.latitude],
    zoom: place?.zoom ?? 1.2,
    attributionControl: false,
    dragRotate: false,
    pitchWithRotate: false,
    maxTileCacheSize: 64,
    ...(magnified === 1 ? {} : { pixelRatio: devicePixelRatio * magnified }),
    locale: { 'Map.Title': title },
  });
  map.touchZoomRotate.disableRotation();
  map.addControl(new ScaleControl({ maxWidth: 120, unit: isInMiles ? 'imperial' : 'metric' }), 'bottom-left');
  map.on('error', ({ error }) => {
    if (!ground.fail(error)) console.error(error);
  });
  drawJoinedNames(map, () => coloursOf(host));
  map.on('moveend', () => drawGrid(map));
  return map;
}

/** Loads the file of the worker, which the browser keeps: a map whose worker does not come stays empty. @throws Error that it was not loaded. */
export async function loadWorker(): Promise<void> {
  const answer = await fetch(workerUrl).catch(() => null);
  if (answer?.ok !== true) throw new Error('Failed to fetch the worker of the map');
  await answer.arrayBuffer();
}

addProtocol(partReader.scheme, partReader.read);

/** @throws Error without WebGL. */
export function createFleetMap(options: MapOptions): FleetMap {
  const { host, place } = options;
  const shown = nothingShown();
  const ground = createGround(host);
  let isPlaced = place !== null;
  const map = openMap(options, ground);
  const marks = createFleetMarks(map);
  const drawing = createDraft(map, host, shown);
  const ways = createOwnWays(map);
  const world = createWorld(map, host, ground, ways);
  const begin = (): void => {
    ground.taken();
    for (const [name, image] of markImages(coloursOf(host))) {
      if (!map.hasImage(name)) map.addImage(name, image, { pixelRatio });
    }
    marks.begin();
    drawTrack(map, shown);
    setData(map, 'zones', shown.zones);
    drawing.begin();
    drawGrid(map);
    void world.begin();
  };
  map.on('style.load', begin);
  listen(map, options, { isDrawing: drawing.isOn, placesIn: marks.placesIn });
  const fit = (isAnimated: boolean): void => {
    const bounds = boundsOf(placesOf(shown.vehicles));
    if (bounds !== null) map.fitBounds(bounds, { padding: 56, maxZoom: 13, animate: isAnimated });
  };
  const showReplay = createReplay(map);
  const repaint = (): void => {
    drawing.pause();
    world.end();
    map.setStyle(ground.style(), { diff: false });
  };
  return {
    show(vehicles, selected) {
      shown.vehicles = vehicles;
      if (!isPlaced && placesOf(vehicles).length > 0) {
        isPlaced = true;
        fit(false);
      }
      marks.show(vehicles, selected);
    },
    showTrack(track, late = []) {
      Object.assign(shown, { track, lateTrack: late });
      drawTrack(map, shown);
    },
    showZones(zones) {
      shown.zones = zoneShapes(zones);
      setData(map, 'zones', shown.zones);
    },
    ...drawing.methods,
    showReplay,
    fitTrack() {
      const bounds = boundsOf([shown.track, shown.lateTrack].flat(2));
      if (bounds !== null) map.fitBounds(bounds, { padding: 40, maxZoom: 15, animate: false });
    },
    goTo({ place: to }) {
      if (to !== null) map.easeTo({ center: [...to] as [number, number], zoom: Math.max(map.getZoom(), 12) });
    },
    fit: () => fit(true),
    zoom: (step) => void map.zoomTo(map.getZoom() + step),
    showBase(base, language) {
      if (ground.set(base, language)) repaint();
    },
    showWays: ways.want,
    repaint,
    remove() {
      world.end();
      void drawing.methods.draw(null);
      marks.end();
      ways.end();
      ground.end();
      map.remove();
    },
  };
}
