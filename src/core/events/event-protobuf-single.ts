// One event alone as a packed row, `single` of `event-batch.proto`: values in sequence without tags. It determines the size of a panic on the air and
// of every record on the flash. The decoder trusts nothing: it refuses a row with unused bytes or unknown fields. Pure.
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import {
  commandStates,
  type FleetEvent,
  featureNames,
  inputNames,
  type OpenEvent,
  timeQualities,
} from './event.ts';
import {
  bit,
  bootBytesLength,
  decodeBoot,
  degreeScale,
  encodeBoot,
  fromWire,
  knownBits,
  packBits,
  parseAttributes,
  presenceOf,
  scaled,
  toWire,
  unpackBits,
} from './event-protobuf-fields.ts';

/** The time quality uses the low bits of the byte that it shares with the outputs. */
const qualityBits = 3;

function writeStatusCode(writer: BinaryWriter, code: number): void {
  // An invalid code becomes 0, which every decoder refuses, and never another valid code.
  const wire = code >= 1 && code <= 0xffff ? code : 0;
  writer.raw(Uint8Array.of(wire & 0xff, wire >>> 8));
}

/** Time quality, and two bits per output: known and on. */
function packState({ timeQuality, outputs }: FleetEvent): number {
  const { known, on } = packBits(featureNames, outputs ?? {});
  return featureNames.reduce((state, _name, index) => {
    const pair = ((known >>> index) & 1) | (((on >>> index) & 1) << 1);
    return state | (pair << (qualityBits + index * 2));
  }, timeQualities.indexOf(timeQuality));
}

function writeMeasures(writer: BinaryWriter, event: FleetEvent): void {
  if (event.latitude !== undefined && event.longitude !== undefined) {
    writer.sfixed32(toWire(event.latitude, degreeScale)).sfixed32(toWire(event.longitude, degreeScale));
  }
  for (const { name, scale } of scaled) {
    const value = event[name];
    if (value !== undefined) writer.sint32(toWire(value, scale));
  }
}

/**
 * Row of one event with `upMs` set.
 * @returns the bytes. A boot of 16 hexadecimal digits comes first in them; any other boot has a separate field.
 */
export function encodeSingle(boot: string, event: FleetEvent): Uint8Array {
  const writer = new BinaryWriter();
  const short = encodeBoot(boot);
  if (short !== null) writer.raw(short);
  writer
    .uint32(event.seq)
    .uint64(event.upMs ?? 0)
    .uint32(presenceOf(event))
    .uint32(packState(event));
  writeStatusCode(writer, event.statusCode);
  if (event.timestamp !== null) writer.int64(event.timestamp);
  writeMeasures(writer, event);
  if (event.inputs !== undefined) {
    const { known, on } = packBits(inputNames, event.inputs);
    writer.uint32(known).uint32(on);
  }
  if (event.geozoneID !== undefined) writer.string(event.geozoneID);
  if (event.commandID !== undefined) writer.string(event.commandID);
  if (event.commandState !== undefined) writer.uint32(commandStates.indexOf(event.commandState));
  if (event.attributes !== undefined) writer.string(JSON.stringify(event.attributes));
  return writer.finish();
}

function readState(state: number): { readonly known: number; readonly on: number } {
  let [known, on] = [0, 0];
  for (const index of featureNames.keys()) {
    const pair = (state >>> (qualityBits + index * 2)) & 3;
    known |= (pair & 1) << index;
    on |= (pair >>> 1) << index;
  }
  return { known, on };
}

function readStatusCode(row: Uint8Array, reader: BinaryReader): number {
  const [low, high] = row.subarray(reader.pos, reader.pos + 2);
  if (low === undefined || high === undefined) throw new RangeError('the row ends early');
  reader.pos += 2;
  return low | (high << 8);
}

function readRest(reader: BinaryReader, event: OpenEvent, present: number): void {
  const has = (wanted: number): boolean => (present & wanted) !== 0;
  if (has(bit.position)) {
    event.latitude = reader.sfixed32() / degreeScale;
    event.longitude = reader.sfixed32() / degreeScale;
  }
  for (const column of scaled) if (has(column.bit)) event[column.name] = fromWire(column, reader.sint32());
  if (has(bit.inputs)) {
    const known = reader.uint32();
    event.inputs = unpackBits(inputNames, known, reader.uint32());
  }
  if (has(bit.geozone)) event.geozoneID = reader.string(true);
  if (has(bit.commandId)) event.commandID = reader.string(true);
  if (has(bit.commandState)) {
    const state = commandStates[reader.uint32()];
    if (state === undefined) throw new RangeError('unknown command state');
    event.commandState = state;
  }
  if (has(bit.attributes)) event.attributes = parseAttributes(reader.string(true));
}

/**
 * Decodes a row; values are not checked here.
 * @param boot from its separate field, '' when the row begins with it.
 * @throws RangeError, SyntaxError when the bytes are no row.
 */
export function decodeSingle(
  row: Uint8Array,
  boot: string,
): { readonly boot: string; readonly event: FleetEvent } {
  const reader = new BinaryReader(row);
  const ownBoot = boot === '' ? decodeBoot(row.subarray(0, bootBytesLength)) : boot;
  if (boot === '') reader.pos = bootBytesLength;
  const seq = reader.uint32();
  const upMs = Number(reader.uint64());
  const present = reader.uint32();
  if ((present & ~knownBits) !== 0) throw new RangeError('the row has a member that is not known here');
  const state = reader.uint32();
  const timeQuality = timeQualities[state & ((1 << qualityBits) - 1)];
  if (timeQuality === undefined) throw new RangeError('unknown time quality');
  const statusCode = readStatusCode(row, reader);
  const timestamp = (present & bit.time) === 0 ? null : Number(reader.int64());
  const event: OpenEvent = { seq, timestamp, upMs, timeQuality, statusCode };
  if ((present & bit.outputs) !== 0) {
    const { known, on } = readState(state);
    event.outputs = unpackBits(featureNames, known, on);
  }
  readRest(reader, event, present);
  if (reader.pos !== row.length) throw new RangeError('the row goes on after its last value');
  return { boot: ownBoot, event };
}
