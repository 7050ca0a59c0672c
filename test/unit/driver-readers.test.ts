// The two kinds of readers of drivers' keys, byte by byte: what counts as a key, and what does not.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc8 } from '../../agent/core/crc8.ts';
import { createDs2480b } from '../../agent/core/driver/ds2480b.ts';
import { isKeyID, maskKey, parseKeyList } from '../../agent/core/driver/key-id.ts';
import type { KeyStep } from '../../agent/core/driver/key-protocol.ts';
import { createRfidFrames } from '../../agent/core/driver/rfid-frames.ts';
import { driverReaderCheck } from '../../agent/driver/driver-check.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';
import { createLineDriver, idOfRom, rfidFrame, romOf } from '../support/serial/key-readers.ts';

describe('an id of a key', () => {
  it('has the CRC of application note 27 of Maxim', () => {
    expect(crc8([0x02, 0x1c, 0xb8, 0x01, 0, 0, 0])).toBe(0xa2);
    expect(crc8([0x02, 0x1c, 0xb8, 0x01, 0, 0, 0, 0xa2])).toBe(0);
  });

  it('is shown by four digits of its serial number', () => {
    expect(maskKey('62E3086CED')).toBe('…6CED');
    expect(maskKey('A200000001B81C02')).toBe('…B81C');
  });

  it('is found in a list in any case, with spaces, commas and line ends between', () => {
    expect([...parseKeyList('62e3086ced, A200000001B81C02\n0415148A19')]).toEqual([
      '62E3086CED',
      'A200000001B81C02',
      '0415148A19',
    ]);
    expect(parseKeyList(undefined).size).toBe(0);
  });
});

const tag = '62E3086CED';

/** An RFID reader whose bytes come at a time; the end of the last reading is waited for. */
function rfid(said: readonly (readonly [atMs: number, bytes: string | Uint8Array])[], isRepeating?: boolean) {
  const reader = createRfidFrames(isRepeating);
  const sum = { keys: [] as string[], rejected: 0, noise: 0 };
  const take = ({ keys, rejected, noise, writes }: KeyStep): void => {
    expect(writes).toEqual([]);
    sum.keys.push(...keys);
    sum.rejected += rejected;
    sum.noise += noise;
  };
  const wake = (untilMs: number): void => {
    for (let atMs = reader.wakeMs(); atMs <= untilMs; atMs = reader.wakeMs()) take(reader.time(atMs));
  };
  for (const [atMs, bytes] of said) {
    wake(atMs);
    take(reader.bytes(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, atMs));
  }
  const fault = reader.fault();
  wake(Number.MAX_SAFE_INTEGER);
  return { ...sum, fault };
}

/** The same bytes each 65 ms, as RDM6300 sends them. */
const repeated = (bytes: string | Uint8Array, times = 2, fromMs = 0) =>
  Array.from({ length: times }, (_, n) => [fromMs + n * 65, bytes] as const);

describe('a serial RFID reader', () => {
  it('reads the tag of the data sheet of RDM6300, whose checksum is 08, once it was sent twice', () => {
    const frame = '\x0262E3086CED08\x03';
    expect(rfid(repeated(frame, 3))).toEqual({ keys: [tag, tag], rejected: 0, noise: 0, fault: null });
    expect(rfid([[0, frame + frame]]).keys).toEqual([tag]);
    expect(rfid([[0, frame]])).toMatchObject({ keys: [], rejected: 1 });
    expect(rfid(repeated(frame, 1).concat(repeated(frame, 1, 1100)))).toMatchObject({
      keys: [],
      rejected: 2,
    });
  });

  it('reads the same tag once with the CR and LF of an ID-12LA, and of any reader that is set to send once', () => {
    expect(rfid([[0, rfidFrame(tag, 'id12la')]])).toEqual({
      keys: [tag],
      rejected: 0,
      noise: 0,
      fault: null,
    });
    expect(rfid([[0, rfidFrame(tag)]], false)).toEqual({ keys: [tag], rejected: 0, noise: 0, fault: null });
  });

  it.each([
    ['lower-case digits', '\x0262e3086ced08\x03', tag],
    ['a raw checksum byte', '\x0262E3086CED\x08\x03', tag],
    // The checksum is STX, ETX, CR, a digit.
    ['a raw checksum that is STX', '\x020000000002\x02\x03', '0000000002'],
    ['a raw checksum that is ETX', '\x020000000003\x03\x03', '0000000003'],
    ['a raw checksum that is CR', '\x02000000000D\x0d\x03', '000000000D'],
    ['a raw checksum that is a digit', '\x020000000041A\x03', '0000000041'],
    ['CR and LF behind ETX', '\x0262E3086CED08\x03\r\n', tag],
    ['no ETX', '\x0262E3086CED08\r\n', tag],
    ['no STX but CR and LF', '62E3086CED08\r\n', tag],
    ['no STX but CR', '62e3086ced08\r', tag],
    ['no STX but ETX', '62E3086CED08\x03', tag],
    ['neither STX nor an end', '62E3086CED08', tag],
    ['noise before', 'xyz\xff\x00\x0262E3086CED08\x03', tag],
    ['a frame that another one cut off before', '\x0262E3\x0262E3086CED08\x03', tag],
    ['ten digits of another before', '\x0262E3086CED\x0262E3086CED08\x03', tag],
  ])('reads a tag with %s, in one piece and byte by byte', (_, text, id) => {
    expect(new Set(rfid(repeated(text, 4)).keys)).toEqual(new Set([id]));
    const byByte = repeated(text, 4).flatMap(([atMs, bytes]) =>
      Array.from(String(bytes)).map((byte, n) => [atMs + n, byte] as const),
    );
    expect(new Set(rfid(byByte).keys)).toEqual(new Set([id]));
    expect(rfid([[0, text]], false).keys).toEqual([id]);
  });

  it('makes no key of tags that it invents between the readings of a real one', () => {
    const invented = Array.from({ length: 12 }, (_, n) => `0415148A${(n + 16).toString(16)}`);
    const said = invented.flatMap((id, n) => [
      [n * 200, rfidFrame(id)] as const,
      [n * 200 + 65, rfidFrame(tag)] as const,
    ]);
    expect(rfid(said)).toMatchObject({ keys: Array.from({ length: 11 }, () => tag), rejected: 12 });
  });

  it('reads two tags that alternate', () => {
    const both = repeated(Buffer.concat([rfidFrame(tag), rfidFrame('0415148A19')]), 3);
    expect(rfid(both).keys).toEqual([tag, '0415148A19', tag, '0415148A19']);
  });

  it.each([
    ['a decimal number', '0008321234\r\n'],
    ['the facility and the number of a card', '123,45678\r\n'],
    ['ten hex digits', '62E3086CED\r\n'],
    ['ten hex digits between STX and ETX', '\x0262E3086CED\x03'],
    ['eight digits and no end', '08321234'],
  ])('names a reader that sends %s without a checksum', (_, text) => {
    const said = repeated(text, 3).map(([atMs, bytes]) => [atMs * 20, bytes] as const);
    expect(rfid([...said, [10_000, 'x']], false)).toMatchObject({
      keys: [],
      rejected: 3,
      fault: 'no_checksum',
    });
    expect(rfid([...said, [10_000, rfidFrame(tag, 'id12la')]])).toMatchObject({ keys: [tag], fault: null });
  });

  it.each([
    ['a wrong checksum', '\x0262E3086CED09\x03'],
    ['a wrong raw checksum', '\x0262E3086CED\x09\x03'],
    ['a digit too few', '\x0262E3086CED0\x03'],
    ['a letter that is no digit', '\x0262E3086CEG08\x03'],
    ['the tag of zeros', '\x02000000000000\x03'],
    ['a frame without its end', '\x0262E3086CED08XXX'],
    ['a frame that another one cuts off', '\x0262E3\x02'],
    ['two tags without a pause', '\x0262E3086CED0862E3086CED08\x03'],
  ])('refuses %s', (_, text) => {
    const { keys, rejected } = rfid([[0, text]], false);
    expect([keys, rejected]).toEqual([[], 1]);
  });

  it('never joins the end of one bare tag and the beginning of the next', () => {
    const stream = '62E3086CED08'.repeat(20);
    for (let cut = 1; cut < 12; cut += 1)
      for (let pieces = 12; pieces <= 40; pieces += 7) {
        const said = stream.slice(cut).match(new RegExp(`.{1,${pieces}}`, 'g')) ?? [];
        expect(rfid(said.map((text, n) => [n * 10, text] as const)).keys).toEqual([]);
      }
  });

  it('makes no key of random bytes but one with its checksum, and keeps working', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isRepeating) => {
        const reader = createRfidFrames(isRepeating);
        for (const id of reader.bytes(bytes, 0).keys) expect(isKeyID(id)).toBe(true);
        const frames = [0, 65].flatMap((atMs) => reader.bytes(rfidFrame(tag), atMs).keys);
        expect(frames.at(-1)).toBe(tag);
      }),
    );
  });
});

describe('the check of the reader', () => {
  it.each([
    ['a tag that lies there', 2, rfidFrame(tag), /key …6CED was read, and counts/],
    ['a tag once', 1, rfidFrame(tag), /made no sense.*rfid-once/],
    ['a tag of an ID-12LA once', 1, rfidFrame(tag, 'id12la'), /key …6CED was read, and counts/],
    ['numbers without a checksum', 2, Buffer.from('0008321234\r\n'), /numbers without a checksum/],
    ['nothing', 0, Buffer.from(''), /no key was held to it/],
  ])('of kind rfid that sends %s says so', async (_, times, bytes, expected) => {
    const clock = createVirtualClock(0);
    const check = driverReaderCheck({
      config: {
        kind: 'rfid',
        port: { path: 'reader', baudRate: 9600, dataBits: 8, parity: 'none', stopBits: 1 },
      },
      settings: standardSettings.driver,
      ports: {
        clock,
        openByteLink: async (_settings, { onBytes }) => {
          for (let n = 0; n < times; n += 1) clock.after(500 + n * 65, () => onBytes(bytes));
          return { write: () => true, close: async () => undefined };
        },
      },
      say: () => undefined,
      isStopped: () => false,
    });
    const result = { found: '' };
    const run = check.run().then((findings) => void (result.found = JSON.stringify(findings)));
    for (let step = 0; step < 200 && result.found === ''; step += 1) {
      clock.advance(100);
      await new Promise(setImmediate);
    }
    await run;
    expect(result.found).toMatch(expected);
  });
});

/** A line driver and its reader in one process; time passes by `run`. */
function bench() {
  const keys: string[] = [];
  const sent: number[] = [];
  let rejected = 0;
  let nowMs = 0;
  const waiting: number[] = [];
  const chip = createLineDriver((bytes) => void waiting.push(...bytes));
  const reader = createDs2480b();
  const take = (step: KeyStep): void => {
    keys.push(...step.keys);
    rejected += step.rejected;
    sent.push(...step.writes);
    chip.receive(step.writes);
    while (waiting.length > 0) take(reader.bytes(Uint8Array.from(waiting.splice(0)), nowMs));
  };
  return {
    chip,
    reader,
    keys,
    sent,
    rejected: () => rejected,
    begin: () => take(reader.begin(nowMs)),
    say: (bytes: readonly number[]) => take(reader.bytes(Uint8Array.from(bytes), nowMs)),
    run(ms: number): void {
      const untilMs = nowMs + ms;
      while (reader.wakeMs() <= untilMs) {
        nowMs = Math.max(nowMs, reader.wakeMs());
        take(reader.time(nowMs));
      }
      nowMs = untilMs;
    },
  };
}

const rom = romOf('00000FBC52B1');

describe('a DS2480B line driver', () => {
  it('reads an iButton twice a second while it is held, with its digits in the order of the data sheet', () => {
    const { chip, keys, run, begin } = bench();
    begin();
    run(1000);
    expect(keys).toEqual([]);
    chip.hold(rom);
    run(1000);
    expect(keys).toEqual([idOfRom(rom), idOfRom(rom)]);
    expect(keys[0]).toMatch(/^[0-9A-F]{2}00000FBC52B101$/);
    chip.hold();
    run(5000);
    expect(keys).toHaveLength(2);
  });

  it('is sent resets, changes of mode and READ ROM, and nothing else', () => {
    const { chip, sent, run, begin } = bench();
    begin();
    chip.hold(rom);
    run(3000);
    expect(new Set(sent)).toEqual(new Set([0xc1, 0xe3, 0xe1, 0x33, 0xff]));
  });

  it('makes no key of two iButtons at once, of a damaged ROM, of zeros or of the chip of an adapter', () => {
    const { chip, keys, run, begin, rejected } = bench();
    begin();
    chip.hold(rom, romOf('00000ABCDEF0'));
    run(540);
    chip.hold([...rom.slice(0, 7), (rom[7] ?? 0) ^ 1]);
    run(500);
    chip.hold([0, 0, 0, 0, 0, 0, 0, 0]);
    run(500);
    expect([keys, rejected()]).toEqual([[], 3]);
    chip.hold(romOf('00000ABCDEF0', 0x09));
    run(500);
    expect(keys).toEqual([]);
  });

  it('names a shorted probe, and works again after it', () => {
    const { chip, keys, run, begin, reader } = bench();
    begin();
    chip.short(true);
    run(600);
    expect(reader.fault()).toBe('shorted');
    chip.short(false);
    chip.hold(rom);
    run(500);
    expect([reader.fault(), keys.length]).toEqual([null, 1]);
  });

  it('that loses its supply is named after three answers are missing, and calibrated anew when it is back', () => {
    const { chip, keys, run, begin, reader } = bench();
    begin();
    run(1000);
    chip.power(false);
    run(1500);
    expect(reader.fault()).toBeNull();
    run(1500);
    expect(reader.fault()).toBe('no_answer');
    chip.power(true);
    chip.hold(rom);
    run(3000);
    expect(reader.fault()).toBeNull();
    expect(keys.length).toBeGreaterThan(0);
  });

  it('survives any bytes at any moment', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(800), fc.uint8Array({ maxLength: 20 })), { maxLength: 20 }),
        (noise) => {
          const { chip, keys, run, begin, say } = bench();
          begin();
          for (const [ms, bytes] of noise) {
            run(ms);
            say([...bytes]);
          }
          keys.length = 0;
          chip.hold(rom);
          run(4000);
          expect(keys).toContain(idOfRom(rom));
          expect(new Set(keys).size).toBe(1);
        },
      ),
    );
  });
});
