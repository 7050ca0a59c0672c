// Codec of Modbus RTU frames: encodes requests and checks answers. Pure and stateless. It must never accept an answer that differs from its request
// in unit, function, length, checksum or echo. Sources: MODBUS Application Protocol V1.1b3 ("AP") and MODBUS over Serial Line V1.02 ("SL"),
// modbus.org.

export type ModbusRequest =
  | {
      readonly kind: 'readBits';
      readonly unit: number;
      readonly function: 1 | 2;
      readonly first: number;
      readonly count: number;
      /** The unit sends the bytes in reverse order, against AP 6.1 (Waveshare Relay 32CH). */
      readonly isReversed?: boolean;
    }
  | {
      readonly kind: 'readRegisters';
      readonly unit: number;
      readonly function: 3 | 4;
      readonly first: number;
      readonly count: number;
    }
  | { readonly kind: 'writeCoil'; readonly unit: number; readonly address: number; readonly on: boolean }
  /**
   * Not in the standard: FC05 with a time in 100 ms, after which the board opens the relay by itself. Waveshare's manual: 01 05 02 00 00 07 8D B0
   * closes relay 0 for 700 ms.
   */
  | {
      readonly kind: 'pulseCoil';
      readonly unit: number;
      readonly address: number;
      readonly value: number;
    }
  | {
      readonly kind: 'writeRegister';
      readonly unit: number;
      readonly address: number;
      readonly value: number;
    }
  | {
      readonly kind: 'writeCoils';
      readonly unit: number;
      readonly first: number;
      readonly values: readonly boolean[];
    }
  | {
      readonly kind: 'writeRegisters';
      readonly unit: number;
      readonly first: number;
      readonly values: readonly number[];
    };

export type InvalidReason = 'wrongUnit' | 'wrongFunction' | 'wrongLength' | 'crc' | 'wrongEcho' | 'tooLong';

export type DecodedResponse =
  /** Reads: one number per bit (0 or 1) or register (0 to 65535), in address order. Writes: empty. */
  | { readonly kind: 'ok'; readonly values: readonly number[] }
  /** AP 7: the unit refused; 1 illegal function, 2 illegal data address, 3 illegal data value, 4 device failure. */
  | { readonly kind: 'exception'; readonly code: number }
  /** The bytes may still become an answer. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'invalid'; readonly reason: InvalidReason };

const exceptionFlag = 0x80;
const exceptionLength = 5;
/** Length of the answer to a write, and of a request to read. */
const echoLength = 8;
const coilOn = 0xff00;
/** SL 2.5.1.1: the longest RTU frame. */
export const maxFrameLength = 256;

/** CRC-16 of SL 2.5.1.2 and appendix B (polynomial 0xA001 reflected, start 0xFFFF), sent low byte first. */
export function crc16(bytes: Uint8Array): number {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return crc;
}

const writeCodes = {
  writeCoil: 5,
  pulseCoil: 5,
  writeRegister: 6,
  writeCoils: 15,
  writeRegisters: 16,
} as const;
/** Longest time that the boards accept; any larger value could mean "on". */
const pulseMost = 0x7fff;

type ReadRequest = Extract<ModbusRequest, { readonly function: number }>;

/** True when the request changes something on the unit. */
export function isWrite(request: ModbusRequest): request is Exclude<ModbusRequest, ReadRequest> {
  return request.kind !== 'readBits' && request.kind !== 'readRegisters';
}

// Depends on `kind` alone, like the relay guard: members of another kind are ignored.
function functionCode(request: ModbusRequest): number {
  return isWrite(request) ? writeCodes[request.kind] : request.function;
}

/** Maximum number of items in one request (AP 6.1 to 6.12). */
const limits = {
  readBits: 2000,
  readRegisters: 125,
  writeCoil: 1,
  pulseCoil: 1,
  writeRegister: 1,
  writeCoils: 1968,
  writeRegisters: 123,
} as const;

function span(request: ModbusRequest): { first: number; count: number } {
  if (!isWrite(request)) return { first: request.first, count: request.count };
  if (request.kind === 'writeCoils' || request.kind === 'writeRegisters')
    return { first: request.first, count: request.values.length };
  return { first: request.address, count: 1 };
}

/** Reason why the request cannot be sent (AP 6.1 to 6.12: counts and addresses; SL 2.2: units 1 to 247, no broadcast); null: none. */
export function checkRequest(request: ModbusRequest): string | null {
  const { first, count } = span(request);
  const limit = limits[request.kind];
  if (!isWithin(request.unit, 1, 247)) return `unit ${request.unit} is not 1 to 247`;
  if (!isWrite(request) && !isWithin(request.function, 1, 4))
    return `function ${request.function} reads nothing`;
  if (!isWithin(count, 1, limit)) return `count ${count} is not 1 to ${limit}`;
  if (!isWithin(first, 0, 0x10000 - count)) return `address ${first} with count ${count} is not 0 to 65535`;
  if (request.kind === 'pulseCoil')
    return isWithin(request.value, 1, pulseMost) ? null : `time ${request.value} is not 1 to ${pulseMost}`;
  const values =
    request.kind === 'writeRegister'
      ? [request.value]
      : request.kind === 'writeRegisters'
        ? request.values
        : [];
  const wrong = values.find((value) => !isWithin(value, 0, 0xffff));
  return wrong === undefined ? null : `value ${wrong} is not 0 to 65535`;
}

function isWithin(value: number, low: number, high: number): boolean {
  return Number.isInteger(value) && value >= low && value <= high;
}

function pair(value: number): [number, number] {
  return [value >> 8, value & 0xff];
}

function packBits(values: readonly boolean[]): number[] {
  const packed = Array.from({ length: Math.ceil(values.length / 8) }, () => 0);
  values.forEach((on, at) => {
    if (on) packed[at >> 3] = (packed[at >> 3] ?? 0) | (1 << (at & 7));
  });
  return packed;
}

/** The bytes between function and CRC. */
function requestBody(request: ModbusRequest): number[] {
  const { first, count } = span(request);
  if (request.kind === 'writeCoil') return [...pair(first), ...pair(request.on ? coilOn : 0)];
  if (request.kind === 'writeRegister' || request.kind === 'pulseCoil')
    return [...pair(first), ...pair(request.value)];
  const head = [...pair(first), ...pair(count)];
  if (!isWrite(request)) return head;
  const data = request.kind === 'writeCoils' ? packBits(request.values) : request.values.flatMap(pair);
  return [...head, data.length, ...data];
}

/** Frame of a request for which `checkRequest` is null: unit, function, body, CRC (SL 2.5.1, AP 6.1 to 6.12). */
export function encodeRequest(request: ModbusRequest): Uint8Array {
  const body = [request.unit, functionCode(request), ...requestBody(request)];
  const frame = new Uint8Array(body.length + 2);
  frame.set(body);
  const crc = crc16(frame.subarray(0, -2));
  frame[body.length] = crc & 0xff;
  frame[body.length + 1] = crc >> 8;
  return frame;
}

/** Number of data bytes in a good answer to a read (AP 6.1 to 6.4); 0 for a write. */
function dataLength(request: ModbusRequest): number {
  if (request.kind === 'readBits') return Math.ceil(request.count / 8);
  return request.kind === 'readRegisters' ? request.count * 2 : 0;
}

/** Length of the good answer to a request in bytes, including unit and CRC. */
export function expectedLength(request: ModbusRequest): number {
  return isWrite(request) ? echoLength : 5 + dataLength(request);
}

/**
 * Checks the bytes received since the request was sent. Unit, function, total length and CRC of an answer must match. So must the byte count of a
 * read, or the echoed address and value or quantity of a write (AP 6.5, 6.6, 6.11, 6.12). Faults show as early as the bytes allow. The answer to a
 * read does not name its address: see `rtu-master.ts` for that danger.
 */
export function decodeResponse(request: ModbusRequest, bytes: Uint8Array): DecodedResponse {
  const code = functionCode(request);
  if (bytes.length > 0 && bytes[0] !== request.unit) return { kind: 'invalid', reason: 'wrongUnit' };
  if (bytes.length < 2) return { kind: 'incomplete' };
  if (bytes[1] === (code | exceptionFlag)) return decodeException(bytes);
  if (bytes[1] !== code) return { kind: 'invalid', reason: 'wrongFunction' };
  if (!isWrite(request) && bytes.length > 2 && bytes[2] !== dataLength(request)) {
    return { kind: 'invalid', reason: 'wrongLength' };
  }
  const length = expectedLength(request);
  if (bytes.length < length) return { kind: 'incomplete' };
  if (bytes.length > length) return { kind: 'invalid', reason: 'tooLong' };
  if (!hasGoodCrc(bytes)) return { kind: 'invalid', reason: 'crc' };
  if (!isWrite(request)) return { kind: 'ok', values: readValues(request, bytes.subarray(3, length - 2)) };
  const echo = [request.unit, code, ...requestBody(request).slice(0, 4)];
  return echo.every((byte, at) => bytes[at] === byte)
    ? { kind: 'ok', values: [] }
    : { kind: 'invalid', reason: 'wrongEcho' };
}

function decodeException(bytes: Uint8Array): DecodedResponse {
  if (bytes.length < exceptionLength) return { kind: 'incomplete' };
  if (bytes.length > exceptionLength) return { kind: 'invalid', reason: 'tooLong' };
  if (!hasGoodCrc(bytes)) return { kind: 'invalid', reason: 'crc' };
  return { kind: 'exception', code: bytes[2] ?? 0 };
}

/** True when a whole frame ends with the CRC of the bytes before it. */
function hasGoodCrc(frame: Uint8Array): boolean {
  const crc = crc16(frame.subarray(0, -2));
  return frame[frame.length - 2] === (crc & 0xff) && frame[frame.length - 1] === crc >> 8;
}

function readValues(request: ModbusRequest, data: Uint8Array): number[] {
  const values: number[] = [];
  if (request.kind === 'readBits') {
    const bytes = request.isReversed === true ? data.toReversed() : data;
    for (let at = 0; at < request.count; at++) values.push(((bytes[at >> 3] ?? 0) >> (at & 7)) & 1);
  } else {
    for (let at = 0; at + 1 < data.length; at += 2) values.push(((data[at] ?? 0) << 8) | (data[at + 1] ?? 0));
  }
  return values;
}

/** Length of an answer that starts with these bytes; an exception is shorter than the expected answer. */
export function announcedLength(request: ModbusRequest, bytes: Uint8Array): number {
  const isException = bytes.length > 1 && bytes[1] === (functionCode(request) | exceptionFlag);
  return isException ? exceptionLength : expectedLength(request);
}

/** True when the bytes so far begin like the answer: it has arrived, cut short or with a wrong checksum. */
export function isAnswerLike(request: ModbusRequest, bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false;
  const verdict = decodeResponse(request, bytes.subarray(0, announcedLength(request, bytes)));
  return verdict.kind === 'incomplete' || (verdict.kind === 'invalid' && verdict.reason === 'crc');
}

/** Possible lengths of a frame with this head, for any unit: answers and requests of AP 6.1 to 6.12. */
function lengthsOf([unit = 0, code = 0, third = 0]: Uint8Array): readonly number[] {
  if (!isWithin(unit, 1, 247)) return [];
  if ((code & exceptionFlag) !== 0) return [exceptionLength];
  if (isWithin(code, 1, 4)) return [5 + third, echoLength];
  return [5, 6, 15, 16].includes(code) ? [echoLength] : [];
}

/** Length of a valid frame of any unit at the start of the bytes; 0: none. */
export function soundLength(bytes: Uint8Array): number {
  const isSound = (length: number): boolean =>
    bytes.length >= length && hasGoodCrc(bytes.subarray(0, length));
  return lengthsOf(bytes).find(isSound) ?? 0;
}

const exceptionNames: Readonly<Record<number, string>> = {
  1: 'illegal function',
  2: 'illegal data address',
  3: 'illegal data value',
  4: 'device failure',
  5: 'acknowledge, still working',
  6: 'device busy',
  8: 'memory parity error',
  10: 'gateway path unavailable',
  11: 'gateway target did not answer',
};

/** "exception 2 illegal data address" (AP 7). */
export function formatException(code: number): string {
  return `exception ${code} ${exceptionNames[code] ?? 'not in the standard'}`;
}

/** "unit 1, read coils 0-7", for messages; addresses are those on the wire (0-based). */
export function formatRequest(request: ModbusRequest): string {
  const { first, count } = span(request);
  const verb = {
    1: 'read coils',
    2: 'read discrete inputs',
    3: 'read holding registers',
    4: 'read input registers',
    5: 'write coil',
    6: 'write register',
    15: 'write coils',
    16: 'write registers',
  }[functionCode(request)];
  return `unit ${request.unit}, ${verb} ${count === 1 ? first : `${first}-${first + count - 1}`}`;
}
