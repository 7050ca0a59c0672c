// Writes rows of events as the JSON text of a listing: records, and entries of metadata. Pure. One thread writes what another one sends, so there is
// no object per record, and nothing is parsed again. The members are those of `viewEvent` and `viewMetadata` of the HTTP service, in their order.
import { epochSeconds } from '../epoch-seconds.ts';
import { degreesText } from '../geo/geo.ts';
import { statusText } from './status-codes.ts';

/** Columns of a row, in order. */
export const eventTextColumns = [
  'event_no',
  'timestamp_ms',
  'received_ms',
  'boot',
  'seq',
  'status_code',
  'latitude',
  'longitude',
  'speed',
  'heading',
  'geozone_id',
  'command_id',
  'command_state',
  'address',
  'device_id',
  'description',
  'pin_color',
  'pin_tag',
  'zone_description',
  'zone_display_name',
] as const;

/** A value of a row, as `SqlValue` of the ports. */
type Value = string | number | null | Uint8Array;
type Column = (typeof eventTextColumns)[number];
type Values = readonly Value[];
type Write = (row: Values) => string;

const columns = Object.fromEntries(eventTextColumns.map((name, at) => [name, at])) as Readonly<
  Record<Column, number>
>;

function valueIn(name: Column): (row: Values) => Value {
  const at = columns[name];
  return (row) => row[at] ?? null;
}

/** Reads a number, or 0 for NULL. @throws Error when the column holds anything else. */
function numberIn(name: Column): (row: Values) => number {
  const at = columns[name];
  return (row) => {
    const value = row[at] ?? 0;
    const number = typeof value === 'number' ? value : Number(value);
    if (Number.isFinite(number)) return number;
    throw new Error(`the column "${name}" of an event holds no number`);
  };
}

const [latitudeIn, longitudeIn] = [valueIn('latitude'), valueIn('longitude')];

const isPositioned = (row: Values): boolean => latitudeIn(row) !== null && longitudeIn(row) !== null;

/** JSON text of a value, made once for equal values in consecutive rows. */
function remembered<T extends Value>(read: (row: Values) => T, textOf: (value: T) => string): Write {
  let last: T | undefined;
  let text = '';
  return (row) => {
    const value = read(row);
    if (value === last) return text;
    text = textOf(value);
    last = value;
    return text;
  };
}

const json = (value: Value): string => JSON.stringify(value);
const text = (name: Column): Write => remembered(valueIn(name), (value) => json(value ?? ''));
const textOrNull = (name: Column): Write => remembered(valueIn(name), json);
function number(name: Column): Write {
  const numberOf = numberIn(name);
  return (row) => String(numberOf(row));
}
/** A number after a conversion, such as rounding; null: unknown. */
function numberOrNull(name: Column, changed: (value: number) => number): Write {
  const valueOf = valueIn(name);
  return (row) => {
    const value = valueOf(row);
    return value == null ? 'null' : String(changed(Number(value)));
  };
}
/** Epoch ms as whole seconds. */
const seconds = (name: Column): Write => remembered(numberIn(name), (ms) => String(epochSeconds(ms)));
const statusDescription = (): Write => remembered(numberIn('status_code'), (code) => json(statusText(code)));

function eventID(): Write {
  const boot = remembered(valueIn('boot'), (value) => json(value ?? '').slice(0, -1));
  const seq = numberIn('seq');
  return (row) => `${boot(row)}:${seq(row)}"`;
}

/** Creates the writer of a member; writers keep state, so each listing has its own. */
type Member = readonly [name: string, writer: () => Write];

const recordMembers: readonly Member[] = [
  ['address', () => text('address')],
  ['deviceDescription', () => text('description')],
  ['creationTime', () => seconds('received_ms')],
  ['timestamp', () => seconds('timestamp_ms')],
  ['latitude', () => number('latitude')],
  ['longitude', () => number('longitude')],
  ['isPositionValid', () => (row) => String(isPositioned(row))],
  ['geozoneID', () => text('geozone_id')],
  ['geozoneDescription', () => text('zone_description')],
  ['geozoneDisplayName', () => text('zone_display_name')],
  ['deviceID', () => text('device_id')],
  ['speed', () => numberOrNull('speed', Math.round)],
  ['heading', () => numberOrNull('heading', (degrees) => Math.round(degrees) % 360)],
  ['statusDescription', statusDescription],
  ['statusCode', () => number('status_code')],
  ['eventID', eventID],
  ['commandID', () => textOrNull('command_id')],
  ['commandState', () => textOrNull('command_state')],
];

const degrees = (name: Column): Write => remembered(numberIn(name), degreesText);

function quoted(write: Write): Write {
  return (row) => `"${write(row)}"`;
}

/** Members of the entry for one record; the count is between the two lists. */
const pinMembers: { readonly before: readonly Member[]; readonly after: readonly Member[] } = {
  before: [
    ['statusDescription', statusDescription],
    ['creationTime', () => seconds('received_ms')],
    ['timestamp', () => seconds('timestamp_ms')],
    ['pinColor', () => text('pin_color')],
    ['latitude', () => quoted(degrees('latitude'))],
    ['longitude', () => quoted(degrees('longitude'))],
    ['isPositionValid', () => (row) => String(isPositioned(row))],
  ],
  after: [
    ['pinTag', () => text('pin_tag')],
    ['deviceID', () => text('device_id')],
    ['statusCode', () => quoted(number('status_code'))],
  ],
};

type Fields = readonly string[] | null;

/** The chosen members with commas between them, without braces; empty when none is chosen. */
function membersWriter(members: readonly Member[], fields: Fields): Write {
  const chosen = members.filter(([name]) => fields === null || fields.includes(name));
  const names = chosen.map(([name], at) => `${at === 0 ? '' : ','}${JSON.stringify(name)}:`);
  const writers = chosen.map(([, writer]) => writer());
  return (row) => {
    let written = '';
    for (let at = 0; at < writers.length; at++) written += (names[at] ?? '') + (writers[at]?.(row) ?? '');
    return written;
  };
}

/** An entry of metadata: consecutive records with one code at one place. */
export interface Pin {
  /** Key that the records of one entry share; empty for a record without a position, which is a separate entry. */
  readonly place: string;
  /** Text before and after the count; the count itself is omitted when `isCounted` is false. */
  readonly before: string;
  readonly after: string;
  readonly isCounted: boolean;
  readonly count: number;
}

export const pinText = ({ before, after, count, isCounted }: Pin): string =>
  isCounted ? `${before}${count}${after}` : `${before}${after}`;

/** True when both are parts of one entry. */
export const isSamePin = (one: Pin, other: Pin): boolean => one.place !== '' && one.place === other.place;

function placeWriter(): Write {
  const [code, latitude, longitude] = [number('status_code'), degrees('latitude'), degrees('longitude')];
  return (row) => (isPositioned(row) ? `${code(row)} ${latitude(row)} ${longitude(row)}` : '');
}

function pinWriter(fields: Fields, placeOf: Write): (row: Values) => Pin {
  const isCounted = fields === null || fields.includes('count');
  const head = membersWriter(pinMembers.before, fields);
  const tail = membersWriter(pinMembers.after, fields);
  return (row) => {
    const [first, last] = [head(row), tail(row)];
    const count = isCounted ? `${first === '' ? '' : ','}"count":"` : '';
    const quote = isCounted ? '"' : '';
    const comma = last !== '' && (isCounted || first !== '') ? ',' : '';
    return {
      place: placeOf(row),
      before: `{${first}${count}`,
      after: `${quote}${comma}${last}}`,
      isCounted,
      count: 1,
    };
  };
}

/** Entries of consecutive records; the first and the last one may continue into the neighbouring chunks. */
interface Pins {
  readonly first: Pin | null;
  /** Entries between them, each with a comma before it. */
  readonly between: string;
  /** Null: at most one entry. */
  readonly last: Pin | null;
}

function pinsOf(rows: readonly Values[], fields: Fields): Pins {
  const placeOf = placeWriter();
  const pinOf = pinWriter(fields, placeOf);
  let first: Pin | null = null;
  let last: Pin | null = null;
  let between = '';
  for (const row of rows) {
    const present = last ?? first;
    if (present !== null && present.place !== '' && present.place === placeOf(row)) {
      const joined: Pin = { ...present, count: present.count + 1 };
      if (last === null) first = joined;
      else last = joined;
      continue;
    }
    if (last !== null) between += `,${pinText(last)}`;
    if (first === null) first = pinOf(row);
    else last = pinOf(row);
  }
  return { first, between, last };
}

/** Format of the rows, see `RowForm` of the ports. */
interface Form {
  readonly fields: Fields;
  readonly hasPins: boolean;
}

const encoder = new TextEncoder();

/**
 * One row in place of many, for `readEventTexts`.
 * @param rows with the columns of `eventTextColumns`.
 */
export function writeEventTexts(rows: readonly Values[], { fields, hasPins }: Form): Record<string, Value> {
  const recordOf = membersWriter(recordMembers, fields);
  let records = '';
  for (const row of rows) records += `,{${recordOf(row)}}`;
  const pins = hasPins ? pinsOf(rows, fields) : null;
  const last = rows.at(-1);
  return {
    count: rows.length,
    lastMs: last === undefined ? null : numberIn('timestamp_ms')(last),
    lastNo: last === undefined ? null : numberIn('event_no')(last),
    records: encoder.encode(records),
    pins: pins === null ? null : encoder.encode(pins.between),
    firstPin: pins === null || pins.first === null ? null : JSON.stringify(pins.first),
    lastPin: pins === null || pins.last === null ? null : JSON.stringify(pins.last),
  };
}

export interface EventTexts {
  readonly count: number;
  /** Key of the last record; null: no record. */
  readonly last: { readonly timestampMs: number; readonly eventNo: number } | null;
  /** UTF-8 with a comma before each record. */
  readonly records: Uint8Array;
  /** The same for entries of metadata between the first and the last one; null: not requested. */
  readonly pins: Uint8Array | null;
  readonly firstPin: Pin | null;
  readonly lastPin: Pin | null;
}

const pinIn = (value: Value | undefined): Pin | null =>
  typeof value === 'string' ? (JSON.parse(value) as Pin) : null;

/** Reads the result of `writeEventTexts` without copying the texts. @throws Error for any other row. */
export function readEventTexts(row: Readonly<Record<string, Value>>): EventTexts {
  const { count, lastMs, lastNo, records, pins, firstPin, lastPin } = row;
  if (typeof count !== 'number' || !(records instanceof Uint8Array)) {
    throw new Error('a row holds no texts of events: the statement needs its form');
  }
  const hasLast = typeof lastMs === 'number' && typeof lastNo === 'number';
  return {
    count,
    last: hasLast ? { timestampMs: lastMs, eventNo: lastNo } : null,
    records,
    pins: pins instanceof Uint8Array ? pins : null,
    firstPin: pinIn(firstPin),
    lastPin: pinIn(lastPin),
  };
}
