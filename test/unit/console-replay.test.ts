// The pure part of the replay and of the course of a command: what an export is read as, and what a screen may say of a moment.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askedOf, canWithdraw, commandStateOf, stepsOf } from '../../broker/console/state/command-view.ts';
import {
  alarmStretchesOf,
  gapsOf,
  ignitionOf,
  linesOf,
  momentAt,
  occurrencesOf,
  plotOf,
  type ReplayTrack,
  replayTrackOf,
} from '../../broker/console/state/replay.ts';
import { rangeOf } from '../../broker/console/state/vehicle/vehicle-view.ts';

const position = 61472;
const startS = 1_763_683_200;

interface Given {
  /** Seconds after the start. */
  readonly at: number;
  readonly code?: number;
  readonly longitude?: number | null;
  readonly speed?: number | null;
  readonly delayS?: number;
  readonly ignition?: boolean | null;
  readonly fuelLevel?: number | null;
}

function featureOf(given: Given) {
  const {
    at,
    code = position,
    longitude = at / 1000,
    speed = 50,
    delayS = 1,
    ignition = null,
    fuelLevel = null,
  } = given;
  return {
    type: 'Feature',
    geometry: longitude === null ? null : { type: 'Point', coordinates: [longitude, 43] },
    properties: {
      eventID: `b:${at}`,
      timestamp: startS + at,
      creationTime: startS + at + delayS,
      statusCode: code,
      speed,
      heading: 90,
      ignition,
      fuelLevel,
      hdop: 0.9,
      satellites: 11,
    },
  };
}

const lineOf = (from: number, to: number) => ({
  type: 'Feature',
  geometry: { type: 'LineString', coordinates: [] },
  properties: {
    from: new Date((startS + from) * 1000 + 400).toISOString(),
    to: new Date((startS + to) * 1000 + 400).toISOString(),
  },
});

const trackOf = (records: readonly Given[], lines: readonly (readonly [number, number])[]): ReplayTrack =>
  replayTrackOf({
    type: 'FeatureCollection',
    features: [...records.map(featureOf), ...lines.map(([from, to]) => lineOf(from, to))],
  });

describe('the track of a replay', () => {
  it('is read from the export whatever stands in it, and what is no record is left out', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(replayTrackOf(value).records).toEqual([]);
      }),
    );
    const features = [
      featureOf({ at: 1 }),
      null,
      7,
      { properties: { eventID: 5, timestamp: 1 } },
      { geometry: [] },
    ];
    expect(replayTrackOf({ features }).records.map(({ eventID }) => eventID)).toEqual(['b:1']);
  });

  it('takes a position with a broken coordinate for a record without one', () => {
    const feature = { ...featureOf({ at: 1 }), geometry: { type: 'Point', coordinates: ['x', 43] } };
    expect(replayTrackOf({ features: [feature] })).toMatchObject({ records: [{ place: null }], fixes: [] });
  });

  it('joins two positions only where the service drew a line between them', () => {
    const track = trackOf(
      [{ at: 0 }, { at: 10 }, { at: 2000 }, { at: 2010 }],
      [
        [0, 10],
        [2000, 2010],
      ],
    );
    expect(track.fixes.map(({ isJoined }) => isJoined)).toEqual([false, true, false, true]);
    expect(linesOf(track).prompt).toHaveLength(2);
  });

  it('joins the ends of a long stop, which thinning leaves far apart', () => {
    const track = trackOf([{ at: 0 }, { at: 7200, longitude: 0 }], [[0, 7200]]);
    expect(gapsOf(track)).toEqual([]);
    expect(momentAt(track, startS + 3600)).toMatchObject({ isMissing: false });
  });
});

describe('a moment of a replay', () => {
  const track = trackOf(
    [
      { at: 0, longitude: 10, fuelLevel: 0.6, ignition: true },
      { at: 100, longitude: 20 },
      { at: 1000, longitude: 50, fuelLevel: 0.5 },
      { at: 1100, longitude: 60 },
    ],
    [
      [0, 100],
      [1000, 1100],
    ],
  );

  it('lies on the line between two positions that are joined', () => {
    expect(momentAt(track, startS + 25)).toMatchObject({ place: [12.5, 43], speed: 50, isMissing: false });
  });

  it('stays at the last position in a gap, and says that it is missing', () => {
    expect(momentAt(track, startS + 500)).toMatchObject({
      place: [20, 43],
      fixS: startS + 100,
      isMissing: true,
    });
  });

  it('has no place before the first position', () => {
    expect(momentAt(track, startS - 1)).toMatchObject({ place: null, speed: null, fixS: 0 });
  });

  it('has the fuel and the ignition that were reported last', () => {
    expect(momentAt(track, startS + 999)).toMatchObject({ fuel: 0.6, ignition: true });
    expect(momentAt(track, startS + 1000)).toMatchObject({ fuel: 0.5, ignition: true });
  });

  it('never leaves the stretch between its two positions, at any time', () => {
    fc.assert(
      fc.property(fc.double({ min: -100, max: 1300, noNaN: true }), (at) => {
        const { place, isMissing } = momentAt(track, startS + at);
        if (place === null) {
          expect(at).toBeLessThan(0);
          return;
        }
        const [longitude] = place;
        const isBetween = (longitude >= 10 && longitude <= 20) || (longitude >= 50 && longitude <= 60);
        expect(isBetween).toBe(true);
        if (at > 160 && at < 1000) expect(isMissing).toBe(true);
      }),
    );
  });
});

describe('the plot of a replay', () => {
  it('has ascending times, one of each, and as many values of every line', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            at: fc.integer({ min: 0, max: 5000 }),
            delayS: fc.integer({ min: 0, max: 900 }),
            longitude: fc.option(fc.double({ min: -180, max: 180, noNaN: true })),
            fuelLevel: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
          }),
        ),
        (records) => {
          const { times, speeds, lateSpeeds, fuels } = plotOf(trackOf(records, []));
          expect(times.every((time, at) => at === 0 || time > (times[at - 1] ?? 0))).toBe(true);
          expect([speeds.length, lateSpeeds.length, fuels.length]).toEqual(Array(3).fill(times.length));
        },
      ),
    );
  });

  it('breaks both lines in a gap, and says why there is one', () => {
    const track = trackOf(
      [
        { at: 0, fuelLevel: 0.5 },
        { at: 600, code: 61456, longitude: null },
        { at: 610, fuelLevel: 0.5 },
      ],
      [],
    );
    expect(gapsOf(track)).toEqual([{ fromS: startS, toS: startS + 610, reason: 'off' }]);
    const { speeds, fuels } = plotOf(track);
    expect(speeds).toContain(null);
    expect(fuels).toContain(null);
  });

  it('names a lost position as the cause of a gap, and says so where there is none', () => {
    const lost = [{ at: 0 }, { at: 5, code: 64807, longitude: null }, { at: 600 }];
    expect(gapsOf(trackOf(lost, []))[0]?.reason).toBe('position');
    expect(gapsOf(trackOf([{ at: 0 }, { at: 600 }], []))[0]?.reason).toBe('unknown');
  });

  it('draws what arrived late as a line of its own that meets the other', () => {
    const track = trackOf(
      [{ at: 0 }, { at: 10, delayS: 900 }, { at: 20, delayS: 900 }, { at: 30 }],
      [[0, 30]],
    );
    const { prompt, late } = linesOf(track);
    expect([prompt.length, late.length]).toEqual([1, 1]);
    expect(late[0]?.[0]).toEqual([0, 43]);
    expect(plotOf(track).lateSpeeds.filter((speed) => typeof speed === 'number')).toHaveLength(3);
  });

  it('shows the ignition while it was on, and alarms until their end', () => {
    const track = trackOf(
      [
        { at: 0, ignition: true },
        { at: 10 },
        { at: 20, ignition: false },
        { at: 30, code: 63553 },
        { at: 40, code: 63554 },
        { at: 50, code: 63809 },
      ],
      [],
    );
    expect(ignitionOf(track)).toEqual([{ fromS: startS, toS: startS + 20 }]);
    expect(alarmStretchesOf(track)).toEqual([
      { fromS: startS + 30, toS: startS + 40 },
      { fromS: startS + 50, toS: startS + 50 },
    ]);
    expect(occurrencesOf(track).map(({ statusCode }) => statusCode)).toEqual([63553, 63554, 63809]);
  });
});

describe('the course of a command', () => {
  const record = (eventID: string, timestamp: number, commandID: string | null) => ({
    eventID,
    timestamp,
    creationTime: timestamp + 1,
    statusCode: 4352,
    commandID,
  });

  it('holds the reports on this command only, by the time of the vehicle', () => {
    const records = [
      record('b:3', 30, 'c1'),
      record('b:2', 20, 'c2'),
      record('b:1', 10, 'c1'),
      record('b:4', 40, null),
    ];
    expect(stepsOf(records, 'c1').map(({ eventID }) => eventID)).toEqual(['b:1', 'b:3']);
    expect(stepsOf([{}], 'c1')).toEqual([]);
  });

  it('knows the states of the ledger and no others', () => {
    expect(commandStateOf('armed')).toBe('armed');
    expect(commandStateOf('constructor')).toBeNull();
  });

  it('offers the withdrawal of what is under way, and never of a restore', () => {
    const of = (change: object) =>
      canWithdraw({
        feature: 'enginecutoff',
        state: '1',
        commandState: 'armed',
        hasEnded: false,
        ...change,
      } as Parameters<typeof canWithdraw>[0]);
    expect(of({})).toBe(true);
    expect(of({ state: '0' })).toBe(false);
    expect(of({ hasEnded: true })).toBe(false);
    expect(of({ commandState: 'executing' })).toBe(false);
    expect(of({ feature: 'firmware', commandState: 'executing' })).toBe(true);
  });

  it('names what was asked, and nothing for a feature that it does not know', () => {
    expect(askedOf({ feature: 'enginecutoff', state: '0' })).toBe('restore');
    expect(askedOf({ feature: 'horn', state: '1' })).toBeNull();
  });
});

describe('the period of an address', () => {
  it('is the one that it names, else the shortest that holds its moment, else a day', () => {
    expect(rangeOf('hour', startS - 90_000, startS)).toBe('hour');
    expect(rangeOf(undefined, startS - 90_000, startS)).toBe('week');
    expect(rangeOf(undefined, startS - 1, startS)).toBe('hour');
    expect(rangeOf(undefined, undefined, startS)).toBe('day');
  });
});
