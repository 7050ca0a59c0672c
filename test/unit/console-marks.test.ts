// The marks of the live map: MapLibre gets only what changed, and must come to the same picture as from all of it. On its way from one
// report to the next a mark is never where the vehicle cannot have been.
import fc from 'fast-check';
import type { Feature } from 'geojson';
import { describe, expect, it } from 'vitest';
import { createShownClusters } from '../../broker/console/map/vehicles/cluster-marks.ts';
import {
  type Box,
  boxOf,
  type Cluster,
  groupsInSight,
  placedOf,
  worstOf,
} from '../../broker/console/map/vehicles/clusters.ts';
import {
  formOf,
  markForms,
  markLayers,
  ringForms,
  ringLayers,
  turnOf,
} from '../../broker/console/map/vehicles/mark-layers.ts';
import { createShownMarks, type ShownMarks } from '../../broker/console/map/vehicles/vehicle-marks.ts';
import { noVehicle, type Vehicle } from '../../broker/console/state/fleet.ts';
import { glideOf, placeAt } from '../../broker/console/state/glide.ts';
import type { Place } from '../../broker/console/state/here.ts';
import { distanceM } from '../../src/core/geo/geo.ts';

const here: Place = [10, 50];
const vehicle = (id: string, change: Partial<Vehicle> = {}): Vehicle => ({
  ...noVehicle,
  id,
  name: id,
  place: here,
  isOnline: true,
  ...change,
});
const metres = ([x, y]: Place, [lng, lat]: Place): number =>
  distanceM({ latitude: y, longitude: x }, { latitude: lat, longitude: lng });

describe('the marks of vehicles', () => {
  type Changes = ReturnType<ShownMarks['show']>;
  interface Mark {
    readonly vehicle: Vehicle;
    readonly place: Place;
    readonly others: number;
  }
  const mark = (one: Vehicle, change: Partial<Mark> = {}): Mark => ({
    vehicle: one,
    place: one.place ?? here,
    others: 0,
    ...change,
  });
  const picture = (shown: ShownMarks, marks: Iterable<Mark>): Changes => {
    for (const { vehicle: one, place, others } of marks) shown.put(one, place, others);
    return shown.show();
  };
  /** What MapLibre's diff of a source says: first removed, then added, by id. */
  const applied = (shown: ReadonlyMap<string, Feature>, changes: Changes): ReadonlyMap<string, Feature> => {
    const next = new Map(shown);
    for (const id of changes?.remove ?? []) next.delete(String(id));
    for (const feature of changes?.add ?? []) next.set(String(feature.properties?.['id']), feature);
    return next;
  };
  const sorted = (features: ReadonlyMap<string, Feature>) =>
    [...features].toSorted(([a], [b]) => (a < b ? -1 : 1));

  it('come to the same picture by their changes as anew', () => {
    const change = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      place: fc.constantFrom<Place>(here, [10.5, 50]),
      speed: fc.constantFrom(0, 60),
      isOnline: fc.boolean(),
      others: fc.constantFrom(0, 2),
    });
    const changes = fc.uniqueArray(change, { selector: ({ id }) => id });
    const gone = fc.subarray(['a', 'b', 'c', 'd']);
    fc.assert(
      fc.property(fc.array(fc.tuple(changes, gone), { maxLength: 8 }), (pictures) => {
        const marks = new Map<string, Mark>();
        const drawn = createShownMarks();
        let shown: ReadonlyMap<string, Feature> = new Map();
        for (const [changed, without] of pictures) {
          for (const id of without) marks.delete(id);
          for (const { others, ...one } of changed) marks.set(one.id, mark(vehicle(one.id, one), { others }));
          shown = applied(shown, picture(drawn, marks.values()));
          const anew = picture(createShownMarks(), marks.values());
          expect(sorted(shown)).toEqual(sorted(applied(new Map(), anew)));
          expect(drawn.marks()).toHaveLength(marks.size);
        }
      }),
    );
  });

  // Speed, heading, and the mark with its turn.
  it.each<[Partial<Vehicle>, string, number]>([
    [{ speed: 50, heading: 270 }, 'moving', 270],
    [{ speed: 50, heading: 0 }, 'moving', 0],
    [{ speed: 50, heading: null }, 'unheaded', 0],
    [{ speed: 0, heading: 270 }, 'standing', 0],
    [{ speed: 0, heading: null }, 'standing', 0],
    [{ speed: null, heading: 270 }, 'unknown', 0],
    [{ speed: null, heading: null }, 'unknown', 0],
    [{ speed: null, isOnline: false }, 'offline', 0],
    [{ speed: null, isDoubtful: true }, 'doubtful', 0],
  ])('of a vehicle with %j are %s, turned by %i', (change, form, turn) => {
    const one = vehicle('a', change);
    expect([formOf(one), turnOf(one)]).toEqual([form, turn]);
    const drawn = picture(createShownMarks(), [mark(one)]);
    expect(drawn?.add?.[0]?.properties).toMatchObject({ mark: `mark-${form}`, turn });
  });

  it('are told apart by form, without colour', () => {
    const paths = [...Object.values(markLayers), ...Object.values(ringLayers)].map((layers) =>
      layers.map(({ path, width, dash }) => [path, width, dash]),
    );
    expect(new Set(paths.map((one) => JSON.stringify(one))).size).toBe(paths.length);
    expect(Object.keys(markLayers)).toEqual([...markForms]);
    expect(Object.keys(ringLayers)).toEqual([...ringForms]);
  });

  it('that stay the same are not given again', () => {
    const [a, b] = [vehicle('a'), vehicle('b')];
    const drawn = createShownMarks();
    picture(drawn, [mark(a), mark(b)]);
    expect(picture(drawn, [mark(a), mark(b)])).toBeNull();
    const moved = picture(drawn, [mark(a), mark(b, { place: [12, 50] })]);
    expect(moved?.add?.map(({ geometry }) => geometry)).toEqual([{ type: 'Point', coordinates: [12, 50] }]);
    expect(drawn.get('b')).toMatchObject({ place: [12, 50] });
  });

  it('say of one place how many there are, also on those that did not move', () => {
    const a = vehicle('a');
    const drawn = createShownMarks();
    picture(drawn, [mark(a)]);
    const together = picture(drawn, [mark(a, { others: 1 })]);
    expect(together?.add?.[0]?.properties).toMatchObject({ name: 'a +1' });
  });

  it('are all given again to a source that shows nothing', () => {
    const a = vehicle('a');
    const drawn = createShownMarks();
    picture(drawn, [mark(a)]);
    drawn.clear();
    expect(picture(drawn, [mark(a)])?.add).toHaveLength(1);
  });
});

describe('the vehicles in sight', () => {
  const world: Box = boxOf(-180, -85, 180, 85);
  const sight = { box: world, zoom: 2, selected: null };
  const alarm = { alarmID: '1', statusCode: 63553, priority: 'high', hasOwner: false } as const;
  const spot = fc.record({
    place: fc.tuple(
      fc.double({ min: -20, max: 30, noNaN: true }),
      fc.double({ min: 30, max: 60, noNaN: true }),
    ),
    hasAlarm: fc.boolean(),
  });
  /** px at the zoom. */
  const pointOf = ([longitude, latitude]: Place, zoom: number): Place => {
    const { left, top } = boxOf(longitude, 0, 0, latitude);
    return [left * 512 * 2 ** zoom, top * 512 * 2 ** zoom];
  };

  it('are all in one group or by themselves, and no mark or circle lies on another', () => {
    fc.assert(
      fc.property(fc.array(spot, { maxLength: 300 }), fc.integer({ min: 0, max: 13 }), (spots, zoom) => {
        const fleet = spots.map(({ place, hasAlarm }, at) =>
          vehicle(`${at}`, { place, alarm: hasAlarm ? alarm : null }),
        );
        const { singles, clusters } = groupsInSight(placedOf(fleet), { ...sight, zoom });
        const shown = [...singles, ...clusters.flatMap(({ members }) => members)].map(({ id }) => id);
        expect(shown.toSorted()).toEqual(fleet.map(({ id }) => id).toSorted());
        for (const { members, alarms, worst } of clusters) {
          const withAlarm = members.filter((one) => one.alarm !== null).length;
          expect([alarms, worst]).toEqual([withAlarm, Math.max(...members.map(worstOf))]);
        }
        const circles = [
          ...clusters,
          ...singles.map(({ place }) => ({ place: place ?? here, radius: 12 })),
        ].map(({ place, radius }) => ({ at: pointOf(place, zoom), radius }));
        for (const [index, one] of circles.entries())
          for (const other of circles.slice(index + 1)) {
            const apart = Math.hypot(one.at[0] - other.at[0], one.at[1] - other.at[1]);
            expect(apart).toBeGreaterThan(one.radius + other.radius);
          }
      }),
    );
  });

  it('are those in the box, also over the edge of the world, without the selected one and those without a place', () => {
    const fleet = [
      vehicle('east', { place: [179, 10] }),
      vehicle('west', { place: [-179, 10] }),
      vehicle('selected', { place: [179.5, 10] }),
      vehicle('far', { place: [0, 10] }),
      vehicle('nowhere', { place: null }),
    ];
    for (const [west, east] of [
      [170, 190],
      [-190, -170],
    ] as const) {
      const box = boxOf(west, 0, east, 20);
      const { singles } = groupsInSight(placedOf(fleet), { box, zoom: 6, selected: 'selected' });
      expect(singles.map(({ id }) => id).toSorted()).toEqual(['east', 'west']);
    }
  });

  it.each([
    [900, 900, 0],
    [4000, 0, 1],
  ])('near %i at one place are %i single ones and %i groups at zoom 15', (count, single, grouped) => {
    const fleet = Array.from({ length: count }, (_, at) => vehicle(`${at}`));
    const { singles, clusters } = groupsInSight(placedOf(fleet), {
      ...sight,
      zoom: 15,
      box: boxOf(9, 49, 11, 51),
    });
    expect([singles.length, clusters.length]).toEqual([single, grouped]);
  });

  it('stand where they would stand if all were placed anew, whichever changed, moved in the list, or lost its place', () => {
    const spots = fc.option(fc.tuple(fc.double({ min: -180, max: 180 }), fc.double({ min: -85, max: 85 })));
    fc.assert(
      fc.property(fc.array(spots, { maxLength: 20 }), fc.array(spots, { maxLength: 20 }), (first, second) => {
        const before = first.map((place, at) => vehicle(`${at}`, { place }));
        const now = second.map((place, at) =>
          at % 2 === 0 ? (before[at] ?? vehicle('new')) : vehicle('x', { place }),
        );
        expect(placedOf(now, placedOf(before))).toEqual(placedOf(now));
      }),
    );
  });

  /** Marks and circles of a map of Europe. */
  const drawnOf = (count: number): number => {
    // The golden ratio spreads them evenly.
    const part = (at: number, ratio: number): number => (at * ratio) % 1;
    const fleet = Array.from({ length: count }, (_, at) =>
      vehicle(`${at}`, { place: [-10 + 38 * part(at, 0.618034), 36 + 20 * part(at, 0.754878)] }),
    );
    const box = boxOf(-10, 36, 28, 56);
    const { singles, clusters } = groupsInSight(placedOf(fleet), { box, zoom: 5, selected: null });
    return singles.length + clusters.length;
  };

  it('of 100,000 are drawn by no more marks and circles than those of 1,000', () => {
    expect(drawnOf(100_000)).toBeLessThanOrEqual(drawnOf(1000));
  });
});

describe('the clusters of the map', () => {
  const clusterAt = (place: Place, ids: readonly string[]): Cluster => ({
    place,
    members: ids.map((id) => vehicle(id, { place })),
    alarms: 0,
    worst: 0,
    radius: 16,
  });
  const numbersOf = (features: readonly Feature[] | null): readonly number[] =>
    (features ?? []).map(({ properties }) => Number(properties?.['number']));

  it('open the vehicles that were seen in them, also while the next ones are being drawn', () => {
    const shown = createShownClusters();
    const [west, east]: [Place, Place] = [
      [1, 50],
      [2, 50],
    ];
    const seen = numbersOf(shown.show([clusterAt(west, ['a', 'b']), clusterAt(east, ['c', 'd'])]));
    // Regrouped: another one is the first now.
    const next = numbersOf(shown.show([clusterAt(east, ['c', 'd', 'e']), clusterAt(west, ['a', 'b'])]));
    expect(seen.map((number) => shown.placesIn(number)[0])).toEqual([west, east]);
    expect(next.map((number) => shown.placesIn(number).length)).toEqual([3, 2]);
    expect(new Set([...seen, ...next]).size).toBe(4);
  });

  it('are not given again while they look the same, and open the vehicles that are in them now', () => {
    const shown = createShownClusters();
    const [number = -1] = numbersOf(shown.show([clusterAt([1, 50], ['a', 'b'])]));
    const moved = {
      ...clusterAt([1, 50], ['a']),
      members: [vehicle('a', { place: [1.1, 50] }), vehicle('b')],
    };
    expect(shown.show([moved])).toBeNull();
    expect(shown.placesIn(number)).toEqual([[1.1, 50], here]);
  });

  it('open nothing once they are long gone, and none was never drawn', () => {
    const shown = createShownClusters();
    const [first = -1] = numbersOf(shown.show([clusterAt([0, 50], ['a', 'b'])]));
    for (let at = 1; at < 20; at += 1) shown.show([clusterAt([at, 50], ['a', 'b'])]);
    expect([first, 999, -1, Number.NaN].map((number) => shown.placesIn(number))).toEqual([[], [], [], []]);
  });
});

describe('a mark on its way', () => {
  const point = fc.tuple(
    fc.double({ min: 9.9, max: 10.1, noNaN: true }),
    fc.double({ min: 49.9, max: 50.1, noNaN: true }),
  );
  const speed = fc.double({ min: 0, max: 200, noNaN: true });

  it('goes straight to the last report, in 10 s at most, and no faster than the vehicle said by more than a quarter', () => {
    const two = fc.record({
      from: point,
      to: point,
      speeds: fc.tuple(speed, speed),
      seconds: fc.integer({ min: 1, max: 400 }),
    });
    fc.assert(
      fc.property(two, ({ from, to, speeds, seconds }) => {
        const before = vehicle('a', { place: from, speed: speeds[0], fixS: 1000 });
        const glide = glideOf(
          before,
          vehicle('a', { place: to, speed: speeds[1], fixS: 1000 + seconds }),
          from,
          5000,
        );
        if (glide === null) return;
        expect(glide.endMs - 5000).toBeLessThanOrEqual(10_000);
        const mostMS = (Math.max(...speeds) / 3.6) * 1.25;
        let last = from as Place;
        for (let atMs = 5000; atMs <= glide.endMs + 200; atMs += 100) {
          const place = placeAt(glide, atMs);
          expect(metres(last, place)).toBeLessThanOrEqual(mostMS * 0.1 * 1.001 + 1e-6);
          // On the line between them.
          expect(metres(from, place) + metres(place, to)).toBeCloseTo(metres(from, to), 1);
          last = place;
        }
        expect(last).toEqual(to);
      }),
      { numRuns: 300 },
    );
  });

  it('glides a way that it drove: 100 m in 10 s at 36 km/h', () => {
    const before = vehicle('a', { speed: 36, fixS: 1000 });
    const after = vehicle('a', { speed: 36, fixS: 1010, place: [10, 50 + 100 / 111_195] });
    const glide = glideOf(before, after, here, 0);
    expect(glide).toMatchObject({ beginMs: 0, endMs: 10_000 });
    expect(glide === null ? 0 : metres(here, placeAt(glide, 2500))).toBeCloseTo(25, 0);
  });

  it.each([
    ['over a way that its speed does not allow', { place: [10, 50.01] }],
    ['to a doubtful position', { isDoubtful: true }],
    ['when the vehicle is silent', { isOnline: false }],
    ['when there is no report after the one before', { fixS: 1000 }],
    ['where it stands', { place: here }],
    ['over the edge of the map', { place: [-179.99, 50] }],
    ['without a position', { place: null }],
  ] as const)('jumps %s', (_, change) => {
    const before = vehicle('a', { speed: 36, fixS: 1000 });
    const after = vehicle('a', { speed: 36, fixS: 1010, place: [10, 50 + 50 / 111_195], ...change });
    expect(glideOf(before, after, here, 0)).toBeNull();
    expect(
      glideOf(
        before,
        { ...after, fixS: 1010, isOnline: true, isDoubtful: false, place: [10, 50.0005] },
        here,
        0,
      ),
    ).not.toBeNull();
  });
});
