// Inserts the events of a whole commit, with numbers from one counter: they become visible in order and are never reused.
// Duplicates were removed before; only bare events, which have no number, are looked up here.
import { createHash } from 'node:crypto';
import { type FleetEvent, featureNames, inputNames } from '../../../src/core/events/event.ts';
import type { Rows, Statement } from '../../../src/ports.ts';
import { type RowsShape, toRows } from '../../../src/rows.ts';
import { contentOf } from '../../core/events/event-content.ts';
import type { Target } from '../slices/slice-target.ts';
import { tableOf } from '../slices/slices.ts';
import { eventTopic } from './event-topic.ts';

/** Hexadecimal digits of a content in a key: two contents of one moment do not share 64 bits by chance. */
const hashDigits = 16;

/** The content of an event for a key. */
export const contentHash = (event: FleetEvent): string =>
  createHash('sha256').update(contentOf(event)).digest('hex').slice(0, hashDigits);

/**
 * Key of an event without boot and seq: only the same content is a repeat.
 * @param receivedMs stands for a time that is not known: such an event is never taken for a repeat.
 * @param hash in place of that of the content, for an event that arrives in several spellings.
 */
export function bareKey(
  event: FleetEvent,
  receivedMs: number,
  hash = contentHash(event),
): { readonly boot: string; readonly seq: number } {
  // '@' is not allowed in ids, so no device can use such a boot.
  return { boot: `@${event.timestamp ?? receivedMs}-${hash}`, seq: event.statusCode };
}

/** An event with its key in the store. */
export interface NewEvent {
  readonly accountNo: number;
  readonly deviceNo: number;
  readonly boot: string;
  /** From the event; of a bare event its status code. */
  readonly seq: number;
  readonly receivedMs: number;
  readonly event: FleetEvent;
}

const json = (value: object | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value);

/** Cached texts of inputs and outputs: few distinct values occur. */
const flagTexts = new Map<number, string>();
const flagTextsMost = 1000;

/** JSON of flags in the order of `names`. */
function flagsText<Name extends string>(
  names: readonly Name[],
  flags: Readonly<Partial<Record<Name, boolean>>> | undefined,
): string | null {
  if (flags === undefined) return null;
  // Lists of different lengths never share a number: the length is its first digit.
  let code = names.length;
  for (const name of names) {
    const flag = flags[name];
    code = code * 3 + (flag === undefined ? 0 : flag ? 2 : 1);
  }
  const known = flagTexts.get(code);
  if (known !== undefined) return known;
  const given = names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]] as const]));
  const text = JSON.stringify(Object.fromEntries(given));
  if (flagTexts.size < flagTextsMost) flagTexts.set(code, text);
  return text;
}

const shape: readonly RowsShape<NewEvent>[] = [
  { name: 'account_no', type: 'BIGINT', of: (row) => row.accountNo },
  { name: 'device_no', type: 'BIGINT', of: (row) => row.deviceNo },
  { name: 'boot', type: 'TEXT', of: (row) => row.boot },
  { name: 'seq', type: 'BIGINT', of: (row) => row.seq },
  // Unknown event time is stored as the time of receipt.
  { name: 'timestamp_ms', type: 'BIGINT', of: ({ event, receivedMs }) => event.timestamp ?? receivedMs },
  { name: 'received_ms', type: 'BIGINT', of: (row) => row.receivedMs },
  { name: 'up_ms', type: 'BIGINT', of: ({ event }) => event.upMs },
  { name: 'time_quality', type: 'TEXT', of: ({ event }) => event.timeQuality },
  { name: 'status_code', type: 'BIGINT', of: ({ event }) => event.statusCode },
  { name: 'latitude', type: 'DOUBLE PRECISION', of: ({ event }) => event.latitude },
  { name: 'longitude', type: 'DOUBLE PRECISION', of: ({ event }) => event.longitude },
  { name: 'altitude', type: 'DOUBLE PRECISION', of: ({ event }) => event.altitude },
  { name: 'speed', type: 'DOUBLE PRECISION', of: ({ event }) => event.speed },
  { name: 'heading', type: 'DOUBLE PRECISION', of: ({ event }) => event.heading },
  { name: 'hdop', type: 'DOUBLE PRECISION', of: ({ event }) => event.hdop },
  { name: 'satellites', type: 'BIGINT', of: ({ event }) => event.satellites },
  { name: 'odometer', type: 'DOUBLE PRECISION', of: ({ event }) => event.odometer },
  { name: 'fuel_level', type: 'DOUBLE PRECISION', of: ({ event }) => event.fuelLevel },
  { name: 'inputs', type: 'TEXT', of: ({ event }) => flagsText(inputNames, event.inputs) },
  { name: 'outputs', type: 'TEXT', of: ({ event }) => flagsText(featureNames, event.outputs) },
  { name: 'geozone_id', type: 'TEXT', of: ({ event }) => event.geozoneID ?? '' },
  { name: 'command_id', type: 'TEXT', of: ({ event }) => event.commandID },
  { name: 'command_state', type: 'TEXT', of: ({ event }) => event.commandState },
  { name: 'attributes', type: 'TEXT', of: ({ event }) => json(event.attributes) },
];
const names = shape.map(({ name }) => name);

// Above everything stored, whatever the counter says: table and counter may come from different backups.
const counterText = (table: string): string => `UPDATE event_counter SET next_no = $1 + CASE
    WHEN next_no > COALESCE((SELECT MAX(event_no) FROM ${table}), 0) THEN next_no
    ELSE (SELECT MAX(event_no) FROM ${table}) + 1 END
  WHERE one = 1 AND slice_no = $2 RETURNING next_no`;

/**
 * Reserves numbers for so many events of that slice; returns the first number after them, as `next_no`. The batch fails
 * when another slice is open by now.
 */
export function allocateEventNos(count: number, sliceNo: number): Statement {
  return { sql: counterText(tableOf(sliceNo).sql), params: [count, sliceNo], mustChange: 1 };
}

const insertText = (table: string, where: string): string =>
  `INSERT INTO ${table} (event_no, ${names.join(', ')})
  SELECT (SELECT next_no FROM event_counter) - r.back, ${names.map((name) => `r.${name}`).join(', ')}
  FROM r WHERE ${where}`;

/** @param back position of the first event from the end of the numbers that this commit reserved. */
function rowsOf(events: readonly NewEvent[], back: number): Rows {
  const { count, columns } = toRows(shape, events);
  const backs = Float64Array.from(events, (_event, at) => back - at);
  return { count, columns: [{ name: 'back', type: 'BIGINT', numbers: backs }, ...columns] };
}

/**
 * Stores new events. Follows `takeEventNos` in one batch.
 * @param back position of the first one from the end of the reserved numbers; the others follow it.
 */
export function insertEvents(events: readonly NewEvent[], back: number, sliceNo: number): Statement {
  const text = insertText(tableOf(sliceNo).sql, 'true');
  return { sql: text, params: [], rows: rowsOf(events, back), mustChange: events.length, topic: eventTopic };
}

/**
 * The same for bare events, each with a key of its own within the batch: existing ones stay unchanged. Returns the `event_no`
 * of the others.
 */
export function insertBareEvents(
  events: readonly NewEvent[],
  back: number,
  { sliceNo, others }: Pick<Target, 'sliceNo' | 'others'>,
): Statement {
  const own = tableOf(sliceNo).sql;
  const isNew = [own, ...others].map(
    (table) => `NOT EXISTS (SELECT 1 FROM ${table} e WHERE e.device_no = r.device_no
      AND e.timestamp_ms = r.timestamp_ms AND e.boot = r.boot AND e.seq = r.seq)`,
  );
  const text = `${insertText(own, isNew.join(' AND '))} RETURNING event_no`;
  return { sql: text, params: [], rows: rowsOf(events, back), topic: eventTopic };
}
