// Zones on their way to a vehicle: what was encoded comes back, anything else is refused in words and breaks nothing.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSetPoint, vehicleSwitches, type ZoneType } from '../../src/core/geo/geozone.ts';
import {
  decodeZones,
  encodeZones,
  type ZoneConfig,
  zoneConfigLimits,
} from '../../src/core/geo/zone-config.ts';

const degrees = (most: number) =>
  fc.integer({ min: -most * 1e5, max: most * 1e5 }).map((value) => value / 1e5);
const point = fc.record({ latitude: degrees(90), longitude: degrees(180) }).filter((one) => isSetPoint(one));
const config: fc.Arbitrary<ZoneConfig> = fc.record({
  id: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
  zone: fc.record({
    type: fc.constantFrom<ZoneType>(0, 1, 2, 3, 4),
    radiusM: fc.integer({ min: 5, max: 30_000 }),
    points: fc.array(point, { maxLength: 8 }),
  }),
  switches: fc.subarray([...vehicleSwitches]),
});
const configs = fc.uniqueArray(config, { selector: ({ id }) => id, maxLength: 20 });
const depot = ['depot', 3, 500, 0, 4_365_000, -7_935_000, 4_365_000, -7_934_000, 4_366_000, -7_934_000];

describe('zones', () => {
  it('come back as they were sent, over JSON', () => {
    fc.assert(
      fc.property(configs, (zones) => {
        expect(decodeZones(JSON.parse(JSON.stringify(encodeZones(zones))))).toEqual({ kind: 'ok', zones });
      }),
    );
  });

  it('say in one list of numbers where they are and what they ask for', () => {
    const verdict = decodeZones([[...depot.slice(0, 3), 4096 + 16, ...depot.slice(4)]]);
    expect(verdict).toEqual({
      kind: 'ok',
      zones: [
        {
          id: 'depot',
          zone: {
            type: 3,
            radiusM: 500,
            points: [
              { latitude: 43.65, longitude: -79.35 },
              { latitude: 43.65, longitude: -79.34 },
              { latitude: 43.66, longitude: -79.34 },
            ],
          },
          switches: ['arrivalCargoLock', 'alertEntry'],
        },
      ],
    });
  });

  it('leave out points that are not set, for those count for nothing', () => {
    const [wire] = encodeZones([
      { id: 'a', zone: { type: 0, radiusM: 50, points: [{ latitude: 0, longitude: 0 }] }, switches: [] },
    ]);
    expect(wire).toEqual(['a', 0, 50, 0]);
  });

  it.each([
    ['no list', 7, /must be a list/],
    ['an entry that is no list', [null], /must be a list/],
    ['too few members', [['a', 0, 50]], /are needed/],
    ['a bad id', [['a\nb', 0, 50, 0]], /the id must be/],
    ['an id of 65', [['a'.repeat(65), 0, 50, 0]], /the id must be/],
    ['an unknown type', [['a', 5, 50, 0]], /type must be/],
    ['a radius of 4 m', [['a', 0, 4, 0]], /radius must be/],
    ['a switch that we do not know', [['a', 0, 50, 2 ** 14]], /switches/],
    ['half a point', [['a', 0, 50, 0, 1]], /one coordinate/],
    ['nine points', [['a', 0, 50, 0, ...Array.from({ length: 18 }, () => 1)]], /more than 8 points/],
    ['latitude 91', [['a', 0, 50, 0, 9_100_000, 0]], /latitude/],
    ['longitude as text', [['a', 0, 50, 0, 0, '1']], /longitude/],
    ['one id twice', [depot, depot], /twice/],
  ])('with %s are refused in words', (_name, value, words) => {
    const verdict = decodeZones(value);
    expect(verdict.kind).toBe('faults');
    expect(JSON.stringify(verdict)).toMatch(words);
  });

  it('are 10,000 at most, and of many faults the first ones are named', () => {
    const many = Array.from({ length: zoneConfigLimits.zones }, (_value, at) => [
      `z${at}`,
      ...depot.slice(1),
    ]);
    expect(decodeZones(many).kind).toBe('ok');
    expect(decodeZones([...many, depot])).toMatchObject({ faults: [{ pointer: '' }] });
    const verdict = decodeZones(Array.from({ length: 1000 }, () => []));
    expect(verdict.kind === 'faults' && verdict.faults.length).toBe(zoneConfigLimits.faults);
  });

  it('of any shape never make the decoder throw, and what it takes it can write again', () => {
    const hostile = fc.oneof(
      fc.anything(),
      fc.array(fc.array(fc.oneof(fc.anything(), fc.integer(), fc.string()), { maxLength: 22 }), {
        maxLength: 5,
      }),
      fc
        .tuple(fc.constant(depot), fc.nat(11), fc.anything())
        .map(([good, at, bad]) => [good.with(at % 10, bad as number)]),
    );
    fc.assert(
      fc.property(hostile, (value) => {
        const verdict = decodeZones(value);
        if (verdict.kind === 'faults') expect(verdict.faults.length).toBeGreaterThan(0);
        else expect(decodeZones(encodeZones(verdict.zones))).toEqual(verdict);
      }),
      { numRuns: 300 },
    );
  });
});
