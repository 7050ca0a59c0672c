// The fleet's own ways on the map: which tiles are read for what is shown, and when.
import { describe, expect, it } from 'vitest';
import { createWays, type WayTile, wayTiles } from '../../broker/console/map/world/ways.ts';

type Bounds = readonly [west: number, south: number, east: number, north: number];

function fakeMap(zoom: number, bounds: Bounds) {
  const state = { zoom, bounds, moved: null as (() => void) | null };
  const map = {
    getZoom: () => state.zoom,
    getBounds: () => ({
      getWest: () => state.bounds[0],
      getSouth: () => state.bounds[1],
      getEast: () => state.bounds[2],
      getNorth: () => state.bounds[3],
    }),
    on: (_: string, moved: () => void) => void (state.moved = moved),
    off: () => void (state.moved = null),
  };
  return { state, map: map as unknown as Parameters<typeof createWays>[0] };
}

const town: Bounds = [-79, 44.4, -78.95, 44.44];
const keyOf = ({ zoom, x, y }: WayTile): string => `${zoom}/${x}/${y}`;
const settled = () => new Promise((done) => setTimeout(done));

describe('tiles of ways', () => {
  it.each<[string, number, Bounds, readonly string[]]>([
    ['none from afar', 5.9, town, []],
    ['one of zoom 8 over a region', 9.9, town, ['8/71/92']],
    ['those of zoom 12 over a town', 10, town, ['12/1149/1482', '12/1149/1483']],
    ['across the date line', 7, [179.5, 0.1, 180.5, 0.2], ['8/255/127', '8/0/127']],
    ['to the edge of the world', 6, [0, 84.9, 1, 89], ['8/128/0', '8/128/1']],
  ])('are %s', (_, zoom, bounds, wanted) => {
    expect(wayTiles(fakeMap(zoom, bounds).map).map(keyOf).toSorted()).toEqual(wanted.toSorted());
  });

  it('are never more than an answer can hold', () => {
    expect(wayTiles(fakeMap(10, [-180, -80, 180, 80]).map).length).toBe(60);
  });
});

describe('ways', () => {
  it('are read once a tile, drawn in degrees, and asked for again after a failure', async () => {
    const { map, state } = fakeMap(12, [-78.98, 44.42, -78.979, 44.421]);
    const asked: string[] = [];
    const drawn: unknown[] = [];
    let isDown = true;
    const ways = createWays(
      map,
      (tile) => {
        asked.push(keyOf(tile));
        return isDown
          ? Promise.reject(new Error('down'))
          : Promise.resolve([[-7_898_000, 4_442_000, 10, -5]]);
      },
      (features) => drawn.push(features.map(({ geometry }) => geometry)),
    );
    await settled();
    expect([asked.length, drawn.at(-1)]).toEqual([1, []]);
    isDown = false;
    state.moved?.();
    await settled();
    const coordinates = [
      [
        [-78.98, 44.42],
        [-78.9799, 44.41995],
      ],
    ];
    expect(drawn.at(-1)).toEqual([{ type: 'MultiLineString', coordinates }]);
    state.moved?.();
    await settled();
    expect(asked.length).toBe(2);
    ways.end();
    expect(state.moved).toBe(null);
  });
});
