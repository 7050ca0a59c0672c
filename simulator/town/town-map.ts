// The map file of the town, as an operator puts one into the folder of maps.
import type { Feature, Position } from 'geojson';
import type { SeededEntropy } from '../core/random.ts';
import { cutTiles, writeArchive } from './map-file.ts';
import type { Town } from './town.ts';
import { townName } from './town-names.ts';
import { townLayers, townShapes } from './town-shapes.ts';

/** Its name in the folder of maps. */
export const townFile = `${townName.toLowerCase()}.pmtiles`;

const zooms = { zoomLeast: 5, zoomMost: 15 } as const;

function boundsOf(shapes: readonly Feature[]): readonly [number, number, number, number] {
  const places = shapes.flatMap(({ geometry }): Position[] =>
    geometry.type === 'Polygon' ? geometry.coordinates.flat() : [],
  );
  const [longitudes, latitudes] = [0, 1].map((at) => places.map((place) => place[at] ?? 0)) as [
    number[],
    number[],
  ];
  return [Math.min(...longitudes), Math.min(...latitudes), Math.max(...longitudes), Math.max(...latitudes)];
}

/** @param entropy for woods and buildings. @returns the file. */
export function drawTownMap(town: Town, entropy: SeededEntropy): Buffer {
  const shapes = townShapes(town, entropy);
  const options = { ...zooms, bounds: boundsOf(shapes.earth) };
  return writeArchive(cutTiles(shapes, options), {
    ...options,
    metadata: {
      name: townName,
      attribution: `${townName}: invented, for the practice fleet`,
      vector_layers: townLayers.map((id) => ({ id, fields: { kind: 'String', name: 'String' } })),
      // It holds no data of OpenStreetMap, unlike every other map with these layers.
      'fleetward:generated': true,
    },
  });
}
