// One record of the outbox on disk: a checksum, the class, and the event as a wire payload. A row is self-contained, so it can be salvaged from a
// page that no pointer refers to. A row with a wrong checksum is never returned.
import type { FleetEvent } from '../../../src/core/events/event.ts';
import { decodeProtobuf, encodeProtobuf } from '../../../src/core/events/event-protobuf.ts';
import type { Priority } from '../../../src/core/events/status-codes.ts';

/** Sequence numbers use the low 31 bits of a row id, the number of the boot the bits above: append order. */
const seqSpan = 2 ** 31;

/** Highest boot number: ids stay below 2^53, exact in a JavaScript number. */
export const bootNumberMost = 2 ** 22 - 1;

const crcTable = Uint32Array.from({ length: 256 }, (_value, index) => {
  let rest = index;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

/** CRC-32 as of zlib and Ethernet (reflected 0x04C11DB7). */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Row id of an event: `number` of its boot in this file, and its `seq`. */
export function rowId(number: number, seq: number): number {
  return number * seqSpan + seq;
}

export function bootNumberOf(id: number): number {
  return Math.floor(id / seqSpan);
}

export function seqOf(id: number): number {
  return id % seqSpan;
}

export interface StoredRow {
  readonly boot: string;
  readonly priority: Priority;
  readonly event: FleetEvent;
}

const headBytes = 5;

/** Bytes of one row: CRC-32 of the rest (little-endian), class, payload. */
export function encodeRow(row: StoredRow): Uint8Array {
  const { payload } = encodeProtobuf(row.boot, [row.event]);
  const bytes = new Uint8Array(headBytes + payload.length);
  bytes[4] = row.priority;
  bytes.set(payload, headBytes);
  new DataView(bytes.buffer).setUint32(0, crc32(bytes.subarray(4)), true);
  return bytes;
}

function priorityOf(value: number | undefined): Priority | null {
  return value === 0 || value === 1 || value === 2 || value === 3 ? value : null;
}

/** Null: the bytes are not a row, or were damaged. */
export function decodeRow(bytes: Uint8Array): StoredRow | null {
  if (bytes.length <= headBytes) return null;
  const stored = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  if (stored !== crc32(bytes.subarray(4))) return null;
  const priority = priorityOf(bytes[4]);
  const decoded = decodeProtobuf(bytes.subarray(headBytes));
  const event = decoded.ok ? decoded.batch.events[0] : undefined;
  if (!decoded.ok || decoded.batch.boot === null || event === undefined || priority === null) return null;
  return { boot: decoded.batch.boot, priority, event };
}

/** Checksum over the values of a row of any other table; detects a flipped bit. */
export function valuesSum(values: readonly (string | number | null)[]): number {
  return crc32(new TextEncoder().encode(JSON.stringify(values)));
}

/** Checksum of a state row, over key and value. */
export function stateSum(key: string, value: string): number {
  return crc32(new TextEncoder().encode(`${key}\n${value}`));
}
