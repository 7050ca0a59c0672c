// The insert of events: whole commits at once, with numbers from one counter, so that they become visible in their order and
// are never given twice. What is new was decided before; only bare events, which have no number of their own, are looked for
// here.
import { type FleetEvent, featureNames, inputNames } from '../../src/core/event.ts';
import type { Rows, Statement } from '../../src/ports.ts';
import { type RowsShape, toRows } from '../../src/rows.ts';
import { eventNews } from './event-news.ts';
import type { Target } from './slice-target.ts';
import { tableOf } from './slices.ts';

/** The key of an event without boot and seq of its own: de-duplicated by (device, timestamp, statusCode). */
export function bareKey(event: FleetEvent): { readonly boot: string; readonly seq: number } {
  // '@' is no character of an id, so no device can name a boot like this.
  return { boot: `@${event.timestamp ?? 0}`, seq: event.statusCode };
}

/** An event with what it is stored under. */
export interface NewEvent {
  readonly accountNo: number;
  readonly deviceNo: number;
  readonly boot: string;
  /** As the event says; of a bare one its status code. */
  readonly seq: number;
  readonly receivedMs: number;
  readonly event: FleetEvent;
}

const json = (value: object | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value);

/** Texts of inputs and outputs by what they say: few are ever different. */
const flagTexts = new Map<number, string>();
const flagTextsMost = 1000;

/** JSON of flags in the order of `names`. */
function flagsText<Name extends string>(
  names: readonly Name[],
  flags: Readonly<Partial<Record<Name, boolean>>> | undefined,
): string | null {
  if (flags === undefined) return null;
  // Two lists of names never meet at one number: the length of the list is its first digit.
  let code = names.length;
  for (const name of names) {
    const flag = flags[name];
    code = code * 3 + (flag === undefined ? 0 : flag ? 2 : 1);
  }
  const known = flagTexts.get(code);
  if (known !== undefined) return known;
  const said = names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]] as const]));
  const text = JSON.stringify(Object.fromEntries(said));
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

// Above everything that is stored, whatever the counter says: it may come from another time than the table.
const counterText = (table: string): string => `UPDATE event_counter SET next_no = $1 + CASE
    WHEN next_no > COALESCE((SELECT MAX(event_no) FROM ${table}), 0) THEN next_no
    ELSE (SELECT MAX(event_no) FROM ${table}) + 1 END
  WHERE one = 1 AND slice_no = $2 RETURNING next_no`;

/**
 * Takes numbers for so many events of that slice; gives the first number that it did not take, as `next_no`. The batch is
 * refused when another slice is open by now.
 */
export function takeEventNos(count: number, sliceNo: number): Statement {
  return { sql: counterText(tableOf(sliceNo).sql), params: [count, sliceNo], mustChange: 1 };
}

const insertText = (table: string, where: string): string =>
  `INSERT INTO ${table} (event_no, ${names.join(', ')})
  SELECT (SELECT next_no FROM event_counter) - r.back, ${names.map((name) => `r.${name}`).join(', ')}
  FROM r WHERE ${where}`;

/** @param back place of the first one from the end of the numbers that this commit took. */
function rowsOf(events: readonly NewEvent[], back: number): Rows {
  const { count, columns } = toRows(shape, events);
  const backs = Float64Array.from(events, (_event, at) => back - at);
  return { count, columns: [{ name: 'back', type: 'BIGINT', numbers: backs }, ...columns] };
}

/**
 * Stores events that are new, all of them. To stand behind `takeEventNos` in one batch.
 * @param back place of the first one from the end of the numbers taken; the others follow it.
 */
export function insertEvents(events: readonly NewEvent[], back: number, sliceNo: number): Statement {
  const text = insertText(tableOf(sliceNo).sql, 'true');
  return { sql: text, params: [], rows: rowsOf(events, back), mustChange: events.length, news: eventNews };
}

/**
 * The same for bare events, each with a key of its own within the batch: those that are there already change nothing.
 * Gives the `event_no` of the others.
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
  return { sql: text, params: [], rows: rowsOf(events, back), news: eventNews };
}
