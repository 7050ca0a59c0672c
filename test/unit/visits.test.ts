// Visits: whether a vehicle was within a circle by its positions and the ways between them, and the cells that hold every place of a circle.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockOf, momentOfFields, questionOf } from '../../broker/console/state/visits/visit-view.ts';
import { type Visit, visitLimits, visitOf } from '../../broker/features/visits/core/visit.ts';
import { cellsOf, cellsOfWay, coverOf } from '../../broker/features/visits/core/visit-cells.ts';
import { slotsOf, spansOf } from '../../broker/features/visits/core/visit-times.ts';
import { distanceM, earthRadiusM, type Point, radians } from '../../src/core/geo/geo.ts';

const degrees = (angle: number): number => (angle * 180) / Math.PI;

/** The place at a distance from another one, on the sphere. */
function awayFrom({ latitude, longitude }: Point, bearing: number, farM: number): Point {
  const [phi, delta] = [radians(latitude), farM / earthRadiusM];
  const to = Math.asin(Math.sin(phi) * Math.cos(delta) + Math.cos(phi) * Math.sin(delta) * Math.cos(bearing));
  const east = Math.atan2(
    Math.sin(bearing) * Math.sin(delta) * Math.cos(phi),
    Math.cos(delta) - Math.sin(phi) * Math.sin(to),
  );
  return {
    latitude: degrees(to),
    longitude: ((((longitude + degrees(east) + 180) % 360) + 360) % 360) - 180,
  };
}

const anywhere = fc.record({
  latitude: fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, 0, 89.9999, 90)),
  longitude: fc.oneof(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.constantFrom(-180, 0, 179.9999, 180),
  ),
});
const bearings = fc.double({ min: 0, max: 2 * Math.PI, noNaN: true });
const radii = fc.integer({ min: visitLimits.radiusM.least, max: visitLimits.radiusM.most });

const span = { fromMs: 0, toMs: 3_600_000 };

/** Whether the index finds a way for a circle. */
function isFound(centre: Point, radiusM: number, [from, to]: readonly [Point, Point]): boolean {
  const cells = cellsOf(coverOf(centre, radiusM));
  return cellsOfWay(from, to).some((cell) => cells.some(({ first, last }) => cell >= first && cell <= last));
}

describe('the cells of a circle', () => {
  it('hold every place of it, over the poles and the 180th meridian too', () => {
    fc.assert(
      fc.property(
        anywhere,
        bearings,
        radii,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (centre, bearing, radiusM, part) => {
          const place = awayFrom(centre, bearing, radiusM * part);
          expect(isFound(centre, radiusM, [place, place])).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('are some of those of every way that crosses it, and a way has few', () => {
    fc.assert(
      fc.property(
        anywhere,
        fc.tuple(bearings, bearings),
        fc.tuple(radii, fc.double({ min: 0, max: 1, noNaN: true })),
        fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 0, max: 1000 })),
        (centre, [bearing, course], [radiusM, part], [beforeM, afterM]) => {
          const place = awayFrom(centre, bearing, radiusM * part);
          // At the poles themselves a course says nothing.
          fc.pre(Math.abs(place.latitude) < 89.9999);
          const way = [awayFrom(place, course + Math.PI, beforeM), awayFrom(place, course, afterM)] as const;
          expect(isFound(centre, radiusM, way)).toBe(true);
          expect(cellsOfWay(...way).length).toBeLessThanOrEqual(10);
        },
      ),
      { numRuns: 4000 },
    );
  });

  it('are few, away from the poles', () => {
    expect(cellsOf(coverOf({ latitude: 60, longitude: 24 }, 200)).length).toBeLessThanOrEqual(9);
  });
});

describe('the slots of a time', () => {
  const day = 20_000 * 86_400_000;

  it('hold all of it, of at most two hours for a way, and nothing that is 2 minutes away', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 7_200_000 }),
        fc.integer({ min: 0, max: visitLimits.gapMs }),
        (afterMs, lengthMs) => {
          const way = { fromMs: day + afterMs, toMs: day + afterMs + lengthMs };
          const hours = slotsOf(way);
          expect(hours.length).toBeLessThanOrEqual(2);
          const [held, ...others] = spansOf(hours, { fromMs: 0, toMs: 2 * day });
          expect(others).toEqual([]);
          expect(held?.fromMs).toBeLessThanOrEqual(way.fromMs);
          expect(held?.fromMs).toBeGreaterThan(way.fromMs - 120_000);
          expect(held?.toMs).toBeGreaterThanOrEqual(way.toMs);
          expect(held?.toMs).toBeLessThan(way.toMs + 120_000);
          expect(spansOf(hours, way)).toEqual([way]);
        },
      ),
    );
  });

  it('that do not touch lie further apart than any way takes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1 }), (slots) => {
        const hours = slots.map((slot) => ({ hour: Math.floor(slot / 30), slots: 2 ** (slot % 30) }));
        const spans = spansOf(hours, { fromMs: 0, toMs: day });
        expect(spans.reduce((sum, one) => sum + one.toMs + 1 - one.fromMs, 0)).toBe(
          new Set(slots).size * 120_000,
        );
        for (const [at, { fromMs }] of spans.slice(1).entries())
          expect(fromMs - (spans[at]?.toMs ?? 0)).toBeGreaterThan(visitLimits.gapMs);
      }),
    );
  });
});

describe('a visit', () => {
  it('is one of every position within the radius, by the distance on the sphere', () => {
    fc.assert(
      fc.property(
        anywhere,
        bearings,
        radii,
        fc.double({ min: 0, max: 2, noNaN: true }),
        (centre, bearing, radiusM, part) => {
          const point = awayFrom(centre, bearing, radiusM * part);
          const farM = distanceM(centre, point);
          // On the border the two ways to compute it differ by millimetres.
          fc.pre(Math.abs(farM - radiusM) > 0.02);
          const visit = visitOf([{ timestampMs: 5, ...point }], { centre, radiusM }, span);
          expect(visit !== null).toBe(farM < radiusM);
          if (visit !== null) expect(Math.abs(visit.nearestM - farM)).toBeLessThan(0.02);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('by a way between two positions begins and ends where a close look at that way says so', () => {
    fc.assert(
      fc.property(
        // At the poles themselves a bearing says nothing.
        anywhere.filter(({ latitude }) => Math.abs(latitude) < 89.999),
        fc.tuple(bearings, bearings),
        fc.tuple(fc.integer({ min: 0, max: 1400 }), fc.integer({ min: 0, max: 1400 })),
        radii,
        (centre, [from, to], [fromM, toM], radiusM) => {
          const ends = [awayFrom(centre, from, fromM), awayFrom(centre, to, toM)] as const;
          fc.pre(distanceM(...ends) < visitLimits.gapM - 1);
          const tookMs = 60_000;
          const visit = visitOf(
            [
              { timestampMs: 1000, ...ends[0] },
              { timestampMs: 1000 + tookMs, ...ends[1] },
            ],
            { centre, radiusM },
            span,
          );
          // The same way in a plane, step by step.
          const at = (bearing: number, m: number) => [m * Math.sin(bearing), m * Math.cos(bearing)] as const;
          const [begin, end] = [at(from, fromM), at(to, toM)];
          const inside: number[] = [];
          for (let step = 0; step <= 600; step++) {
            const part = step / 600;
            const x = begin[0] + part * (end[0] - begin[0]);
            const y = begin[1] + part * (end[1] - begin[1]);
            if (Math.hypot(x, y) <= radiusM) inside.push(1000 + part * tookMs);
          }
          const [first, last] = [inside[0], inside.at(-1)];
          if (first === undefined || last === undefined) return;
          expect(visit).not.toBeNull();
          const { firstMs, lastMs } = visit as Visit;
          expect(firstMs).toBeLessThanOrEqual(first + 1);
          expect(lastMs).toBeGreaterThanOrEqual(last - 1);
          expect(first - firstMs).toBeLessThanOrEqual(102);
          expect(lastMs - last).toBeLessThanOrEqual(102);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('is not that of a vehicle on the other side of the Earth', () => {
    const centre = { latitude: 10, longitude: 20 };
    const point = { latitude: -10, longitude: -160 };
    expect(visitOf([{ timestampMs: 5, ...point }], { centre, radiusM: 5000 }, span)).toBeNull();
  });
});

describe('the question of the console', () => {
  it('is that of the address, with an hour and 200 m unless it says others', () => {
    expect(questionOf({ place: '43.65,-79.35', from: 1_763_680_000 })).toEqual({
      place: { latitude: 43.65, longitude: -79.35 },
      radiusM: 200,
      fromS: 1_763_680_000,
      toS: 1_763_683_599,
    });
    expect(questionOf({ place: '43.65,-79.35' })).toBeNull();
  });

  it('has its time in the zone of the reader, over changes of the clock', () => {
    const zone = 'America/Toronto';
    expect(clockOf(1_763_680_000, zone)).toEqual({ date: '2025-11-20', time: '18:06' });
    expect(momentOfFields('2025-11-20', '18:06', zone)).toBe(1_763_679_960);
    expect(clockOf(Number(momentOfFields('2026-03-08', '03:30', zone)), zone).time).toBe('03:30');
    expect(momentOfFields('2026-13', '03:30', zone)).toBeNull();
  });
});
