// The wire codec as a specification: whatever is encoded comes back, whatever comes is decoded or refused in words,
// and a batch of a drive costs less than 20 bytes an event; byte by byte: event-protobuf.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  commandStates,
  eventLimits,
  type FleetEvent,
  featureNames,
  inputNames,
  timeQualities,
} from '../../src/core/events/event.ts';
import { encodeProtobuf } from '../../src/core/events/event-protobuf.ts';
import {
  decodeAck,
  decodeCommand,
  decodeEvents,
  decodeFirmware,
  decodeHello,
  decodeMessage,
  decodeWelcome,
  toRanges,
} from '../../src/core/wire/wire.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const json = (value: unknown): Uint8Array => bytes(JSON.stringify(value));

/** A 10 s drive through a town, as an agent reports it. */
function drive(count: number): FleetEvent[] {
  return Array.from({ length: count }, (_unused, index) => ({
    seq: 1000 + index,
    timestamp: 1_790_000_000_000 + index * 10_000 + ((index * 37) % 40),
    upMs: 5_000_000 + index * 10_000 + ((index * 37) % 40),
    timeQuality: 'gnss',
    statusCode: 61_472,
    latitude: 43.651_07 + Math.sin(index / 9) * 0.01,
    longitude: -79.347_02 + index * 0.0013,
    altitude: 90 + (index % 7),
    speed: 48 + ((index * 13) % 20) / 2,
    heading: (80 + index * 3) % 360,
    hdop: 0.9,
    satellites: 11,
    odometer: 1200.5 + index * 0.14,
    fuelLevel: 0.62,
    inputs: { ignition: true, panic: false, cargoDoor: false },
    outputs: { enginecutoff: false, cargoaccess: false },
  }));
}

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
/** As agents make them, and as anybody else does. */
const boots = fc.oneof(id, fc.stringMatching(/^[0-9a-f]{16}$/));
const steps = (low: number, high: number, scale: number): fc.Arbitrary<number> =>
  fc.integer({ min: low * scale, max: high * scale }).map((value) => value / scale);
const flags = (names: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...names), fc.boolean(), { minKeys: 1, noNullPrototype: true });

const eventArbitrary: fc.Arbitrary<Omit<FleetEvent, 'seq'>> = fc
  .record({
    timestamp: fc.option(fc.integer({ min: 0, max: eventLimits.timestamp }), { nil: null }),
    upMs: fc.integer({ min: 0, max: 2 ** 40 }),
    timeQuality: fc.constantFrom(...timeQualities),
    statusCode: fc.integer({ min: 1, max: 65_535 }),
    position: optional(
      fc.record({ latitude: steps(-90, 90, 10_000_000), longitude: steps(-180, 180, 10_000_000) }),
    ),
    altitude: optional(fc.integer({ min: -1000, max: 20_000 })),
    speed: optional(steps(0, 1000, 10)),
    heading: optional(fc.integer({ min: 0, max: 360 })),
    hdop: optional(steps(0, 1000, 10)),
    satellites: optional(fc.nat(200)),
    odometer: optional(steps(0, 2_000_000, 1000)),
    fuelLevel: optional(steps(0, 1, 1000)),
    inputs: optional(flags(inputNames)),
    outputs: optional(flags(featureNames)),
    geozoneID: optional(id),
    command: optional(fc.record({ commandID: id, commandState: fc.constantFrom(...commandStates) })),
    attributes: optional(
      fc.dictionary(
        id,
        fc.oneof(fc.string({ maxLength: 20 }), fc.integer(), fc.boolean(), fc.constant(null)),
        {
          maxKeys: 4,
          noNullPrototype: true,
        },
      ),
    ),
  })
  .map(({ position, command, ...rest }) => {
    const event = { ...rest, ...position, ...command };
    return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined)) as Omit<
      FleetEvent,
      'seq'
    >;
  });

const number = (events: readonly Omit<FleetEvent, 'seq'>[]): FleetEvent[] =>
  events.map((event, index) => ({ ...event, seq: index * 3 + 1 }));

describe('a protobuf batch', () => {
  it('brings back every event exactly, in as many batches as it takes', () => {
    fc.assert(
      fc.property(boots, fc.array(eventArbitrary, { minLength: 1, maxLength: 40 }), (boot, drafts) => {
        let left = number(drafts);
        while (left.length > 0) {
          const { payload, count } = encodeProtobuf(boot, left);
          expect(count).toBeGreaterThan(0);
          expect(decodeEvents(payload)).toEqual({ ok: true, batch: { boot, events: left.slice(0, count) } });
          left = left.slice(count);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('costs at most 20 bytes an event in batches of 25, and 60 alone', () => {
    const perEvent = (count: number): number =>
      encodeProtobuf('b7f3a1c2d4e50617', drive(count)).payload.length / count;
    console.log(
      `bytes an event: alone ${perEvent(1)}, by 25 ${perEvent(25).toFixed(1)}, by 50 ${perEvent(50).toFixed(1)}`,
    );
    expect(perEvent(1)).toBeLessThanOrEqual(60);
    expect(perEvent(25)).toBeLessThanOrEqual(20);
  });

  it('never exceeds the packet limit', () => {
    const heavy = drive(500).map((event) => ({ ...event, attributes: { text: 'ü'.repeat(900) } }));
    const { payload, count } = encodeProtobuf('b1', heavy);
    expect(payload.length).toBeLessThanOrEqual(eventLimits.payloadBytes);
    expect(count).toBeGreaterThan(5);
  });

  it('survives any mutation: decoded to sane values or refused in words', () => {
    const sound = encodeProtobuf('b7f3a1c2', drive(25)).payload;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
        fc.nat(sound.length),
        (flips, cut) => {
          const mutated = sound.slice(0, cut % 3 === 0 ? cut : sound.length);
          for (const [at, value] of flips) if (at < mutated.length) mutated[at] = value;
          const decoded = decodeEvents(mutated);
          if (!decoded.ok) expect(decoded.reason.length).toBeGreaterThan(0);
          for (const event of decoded.ok ? decoded.batch.events : []) {
            if (event.latitude !== undefined) expect(Math.abs(event.latitude)).toBeLessThanOrEqual(90);
            expect(event.seq).toBeGreaterThan(0);
          }
        },
      ),
      { numRuns: 5000 },
    );
  });
});

describe('a JSON payload', () => {
  it('may be a batch with a boot, as in the wire protocol', () => {
    const decoded = decodeEvents(
      json({
        boot: 'b1',
        events: [
          {
            seq: 1,
            timestamp: 1_763_683_200,
            statusCode: 61_472,
            latitude: 43.65107,
            longitude: -79.34702,
            speed: 54,
            heading: 181,
            altitude: 90,
            odometer: 1200.5,
            fuelLevel: 0.62,
            inputs: { ignition: true },
            geozoneID: 'depot',
            attributes: {},
          },
        ],
      }),
    );
    expect(decoded).toMatchObject({
      ok: true,
      batch: { boot: 'b1', events: [{ seq: 1, timestamp: 1_763_683_200_000, speed: 54 }] },
    });
  });

  it('may be a single bare event, in seconds or milliseconds', () => {
    for (const timestamp of [1_763_683_200, 1_763_683_200_000]) {
      const decoded = decodeEvents(json({ timestamp, statusCode: 63_553 }));
      expect(decoded).toMatchObject({
        ok: true,
        batch: { boot: null, events: [{ seq: 0, timestamp: 1_763_683_200_000 }] },
      });
    }
  });

  it.each<[string, Uint8Array]>([
    ['not JSON in UTF-8', bytes('{"boot":')],
    ['not JSON in UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
    ['the payload must be a JSON object', bytes('[]')],
    ['empty payload', new Uint8Array(0)],
    ['statusCode must be an integer', json({ timestamp: 1 })],
    ['statusCode must be an integer', json({ timestamp: 1, statusCode: 'panic' })],
    ['statusCode must be an integer from 1 to 65535', json({ timestamp: 1, statusCode: 70_000 })],
    [
      'events[0]: seq must be an integer of at least 1',
      json({ boot: 'b', events: [{ timestamp: 1, statusCode: 1 }] }),
    ],
    [
      'events[0]: an event must be an object; events[1]: statusCode must be an integer',
      json({ boot: 'b', events: [7, { seq: 1 }] }),
    ],
    ['boot must be 1 to 64 of [A-Za-z0-9_-]', json({ boot: 'a/b', events: [] })],
    ['events must be an array of 1 to 500', json({ boot: 'b' })],
  ])('is refused: %s', (reason, payload) => {
    expect(decodeEvents(payload)).toEqual({ ok: false, reason });
  });

  // What trackers send for a value that they do not know costs the value; what they send beside it stays with the event.
  const at = 1_763_683_200;
  it.each<[string, object, object, readonly string[]]>([
    ['heading -1, speed null', { heading: -1, speed: null }, {}, ['heading', 'speed', 'attributes']],
    [
      'all bits set',
      {
        speed: 65_535,
        heading: 65_535,
        satellites: 255,
        odometer: 4_294_967_295,
        altitude: -32_768,
        hdop: 65_535,
      },
      {},
      ['speed', 'heading', 'satellites', 'odometer', 'altitude', 'hdop', 'attributes'],
    ],
    [
      'AIS: 91, 181, 511',
      { latitude: 91, longitude: 181, heading: 511 },
      {},
      ['latitude', 'longitude', 'heading', 'attributes'],
    ],
    [
      'empty texts and NaN',
      { speed: '', heading: 'NaN', fuelLevel: 'n/a', geozoneID: '', commandID: null, commandState: '' },
      {},
      ['speed', 'heading', 'fuelLevel', 'geozoneID', 'commandID', 'commandState', 'attributes'],
    ],
    [
      'nothing at all',
      { inputs: null, outputs: '', attributes: null, upMs: null, timeQuality: null },
      { upMs: null, timeQuality: 'rtc' },
      ['inputs', 'outputs', 'attributes'],
    ],
    [
      'numbers as texts',
      { speed: '54.5', latitude: '43.65', longitude: '-79.3', statusCode: '63553' },
      { speed: 54.5, latitude: 43.65, longitude: -79.3, statusCode: 63_553 },
      ['attributes'],
    ],
    [
      '0, 0 of a receiver without a fix',
      { latitude: 0, longitude: 0, satellites: 0 },
      { satellites: 0 },
      ['latitude', 'longitude', 'attributes'],
    ],
    [
      'one coordinate',
      { latitude: 43.5, longitude: null },
      { attributes: { latitude: 43.5 } },
      ['latitude', 'longitude'],
    ],
    [
      'states as numbers',
      { inputs: { ignition: 1, panic: '0', tamper: null, motion: -1, door: true } },
      { inputs: { ignition: true, panic: false }, attributes: { 'inputs.door': true } },
      [],
    ],
    [
      'values that no unit has',
      { speed: 5000, heading: -90, odometer: 123_456_789, fuelLevel: 62 },
      { attributes: { speed: 5000, heading: -90, odometer: 123_456_789, fuelLevel: 62 } },
      ['speed', 'heading', 'odometer', 'fuelLevel'],
    ],
    [
      'members that are not known here',
      { battery: 87, io: { 239: 1 }, speed: 54 },
      { speed: 54, attributes: { battery: 87, io: '{"239":1}' } },
      [],
    ],
    [
      'attributes that are not flat',
      { attributes: { a: 1, b: [2], speed: null } },
      { attributes: { a: 1, b: '[2]', speed: null } },
      [],
    ],
    ['a name that is no prototype', JSON.parse('{"__proto__":{"polluted":1}}') as object, {}, ['polluted']],
    ['half a report on a command', { commandID: 'c1' }, { attributes: { commandID: 'c1' } }, ['commandID']],
    ['a time as text', { timestamp: '2025-11-21T00:00:00Z' }, { timestamp: at * 1000 }, ['attributes']],
    [
      'a time with an offset',
      { timestamp: '2025-11-21 01:00:00.000+01:00' },
      { timestamp: at * 1000 },
      ['attributes'],
    ],
    ['a time of digits', { timestamp: String(at) }, { timestamp: at * 1000 }, ['attributes']],
    ['no time', { timestamp: null }, { timestamp: null, timeQuality: 'none' }, ['attributes']],
    [
      'a clock that was never set',
      { timestamp: 0 },
      { timestamp: null, timeQuality: 'none' },
      ['attributes'],
    ],
    [
      'a time that is none',
      { timestamp: 'yesterday' },
      { timestamp: null, timeQuality: 'none', attributes: { timestamp: 'yesterday' } },
      [],
    ],
  ])('is read as far as it is good: %s', (_name, sent, wanted, absent) => {
    const event = { timestamp: at, statusCode: 61_472, ...sent };
    for (const payload of [json(event), json({ boot: 'b', events: [{ seq: 1, ...event }] })]) {
      const decoded = decodeEvents(payload);
      if (!decoded.ok) throw new Error(decoded.reason);
      const [read] = decoded.batch.events;
      expect(read).toMatchObject({ statusCode: 61_472, ...wanted });
      for (const name of absent) expect(read, name).not.toHaveProperty(name);
      expect(decoded).not.toHaveProperty('rejected');
    }
  });

  it('of an encoder with NaN, a zero byte at the end or another encoding is read', () => {
    const text =
      '{"timestamp":1763683200,"statusCode":63553,"speed":NaN,"heading":-nan,"altitude":-Infinity,"attributes":{"a":"NaN, \\"inf\\""}}\0';
    expect(decodeEvents(bytes(text))).toMatchObject({
      ok: true,
      batch: { events: [{ statusCode: 63_553, attributes: { a: 'NaN, "inf"' } }] },
    });
    const latin = Buffer.from('{"timestamp":1,"statusCode":1,"attributes":{"a":"M\xfcnchen"}}', 'latin1');
    expect(decodeEvents(latin)).toMatchObject({
      ok: true,
      batch: { events: [{ attributes: { a: 'M\ufffdnchen' } }] },
    });
  });

  it('loses one event by its fault, never the others; what was rejected is a payload of its own', () => {
    const good = { seq: 1, timestamp: at, statusCode: 63_553 };
    const bad = [{ seq: 2, timestamp: at }, 'event', { seq: 3, timestamp: at, statusCode: 70_000 }];
    const decoded = decodeEvents(json({ boot: 'b', imei: 7, events: [good, ...bad] }));
    if (!decoded.ok) throw new Error(decoded.reason);
    expect(decoded.batch.events).toMatchObject([{ seq: 1, statusCode: 63_553, attributes: { imei: 7 } }]);
    expect(decoded.rejected?.reason).toBe(
      'events[1]: statusCode must be an integer; events[2]: an event must be an object; events[3]: statusCode must be an integer from 1 to 65535',
    );
    expect(JSON.parse(new TextDecoder().decode(decoded.rejected?.payload ?? bytes('')))).toEqual({
      boot: 'b',
      events: bad,
    });
  });

  it('keeps what fits of attributes that are too long, and the event whole beside it', () => {
    const event = {
      seq: 1,
      timestamp: at,
      statusCode: 63_553,
      attributes: { long: 'x'.repeat(3000), short: 1 },
    };
    const decoded = decodeEvents(json({ boot: 'b', events: [event] }));
    expect(decoded).toMatchObject({
      ok: true,
      batch: { events: [{ attributes: { short: 1 } }] },
      rejected: { reason: 'events[0]: attributes are longer than 2048 characters' },
    });
  });

  it('of any shape never throws', () => {
    fc.assert(
      fc.property(fc.json(), (text) => void decodeEvents(bytes(text))),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (payload) => void decodeEvents(payload)),
      { numRuns: 5000 },
    );
  });
});

describe('the other messages', () => {
  it('of any bytes are decoded or null, never thrown', () => {
    for (const decode of [
      decodeHello,
      decodeWelcome,
      decodeAck,
      decodeCommand,
      decodeFirmware,
      decodeMessage,
    ]) {
      fc.assert(
        fc.property(fc.json(), (text) => void decode(bytes(text))),
        { numRuns: 500 },
      );
      expect(decode(new Uint8Array([1, 2, 3]))).toBeNull();
    }
  });

  it('are a welcome whatever topic it offers, and none but the short topic is taken from it', () => {
    const ids = { accountID: 'acme', deviceID: 'truck-1', boot: 'b1', nonce: 'n1' };
    const welcome = { ...ids, serverTimeMs: 1, upTo: 2, configVersion: 3 };
    expect(decodeWelcome(json(welcome))).toEqual(welcome);
    const offer = { ...welcome, eventsTopic: 'e' };
    expect(decodeWelcome(json(offer))).toEqual(offer);
    for (const eventsTopic of ['', 'E', '#', 'fleet/v1/acme/truck-2/events', 1, null, ['e']])
      expect(decodeWelcome(json({ ...welcome, eventsTopic }))).toEqual(welcome);
  });

  it('are a firmware job or a message only when every member fits', () => {
    const ids = { accountID: 'acme', deviceID: 'truck-1', boot: 'b1' };
    const job = {
      ...ids,
      commandID: 'c1',
      issuedMs: 1,
      expiresMs: 2,
      version: '1.4.0',
      url: 'https://updates.example.com/agent.deb',
      sha256: '0123456789abcdef'.repeat(4),
      issuer: 'anna',
      cancel: false,
    };
    const note = { ...ids, messageID: 'm1', sentMs: 1, expiresMs: 2, from: 'olga', text: 'x'.repeat(500) };
    expect(decodeFirmware(json(job))).toEqual(job);
    expect(decodeMessage(json(note))).toEqual(note);
    expect(decodeCommand(json(job))).toBeNull();
    expect(decodeMessage(json(job))).toBeNull();
    const spoilt: readonly object[] = [
      { boot: 'a/b' },
      { expiresMs: 0 },
      { sha256: 'ABC' },
      { sha256: 'A'.repeat(64) },
      { url: 'x'.repeat(1001) },
      { version: 'x'.repeat(65) },
      { cancel: 'no' },
      { commandID: '' },
    ];
    for (const one of spoilt)
      expect(decodeFirmware(json({ ...job, ...one })), JSON.stringify(one)).toBeNull();
    const spoiltNotes: readonly object[] = [
      { text: '' },
      { text: 'x'.repeat(501) },
      { from: 5 },
      { messageID: '../x' },
      { expiresMs: 0 },
    ];
    for (const one of spoiltNotes)
      expect(decodeMessage(json({ ...note, ...one })), JSON.stringify(one)).toBeNull();
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(job)), fc.anything({ maxDepth: 1 })),
        (parts) => {
          void decodeFirmware(json({ ...job, ...parts }));
          void decodeMessage(json({ ...note, ...parts }));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('acknowledge exact ranges', () => {
    expect(toRanges([9, 1, 2, 3, 7, 8])).toEqual([
      [1, 3],
      [7, 9],
    ]);
    expect(
      decodeAck(
        json({
          boot: 'b1',
          upTo: 3,
          ranges: [
            [1, 3],
            [7, 9],
          ],
        }),
      ),
    ).toEqual({
      boot: 'b1',
      upTo: 3,
      ranges: [
        [1, 3],
        [7, 9],
      ],
    });
    expect(decodeAck(json({ boot: 'b1', upTo: 3, ranges: [[3, 1]] }))).toBeNull();
  });
});
