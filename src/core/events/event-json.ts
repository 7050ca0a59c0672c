// JSON form of an event batch, for third-party trackers, tests and debugging. Events are read one by one. A value that is unknown or invalid for its
// member costs only that value. An event without a number or status code costs only that event, never the batch. Timestamps below 1e11 are seconds,
// others ms.

import { dayNumberOf } from '../calendar.ts';
import { isId } from '../ids.ts';
import {
  type AttributeValue,
  commandStates,
  eventLimits,
  type FleetEvent,
  featureNames,
  inputNames,
  measureNames,
  type OpenEvent,
  timeQualities,
} from './event.ts';
import { eventFault } from './event-check.ts';
import { mendEvent, type Spare } from './event-mending.ts';
import { type Decoded, Rejects } from './rejected-events.ts';
import { flagFrom, isUnknown, numberFrom } from './unknown-values.ts';

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

const batchKeys: ReadonlySet<string> = new Set(['boot', 'events']);

/** Seconds or milliseconds: 1e11 s is the year 5138, 1e11 ms is March 1973. */
const secondsCeiling = 1e11;
/** RFC 3339, also with a space in place of the T. */
const dateForm =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?:[Zz]|([+-])(\d\d):?(\d\d))$/;

/** UTC ms of a date as text; null: no date. */
export function dateMs(text: string): number | null {
  const parts = dateForm.exec(text.trim());
  if (parts === null) return null;
  const at = (place: number): number => Number(parts[place] ?? 0);
  const [month, day, hour, minute, second] = [at(2), at(3), at(4), at(5), at(6)];
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return null;
  const offsetS = (at(9) * 60 + at(10)) * (parts[8] === '-' ? -60 : 60);
  const seconds = dayNumberOf({ year: at(1), month, day }) * 86_400 + hour * 3600 + minute * 60 + second;
  return (seconds - offsetS) * 1000 + Math.round(Number(`0.${parts[7] ?? '0'}`) * 1000);
}

class Fault extends Error {}

function fail(reason: string): never {
  throw new Fault(reason);
}

/** Converts a sent value to an attribute. An object becomes its JSON text, because attributes are flat. */
function flat(value: unknown): AttributeValue {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as AttributeValue);
}

function keep(spare: Spare, name: string, value: unknown): void {
  if (!isUnknown(value)) spare.push([name, flat(value)]);
}

/** Known states of inputs or outputs. @param where name of the member. */
function flagsOf(
  value: unknown,
  where: 'inputs' | 'outputs',
  spare: Spare,
): Record<string, boolean> | undefined {
  if (isUnknown(value)) return undefined;
  if (!isObject(value)) {
    keep(spare, where, value);
    return undefined;
  }
  const names: readonly string[] = where === 'inputs' ? inputNames : featureNames;
  const result: Record<string, boolean> = {};
  for (const [name, state] of Object.entries(value)) {
    const flag = names.includes(name) ? flagFrom(state) : undefined;
    if (flag === undefined) keep(spare, `${where}.${name}`, state);
    else if (flag !== null) result[name] = flag;
  }
  return result;
}

function attributesOf(value: unknown, spare: Spare): Record<string, AttributeValue> | undefined {
  if (isUnknown(value)) return undefined;
  if (!isObject(value)) {
    keep(spare, 'attributes', value);
    return undefined;
  }
  const members = Object.entries(value);
  if (!members.some(([, member]) => typeof member === 'object' && member !== null))
    return value as Record<string, AttributeValue>;
  return Object.fromEntries(members.map(([name, member]) => [name, flat(member)]));
}

/** UTC ms; null: unknown. */
function timestampOf(value: unknown, spare: Spare): number | null {
  const number = numberFrom(value);
  if (typeof number === 'number') return Math.round(number < secondsCeiling ? number * 1000 : number);
  if (number === null) return null;
  const date = typeof value === 'string' ? dateMs(value) : null;
  if (date !== null) return date;
  keep(spare, 'timestamp', value);
  return null;
}

function oneOf<T extends string>(value: unknown, allowed: readonly T[]): T | undefined {
  return allowed.find((item) => item === value);
}

function readTexts(event: OpenEvent, value: JsonObject, spare: Spare): void {
  for (const key of ['geozoneID', 'commandID'] as const) {
    const text = value[key];
    if (typeof text === 'string' && text !== '') event[key] = text;
    else keep(spare, key, text);
  }
  const { commandState } = value;
  const state = oneOf(commandState, commandStates);
  if (state === undefined) keep(spare, 'commandState', commandState);
  else event.commandState = state;
}

function readMeasures(event: OpenEvent, value: JsonObject, spare: Spare): void {
  for (const key of measureNames) {
    if (value[key] === undefined) continue;
    const number = numberFrom(value[key]);
    if (typeof number === 'number') event[key] = number;
    else keep(spare, key, value[key]);
  }
}

/** Place of an event in its batch; null: a bare event. */
type Place = { readonly batch: JsonObject; readonly index: number } | null;

const atPlace = (place: Place): string => (place === null ? '' : `events[${place.index}]: `);

/** The members that belong to no event; those of the batch belong to its first event. */
function readSpare(value: JsonObject, place: Place): Spare {
  const spare: Spare = [];
  for (const key of Object.keys(value)) if (!eventKeys.has(key)) keep(spare, key, value[key]);
  // A number without a boot has no meaning.
  if (place === null) keep(spare, 'seq', value['seq']);
  else if (place.index === 0)
    for (const key of Object.keys(place.batch)) if (!batchKeys.has(key)) keep(spare, key, place.batch[key]);
  return spare;
}

/** @param rejects receives it if part of what was sent does not fit the event. @throws Fault. */
function readEvent(value: unknown, place: Place, rejects: Rejects): FleetEvent {
  const isBare = place === null;
  if (!isObject(value)) return fail('an event must be an object');
  const seq = numberFrom(value['seq']);
  const statusCode = numberFrom(value['statusCode']);
  if (!isBare && (typeof seq !== 'number' || seq < 1)) fail('seq must be an integer of at least 1');
  if (typeof statusCode !== 'number') return fail('statusCode must be an integer');
  const spare = readSpare(value, place);
  const timestamp = timestampOf(value['timestamp'], spare);
  const event: OpenEvent = {
    seq: isBare ? 0 : (seq as number),
    timestamp,
    upMs: numberFrom(value['upMs']) ?? null,
    timeQuality: oneOf(value['timeQuality'], timeQualities) ?? (timestamp === null ? 'none' : 'rtc'),
    statusCode,
  };
  if (oneOf(value['timeQuality'], timeQualities) === undefined)
    keep(spare, 'timeQuality', value['timeQuality']);
  readMeasures(event, value, spare);
  const inputs = flagsOf(value['inputs'], 'inputs', spare);
  if (inputs !== undefined) event.inputs = inputs;
  const outputs = flagsOf(value['outputs'], 'outputs', spare);
  if (outputs !== undefined) event.outputs = outputs;
  readTexts(event, value, spare);
  const attributes = attributesOf(value['attributes'], spare);
  if (attributes !== undefined) event.attributes = attributes;
  const isWhole = mendEvent(event, spare);
  const fault = eventFault(event);
  if (fault !== null) return fail(fault);
  if (!isWhole) rejects.addCut(value, atPlace(place));
  return event;
}

/** Reads the events in sequence; one that cannot be read is rejected alone. */
function readEvents(events: readonly unknown[], batch: JsonObject, rejects: Rejects): readonly FleetEvent[] {
  const read = events.map((value, index) => {
    const place = { batch, index };
    try {
      return readEvent(value, place, rejects);
    } catch (thrown) {
      rejects.add(value, `${atPlace(place)}${thrown instanceof Fault ? thrown.message : 'unreadable'}`);
      return null;
    }
  });
  return read.includes(null) ? read.filter((event) => event !== null) : (read as FleetEvent[]);
}

function readBatch(value: unknown): Decoded {
  if (!isObject(value)) return fail('the payload must be a JSON object');
  if (!('events' in value)) {
    if ('boot' in value) return fail(`events must be an array of 1 to ${eventLimits.events}`);
    const rejects = new Rejects(null);
    return rejects.decoded({ boot: null, events: [readEvent(value, null, rejects)] });
  }
  const { boot: sentBoot, events } = value;
  // Some encoders write a text of digits as a number.
  const boot = Number.isSafeInteger(sentBoot) ? String(sentBoot) : sentBoot;
  if (typeof boot !== 'string' || !isId(boot)) return fail('boot must be 1 to 64 of [A-Za-z0-9_-]');
  if (!Array.isArray(events) || events.length < 1)
    return fail(`events must be an array of 1 to ${eventLimits.events}`);
  if (events.length > eventLimits.events)
    return fail(`${events.length} events: send at most ${eventLimits.events} in a batch`);
  const rejects = new Rejects(boot);
  return rejects.decoded({ boot, events: readEvents(events, value, rejects) });
}

/** Shared, because creating one costs more than a payload of one event. It keeps no state between calls. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Replaces bytes that are not UTF-8: a text in another encoding loses letters, not the event. */
const lenient = new TextDecoder('utf-8');

/** Matches texts, which stay unchanged, and the non-numbers of scripts and printf. */
const noNumbers = /"(?:[^"\\]|\\.)*"|-?\b(?:nan|inf(?:inity)?)\b/gi;

/** Parses JSON with the faults of trackers' encoders: NaN in place of null, a zero byte at the end, texts in another encoding. */
function parseLenient(payload: Uint8Array): unknown {
  const text = lenient.decode(payload).replace(/\0+\s*$/, '');
  return JSON.parse(text.replace(noNumbers, (token) => (token.startsWith('"') ? token : 'null')));
}

function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(payload));
  } catch {
    return parseLenient(payload);
  }
}

/** Decodes a payload of any bytes. Never throws: a fault is a text. */
export function decodeJson(payload: Uint8Array): Decoded {
  let value: unknown;
  try {
    value = parse(payload);
  } catch {
    return { ok: false, reason: 'not JSON in UTF-8' };
  }
  try {
    return readBatch(value);
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof Fault ? thrown.message : 'unreadable' };
  }
}
