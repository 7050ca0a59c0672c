// Map files as an operator drops them into the folder of maps, small: every tile is all park, with a road and a place across it.
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import { tileID, writeArchive } from '../../../simulator/town/map-file.ts';

const extent = 4096;
const kinds = { point: 1, line: 2, polygon: 3 } as const;
type Place = readonly [x: number, y: number];

function layerOf(
  kind: keyof typeof kinds,
  places: readonly Place[],
  tags: Readonly<Record<string, unknown>>,
) {
  const own = places.map(([x, y]): [number, number] => [x, y]);
  const feature =
    kind === 'point'
      ? { type: kinds.point, geometry: own, tags }
      : { type: kinds[kind], geometry: [own], tags };
  return { features: [feature] };
}

const whole = [
  [-64, -64],
  [extent + 64, -64],
  [extent + 64, extent + 64],
  [-64, extent + 64],
  [-64, -64],
] as const;

/** All park, in the layers of a Protomaps base map. */
export const parkTile = (): Uint8Array => {
  const layers = {
    earth: layerOf('polygon', whole, { kind: 'earth' }),
    landuse: layerOf('polygon', whole, { kind: 'park' }),
    roads: layerOf(
      'line',
      [
        [0, 1000],
        [extent, 1000],
      ],
      { kind: 'highway', name: 'Harbour Road', min_zoom: 0 },
    ),
    places: layerOf('point', [[2048, 3000]], {
      kind: 'locality',
      name: 'Old Port',
      'name:de': 'Alter Hafen',
      min_zoom: 0,
      population_rank: 14,
    }),
  };
  return fromGeojsonVt(layers, { version: 2, extent });
};

interface MapFileOptions {
  /** Zooms 0 to this one. */
  readonly zoomMost?: number;
  /** In the place of 1: vector tiles. */
  readonly tileType?: number;
  readonly metadata?: object;
}

const protomapsLayers = ['earth', 'landuse', 'roads', 'places'].map((id) => ({
  id,
  fields: { kind: 'String' },
}));

/** A map of the world. */
export function mapFile({ zoomMost = 3, tileType = 1, metadata }: MapFileOptions = {}): Buffer {
  const data = parkTile();
  const count = tileID(zoomMost + 1, 0, 0);
  const tiles = Array.from({ length: count }, (_unused, id) => ({ id, data }));
  return writeArchive(tiles, {
    zoomLeast: 0,
    zoomMost,
    tileType,
    bounds: [-180, -85.0511, 180, 85.0511],
    metadata: metadata ?? {
      name: 'Harbour',
      vector_layers: protomapsLayers,
      attribution: '<b>Harbour</b> &copy; Town',
    },
  });
}
