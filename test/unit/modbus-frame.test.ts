import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkRequest,
  crc16,
  decodeResponse,
  encodeRequest,
  expectedLength,
  formatException,
  formatRequest,
  type ModbusRequest,
} from '../../agent/core/board/modbus-frame.ts';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';

const bytes = (hex: string) => Uint8Array.from(hex.split(' ').map((byte) => Number.parseInt(byte, 16)));
const withCrc = (body: readonly number[]) => {
  const crc = crc16(Uint8Array.from(body));
  return Uint8Array.from([...body, crc & 0xff, crc >> 8]);
};

// Recorded between libmodbus 3.1.6 and pymodbus 3.0 on a pty pair.
const golden: readonly {
  what: string;
  request: ModbusRequest;
  sent: string;
  answer: string | null;
  result?: object;
}[] = [
  {
    what: 'read coils 0-7',
    request: { kind: 'readBits', unit: 1, function: 1, first: 0, count: 8 },
    sent: '01 01 00 00 00 08 3d cc',
    answer: '01 01 01 00 51 88',
    result: { kind: 'ok', values: [0, 0, 0, 0, 0, 0, 0, 0] },
  },
  {
    what: 'read discrete inputs 0-7',
    request: { kind: 'readBits', unit: 1, function: 2, first: 0, count: 8 },
    sent: '01 02 00 00 00 08 79 cc',
    answer: '01 02 01 aa 21 f7',
    result: { kind: 'ok', values: [0, 1, 0, 1, 0, 1, 0, 1] },
  },
  {
    what: 'read holding registers 0-3',
    request: { kind: 'readRegisters', unit: 1, function: 3, first: 0, count: 4 },
    sent: '01 03 00 00 00 04 44 09',
    answer: '01 03 08 03 e8 03 e9 03 ea 03 eb 81 27',
    result: { kind: 'ok', values: [1000, 1001, 1002, 1003] },
  },
  {
    what: 'read input registers 10-13',
    request: { kind: 'readRegisters', unit: 1, function: 4, first: 10, count: 4 },
    sent: '01 04 00 0a 00 04 d1 cb',
    answer: '01 04 08 03 f2 03 f3 03 f4 03 f5 32 f0',
    result: { kind: 'ok', values: [1010, 1011, 1012, 1013] },
  },
  {
    what: 'write coil 3 on',
    request: { kind: 'writeCoil', unit: 1, address: 3, on: true },
    sent: '01 05 00 03 ff 00 7c 3a',
    answer: '01 05 00 03 ff 00 7c 3a',
    result: { kind: 'ok', values: [] },
  },
  {
    what: 'write coils 0-7',
    request: {
      kind: 'writeCoils',
      unit: 1,
      first: 0,
      values: [true, false, true, true, false, false, true, false],
    },
    sent: '01 0f 00 00 00 08 01 4d 3e a0',
    answer: '01 0f 00 00 00 08 54 0d',
    result: { kind: 'ok', values: [] },
  },
  {
    what: 'write register 0 = 256',
    request: { kind: 'writeRegister', unit: 1, address: 0, value: 256 },
    sent: '01 06 00 00 01 00 88 5a',
    answer: '01 06 00 00 01 00 88 5a',
    result: { kind: 'ok', values: [] },
  },
  {
    what: 'write registers 9-11',
    request: { kind: 'writeRegisters', unit: 1, first: 9, values: [1, 2, 65535] },
    sent: '01 10 00 09 00 03 06 00 01 00 02 ff ff ab 1f',
    answer: '01 10 00 09 00 03 50 0a',
    result: { kind: 'ok', values: [] },
  },
  {
    what: 'an address the board does not have',
    request: { kind: 'readRegisters', unit: 1, function: 3, first: 5000, count: 4 },
    sent: '01 03 13 88 00 04 c0 a7',
    answer: '01 83 02 c0 f1',
    result: { kind: 'exception', code: 2 },
  },
  {
    what: 'a unit that is not there',
    request: { kind: 'readRegisters', unit: 9, function: 3, first: 0, count: 1 },
    sent: '09 03 00 00 00 01 85 42',
    answer: null,
  },
];

const recorded = 'modbus/frames.json';

const word = fc.integer({ min: 0, max: 0xffff });
const unit = fc.integer({ min: 1, max: 247 });
const first = fc.integer({ min: 0, max: 60_000 });
const requests: fc.Arbitrary<ModbusRequest> = fc.oneof(
  fc.record({
    kind: fc.constant('readBits' as const),
    unit,
    function: fc.constantFrom(1 as const, 2 as const),
    first,
    count: fc.integer({ min: 1, max: 2000 }),
  }),
  fc.record({
    kind: fc.constant('readRegisters' as const),
    unit,
    function: fc.constantFrom(3 as const, 4 as const),
    first,
    count: fc.integer({ min: 1, max: 125 }),
  }),
  fc.record({ kind: fc.constant('writeCoil' as const), unit, address: first, on: fc.boolean() }),
  fc.record({ kind: fc.constant('writeRegister' as const), unit, address: first, value: word }),
  fc.record({
    kind: fc.constant('writeCoils' as const),
    unit,
    first,
    values: fc.array(fc.boolean(), { minLength: 1, maxLength: 1968 }),
  }),
  fc.record({
    kind: fc.constant('writeRegisters' as const),
    unit,
    first,
    values: fc.array(word, { minLength: 1, maxLength: 123 }),
  }),
);

/** A good answer to a request, with data of the given seed. */
function answerTo(request: ModbusRequest, seed: number): Uint8Array {
  const sent = encodeRequest(request);
  if (request.kind !== 'readBits' && request.kind !== 'readRegisters')
    return withCrc([...sent.subarray(0, 6)]);
  const length = expectedLength(request) - 5;
  return withCrc([
    request.unit,
    request.function,
    length,
    ...Array.from({ length }, (_, at) => (at * 31 + seed) & 255),
  ]);
}

describe('an RTU frame', () => {
  for (const frame of golden) {
    it(`is what libmodbus and pymodbus exchange: ${frame.what}`, () => {
      expect(encodeRequest(frame.request)).toEqual(bytes(frame.sent));
      if (frame.answer === null) return;
      expect(decodeResponse(frame.request, bytes(frame.answer))).toEqual(frame.result);
    });
  }

  it.skipIf(sharedData(recorded) === null)(sharedTitle('agrees with the recorded frames', recorded), () => {
    const file = JSON.parse(Buffer.from(readShared(recorded)).toString('utf8')) as {
      frames: { request: string; answer: string | null }[];
    };
    for (const [at, frame] of golden.entries()) {
      expect(file.frames[at]).toMatchObject({ request: frame.sent, answer: frame.answer });
    }
  });

  // Captured from a Waveshare Relay 32CH whose relay 11 is on (simonvetter/modbus issue 47).
  it.each([
    [32, '01 01 04 00 00 08 00 fc 11', true, 11],
    [32, '01 01 04 00 00 08 00 fc 11', false, 19],
    [8, '01 01 01 08 50 4e', true, 3],
    [16, '01 01 02 01 00 b8 ac', true, 8],
  ] as const)(
    'of %i bits whose bytes come last first gives them in order: %s, %s',
    (count, answer, isReversed, on) => {
      const body = [...bytes(answer)].slice(0, -2);
      const request = { kind: 'readBits', unit: 1, function: 1, first: 0, count, isReversed } as const;
      expect(encodeRequest(request)).toEqual(encodeRequest({ ...request, isReversed: false }));
      const values = Array.from({ length: count }, (_, at) => (at === on ? 1 : 0));
      expect(decodeResponse(request, withCrc(body))).toEqual({ kind: 'ok', values });
      if (count === 32) expect(withCrc(body)).toEqual(bytes(answer));
    },
  );

  it('is incomplete at every length before the last byte', () => {
    fc.assert(
      fc.property(requests, word, (request, seed) => {
        const answer = answerTo(request, seed);
        expect(answer.length).toBe(expectedLength(request));
        for (let length = 0; length < answer.length; length += 1) {
          expect(decodeResponse(request, answer.subarray(0, length)).kind).toBe('incomplete');
        }
        expect(decodeResponse(request, answer).kind).toBe('ok');
        expect(decodeResponse(request, Uint8Array.from([...answer, 0]))).toEqual({
          kind: 'invalid',
          reason: 'tooLong',
        });
      }),
      { numRuns: 60 },
    );
  });

  it('with up to 3 flipped bits is never taken for good', () => {
    fc.assert(
      fc.property(
        requests,
        fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 3, selector: (bit) => bit }),
        (request, bits) => {
          const answer = answerTo(request, 7);
          const places = new Set(bits.map((bit) => bit % (answer.length * 8)));
          for (const place of places) answer[place >> 3] = (answer[place >> 3] ?? 0) ^ (1 << (place & 7));
          expect(decodeResponse(request, answer).kind).not.toBe('ok');
        },
      ),
    );
  });

  it('of another unit, function, length, address or value is refused with the reason', () => {
    const coil: ModbusRequest = { kind: 'writeCoil', unit: 1, address: 3, on: true };
    const read: ModbusRequest = { kind: 'readRegisters', unit: 1, function: 3, first: 0, count: 4 };
    const reasonOf = (request: ModbusRequest, body: number[]) => decodeResponse(request, withCrc(body));
    expect(reasonOf(coil, [2, 5, 0, 3, 0xff, 0])).toEqual({ kind: 'invalid', reason: 'wrongUnit' });
    expect(reasonOf(coil, [1, 6, 0, 3, 0xff, 0])).toEqual({ kind: 'invalid', reason: 'wrongFunction' });
    expect(reasonOf(coil, [1, 5, 0, 4, 0xff, 0])).toEqual({ kind: 'invalid', reason: 'wrongEcho' });
    expect(reasonOf(coil, [1, 5, 0, 3, 0, 0])).toEqual({ kind: 'invalid', reason: 'wrongEcho' });
    expect(reasonOf(read, [1, 3, 2, 0, 0])).toEqual({ kind: 'invalid', reason: 'wrongLength' });
    expect(
      reasonOf({ kind: 'writeRegisters', unit: 1, first: 9, values: [1, 2] }, [1, 16, 0, 9, 0, 3]),
    ).toEqual({
      kind: 'invalid',
      reason: 'wrongEcho',
    });
  });

  it('never names a unit, address, count or value the protocol does not have', () => {
    const read = { kind: 'readBits', unit: 1, function: 1, first: 0, count: 8 } as const;
    expect(checkRequest(read)).toBeNull();
    expect(checkRequest({ ...read, unit: 0 })).toContain('unit 0');
    expect(checkRequest({ ...read, count: 2001 })).toContain('2001');
    expect(checkRequest({ ...read, first: 65_530 })).toContain('65530');
    expect(checkRequest({ ...read, function: 5 as 1 })).toContain('function 5');
    expect(checkRequest({ kind: 'writeRegister', unit: 1, address: 0, value: 70_000 })).toContain('70000');
    expect(checkRequest({ kind: 'writeRegisters', unit: 1, first: 0, values: [] })).toContain('count 0');
    fc.assert(fc.property(requests, (request) => checkRequest(request) === null));
  });

  it('has the members of its kind alone, as the relay guard judges it', () => {
    const alien = { function: 2, first: 7, address: 9, count: 3, on: true, value: 6, values: [true, true] };
    fc.assert(
      fc.property(requests, (request) => {
        const mixed = { ...alien, ...request } as typeof request;
        expect(checkRequest(mixed)).toBeNull();
        expect(encodeRequest(mixed)).toEqual(encodeRequest(request));
      }),
    );
  });

  it('is described in words for people', () => {
    const read = { kind: 'readBits', unit: 1, function: 1, first: 0, count: 8 } as const;
    expect(`${formatRequest(read)}: ${formatException(2)}`).toBe(
      'unit 1, read coils 0-7: exception 2 illegal data address',
    );
  });
});
