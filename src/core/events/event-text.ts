// Writes rows of events as the JSON text of a listing: records, and entries of metadata. Pure. One thread writes what another one sends, so there is
// no object per record, and nothing is parsed again. The members are those of `viewEvent` and `viewMetadata` of the HTTP service, in their order.
import { epochSeconds } from '../epoch-seconds.ts';
import { degreesText } from '../geo/geo.ts';
import { ByteText } from './byte-text.ts';
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

const json = (value: Value | boolean): string => JSON.stringify(value);

/** Writes a value that is the same in most consecutive rows: its text is made when the value changes. */
interface Kept {
  readonly read: (row: Values) => Value | boolean;
  readonly text: (value: Value | boolean) => string;
  readonly column?: Column;
}
/** Writes a value that changes from row to row. */
type Write = (row: Values, into: ByteText) => void;
type Piece = string | Kept | Write;
/** A member and the pieces of its value. */
type Member = readonly [name: string, ...value: readonly Piece[]];

const textOrNull = (column: Column): Kept => ({ read: valueIn(column), text: json });
const text = (column: Column): Kept => ({
  read: valueIn(column),
  text: (value) => json(value ?? ''),
  column,
});
function number(name: Column): Write {
  const numberOf = numberIn(name);
  return (row, into) => into.number(numberOf(row));
}
/** A number after a conversion, such as rounding; null: unknown. */
function numberOrNull(name: Column, changed: (value: number) => number): Write {
  const valueOf = valueIn(name);
  return (row, into) => {
    const value = valueOf(row);
    if (value === null) into.text('null');
    else into.number(changed(Number(value)));
  };
}
/** Epoch ms as whole seconds. */
function seconds(name: Column): Write {
  const numberOf = numberIn(name);
  return (row, into) => into.number(epochSeconds(numberOf(row)));
}
const code: Kept = { read: numberIn('status_code'), text: String };
const statusDescription: Kept = { read: code.read, text: (value) => json(statusText(Number(value))) };
const isPositionValid: Kept = { read: isPositioned, text: String };
const boot: Kept = { read: valueIn('boot'), text: (value) => json(value ?? '').slice(0, -1) };

const recordMembers: readonly Member[] = [
  ['address', text('address')],
  ['deviceDescription', text('description')],
  ['creationTime', seconds('received_ms')],
  ['timestamp', seconds('timestamp_ms')],
  ['latitude', number('latitude')],
  ['longitude', number('longitude')],
  ['isPositionValid', isPositionValid],
  ['geozoneID', text('geozone_id')],
  ['geozoneDescription', text('zone_description')],
  ['geozoneDisplayName', text('zone_display_name')],
  ['deviceID', text('device_id')],
  ['speed', numberOrNull('speed', Math.round)],
  ['heading', numberOrNull('heading', (degrees) => Math.round(degrees) % 360)],
  ['statusDescription', statusDescription],
  ['statusCode', code],
  ['eventID', boot, ':', number('seq'), '"'],
  ['commandID', textOrNull('command_id')],
  ['commandState', textOrNull('command_state')],
];

function degrees(name: Column): Write {
  const numberOf = numberIn(name);
  return (row, into) => into.text(degreesText(numberOf(row)));
}

/** Members of the entry for one record; the count is between the two lists. */
const pinMembers: { readonly before: readonly Member[]; readonly after: readonly Member[] } = {
  before: [
    ['statusDescription', statusDescription],
    ['creationTime', seconds('received_ms')],
    ['timestamp', seconds('timestamp_ms')],
    ['pinColor', text('pin_color')],
    ['latitude', '"', degrees('latitude'), '"'],
    ['longitude', '"', degrees('longitude'), '"'],
    ['isPositionValid', isPositionValid],
  ],
  after: [
    ['pinTag', text('pin_tag')],
    ['deviceID', text('device_id')],
    ['statusCode', '"', code, '"'],
  ],
};

/** Format of the rows, see `RowForm` of the ports. */
interface Form {
  readonly fields: readonly string[] | null;
  readonly hasPins: boolean;
  readonly known: Readonly<Record<string, string>>;
}

/** The chosen members with commas between them. */
function piecesOf(members: readonly Member[], { fields, known }: Form): readonly Piece[] {
  const chosen = members.filter(([name]) => fields === null || fields.includes(name));
  const toPiece = (piece: Piece): Piece => {
    const same = typeof piece === 'object' && piece.column !== undefined ? known[piece.column] : undefined;
    return same === undefined ? piece : json(same);
  };
  return chosen.flatMap(([name, ...value], at) => [
    `${at === 0 ? '' : ','}${json(name)}:`,
    ...value.map(toPiece),
  ]);
}

const encoder = new TextEncoder();

/** Writes neighbouring pieces, which rarely change, as one text. */
function keptWriter(pieces: readonly (string | Kept)[]): Write {
  const kept = pieces.filter((piece) => typeof piece !== 'string');
  const last: (Value | boolean | undefined)[] = kept.map(() => undefined);
  let bytes: Uint8Array | null = null;
  return (row, into) => {
    let isSame = bytes !== null;
    for (let at = 0; at < kept.length; at++) {
      const value = kept[at]?.read(row);
      if (value === last[at]) continue;
      last[at] = value;
      isSame = false;
    }
    if (bytes === null || !isSame) {
      const texts = pieces.map((piece) => (typeof piece === 'string' ? piece : piece.text(piece.read(row))));
      bytes = encoder.encode(texts.join(''));
    }
    into.bytes(bytes);
  };
}

/** Writes the pieces of a row. It keeps texts, so each listing has its own. */
function rowWriter(pieces: readonly Piece[]): Write {
  const writers: Write[] = [];
  let kept: (string | Kept)[] = [];
  for (const piece of pieces) {
    if (typeof piece !== 'function') {
      kept.push(piece);
      continue;
    }
    if (kept.length > 0) writers.push(keptWriter(kept));
    kept = [];
    writers.push(piece);
  }
  if (kept.length > 0) writers.push(keptWriter(kept));
  return (row, into) => {
    for (const write of writers) write(row, into);
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

function placeOf(row: Values): string {
  if (!isPositioned(row)) return '';
  const [latitude, longitude] = [Number(latitudeIn(row)), Number(longitudeIn(row))];
  return `${String(code.read(row))} ${degreesText(latitude)} ${degreesText(longitude)}`;
}

/** An entry while its records are counted. */
interface OpenPin {
  readonly place: string;
  /** Its first record. */
  readonly row: Values;
  count: number;
}

const decoder = new TextDecoder();

/** Writes the entries between the first and the last one, which may continue in the neighbouring chunks. */
function pinsWriter(form: Form, into: ByteText) {
  const isCounted = form.fields === null || form.fields.includes('count');
  const [before, after] = [piecesOf(pinMembers.before, form), piecesOf(pinMembers.after, form)];
  const name = `${before.length === 0 ? '' : ','}"count":"`;
  const comma = after.length > 0 && (isCounted || before.length > 0) ? ',' : '';
  const writeHead = rowWriter(['{', ...before, ...(isCounted ? [name] : [])]);
  const writeTail = rowWriter([`${isCounted ? '"' : ''}${comma}`, ...after, '}']);
  let first: OpenPin | null = null;
  let last: OpenPin | null = null;
  const write = ({ row, count }: OpenPin): void => {
    into.text(',');
    writeHead(row, into);
    if (isCounted) into.number(count);
    writeTail(row, into);
  };
  const textBy = (write: Write, row: Values): string => {
    into.clear();
    write(row, into);
    return decoder.decode(into.copy());
  };
  /** A `Pin` as JSON. */
  const pinJson = (pin: OpenPin | null): string | null => {
    if (pin === null) return null;
    const { place, row, count } = pin;
    const [before, after] = [textBy(writeHead, row), textBy(writeTail, row)];
    return JSON.stringify({ place, before, after, isCounted, count } satisfies Pin);
  };
  return {
    add(row: Values): void {
      const place = placeOf(row);
      const present = last ?? first;
      if (present !== null && place !== '' && present.place === place) {
        present.count += 1;
        return;
      }
      if (last !== null) write(last);
      if (first === null) first = { place, row, count: 1 };
      else last = { place, row, count: 1 };
    },
    end: () => ({ pins: into.copy(), firstPin: pinJson(first), lastPin: pinJson(last) }),
  };
}

// One memory for all texts of a thread, which writes one after the other.
const [recordBytes, pinBytes] = [new ByteText(), new ByteText()];

interface EventTextWriter {
  /** @param row with the columns of `eventTextColumns`. */
  add(row: Values): void;
  /** One row in place of those that were added, for `readEventTexts`. */
  end(): Record<string, Value>;
}

/** Writes rows as text; the writer before it must have ended. */
export function eventTextWriter(form: Form): EventTextWriter {
  recordBytes.clear();
  pinBytes.clear();
  const writeRecord = rowWriter([',{', ...piecesOf(recordMembers, form), '}']);
  const pins = form.hasPins ? pinsWriter(form, pinBytes) : null;
  let count = 0;
  let last: Values | null = null;
  return {
    add(row) {
      writeRecord(row, recordBytes);
      pins?.add(row);
      count += 1;
      last = row;
    },
    end: () => ({
      count,
      lastMs: last === null ? null : numberIn('timestamp_ms')(last),
      lastNo: last === null ? null : numberIn('event_no')(last),
      records: recordBytes.copy(),
      ...(pins?.end() ?? { pins: null, firstPin: null, lastPin: null }),
    }),
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

/** Reads the result of `eventTextWriter` without copying the texts. @throws Error for any other row. */
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
