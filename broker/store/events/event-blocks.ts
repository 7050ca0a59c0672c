// Listings of events by event time in blocks of two hours. The index alone gives count and highest number of each block; the
// reading thread writes its records as text. Count and highest number identify a block's events: numbers only grow, so an added
// event changes the number and a removed one the count.
import { type EventTexts, readEventTexts } from '../../../src/core/events/event-text.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { DeviceTexts } from '../base/record-revision.ts';
import { isNotRoutine } from '../base/routine-codes.ts';
import { numberOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import type { EventKey } from '../slices/slice-streams.ts';
import { type Run, readSlices, tableOf } from '../slices/slices.ts';
import type { KeyRange } from './event-keys.ts';

/** Listed events: of one device, or of the visible devices with one non-routine code. */
export type Listed =
  | { readonly of: 'device'; readonly deviceID: string; readonly texts: DeviceTexts }
  | {
      readonly of: 'code';
      readonly code: number;
      /** False: every event with the code counts, as the caller sees all devices and no device was deleted of late. */
      readonly isLimited: boolean;
    };

/** Events of one listing within `blockMs`. */
export interface Block {
  /** Event time, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Exclusive; null: from the start. */
  readonly after: EventKey | null;
  /** At least 1. */
  readonly count: number;
  readonly lastNo: number;
  /** Slices that may hold some of them. */
  readonly sliceNos: readonly number[];
}

/** Length of a block. Repeated listings end within one, so only that one is read again. */
const blockMs = 2 * 3_600_000;
/** Blocks of the first read of a listing, a day, and of one read at most. */
const firstBlocks = 13;
const blocksMost = 256;
/** Index entries of a read that the width of the next one aims at: a few milliseconds. */
const entriesAim = 10_000;
/** Records of one read: a few milliseconds. */
export const recordsMost = 1000;

/** Planned for its values, see `forRange` of `event-keys.ts`. */
const forRange = (statement: Statement): Statement => ({ ...statement, isPlannedAnew: true });

/** The geozone of an event `e` of a device `d`; of most events none is looked for. */
const zoneJoin: Statement = {
  sql: ` LEFT JOIN geozones z ON e.geozone_id <> '' AND z.account_id = d.account_id AND z.geozone_id = e.geozone_id`,
  params: [],
};

/** Events of a table as `e`, with `d` and their geozones as `z` where these are joined; without a condition on time. */
function source(range: KeyRange, listed: Listed, { table, isShown }: { table: Statement; isShown: boolean }) {
  const { scope } = range;
  const zones = isShown ? zoneJoin : sql``;
  if (listed.of === 'device') {
    return sql`devices d JOIN ${table} e ON e.device_no = d.device_no${zones}
      WHERE ${visible(scope)} AND d.device_id = ${listed.deviceID}`;
  }
  // CROSS JOIN: SQLite then goes through the index of the codes, and never through every device of the account.
  const seen = isShown || listed.isLimited;
  const devices = seen ? sql` CROSS JOIN devices d` : sql``;
  const ofDevices = seen ? sql` AND d.device_no = e.device_no AND ${visible(scope)}` : sql``;
  return sql`${table} e${devices}${zones}
    WHERE e.account_no = (SELECT account_no FROM accounts WHERE account_id = ${scope.accountID})
      AND e.status_code = ${listed.code} AND ${isNotRoutine}${ofDevices}`;
}

/** The conditions of a range besides its time. */
function within(range: KeyRange, toMs: number): Statement {
  const { sinceNo, upToNo, plausibleMs, fromMs } = range;
  const since = sinceNo === 0 ? sql`` : sql` AND e.event_no > ${sinceNo}`;
  const numbers = sql`${since} AND e.event_no <= ${upToNo}`;
  if (toMs <= plausibleMs) return numbers;
  return sql`${numbers} AND (e.timestamp_ms <= ${plausibleMs} OR e.received_ms >= ${fromMs})`;
}

const isAfter = (after: EventKey | null): Statement =>
  after === null ? sql`` : sql` AND (e.timestamp_ms, e.event_no) > (${after.timestampMs}, ${after.eventNo})`;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly after: EventKey | null;
}

const blockEnd = (ms: number): number => (Math.floor(ms / blockMs) + 1) * blockMs - 1;

/** Counts and highest numbers, a block a row; a column for each slice. */
function countStatement(
  range: KeyRange,
  listed: Listed,
  { span, sliceNos }: { readonly span: Span; readonly sliceNos: readonly number[] },
): Statement {
  const found = sliceNos.map((sliceNo) => {
    const from = source(range, listed, { table: tableOf(sliceNo), isShown: false });
    return sql`, (SELECT COUNT(*) || ':' || MAX(e.event_no) FROM ${from}
      AND e.timestamp_ms >= b.lo AND e.timestamp_ms <= b.hi${isAfter(span.after)}${within(range, span.toMs)})
      AS ${{ sql: `found_${sliceNo}`, params: [] }}`;
  });
  const counts = found.reduce((list, one) => sql`${list}${one}`, sql``);
  return forRange(sql`WITH RECURSIVE b (lo, hi) AS (
      SELECT CAST(${span.fromMs} AS BIGINT), CAST(${Math.min(blockEnd(span.fromMs), span.toMs)} AS BIGINT)
      UNION ALL
      SELECT hi + 1, CASE WHEN hi + ${blockMs} < CAST(${span.toMs} AS BIGINT) THEN hi + ${blockMs} ELSE CAST(${span.toMs} AS BIGINT) END
      FROM b WHERE hi < CAST(${span.toMs} AS BIGINT))
    SELECT b.lo AS lo, b.hi AS hi${counts} FROM b`);
}

const overlaps = (run: Run, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): boolean =>
  run.fromMs <= toMs && run.toMs >= fromMs;

const slicesOf = (runs: readonly Run[], span: { readonly fromMs: number; readonly toMs: number }) =>
  [...new Set(runs.filter((run) => overlaps(run, span)).map(({ sliceNo }) => sliceNo))].sort((a, b) => a - b);

function toBlocks(
  rows: readonly Row[],
  {
    span,
    runs,
    sliceNos,
  }: { readonly span: Span; readonly runs: readonly Run[]; readonly sliceNos: readonly number[] },
): readonly Block[] {
  const blocks: Block[] = [];
  const columns = sliceNos.map((sliceNo) => `found_${sliceNo}`);
  for (const row of rows) {
    let [count, lastNo] = [0, 0];
    for (const column of columns) {
      // A slice that was dropped meanwhile has no column.
      const found = row[column];
      if (typeof found !== 'string') continue;
      const colon = found.indexOf(':');
      count += Number(found.slice(0, colon));
      lastNo = Math.max(lastNo, Number(found.slice(colon + 1)));
    }
    if (count === 0) continue;
    const [fromMs, toMs] = [numberOf(row, 'lo'), numberOf(row, 'hi')];
    const after = fromMs === span.fromMs ? span.after : null;
    const all = sliceNos.length === 1 ? sliceNos : slicesOf(runs, { fromMs, toMs });
    blocks.push({ fromMs, toMs, after, count, lastNo, sliceNos: all });
  }
  return blocks.sort((one, other) => one.fromMs - other.fromMs);
}

/** Start of a range: after its cursor, if any. */
function startOf({ fromMs, after }: KeyRange): { readonly fromMs: number; readonly after: EventKey | null } {
  if (after === null || after.timestampMs < fromMs) return { fromMs, after: null };
  return { fromMs: after.timestampMs, after };
}

/**
 * The blocks of a range in order, some at a time; a page may be empty. The work of a read does not grow with what lies before
 * the range. The first day is waited for: it is counted in a millisecond or two; the rest lets everything else go first.
 * @param runs those of the range.
 * @param most records that the page takes; null: all.
 */
export async function* eventBlocks(
  { db, archive }: { readonly db: Database; readonly archive: Database },
  range: KeyRange,
  {
    listed,
    runs,
    most,
  }: { readonly listed: Listed; readonly runs: readonly Run[]; readonly most: number | null },
): AsyncGenerator<readonly Block[], void, undefined> {
  const start = startOf(range);
  let { fromMs } = start;
  let width = firstBlocks;
  let isFirstRead = true;
  let leftEntries = most ?? Number.POSITIVE_INFINITY;
  for (;;) {
    const left = runs.filter((run) => run.toMs >= fromMs);
    const [first] = left;
    if (first === undefined) return;
    // Skips time without slices.
    const isFirst = first.fromMs <= start.fromMs && fromMs === start.fromMs;
    fromMs = Math.max(fromMs, first.fromMs);
    const lastMs = left.reduce((latest, run) => Math.max(latest, run.toMs), fromMs);
    const span: Span = {
      fromMs,
      toMs: Math.min(lastMs, blockEnd(fromMs) + (width - 1) * blockMs),
      after: isFirst ? start.after : null,
    };
    const sliceNos = slicesOf(left, span);
    const rows = await readSlices(isFirstRead ? db : archive, sliceNos, (there) =>
      countStatement(range, listed, { span, sliceNos: there }),
    );
    const blocks = toBlocks(rows, { span, runs: left, sliceNos });
    isFirstRead = false;
    yield blocks;
    const seen = blocks.reduce((sum, { count }) => sum + count, 0);
    leftEntries = Math.max(0, leftEntries - seen);
    // A page that is nearly full reads no further than it must.
    const aim = Math.min(entriesAim, leftEntries + 1);
    const fitting = Math.ceil((width * aim) / Math.max(1, seen));
    width = Math.max(1, Math.min(blocksMost, width * 4, fitting));
    fromMs = span.toMs + 1;
  }
}

const deviceColumns = sql`d.device_id, d.description, d.pin_color, d.pin_tag`;
/** Where the device is known, its texts need not be read with each record. */
const noDeviceColumns = sql`NULL AS device_id, NULL AS description, NULL AS pin_color, NULL AS pin_tag`;
const recordColumns = (isKnown: boolean): Statement =>
  sql`e.event_no, e.timestamp_ms, e.received_ms, e.boot, e.seq, e.status_code, e.latitude, e.longitude, e.speed, e.heading,
  e.geozone_id, e.command_id, e.command_state, e.address, ${isKnown ? noDeviceColumns : deviceColumns},
  z.description AS zone_description, z.display_name AS zone_display_name`;
/** The events of a block in all of its slices, with `columns`. */
function inBlock(
  range: KeyRange,
  listed: Listed,
  {
    block,
    there,
    columns,
  }: { readonly block: Block; readonly there: readonly number[]; readonly columns: Statement },
): Statement {
  const parts = there.map((sliceNo) => {
    const from = source(range, listed, { table: tableOf(sliceNo), isShown: true });
    return sql`SELECT ${columns} FROM ${from}
      AND e.timestamp_ms >= ${block.fromMs} AND e.timestamp_ms <= ${block.toMs}${isAfter(block.after)}${within(range, block.toMs)}`;
  });
  return parts.reduce((list, part) => sql`${list} UNION ALL ${part}`);
}

const noText: EventTexts = {
  count: 0,
  last: null,
  records: new Uint8Array(),
  pins: new Uint8Array(),
  firstPin: null,
  lastPin: null,
};

export interface TextOptions {
  readonly block: Block;
  /** 1 to `recordsMost`. */
  readonly limit: number;
  /** Members of a record or an entry; null: all. */
  readonly fields: readonly string[] | null;
  readonly hasPins: boolean;
}

/** The first records of a block as text; fewer than `limit` at its end, or where some were removed meanwhile. */
export async function blockText(
  db: Database,
  range: KeyRange,
  listed: Listed,
  { block, limit, fields, hasPins }: TextOptions,
): Promise<EventTexts> {
  const known = listed.of === 'device' ? listed.texts : {};
  const columns = recordColumns(listed.of === 'device');
  const rows = await readSlices(db, block.sliceNos, (there) => ({
    ...forRange(sql`${inBlock(range, listed, { block, there, columns })} ORDER BY 2, 1 LIMIT ${limit}`),
    form: { of: 'events', fields, hasPins, known },
  }));
  const [row] = rows;
  return row === undefined ? noText : readEventTexts(row);
}

/** The key of the `nth` record of a block, 1 for the first; null when it has fewer by now. */
export async function keyInBlock(
  db: Database,
  range: KeyRange,
  listed: Listed,
  { block, nth }: { readonly block: Block; readonly nth: number },
): Promise<EventKey | null> {
  const columns = sql`e.event_no, e.timestamp_ms`;
  const [row] = await readSlices(db, block.sliceNos, (there) =>
    forRange(
      sql`${inBlock(range, listed, { block, there, columns })} ORDER BY 2, 1 LIMIT 1 OFFSET ${nth - 1}`,
    ),
  );
  if (row === undefined) return null;
  return { timestampMs: numberOf(row, 'timestamp_ms'), eventNo: numberOf(row, 'event_no') };
}

/** Bytes of a text. */
export const bytesOfText = ({ records, pins }: EventTexts): number => records.length + (pins?.length ?? 0);
