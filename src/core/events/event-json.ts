// JSON form of an event batch, for third-party trackers, tests and debugging. Strict: an unknown key or a wrong type
// refuses the payload with a reason that names the place. Timestamps below 1e11 are seconds, others ms.

import { isId } from '../ids.ts';
import {
  type AttributeValue,
  commandStates,
  eventLimits,
  type FleetEvent,
  featureNames,
  inputNames,
  measureNames,
  timeQualities,
} from './event.ts';
import { eventFault } from './event-check.ts';
import type { Decoded } from './event-protobuf.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const eventKeys: ReadonlySet<string> = new Set([
  'seq',
  'timestamp',
  'upMs',
  'timeQuality',
  'statusCode',
  ...measureNames,
  'inputs',
  'outputs',
  'geozoneID',
  'commandID',
  'commandState',
  'attributes',
]);

/** Seconds or milliseconds: 1e11 s is the year 5138, 1e11 ms is March 1973. */
const secondsCeiling = 1e11;

class Fault extends Error {}

function fail(reason: string): never {
  throw new Fault(reason);
}

function flags(value: unknown, names: readonly string[], where: string): Record<string, boolean> {
  if (!isObject(value)) return fail(`${where} must be an object`);
  const result: Record<string, boolean> = {};
  for (const [name, state] of Object.entries(value)) {
    if (!names.includes(name)) fail(`${where} has the unknown key ${JSON.stringify(name.slice(0, 40))}`);
    result[name] = typeof state === 'boolean' ? state : fail(`${where}.${name} must be true or false`);
  }
  return result;
}

function flatAttributes(value: unknown): Record<string, AttributeValue> {
  if (!isObject(value)) return fail('attributes must be an object');
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) fail(`attributes.${key.slice(0, 40)} must be flat`);
  }
  return value as Record<string, AttributeValue>;
}

function timestampOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    return fail('timestamp must be a positive number, epoch seconds or milliseconds');
  }
  return Math.round(value < secondsCeiling ? value * 1000 : value);
}

function oneOf<T extends string>(value: unknown, allowed: readonly T[], name: string): T {
  return allowed.find((item) => item === value) ?? fail(`${name} must be one of ${allowed.join(', ')}`);
}

function readEvent(value: unknown, bare: boolean): FleetEvent {
  if (!isObject(value)) return fail('an event must be an object');
  for (const key of Object.keys(value)) {
    if (!eventKeys.has(key)) fail(`unknown key ${JSON.stringify(key.slice(0, 40))}`);
  }
  const { seq, statusCode, upMs } = value;
  if (!bare && (typeof seq !== 'number' || seq < 1)) fail('seq must be an integer of at least 1');
  if (bare && seq !== undefined) fail('seq needs boot: send {"boot":"…","events":[…]}');
  if (typeof statusCode !== 'number') return fail('statusCode must be an integer');
  if (upMs !== undefined && typeof upMs !== 'number') fail('upMs must be an integer');
  const event: { -readonly [K in keyof FleetEvent]: FleetEvent[K] } = {
    seq: bare ? 0 : (seq as number),
    timestamp: timestampOf(value['timestamp']),
    upMs: typeof upMs === 'number' ? upMs : null,
    timeQuality:
      value['timeQuality'] === undefined ? 'rtc' : oneOf(value['timeQuality'], timeQualities, 'timeQuality'),
    statusCode,
  };
  for (const key of measureNames) {
    const number = value[key];
    if (number === undefined) continue;
    if (typeof number !== 'number') return fail(`${key} must be a number`);
    event[key] = number;
  }
  if (value['inputs'] !== undefined) event.inputs = flags(value['inputs'], inputNames, 'inputs');
  if (value['outputs'] !== undefined) event.outputs = flags(value['outputs'], featureNames, 'outputs');
  for (const key of ['geozoneID', 'commandID'] as const) {
    const text = value[key];
    if (text === undefined) continue;
    if (typeof text !== 'string') return fail(`${key} must be a string`);
    event[key] = text;
  }
  if (value['commandState'] !== undefined) {
    event.commandState = oneOf(value['commandState'], commandStates, 'commandState');
  }
  if (value['attributes'] !== undefined) event.attributes = flatAttributes(value['attributes']);
  const fault = eventFault(event);
  return fault === null ? event : fail(fault);
}

function readBatch(value: unknown): Decoded {
  if (!isObject(value)) return fail('the payload must be a JSON object');
  if (!('events' in value) && !('boot' in value)) {
    return { ok: true, batch: { boot: null, events: [readEvent(value, true)] } };
  }
  for (const key of Object.keys(value)) {
    if (key !== 'boot' && key !== 'events') fail(`unknown key ${JSON.stringify(key.slice(0, 40))}`);
  }
  const { boot, events } = value;
  if (typeof boot !== 'string' || !isId(boot)) return fail('boot must be 1 to 64 of [A-Za-z0-9_-]');
  if (!Array.isArray(events) || events.length < 1 || events.length > eventLimits.events) {
    return fail(`events must be an array of 1 to ${eventLimits.events}`);
  }
  const read = events.map((event: unknown, index) => {
    try {
      return readEvent(event, false);
    } catch (thrown) {
      return fail(`events[${index}]: ${thrown instanceof Fault ? thrown.message : 'unreadable'}`);
    }
  });
  return { ok: true, batch: { boot, events: read } };
}

/** One for all: making one costs more than a payload of one event. It keeps nothing from call to call. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes a payload of any bytes. Never throws: a fault is a text. */
export function decodeJson(payload: Uint8Array): Decoded {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(payload));
  } catch {
    return { ok: false, reason: 'not JSON in UTF-8' };
  }
  try {
    return readBatch(value);
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof Fault ? thrown.message : 'unreadable' };
  }
}
