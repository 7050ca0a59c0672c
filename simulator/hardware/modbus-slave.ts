// The Modbus side of the simulated boards: one request frame in, one answer frame out, as a unit's firmware does it.
// It must never share code with the agent's master: each is the judge of the other.
// Sources: MODBUS Application Protocol V1.1b3 ("AP"), MODBUS over Serial Line V1.02 ("SL"), modbus.org.
import type { Region, UnitMap } from './board-maps.ts';

/** Pins behind the registers: relays, inputs and voltages of the whole bus, by index. */
export interface BoardPins {
  relay(index: number): boolean;
  setRelay(index: number, energised: boolean, cause: string): void;
  /** On (or off) now, and back after `ms`. A new command for the relay replaces it. */
  pulseRelay(index: number, pulse: { energised: boolean; ms: number; cause: string }): void;
  input(index: number): boolean;
  /** Volts at the terminal. */
  analog(index: number): number;
}

export interface SlaveUnit {
  readonly map: UnitMap;
  /** The address that it answers to now. */
  address(): number;
  /** The board's own action of input `index` on the relay of that index: 0 none, 1 linked, 2 toggle, 3 edge. */
  inputAction(index: number): number;
  /** The answer to a frame addressed to this unit or to all (0); null where a unit stays silent. */
  answer(frame: Uint8Array): Uint8Array | null;
}

/** AP 7: 1 illegal function, 2 illegal data address, 3 illegal data value. */
type Refusal = 1 | 2 | 3;
/** The answer's bytes after unit and function code, or why there are none. */
type Outcome = readonly number[] | Refusal;

const crcTable: readonly number[] = Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xa001 : value >>> 1;
  return value;
});

/** CRC of SL 2.5.1.2, by table; low byte first on the wire. */
function checksum(bytes: Uint8Array): number {
  return bytes.reduce((crc, byte) => (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] ?? 0), 0xffff);
}

/** A frame of these bytes with its checksum. */
export function sealFrame(bytes: readonly number[]): Uint8Array {
  const crc = checksum(Uint8Array.from(bytes));
  return Uint8Array.from([...bytes, crc & 0xff, crc >>> 8]);
}

/** SL 2.5.1.1: 4 to 256 bytes with the right checksum. */
export function isSoundFrame(frame: Uint8Array): boolean {
  const end = frame.length - 2;
  if (end < 2 || frame.length > 256) return false;
  return checksum(frame.subarray(0, end)) === ((frame[end] ?? 0) | ((frame[end + 1] ?? 0) << 8));
}

function holds(region: Region, address: number): boolean {
  const count = region.kind === 'settings' ? region.values.length : region.count;
  return address >= region.first && address < region.first + count;
}

/** The function code that reads a region. */
function readCode(region: Region): number {
  if (region.kind === 'inputs' || region.kind === 'analogs') return region.function;
  return region.kind === 'relayCoils' ? 1 : 3;
}

/** The group of functions that write a region: coils by FC05 and FC0F, registers by FC06 and FC10. */
function writesAs(region: Region): 'coil' | 'register' | null {
  if (region.kind === 'relayCoils') return 'coil';
  return region.kind === 'relayRegisters' || region.kind === 'settings' ? 'register' : null;
}

function packBits(bits: readonly number[]): number[] {
  const bytes: number[] = Array.from({ length: Math.ceil(bits.length / 8) }, () => 0);
  bits.forEach((bit, at) => {
    bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (bit << (at & 7));
  });
  return bytes;
}

interface UnitState {
  readonly map: UnitMap;
  readonly pins: BoardPins;
  /** Configuration registers by address; kept over a power cut, as the boards' flash does. */
  readonly settings: Map<number, number>;
}

/** The value behind `address` as function `code` reads it; null where there is nothing. */
function valueAt(unit: UnitState, code: number, address: number): number | null {
  for (const region of unit.map.regions) {
    if (readCode(region) !== code || !holds(region, address)) continue;
    const at = address - region.first;
    switch (region.kind) {
      case 'relayCoils':
      case 'relayRegisters':
        return unit.pins.relay(region.firstRelay + at) ? 1 : 0;
      case 'inputs':
        return unit.pins.input(region.firstInput + at) ? 1 : 0;
      case 'analogs': {
        const raw = Math.round(unit.pins.analog(region.firstAnalog + at) * region.perVolt);
        return Math.min(region.max, Math.max(0, raw));
      }
      case 'settings':
        return unit.settings.get(address) ?? 0;
    }
  }
  return null;
}

/** AP 6.1 to 6.4. */
function read(unit: UnitState, code: number, fields: readonly [number, number]): Outcome {
  const [first, count] = fields;
  const isBits = code <= 2;
  if (!unit.map.regions.some((region) => readCode(region) === code)) return 1;
  if (count < 1 || count > (isBits ? 2000 : 125)) return 3;
  const values: number[] = [];
  for (let address = first; address < first + count; address += 1) {
    const value = valueAt(unit, code, address);
    if (value === null) return 2;
    values.push(value);
  }
  const data = isBits ? packBits(values) : values.flatMap((value) => [value >> 8, value & 0xff]);
  return [data.length, ...data];
}

/** FC05 (AP 6.5); 0x5500 toggles, as the boards' manuals say. */
function writeCoil(unit: UnitState, address: number, value: number): Refusal | null {
  const { pins } = unit;
  const cause = 'FC05';
  for (const region of unit.map.regions) {
    if (region.kind !== 'relayCoils') continue;
    for (const [from, energised] of [
      [region.flashOnAt, true],
      [region.flashOffAt, false],
    ] as const) {
      if (from === undefined || address < from || address >= from + region.count) continue;
      if (value > 0x7fff) return 3;
      pins.pulseRelay(region.firstRelay + address - from, { energised, ms: value * 100, cause: 'flash' });
      return null;
    }
    const isAll = address === region.allAt;
    if (!isAll && !holds(region, address)) continue;
    if (value !== 0xff00 && value !== 0 && value !== 0x5500) return 3;
    const from = isAll ? region.firstRelay : region.firstRelay + address - region.first;
    for (let relay = from; relay < from + (isAll ? region.count : 1); relay += 1) {
      pins.setRelay(relay, value === 0x5500 ? !pins.relay(relay) : value === 0xff00, cause);
    }
    return null;
  }
  return 2;
}

/** Eletechsup command words: 01 on, 02 off, 03 toggle, 04 latch (others off), 05 one second, 06ss on for ss seconds. */
function commandRelay(
  unit: UnitState,
  region: Region & { kind: 'relayRegisters' },
  write: { at: number; value: number },
) {
  const { pins } = unit;
  const relay = region.firstRelay + write.at;
  const cause = 'FC06';
  const seconds = write.value & 0xff;
  switch (write.value >> 8) {
    case 1:
    case 2:
      pins.setRelay(relay, write.value >> 8 === 1, cause);
      return null;
    case 3:
      pins.setRelay(relay, !pins.relay(relay), cause);
      return null;
    case 4:
      for (let at = 0; at < region.count; at += 1)
        pins.setRelay(region.firstRelay + at, at === write.at, cause);
      return null;
    case 5:
      pins.pulseRelay(relay, { energised: true, ms: 1000, cause });
      return null;
    case 6:
      pins.pulseRelay(relay, { energised: true, ms: seconds * 1000, cause });
      return null;
    default:
      return 3;
  }
}

/** FC06 (AP 6.6), and each register of FC10. */
function writeRegister(unit: UnitState, address: number, value: number): Refusal | null {
  for (const region of unit.map.regions) {
    if (region.kind === 'relayRegisters' && address === region.allAt) {
      if (value !== 0x0700 && value !== 0x0800) return 3;
      for (let at = 0; at < region.count; at += 1) {
        unit.pins.setRelay(region.firstRelay + at, value === 0x0700, 'FC06');
      }
      return null;
    }
    if (writesAs(region) !== 'register' || !holds(region, address)) continue;
    if (region.kind === 'relayRegisters') {
      return commandRelay(unit, region, { at: address - region.first, value });
    }
    if (region.kind !== 'settings') continue;
    if (region.isReadOnly === true) return 2;
    if (value > region.max) return 3;
    unit.settings.set(address, value);
    return null;
  }
  return 2;
}

/** AP 6.11 and 6.12: nothing is written unless all of it can be. */
function writeMany(unit: UnitState, code: 15 | 16, request: Uint8Array): Outcome {
  const first = wordAt(request, 2);
  const count = wordAt(request, 4);
  const bytes = request[6] ?? 0;
  const isCoils = code === 15;
  const group = isCoils ? 'coil' : 'register';
  if (count < 1 || count > (isCoils ? 1968 : 123)) return 3;
  if (bytes !== (isCoils ? Math.ceil(count / 8) : count * 2) || request.length !== 7 + bytes) return 3;
  const isWritable = (address: number): boolean =>
    unit.map.regions.some((region) => writesAs(region) === group && holds(region, address));
  for (let at = 0; at < count; at += 1) if (!isWritable(first + at)) return 2;
  for (let at = 0; at < count; at += 1) {
    const isOn = (((request[7 + (at >> 3)] ?? 0) >> (at & 7)) & 1) === 1;
    const refusal = isCoils
      ? writeCoil(unit, first + at, isOn ? 0xff00 : 0)
      : writeRegister(unit, first + at, wordAt(request, 7 + at * 2));
    if (refusal !== null) return refusal;
  }
  return Array.from(request.subarray(2, 6));
}

function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** Performs a request (without its checksum). */
function perform(unit: UnitState, request: Uint8Array): Outcome {
  const code = request[1] ?? 0;
  const address = wordAt(request, 2);
  const value = wordAt(request, 4);
  const writes = (group: 'coil' | 'register'): boolean => unit.map.regions.some((r) => writesAs(r) === group);
  if (code >= 1 && code <= 4) return request.length === 6 ? read(unit, code, [address, value]) : 3;
  if (code === 5 || code === 6) {
    if (!writes(code === 5 ? 'coil' : 'register')) return 1;
    if (request.length !== 6) return 3;
    const write = code === 5 ? writeCoil : writeRegister;
    return write(unit, address, value) ?? Array.from(request.subarray(2));
  }
  if (code === 15 || code === 16) {
    return writes(code === 15 ? 'coil' : 'register') ? writeMany(unit, code, request) : 1;
  }
  return 1;
}

export function createSlaveUnit(map: UnitMap, pins: BoardPins): SlaveUnit {
  const settings = new Map<number, number>();
  for (const region of map.regions) {
    if (region.kind !== 'settings') continue;
    region.values.forEach((value, at) => settings.set(region.first + at, value));
  }
  const unit: UnitState = { map, pins, settings };
  const roleAt = (role: 'inputAction' | 'unit', offset: number): number | undefined => {
    const region = map.regions.find((r) => r.kind === 'settings' && r.role === role);
    return region === undefined ? undefined : settings.get(region.first + offset);
  };
  return {
    map,
    address: () => roleAt('unit', 0) ?? map.unit,
    inputAction: (index) => roleAt('inputAction', index) ?? 0,
    answer(frame) {
      const request = frame.subarray(0, frame.length - 2);
      const [to = 0, code = 0] = request;
      const isBroadcast = to === 0;
      if (isBroadcast && (code < 5 || !map.answersBroadcast)) return null; // SL 2.2: broadcasts only write
      const outcome = perform(unit, request);
      if (isBroadcast) return null;
      return typeof outcome === 'number'
        ? sealFrame([to, code | 0x80, outcome])
        : sealFrame([to, code, ...outcome]);
    },
  };
}
