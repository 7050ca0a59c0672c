// The signals that are read of a J1939 bus, with their places, units and maximum ages. Positions as of SAE J1939-71 and the FMS
// standard, compared with open tables (CSS Electronics demo DBC, famez/J1939-Framework, pretty_j1939).
import { type RawReading, readBytes, readThreeBits, readTwoBits } from './j1939-frame.ts';

/** Signals by name; their units are in `busSignals`. */
export const busNames = [
  'speed',
  'axleSpeed',
  'tachographSpeed',
  'rpm',
  'parkingBrake',
  'brake',
  'odometer',
  'engineHours',
  'fuelLevel',
  'fuelRate',
  'fuelUsed',
  'coolant',
  'batteryVolts',
  'keyVolts',
  'tachographMotion',
  'driver1State',
  'driver2State',
  'driver1Card',
  'driver2Card',
] as const;
export type BusName = (typeof busNames)[number];

export interface BusSignal {
  readonly name: BusName;
  /** Suspect parameter number. */
  readonly spn: number;
  readonly pgn: number;
  /** First byte, from 1. */
  readonly start: number;
  /** Whole bytes, or 2 or 3 bits from `bit` (from 1). */
  readonly size: { readonly bytes: 1 | 2 | 4 } | { readonly bits: 2 | 3; readonly bit: number };
  readonly scale: number;
  readonly offset: number;
  readonly unit: string;
  /** A value of an older frame is not shown, ms; `motion`: by the measured period. */
  readonly ageMostMs: number | 'motion';
  /** Zero is what an ECU sends before it knows: a counter or a supply that is 0 is no value. */
  readonly isZeroValid: boolean;
  /** A full tank is a measurement at the top of the range. Other signals never reach theirs. */
  readonly isTopValid: boolean;
}

const slowMs = 60_000;

type Given = Pick<BusSignal, 'name' | 'spn' | 'pgn' | 'start' | 'size' | 'unit'> & Partial<BusSignal>;
const signal = (given: Given): BusSignal => ({
  scale: 1,
  offset: 0,
  ageMostMs: slowMs,
  isZeroValid: true,
  isTopValid: false,
  ...given,
});
const two = (bit: number) => ({ bits: 2, bit }) as const;
const three = (bit: number) => ({ bits: 3, bit }) as const;
const bytes = <N extends 1 | 2 | 4>(count: N) => ({ bytes: count });

const eec1 = 61_444;
const ccvs1 = 65_265;
const ebc2 = 65_215;
const tco1 = 65_132;

const kmh = { size: bytes(2), scale: 1 / 256, unit: 'km/h', ageMostMs: 'motion' } as const;
const state = { unit: '', ageMostMs: 5000 } as const;
const counter = { isZeroValid: false } as const;

/** Of signals with one name the first with a value counts. */
export const busSignals: readonly BusSignal[] = [
  signal({ name: 'speed', spn: 84, pgn: ccvs1, start: 2, ...kmh }),
  signal({ name: 'axleSpeed', spn: 904, pgn: ebc2, start: 1, ...kmh }),
  signal({ name: 'tachographSpeed', spn: 1624, pgn: tco1, start: 7, ...kmh }),
  signal({
    name: 'rpm',
    spn: 190,
    pgn: eec1,
    start: 4,
    size: bytes(2),
    scale: 0.125,
    unit: '1/min',
    ageMostMs: 'motion',
  }),
  signal({ name: 'parkingBrake', spn: 70, pgn: ccvs1, start: 1, size: two(3), ...state }),
  signal({ name: 'brake', spn: 597, pgn: ccvs1, start: 4, size: two(5), ...state }),
  signal({
    name: 'odometer',
    spn: 917,
    pgn: 65_217,
    start: 1,
    size: bytes(4),
    scale: 0.005,
    unit: 'km',
    ...counter,
  }),
  signal({
    name: 'odometer',
    spn: 245,
    pgn: 65_248,
    start: 5,
    size: bytes(4),
    scale: 0.125,
    unit: 'km',
    ...counter,
  }),
  signal({
    name: 'engineHours',
    spn: 247,
    pgn: 65_253,
    start: 1,
    size: bytes(4),
    scale: 0.05,
    unit: 'h',
    ...counter,
  }),
  signal({
    name: 'fuelLevel',
    spn: 96,
    pgn: 65_276,
    start: 2,
    size: bytes(1),
    scale: 0.4,
    unit: '%',
    isTopValid: true,
  }),
  signal({
    name: 'fuelRate',
    spn: 183,
    pgn: 65_266,
    start: 1,
    size: bytes(2),
    scale: 0.05,
    unit: 'L/h',
    ageMostMs: 5000,
  }),
  signal({
    name: 'fuelUsed',
    spn: 250,
    pgn: 65_257,
    start: 5,
    size: bytes(4),
    scale: 0.5,
    unit: 'L',
    ...counter,
  }),
  signal({ name: 'coolant', spn: 110, pgn: 65_262, start: 1, size: bytes(1), offset: -40, unit: '°C' }),
  signal({
    name: 'batteryVolts',
    spn: 168,
    pgn: 65_271,
    start: 5,
    size: bytes(2),
    scale: 0.05,
    unit: 'V',
    ...counter,
  }),
  signal({
    name: 'keyVolts',
    spn: 158,
    pgn: 65_271,
    start: 7,
    size: bytes(2),
    scale: 0.05,
    unit: 'V',
    ...counter,
  }),
  signal({ name: 'tachographMotion', spn: 1611, pgn: tco1, start: 1, size: two(7), ...state }),
  signal({ name: 'driver1State', spn: 1612, pgn: tco1, start: 1, size: three(1), ...state }),
  signal({ name: 'driver2State', spn: 1613, pgn: tco1, start: 1, size: three(4), ...state }),
  signal({ name: 'driver1Card', spn: 1615, pgn: tco1, start: 2, size: two(5), ...state }),
  signal({ name: 'driver2Card', spn: 1616, pgn: tco1, start: 3, size: two(5), ...state }),
];

const byPgn = new Map<number, readonly BusSignal[]>();
for (const one of busSignals) byPgn.set(one.pgn, [...(byPgn.get(one.pgn) ?? []), one]);

/** The signals of a parameter group; undefined: none is read of it. */
export function signalsOf(pgn: number): readonly BusSignal[] | undefined {
  return byPgn.get(pgn);
}

/**
 * True for a value at the top of its range (highest byte FA), where senders saturate or know nothing: 21 million km, 250 km/h.
 */
export function isAtTop({ size, scale, offset, isTopValid }: BusSignal, value: number): boolean {
  if (!('bytes' in size) || isTopValid) return false;
  return value >= 0xfa * 256 ** (size.bytes - 1) * scale + offset;
}

/** The signal in the data of a frame of its group, in its unit, or why there is none. */
export function readSignal(
  { start, size, scale, offset, isZeroValid }: BusSignal,
  data: Uint8Array,
): RawReading {
  const raw =
    'bytes' in size
      ? readBytes(data, start, size.bytes)
      : size.bits === 2
        ? readTwoBits(data, start, size.bit)
        : readThreeBits(data, start, size.bit);
  if (typeof raw !== 'number') return raw;
  return raw === 0 && !isZeroValid ? 'not_available' : raw * scale + offset;
}
