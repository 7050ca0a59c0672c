// The pure part of the console: the parser of the stream, the order of vehicles and alarms, what an address may hold, the way of a vehicle.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exampleAlarm } from '../../broker/api/alarms/alarm-shapes.ts';
import { exampleDevice } from '../../broker/api/answers/examples.ts';
import { createStreamParser } from '../../broker/client/event-stream.ts';
import { idFrom } from '../../broker/console/components/patterns/new-id.ts';
import { spanOf } from '../../broker/console/state/age.ts';
import { beganOf } from '../../broker/console/state/alarm-view.ts';
import {
  countsOf,
  matchesFilter,
  noVehicle,
  severityOf,
  stateOf,
  type Vehicle,
} from '../../broker/console/state/fleet.ts';
import {
  compareAlarms,
  vehicleAlone,
  vehicleOf,
  withDevice,
} from '../../broker/console/state/fleet-messages.ts';
import { knowledgeOf } from '../../broker/console/state/knowledge.ts';
import { parsePlace, placeText } from '../../broker/console/state/map-place.ts';
import { column } from '../../broker/console/state/search.ts';
import { trackOf } from '../../broker/console/state/track.ts';
import { hasNeighbours } from '../../broker/console/state/vehicle/event-view.ts';
import { createWorstFirst, worstFirst } from '../../broker/console/state/worst-first.ts';
import { fleetRow, rowAlone } from '../support/http/fleet-row.ts';

const vehicle = (change: Partial<Vehicle>): Vehicle => ({ ...noVehicle, isOnline: true, ...change });
const alarm = (priority: 'critical' | 'high' | 'low', hasOwner: boolean) => ({
  alarmID: '1',
  statusCode: 63553,
  priority,
  hasOwner,
});

describe('the id of a new object', () => {
  it.each([
    ['Güterwagen 3', [], 'guterwagen-3'],
    ['  Straße: Łódź / Ærø!  ', [], 'strasse-lodz-aero'],
    ['van_01', ['van_01', 'van_01-2'], 'van_01-3'],
    ['Nörth', ['north'], 'north-2'],
    ['مركبة ٣', [], ''],
    ['--', [], ''],
    ['', [''], ''],
  ])('of the name %j beside %j is %j', (name, taken, id) => {
    expect(idFrom(name, taken)).toBe(id);
  });

  it('has at most 64 characters, with its number', () => {
    const [long, taken] = ['x'.repeat(200), Array.from({ length: 9 }, (_, at) => at)];
    const ids = taken.map((at) => (at === 0 ? 'x'.repeat(58) : `${'x'.repeat(58)}-${at + 1}`));
    expect(idFrom(long, ids)).toBe(`${'x'.repeat(58)}-10`);
  });
});

describe('the column that a list is sorted by', () => {
  it.each([
    [1, 1],
    [-9, -9],
    [0, undefined],
    [10, undefined],
    ['1', undefined],
    [1.5, undefined],
  ])('%j is read as %j', (given, read) => {
    expect(column(given)).toBe(read);
  });
});

describe('the parser of the stream', () => {
  const text =
    'retry: 3000\nid: 41\nevent: hello\ndata: {"eventNo":41}\n\n: keep-alive\n\nid: 42\n\nevent: device\ndata: a\ndata: b\n\n';
  const whole = [
    { id: '41', event: 'hello', data: '{"eventNo":41}' },
    { id: '42', event: 'message', data: '' },
    { id: null, event: 'device', data: 'a\nb' },
  ];

  it('gives the same messages however the text is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 20 }), (cuts) => {
        const parse = createStreamParser();
        const places = [0, ...cuts.toSorted((one, other) => one - other), text.length];
        const found = places.slice(1).flatMap((to, at) => parse(text.slice(places[at], to)));
        expect(found).toEqual(whole);
      }),
    );
  });

  it('refuses a line without end', () => {
    const parse = createStreamParser();
    expect(() => parse('x'.repeat(2 * 1024 * 1024))).toThrow('longer than');
  });
});

describe('vehicles', () => {
  it('stand worst first: an alarm without an owner, a taken one, a low one, doubt, silence, movement', () => {
    const inOrder = [
      vehicle({ id: 'a', name: 'a', alarm: alarm('critical', false) }),
      vehicle({ id: 'b', name: 'b', alarm: alarm('critical', true) }),
      vehicle({ id: 'c', name: 'c', alarm: alarm('low', false) }),
      vehicle({ id: 'd', name: 'd', isDoubtful: true }),
      vehicle({ id: 'e', name: 'e', isOnline: false }),
      vehicle({ id: 'f', name: 'f', speed: 40 }),
      vehicle({ id: 'g', name: 'g' }),
      vehicle({ id: 'h', name: 'h' }),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(inOrder, { minLength: inOrder.length }), (mixed) => {
        expect(worstFirst(mixed).map(({ id }) => id)).toEqual(inOrder.map(({ id }) => id));
      }),
    );
  });

  it('stand so too when single ones change, come and go', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const change = fc.tuple(fc.constantFrom(...ids), fc.option(fc.record({ speed: fc.constantFrom(0, 40) })));
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 }), (steps) => {
        const orderOf = createWorstFirst();
        const fleet = new Map<string, Vehicle>();
        for (const step of steps) {
          for (const [id, as] of step) {
            if (as === null) fleet.delete(id);
            else fleet.set(id, vehicle({ id, name: id, ...as }));
          }
          expect(orderOf(fleet)).toEqual(worstFirst([...fleet.values()]));
        }
      }),
    );
  });

  it('are compared with no other while their rank stays, and else with a few', () => {
    let reads = 0;
    /** Counts how often its name is looked at: a comparison looks at two. */
    const counted = (id: string, speed: number): Vehicle =>
      Object.defineProperty(vehicle({ id, speed }), 'name', {
        get: () => {
          reads += 1;
          return id;
        },
      });
    const ids = Array.from({ length: 1000 }, (_, at) => `v${at}`);
    const fleet = new Map(ids.map((id) => [id, counted(id, 50)]));
    const orderOf = createWorstFirst();
    orderOf(fleet);
    const readsOf = (changed: readonly string[], speed: number): number => {
      for (const id of changed) fleet.set(id, counted(id, speed));
      reads = 0;
      const order = orderOf(fleet);
      const found = reads;
      expect(order.map(({ id }) => id)).toEqual(worstFirst([...fleet.values()]).map(({ id }) => id));
      return found;
    };
    // Reports of ten that drive on: each is asked whether it has another name.
    expect(readsOf(ids.slice(0, 10), 60)).toBeLessThanOrEqual(20);
    // One stops.
    expect(readsOf(['v500'], 0)).toBeLessThanOrEqual(50);
  });

  it('have one state each, and a filter shows those of its state only', () => {
    const offline = vehicle({ isOnline: false, isDoubtful: true, speed: 50 });
    expect(stateOf(offline)).toBe('offline');
    expect(stateOf(vehicle({ isDoubtful: true, speed: 50 }))).toBe('doubtful');
    expect(stateOf(vehicle({ speed: 3 }))).toBe('standing');
    expect(stateOf(vehicle({ speed: null }))).toBe('unknown');
    expect(matchesFilter(vehicle({ speed: null }), 'standing')).toBe(false);
    expect(countsOf([vehicle({ speed: null }), vehicle({ speed: 0 })])).toMatchObject({
      all: 2,
      standing: 1,
      unknown: 1,
    });
    expect(matchesFilter(offline, 'moving')).toBe(false);
    expect(severityOf(vehicle({ alarm: alarm('high', true) }))).toBe('act-taken');
  });

  it('keep the newer position, whichever of list and stream comes last', () => {
    const listed = fleetRow({
      deviceLastValidTimestamp: 100,
      deviceLastValidLatitude: 1,
      deviceLastValidLongitude: 2,
      deviceLastValidSpeed: 10,
    });
    const message = { deviceID: 'van-01', deviceLastValidLatitude: 1, deviceLastValidLongitude: 2 };
    const newer = withDevice(vehicleOf(listed, rowAlone), {
      ...message,
      deviceLastValidTimestamp: 105,
      deviceLastValidSpeed: 30,
    });
    expect(newer).toMatchObject({ fixS: 105, speed: 30, place: [2, 1] });
    expect(vehicleOf(listed, { ...rowAlone, before: newer })).toMatchObject({ fixS: 105, speed: 30 });
    expect(
      withDevice(newer, { ...message, deviceLastValidTimestamp: 100, deviceLastHeartbeat: 200 }),
    ).toMatchObject({ fixS: 105, heartbeatS: 200 });
  });

  it('keep the presence that the stream reported while their rows were read', () => {
    const row = fleetRow({ online: true });
    expect(vehicleOf(row, rowAlone).isOnline).toBe(true);
    expect(vehicleOf(row, { ...rowAlone, isOnline: false }).isOnline).toBe(false);
  });

  it('take no command from a user who may not change devices, and none where the tracker is of another maker', () => {
    expect(vehicleOf(fleetRow({}), rowAlone).mayCommand).toBe(true);
    expect(vehicleOf(fleetRow({}), { ...rowAlone, mayUpdate: false }).mayCommand).toBe(false);
    expect(vehicleOf(fleetRow({ isForeign: true }), rowAlone).mayCommand).toBe(false);
  });

  it('are known by the device alone before the rows are there, but for presence and relays', () => {
    const { state } = exampleDevice;
    const enginecutoff = { ...state.enginecutoff, pendingState: '1', commandState: 'sent', commandID: 'c1' };
    const alone = vehicleAlone({ ...exampleDevice, state: { ...state, enginecutoff } });
    expect(alone).toMatchObject({
      id: exampleDevice.deviceID,
      place: [exampleDevice.deviceLastValidLongitude, exampleDevice.deviceLastValidLatitude],
      speed: exampleDevice.deviceLastValidSpeed,
      heading: exampleDevice.deviceLastValidHeading,
      fixS: exampleDevice.deviceLastValidTimestamp,
      heartbeatS: exampleDevice.deviceLastHeartbeat,
      driver: exampleDevice.deviceDriver,
      zone: exampleDevice.deviceLastGeozoneID,
      ignition: exampleDevice.sensors.ignition.state,
      cutoff: enginecutoff.state,
      pendingCut: 'sent',
      orders: [{ asked: 'cut', state: 'sent' }],
      fitted: null,
      isOnline: null,
      mayCommand: true,
    });
  });

  it('without a fix have no place, not the place 0, 0', () => {
    expect(vehicleOf(fleetRow({}), rowAlone).place).toBeNull();
  });
});

describe('an address', () => {
  it('gives back the place that was written into it, and takes nothing that is none', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -90, max: 90, noNaN: true }),
        fc.double({ min: -180, max: 180, noNaN: true }),
        fc.double({ min: 0, max: 24, noNaN: true }),
        (latitude, longitude, zoom) => {
          const place = parsePlace(placeText({ latitude, longitude, zoom }));
          expect(Math.abs((place?.latitude ?? 999) - latitude)).toBeLessThan(1e-4);
          expect(Math.abs((place?.longitude ?? 999) - longitude)).toBeLessThan(1e-4);
        },
      ),
    );
    for (const text of ['', '1,2', '1,2,3,4', '91,0,3', '0,181,3', '0,0,-1', '0,0,25', 'a,b,c', 'NaN,0,3'])
      expect([text, parsePlace(text)]).toEqual([text, null]);
  });
});

describe('the way of a vehicle', () => {
  it('is broken where nothing was reported for long, and leaves out what has no position', () => {
    const fix = (timestamp: number) => ({
      timestamp,
      latitude: 1,
      longitude: timestamp / 1e6,
      isPositionValid: true,
    });
    const lines = trackOf([
      fix(0),
      { ...fix(5), isPositionValid: false },
      fix(10),
      fix(2000),
      fix(2010),
      fix(9000),
    ]);
    expect(lines.map((line) => line.length)).toEqual([2, 2]);
  });
});

describe('the proof of an event', () => {
  it('says that its neighbours are there only when both are', () => {
    const all = new Set(['b:1', 'b:2', 'b:3', 'c:5']);
    expect(hasNeighbours('b:2', all)).toBe(true);
    expect(hasNeighbours('b:3', all)).toBe(false);
    expect(hasNeighbours('c:5', all)).toBe(false);
    expect(hasNeighbours('nonsense', all)).toBe(false);
  });
});

describe('an age', () => {
  it('has two units at most, and never less than 0', () => {
    expect(spanOf(-5)).toEqual({ unit: 's', value: 0, rest: null });
    expect(spanOf(66)).toEqual({ unit: 'min', value: 1, rest: 6 });
    expect(spanOf(2 * 3600 + 14 * 60)).toEqual({ unit: 'h', value: 2, rest: 14 });
    expect(spanOf(3 * 86_400 + 4 * 3600)).toEqual({ unit: 'd', value: 3, rest: 4 });
  });
});

describe('what is not known', () => {
  // State of the connection, when it was lost, when the answer came, whether the last try failed.
  it.each<['opening' | 'live' | 'down', number, number | null, boolean, string]>([
    ['opening', 0, null, false, 'waiting'],
    ['opening', 0, 5, false, 'known'],
    ['live', 0, 5, false, 'known'],
    ['live', 0, null, false, 'waiting'],
    ['live', 0, 0, false, 'waiting'],
    ['live', 0, null, true, 'unknown'],
    ['live', 0, 5, true, 'unknown'],
    ['down', 9, 5, false, 'unknown'],
    ['down', 9, null, false, 'unknown'],
    // The connection is back, and nothing was read since.
    ['live', 9, 5, false, 'waiting'],
    ['live', 9, 9, false, 'waiting'],
    ['live', 9, 10, false, 'known'],
  ])(
    'of a connection that is %s (lost at %i), read at %s, failed %s: %s',
    (...[state, lostMs, readMs, hasFailed, wanted]) => {
      expect(knowledgeOf({ state, lostMs }, { readMs, hasFailed })).toBe(wanted);
    },
  );

  it.each<[number, 'then' | 'earlier' | 'ahead']>([
    [0, 'then'],
    [-30, 'then'],
    [60, 'then'],
    [-61, 'earlier'],
    [-86_400, 'earlier'],
    [61, 'ahead'],
    [7200, 'ahead'],
  ])('of the time at which an alarm began, %i s after it was opened, is said: %s', (laterS, wanted) => {
    const opened = 1_763_683_200;
    expect(beganOf({ ...exampleAlarm, opened, firstTimestamp: opened + laterS })).toBe(wanted);
  });

  it('by which clock alarms stand: that of the service alone', () => {
    const opened = [10, 20, 30].map((at) => ({ ...exampleAlarm, alarmID: `${at}`, opened: at }));
    const times = [-7200, 0, 7200, 90_000];
    for (const first of times)
      for (const last of times) {
        const [a, b, c] = opened;
        if (a === undefined || b === undefined || c === undefined) continue;
        const mixed = [
          { ...c, firstTimestamp: c.opened + first },
          b,
          { ...a, firstTimestamp: a.opened + last },
        ];
        expect(mixed.toSorted(compareAlarms).map(({ alarmID }) => alarmID)).toEqual(['10', '20', '30']);
      }
  });
});
