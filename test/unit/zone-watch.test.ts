// Arrivals and departures as the vehicle decides them: on recorded drives and receivers that stand still, against a slow second
// opinion, over restarts, gaps, jumps and new configurations. What must never be: an event from noise, from a doubtful fix, or from
// a restart; a departure from a zone that was deleted.
import { readdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assembleEpochs, createEpochState, type Fix, flushEpoch } from '../../agent/core/gnss/epochs.ts';
import { createNmeaState, decodeNmea } from '../../agent/core/gnss/nmea.ts';
import { createPlausibilityState, judgeFix } from '../../agent/core/gnss/plausibility.ts';
import { isPlausible } from '../../agent/core/reporting.ts';
import { recordZones, resumeZones } from '../../agent/core/zones/zone-record.ts';
import { distanceM, type Point } from '../../src/core/geo/geo.ts';
import { zoneDepthM } from '../../src/core/geo/geozone.ts';
import type { ZoneConfig } from '../../src/core/geo/zone-config.ts';
import { createZones } from '../../src/core/zones/zone-set.ts';
import { adoptZones, createZoneWatch, zoneWatchLimits } from '../../src/core/zones/zone-watch.ts';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';
import { seededRandom } from '../support/serial/nmea-lines.ts';
import {
  away,
  drive,
  fixAt,
  plain,
  secondOpinion,
  settings,
  startUtcMs,
  watching,
  zone,
} from '../support/vehicle/zone-drive.ts';

const home: Point = { latitude: 43.65, longitude: -79.34 };
const seconds = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_value, at) => from + at);
/** Due north through `home` at 10 m/s, at `home` after 100 s. */
const passing = (from = 0, to = 200): Fix[] =>
  seconds(from, to).map((s) => fixAt(s, away(home, (s - 100) * 10, 0)));
const yard = zone('yard', [home], { radiusM: 300 });
const kinds = (told: readonly { readonly is: string; readonly id: string }[]) =>
  told.map(({ is, id }) => `${is} ${id}`);

describe('a drive through a zone', () => {
  it('is one arrival and one departure, dated by the first fix beyond the border and certain after the dwell time', () => {
    expect(drive(createZones([yard]), passing()).told).toEqual([
      { is: 'arrive', id: 'yard', crossedS: 70, certainS: 80, cause: 'seen' },
      { is: 'depart', id: 'yard', crossedS: 131, certainS: 141, cause: 'seen' },
    ]);
  });

  it('that is over before the dwell time is no visit', () => {
    const gate = zone('gate', [home], { radiusM: 45 });
    expect(drive(createZones([gate]), passing()).told).toEqual([]);
    const hasty = { settings: { ...settings, dwellS: 0 } };
    expect(kinds(drive(createZones([gate]), passing(), hasty).told)).toEqual(['arrive gate', 'depart gate']);
  });

  it('that only touches the border is none either, however long', () => {
    const touch = seconds(0, 900).map((s) => fixAt(s, away(home, -300 + 8 * Math.sin(s), 0)));
    expect(drive(createZones([yard]), touch).told).toEqual([]);
  });

  it('reaches zones of the smallest size, when the vehicle stops there and the fix is good enough', () => {
    const spot = zone('spot', [home], { radiusM: 5 });
    const stop = (hdop: number) => [
      ...passing(0, 101),
      ...seconds(101, 130).map((s) => fixAt(s, home, { hdop })),
    ];
    expect(kinds(drive(createZones([spot]), stop(1)).told)).toEqual(['arrive spot']);
    expect(drive(createZones([spot]), stop(4)).told).toEqual([]);
  });

  it('on coarse fixes counts only as deep as they are sure', () => {
    const near = (hdop: number | null) => [
      ...passing(0, 66),
      ...seconds(66, 160).map((s) => fixAt(s, away(home, -250, 0), { hdop })),
    ];
    expect(kinds(drive(createZones([yard]), near(8)).told)).toEqual(['arrive yard']);
    expect(drive(createZones([yard]), near(12)).told).toEqual([]);
    expect(kinds(drive(createZones([yard]), near(null)).told)).toEqual(['arrive yard']);
  });

  it('through zones that overlap reports each', () => {
    const set = createZones([
      yard,
      zone('dock', [away(home, 200, 0)], { radiusM: 250 }),
      zone('poi', [home], { type: 4 }),
    ]);
    expect(kinds(drive(set, passing(0, 300)).told)).toEqual([
      'arrive yard',
      'arrive dock',
      'depart yard',
      'depart dock',
    ]);
  });
});

describe('a vehicle at rest', () => {
  const set = createZones([yard]);
  /** Drove in from the south and stopped 20 m within the border, or 20 m before it. */
  const stopped = (northM: number) => [
    ...seconds(-70, 0).map((s) => fixAt(s, away(home, northM + 10 * s, 0))),
    ...seconds(0, 30).map((s) => fixAt(s, away(home, northM, 0), { speedKmh: 0.2 })),
  ];
  const within = stopped(-280).concat(
    seconds(30, 60).map((s) => fixAt(s, away(home, -260, 0), { speedKmh: 5 })),
  );
  const rests = [...within, ...seconds(60, 90).map((s) => fixAt(s, away(home, -280, 0), { speedKmh: 0.1 }))];
  type Second = (s: number) => readonly [northM: number, over?: Partial<Fix>];
  const after = (count: number, one: Second) =>
    seconds(90, 90 + count).map((s) => {
      const [northM, over] = one(s - 90);
      return fixAt(s, away(home, -280 + northM, 0), { speedKmh: 0.3, ...over });
    });
  const off = { offSinceMs: 62_000 };
  const told = (fixes: readonly Fix[], given: { readonly offSinceMs?: number } = off) =>
    kinds(drive(set, [...rests, ...fixes], given).told).slice(1);

  it.each<readonly [string, Second]>([
    ['90 m in 60 s, and stays there', (s: number) => [-1.5 * Math.min(60, s)]],
    ['a wander of 60 m over the border', (s: number) => [60 * Math.sin(s / 18)]],
    ['a fast wander with a coarse fix', (s: number) => [80 * Math.sin(s / 7), { hdop: 2.5 }]],
    [
      'one speed in five that is noise',
      (s: number) => [60 * Math.sin(s / 18), { speedKmh: s % 5 === 0 ? 3.8 : 0.4 }],
    ],
    [
      'a speed that is missing in two fixes of three',
      (s: number) => [-1.5 * Math.min(60, s), { speedKmh: s % 3 === 0 ? 0 : null }],
    ],
    ['a jump of 300 m that stays', (s: number) => [s < 30 ? 0 : -300]],
  ])('crosses nothing by the position alone: %s', (_, one) => {
    expect(told(after(900, one))).toEqual([]);
    expect(told(after(900, one), {})).toEqual([]);
  });

  it('crosses nothing where the position comes back elsewhere after a loss, with the ignition off', () => {
    const lost = after(300, (s) => [s < 20 ? 0 : -120]).filter((_fix, s) => s < 20 || s > 140);
    expect(told(lost)).toEqual([]);
    // With the ignition on it may have driven meanwhile.
    expect(told(lost, {})).toEqual(['depart yard']);
    expect(told(after(300, (s) => [s < 20 ? 0 : -900]).filter((_fix, s) => s < 20 || s > 140))).toEqual([
      'depart yard',
    ]);
  });

  it.each<readonly [string, Second]>([
    ['towed', (s: number) => [-5 * s, { speedKmh: 18 }]],
    ['towed at a walk', (s: number) => [-1.3 * s, { speedKmh: 4.7 }]],
    ['pushed, seen in one fix of two', (s: number) => [-1.5 * s, { speedKmh: s % 2 === 0 ? 5.4 : 0 }]],
    ['carried off by a receiver that says no speed', (s: number) => [-5 * s, { speedKmh: null }]],
    ['carried off by a receiver that always says 0', (s: number) => [-5 * s, { speedKmh: 0 }]],
    [
      'carried off in a minute and left there',
      (s: number) => [-5 * Math.min(60, s), { speedKmh: s < 60 ? 18 : 0 }],
    ],
  ])('that is %s departs, with the ignition off', (_, one) => {
    expect(told(after(200, one))).toEqual(['depart yard']);
  });

  it('that drives off from where it drifted to departs then, and not when it drifted', () => {
    const leaves = after(200, (s) =>
      s < 120 ? [-1.5 * Math.min(60, s)] : [-90 - 8 * (s - 120), { speedKmh: 29 }],
    );
    const departed = drive(set, [...rests, ...leaves], off).told[1];
    expect(departed).toMatchObject({ is: 'depart', cause: 'seen' });
    expect(departed?.crossedS).toBeGreaterThan(209);
    expect(departed?.crossedS).toBeLessThan(216);
  });

  it('beside a zone does not arrive by drifting into it', () => {
    const beside = stopped(-330);
    const drifts = seconds(30, 300).map((s) => fixAt(s, away(home, -330 + 3 * (s - 30), 0), { speedKmh: 0 }));
    expect(drive(set, [...beside, ...drifts.slice(0, 160)]).told).toEqual([]);
  });

  it('is on no side of a border, by a crossing, that its positions alone would not have shown too', () => {
    const leg = fc.record({
      s: fc.integer({ min: 1, max: 40 }),
      northMs: fc.double({ min: -6, max: 6, noNaN: true }),
      speedKmh: fc.constantFrom(0, 0.4, 2.9, 5, 20, null),
    });
    fc.assert(
      fc.property(fc.array(leg, { maxLength: 40 }), fc.boolean(), (legs, isOff) => {
        let [s, northM] = [0, -330];
        const fixes = legs.flatMap(({ s: length, northMs, speedKmh }) =>
          seconds(0, length).map(() => fixAt((s += 1), away(home, (northM += northMs), 0), { speedKmh })),
        );
        const given = isOff ? { offSinceMs: 0 } : {};
        let [ours, plainly] = [watching(set), watching(set)];
        for (const fix of fixes) {
          const told = drive(set, [fix], { from: ours, ...given });
          ours = told.watch;
          plainly = drive(set, [{ ...fix, speedKmh: null }], { from: plainly }).watch;
          for (const { is } of told.told) expect(plainly.inside.includes('yard')).toBe(is === 'arrive');
        }
      }),
      { numRuns: 200 },
    );
  });

  it('arrives where it stopped during the dwell time, and is in a zone that is new without having entered it', () => {
    const short = [
      ...passing(0, 76),
      ...seconds(76, 120).map((s) => fixAt(s, away(home, -250, 0), { speedKmh: 0 })),
    ];
    expect(kinds(drive(set, short).told)).toEqual(['arrive yard']);
    const { watch } = drive(set, rests);
    const next = createZones([yard, zone('dock', [away(home, -280, 0)], { radiusM: 90 })]);
    const from = adoptZones(watch, set, next);
    const later = drive(
      next,
      after(30, () => [0]),
      { from },
    );
    expect([later.told, later.watch.inside]).toEqual([[], ['yard', 'dock']]);
  });

  it('after a start counts from its first positions on: what moved it meanwhile was not seen', () => {
    const { watch } = drive(set, rests, off);
    const from = adoptZones(resumeZones(JSON.parse(JSON.stringify(recordZones(watch)))), null, set);
    const moved = after(60, () => [-200]);
    expect(drive(set, moved, { from, ...off }).told).toMatchObject([{ is: 'depart', cause: 'start' }]);
    expect(
      drive(
        set,
        after(900, (s) => [s < 15 ? 0 : 60 * Math.sin(s / 18)]),
        { from, ...off },
      ).told,
    ).toEqual([]);
  });
});

describe('a gap', () => {
  it('within a zone reports nothing, and one over the border says for how long nothing was seen', () => {
    const set = createZones([yard]);
    const tunnel = passing().filter((_fix, s) => s < 85 || s > 115);
    expect(plain(drive(set, tunnel).told)).toEqual(plain(drive(set, passing()).told));
    const outside = [...passing(0, 100), ...passing(600, 630)];
    const { told } = drive(set, outside);
    expect(told[1]).toMatchObject({ is: 'depart', crossedS: 600, certainS: 610 });
    const { watch } = drive(set, outside.slice(0, 101));
    expect(watch.marks).toMatchObject([{ id: 'yard', to: 'outside', gapMs: 501_000 }]);
  });

  it('in time, or time that stands still, changes nothing', () => {
    const set = createZones([yard]);
    const { watch } = drive(set, passing(0, 100));
    expect(drive(set, passing(0, 50), { from: watch })).toEqual({ told: [], watch });
  });
});

describe('a restart', () => {
  it('in a zone is no arrival, and after one the departure is still reported', () => {
    const set = createZones([yard]);
    const restartsAt = new Set([60, 75, 90, 105, 135]);
    expect(plain(drive(set, passing(), { restartsAt }).told)).toEqual(plain(drive(set, passing()).told));
  });

  it('after the vehicle was moved while off reports what happened, and that it was not seen', () => {
    const set = createZones([yard]);
    const towed = [...passing(0, 100), ...passing(700, 720)];
    const { told } = drive(set, towed, { restartsAt: new Set([100]) });
    expect(told[1]).toEqual({ is: 'depart', id: 'yard', crossedS: 700, certainS: 710, cause: 'start' });
    const back = drive(set, [...passing(0, 30), ...passing(95, 112)], { restartsAt: new Set([30]) });
    expect(back.told).toEqual([{ is: 'arrive', id: 'yard', crossedS: 95, certainS: 105, cause: 'start' }]);
  });

  it('of a unit that never saw these zones finds where it is, and calls that no movement', () => {
    const set = createZones([yard]);
    const from = adoptZones(createZoneWatch(), null, set);
    expect(drive(set, passing(95, 200), { from }).told.map(({ is, cause }) => `${is} ${cause}`)).toEqual([
      'depart seen',
    ]);
  });

  it('without a clock dates a crossing anew', () => {
    const set = createZones([yard]);
    const blind = passing().map((fix) => ({ ...fix, utcMs: null }));
    const { told } = drive(set, blind, { restartsAt: new Set([75]) });
    expect(told.map(({ is, certainS }) => `${is} ${certainS}`)).toEqual(['arrive 85', 'depart 141']);
  });

  it('remembers what fits a state row, with the longest ids', () => {
    const set = createZones(
      seconds(0, 200).map((n) => zone(`${n}`.padStart(64, 'x'), [home], { radiusM: 300 })),
    );
    const { watch } = drive(set, passing(0, 101));
    const held = drive(set, passing(0, 75)).watch;
    expect([watch.inside.length, held.marks.length]).toEqual([
      zoneWatchLimits.tracked,
      zoneWatchLimits.tracked,
    ]);
    const left = drive(set, passing(130, 133), { from: { ...watch, lastMs: null } }).watch;
    expect([left.inside.length, left.marks.length]).toEqual([
      zoneWatchLimits.tracked,
      zoneWatchLimits.tracked,
    ]);
    expect(JSON.stringify(recordZones(watch)).length).toBeLessThan(8192);
    expect(JSON.stringify(recordZones(held)).length).toBeLessThan(8192);
  });

  it('with any record at all goes on', () => {
    const set = createZones([yard]);
    const record = fc.oneof(
      fc.anything(),
      fc.record({ compared: fc.anything(), inside: fc.anything(), marks: fc.array(fc.anything()) }),
      fc.record({
        compared: fc.constantFrom(set.fingerprint, 'other'),
        inside: fc.array(fc.constantFrom('yard', 'gone', '', 7)),
        marks: fc.array(
          fc.tuple(
            fc.constantFrom('yard', 'x'),
            fc.nat(2),
            fc.constantFrom(null, -1, startUtcMs),
            fc.nat(),
            fc.nat(),
            fc.nat(3),
          ),
        ),
      }),
    );
    fc.assert(
      fc.property(record, (value) => {
        const from = adoptZones(resumeZones(value), null, set);
        const sparse = passing(0, 200).filter((_fix, at) => at % 7 === 0);
        const { watch } = drive(set, sparse, { from });
        expect([watch.inside, watch.marks]).toEqual([[], []]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a new configuration', () => {
  const before = createZones([yard]);
  const inYard = drive(before, passing(0, 100)).watch;

  it('without the zone that the vehicle is in makes no departure', () => {
    const set = createZones([zone('other', [away(home, 5000, 0)])]);
    const { told, watch } = drive(set, passing(100, 200), { from: adoptZones(inYard, before, set) });
    expect([told, watch.inside]).toEqual([[], []]);
  });

  it('with a zone about the vehicle makes no arrival, and a true departure later', () => {
    const set = createZones([yard, zone('dock', [home], { radiusM: 200 })]);
    const { told } = drive(set, passing(100, 200), { from: adoptZones(inYard, before, set) });
    expect(told.map(({ is, id, cause }) => `${is} ${id} ${cause}`)).toEqual([
      'depart dock seen',
      'depart yard seen',
    ]);
  });

  it('that moves a zone away from the vehicle ends the visit without a departure', () => {
    const set = createZones([{ ...yard, zone: { ...yard.zone, points: [away(home, 3000, 0)] } }]);
    const { told, watch } = drive(set, passing(100, 200), { from: adoptZones(inYard, before, set) });
    expect([told, watch.inside]).toEqual([[], []]);
  });

  it('that changes no border changes nothing, also over a restart', () => {
    const same = createZones([{ ...yard, switches: ['alertEntry'] }]);
    expect(same.fingerprint).toBe(before.fingerprint);
    expect(adoptZones(inYard, before, same)).toBe(inYard);
    expect(adoptZones(resumeZones(recordZones(inYard)), null, same).settling?.cause).toBe('start');
  });

  it('that came while the unit was off is not reported as movement', () => {
    const set = createZones([yard, zone('dock', [home], { radiusM: 200 })]);
    const resumed = resumeZones(JSON.parse(JSON.stringify(recordZones(inYard))));
    const { told } = drive(set, passing(100, 115), { from: adoptZones(resumed, null, set) });
    expect(told).toEqual([]);
  });

  // Metres south of the middle of a zone of 300 m, second by second; its border is 300 m away.
  it.each<[string, readonly number[], readonly string[]]>([
    ['inside', seconds(0, 60).map(() => 100), []],
    [
      'inside at the border, its first position beyond it',
      seconds(0, 60).map((s) => (s < 2 ? 306 : Math.min(284, 484 - s * 10))),
      [],
    ],
    ['at the border, with a wandering position', seconds(0, 300).map((s) => 300 + 20 * Math.sin(s / 7)), []],
    ['20 m before the border, and goes in', seconds(0, 60).map((s) => Math.max(0, 320 - s * 10)), []],
    ['inside, and leaves', seconds(0, 90).map((s) => 100 + s * 10), ['depart dock']],
    [
      'inside, and leaves and comes back',
      seconds(0, 200).map((s) => 100 + 500 * Math.sin(s / 50) ** 2),
      ['depart dock', 'arrive dock'],
    ],
    [
      '60 m before the border, and goes in',
      seconds(0, 60).map((s) => Math.max(0, 360 - s * 10)),
      ['arrive dock'],
    ],
  ])('draws a zone about a vehicle that is %s', (_where, metres, wanted) => {
    const none = createZones([]);
    const dock = createZones([zone('dock', [home], { radiusM: 300 })]);
    const fixes = metres.map((south, s) => fixAt(s, away(home, -south, 0)));
    for (const from of [adoptZones(watching(none), none, dock), adoptZones(createZoneWatch(), null, dock)])
      expect(kinds(drive(dock, fixes, { from }).told)).toEqual(wanted);
  });

  it('twice before a fix is remembered as one', () => {
    const dock = zone('dock', [home], { radiusM: 200 });
    const [first, second] = [
      createZones([yard, dock]),
      createZones([yard, dock, zone('far', [away(home, 9000, 0)])]),
    ];
    const from = adoptZones(adoptZones(inYard, before, first), first, second);
    const { told, watch } = drive(second, passing(100, 115), { from });
    expect([told, watch.inside]).toEqual([[], ['yard', 'dock']]);
  });
});

describe('thousands of zones at one place', () => {
  it('are watched up to a limit, the same ones every time, and left as they were entered', () => {
    const set = createZones(seconds(0, 3000).map((n) => zone(`z${n}`, [home], { radiusM: 300 })));
    const { told, watch } = drive(set, passing());
    const arrived = told.filter(({ is }) => is === 'arrive').map(({ id }) => id);
    const departed = told.filter(({ is }) => is === 'depart').map(({ id }) => id);
    expect(arrived).toHaveLength(zoneWatchLimits.tracked);
    expect(departed).toEqual(arrived);
    expect(watch.inside).toEqual([]);
  });
});

/** Zones along a track, some of each type; large enough that the hysteresis of the settings is what decides. */
function zonesAlong(track: readonly Point[], seed: number, count = 40): readonly ZoneConfig[] {
  const random = seededRandom(seed);
  return seconds(0, count).map((n) => {
    const middle = track[Math.floor(random() * track.length)] ?? home;
    const at = away(middle, (random() - 0.5) * 400, (random() - 0.5) * 400);
    const sizeM = 220 + random() * 300;
    const ring = [away(at, 0, 0), away(at, 0, sizeM), away(at, sizeM, sizeM), away(at, sizeM, 0)];
    const shapes = [
      zone(`circle${n}`, [at], { radiusM: Math.round(sizeM) }),
      zone(`box${n}`, [at, away(at, sizeM, sizeM)], { type: 1 }),
      zone(`road${n}`, [at, away(at, sizeM * 2, sizeM)], { type: 2, radiusM: 100 }),
      zone(`ring${n}`, ring, { type: 3 }),
    ] as const;
    return shapes[n % 4] ?? shapes[0];
  });
}

function routeFixes(name: string): Fix[] {
  const [, ...rows] = new TextDecoder()
    .decode(readShared(`routes/${name}`))
    .trim()
    .split('\n');
  const points = rows.map((row) => row.split(',').map(Number));
  const first = points[0]?.[0] ?? 0;
  return points.map(([t = 0, latitude = 0, longitude = 0]) =>
    fixAt(t - first, { latitude, longitude }, { speedKmh: null }),
  );
}
const routes = [
  'munich-car-1hz',
  'aracaju-bus-13',
  'aracaju-bus-33',
  'aracaju-car-132',
  'aracaju-car-31',
  'aracaju-car-41',
];

describe.skipIf(sharedData('routes') === null)(sharedTitle('on recorded drives', 'routes'), () => {
  it.each(routes)('%s: the machine agrees with the second opinion, zone by zone', (name) => {
    const fixes = routeFixes(`${name}.csv`).filter(
      (fix, at, all) => at === 0 || fix.atMonoMs > (all[at - 1]?.atMonoMs ?? 0),
    );
    let events = 0;
    for (const seed of [1, 2]) {
      const zones = zonesAlong(fixes, seed, 20);
      const { told } = drive(createZones(zones), fixes);
      expect(plain(told)).toEqual(secondOpinion(zones, fixes, settings.hysteresisM));
      events += told.length;
    }
    expect(events).toBeGreaterThan(10);
  });

  it('restarts at any places make no other events', () => {
    const fixes = routeFixes('munich-car-1hz.csv');
    const set = createZones(zonesAlong(fixes, 4, 16));
    const expected = plain(drive(set, fixes).told);
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(fixes.length - 1), { minLength: 5, maxLength: 60 }), (places) => {
        expect(plain(drive(set, fixes, { restartsAt: new Set(places) }).told)).toEqual(expected);
      }),
      { numRuns: 8 },
    );
  });

  it('the tunnel and the jump of 470 m at its end make no event beyond those of the road', () => {
    let judge = createPlausibilityState();
    const fixes = routeFixes('munich-car-1hz.csv');
    const believed = fixes.flatMap((fix) => {
      const judged = judgeFix(judge, fix);
      judge = judged.state;
      return isPlausible(judged.fix) ? [judged.fix] : [];
    });
    expect(believed.length).toBeLessThan(fixes.length);
    const exit = fixes.findIndex((fix, at) => at > 0 && distanceM(fix, fixes[at - 1] ?? fix) > 400);
    const [before = home, after = home] = [fixes[exit - 1], fixes[exit]];
    const zones = [
      zone('tunnel', [before, after], { type: 2, radiusM: 300 }),
      zone('mouth', [after], { radiusM: 300 }),
    ];
    const { told } = drive(createZones(zones), believed);
    const events = (id: string) => told.filter((one) => one.id === id).map(({ is }) => is);
    expect([events('tunnel'), events('mouth')]).toEqual([
      ['arrive', 'depart'],
      ['arrive', 'depart'],
    ]);
  });

  it('noise of a city makes no second visit', () => {
    const fixes = routeFixes('munich-car-1hz.csv');
    const zones = zonesAlong(fixes, 5, 24);
    const random = seededRandom(9);
    const noisy = fixes.map((fix) => {
      const { latitude, longitude } = away(
        fix,
        (random() + random() - 1) * 12,
        (random() + random() - 1) * 12,
      );
      return { ...fix, latitude, longitude };
    });
    // Zones that the track crosses once and stays in for long enough: of the others a visit may be none with some noise.
    const isPlain = ({ zone: one }: ZoneConfig): boolean => {
      const depths = fixes.map((fix) => zoneDepthM(one, fix));
      const turns = depths.filter((depthM, at) => depthM >= 0 !== (depths[at - 1] ?? -1) >= 0).length;
      const deepS = depths.filter((depthM) => depthM > 30).length;
      return turns <= 2 && deepS > 2 * settings.dwellS;
    };
    const plainZones = zones.filter(isPlain);
    expect(plainZones.length).toBeGreaterThan(5);
    const counts = (list: readonly Fix[]) => kinds(drive(createZones(plainZones), list).told).sort();
    expect(counts(noisy)).toEqual(counts(fixes));
  });
});

/** Plausible fixes of a capture, as the agent makes them. */
function captureFixes(file: string): readonly Fix[] {
  const decoded = decodeNmea(createNmeaState(), readShared(`nmea/${file}`));
  let epochs = createEpochState({ earliestUtcMs: 0 });
  let judge = createPlausibilityState();
  const fixes: Fix[] = [];
  let atMs = 0;
  const take = (reports: ReturnType<typeof flushEpoch>['reports']): void => {
    for (const report of reports) {
      if (report.kind === 'void') continue;
      // The recording has no times of arrival: a second for each epoch.
      atMs += 1000;
      const judged = judgeFix(judge, { ...report.fix, atMonoMs: atMs });
      judge = judged.state;
      if (isPlausible(judged.fix)) fixes.push(judged.fix);
    }
  };
  for (const sentence of decoded.sentences) {
    const step = assembleEpochs(epochs, sentence, 0);
    epochs = step.state;
    take(step.reports);
  }
  take(flushEpoch(epochs, 60_000).reports);
  return fixes;
}

const folder = sharedData('nmea');
describe.skipIf(folder === null)(sharedTitle('receivers that stand still', 'nmea'), () => {
  const files = folder === null ? [] : readdirSync(folder).filter((name) => /\.nmea(\.gz)?$/.test(name));
  const standing = files.filter((file) => {
    const fixes = captureFixes(file);
    const [first] = fixes;
    return fixes.length >= 20 && first !== undefined && fixes.every((fix) => distanceM(first, fix) < 60);
  });

  it('are among the recordings', () => expect(standing.length).toBeGreaterThan(5));

  it.each(standing)('%s: one event at most, wherever the border lies', (file) => {
    const fixes = captureFixes(file);
    const last = fixes.at(-1) ?? home;
    const offsets = [-40, -20, -10, -5, -2, 0, 2, 5, 10, 20, 40];
    const zones = offsets.flatMap((offM) => [
      zone(`north${offM}`, [away(last, 500 + offM, 0)], { radiusM: 500 }),
      zone(`east${offM}`, [away(last, -400, offM), away(last, 400, offM + 300)], { type: 1 }),
    ]);
    const { told } = drive(createZones(zones), fixes);
    const counts = zones.map(({ id }) => told.filter((one) => one.id === id).length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1);
  });
});

it('whatever the track, an arrival is followed by its departure and never by another arrival', () => {
  const set = createZones([yard, zone('dock', [away(home, 250, 0)], { radiusM: 80 })]);
  const step = fc.record({
    s: fc.integer({ min: 0, max: 90 }),
    northM: fc.double({ min: -500, max: 500, noNaN: true }),
    hdop: fc.constantFrom(0.8, 1, 3, 9, 50, null),
    restarts: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let s = 0;
      const fixes = steps.map((one) => fixAt((s += one.s), away(home, one.northM, 0), { hdop: one.hdop }));
      const restartsAt = new Set(steps.flatMap(({ restarts }, at) => (restarts ? [at] : [])));
      const { told, watch } = drive(set, fixes, { from: watching(set), restartsAt });
      for (const { id } of set.zones) {
        const own = told.filter((one) => one.id === id);
        expect(own.map(({ is }) => is)).toEqual(own.map((_one, at) => (at % 2 === 0 ? 'arrive' : 'depart')));
        expect(watch.inside.includes(id)).toBe(own.length % 2 === 1);
        expect(own.every(({ crossedS, certainS }) => certainS - crossedS >= settings.dwellS)).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});
