// The index over zones against looking at every zone: the same answer everywhere on Earth, at borders, poles, the antimeridian.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Point } from '../../src/core/geo/geo.ts';
import {
  type Box,
  type Zone,
  type ZoneType,
  zoneBox,
  zoneContains,
  zoneDepthM,
} from '../../src/core/geo/geozone.ts';
import { zoneClearanceM } from '../../src/core/zones/zone-clearance.ts';
import { createZoneIndex, zonesNear } from '../../src/core/zones/zone-index.ts';
import { createZones } from '../../src/core/zones/zone-set.ts';
import { seededRandom } from '../support/serial/nmea-lines.ts';
import { away, zone } from '../support/vehicle/zone-drive.ts';

const onEarth = (longitude: number): number => ((((longitude + 180) % 360) + 360) % 360) - 180;
const clamp = ({ latitude, longitude }: Point): Point => ({
  latitude: Math.max(-90, Math.min(90, latitude)),
  longitude: onEarth(longitude),
});
const degreesIn = (least: number, most: number) =>
  fc.double({ min: least, max: most, noNaN: true, noDefaultInfinity: true });
/** Places where maps break, as often as others. */
const place: fc.Arbitrary<Point> = fc
  .tuple(
    fc.oneof(degreesIn(-90, 90), degreesIn(89.5, 90), degreesIn(-90, -89.5), fc.constantFrom(90, -90, 0.001)),
    fc.oneof(
      degreesIn(-180, 180),
      degreesIn(179.5, 180),
      degreesIn(-180, -179.5),
      fc.constantFrom(180, -180, 0.001),
    ),
  )
  .map(([latitude, longitude]) => ({ latitude, longitude }));
const zones = fc
  .tuple(
    place,
    fc.array(
      fc.record({
        type: fc.constantFrom<ZoneType>(0, 1, 2, 3, 4),
        radiusM: fc.oneof(fc.integer({ min: 5, max: 500 }), fc.integer({ min: 5, max: 30_000 })),
        offsets: fc.array(fc.tuple(degreesIn(-1, 1), degreesIn(-3, 3)), { minLength: 1, maxLength: 8 }),
        scale: fc.constantFrom(0.001, 0.1, 1, 60),
      }),
      { minLength: 1, maxLength: 40 },
    ),
  )
  .map(([home, shapes]): readonly Zone[] =>
    shapes.map(({ type, radiusM, offsets, scale }) => ({
      type,
      radiusM,
      points: offsets.map(([north, east]) =>
        clamp({ latitude: home.latitude + north * scale, longitude: home.longitude + east * scale }),
      ),
    })),
  );

const holds = (box: Box | null, { latitude, longitude }: Point): boolean => {
  if (box === null || latitude < box.south || latitude > box.north) return false;
  const at = longitude === 180 ? -180 : longitude;
  if (box.west <= box.east) return at >= box.west && at <= box.east;
  return at >= box.west || at <= box.east;
};
const sorted = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

/** Vertices, places on and beside borders, corners of boxes, and others. */
function probes(all: readonly Zone[], others: readonly Point[]): readonly Point[] {
  const near = all.slice(0, 6).flatMap((one) => {
    const box = zoneBox(one);
    const corners =
      box === null
        ? []
        : [box.west, box.east].flatMap((longitude) =>
            [box.south, box.north].map((latitude) => ({ latitude, longitude })),
          );
    const beside = one.points.flatMap((point) => [
      point,
      clamp(away(point, one.radiusM, 0)),
      clamp(away(point, 0, -one.radiusM * 0.999)),
    ]);
    return [...corners, ...beside];
  });
  return [...near, ...others];
}

describe('the index', () => {
  it('finds exactly the boxes that hold a place, each once, and so every zone that holds it', () => {
    fc.assert(
      fc.property(zones, fc.array(place, { maxLength: 20 }), (all, others) => {
        const boxes = all.map(zoneBox);
        const index = createZoneIndex(boxes);
        const wrong = probes(all, others).filter((at) => {
          const found = sorted(zonesNear(index, at, 10_000));
          const expected = boxes.flatMap((box, number) => (holds(box, at) ? [number] : []));
          const isWhole = all.every((one, number) => found.includes(number) || !zoneContains(one, at));
          return found.join() !== expected.join() || !isWhole;
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('is right over many levels', () => {
    const random = seededRandom(7);
    const all = Array.from({ length: 5000 }, (_value, at): Zone => {
      const here = { latitude: random() * 180 - 90, longitude: random() * 360 - 180 };
      return {
        type: at % 2 === 0 ? 0 : 2,
        radiusM: 5 + random() ** 4 * 29_995,
        points: [here, clamp(away(here, 900, 900))],
      };
    });
    const boxes = all.map(zoneBox);
    const index = createZoneIndex(boxes);
    for (let times = 0; times < 400; times += 1) {
      const near = all[Math.floor(random() * all.length)]?.points[0] ?? { latitude: 0, longitude: 0 };
      const at = times % 2 === 0 ? near : { latitude: random() * 180 - 90, longitude: random() * 360 - 180 };
      const expected = boxes.flatMap((box, number) => (holds(box, at) ? [number] : []));
      expect(sorted(zonesNear(index, at, 10_000))).toEqual(expected);
    }
    // 36 bytes a box and the upper levels.
    expect(index.boxes.byteLength + index.zones.byteLength).toBeLessThan(40 * all.length + 4000);
  });

  it('of no zones, and of zones that hold nothing, finds nothing', () => {
    const nowhere: Zone = { type: 4, radiusM: 100, points: [{ latitude: 1, longitude: 1 }] };
    expect(zonesNear(createZoneIndex([]), { latitude: 0, longitude: 0 }, 10)).toEqual([]);
    expect(
      zonesNear(
        createZones([zone('poi', nowhere.points, nowhere)]).index,
        nowhere.points[0] ?? { latitude: 1, longitude: 1 },
        10,
      ),
    ).toEqual([]);
  });

  it('gives no more than asked for where thousands of zones lie at one place', () => {
    const here = { latitude: 43.65, longitude: -79.34 };
    const set = createZones(Array.from({ length: 3000 }, (_value, at) => zone(`z${at}`, [here])));
    expect(zonesNear(set.index, here, 256)).toHaveLength(256);
    expect(new Set(zonesNear(set.index, here, 10_000)).size).toBe(3000);
  });
});

describe('the room of a zone', () => {
  const here = { latitude: 48, longitude: 11 };
  const box = (northM: number, eastM: number): readonly Point[] => [
    here,
    away(here, 0, eastM),
    away(here, northM, eastM),
    away(here, northM, 0),
  ];

  it('is a depth that some place in it has', () => {
    fc.assert(
      fc.property(
        degreesIn(20, 800),
        degreesIn(20, 800),
        fc.constantFrom<ZoneType>(0, 1, 2, 3),
        (northM, eastM, type) => {
          const one: Zone = { type, radiusM: 60, points: box(northM, eastM) };
          const deepest = Math.max(
            ...[0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98].flatMap((north) =>
              [0, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98].map((east) =>
                zoneDepthM(one, away(here, north * northM, east * eastM)),
              ),
            ),
            ...one.points.map((point) => zoneDepthM(one, point)),
          );
          expect(zoneClearanceM(one)).toBeGreaterThan(4);
          expect(zoneClearanceM(one) / 2).toBeLessThanOrEqual(deepest * 1.01);
        },
      ),
      { numRuns: 200 },
    );
  });
});
