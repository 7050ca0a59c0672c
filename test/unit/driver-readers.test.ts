// The two kinds of readers of drivers' keys, byte by byte: what counts as a key, and what does not.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc8 } from '../../agent/core/crc8.ts';
import { createDs2480b } from '../../agent/core/driver/ds2480b.ts';
import { isKeyID, maskKey, parseKeyList } from '../../agent/core/driver/key-id.ts';
import type { KeyStep } from '../../agent/core/driver/key-protocol.ts';
import { createRfidFrames } from '../../agent/core/driver/rfid-frames.ts';
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

const rfid = (bytes: Uint8Array): KeyStep => createRfidFrames().bytes(bytes, 0);

describe('a serial RFID reader', () => {
  it('reads the tag of the data sheet of RDM6300, whose checksum is 08', () => {
    expect(rfid(Buffer.from('\x0262E3086CED08\x03', 'latin1'))).toEqual({
      writes: [],
      keys: ['62E3086CED'],
      rejected: 0,
      noise: 0,
    });
  });

  it('reads the same tag with the CR and LF of an ID-12LA', () => {
    expect(rfid(rfidFrame('62E3086CED', 'id12la')).keys).toEqual(['62E3086CED']);
  });

  it('reads a tag that comes byte by byte, and one after noise', () => {
    const reader = createRfidFrames();
    const steps = [...rfidFrame('0415148A19')].map((byte) => reader.bytes(Uint8Array.of(byte), 0));
    expect(steps.flatMap(({ keys }) => keys)).toEqual(['0415148A19']);
    expect(reader.bytes(Buffer.concat([Buffer.from('xyz'), rfidFrame('62E3086CED')]), 0)).toMatchObject({
      keys: ['62E3086CED'],
      noise: 3,
    });
  });

  it.each([
    ['a wrong checksum', '\x0262E3086CED09\x03'],
    ['a digit too few', '\x0262E3086CED0\x03'],
    ['a letter that is no digit', '\x0262E3086CEG08\x03'],
    ['the tag of zeros', '\x02000000000000\x03'],
    ['a frame without its end', '\x0262E3086CED08XXX'],
    ['a frame that another one cuts off', '\x0262E3\x02'],
  ])('refuses %s', (_, text) => {
    expect(rfid(Buffer.from(text, 'latin1'))).toMatchObject({ keys: [], rejected: 1 });
  });

  it('makes no key of random bytes but one with its checksum, and keeps working', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const reader = createRfidFrames();
        for (const id of reader.bytes(bytes, 0).keys) expect(isKeyID(id)).toBe(true);
        expect(reader.bytes(rfidFrame('62E3086CED'), 0).keys).toEqual(['62E3086CED']);
      }),
    );
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
