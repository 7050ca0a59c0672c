// Setting and moving the points of a shape on the map: by pointer and touch with terra-draw, by keyboard at the middle of the map. The only file
// that loads terra-draw.
import type { Map as LibreMap } from 'maplibre-gl';
import { TerraDraw, TerraDrawPointMode } from 'terra-draw';
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter';
import type { Point } from '../../../src/core/geo/geo.ts';
import { coloursOf } from './colours.ts';

export interface DrawingHandlers {
  onAdd(point: Point): void;
  /** @param at index of the point in what was shown last. */
  onMove(at: number, point: Point): void;
  /** The last step is to be taken back. */
  onUndo(): void;
}

export interface Drawing {
  show(points: readonly Point[]): void;
  /** The map is about to get another style, which takes all layers away; `resume` draws again. */
  pause(): void;
  resume(): void;
  end(): void;
}

/** terra-draw takes colours in no other form. */
function hexOf(colour: string): `#${string}` {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return `#${[red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

function openDraw(map: LibreMap, host: HTMLElement): TerraDraw {
  const colours = coloursOf(host);
  const [accent, halo] = [hexOf(colours.accent), hexOf(colours['map-halo'])];
  const styles = {
    pointColor: halo,
    pointOutlineColor: accent,
    pointWidth: 7,
    pointOutlineWidth: 3,
    editedPointColor: accent,
    editedPointOutlineColor: halo,
    editedPointWidth: 9,
    editedPointOutlineWidth: 2,
  };
  return new TerraDraw({
    adapter: new TerraDrawMapLibreGLAdapter({ map }),
    modes: [new TerraDrawPointMode({ editable: true, styles, pointerDistance: 24 })],
  });
}

/** Keys on the map itself: Enter sets a point at its middle; Backspace, Ctrl+Z or Cmd+Z take the last step back. */
function listenToKeys(map: LibreMap, host: HTMLElement, { onAdd, onUndo }: DrawingHandlers): () => void {
  const press = (event: KeyboardEvent): void => {
    if (event.target !== map.getCanvas()) return;
    const isUndo = event.key === 'Backspace' || (event.key === 'z' && (event.ctrlKey || event.metaKey));
    if (event.key !== 'Enter' && !isUndo) return;
    event.preventDefault();
    event.stopPropagation();
    const { lat, lng } = map.getCenter().wrap();
    if (isUndo) onUndo();
    else onAdd({ latitude: lat, longitude: lng });
  };
  // Before the map's own listener, which opens what is at the middle.
  host.addEventListener('keydown', press, true);
  return () => host.removeEventListener('keydown', press, true);
}

/** Draws until it is ended. @param host element of the map, whose theme counts. */
export function startDrawing(map: LibreMap, host: HTMLElement, handlers: DrawingHandlers): Drawing {
  let points: readonly Point[] = [];
  let ids: (string | number)[] = [];
  let draw: TerraDraw | null = null;
  const show = (): void => {
    if (draw === null) return;
    draw.clear();
    ids = points.map(() => draw?.getFeatureId() ?? '');
    draw.addFeatures(
      points.map(({ latitude, longitude }, at) => ({
        id: ids[at] ?? '',
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [longitude, latitude] },
        properties: { mode: 'point' },
      })),
    );
  };
  const finish = (id: string | number): void => {
    const geometry = draw?.getSnapshotFeature(id)?.geometry;
    if (geometry?.type !== 'Point') return;
    const [longitude = 0, latitude = 0] = geometry.coordinates;
    const at = ids.indexOf(id);
    // Redraws the state before a refused step, after terra-draw's own step.
    setTimeout(show);
    if (at < 0) handlers.onAdd({ latitude, longitude });
    else handlers.onMove(at, { latitude, longitude });
  };
  const begin = (): void => {
    if (draw !== null) return;
    draw = openDraw(map, host);
    draw.start();
    draw.setMode('point');
    draw.on('finish', finish);
    show();
  };
  const pause = (): void => {
    draw?.stop();
    draw = null;
  };
  const leaveKeys = listenToKeys(map, host, handlers);
  // Until the style is there the map takes no layers; `resume` begins then.
  if (map.isStyleLoaded() === true || map.getLayer('marks') !== undefined) begin();
  return {
    show(next) {
      points = next;
      show();
    },
    pause,
    resume: begin,
    end() {
      leaveKeys();
      pause();
    },
  };
}
