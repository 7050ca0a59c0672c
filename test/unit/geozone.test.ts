// Whether a point is in a zone: each type against a second way to find out, everywhere on Earth, and the laws that hold
// whatever the zone (order of points, place on the globe, box, depth). Degenerate zones hold nothing and break nothing.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { distanceM, earthRadiusM, type Point, radians } from '../../src/core/geo/geo.ts';
import { eastOf, edgeDistanceM } from '../../src/core/geo/geo-edge.ts';
import {
  type Box,
  isSetPoint,
  type Zone,
  type ZoneType,
  zoneBox,
  zoneContains,
  zoneDepthM,
  zoneFault,
} from '../../src/core/geo/geozone.ts';

const at = (latitude: number, longitude: number): Point => ({ latitude, longitude });
const zone = (type: ZoneType, points: readonly Point[], radiusM = 500): Zone => ({ type, radiusM, points });
const norm = (longitude: number): number => ((((longitude + 180) % 360) + 360) % 360) - 180;
const moved = ({ latitude, longitude }: Point, east: number): Point => at(latitude, norm(longitude + east));

const degreesIn = (least: number, most: number) =>
  fc.double({ min: least, max: most, noNaN: true, noDefaultInfinity: true });
/** Coordinates as the service keeps them. */
const kept = ({ latitude, longitude }: Point): Point =>
  at(Math.round(latitude * 1e5) / 1e5, Math.round(longitude * 1e5) / 1e5);
const anywhere = (most = 90) =>
  fc
    .tuple(degreesIn(-most, most), degreesIn(-180, 180))
    .map(([latitude, longitude]) => kept(at(latitude, longitude)))
    .filter(isSetPoint);
const degreeM = (earthRadiusM * Math.PI) / 180;

/** A point some way from another, on a flat map about it; good for a few hundred km away from the poles. */
const away = (from: Point, northM: number, eastM: number): Point =>
  at(
    from.latitude + northM / degreeM,
    norm(from.longitude + eastM / (degreeM * Math.cos(radians(from.latitude)))),
  );
const offset = (mostM: number) => fc.tuple(degreesIn(-mostM, mostM), degreesIn(-mostM, mostM));
const near = (mostM: number, mostLatitude = 80) =>
  fc
    .tuple(anywhere(mostLatitude), fc.array(offset(mostM), { minLength: 2, maxLength: 9 }))
    .map(([home, offsets]) => offsets.map(([north, east]) => away(home, north, east)))
    .filter((points) => points.every((point) => isSetPoint(point) && Math.abs(point.latitude) <= 90));

/** Angle between two directions in space: a second way to the distance, without haversines. */
function chordM(a: Point, b: Point): number {
  const xyz = ({ latitude, longitude }: Point) => {
    const [phi, lambda] = [radians(latitude), radians(longitude)];
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)] as const;
  };
  const [one, other] = [xyz(a), xyz(b)];
  const chord = Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
  return 2 * earthRadiusM * Math.asin(Math.min(1, chord / 2));
}

/** Points along an edge, straight in longitude and latitude. */
const along = (from: Point, to: Point, count: number): Point[] =>
  Array.from({ length: count + 1 }, (_unused, index) => {
    const part = index / count;
    return at(
      from.latitude + part * (to.latitude - from.latitude),
      norm(from.longitude + part * eastOf(from, to)),
    );
  });

const holds = ({ south, north, west, east }: Box, { latitude, longitude }: Point): boolean => {
  const here = longitude === 180 ? -180 : longitude;
  const isBetween = west <= east ? here >= west && here <= east : here >= west || here <= east;
  return latitude >= south && latitude <= north && isBetween;
};

describe('circles', () => {
  test('hold what lies within the radius of any point, everywhere on Earth', () => {
    fc.assert(
      fc.property(near(40_000, 90), fc.integer({ min: 5, max: 30_000 }), ([probe, ...points], radiusM) => {
        if (probe === undefined) return;
        const nearest = Math.min(...points.map((point) => chordM(probe, point)));
        fc.pre(Math.abs(nearest - radiusM) > 0.01);
        expect(zoneContains(zone(0, points, radiusM), probe)).toBe(nearest < radiusM);
      }),
    );
  });

  test('reach across a pole and the antimeridian', () => {
    const pole = zone(0, [at(89.9, 0)], 30_000);
    expect(zoneContains(pole, at(89.9, 180))).toBe(true);
    expect(zoneContains(pole, at(89.9, -90))).toBe(true);
    expect(zoneContains(pole, at(89.6, 0))).toBe(false);
    expect(zoneContains(zone(0, [at(10, 179.99)], 5000), at(10, -179.99))).toBe(true);
  });

  test('include their border', () => {
    const [centre, border] = [at(43.65, -79.35), at(43.66, -79.35)];
    const radiusM = distanceM(centre, border);
    expect(zoneContains(zone(0, [centre], radiusM), border)).toBe(true);
  });
});

describe('a rectangle', () => {
  test('is the same as a comparison of coordinates away from the antimeridian', () => {
    fc.assert(
      fc.property(fc.array(anywhere(89), { minLength: 2, maxLength: 8 }), anywhere(89), (all, other) => {
        const points = all.map(({ latitude, longitude }) => kept(at(latitude, longitude * 0.49)));
        // Half of them on the border.
        const corner = at(points[0]?.latitude ?? 0, points[1]?.longitude ?? 0);
        const probe = other.longitude < 0 ? corner : kept(at(other.latitude, other.longitude * 0.49));
        fc.pre(zoneFault(zone(1, points)) === null && points.every(isSetPoint));
        const [lats, lngs] = [points.map((p) => p.latitude), points.map((p) => p.longitude)];
        const isInside =
          probe.latitude >= Math.min(...lats) &&
          probe.latitude <= Math.max(...lats) &&
          probe.longitude >= Math.min(...lngs) &&
          probe.longitude <= Math.max(...lngs);
        expect(zoneContains(zone(1, points), probe)).toBe(isInside);
      }),
    );
  });

  test('crosses the antimeridian where that is the shorter way', () => {
    const fiji = zone(1, [at(-15, 177), at(-20, -178)]);
    expect(zoneContains(fiji, at(-17, 179))).toBe(true);
    expect(zoneContains(fiji, at(-17, -179))).toBe(true);
    expect(zoneContains(fiji, at(-17, 180))).toBe(true);
    expect(zoneContains(fiji, at(-17, -180))).toBe(true);
    expect(zoneContains(fiji, at(-17, 0))).toBe(false);
    expect(zoneContains(fiji, at(-17, 176))).toBe(false);
  });

  test('that is wider than half the Earth is not decided, and holds nothing', () => {
    const wide = zone(1, [at(0, -100), at(10, 0), at(0, 100)]);
    expect(zoneFault(wide)).toContain('180');
    expect(zoneContains(wide, at(5, 0))).toBe(false);
  });

  test('holds a pole by its latitude alone', () => {
    const cap = zone(1, [at(90, 20), at(80, 40)]);
    expect(zoneContains(cap, at(90, -120))).toBe(true);
    expect(zoneContains(cap, at(85, -120))).toBe(false);
  });
});

describe('a corridor', () => {
  test('holds what lies within the radius of the line, measured point by point along it', () => {
    fc.assert(
      fc.property(near(60_000), fc.integer({ min: 5, max: 30_000 }), ([probe, ...points], radiusM) => {
        if (probe === undefined) return;
        const line = points.slice(1).flatMap((to, index) => along(points[index] ?? to, to, 400));
        const distance = Math.min(...[...line, ...points].map((point) => chordM(probe, point)));
        // 400 steps of an edge of at most 170 km: up to 213 m beside the nearest place on it.
        fc.pre(Math.abs(distance - radiusM) > 250);
        expect(zoneContains(zone(2, points, radiusM), probe)).toBe(distance < radiusM);
      }),
    );
  });

  test('keeps its width to 0.2 % from the equator to 85 degrees, and never comes too near', () => {
    fc.assert(
      fc.property(
        anywhere(85),
        offset(100_000),
        offset(30_000),
        degreesIn(0, 1),
        (from, [north, east], [dn, de], part) => {
          const to = away(from, north, east);
          fc.pre(Math.abs(to.latitude) < 85.5 && Math.hypot(north, east) > 100);
          const base = at(
            from.latitude + part * (to.latitude - from.latitude),
            norm(from.longitude + part * eastOf(from, to)),
          );
          const probe = away(base, dn, de);
          const brute = Math.min(...along(from, to, 4000).map((point) => chordM(probe, point)));
          const found = edgeDistanceM(probe, [from, to]);
          // The brute way is too long by what lies between two of its points.
          const slackM = 60;
          expect(found).toBeGreaterThan(brute - slackM);
          expect(found).toBeLessThan(brute * 1.002 + 0.01);
        },
      ),
    );
  });

  test('of one point is a circle, and goes the shorter way round the Earth', () => {
    expect(zoneContains(zone(2, [at(10, 20)], 1000), at(10.005, 20))).toBe(true);
    const crossing = zone(2, [at(0.5, 179.5), at(0.5, -179.5)], 1000);
    expect(zoneContains(crossing, at(0.5, 180))).toBe(true);
    expect(zoneContains(crossing, at(0.5, -179.9))).toBe(true);
    expect(zoneContains(crossing, at(0.5, 0))).toBe(false);
  });

  test('follows the parallel as maps draw it, not the great circle', () => {
    // Half-way along 10 degrees at 60 north the great circle is 12 km further north.
    const east = zone(2, [at(60, 0), at(60, 10)], 1000);
    expect(zoneContains(east, at(60, 5))).toBe(true);
    expect(zoneContains(east, at(60.1, 5))).toBe(false);
  });
});

/** A ring around a home: at each angle as far as `reach` says, so that inside is a matter of polar coordinates. */
const star = fc
  .tuple(
    fc.tuple(degreesIn(-70, 70), degreesIn(-180, 180)),
    fc.array(degreesIn(0.1, 1), { minLength: 3, maxLength: 8 }),
    fc.tuple(degreesIn(0.001, 10), degreesIn(0, 2 * Math.PI), degreesIn(0, 1.2)),
  )
  .map(([[latitude, longitude], reaches, [size, probeAngle, probeReach]]) => {
    const angle = (index: number) => (2 * Math.PI * index) / reaches.length;
    const place = (theta: number, reach: number): Point =>
      at(latitude + size * reach * Math.sin(theta), norm(longitude + size * reach * Math.cos(theta)));
    const points = reaches.map((reach, index) => place(angle(index), reach));
    // Where the ray at the probe's angle leaves the ring.
    const index = Math.min(reaches.length - 1, Math.floor((probeAngle / (2 * Math.PI)) * reaches.length));
    const [r1, r2] = [reaches[index] ?? 0, reaches[(index + 1) % reaches.length] ?? 0];
    const [t1, t2] = [angle(index), angle(index + 1)];
    const border =
      (r1 * r2 * Math.sin(t2 - t1)) / (r1 * Math.sin(probeAngle - t1) + r2 * Math.sin(t2 - probeAngle));
    return {
      points,
      home: at(latitude, longitude),
      probe: place(probeAngle, probeReach),
      gap: border - probeReach,
    };
  })
  .filter(({ points }) => points.every(isSetPoint));

describe('a polygon', () => {
  test('holds what polar coordinates say it holds, across the antimeridian too', () => {
    fc.assert(
      fc.property(star, ({ points, home, probe, gap }) => {
        fc.pre(Math.abs(gap) > 1e-6);
        expect(zoneContains(zone(3, points), home)).toBe(true);
        expect(zoneContains(zone(3, points), probe)).toBe(gap > 0);
      }),
      { numRuns: 1000 },
    );
  });

  test('is the same from whichever corner and whichever way round it is written', () => {
    fc.assert(
      fc.property(star, fc.nat(7), ({ points, probe, gap }, turn) => {
        fc.pre(Math.abs(gap) > 1e-6);
        const turned = [...points.slice(turn % points.length), ...points.slice(0, turn % points.length)];
        const inside = zoneContains(zone(3, points), probe);
        expect(zoneContains(zone(3, turned), probe)).toBe(inside);
        expect(zoneContains(zone(3, turned.toReversed()), probe)).toBe(inside);
        expect(zoneContains(zone(3, [...points, ...points.slice(0, 1)]), probe)).toBe(inside);
      }),
    );
  });

  test('that crosses itself holds by the even-odd rule: a bow tie has two halves', () => {
    const tie = zone(3, [at(1, 1), at(3, 3), at(3, 1), at(1, 3)]);
    expect(zoneContains(tie, at(1.2, 2))).toBe(true);
    expect(zoneContains(tie, at(2.8, 2))).toBe(true);
    expect(zoneContains(tie, at(2, 1.2))).toBe(false);
    expect(zoneContains(tie, at(2, 2.8))).toBe(false);
  });

  test('counts a corner on the meridian of the point once', () => {
    const diamond = zone(3, [at(1, 2), at(2, 3), at(3, 2), at(2, 1)]);
    expect(zoneContains(diamond, at(2, 2))).toBe(true);
    expect(zoneContains(diamond, at(0.5, 2))).toBe(false);
    expect(zoneContains(diamond, at(3.5, 2))).toBe(false);
    const notch = zone(3, [at(1, 1), at(1, 3), at(3, 3), at(2, 2), at(3, 1)]);
    expect(zoneContains(notch, at(1.5, 2))).toBe(true);
    expect(zoneContains(notch, at(2.5, 2))).toBe(false);
  });

  test('around a pole holds the pole that its corners are nearer to', () => {
    const ring = (latitude: number) => [-135, -45, 45, 135].map((longitude) => at(latitude, longitude));
    for (const longitude of [-180, -135, -90, 0, 45, 100, 180]) {
      expect(zoneContains(zone(3, ring(70)), at(80, longitude))).toBe(true);
      expect(zoneContains(zone(3, ring(70)), at(60, longitude))).toBe(false);
      expect(zoneContains(zone(3, ring(-70)), at(-80, longitude))).toBe(true);
      expect(zoneContains(zone(3, ring(-70)), at(-60, longitude))).toBe(false);
      expect(zoneContains(zone(3, ring(70)), at(90, longitude))).toBe(true);
      expect(zoneContains(zone(3, ring(70)), at(-90, longitude))).toBe(false);
    }
  });

  test('with an edge of exactly half a turn does not take it over the antimeridian', () => {
    const half = zone(3, [at(10, -90), at(10, 90), at(40, 0)]);
    expect(zoneContains(half, at(15, 0))).toBe(true);
    expect(zoneContains(half, at(15, 180))).toBe(false);
  });
});

const zones = fc
  .tuple(fc.constantFrom(0, 1, 2, 3), near(50_000, 88), fc.integer({ min: 5, max: 30_000 }), offset(80_000))
  .map(([type, points, radiusM, [north, east]]) => ({
    zone: zone(type as ZoneType, points, radiusM),
    probe: away(points[0] ?? at(0, 0), north, east),
  }))
  .filter(({ zone: { points }, probe }) => [probe, ...points].every((p) => Math.abs(p.latitude) <= 90));

describe('every zone', () => {
  test('is the same anywhere along its parallel', () => {
    fc.assert(
      fc.property(zones, degreesIn(-180, 180), (one, east) => {
        fc.pre(Math.abs(zoneDepthM(one.zone, one.probe)) > 1);
        const shifted = { ...one.zone, points: one.zone.points.map((point) => moved(point, east)) };
        fc.pre(shifted.points.every(isSetPoint));
        expect(zoneContains(shifted, moved(one.probe, east))).toBe(zoneContains(one.zone, one.probe));
      }),
    );
  });

  test('is the same mirrored at the equator', () => {
    fc.assert(
      fc.property(zones, (one) => {
        fc.pre(Math.abs(zoneDepthM(one.zone, one.probe)) > 1);
        const flip = ({ latitude, longitude }: Point) => at(-latitude, longitude);
        const mirrored = { ...one.zone, points: one.zone.points.map(flip) };
        expect(zoneContains(mirrored, flip(one.probe))).toBe(zoneContains(one.zone, one.probe));
      }),
    );
  });

  test('does not mind points that are not set', () => {
    fc.assert(
      fc.property(zones, fc.nat(8), (one, place) => {
        const { points } = one.zone;
        const padded = [...points.slice(0, place), at(0, 0), at(0.00005, -0.0001), ...points.slice(place)];
        expect(zoneDepthM({ ...one.zone, points: padded }, one.probe)).toBe(zoneDepthM(one.zone, one.probe));
      }),
    );
  });

  test('has a depth that is positive inside and negative outside, and changes no faster than one moves', () => {
    fc.assert(
      fc.property(zones, offset(500), (one, [north, east]) => {
        const depthM = zoneDepthM(one.zone, one.probe);
        fc.pre(Number.isFinite(depthM) && Math.abs(one.probe.latitude) < 80);
        if (Math.abs(depthM) > 0.01) expect(depthM > 0).toBe(zoneContains(one.zone, one.probe));
        const next = away(one.probe, north, east);
        const movedM = distanceM(one.probe, next);
        const nextM = zoneDepthM(one.zone, next);
        expect(Math.abs(nextM - depthM)).toBeLessThan(movedM * 1.02 + Math.abs(depthM) * 0.01 + 1);
      }),
    );
  });

  test('lies within its box', () => {
    fc.assert(
      fc.property(zones, (one) => {
        const box = zoneBox(one.zone);
        if (zoneContains(one.zone, one.probe)) expect(box !== null && holds(box, one.probe)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('lies within its box at the poles, on the antimeridian, and on its border', () => {
    const probes = [-180, -179.99, -90, 0, 90, 179.99, 180].flatMap((longitude) =>
      [-90, -89.9, -10, 0.3, 10, 89.9, 90].map((latitude) => at(latitude, longitude)),
    );
    const odd = [
      zone(0, [at(89.9, 5)], 30_000),
      zone(0, [at(-89.9, 5), at(0.3, 180)], 30_000),
      zone(1, [at(-10, 170), at(10, -170)]),
      zone(1, [at(90, 20), at(80, 40)]),
      zone(2, [at(10, 179.9), at(10, -179.9)], 5),
      zone(3, [at(70, -135), at(70, -45), at(70, 45), at(70, 135)]),
      zone(3, [at(-70, 135), at(-70, 45), at(-70, -45), at(-70, -135)]),
      zone(3, [at(-10, 179.98), at(10, 179.98), at(10, -179.98), at(-10, -179.98)]),
    ];
    for (const one of odd) {
      const box = zoneBox(one);
      expect(box).not.toBeNull();
      for (const probe of probes) {
        if (zoneContains(one, probe))
          expect([one, probe, box !== null && holds(box, probe)]).toEqual([one, probe, true]);
      }
    }
  });

  test('of half a kilometre has a box of about that size', () => {
    const box = zoneBox(zone(0, [at(60, 10)], 500)) ?? expect.fail('no box');
    expect(distanceM(at(box.south, 10), at(box.north, 10))).toBeCloseTo(1000, 0);
    expect(distanceM(at(60, box.west), at(60, box.east))).toBeCloseTo(1000, 0);
  });
});

describe('a zone in which nothing can be', () => {
  const unset = Array.from({ length: 8 }, () => at(0, 0));
  const here = at(43.65, -79.35);
  test.each([
    ['without any point', zone(0, unset), 'no point'],
    ['a rectangle of one point', zone(1, [here, here]), 'two different'],
    ['a polygon of two points', zone(3, [here, at(44, -79), here]), 'three different'],
  ])('says why: %s', (_name, one, why) => {
    expect(zoneFault(one)).toContain(why);
    expect(zoneContains(one, here)).toBe(false);
    expect(zoneDepthM(one, here)).toBe(Number.NEGATIVE_INFINITY);
    expect(zoneBox(one)).toBeNull();
  });

  test('is a point of interest by its nature', () => {
    const cafe = zone(4, [here], 500);
    expect(zoneFault(cafe)).toBeNull();
    expect([zoneContains(cafe, here), zoneBox(cafe)]).toEqual([false, null]);
  });

  test('is a polygon whose corners stand in one line, but for the line itself', () => {
    const line = zone(3, [at(10, 10), at(11, 11), at(12, 12)]);
    for (const probe of [at(10.5, 10.6), at(11.5, 11.4), at(9, 9), at(13, 13), at(11, 12)]) {
      expect(zoneContains(line, probe)).toBe(false);
    }
  });
});
