// What is read of a car: identifiers of mode 01 with their scales, trouble codes, and the vehicle identification number, by SAE J1979 (ISO
// 15031-5). Compared with python-OBD (`commands.py`, `UnitsAndScaling.py`).

import type { BusName } from '../bus/j1939-signals.ts';
import { parseVin } from '../bus/j1939-texts.ts';
import type { ObdName } from '../bus/obd-facts.ts';
import type { EcuMessage } from './elm-answer.ts';
import type { RequestCommand } from './obd-commands.ts';

export interface ObdSignal {
  readonly name: BusName | ObdName;
  /** Identifier of mode 01. */
  readonly pid: number;
  /** Bytes of the answer, most significant first. */
  readonly bytes: 1 | 2 | 4;
  readonly scale: number;
  readonly offset: number;
  readonly unit: string;
  /** A value of an older answer does not count, ms. */
  readonly ageMostMs: number;
  /** Zero is what a control unit sends before it knows. */
  readonly isZeroValid: boolean;
  /** A higher value is a marker or an error. */
  readonly most: number;
}

const slowMs = 120_000;
type Given = Pick<ObdSignal, 'name' | 'pid' | 'bytes' | 'unit'> & Partial<ObdSignal>;
const signal = (given: Given): ObdSignal => ({
  scale: 1,
  offset: 0,
  ageMostMs: slowMs,
  isZeroValid: true,
  most: Number.POSITIVE_INFINITY,
  ...given,
});

/** Identifier 01 holds two values and is read by `readStatus`. */
export const statusPid = 0x01;
export const speedPid = 0x0d;
export const rpmPid = 0x0c;
export const voltsPid = 0x42;

export const obdSignals: readonly ObdSignal[] = [
  signal({ name: 'speed', pid: speedPid, bytes: 1, unit: 'km/h', ageMostMs: 5000 }),
  signal({
    name: 'rpm',
    pid: rpmPid,
    bytes: 2,
    scale: 1 / 4,
    unit: '1/min',
    ageMostMs: 7500,
    // No engine of a car turns faster; 0xFFFF marks a value that is missing.
    most: 12_000,
  }),
  signal({ name: 'odometer', pid: 0xa6, bytes: 4, scale: 1 / 10, unit: 'km', isZeroValid: false }),
  signal({ name: 'engineRunTime', pid: 0x1f, bytes: 2, unit: 's' }),
  signal({ name: 'fuelLevel', pid: 0x2f, bytes: 1, scale: 100 / 255, unit: '%' }),
  signal({ name: 'fuelRate', pid: 0x5e, bytes: 2, scale: 1 / 20, unit: 'L/h', ageMostMs: 30_000 }),
  signal({ name: 'coolant', pid: 0x05, bytes: 1, offset: -40, unit: '°C' }),
  signal({ name: 'batteryVolts', pid: voltsPid, bytes: 2, scale: 1 / 1000, unit: 'V', isZeroValid: false }),
];

/** Values of identifier 01, which have no scale. */
export const statusSignals = [
  { name: 'malfunctionLamp', unit: '' },
  { name: 'codeCount', unit: '' },
] as const;

const byPid = new Map(obdSignals.map((one) => [one.pid, one]));

export const signalOf = (pid: number): ObdSignal | undefined => byPid.get(pid);

/** Bytes of the data of an identifier that may stand in a long request; undefined: it is not read. */
const widthOf = (pid: number): number | undefined => (pid === statusPid ? 4 : byPid.get(pid)?.bytes);

/** The value in its unit, or why there is none. */
export function readPid(
  { scale, offset, isZeroValid, most }: ObdSignal,
  data: Uint8Array,
): number | 'not_available' | 'error' {
  const raw = data.reduce((sum, byte) => sum * 256 + byte, 0);
  if (raw === 0 && !isZeroValid) return 'not_available';
  const value = raw * scale + offset;
  return value > most ? 'error' : value;
}

/** Identifier 01, byte A: malfunction indicator lamp, and the number of stored codes. */
export function readStatus([a = 0]: Uint8Array): { readonly isLampOn: boolean; readonly codes: number } {
  return { isLampOn: (a & 0x80) !== 0, codes: a & 0x7f };
}

/** The data of each identifier in an answer of mode 01, which holds one or more; null: it is no sound answer of them. */
export function pidsIn({ data }: EcuMessage): readonly (readonly [number, Uint8Array])[] | null {
  if (data[0] !== 0x41) return null;
  const found: (readonly [number, Uint8Array])[] = [];
  for (let at = 1; at < data.length; ) {
    const pid = data[at] ?? 0;
    const width = widthOf(pid);
    if (width === undefined || at + 1 + width > data.length) return null;
    found.push([pid, data.subarray(at + 1, at + 1 + width)]);
    at += 1 + width;
  }
  return found;
}

/** Identifiers that a bitmap offers: that of 00, 20, 40 ... of the same mode. Null: it is none. */
export function supportedIn({ data }: EcuMessage, mode: 1 | 9, base: number): readonly number[] | null {
  // An answer of mode 09 on CAN has no count; on the others it has (SAE J1979).
  const at = mode === 9 && data.length === 7 ? 3 : 2;
  if (data[0] !== 0x40 + mode || data[1] !== base || data.length < at + 4) return null;
  const pids: number[] = [];
  for (let bit = 0; bit < 32; bit += 1)
    if (((data[at + (bit >>> 3)] ?? 0) & (0x80 >>> (bit & 7))) !== 0) pids.push(base + bit + 1);
  return pids;
}

/** Trouble codes that are kept of one list. */
export const codesMost = 40;
const systems = ['P', 'C', 'B', 'U'] as const;

/** The codes in an answer of mode 03, 07 or 0A; null: it is none. @param isCounted on CAN: a count comes first. */
export function codesIn({ data }: EcuMessage, mode: number, isCounted: boolean): readonly string[] | null {
  if (data[0] !== 0x40 + mode || (isCounted && data.length < 2)) return null;
  const from = isCounted ? 2 : 1;
  const end = isCounted ? Math.min(data.length, from + 2 * (data[1] ?? 0)) : data.length;
  const codes: string[] = [];
  for (let at = from; at + 2 <= end && codes.length < codesMost; at += 2) {
    const code = ((data[at] ?? 0) << 8) | (data[at + 1] ?? 0);
    if (code === 0) continue;
    const system = systems[code >>> 14] ?? 'P';
    codes.push(`${system}${(code >>> 12) & 3}${(code & 0xfff).toString(16).toUpperCase().padStart(3, '0')}`);
  }
  return codes;
}

/** The vehicle identification number in the answers of one control unit to 09 02; null: none, or a placeholder. */
export function vinIn(messages: readonly EcuMessage[]): string | null {
  const own = messages.filter(({ data }) => data[0] === 0x49 && data[1] === 0x02);
  // On CAN one message with a count; on the others five, numbered, of four characters.
  const characters = own.flatMap(({ data }) => [...data.subarray(3)]).filter((byte) => byte !== 0);
  return parseVin(Uint8Array.from(characters));
}

/** The code of a refusal (`7F mode code`) of one of these messages; null: it is none. 78 says that the answer comes later. */
export function refusalIn({ data }: EcuMessage, mode: number): number | null {
  return data[0] === 0x7f && data[1] === mode && data[2] !== 0x78 ? (data[2] ?? 0) : null;
}

/** The mode of a request. */
export const modeOf = (request: RequestCommand): number => Number.parseInt(request.slice(0, 2), 16);
