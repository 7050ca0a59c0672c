// A thinned track hides nothing that happened: whatever a vehicle reports, the alarms, stops, gaps and extremes stay, the size is
// bounded, and no position that was left out is further from the kept track than the answer says.
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createThinner,
  isPlainPosition,
  type ThinningRecord,
  thinningLimits,
} from '../../broker/core/events/thinning.ts';
import { createEntryHeap } from '../../broker/core/events/thinning-heap.ts';

interface Given extends ThinningRecord {
  readonly id: number;
}

function thin(records: readonly Given[], points: number) {
  const thinner = createThinner<Given>(points);
  for (const record of records) thinner.add(record, record);
  return thinner.end();
}

/** A vehicle that drives, stands, is silent, loses its position and has occurrences, in any order. */
const phase = fc.record({
  kind: fc.constantFrom('drive', 'stand', 'silent', 'blind', 'event', 'jump'),
  count: fc.integer({ min: 1, max: 40 }),
  turn: fc.integer({ min: -90, max: 90 }),
  metres: fc.integer({ min: 0, max: 400 }),
});

function driveOf(
  phases: readonly { kind: string; count: number; turn: number; metres: number }[],
  start = { latitude: 43, longitude: -79 },
) {
  const records: Given[] = [];
  let [{ latitude, longitude }, timestampMs, heading] = [start, 1_700_000_000_000, 0];
  const push = (given: Partial<Given>): void => {
    timestampMs += 10_000;
    records.push({
      id: records.length,
      timestampMs,
      isAfterGap: false,
      isPlain: true,
      point: { latitude, longitude },
      speed: 0,
      ...given,
    });
  };
  for (const { kind, count, turn, metres } of phases) {
    if (kind === 'silent') timestampMs += count * 120_000;
    if (kind === 'event')
      push({ isAfterGap: false, isPlain: false, point: turn % 2 === 0 ? { latitude, longitude } : null });
    if (kind === 'jump') latitude += metres / 111_195;
    for (let at = 0; at < count; at += 1) {
      if (kind === 'stand') push({});
      if (kind === 'blind') push({ point: null, speed: null });
      if (kind !== 'drive') continue;
      heading += turn / count;
      latitude += (Math.cos((heading * Math.PI) / 180) * metres) / 111_195;
      longitude += (Math.sin((heading * Math.PI) / 180) * metres) / 81_000;
      // Over the edge of the map.
      if (longitude > 180) longitude -= 360;
      push({ speed: metres * 0.36 });
    }
  }
  return records;
}

const drives = fc
  .tuple(
    fc.array(phase, { minLength: 1, maxLength: 25 }),
    fc.constantFrom(
      { latitude: 43, longitude: -79 },
      { latitude: -17, longitude: 179.99 },
      { latitude: 84, longitude: 0 },
    ),
  )
  .map(([phases, start]) => driveOf(phases, start));
const sizes = fc.integer({ min: 2, max: 120 });

type Space = readonly [number, number, number];
const spaceOf = ({ latitude, longitude }: { latitude: number; longitude: number }): Space => {
  const [lat, lon] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
  return [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)].map(
    (one) => one * 6_371_008.8,
  ) as unknown as Space;
};
const metresBetween = (one: Space, other: Space): number =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);

describe('a thinned track', () => {
  it('is a part of the whole one, in its order, with the first and the last record', () => {
    fc.assert(
      fc.property(drives, sizes, (records, points) => {
        const { kept, total } = thin(records, points);
        const ids = kept.map(({ id }) => id);
        expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
        expect(total).toBe(records.length);
        if (records.length === 0) return;
        expect([ids[0], ids.at(-1)]).toEqual([0, records.length - 1]);
      }),
    );
  });

  it('has every record that is not plain, whatever size was asked for', () => {
    fc.assert(
      fc.property(drives, sizes, (records, points) => {
        const ids = new Set(thin(records, points).kept.map(({ id }) => id));
        expect(records.filter((one) => !one.isPlain && !ids.has(one.id))).toEqual([]);
      }),
    );
  });

  it('is not larger than asked for, but by what must be kept', () => {
    fc.assert(
      fc.property(drives, sizes, (records, points) => {
        const { kept } = thin(records, points);
        const least = thin(records, 2).kept.length;
        expect(kept.length).toBeLessThanOrEqual(Math.max(points, least));
        // The whole track, without plain records that have no position, where it is small enough.
        if (records.length <= points)
          expect(kept.length).toBeGreaterThanOrEqual(records.filter((one) => one.point !== null).length);
      }),
    );
  });

  it('has both ends of every gap, and marks them', () => {
    fc.assert(
      fc.property(drives, sizes, (records, points) => {
        const { kept, afterGap } = thin(records, points);
        const ids = new Set(kept.map(({ id }) => id));
        const located = records.filter((one) => one.point !== null);
        for (const [index, record] of located.entries()) {
          const before = located[index - 1];
          if (before?.point == null || record.point === null) continue;
          const silentMs = record.timestampMs - before.timestampMs;
          const isAway = metresBetween(spaceOf(before.point), spaceOf(record.point)) > thinningLimits.stillM;
          const isGap = silentMs > (isAway ? thinningLimits.gapMs : thinningLimits.silentMs);
          expect(afterGap.has(record)).toBe(isGap);
          if (isGap) expect([ids.has(before.id), ids.has(record.id)]).toEqual([true, true]);
        }
      }),
    );
  });

  it('has the beginning and the end of every stop, and the outermost and the fastest positions', () => {
    fc.assert(
      fc.property(drives, sizes, (records, points) => {
        const { kept } = thin(records, points);
        const located = kept.filter((one) => one.point !== null);
        const all = records.filter((one) => one.point !== null);
        for (const value of [
          (one: Given) => one.point?.latitude ?? 0,
          (one: Given) => -(one.point?.latitude ?? 0),
          (one: Given) => one.point?.longitude ?? 0,
          (one: Given) => -(one.point?.longitude ?? 0),
          (one: Given) => one.speed ?? 0,
        ]) {
          if (all.length === 0) continue;
          expect(Math.max(...located.map(value))).toBe(Math.max(...all.map(value)));
        }
      }),
    );
    const drive = (metres: number) => ({ kind: 'drive', count: 20, turn: 0, metres });
    const stand = { kind: 'stand', count: 40, turn: 0, metres: 0 };
    const records = driveOf([drive(200), stand, drive(200), stand, drive(200)]);
    const ids = new Set(thin(records, 2).kept.map(({ id }) => id));
    // The position of arrival (19, 79) is where the standing begins; it is last seen standing in 59 and 119.
    for (const id of [0, 19, 59, 79, 119, 139]) expect(ids.has(id), String(id)).toBe(true);
    expect(ids.size).toBeLessThan(12);
  });

  it('deviates from the whole track by no more than it reports', () => {
    fc.assert(
      fc.property(drives, sizes, (records, points) => {
        const { kept, deviationM } = thin(records, points);
        const ids = new Set(kept.map(({ id }) => id));
        const nodes = kept.filter((one) => one.point !== null);
        for (const record of records) {
          if (ids.has(record.id) || record.point === null) continue;
          const next = nodes.find((one) => one.timestampMs > record.timestampMs);
          const before = nodes.findLast((one) => one.timestampMs < record.timestampMs);
          if (next?.point == null || before?.point == null)
            throw new Error('a position outside of the track was dropped');
          const part = (record.timestampMs - before.timestampMs) / (next.timestampMs - before.timestampMs);
          const [from, to] = [spaceOf(before.point), spaceOf(next.point)];
          const along = (axis: 0 | 1 | 2) => from[axis] + part * (to[axis] - from[axis]);
          const offM = metresBetween(spaceOf(record.point), [along(0), along(1), along(2)]);
          expect(offM).toBeLessThanOrEqual(deviationM + 1e-3);
        }
      }),
    );
  });

  it('is the same whenever it is made', () => {
    fc.assert(
      fc.property(drives, sizes, (records, points) => {
        expect(thin(records, points)).toEqual(thin(records, points));
      }),
    );
  });

  it('is what a person would draw: a straight road needs its ends, a corner its corner', () => {
    const straight = (latitude: number, longitude: number, count: number, from: number): readonly Given[] =>
      Array.from({ length: count }, (_unused, at) => ({
        id: from + at,
        timestampMs: (from + at) * 10_000,
        isAfterGap: false,
        isPlain: true,
        speed: 72,
        point: { latitude: 43 + latitude * (at + 1), longitude: -79 + longitude * (at + 1) },
      }));
    const north = straight(0.002, 0, 100, 0);
    const top = north.at(-1)?.point ?? { latitude: 0, longitude: 0 };
    const east = straight(0, 0.002, 100, 100).map((one) => ({
      ...one,
      point: { latitude: top.latitude, longitude: -79 + 0.002 * (one.id - 99) },
    }));
    const { kept, deviationM } = thin([...north, ...east], 3);
    expect(kept.map(({ id }) => id)).toEqual([0, 99, 199]);
    // The bulge of the Earth over 16 km is 5 m.
    expect(deviationM).toBeLessThan(20);
  });

  it('has equal times, single records and nothing at all', () => {
    expect(thin([], 2)).toMatchObject({ kept: [], total: 0, deviationM: 0 });
    const at = (id: number, timestampMs: number): Given => ({
      id,
      timestampMs,
      isAfterGap: false,
      isPlain: true,
      point: { latitude: 1, longitude: id / 1000 },
      speed: null,
    });
    expect(thin([at(0, 5)], 2).kept).toHaveLength(1);
    const same = Array.from({ length: 50 }, (_unused, id) => at(id, 5));
    const { kept, deviationM } = thin(same, 4);
    expect(kept.length).toBeLessThanOrEqual(5);
    expect(Number.isFinite(deviationM)).toBe(true);
  });

  it('reports when more must be kept than was asked for, and holds no more than it keeps', () => {
    const thinner = createThinner<number>(10);
    for (let id = 0; id <= thinningLimits.kept; id += 1)
      thinner.add(id, {
        timestampMs: id * 1000,
        isAfterGap: false,
        isPlain: false,
        point: null,
        speed: null,
      });
    expect(thinner.isOverfull()).toBe(true);
  });

  it('takes each of half a million records by measuring a few distances, however many came before', () => {
    const { hypot } = Math;
    let distances = 0;
    Math.hypot = (...sides) => {
      distances += 1;
      return hypot(...sides);
    };
    onTestFinished(() => {
      Math.hypot = hypot;
    });
    const thinner = createThinner<number>(2000);
    const most = { perRecord: 0 };
    for (let id = 0; id < 500_000; id += 1) {
      const before = distances;
      const point = { latitude: 43 + Math.sin(id / 977) + id * 1e-7, longitude: -79 + Math.cos(id / 613) };
      thinner.add(id, {
        timestampMs: id * 10_000,
        isAfterGap: false,
        isPlain: true,
        point,
        speed: 50 + (id % 30),
      });
      most.perRecord = Math.max(most.perRecord, distances - before);
    }
    expect(distances).toBeGreaterThan(500_000);
    expect(most.perRecord).toBeLessThan(32);
    expect(thinner.end().kept.length).toBeLessThanOrEqual(2000);
  });
});

describe('a plain position', () => {
  it('has the code of a routine position', () => {
    expect([61472, 61536, 61714, 61716].every(isPlainPosition)).toBe(true);
    expect([61477, 63553, 62465, 61713, 61715, 4384, 64807, 0].some(isPlainPosition)).toBe(false);
  });
});

describe('the heap of what may be dropped', () => {
  it('gives the cheapest entry, of equal ones the oldest, whatever was put, changed and removed', () => {
    const action = fc.record({
      kind: fc.constantFrom('put', 'put', 'put', 'remove', 'take'),
      order: fc.integer({ min: 0, max: 30 }),
      costM: fc.integer({ min: 0, max: 8 }),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 300 }), (actions) => {
        const heap = createEntryHeap<{ order: number; costM: number; heapAt: number }>();
        const entries = Array.from({ length: 31 }, (_unused, order) => ({ order, costM: 0, heapAt: -1 }));
        const there = new Set<(typeof entries)[number]>();
        for (const { kind, order, costM } of actions) {
          const entry = entries[order];
          if (entry === undefined) continue;
          if (kind === 'put') {
            entry.costM = costM;
            heap.put(entry);
            there.add(entry);
          } else if (kind === 'remove') {
            heap.remove(entry);
            there.delete(entry);
          } else {
            const [least = null] = [...there].sort(
              (one, other) => one.costM - other.costM || one.order - other.order,
            );
            expect(heap.takeLeast()).toBe(least);
            if (least !== null) there.delete(least);
          }
        }
      }),
    );
  });

  it('compares a few entries for each change, the logarithm of its length', () => {
    let looks = 0;
    const entryOf = (order: number) => {
      let costM = (order * 7919) % 4096;
      return {
        order,
        heapAt: -1,
        get costM() {
          looks += 1;
          return costM;
        },
        change: (to: number) => {
          costM = to;
        },
      };
    };
    const entries = Array.from({ length: 4096 }, (_unused, order) => entryOf(order));
    const heap = createEntryHeap<(typeof entries)[number]>();
    const looksOf = (act: () => void): number => {
      const before = looks;
      act();
      return looks - before;
    };
    const counts = entries.map((entry) => looksOf(() => heap.put(entry)));
    for (const [at, entry] of entries.entries()) {
      entry.change((at * 104_729) % 8192);
      counts.push(looksOf(() => heap.put(entry)));
    }
    for (const entry of entries.slice(0, 1000)) counts.push(looksOf(() => heap.remove(entry)));
    for (let taken = 0; taken < 3096; taken += 1) counts.push(looksOf(() => heap.takeLeast()));
    // At each of 12 levels three comparisons at most, of two to four looks each.
    expect(Math.max(...counts)).toBeLessThanOrEqual(12 * 3 * 4);
  });
});
