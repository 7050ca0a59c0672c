// The protobuf form of events byte by byte: what was stored and sent years ago is still read, what is sent today can be
// read with the published page alone, one event costs at most 60 bytes, and no hostile byte gets further than a reason.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRow, encodeRow } from '../../agent/core/outbox/outbox-row.ts';
import {
  commandStates,
  type FleetEvent,
  featureNames,
  inputNames,
  timeQualities,
} from '../../src/core/events/event.ts';
import { decodeProtobuf, encodeProtobuf } from '../../src/core/events/event-protobuf.ts';

const boot = '00a1b2c3d4e5f607';
const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A position with every measure. */
const position = (index: number): FleetEvent => ({
  seq: 1000 + index,
  timestamp: 1_790_000_000_000 + index * 10_000,
  upMs: 5_000_000 + index * 10_000,
  timeQuality: 'gnss',
  statusCode: 61_472,
  latitude: 43.651_07,
  longitude: -79.347_02 - index * 0.0013,
  altitude: 90,
  speed: 48.5,
  heading: 80,
  hdop: 0.9,
  satellites: 11,
  odometer: 1200.5 + index * 0.14,
  fuelLevel: 0.62,
  inputs: { ignition: true, panic: false, cargoDoor: false },
  outputs: { enginecutoff: false, cargoaccess: true },
});

const report: FleetEvent = {
  seq: 7,
  timestamp: null,
  upMs: 12,
  timeQuality: 'none',
  statusCode: 61_718,
  commandID: 'c-1',
  commandState: 'armed',
  geozoneID: 'depot',
  attributes: { waiting: 'speed' },
};

/** A truck late in its life and months into a boot, all inputs fitted: as long as an event without texts gets. */
const longest: FleetEvent = {
  ...position(0),
  seq: 2_000_000,
  upMs: 34_000_000_000,
  latitude: -89.999_999_9,
  longitude: -179.999_999_9,
  altitude: 4600,
  speed: 131.5,
  heading: 359,
  hdop: 6.3,
  odometer: 1_999_999.999,
  fuelLevel: 0.999,
  inputs: Object.fromEntries(inputNames.map((name) => [name, true])),
};

describe('bytes of earlier versions', () => {
  // Made by the first encoder, before an event alone had a form of its own.
  it.each<[string, string, string, readonly FleetEvent[]]>([
    [
      'one event in columns',
      '0801121030306131623263336434653566363037180120c096b10228c0c190a08c343202ce0f4a01085203c0c0075a02fe1f6205d8ffa4a0036a05ef93dbf4057202b4017a02ca07820102a0018a010112920101169a0104e8c59201a20102d809aa010116b2010102ba010106c2010104',
      boot,
      [position(0)],
    ],
    [
      'three events in columns',
      '0801121030306131623263336434653566363037180320c096b10228c0c190a08c343202ce0f3a0700a09c01a09c014a01085203c0c0075a02fe1f6205d8ffa4a0036a0bef93dbf4058fcb018fcb017202b4017a02ca07820102a0018a010112920101169a0108e8c5920198029802a20102d809aa010116b2010102ba010106c2010104',
      boot,
      [position(0), position(1), position(2)],
    ],
    [
      'a report without a time',
      '08011209747261636b65722d311801200c32010c5203acc4075a0380e003ca01056465706f74d20103632d31da010106e201137b2277616974696e67223a227370656564227d',
      'tracker-1',
      [report],
    ],
  ])('are read for ever: %s', (_what, hex, of, events) => {
    expect(decodeProtobuf(fromHex(hex))).toEqual({ ok: true, batch: { boot: of, events } });
  });

  it('are still those of several events with a boot of any other form', () => {
    const events = [position(0), { ...report, seq: 1001, upMs: 5_000_001 }];
    const { payload } = encodeProtobuf('tracker-1', events);
    expect(toHex(payload).startsWith('08011209747261636b65722d311802')).toBe(true);
    expect(decodeProtobuf(payload)).toEqual({ ok: true, batch: { boot: 'tracker-1', events } });
  });

  it('are today these, and stay so', () => {
    expect(toHex(encodeProtobuf(boot, [position(0)]).payload)).toBe(
      '0802ea013100a1b2c3d4e5f607e807c096b102ff0f6c20f080d8c1a28c34ec9f041a089bb4d0b401ca07a0011216e8c59201d8090b01',
    );
    expect(toHex(encodeProtobuf(boot, [position(0), position(1), position(2)]).payload)).toBe(
      '0802f2010800a1b2c3d4e5f607180320c096b10228c0c190a08c343202ce0f3a0700a09c01a09c014a01085203c0c0075a02fe1f6205d8ffa4a0036a0bef93dbf4058fcb018fcb017202b4017a02ca07820102a0018a010112920101169a0108e8c5920198029802a20102d809aa010116b2010102ba010106c2010104',
    );
    expect(toHex(encodeProtobuf('tracker-1', [report]).payload)).toBe(
      '08021209747261636b65722d31ea0127070c80f0010016f1056465706f7403632d3103137b2277616974696e67223a227370656564227d',
    );
  });
});

/** Reads a row as the comment in `event-batch.proto` says, with nothing of the codec. */
function createRowReader(row: Uint8Array) {
  const view = new DataView(row.buffer, row.byteOffset, row.length);
  let at = 0;
  const take = (count: number): number => (at += count) - count;
  const varint = (): number => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(take(1));
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return Number(value);
    }
  };
  return {
    varint,
    sint(): number {
      const value = varint();
      return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    },
    low: (bytes: 2 | 4): number =>
      bytes === 2 ? view.getUint16(take(2), true) : view.getInt32(take(4), true),
    bytes(count: number): Uint8Array {
      const from = take(count);
      return row.subarray(from, at);
    },
    text: (length: number): string => new TextDecoder().decode(row.subarray(take(length), at)),
    left: (): number => row.length - at,
  };
}

const measures = [
  ['altitude', 1],
  ['speed', 10],
  ['heading', 1],
  ['hdop', 10],
  ['satellites', 1],
  ['odometer', 1000],
  ['fuelLevel', 1000],
] as const;

function readByThePage(payload: Uint8Array): { readonly boot: string; readonly event: object } {
  // Field 1, perhaps field 2, and field 29.
  let at = 2;
  let ownBoot: string | null = null;
  if (payload[at] === 0x12) {
    const length = payload[at + 1] ?? 0;
    ownBoot = new TextDecoder().decode(payload.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  expect([...payload.subarray(at, at + 2)]).toEqual([0xea, 0x01]);
  const row = createRowReader(payload.subarray(at + 2));
  expect(row.varint()).toBe(row.left());
  const bootID = ownBoot ?? toHex(row.bytes(8));
  const event: Record<string, unknown> = { seq: row.varint(), upMs: row.varint() };
  const present = row.varint();
  const has = (index: number): boolean => ((present >> index) & 1) === 1;
  const state = row.varint();
  event['timeQuality'] = timeQualities[state & 7];
  const outputs = featureNames.flatMap((name, index) => {
    const pair = (state >> (3 + 2 * index)) & 3;
    return (pair & 1) === 1 ? [[name, pair === 3]] : [];
  });
  if (has(10)) event['outputs'] = Object.fromEntries(outputs);
  event['statusCode'] = row.low(2);
  event['timestamp'] = has(0) ? row.varint() : null;
  if (has(1)) Object.assign(event, { latitude: row.low(4) / 1e7, longitude: row.low(4) / 1e7 });
  for (const [index, [name, scale]] of measures.entries()) {
    if (!has(index + 2)) continue;
    const value = row.sint();
    event[name] = (name === 'odometer' && value < 0 ? value + 2 ** 32 : value) / scale;
  }
  if (has(9)) {
    const [known, on] = [row.varint(), row.varint()];
    const fitted = inputNames.flatMap((name, index) =>
      ((known >> index) & 1) === 1 ? [[name, ((on >> index) & 1) === 1]] : [],
    );
    event['inputs'] = Object.fromEntries(fitted);
  }
  if (has(11)) event['geozoneID'] = row.text(row.varint());
  if (has(12)) event['commandID'] = row.text(row.varint());
  if (has(13)) event['commandState'] = commandStates[row.varint()];
  if (has(14)) event['attributes'] = JSON.parse(row.text(row.varint()));
  expect(row.left()).toBe(0);
  return { boot: bootID, event };
}

describe('one event alone', () => {
  it('costs at most 60 bytes with every measure, even late in the life of a truck', () => {
    expect(encodeProtobuf(boot, [position(0)]).payload.length).toBe(54);
    expect(encodeProtobuf(boot, [longest]).payload.length).toBeLessThanOrEqual(60);
  });

  it.each([
    ['a position', boot, position(0)],
    ['a report', 'tracker-1', report],
    ['the longest', boot, longest],
    ['the least', boot, { seq: 1, timestamp: null, upMs: 0, timeQuality: 'none', statusCode: 1 } as const],
    ['an odometer beyond 31 bits', boot, { ...position(0), odometer: 4_000_000.123 }],
    ['below the sea', boot, { ...position(0), altitude: -420 }],
  ])('can be read with the published page alone: %s', (_what, of, event) => {
    const { payload } = encodeProtobuf(of, [event]);
    expect(readByThePage(payload)).toEqual({ boot: of, event });
    expect(decodeProtobuf(payload)).toEqual({ ok: true, batch: { boot: of, events: [event] } });
  });

  it('keeps an odometer beyond 2,147,483 km in columns too', () => {
    const events = [
      { ...position(0), odometer: 2_147_483.6 },
      { ...position(1), odometer: 2_147_483.7 },
    ];
    const { payload } = encodeProtobuf(boot, events);
    expect(decodeProtobuf(payload)).toEqual({ ok: true, batch: { boot, events } });
  });

  it('lies in the outbox in this form, and rows that were stored before are still handed out', () => {
    const row = { boot, priority: 0, event: position(0) } as const;
    expect(encodeRow(row).length).toBe(59);
    expect(decodeRow(encodeRow(row))).toEqual(row);
    // CRC-32, class 0, and the payload of the first encoder.
    const stored =
      '0801121030306131623263336434653566363037180120c096b10228c0c190a08c343202ce0f4a01085203c0c0075a02fe1f6205d8ffa4a0036a05ef93dbf4057202b4017a02ca07820102a0018a010112920101169a0104e8c59201a20102d809aa010116b2010102ba010106c2010104';
    expect(decodeRow(fromHex(`9c6438d500${stored}`))).toEqual(row);
  });

  it('is refused when it is cut or goes on, wherever that is', () => {
    for (const event of [position(0), report]) {
      const of = event === report ? 'tracker-1' : boot;
      const { payload } = encodeProtobuf(of, [event]);
      const head = payload.indexOf(0xea) + 3;
      const row = payload.subarray(head);
      const rebuilt = (bytes: Uint8Array): Uint8Array =>
        Uint8Array.from([...payload.subarray(0, head - 1), bytes.length, ...bytes]);
      expect(decodeProtobuf(rebuilt(row))).toMatchObject({ ok: true });
      for (let length = 0; length < row.length; length++) {
        expect(decodeProtobuf(rebuilt(row.subarray(0, length))).ok, `cut at ${length}`).toBe(false);
      }
      expect(decodeProtobuf(rebuilt(Uint8Array.from([...row, 0])))).toMatchObject({
        reason: 'the row goes on after its last value',
      });
    }
  });

  it.each([
    ['fields 29 and 30 need version 2', '0801ea0100'],
    ['fields 29 and 30 need version 2', '0801f2010800a1b2c3d4e5f6071801'],
    ['unknown version 3', '0803ea0100'],
    ['a boot in bytes has 8 of them', '0802ea0100'],
    ['a boot in bytes has 8 of them', '0802f2010700a1b2c3d4e5f61801'],
    ['boot is given twice', '0802120162f2010800a1b2c3d4e5f6071801'],
    ['a single event and columns do not go together', '08021801ea0100'],
    ['a single event and columns do not go together', '0802320102ea0100'],
    ['the row has a member that is not known here', '0802120162ea010801008080020001f0'],
    ['unknown time quality', '0802120162ea01060100000701f0'],
    ['seq must be at least 1', '0802120162ea01060000000001f0'],
    ['statusCode must be an integer from 1 to 65535', '0802120162ea0106010000000000'],
    ['boot is not an id', '080212012fea01060100000001f0'],
  ])('is refused in words: %s', (reason, hex) => {
    expect(decodeProtobuf(fromHex(hex))).toEqual({ ok: false, reason });
  });

  it('never carries another status code than the one meant', () => {
    const { payload } = encodeProtobuf(boot, [{ ...position(0), statusCode: 65_536 + 61_472 }]);
    expect(decodeProtobuf(payload).ok).toBe(false);
  });

  it('survives any bytes: decoded to sane values or refused in words', () => {
    const sound = [position(0), longest, report].map((event) => encodeProtobuf(boot, [event]).payload);
    fc.assert(
      fc.property(
        fc.constantFrom(...sound),
        fc.array(fc.tuple(fc.nat(100), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        (payload, flips) => {
          const mutated = payload.slice();
          for (const [at, value] of flips) mutated[at % mutated.length] = value;
          judge(decodeProtobuf(mutated));
        },
      ),
      { numRuns: 5000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 90 }), (row) => {
        judge(decodeProtobuf(Uint8Array.from([8, 2, 0xea, 1, row.length, ...row])));
      }),
      { numRuns: 5000 },
    );
  });
});

function judge(decoded: ReturnType<typeof decodeProtobuf>): void {
  if (!decoded.ok) return expect(decoded.reason.length).toBeGreaterThan(0);
  const [event, ...others] = decoded.batch.events;
  expect(others).toEqual([]);
  expect(event?.seq).toBeGreaterThan(0);
  expect(event?.statusCode).toBeGreaterThan(0);
  if (event?.latitude !== undefined) expect(Math.abs(event.latitude)).toBeLessThanOrEqual(90);
}

describe('the published page', () => {
  const page = readFileSync(new URL('../../src/core/events/event-batch.proto', import.meta.url), 'utf8');
  const fields = new Map(
    [...page.matchAll(/^ {2}(repeated )?(\w+) (\w+) = (\d+);/gm)].map((match) => [
      Number(match[4]),
      { isRepeated: match[1] !== undefined, type: match[2] ?? '', name: match[3] ?? '' },
    ]),
  );

  it('names every field once, 1 to 30', () => {
    expect([...fields.keys()]).toEqual(Array.from({ length: 30 }, (_unused, index) => index + 1));
    expect(new Set([...fields.values()].map(({ name }) => name)).size).toBe(30);
  });

  it('gives every field that is written its wire type', () => {
    const seen = new Set<number>();
    const payloads = [
      encodeProtobuf(boot, [position(0)]),
      encodeProtobuf(boot, [position(0), { ...report, seq: 1001 }]),
      encodeProtobuf('b1', [
        position(0),
        { ...report, seq: 1001, upMs: 5_000_001, timestamp: 1_790_000_000_009 },
      ]),
    ];
    for (const { payload } of payloads) {
      const reader = createRowReader(payload);
      while (reader.left() > 0) {
        const tag = reader.varint();
        const field = fields.get(tag >> 3);
        seen.add(tag >> 3);
        const isVarint = field !== undefined && !field.isRepeated && /int/.test(field.type);
        expect(tag & 7, `field ${tag >> 3}`).toBe(isVarint ? 0 : 2);
        if (isVarint) reader.varint();
        else reader.bytes(reader.varint());
      }
    }
    expect([...seen].sort((a, b) => a - b)).toEqual([...fields.keys()]);
  });
});
