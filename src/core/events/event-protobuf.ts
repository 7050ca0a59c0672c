// Protobuf form of events, as published in `event-batch.proto`: delta columns, or a packed row for one event alone. The encoder packs as many events
// as fit into one payload; the decoder trusts nothing. Pure; 32-bit differences wrap on purpose.
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { isId } from '../ids.ts';
import {
  commandStates,
  eventLimits,
  type FleetEvent,
  featureNames,
  inputNames,
  type OpenEvent,
  timeQualities,
} from './event.ts';
import { eventFault } from './event-check.ts';
import { mendEvent } from './event-mending.ts';
import {
  bit,
  decodeBoot,
  degreeScale,
  encodeBoot,
  fromWire,
  packBits,
  parseAttributes,
  presenceOf,
  scaled,
  toWire,
  unpackBits,
} from './event-protobuf-fields.ts';
import { decodeSingle, encodeSingle } from './event-protobuf-single.ts';
import { type Decoded, Rejects } from './rejected-events.ts';

/** 1 is columns with the boot as text; 2 may also have `single` and `boot_bytes`. Both must stay readable for ever. */
const plainVersion = 1;
const shortVersion = 2;

const firstColumn = 6;
const lastField = 28;
const textFields: readonly number[] = [25, 26, 28];
/** Field numbers of `single` and `boot_bytes`. */
const singleField = 29;
const bootField = 30;

/** Collects absolute values per field and writes them as differences. */
function createColumns() {
  const numbers = new Map<number, number[]>();
  const texts = new Map<number, string[]>();
  const push = <T>(map: Map<number, T[]>, field: number, value: T): void => {
    const column = map.get(field);
    if (column) column.push(value);
    else map.set(field, [value]);
  };
  return {
    number: (field: number, value: number) => push(numbers, field, value),
    text: (field: number, value: string) => push(texts, field, value),
    write(writer: BinaryWriter): void {
      for (let field = firstColumn; field <= lastField; field++) {
        for (const text of texts.get(field) ?? []) writer.tag(field, WireType.LengthDelimited).string(text);
        const column = numbers.get(field);
        if (!column) continue;
        let before = 0;
        const differences = column.map((value) => {
          const difference = (value - before) | 0;
          before = value;
          return difference;
        });
        while (differences.at(-1) === 0) differences.pop();
        if (differences.length === 0) continue;
        writer.tag(field, WireType.LengthDelimited).fork();
        for (const difference of differences) writer.sint32(difference);
        writer.join();
      }
    },
  };
}

type Columns = ReturnType<typeof createColumns>;

function addOptional(columns: Columns, event: FleetEvent): void {
  if (event.latitude !== undefined && event.longitude !== undefined) {
    columns.number(12, toWire(event.latitude, degreeScale));
    columns.number(13, toWire(event.longitude, degreeScale));
  }
  for (const column of scaled) {
    const value = event[column.name];
    if (value !== undefined) columns.number(column.field, toWire(value, column.scale));
  }
  if (event.inputs !== undefined) {
    const { known, on } = packBits(inputNames, event.inputs);
    columns.number(21, known);
    columns.number(22, on);
  }
  if (event.outputs !== undefined) {
    const { known, on } = packBits(featureNames, event.outputs);
    columns.number(23, known);
    columns.number(24, on);
  }
  if (event.geozoneID !== undefined) columns.text(25, event.geozoneID);
  if (event.commandID !== undefined) columns.text(26, event.commandID);
  if (event.commandState !== undefined) columns.number(27, commandStates.indexOf(event.commandState));
  if (event.attributes !== undefined) columns.text(28, JSON.stringify(event.attributes));
}

const fitsDifference = (value: number): boolean => Math.abs(value) < 2 ** 31;

/** Upper bound of the size of one event in a payload, so that a batch never exceeds the packet limit. */
function sizeBound(event: FleetEvent): number {
  const text = (event.attributes === undefined ? 0 : JSON.stringify(event.attributes).length * 3) + 200;
  return 80 + text;
}

interface Prefix {
  readonly count: number;
  readonly baseUpMs: number;
  /** UTC of the boot's beginning, from the first event with a time; null: none. */
  readonly baseOriginMs: number | null;
}

const originOf = ({ timestamp, upMs }: FleetEvent): number | null =>
  timestamp === null ? null : timestamp - (upMs ?? 0);

/** Longest prefix of the events that fits into one payload, and the base of its differences. */
function longestPrefix(events: readonly FleetEvent[]): Prefix {
  const baseUpMs = events[0]?.upMs ?? 0;
  let baseOriginMs: number | null = null;
  let size = 100;
  let count = 0;
  for (const event of events.slice(0, eventLimits.events)) {
    const originMs = originOf(event);
    const fromMs: number | null = baseOriginMs ?? originMs;
    size += sizeBound(event);
    const fits =
      size <= eventLimits.payloadBytes &&
      fitsDifference((event.upMs ?? 0) - baseUpMs) &&
      (originMs === null || fromMs === null || fitsDifference(originMs - fromMs));
    if (!fits && count > 0) break;
    baseOriginMs = fromMs;
    count += 1;
  }
  return { count, baseUpMs, baseOriginMs };
}

function columnsOf(events: readonly FleetEvent[], { baseUpMs, baseOriginMs }: Prefix): Columns {
  const columns = createColumns();
  for (const [index, event] of events.entries()) {
    const originMs = originOf(event);
    columns.number(6, event.seq - index - 1);
    columns.number(7, (event.upMs ?? 0) - baseUpMs);
    if (originMs !== null) columns.number(8, originMs - (baseOriginMs ?? 0));
    columns.number(9, timeQualities.indexOf(event.timeQuality));
    columns.number(10, event.statusCode);
    columns.number(11, presenceOf(event));
    addOptional(columns, event);
  }
  return columns;
}

/**
 * Encodes the longest prefix of `events` (one boot, ascending seq, `upMs` set) that fits into one payload.
 * @returns the payload and its number of events: at least 1 unless `events` is empty.
 */
export function encodeProtobuf(
  boot: string,
  events: readonly FleetEvent[],
): { readonly payload: Uint8Array; readonly count: number } {
  const prefix = longestPrefix(events);
  const { count, baseUpMs, baseOriginMs } = prefix;
  const alone = count === 1 ? events[0] : undefined;
  const shortBoot = encodeBoot(boot);
  const isShort = alone !== undefined || shortBoot !== null;
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).uint32(isShort ? shortVersion : plainVersion);
  if (shortBoot === null) writer.tag(2, WireType.LengthDelimited).string(boot);
  if (alone !== undefined) {
    writer.tag(singleField, WireType.LengthDelimited).bytes(encodeSingle(boot, alone));
    return { payload: writer.finish(), count };
  }
  if (shortBoot !== null) writer.tag(bootField, WireType.LengthDelimited).bytes(shortBoot);
  writer.tag(3, WireType.Varint).uint32(count);
  writer.tag(4, WireType.Varint).uint64(baseUpMs);
  if (baseOriginMs !== null) writer.tag(5, WireType.Varint).int64(baseOriginMs);
  columnsOf(events.slice(0, count), prefix).write(writer);
  return { payload: writer.finish(), count };
}

interface RawBatch {
  version: number;
  boot: string;
  count: number;
  baseUpMs: number;
  baseOriginMs: number;
  single: Uint8Array | null;
  bootBytes: Uint8Array | null;
  readonly numbers: Map<number, number[]>;
  readonly texts: Map<number, string[]>;
}

function readColumn(reader: BinaryReader, raw: RawBatch, field: number): void {
  if (textFields.includes(field)) {
    const column = raw.texts.get(field) ?? [];
    if (column.length >= eventLimits.events) throw new RangeError(`field ${field} has too many values`);
    column.push(reader.string(true));
    raw.texts.set(field, column);
    return;
  }
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new RangeError(`field ${field} runs past the end`);
  const column: number[] = [];
  let value = 0;
  while (reader.pos < end) {
    if (column.length >= eventLimits.events) throw new RangeError(`field ${field} has too many values`);
    value = (value + reader.sint32()) | 0;
    column.push(value);
  }
  raw.numbers.set(field, column);
}

function readRaw(payload: Uint8Array): RawBatch {
  const raw: RawBatch = {
    version: 0,
    boot: '',
    count: 0,
    baseUpMs: 0,
    baseOriginMs: 0,
    single: null,
    bootBytes: null,
    numbers: new Map(),
    texts: new Map(),
  };
  const reader = new BinaryReader(payload);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.LengthDelimited && field >= firstColumn && field <= lastField) {
      readColumn(reader, raw, field);
    } else if (field === 1 && type === WireType.Varint) raw.version = reader.uint32();
    else if (field === 2 && type === WireType.LengthDelimited) raw.boot = reader.string(true);
    else if (field === 3 && type === WireType.Varint) raw.count = reader.uint32();
    else if (field === 4 && type === WireType.Varint) raw.baseUpMs = Number(reader.uint64());
    else if (field === 5 && type === WireType.Varint) raw.baseOriginMs = Number(reader.int64());
    else if (field === singleField && type === WireType.LengthDelimited) raw.single = reader.bytes();
    else if (field === bootField && type === WireType.LengthDelimited) raw.bootBytes = reader.bytes();
    else reader.skip(type, field);
  }
  return raw;
}

/** Returns column values in order; a column that ended early or is missing repeats its last value. */
function createCursor(raw: RawBatch) {
  const next = new Map<number, number>();
  const take = (field: number): number => {
    const index = next.get(field) ?? 0;
    next.set(field, index + 1);
    return index;
  };
  return {
    number(field: number): number {
      const column = raw.numbers.get(field);
      const index = take(field);
      return column === undefined ? 0 : (column[index] ?? column.at(-1) ?? 0);
    },
    text(field: number): string {
      const value = raw.texts.get(field)?.[take(field)];
      if (value === undefined) throw new RangeError(`field ${field} has too few values`);
      return value;
    },
    /** Columns must be used up: a longer one means that it was read differently from what was meant. */
    assertUsedUp(): void {
      for (const [field, column] of [...raw.numbers, ...raw.texts]) {
        if (column.length > (next.get(field) ?? 0))
          throw new RangeError(`field ${field} has too many values`);
      }
    },
  };
}

function readEvent(raw: RawBatch, cursor: ReturnType<typeof createCursor>, index: number): OpenEvent {
  const seq = cursor.number(6) + index + 1;
  const upMs = raw.baseUpMs + cursor.number(7);
  // An unknown quality comes from another release: the event counts, with unknown quality.
  const timeQuality = timeQualities[cursor.number(9)] ?? 'none';
  const statusCode = cursor.number(10);
  const present = cursor.number(11);
  const has = (wanted: number): boolean => (present & wanted) !== 0;
  const timestamp = has(bit.time) ? raw.baseOriginMs + cursor.number(8) + upMs : null;
  const event: OpenEvent = {
    seq,
    timestamp,
    upMs,
    timeQuality,
    statusCode,
  };
  if (has(bit.position)) {
    event.latitude = cursor.number(12) / degreeScale;
    event.longitude = cursor.number(13) / degreeScale;
  }
  for (const column of scaled)
    if (has(column.bit)) event[column.name] = fromWire(column, cursor.number(column.field));
  if (has(bit.inputs)) event.inputs = unpackBits(inputNames, cursor.number(21), cursor.number(22));
  if (has(bit.outputs)) event.outputs = unpackBits(featureNames, cursor.number(23), cursor.number(24));
  if (has(bit.geozone)) event.geozoneID = cursor.text(25);
  if (has(bit.commandId)) event.commandID = cursor.text(26);
  if (has(bit.commandState)) {
    // An unknown state leaves a command without a state, which `mendEvent` turns into an attribute.
    const state = commandStates[cursor.number(27)];
    if (state !== undefined) event.commandState = state;
  }
  if (has(bit.attributes)) event.attributes = parseAttributes(cursor.text(28));
  return event;
}

const refused = (reason: string): Decoded => ({ ok: false, reason });

const faultOf = (event: FleetEvent): string | null =>
  event.seq < 1 ? 'seq must be at least 1' : eventFault(event);

/** Accepts the valid part of a faulty event, or rejects the event alone. @param where prefix of the reason. */
function accept(event: OpenEvent, where: string, rejects: Rejects): readonly FleetEvent[] {
  const sent = { ...event };
  const isWhole = mendEvent(event, []);
  const fault = faultOf(event);
  if (fault !== null) rejects.add(sent, `${where}${fault}`);
  else if (!isWhole) rejects.addCut(sent, where);
  return fault === null ? [event] : [];
}

function decodeColumns(raw: RawBatch): Decoded {
  const boot = raw.bootBytes === null ? raw.boot : decodeBoot(raw.bootBytes);
  if (!isId(boot)) return refused('boot is not an id');
  if (raw.count < 1 || raw.count > eventLimits.events) {
    return refused(`count must be 1 to ${eventLimits.events}`);
  }
  const cursor = createCursor(raw);
  let rejects: Rejects | null = null;
  const events: FleetEvent[] = [];
  for (let index = 0; index < raw.count; index++) {
    const event = readEvent(raw, cursor, index);
    if (faultOf(event) === null) events.push(event);
    else events.push(...accept(event, `event ${index}: `, (rejects ??= new Rejects(boot))));
  }
  cursor.assertUsedUp();
  return rejects?.decoded({ boot, events }) ?? { ok: true, batch: { boot, events } };
}

function decodeAlone(raw: RawBatch, row: Uint8Array): Decoded {
  if (raw.count > 0 || raw.bootBytes !== null || raw.numbers.size > 0 || raw.texts.size > 0) {
    return refused('a single event and columns do not go together');
  }
  const { boot, event } = decodeSingle(row, raw.boot);
  if (!isId(boot)) return refused('boot is not an id');
  if (faultOf(event) === null) return { ok: true, batch: { boot, events: [event] } };
  const rejects = new Rejects(boot);
  const events = accept({ ...event }, '', rejects);
  return rejects.decoded({ boot, events });
}

/** Decodes a payload of any bytes. Never throws: a fault is a text. */
export function decodeProtobuf(payload: Uint8Array): Decoded {
  try {
    const raw = readRaw(payload);
    const { version, boot, single, bootBytes } = raw;
    if (version !== plainVersion && version !== shortVersion) return refused(`unknown version ${version}`);
    if (version === plainVersion && (single !== null || bootBytes !== null)) {
      return refused('fields 29 and 30 need version 2');
    }
    if (boot !== '' && bootBytes !== null) return refused('boot is given twice');
    return single === null ? decodeColumns(raw) : decodeAlone(raw, single);
  } catch (thrown) {
    return refused(thrown instanceof Error ? thrown.message : 'unreadable');
  }
}
