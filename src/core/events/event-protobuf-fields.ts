// Shared by both protobuf forms of an event: presence bits, scales, masks and the short form of a boot id, as published in `event-batch.proto`.
// Append only: this table decodes events that were stored years ago. Pure.

import { hexId } from '../ids.ts';
import type { AttributeValue, FleetEvent } from './event.ts';

/** Presence bits, see the .proto. */
export const bit = {
  time: 1,
  position: 2,
  altitude: 4,
  speed: 8,
  heading: 16,
  hdop: 32,
  satellites: 64,
  odometer: 128,
  fuelLevel: 256,
  inputs: 512,
  outputs: 1024,
  geozone: 2048,
  commandId: 4096,
  commandState: 8192,
  attributes: 16_384,
} as const;

/** All bits with a meaning. */
export const knownBits = Object.values(bit).reduce((sum, one) => sum | one, 0);

/** Optional numbers with one column each: field number, presence bit, units per 1. */
export const scaled = [
  { field: 14, bit: bit.altitude, name: 'altitude', scale: 1 },
  { field: 15, bit: bit.speed, name: 'speed', scale: 10 },
  { field: 16, bit: bit.heading, name: 'heading', scale: 1 },
  { field: 17, bit: bit.hdop, name: 'hdop', scale: 10 },
  { field: 18, bit: bit.satellites, name: 'satellites', scale: 1 },
  { field: 19, bit: bit.odometer, name: 'odometer', scale: 1000 },
  { field: 20, bit: bit.fuelLevel, name: 'fuelLevel', scale: 1000 },
] as const;

type ScaledColumn = (typeof scaled)[number];

export const degreeScale = 10_000_000;

/** 32-bit integer of a measure on the wire. */
export function toWire(value: number, scale: number): number {
  return Math.round(value * scale) | 0;
}

/** Measure of a 32-bit integer. Only the odometer is unsigned: a truck may reach 2,147,483 km. */
export function fromWire(column: ScaledColumn, value: number): number {
  return (column.bit === bit.odometer ? value >>> 0 : value) / column.scale;
}

export function presenceOf(event: FleetEvent): number {
  let present = 0;
  if (event.timestamp !== null) present |= bit.time;
  if (event.latitude !== undefined && event.longitude !== undefined) present |= bit.position;
  for (const column of scaled) if (event[column.name] !== undefined) present |= column.bit;
  if (event.inputs !== undefined) present |= bit.inputs;
  if (event.outputs !== undefined) present |= bit.outputs;
  if (event.geozoneID !== undefined) present |= bit.geozone;
  if (event.commandID !== undefined) present |= bit.commandId;
  if (event.commandState !== undefined) present |= bit.commandState;
  if (event.attributes !== undefined) present |= bit.attributes;
  return present;
}

/** Two masks in the order of `names`: known values, and those of them that are on. */
export function packBits(
  names: readonly string[],
  values: Readonly<Record<string, boolean | undefined>>,
): { known: number; on: number } {
  let known = 0;
  let on = 0;
  for (const [index, name] of names.entries()) {
    const value = values[name];
    if (value === undefined) continue;
    known |= 1 << index;
    if (value) on |= 1 << index;
  }
  return { known, on };
}

export function unpackBits(names: readonly string[], known: number, on: number): Record<string, boolean> {
  const values: Record<string, boolean> = {};
  for (const [index, name] of names.entries()) {
    if ((known & (1 << index)) !== 0) values[name] = (on & (1 << index)) !== 0;
  }
  return values;
}

/** @throws RangeError when it is no flat JSON object; SyntaxError when it is no JSON. */
export function parseAttributes(text: string): Record<string, AttributeValue> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RangeError('attributes are not a JSON object');
  }
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) throw new RangeError('attributes are not flat');
  }
  return value as Record<string, AttributeValue>;
}

/** Length of a boot id in the short form, bytes. */
export const bootBytesLength = 8;
const shortBoot = /^[0-9a-f]{16}$/;
/** True for 16 lower-case hexadecimal digits, the form of the agents' boots. */
export const isShortBoot = (boot: string): boolean => shortBoot.test(boot);

/** Short form of a boot id of 16 lower-case hexadecimal digits, as agents make them; null for any other. */
export function encodeBoot(boot: string): Uint8Array | null {
  if (!isShortBoot(boot)) return null;
  return Uint8Array.from({ length: bootBytesLength }, (_unused, at) =>
    Number.parseInt(boot.slice(at * 2, at * 2 + 2), 16),
  );
}

/** @throws RangeError when it is not 8 bytes. */
export function decodeBoot(bytes: Uint8Array): string {
  if (bytes.length !== bootBytesLength)
    throw new RangeError(`a boot in bytes has ${bootBytesLength} of them`);
  return hexId(bytes);
}
