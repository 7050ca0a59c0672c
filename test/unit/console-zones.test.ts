// Geozones as shapes of the console's map: what is drawn is what the vehicle and the service test positions against.

import fc from 'fast-check';
import type { Feature, LineString, MultiPolygon, Polygon } from 'geojson';
import { describe, expect, it } from 'vitest';
import { exampleGeozone } from '../../broker/api/geozones/geozone-texts.ts';
import { zoneShapes } from '../../broker/console/map/zone-shapes.ts';
import { lengthOf, routeChangeOf, routeFormOf, wayOf } from '../../broker/console/state/zones/route-view.ts';
import { parseDraft, parsePoint, routePointsMost } from '../../broker/console/state/zones/zone-address.ts';
import { draftText, pointText, withPoint } from '../../broker/console/state/zones/zone-draft.ts';
import { zoneOf as shapeOf } from '../../broker/console/state/zones/zone-geometry.ts';
import {
  changeOf,
  formOf,
  needsLook,
  noticeOf,
  notices,
  withNotice,
} from '../../broker/console/state/zones/zone-view.ts';
import { distanceM } from '../../src/core/geo/geo.ts';
import { edgeDistanceM } from '../../src/core/geo/geo-edge.ts';

type Zone = Parameters<typeof zoneShapes>[0][number];

const unset = '0.00000,0.00000';
const names = ['1', '2', '3', '4', '5', '6', '7', '8'] as const;

function zoneOf(type: number, points: readonly string[], change: Partial<Zone> = {}): Zone {
  const given = Object.fromEntries(names.map((name, at) => [`geozonePoint${name}`, points[at] ?? unset]));
  return { ...exampleGeozone, geozoneRadius: 500, ...given, geozoneType: type, ...change };
}
const shapesOf = (zone: Zone) => zoneShapes([zone]).features;

function geometryOf(shape: Feature | undefined): Feature['geometry'] {
  if (shape === undefined) throw new Error('nothing is drawn');
  return shape.geometry;
}

describe('the shapes of geozones', () => {
  it('draw a circle of the radius about each point, wherever it is', () => {
    const place = fc.record({
      latitude: fc.double({ min: -80, max: 80, noNaN: true }),
      longitude: fc.double({ min: -179, max: 179, noNaN: true }),
      radiusM: fc.integer({ min: 5, max: 30_000 }),
    });
    fc.assert(
      fc.property(place, ({ latitude, longitude, radiusM }) => {
        fc.pre(Math.abs(latitude) > 1);
        const point = `${latitude.toFixed(5)},${longitude.toFixed(5)}`;
        const [shape] = shapesOf(zoneOf(0, [point], { geozoneRadius: radiusM }));
        const [[ring = []] = []] = (geometryOf(shape) as MultiPolygon).coordinates;
        const [lat = 0, lng = 0] = point.split(',').map(Number);
        for (const [x = 0, y = 0] of ring) {
          const far = distanceM({ latitude: lat, longitude: lng }, { latitude: y, longitude: x });
          expect(Math.abs(far - radiusM)).toBeLessThan(0.01 * radiusM + 0.01);
        }
        expect(ring[0]).toEqual(ring.at(-1));
      }),
    );
  });

  it('draw each circle of several, with the name at each', () => {
    const [shape, name] = shapesOf(zoneOf(0, ['43.65,-79.35', '43.70,-79.40']));
    expect((geometryOf(shape) as MultiPolygon).coordinates).toHaveLength(2);
    expect(name).toMatchObject({
      properties: { kind: 'name', name: 'Depot', isJoined: false },
      geometry: { type: 'MultiPoint' },
    });
  });

  it('draw a rectangle around its points, and a polygon with them as corners', () => {
    const [rectangle] = shapesOf(zoneOf(1, ['43.65,-79.35', '43.66,-79.34', '43.655,-79.36']));
    expect((geometryOf(rectangle) as Polygon).coordinates[0]).toEqual([
      [-79.36, 43.65],
      [-79.34, 43.65],
      [-79.34, 43.66],
      [-79.36, 43.66],
      [-79.36, 43.65],
    ]);
    const [polygon] = shapesOf(zoneOf(3, ['1,2', '3,4', '5,2']));
    expect((geometryOf(polygon) as Polygon).coordinates[0]).toEqual([
      [2, 1],
      [4, 3],
      [2, 5],
      [2, 1],
    ]);
  });

  it('go the shorter way round the Earth, across the antimeridian and back', () => {
    const [, line] = shapesOf(zoneOf(2, ['1,179.5', '1,-179.5', '1,178', '1,-178']));
    const longitudes = (geometryOf(line) as LineString).coordinates.map(([x]) => x);
    expect(longitudes).toEqual([179.5, 180.5, 178, 182]);
  });

  it('draw a corridor as wide as it is on the ground, and one of a single point as a circle', () => {
    const corridor = fc.record({
      latitude: fc.double({ min: 1, max: 70, noNaN: true }),
      north: fc.double({ min: -0.5, max: 0.5, noNaN: true }),
      east: fc.double({ min: 0.01, max: 0.5, noNaN: true }),
      radiusM: fc.integer({ min: 5, max: 5000 }),
    });
    fc.assert(
      fc.property(corridor, ({ latitude, north, east, radiusM }) => {
        const [from, to] = [
          { latitude, longitude: 10 },
          { latitude: latitude + north, longitude: 10 + east },
        ];
        const points = [from, to].map((point) => `${point.latitude},${point.longitude}`);
        const [shape] = shapesOf(zoneOf(2, points, { geozoneRadius: radiusM }));
        const [[ring = []] = []] = (geometryOf(shape) as MultiPolygon).coordinates;
        for (const [x = 0, y = 0] of ring) {
          const far = edgeDistanceM({ latitude: y, longitude: x }, [from, to]);
          expect(Math.abs(far - radiusM)).toBeLessThan(0.02 * radiusM + 0.01);
        }
      }),
    );
    expect(shapesOf(zoneOf(2, ['60,10'])).map(({ properties }) => properties?.['kind'])).toEqual([
      'area',
      'name',
    ]);
  });

  it('draw a place without an area, and call a geozone without a display name by its id', () => {
    const [place, name] = shapesOf(
      zoneOf(4, ['43.65,-79.35'], { geozoneDisplayName: '', geozoneID: 'Café' }),
    );
    expect(place?.properties?.['kind']).toBe('place');
    expect(name?.properties?.['name']).toBe('Café');
  });

  it.each([
    [0, []],
    [1, ['1,2']],
    [2, []],
    [3, ['1,2', '3,4']],
    [4, []],
    [9, []],
  ])('leave out type %i with too few points', (type, points) => {
    expect(shapesOf(zoneOf(type, points))).toEqual([]);
  });

  it('mark a name in a joined script, which is drawn as a picture', () => {
    const [, name] = shapesOf(zoneOf(0, ['43.65,-79.35'], { geozoneDisplayName: 'ساحة الشمال' }));
    expect(name?.properties?.['isJoined']).toBe(true);
  });

  it('leave out points that are no points', () => {
    expect(shapesOf(zoneOf(0, ['', 'x,y', '1', unset]))).toEqual([]);
  });
});

describe('a route that is drawn', () => {
  const way = { type: 2 as const, radiusM: 250, points: [] };
  const long = Array.from({ length: 100 }, (_, at) => ({ latitude: 43 + at / 1000, longitude: -79 }));
  const routeOf = (points: readonly { latitude: number; longitude: number }[]) => ({
    status_code: '200' as const,
    success: '1' as const,
    routeID: 'r',
    routeDisplayName: '',
    routeRadius: 250,
    deviceIDs: ['b', 'a'],
    hasUpdateRoutePrivileges: true,
    ...Object.fromEntries(points.map((point, at) => [`routePoint${at + 1}`, pointText(point)])),
  });

  it('has up to 100 points in the order of their numbers, in the address too', () => {
    const full = { ...way, points: long };
    expect(wayOf(routeOf(long)).points).toEqual(long.map((point) => parsePoint(pointText(point))));
    expect(parseDraft(draftText(full), routePointsMost)).toEqual(wayOf(routeOf(long)));
    expect(parseDraft(draftText(full))).toBeNull();
    const next = { latitude: 44, longitude: -79 };
    expect(withPoint(full, next, 99, routePointsMost)).toEqual({ refused: 'full' });
    expect(withPoint({ ...full, points: long.slice(1) }, next, 98, routePointsMost)).toHaveProperty('draft');
  });

  it('sends what differs only, and all of a new one', () => {
    const before = routeOf(long.slice(0, 2));
    const form = routeFormOf(before);
    expect(routeChangeOf(form, wayOf(before), before)).toEqual({ routeID: 'r' });
    const turned = { ...form, deviceIDs: ['a', 'b'] };
    expect(routeChangeOf(turned, wayOf(before), before)).toEqual({ routeID: 'r' });
    expect(routeChangeOf({ ...form, deviceIDs: [] }, wayOf(before), before)).toEqual({
      routeID: 'r',
      deviceIDs: [],
    });
    expect(routeChangeOf({ id: 'n', name: 'N', deviceIDs: [] }, wayOf(before), undefined)).toEqual({
      routeID: 'n',
      routeDisplayName: 'N',
      routeRadius: 250,
      deviceIDs: [],
      routePoint1lat: '43.00000',
      routePoint1lng: '-79.00000',
      routePoint2lat: '43.00100',
      routePoint2lng: '-79.00000',
    });
  });

  it('is as long as the lines between its points', () => {
    expect(lengthOf({ ...way, points: long.slice(0, 11) })).toBeCloseTo(1112, -1);
    expect(lengthOf(way)).toBe(0);
  });
});

describe('the notice of a crossing', () => {
  it.each(notices)('is chosen as %s from any other, and sends only what changes', (wanted) => {
    const members = { arrival: 'Entry', departure: 'Exit' } as const;
    for (const moment of ['arrival', 'departure'] as const) {
      const [alert, alarm] = [`geozoneAlert${members[moment]}`, `geozoneAlarm${members[moment]}`] as const;
      for (const [isAlert, isAlarm] of [
        [false, false],
        [true, false],
        [true, true],
      ] as const) {
        const before: Zone = { ...exampleGeozone, [alert]: isAlert, [alarm]: isAlarm };
        const form = withNotice(formOf(before), moment, wanted);
        expect(noticeOf(form.switches, moment)).toBe(wanted);
        expect([...form.switches].some(needsLook)).toBe(false);
        const { geozoneID, ...change } = changeOf(form, shapeOf(before), before);
        const after = { [alert]: wanted !== 'nothing', [alarm]: wanted === 'alarm' };
        const differs = Object.entries(after).filter(([name, isOn]) => before[name as typeof alert] !== isOn);
        expect([geozoneID, change]).toEqual(['depot', Object.fromEntries(differs)]);
      }
    }
  });
});
