// Identifiers, ranges, long messages, texts, slots and ages of a J1939 bus.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseValues } from '../../agent/core/bus/bus-choice.ts';
import { busLimits } from '../../agent/core/bus/bus-limits.ts';
import { createBusValues } from '../../agent/core/bus/bus-values.ts';
import { parseJ1939Id, readBytes, readThreeBits, readTwoBits } from '../../agent/core/bus/j1939-frame.ts';
import { type BusName, busNames, busSignals, readSignal } from '../../agent/core/bus/j1939-signals.ts';
import { parseDriverCards, parseTroubleCodes, parseVin } from '../../agent/core/bus/j1939-texts.ts';
import { createTransport, transportLimits } from '../../agent/core/bus/j1939-transport.ts';
import { createOdometer, stepOdometer } from '../../agent/core/bus/odometer-check.ts';
import type { CanFrame } from '../../agent/core/bus/slcan-line.ts';
import { bamFrames, ccvs1, ebc2, eec1, j1939Frame, vdhr } from '../../simulator/hardware/j1939-frames.ts';

const ascii = (text: string): number[] => [...Buffer.from(text, 'latin1')];

/** Sends frames every 100 ms from `fromMs`; gives the time after the last one. */
function feed(
  bus: ReturnType<typeof createBusValues>,
  fromMs: number,
  forMs: number,
  frames: readonly CanFrame[],
): number {
  for (let atMs = fromMs; atMs < fromMs + forMs; atMs += 100) for (const one of frames) bus.take(one, atMs);
  return fromMs + forMs;
}

/** The chosen values at a time. */
function chosen(
  bus: ReturnType<typeof createBusValues>,
  nowMs: number,
): Partial<Record<BusName, number | null>> {
  return Object.fromEntries(
    [...chooseValues(bus.view(nowMs).values, nowMs)].map(([name, { value }]) => [name, value]),
  );
}

describe('identifiers and ranges', () => {
  test('name group, sender and receiver', () => {
    expect(parseJ1939Id(0x18fef131)).toEqual({ priority: 6, pgn: 65_265, destination: null, source: 0x31 });
    expect(parseJ1939Id(0x0cf00400)).toEqual({ priority: 3, pgn: 61_444, destination: null, source: 0 });
    expect(parseJ1939Id(0x18ea00f9)).toEqual({ priority: 6, pgn: 59_904, destination: 0, source: 0xf9 });
    expect(parseJ1939Id(0x1cebff0b)).toEqual({ priority: 7, pgn: 60_160, destination: null, source: 0x0b });
  });

  test('leave errors and missing values without a number', () => {
    const at = (...data: number[]): Uint8Array => Uint8Array.from(data);
    expect(readBytes(at(0xfa), 1, 1)).toBe(0xfa);
    expect(readBytes(at(0xfb), 1, 1)).toBe('not_available');
    expect(readBytes(at(0xfe), 1, 1)).toBe('error');
    expect(readBytes(at(0xff, 0xfa), 1, 2)).toBe(0xfaff);
    expect(readBytes(at(0x00, 0xfe), 1, 2)).toBe('error');
    expect(readBytes(at(0xff, 0xff), 1, 2)).toBe('not_available');
    expect(readBytes(at(0xff, 0xff, 0xff, 0xfa), 1, 4)).toBe(0xfaff_ffff);
    expect(readBytes(at(0, 0, 0, 0xfb), 1, 4)).toBe('not_available');
    expect(readBytes(at(1), 1, 2)).toBe('not_available');
    expect([0b0000, 0b0100, 0b1000, 0b1100].map((byte) => readTwoBits(at(byte), 1, 3))).toEqual([
      0,
      1,
      'error',
      'not_available',
    ]);
    expect([5, 6, 7].map((byte) => readThreeBits(at(byte), 1, 1))).toEqual([5, 'error', 'not_available']);
  });

  test('give no number for any frame of ones, whatever its length', () => {
    for (const signal of busSignals)
      for (let length = 0; length <= 8; length += 1)
        expect(readSignal(signal, new Uint8Array(length).fill(0xff))).toBe('not_available');
    expect(new Set(busSignals.map(({ name }) => name))).toEqual(new Set(busNames));
  });
});

describe('long messages', () => {
  const assemble = (frames: readonly CanFrame[], everyMs = 60) => {
    const transport = createTransport(() => true);
    return frames.flatMap(({ id, data }, n) => transport.take(parseJ1939Id(id), data, n * everyMs) ?? []);
  };

  test('are assembled, interleaved with those of other senders', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ minLength: 9, maxLength: transportLimits.bytes }), {
          minLength: 1,
          maxLength: transportLimits.sessions,
        }),
        (messages) => {
          const lists = messages.map((data, source) => bamFrames(65_226, source, [...data]));
          const longest = Math.max(...lists.map(({ length }) => length));
          const mixed = Array.from({ length: longest }, (_, n) =>
            lists.flatMap((list) => list[n] ?? []),
          ).flat();
          const found = assemble(mixed, 1);
          expect(found.sort((a, b) => a.source - b.source).map(({ data }) => data)).toEqual(messages);
        },
      ),
    );
  });

  const message = bamFrames(
    65_226,
    7,
    Array.from({ length: 30 }, (_, n) => n),
  );
  test('with a missing, doubled or swapped part, a wrong size or a pause are dropped', () => {
    expect(assemble(message)).toHaveLength(1);
    expect(assemble(message.filter((_, n) => n !== 2))).toEqual([]);
    expect(assemble(message.flatMap((one, n) => (n === 2 ? [one, one] : [one])))).toEqual([]);
    expect(
      assemble([message[0], message[2], message[1], ...message.slice(3)].flatMap((one) => one ?? [])),
    ).toEqual([]);
    expect(assemble(message, transportLimits.pauseMs + 1)).toEqual([]);
    const announce = message[0]?.data ?? new Uint8Array(8);
    const lie = j1939Frame(
      60_416,
      7,
      [...announce].map((byte, n) => (n === 1 ? 200 : byte)),
    );
    expect(assemble([lie, ...message.slice(1)])).toEqual([]);
  });

  test('between two nodes are ignored', () => {
    const toNode = message.map((one) => ({ ...one, id: ((one.id & ~0xff00) | 0x2100) >>> 0 }));
    expect(assemble(toNode)).toEqual([]);
  });

  test('of any frames never throw and never exceed their size', () => {
    const transport = createTransport(() => true);
    fc.assert(
      fc.property(
        fc.constantFrom(60_416, 60_160),
        fc.nat(255),
        fc.uint8Array({ maxLength: 8 }),
        fc.nat(2000),
        (pgn, source, data, atMs) => {
          const found = transport.take({ priority: 7, pgn, destination: null, source }, data, atMs);
          expect(found?.data.length ?? 0).toBeLessThanOrEqual(transportLimits.bytes);
        },
      ),
      { numRuns: 5000 },
    );
  });
});

describe('texts', () => {
  test('that are no vehicle identification number give none', () => {
    expect(parseVin(Uint8Array.from(ascii('WDB9634031L738256*')))).toBe('WDB9634031L738256');
    for (const text of [
      'OSEV__ BMS*',
      'WDB9634031L73825*',
      'WDB9634031L7382567*',
      'WDB9634031O738256*',
      '0'.repeat(17),
      '*',
      '',
    ])
      expect(parseVin(Uint8Array.from(ascii(text)))).toBeNull();
  });

  test('name the cards of two drivers', () => {
    expect(parseDriverCards(Uint8Array.from(ascii('D  DF000123456780*D  DF000765432100*')))).toEqual([
      'D  DF000123456780',
      'D  DF000765432100',
    ]);
    expect(parseDriverCards(Uint8Array.from(ascii('D  DF000123456780**')))).toEqual([
      'D  DF000123456780',
      null,
    ]);
    expect(parseDriverCards(Uint8Array.from(ascii('**')))).toEqual([null, null]);
    expect(parseDriverCards(Uint8Array.from([0xff, 0xff]))).toBeNull();
  });

  test.each([
    [
      'FF behind each number',
      'D  DF000123456780\xff\xff*D  DF000765432100\xff*\xff\xff',
      ['D  DF000123456780', 'D  DF000765432100'],
    ],
    [
      'NUL behind each number',
      'D  DF000123456780\0\0*D  DF000765432100\0\0*',
      ['D  DF000123456780', 'D  DF000765432100'],
    ],
    ['NUL before a number', '\0\0D  DF000123456780*\0*', ['D  DF000123456780', null]],
    ['a slot of FF', `${'\xff'.repeat(16)}*D  DF000765432100*`, [undefined, 'D  DF000765432100']],
    ['a slot of NUL', `D  DF000123456780*${'\0'.repeat(16)}*`, ['D  DF000123456780', null]],
    ['no end of the second slot', 'D  DF000123456780*\xff\xff\xff', ['D  DF000123456780', undefined]],
    ['blanks and FF', 'D  DF000123456780  \xff\xff*  \xff*', ['D  DF000123456780', null]],
    ['a byte within a number that is none', 'D  DF0001\xff23456780**', null],
    ['a letter that is none', 'D  DF0001\xe923456780**', null],
  ])('name the cards of two drivers where they are filled: %s', (_what, text, cards) => {
    expect(parseDriverCards(Uint8Array.from(ascii(text)))).toEqual(cards);
  });

  test('of a vehicle identification are filled too', () => {
    for (const text of [
      'WDB9634031L738256\xff\xff*',
      '\0\0\0WDB9634031L738256',
      'WDB9634031L738256*\xff\xff',
    ])
      expect(parseVin(Uint8Array.from(ascii(text)))).toBe('WDB9634031L738256');
    for (const text of ['\xff'.repeat(17), '\0'.repeat(17), 'WDB9634031\xffL738256*'])
      expect(parseVin(Uint8Array.from(ascii(text)))).toBeNull();
  });

  test('of trouble codes give SPN, failure mode and count, and nothing for filling bytes', () => {
    const codes = parseTroubleCodes(
      Uint8Array.from([0x04, 0xff, 0xb2, 0x0c, 0x44, 0x03, 0x6e, 0x00, 0x0f, 0x81, 0xff, 0xff]),
    );
    expect(codes).toEqual([
      { spn: 0x20cb2, fmi: 4, count: 3 },
      { spn: 110, fmi: 15, count: 1 },
    ]);
    expect(parseTroubleCodes(Uint8Array.from([0, 0xff, 0, 0, 0, 0, 0xff, 0xff]))).toEqual([]);
    expect(parseTroubleCodes(Uint8Array.from(Array.from({ length: 8 }, () => 0xff)))).toEqual([]);
    expect(parseTroubleCodes(Uint8Array.from([0]))).toBeNull();
  });
});

describe('slots', () => {
  test('keep the value of the sender that has one', () => {
    const bus = createBusValues();
    const nowMs = feed(bus, 0, 11_000, [ccvs1(42, 3, 0x00), ccvs1(null, 1, 0x31)]);
    expect(chosen(bus, nowMs)).toMatchObject({ speed: 42, parkingBrake: 1 });
    expect(
      bus
        .view(nowMs)
        .values.filter(({ name }) => name === 'speed')
        .map(({ source, fault }) => [source, fault]),
    ).toEqual([
      [0x00, null],
      [0x31, 'not_available'],
    ]);
  });

  test('of a state on which two senders disagree have no value', () => {
    const bus = createBusValues();
    const nowMs = feed(bus, 0, 11_000, [ccvs1(0, 0, 0x00), ccvs1(0, 1, 0x31)]);
    expect(chosen(bus, nowMs)).not.toHaveProperty('parkingBrake');
  });

  test('of the first 10 s after a start or a gap are not chosen, and movement counts at once', () => {
    const bus = createBusValues();
    let nowMs = feed(bus, 0, 9900, [ccvs1(0, 0)]);
    expect(chosen(bus, nowMs)).toEqual({});
    nowMs = feed(bus, nowMs, 200, [ccvs1(0, 1)]);
    expect(chosen(bus, nowMs)).toMatchObject({ parkingBrake: 1, speed: 0 });
    nowMs = feed(bus, nowMs + 2000, 700, [ccvs1(0, 0)]);
    expect(chosen(bus, nowMs)).toEqual({});
    bus.take(ccvs1(3.5), nowMs);
    expect(bus.view(nowMs).movement).toMatchObject({ value: 3.5, source: 0 });
  });

  test('of movement expire after five periods, at least half a second', () => {
    const bus = createBusValues();
    const lastMs = feed(bus, 0, 2000, [ccvs1(50)]) - 100;
    expect(bus.activity(lastMs + 500).movement).not.toBeNull();
    expect(bus.activity(lastMs + 501).movement).toBeNull();
    expect(bus.view(lastMs + 501).values[0]).toMatchObject({ value: 50, periodMs: 100 });
    expect(chosen(bus, lastMs + 12_000)).toEqual({});
  });

  test('at 3 km/h do not speak for movement, nor does the noise of a standing truck', () => {
    const bus = createBusValues();
    for (const kmh of [0, 0.02, 0.34, 2.9, 3]) {
      bus.take(ccvs1(kmh), 1000);
      expect(bus.activity(1000).movement).toBeNull();
    }
    bus.take(ccvs1(3.01), 1000);
    expect(bus.activity(1000).movement).not.toBeNull();
  });

  test('of movement are denied by no other frame of one address, nor by the zeros of another sender', () => {
    const bus = createBusValues();
    const nowMs = feed(bus, 0, 2000, [ccvs1(60), ccvs1(0), ebc2(0, 0x0b), eec1(0)]);
    expect(bus.activity(nowMs).movement).toMatchObject({ value: 60, source: 0 });
    feed(bus, nowMs, 200, [ccvs1(0), ebc2(123, 0x0b)]);
    expect(bus.activity(nowMs + 100).movement).toMatchObject({ value: 123, source: 0x0b });
  });

  test('of engine speed speak for a running engine after three frames in a row', () => {
    const bus = createBusValues();
    for (const [n, rpm] of [600, 600, 250, 600, 600, 600].entries()) {
      expect(bus.activity(n * 20).engine).toBeNull();
      bus.take(eec1(rpm), n * 20);
    }
    expect(bus.activity(100).engine).toMatchObject({ value: 600 });
  });

  test('give a counter that is 0 no value, and an odometer after three readings that agree', () => {
    const bus = createBusValues();
    let nowMs = feed(bus, 0, 11_000, [vdhr(0)]);
    expect(chosen(bus, nowMs)).toEqual({});
    nowMs = feed(bus, nowMs, 200, [vdhr(37.5)]);
    expect(chosen(bus, nowMs)).toEqual({});
    nowMs = feed(bus, nowMs, 100, [vdhr(37.5)]);
    expect(chosen(bus, nowMs)).toEqual({ odometer: 37.5 });
    nowMs = feed(bus, nowMs, 200, [vdhr(158_910.6)]);
    expect(chosen(bus, nowMs)).toEqual({ odometer: 37.5 });
    nowMs = feed(bus, nowMs, 100, [vdhr(158_910.6)]);
    expect(chosen(bus, nowMs).odometer).toBeCloseTo(158_910.6, 6);
    expect(bus.view(nowMs).odometerJumps).toBe(1);
  });

  test('take VIN, driver cards and trouble codes of long messages', () => {
    const bus = createBusValues();
    const frames = [
      ...bamFrames(65_260, 0, ascii('WDB9634031L738256*')),
      ...bamFrames(65_131, 0xee, ascii('D  DF000123456780**')),
      ...bamFrames(65_226, 0x17, [0x04, 0xff, 0xb2, 0x0c, 0x44, 0x03, 0x6e, 0x00, 0x0f, 0x81]),
    ];
    for (const [n, one] of frames.entries()) bus.take(one, n * 60);
    const view = bus.view(2000);
    expect(view.vin).toMatchObject({ value: 'WDB9634031L738256', source: 0 });
    expect(view.driverCards?.value).toEqual(['D  DF000123456780', null]);
    expect(view.troubleCodes.map(({ value }) => value.length)).toEqual([2]);
    expect(bus.view(20_000).troubleCodes).toEqual([]);
  });

  test('of any frames stay within their limits, invent nothing and never throw', () => {
    const bus = createBusValues();
    const pgns = [
      ...new Set(busSignals.map(({ pgn }) => pgn)),
      65_260,
      65_131,
      65_226,
      60_416,
      60_160,
      61_440,
    ];
    let nowMs = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...pgns),
        fc.nat(255),
        fc.uint8Array({ maxLength: 8 }),
        fc.nat(1500),
        (pgn, source, data, waitMs) => {
          nowMs += waitMs;
          bus.take(j1939Frame(pgn, source, [...data]), nowMs);
          const { values, troubleCodes, movement } = bus.view(nowMs);
          expect(values.length).toBeLessThanOrEqual(busLimits.slots);
          expect(troubleCodes.length).toBeLessThanOrEqual(busLimits.codeSources);
          expect(movement?.value ?? 4).toBeGreaterThan(busLimits.movingKmh);
          expect(values.every(({ value }) => value === null || Number.isFinite(value))).toBe(true);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe('an odometer', () => {
  test('that grows as a vehicle can drive is believed at each reading', () => {
    let state = createOdometer();
    for (let n = 0; n < 100; n += 1) state = stepOdometer(state, 1000 + n * 0.025, n * 1000);
    expect(state).toMatchObject({ km: 1002.475, jumps: 0 });
    // An hour without a reading, and 80 km.
    expect(stepOdometer(state, 1082, 3_700_000)).toMatchObject({ km: 1082, jumps: 0 });
  });

  test.each([0xfaff_ffff * 0.005, 0xffff_ffff / 10, 0xfaff_ffff * 0.125])(
    'of %d km, the top of a range, is never believed',
    (km) => {
      const state = [1000, 1000, 1000, km, km, km, km].reduce(
        (before, one, n) => stepOdometer(before, one, n * 1000),
        createOdometer(),
      );
      expect(state).toMatchObject({ km: 1000, jumps: 0 });
    },
  );

  test('that falls is not believed at once', () => {
    const state = [1000, 1000, 1000, 900, 1000].reduce(
      (before, km, n) => stepOdometer(before, km, n * 1000),
      createOdometer(),
    );
    expect(state).toMatchObject({ km: 1000, jumps: 0 });
  });
});
