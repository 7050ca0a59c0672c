// The town of the practice fleet: what its map shows is what its vehicles drive on, and its map is a file as operators have them.
import { PMTiles, TileType, zxyToTileId } from 'pmtiles';
import { describe, expect, it } from 'vitest';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { tileID } from '../../simulator/town/map-file.ts';
import { createTown } from '../../simulator/town/town.ts';
import { drawTownMap } from '../../simulator/town/town-map.ts';
import { townShapes } from '../../simulator/town/town-shapes.ts';
import { createCityRoute } from '../../simulator/world/city-route.ts';
import { distanceM } from '../../src/core/geo/geo.ts';

const centre = { latitude: 44.42, longitude: -78.98 };
const townOf = (seed: string) => createTown(centre, createSeededEntropy(seed));
const shapesOf = (seed: string) => townShapes(townOf(seed), createSeededEntropy(seed));
const drawn = (seed: string): Buffer => drawTownMap(townOf(seed), createSeededEntropy(seed));

/** Metres from a place to the nearest of the lines, whose corners lie some 40 m apart. */
function farFrom(
  place: { latitude: number; longitude: number },
  lines: readonly (readonly number[])[][],
): number {
  let [nearest, along] = [Number.POSITIVE_INFINITY, Math.cos((place.latitude * Math.PI) / 180)];
  for (const line of lines)
    line.forEach(([toX = 0, toY = 0], at) => {
      const [fromX = toX, fromY = toY] = line[at - 1] ?? [];
      const [width, height] = [(toX - fromX) * along, toY - fromY];
      const [x, y] = [(place.longitude - fromX) * along, place.latitude - fromY];
      const share = Math.min(1, Math.max(0, (x * width + y * height) / (width ** 2 + height ** 2 || 1)));
      nearest = Math.min(nearest, Math.hypot(x - share * width, y - share * height) * 111_195);
    });
  return nearest;
}

describe.each(['a', 'b'])('the town %s', (seed) => {
  it('has under every vehicle a street of its map', () => {
    const roads = shapesOf(seed).roads.map(
      ({ geometry }) => (geometry as { coordinates: number[][] }).coordinates,
    );
    const streets = townOf(seed);
    let furthestM = 0;
    for (let vehicle = 0; vehicle < 5; vehicle += 1) {
      const entropy = createSeededEntropy(`${seed}/${vehicle}`);
      const route = createCityRoute({ centre, entropy, streets });
      for (let sM = 0; sM < route.roundM; sM += 37)
        furthestM = Math.max(furthestM, farFrom(route.place(sM), roads));
    }
    // Corners are cut by some metres, as drivers do.
    expect(furthestM).toBeLessThan(12);
  });

  it('is the same each time, and no other seed has it', () => {
    expect(drawn(seed).equals(drawn(seed))).toBe(true);
    expect(drawn(seed).equals(drawn(`${seed}2`))).toBe(false);
  });
});

describe('the map file of the town', () => {
  it('is read by the library that the console reads map files with', async () => {
    const file = drawn('a');
    const archive = new PMTiles({
      getKey: () => 'town',
      getBytes: (offset, length) =>
        Promise.resolve({ data: new Uint8Array(file.subarray(offset, offset + length)).buffer }),
    });
    const { tileType, minZoom, maxZoom, minLon, maxLon, minLat, maxLat } = await archive.getHeader();
    expect({ tileType, minZoom, maxZoom }).toEqual({ tileType: TileType.Mvt, minZoom: 5, maxZoom: 15 });
    const west = distanceM(centre, { ...centre, longitude: minLon });
    for (const edge of [
      { ...centre, longitude: maxLon },
      { ...centre, latitude: minLat },
      { ...centre, latitude: maxLat },
    ])
      expect(distanceM(centre, edge) / west).toBeCloseTo(1, 0);
    const side = 2 ** 14;
    const [x, y] = [
      Math.floor((centre.longitude / 360 + 0.5) * side),
      Math.floor((0.5 - Math.asinh(Math.tan((centre.latitude * Math.PI) / 180)) / (2 * Math.PI)) * side),
    ];
    const middle = await archive.getZxy(14, x, y);
    const text = Buffer.from(middle?.data ?? new ArrayBuffer(0)).toString('latin1');
    for (const name of ['roads', 'buildings', 'landuse', 'Market Square']) expect(text).toContain(name);
    expect(await archive.getZxy(14, x + 100, y)).toBeUndefined();
  });

  it('numbers its tiles as others do', () => {
    for (const [zoom, x, y] of [
      [0, 0, 0],
      [1, 1, 0],
      [5, 9, 22],
      [15, 9195, 11_853],
      [20, 1_048_575, 3],
    ] as const)
      expect(tileID(zoom, x, y)).toBe(zxyToTileId(zoom, x, y));
  });
});
