// Ways: each street about once, however often it was driven, and nothing of a vehicle that stands.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metresBetween, type Place, tileOf, type Zoom } from '../../broker/features/ways/core/way-grid.ts';
import {
  decodeLines,
  encodeLines,
  type Line,
  lineOf,
  placesOf,
  simplify,
} from '../../broker/features/ways/core/way-lines.ts';
import { createMerging, createThinning } from '../../broker/features/ways/core/way-thinning.ts';
import { createTracks } from '../../broker/features/ways/core/way-tracks.ts';

/** Metres east and north of a town at 48 degrees, in units. */
const metre = { east: 1e5 / (111_195 * Math.cos((48 * Math.PI) / 180)), north: 1e5 / 111_195 };
const at = (eastM: number, northM: number): Place => [
  11_0e5 + eastM * metre.east,
  48e5 + northM * metre.north,
];
/** A drive from place to place, with a position at least each `everyM`, up to `errorM` off. */
function driven(corners: readonly Place[], everyM = 20, errorM = 0, seed = 1): readonly Place[] {
  let state = seed;
  const error = () => {
    state = (state * 48_271) % 2_147_483_647;
    return ((state / 2_147_483_647) * 2 - 1) * errorM;
  };
  return corners.slice(1).flatMap((to, index) => {
    const from = corners[index] ?? to;
    const count = Math.ceil(Math.hypot(...metresBetween(from, to)) / everyM);
    return Array.from({ length: count + 1 }, (_unused, step): Place => {
      const part = step / count;
      return [
        from[0] + part * (to[0] - from[0]) + error() * metre.east,
        from[1] + part * (to[1] - from[1]) + error() * metre.north,
      ];
    });
  });
}
const lengthOf = (lines: readonly Line[]): number =>
  lines.reduce((sum, line) => {
    const places = placesOf(line);
    return (
      sum +
      places.slice(1).reduce((m, to, index) => m + Math.hypot(...metresBetween(places[index] ?? to, to)), 0)
    );
  }, 0);
/** Metres that each drive adds, one after the other. */
function addedM(drives: readonly (readonly Place[])[], zoom: Zoom = 12): readonly number[] {
  const thinning = createThinning(zoom);
  return drives.map((places) => lengthOf(thinning.add({ period: 1, places }, null).map(({ line }) => line)));
}

const street = [at(0, 0), at(2000, 0), at(2000, 1500), at(300, 1500)];
const streetM = 2000 + 1500 + 1700;

describe('thinning', () => {
  it.each([
    ['the same way again', driven(street, 33, 8, 7), 0],
    ['the way back', driven(street.toReversed(), 20, 8, 3), 0],
    ['a street 60 m beside it', driven([at(0, -60), at(2000, -60)]), 2000],
    ['a street across it', driven([at(1000, -1000), at(1000, 1000)]), 2000],
    ['a street off it', driven([at(1000, 0), at(1000, -800)]), 800],
    ['sparse positions on the same way', driven([at(0, 0), at(2000, 0)], 700), 0],
  ])('adds of %s what is new of it', (_name, second, moreM) => {
    const [first = 0, more = 0] = addedM([driven(street, 20, 5), second]);
    expect(first / streetM).toBeGreaterThan(0.97);
    expect(first / streetM).toBeLessThan(1.1);
    expect(Math.abs(more - moreM)).toBeLessThanOrEqual(moreM === 0 ? 60 : 80);
  });

  it('keeps a street once at either zoom, in whatever order of days', () => {
    const streets = fc.shuffledSubarray(
      [0, 500, 1000, 1500, 2000].flatMap((m) => [
        [at(m, 0), at(m, 2000)],
        [at(0, m), at(2000, m)],
      ]),
      { minLength: 10 },
    );
    fc.assert(
      fc.property(streets, fc.integer({ min: 1, max: 1e6 }), (order, seed) => {
        const days = [...order, ...order].map((one, index) => driven(one, 25, 6, seed + index));
        const sum = addedM(days).reduce((all, m) => all + m, 0);
        expect(sum / 20_000).toBeGreaterThan(0.93);
        expect(sum / 20_000).toBeLessThan(1.12);
        // Streets 500 m apart are nearly one at 400 m.
        const overview = addedM(days, 8).reduce((all, m) => all + m, 0);
        expect(overview).toBeGreaterThan(4000);
        expect(overview).toBeLessThan(20_000);
      }),
      { numRuns: 30 },
    );
  });

  it('joins what several vehicles drove in one tile, and thins what is too much for an answer', () => {
    const middle = at(0, 0);
    const tile = tileOf(12, middle);
    if (tile === null) throw new Error('no tile');
    const lines = (merging: ReturnType<typeof createMerging>) => merging.lines();
    const twice = createMerging(tile);
    for (const seed of [1, 2]) {
      const line = lineOf(driven([at(0, 0), at(1500, 0)], 25, 5, seed));
      twice.add(line === null ? [] : [line]);
    }
    expect(lengthOf(lines(twice))).toBeLessThan(1650);
    const dense = createMerging(tile);
    let seed = 1;
    for (let m = -3000; m < 3000; m += 80) {
      seed += 1;
      const winding = driven([at(-3000, m), at(3000, m)], 15, 12, seed);
      const line = lineOf(winding);
      dense.add(line === null ? [] : [line]);
    }
    const numbers = lines(dense).reduce((sum, { length }) => sum + length, 0);
    expect(numbers).toBeGreaterThan(1000);
    expect(numbers).toBeLessThanOrEqual(20_000);
  });

  it.each([
    ['over the antimeridian', [179.98e5, 10e5], [180.02e5, 10e5], 2],
    ['beside it', [-179.98e5, 10e5], [-180.02e5, 10e5], 2],
    ['far in the north', [0.01e5, 84.9e5], [0.01e5, 84.95e5], 1],
    ['beyond the map', [10e5, 86e5], [10e5, 86.01e5], 0],
    ['at the pole', [10e5, 90e5], [10e5, 89.99e5], 0],
  ] as const)('cuts a way %s into tiles of the map', (_name, from, to, tiles) => {
    const found = createThinning(12).add({ period: 1, places: driven([from, to], 300) }, null);
    expect(new Set(found.map(({ key }) => key)).size).toBeGreaterThanOrEqual(tiles);
    expect(found.length === 0).toBe(tiles === 0);
    for (const { key, line } of found) {
      const [, , x = 0] = key.split('/').map(Number);
      const west = (x / 4096 - 0.5) * 360e5;
      for (const [longitude] of placesOf(line)) {
        expect(longitude).toBeGreaterThan(west - 1000);
        expect(longitude).toBeLessThan(west + 360e5 / 4096 + 1000);
      }
    }
  });
});

describe('tracks', () => {
  type Report = readonly [
    atS: number,
    eastM: number,
    northM: number,
    speed: number | null,
    line?: 'anew' | 'off',
  ];
  const tracksOf = (reports: readonly Report[]) => {
    const tracks = createTracks();
    for (const [atS, eastM, northM, speed, line = 'on'] of reports) {
      const [longitude, latitude] = at(eastM, northM);
      const point = { longitude: longitude / 1e5, latitude: latitude / 1e5 };
      tracks.add({ event: { timestampMs: atS * 1000, point, speed }, line });
    }
    return tracks.all().map(({ places }) => places.length);
  };
  const jitter = (speed: number | null) =>
    Array.from({ length: 500 }, (_unused, index): Report => {
      return [index * 10, Math.sin(index * 7) * 25, Math.cos(index * 11) * 25, speed];
    });

  it.each<[string, readonly Report[], readonly number[]]>([
    [
      'a drive',
      [
        [0, 0, 0, 0],
        [30, 400, 0, 50],
        [60, 800, 0, 50],
        [90, 900, 0, 0],
      ],
      [4],
    ],
    [
      'a gap in time',
      [
        [0, 0, 0, 50],
        [61, 800, 0, 50],
        [90, 1200, 0, 50],
      ],
      [2],
    ],
    [
      'a gap in place',
      [
        [0, 0, 0, 90],
        [50, 1600, 0, 90],
        [60, 1900, 0, 90],
      ],
      [2],
    ],
    [
      'a place that is believed anew',
      [
        [0, 0, 0, 50],
        [10, 200, 0, 50, 'anew'],
        [20, 400, 0, 50],
      ],
      [2],
    ],
    [
      'a position that is not believed',
      [
        [0, 0, 0, 50],
        [10, 0, 900, 50, 'off'],
        [20, 200, 0, 50],
      ],
      [2],
    ],
    [
      'a stop on the way',
      [
        [0, 0, 0, 50],
        [30, 300, 0, 0],
        [60, 310, 9, 0],
        [90, 600, 0, 40],
      ],
      [3],
    ],
    ['a vehicle that stands and jitters', jitter(0), []],
    ['one whose receiver reports a creep', jitter(3), []],
    ['one that reports no speed', jitter(null), []],
    [
      'a drive without speeds',
      [
        [0, 0, 0, null],
        [20, 250, 0, null],
        [40, 500, 0, null],
      ],
      [3],
    ],
  ])('of %s hold its places', (_name, reports, places) => {
    expect(tracksOf(reports)).toEqual(places);
  });
});

describe('lines', () => {
  const place = fc.tuple(
    fc.double({ min: -181e5, max: 181e5, noNaN: true }),
    fc.double({ min: -90e5, max: 90e5, noNaN: true }),
  );

  it('are decoded as they were encoded, within 0.00001 degrees', () => {
    fc.assert(
      fc.property(fc.array(fc.array(place, { minLength: 2, maxLength: 20 }), { maxLength: 10 }), (ways) => {
        const kept = ways.flatMap((places) => {
          const line = lineOf(places);
          return line === null ? [] : [{ places, line: line.map((one) => one || 0) }];
        });
        const lines = kept.map(({ line }) => line);
        expect(decodeLines(encodeLines(lines))).toEqual(lines);
        for (const { places, line } of kept) {
          const back = placesOf(line);
          for (const [longitude, latitude] of places)
            expect(back.some(([x, y]) => Math.abs(x - longitude) <= 1 && Math.abs(y - latitude) <= 1)).toBe(
              true,
            );
        }
      }),
    );
    expect(() => decodeLines(encodeLines([[1, 2, 3, 4]]).subarray(0, 3))).toThrow(RangeError);
  });

  it('lose no place that lies off the line, and those that lie on it', () => {
    const bend = driven([at(0, 0), at(1000, 0), at(1000, 1000)], 20, 1);
    const kept = simplify(bend, 3);
    expect(kept.length).toBeLessThan(6);
    expect(kept.some((one) => Math.hypot(...metresBetween(one, at(1000, 0))) < 5)).toBe(true);
  });
});
