// A Modbus unit for tests: answers request frames from a table that the test owns. It must judge requests by the
// protocol's rules and nothing of the product's, but for the checksum.
import { crc16 } from '../../../agent/core/board/modbus-frame.ts';

export interface ModbusUnit {
  readonly address: number;
  /** Bits by address; reading one that is not there is exception 2. */
  readonly coils: Map<number, boolean>;
  readonly inputs: Map<number, boolean>;
  readonly holding: Map<number, number>;
  readonly registers: Map<number, number>;
  /** Called for each write that was done. */
  onWrite: (address: number, value: number) => void;
}

export function modbusUnit(address: number): ModbusUnit {
  return {
    address,
    coils: new Map(),
    inputs: new Map(),
    holding: new Map(),
    registers: new Map(),
    onWrite: () => {},
  };
}

/** A frame of unit, function and body with its checksum. */
export function frame(body: readonly number[]): Uint8Array {
  const crc = crc16(Uint8Array.from(body));
  return Uint8Array.from([...body, crc & 0xff, crc >> 8]);
}

/** The unit's answer to one request frame; null when it is not for this unit or broken. */
export function answer(unit: ModbusUnit, request: Uint8Array): Uint8Array | null {
  const body = [...request.subarray(0, -2)];
  const [address, code = 0, firstHigh = 0, firstLow = 0, high = 0, low = 0] = body;
  const whole = frame(body);
  if (address !== unit.address || whole.some((byte, at) => byte !== request[at])) return null;
  const first = (firstHigh << 8) | firstLow;
  const count = (high << 8) | low;
  const head = [address, code];
  const refuse = (exception: number) => frame([address, code | 0x80, exception]);
  if (code === 1 || code === 2) {
    const bits = values(code === 1 ? unit.coils : unit.inputs, first, count);
    if (bits === null) return refuse(2);
    const packed = Array.from({ length: Math.ceil(count / 8) }, () => 0);
    bits.forEach((on, at) => {
      if (on) packed[at >> 3] = (packed[at >> 3] ?? 0) | (1 << (at & 7));
    });
    return frame([...head, packed.length, ...packed]);
  }
  if (code === 3 || code === 4) {
    const words = values(code === 3 ? unit.holding : unit.registers, first, count);
    return words === null
      ? refuse(2)
      : frame([...head, count * 2, ...words.flatMap((word) => [word >> 8, word & 255])]);
  }
  if (code === 5 || code === 6) {
    if (!(code === 5 ? unit.coils : unit.holding).has(first)) return refuse(2);
    if (code === 5) unit.coils.set(first, count === 0xff00);
    else unit.holding.set(first, count);
    unit.onWrite(first, count);
    return request;
  }
  return refuse(1);
}

function values<T>(table: Map<number, T>, first: number, count: number): T[] | null {
  const found = Array.from({ length: count }, (_, at) => table.get(first + at));
  return found.every((value) => value !== undefined) ? found : null;
}
