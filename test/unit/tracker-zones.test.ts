// Zones of a device without an agent: which sequences of positions are a crossing, and which are not.
import { describe, expect, it } from 'vitest';
import { gnssLimits } from '../../agent/core/evidence/gnss-standing.ts';
import {
  resumeTracker,
  startTracker,
  stepTracker,
  type TrackerEvent,
  trackerEvent,
} from '../../broker/core/zones/tracker-zones.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import type { ZoneConfig } from '../../src/core/geo/zone-config.ts';
import { restLimits } from '../../src/core/zones/zone-rest.ts';
import { createZones } from '../../src/core/zones/zone-set.ts';

const startMs = 1_764_000_000_000;
const metre = 1 / 111_195;
const zone = (id: string, metresNorth: number, radiusM = 200): ZoneConfig => ({
  id,
  zone: { type: 0, radiusM, points: [{ latitude: 43 + metresNorth * metre, longitude: -79 }] },
  switches: ['alertEntry', 'alertExit'],
});
const yard = createZones([zone('yard', 0)]);

interface Sent extends Partial<Omit<FleetEvent, 'timestamp'>> {
  /** Seconds after the start, and metres north of the middle of the yard; null: no position. */
  readonly at: readonly [seconds: number, metresNorth: number | null];
}
/** Events as the service takes them; those that say nothing of where the device is now are left out. */
const eventsOf = (sent: readonly Sent[], nowMs = startMs + 100 * 86_400_000): readonly TrackerEvent[] =>
  sent.flatMap(({ at: [seconds, north], ...more }) => {
    const place = north === null ? {} : { latitude: 43 + north * metre, longitude: -79 };
    const event: FleetEvent = {
      seq: 1,
      timestamp: startMs + seconds * 1000,
      upMs: null,
      timeQuality: 'rtc',
      statusCode: 61_472,
      ...place,
      ...more,
    };
    return trackerEvent(event, nowMs) ?? [];
  });
const textOf = (crossings: ReturnType<typeof stepTracker>['crossings']) =>
  crossings.map(({ mark, zone: { id } }) => `${mark.to} ${id} ${((mark.utcMs ?? 0) - startMs) / 1000}`);

/** Each payload by itself, in the order of arrival. */
function crossingsOf(...payloads: readonly (readonly Sent[])[]): readonly string[] {
  let state = startTracker;
  return payloads.flatMap((sent) => {
    const step = stepTracker(state, yard, eventsOf(sent));
    state = step.state;
    return textOf(step.crossings);
  });
}

const minute = 60;
const fix = (seconds: number, north: number, more: Partial<FleetEvent> = {}): Sent => ({
  at: [seconds, north],
  speed: 40,
  ...more,
});

const cases: readonly (readonly [string, readonly (readonly Sent[])[], readonly string[]])[] = [
  [
    'an entry and a departure',
    [[fix(0, 2000)], [fix(60, 50)], [fix(120, 2000)]],
    ['inside yard 60', 'outside yard 120'],
  ],
  [
    'the same in one payload, in whatever order',
    [[fix(120, 2000), fix(0, 2000), fix(60, 50)]],
    ['inside yard 60', 'outside yard 120'],
  ],
  ['no entry by the first known position', [[fix(0, 0)], [fix(60, 10)]], []],
  ['a departure after a first position inside', [[fix(0, 0)], [fix(60, 2000)]], ['outside yard 60']],
  [
    'an hourly device',
    [[fix(0, 30_000)], [fix(60 * minute, 0)], [fix(120 * minute, 30_000)]],
    ['inside yard 3600', 'outside yard 7200'],
  ],
  [
    'no entry at the border, within the hysteresis',
    [[fix(0, 2000)], [fix(60, 190)], [fix(120, 210)], [fix(180, 195)]],
    [],
  ],
  [
    'no departure at the border, within the hysteresis',
    [[fix(0, 0)], [fix(60, 210)], [fix(120, 220)], [fix(180, 100)]],
    [],
  ],
  [
    'a second-by-second device only once it stayed',
    [[0, 1, 2, 3].map((s) => fix(s, s === 0 ? 300 : 100)), [fix(4, 300)]],
    [],
  ],
  [
    'a second-by-second device that stayed, dated back to the border',
    [[fix(0, 300), ...Array.from({ length: 15 }, (_unused, s) => fix(s + 1, 150 - s * 5))]],
    ['inside yard 1'],
  ],
  ['no jump that no vehicle can make', [[fix(0, 400_000)], [fix(60, 0)], [fix(120, 400_500)]], []],
  [
    'no end of a wrong first position',
    [[fix(0, 900_000)], [fix(60, 0)], [fix(120, 0)], [fix(180, 5)], [fix(240, 10)]],
    [],
  ],
  ['no position of a cell tower', [[fix(0, 2000)], [fix(60, 0, { speed: 0, satellites: 0 })]], []],
  ['no guess with a large error', [[fix(0, 2000)], [fix(60, 0, { attributes: { accuracy: 1500 } })]], []],
  [
    'no repeated last known position',
    [[fix(0, 2000)], [fix(60, 0, { statusCode: statusCodes.LAST_LOCATION.code })]],
    [],
  ],
  ['no late position', [[fix(0, 2000)], [fix(120, 3000)], [fix(60, 0)]], []],
  [
    'no position without a time or of a clock ahead',
    [[fix(0, 2000)], [fix(200 * 86_400, 0)], [fix(60, 2100)]],
    [],
  ],
  [
    'no wander of a parked vehicle with its ignition off',
    [
      [fix(0, 230, { speed: 0, inputs: { ignition: true } })],
      [fix(60, 230, { speed: 0, inputs: { ignition: false } })],
      ...[120, 180, 240].map((s) => [fix(s, 150, { speed: 0 })]),
    ],
    [],
  ],
];

describe('a device without an agent reports', () => {
  it.each(cases)('%s', (_title, payloads, expected) => {
    expect(crossingsOf(...payloads)).toEqual(expected);
  });

  it.each([
    ['drawn around it', [zone('yard', 0)], []],
    ['moved onto it', [zone('yard', 2000)], []],
    ['with another radius', [zone('yard', 0, 3000)], []],
    ['elsewhere, which it enters next', [zone('new', 1000)], ['inside new 120']],
  ] as const)('crossings of zones that changed while it stood: %s', (_title, zones, expected) => {
    const before = stepTracker(
      startTracker,
      createZones([zone('yard', 0)]),
      eventsOf([fix(0, 2000), fix(60, _title === 'drawn around it' ? 10 : 2000)]),
    );
    const changed = createZones(_title === 'drawn around it' ? [zone('drawn', 0), ...zones] : zones);
    const next = _title.startsWith('elsewhere') ? 1000 : _title === 'drawn around it' ? 15 : 2010;
    expect(textOf(stepTracker(before.state, changed, eventsOf([fix(120, next)])).crossings)).toEqual(
      expected,
    );
  });

  it('what happened over a restart, once, whatever the records say of before', () => {
    const earlier = [fix(0, 2000), fix(60, 2100)];
    const resumed = resumeTracker({ inside: [], compared: yard.fingerprint }, eventsOf(earlier));
    const entered = stepTracker(resumed, yard, eventsOf([fix(120, 0)]));
    expect(textOf(entered.crossings)).toEqual(['inside yard 120']);
    // A process that ended between the record of the position and that of the crossing.
    const behind = resumeTracker(
      { inside: [], compared: yard.fingerprint },
      eventsOf([...earlier, fix(120, 0)]),
    );
    expect(textOf(stepTracker(behind, yard, eventsOf([fix(180, 5)])).crossings)).toEqual(['inside yard 180']);
    const kept = resumeTracker(
      { inside: ['yard'], compared: yard.fingerprint },
      eventsOf([...earlier, fix(120, 0)]),
    );
    expect(textOf(stepTracker(kept, yard, eventsOf([fix(180, 5)])).crossings)).toEqual([]);
    expect(textOf(stepTracker(kept, yard, eventsOf([fix(180, 400_000), fix(60, 3000)])).crossings)).toEqual(
      [],
    );
  });

  it('with the speed of rest that vehicles have', () => {
    expect(restLimits.standstillKmh).toBe(gnssLimits.standstillKmh);
  });
});
