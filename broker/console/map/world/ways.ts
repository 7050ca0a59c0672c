// Where the fleet has driven, as faint streets: read tile by tile for what is shown, and again after some minutes.
import type { Feature } from 'geojson';
import type { Map as LibreMap } from 'maplibre-gl';
import { mercatorOf } from '../../../../src/core/geo/mercator.ts';

export interface WayTile {
  readonly zoom: 8 | 12;
  readonly x: number;
  readonly y: number;
}

/** Lines of 1e-5 degrees: a first longitude and latitude, then steps from place to place. */
export type ReadWays = (tile: WayTile) => Promise<readonly (readonly number[])[]>;

/** Zooms of the map from which the tiles of these zooms are drawn. */
const levels = [
  { from: 10, zoom: 12 },
  { from: 6, zoom: 8 },
] as const;
/** Further tiles of one look are left out: it is a wide screen at the zoom where a level begins. */
const tilesMost = 60;
const keptMost = 200;
const freshMs = 600_000;

function linesOf(rows: readonly (readonly number[])[]): [number, number][][] {
  return rows.map((row) => {
    const line: [number, number][] = [];
    let [longitude, latitude] = [0, 0];
    for (let at = 0; at + 1 < row.length; at += 2) {
      longitude += row[at] ?? 0;
      latitude += row[at + 1] ?? 0;
      line.push([longitude / 1e5, latitude / 1e5]);
    }
    return line;
  });
}

/** The tiles of what a map shows; none from afar. */
export function wayTiles(map: Pick<LibreMap, 'getZoom' | 'getBounds'>): readonly WayTile[] {
  const level = levels.find(({ from }) => map.getZoom() >= from);
  if (level === undefined) return [];
  const { zoom } = level;
  const side = 2 ** zoom;
  const bounds = map.getBounds();
  const first = mercatorOf({ latitude: bounds.getNorth(), longitude: bounds.getWest() });
  const last = mercatorOf({ latitude: bounds.getSouth(), longitude: bounds.getEast() });
  const [top, bottom] = [
    Math.max(0, Math.floor(first.y * side)),
    Math.min(side - 1, Math.floor(last.y * side)),
  ];
  const tiles: WayTile[] = [];
  for (let x = Math.floor(first.x * side); x <= last.x * side; x += 1)
    for (let y = top; y <= bottom && tiles.length < tilesMost; y += 1)
      tiles.push({ zoom, x: ((x % side) + side) % side, y });
  return tiles;
}

interface KeptTile {
  readonly feature: Feature;
  readonly readMs: number;
}

/** @param draw is given all that is to be seen, after each change of it. */
export function createWays(map: LibreMap, read: ReadWays, draw: (features: readonly Feature[]) => void) {
  const kept = new Map<string, KeptTile>();
  const asked = new Set<string>();
  let isEnded = false;
  const keyOf = ({ zoom, x, y }: WayTile): string => `${zoom}/${x}/${y}`;
  const show = (): void => draw(wayTiles(map).flatMap((tile) => kept.get(keyOf(tile))?.feature ?? []));
  async function load(tile: WayTile): Promise<void> {
    const key = keyOf(tile);
    const isFresh = performance.now() - (kept.get(key)?.readMs ?? Number.NEGATIVE_INFINITY) < freshMs;
    if (isFresh || asked.has(key)) return;
    asked.add(key);
    try {
      const coordinates = linesOf(await read(tile));
      kept.delete(key);
      const geometry = { type: 'MultiLineString', coordinates } as const;
      kept.set(key, { feature: { type: 'Feature', properties: {}, geometry }, readMs: performance.now() });
      for (const oldest of kept.keys()) if (kept.size > keptMost) kept.delete(oldest);
      if (!isEnded) show();
    } catch {
      // The next move asks again.
    } finally {
      asked.delete(key);
    }
  }
  const look = (): void => {
    show();
    for (const tile of wayTiles(map)) void load(tile);
  };
  map.on('moveend', look);
  look();
  return {
    /** After each new style of the map. */
    show,
    end() {
      isEnded = true;
      map.off('moveend', look);
    },
  };
}
