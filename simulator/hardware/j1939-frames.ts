// J1939 frames and the SLCAN lines that carry them. Written from the definitions of the groups and never from the agent's decoder, which is
// judged by them.

/** A frame on the bus. */
export interface CanFrame {
  /** 11 bits, or 29 bits where `isExtended`. */
  readonly id: number;
  readonly isExtended: boolean;
  /** 0 to 8 bytes. */
  readonly data: Uint8Array;
}

const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');

/** The line of a frame, as an adapter sends it, with its CR. */
export function slcanLine({ id, isExtended, data }: CanFrame): string {
  const bytes = [...data].map((byte) => hex(byte, 2)).join('');
  return `${isExtended ? `T${hex(id, 8)}` : `t${hex(id, 3)}`}${data.length}${bytes}\r`;
}

/** A broadcast frame of a J1939 node. */
export function j1939Frame(pgn: number, source: number, data: readonly number[]): CanFrame {
  const format = (pgn >>> 8) & 0xff;
  const group = format >= 240 ? pgn : pgn | 0xff;
  return { id: ((6 << 26) | (group << 8) | source) >>> 0, isExtended: true, data: Uint8Array.from(data) };
}

const byteOf = (value: number, at: number): number => Math.floor(value / 256 ** at) % 256;

/** CCVS1 with a speed in km/h (null: not available) and a parking brake (0, 1, or 3: not available). */
export function ccvs1(kmh: number | null, brake: 0 | 1 | 3 = 3, source = 0): CanFrame {
  const raw = kmh === null ? 0xffff : Math.round(kmh * 256);
  return j1939Frame(65_265, source, [
    0xf3 | (brake << 2),
    byteOf(raw, 0),
    byteOf(raw, 1),
    0xff,
    0xff,
    0xff,
    0xff,
    0xff,
  ]);
}

/** EEC1 with an engine speed in 1/min. */
export function eec1(rpm: number, source = 0): CanFrame {
  const raw = Math.round(rpm * 8);
  return j1939Frame(61_444, source, [0xff, 0xff, 0xff, byteOf(raw, 0), byteOf(raw, 1), 0xff, 0xff, 0xff]);
}

/** EBC2 with a front axle speed in km/h. */
export function ebc2(kmh: number, source = 0x0b): CanFrame {
  const raw = Math.round(kmh * 256);
  return j1939Frame(65_215, source, [byteOf(raw, 0), byteOf(raw, 1), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
}

/** TCO1 with a speed in km/h and whether the tachograph sees motion. */
export function tco1(kmh: number, motion: 0 | 1, source = 0xee): CanFrame {
  const raw = Math.round(kmh * 256);
  return j1939Frame(65_132, source, [
    0x3f | (motion << 6),
    0xff,
    0xff,
    0xff,
    0xff,
    0xff,
    byteOf(raw, 0),
    byteOf(raw, 1),
  ]);
}

/** VEP1 with the volts of the battery and of the key switch (null: not available). */
export function vep1(battery: number, key: number | null, source = 0): CanFrame {
  const raw = Math.round(battery / 0.05);
  const keyRaw = key === null ? 0xffff : Math.round(key / 0.05);
  return j1939Frame(65_271, source, [
    0xff,
    0xff,
    0xff,
    0xff,
    byteOf(raw, 0),
    byteOf(raw, 1),
    byteOf(keyRaw, 0),
    byteOf(keyRaw, 1),
  ]);
}

/** VDHR with an odometer in km. */
export function vdhr(km: number, source = 0): CanFrame {
  const raw = Math.round(km / 0.005);
  return j1939Frame(65_217, source, [0, 1, 2, 3].map((at) => byteOf(raw, at)).concat(0xff, 0xff, 0xff, 0xff));
}

/** A long message as its announcement and its parts. */
export function bamFrames(pgn: number, source: number, data: readonly number[]): readonly CanFrame[] {
  const parts = Math.ceil(data.length / 7);
  const announce = [
    32,
    byteOf(data.length, 0),
    byteOf(data.length, 1),
    parts,
    0xff,
    byteOf(pgn, 0),
    byteOf(pgn, 1),
    byteOf(pgn, 2),
  ];
  return [
    j1939Frame(60_416, source, announce),
    ...Array.from({ length: parts }, (_, n) =>
      j1939Frame(60_160, source, [
        n + 1,
        ...Array.from({ length: 7 }, (_unused, at) => data[n * 7 + at] ?? 0xff),
      ]),
    ),
  ];
}
