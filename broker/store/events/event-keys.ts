// Keys of events in event-time order, of one device, of one status code of an account, or of all events. Reads are short and
// never delay other readers. Every read visits a bounded number of index entries, and never sorts rows that it does not return.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { isNotRoutine } from '../base/routine-codes.ts';
import { numberOf, textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { isUnaskedCrossing } from '../base/unasked-crossings.ts';
import { type EventKey, inOrder, isBefore, type KeyedStream } from '../slices/slice-streams.ts';
import { type Run, readSlice, runsWithin } from '../slices/slices.ts';

export type { EventKey } from '../slices/slice-streams.ts';

/** Range of events by time and number (order of arrival). */
export interface KeyRange {
  readonly scope: Scope;
  /** Event time, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** A later event time is a fault of the vehicle's clock; then the time of arrival must not be before `fromMs`. */
  readonly plausibleMs: number;
  /** Exclusive; null from the start. */
  readonly after: EventKey | null;
  /** Only what was stored after this number, and up to the other. */
  readonly sinceNo: number;
  readonly upToNo: number;
  /** True: without geozone crossings that no alert was requested for. Only with codes. */
  readonly isAlertsOnly?: boolean;
}

/** Keys in order, some at a time; a page may be empty. */
export type KeyStream = KeyedStream<EventKey>;

/** Index entries per read: a few milliseconds. */
const chunk = 1000;
/** Devices per read. */
const devicesPerRead = 500;
/** Keys of a fleet that are sorted at once. */
const windowKeys = 5000;
/** First window of time; it becomes `coarse` times wider or narrower until one was too full, and then `fine` times. */
const windowMs = 3_600_000;
const coarse = 16;
const fine = 4;

/** The second line is redundant, but lets PostgreSQL see how narrow the range is. */
function within(range: KeyRange, after: EventKey): Statement {
  return sql`(e.timestamp_ms, e.event_no) > (${after.timestampMs}, ${after.eventNo})
    AND e.timestamp_ms >= ${after.timestampMs} AND e.timestamp_ms <= ${range.toMs}
    AND e.event_no > ${range.sinceNo} AND e.event_no <= ${range.upToNo}
    AND (e.timestamp_ms <= ${range.plausibleMs} OR e.received_ms >= ${range.fromMs})`;
}

/**
 * Planned for its values: otherwise PostgreSQL assumes a narrow range and walks a whole slice by number for an hour of it.
 */
const forRange = (statement: Statement): Statement => ({ ...statement, isPlannedAnew: true });

const keyOf = (row: Row): EventKey => ({
  timestampMs: numberOf(row, 'timestamp_ms'),
  eventNo: numberOf(row, 'event_no'),
});

/** Event numbers begin at 1: this stands before every event of the range. */
const startOf = ({ fromMs, after }: KeyRange): EventKey =>
  after === null || after.timestampMs < fromMs ? { timestampMs: fromMs, eventNo: 0 } : after;

/** The part of a range within a run. */
function cutTo(range: KeyRange, { fromMs, toMs }: Run): KeyRange {
  const after = startOf(range);
  return {
    ...range,
    after: after.timestampMs < fromMs ? { timestampMs: fromMs, eventNo: 0 } : after,
    toMs: Math.min(range.toMs, toMs),
  };
}

/** The runs that overlap a range, earliest first. */
const runsOf = (db: Database, range: KeyRange): Promise<readonly Run[]> =>
  runsWithin(db, { fromMs: startOf(range).timestampMs, toMs: range.toMs });

interface Chunks {
  readonly start: EventKey;
  /** Up to `chunk` entries in order. */
  readonly read: (after: EventKey) => Promise<readonly Row[]>;
  readonly isHit: (row: Row) => boolean;
}

async function* inChunks({ start, read, isHit }: Chunks): KeyStream {
  let after = start;
  for (;;) {
    const rows = await read(after);
    const hits = rows.filter(isHit).map(keyOf);
    if (hits.length > 0) yield hits;
    const last = rows.at(-1);
    if (last === undefined || rows.length < chunk) return;
    after = keyOf(last);
  }
}

/** Events of one device; with `codes` only those. */
export async function* deviceKeys(
  db: Database,
  range: KeyRange & { readonly deviceID: string },
  codes: ReadonlySet<number> | null,
): KeyStream {
  const { isAlertsOnly = false } = range;
  const code = isAlertsOnly
    ? sql`CASE WHEN ${isUnaskedCrossing} THEN 0 ELSE e.status_code END AS status_code`
    : sql`e.status_code`;
  // Without codes the index alone answers.
  const column = codes === null ? sql`0 AS status_code` : code;
  const open = (run: Run): KeyStream => {
    const part = cutTo(range, run);
    return inChunks({
      start: startOf(part),
      read: (after) =>
        readSlice(
          db,
          run.sliceNo,
          forRange(sql`SELECT e.timestamp_ms, e.event_no, ${column}
            FROM devices d JOIN ${run.table} e ON e.device_no = d.device_no
            WHERE ${visible(range.scope)} AND d.device_id = ${range.deviceID} AND ${within(part, after)}
            ORDER BY e.timestamp_ms, e.event_no LIMIT ${chunk}`),
        ),
      isHit: (row) => codes === null || codes.has(numberOf(row, 'status_code')),
    });
  };
  const runs = await runsOf(db, range);
  yield* inOrder(runs.map((run) => ({ fromMs: run.fromMs, open: () => open(run) })));
}

/** Events of all visible devices with one code that is not routine, of one run. */
function codeKeys(db: Database, { range, run }: { range: KeyRange; run: Run }, code: number): KeyStream {
  const { scope, isAlertsOnly = false } = range;
  const part = cutTo(range, run);
  const isShown = isAlertsOnly ? sql`${visible(scope)} AND NOT ${isUnaskedCrossing}` : visible(scope);
  return inChunks({
    start: startOf(part),
    read: (after) =>
      readSlice(
        db,
        run.sliceNo,
        forRange(sql`SELECT e.timestamp_ms, e.event_no, CASE WHEN ${isShown} THEN 1 ELSE 0 END AS is_shown
          FROM ${run.table} e JOIN devices d ON d.device_no = e.device_no
          WHERE e.account_no = (SELECT account_no FROM accounts WHERE account_id = ${scope.accountID})
            AND e.status_code = ${code} AND ${isNotRoutine} AND ${within(part, after)}
          ORDER BY e.timestamp_ms, e.event_no LIMIT ${chunk}`),
      ),
    isHit: (row) => numberOf(row, 'is_shown') === 1,
  });
}

/** Events of all visible devices with one of the codes, none of which may be routine. */
export async function* codesKeys(db: Database, range: KeyRange, codes: readonly number[]): KeyStream {
  const runs = await runsOf(db, range);
  yield* inOrder(
    runs.flatMap((run) =>
      codes.map((code) => ({ fromMs: run.fromMs, open: () => codeKeys(db, { range, run }, code) })),
    ),
  );
}

/** First and last id of consecutive devices. */
interface Devices {
  readonly first: string;
  readonly last: string;
}

async function devicesOf(db: Database, scope: Scope): Promise<readonly Devices[]> {
  const groups: Devices[] = [];
  let after = '';
  for (;;) {
    const rows = await db.read(sql`SELECT d.device_id FROM devices d
      WHERE ${visible(scope)} AND d.device_id > ${after} ORDER BY d.device_id LIMIT ${devicesPerRead}`);
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return groups;
    after = textOf(last, 'device_id');
    groups.push({ first: textOf(first, 'device_id'), last: after });
  }
}

const ofDevices = ({ scope }: KeyRange, { first, last }: Devices): Statement =>
  sql`${visible(scope)} AND d.device_id >= ${first} AND d.device_id <= ${last}`;

interface Window {
  readonly range: KeyRange;
  readonly devices: readonly Devices[];
  readonly runs: readonly Run[];
  readonly codes: ReadonlySet<number> | null;
  /** Null: no limit. */
  readonly most: number | null;
}

interface WindowKeys {
  /** In order. */
  readonly hits: readonly EventKey[];
  /** Events of any code. */
  readonly seen: number;
}

/** The keys of one window of time; null when it has more than `most` events of any code. */
async function keysOfWindow(db: Database, window: Window): Promise<WindowKeys | null> {
  const { range, devices, runs, codes, most } = window;
  const column = codes === null ? sql`0 AS status_code` : sql`e.status_code`;
  const hits: EventKey[] = [];
  let seen = 0;
  for (const run of runs) {
    const part = cutTo(range, run);
    for (const group of devices) {
      const limit = most === null ? Number.MAX_SAFE_INTEGER : most + 1 - seen;
      const rows = await readSlice(
        db,
        run.sliceNo,
        forRange(sql`SELECT e.timestamp_ms, e.event_no, ${column}
          FROM devices d JOIN ${run.table} e ON e.device_no = d.device_no
          WHERE ${ofDevices(range, group)} AND ${within(part, startOf(part))} LIMIT ${limit}`),
      );
      seen += rows.length;
      if (most !== null && seen > most) return null;
      for (const row of rows)
        if (codes === null || codes.has(numberOf(row, 'status_code'))) hits.push(keyOf(row));
    }
  }
  return { hits: hits.sort((one, other) => (isBefore(one, other) ? -1 : 1)), seen };
}

/**
 * Events of all visible devices; with `codes` only those. A fleet-wide index by time would cost every insert, so devices are
 * read in groups, in fitting time windows.
 */
export async function* fleetKeys(
  db: Database,
  range: KeyRange,
  codes: ReadonlySet<number> | null,
): KeyStream {
  const devices = await devicesOf(db, range.scope);
  const runs = await runsOf(db, range);
  let start = startOf(range);
  let widthMs = windowMs;
  let factor = coarse;
  while (start.timestampMs <= range.toMs) {
    const fromMs = start.timestampMs;
    const left = runs.filter((run) => run.toMs >= fromMs);
    const [first] = left;
    if (first === undefined) return;
    // Skips time without slices.
    if (first.fromMs > fromMs) start = { timestampMs: first.fromMs, eventNo: 0 };
    const toMs = Math.min(range.toMs, start.timestampMs + widthMs - 1);
    const most = widthMs === 1 ? null : windowKeys;
    const inside = left.filter((run) => run.fromMs <= toMs);
    const window = { range: { ...range, after: start, toMs }, devices, runs: inside, codes, most };
    const keys = await keysOfWindow(db, window);
    if (keys === null) {
      widthMs = Math.max(1, Math.floor(widthMs / factor));
      factor = fine;
      continue;
    }
    // Also without a hit, so that the reader may run between two windows.
    yield keys.hits;
    if (keys.seen < windowKeys / (2 * factor)) widthMs *= factor;
    start = { timestampMs: toMs + 1, eventNo: 0 };
  }
}
