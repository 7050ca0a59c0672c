// Keys of events in the order of event time, as short reads that never hold up other readers: of one device, of one status
// code of a whole account, or of everything. Every read looks at a bounded number of index entries, whatever it finds; it
// must never sort what it does not give.
import type { Database, Row, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { notRoutine } from './routine-codes.ts';
import { numberOf, textOf } from './row.ts';
import { type Scope, visible } from './scope.ts';
import { type EventKey, inOrder, isBefore, type KeyedStream } from './slice-streams.ts';
import { type Run, readSlice, runsWithin } from './slices.ts';

export type { EventKey } from './slice-streams.ts';

/** Which events: by time, and by number (the order of arrival). */
export interface KeyRange {
  readonly scope: Scope;
  /** Event time, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** An event time later than this is a fault of the vehicle's clock; then the time of arrival must not be before `fromMs`. */
  readonly plausibleMs: number;
  /** Exclusive; null from the start. */
  readonly after: EventKey | null;
  /** Only what was stored after this number, and up to the other. */
  readonly sinceNo: number;
  readonly upToNo: number;
}

/** Keys in order, some at a time. */
export type KeyStream = KeyedStream<EventKey>;

/** Index entries looked at by one read: a few milliseconds. */
const chunk = 1000;
/** Devices looked through by one read. */
const devicesPerRead = 500;
/** Keys of a fleet that are put in order at once. */
const windowKeys = 5000;
/** First window of time; it becomes `coarse` times wider or narrower until one was too full, and then `fine` times. */
const windowMs = 3_600_000;
const coarse = 16;
const fine = 4;

const isNotRoutine: Statement = { sql: notRoutine, params: [] };

/** The second line says nothing new, but in a way in which PostgreSQL sees how narrow the range is. */
function within(range: KeyRange, after: EventKey): Statement {
  return sql`(e.timestamp_ms, e.event_no) > (${after.timestampMs}, ${after.eventNo})
    AND e.timestamp_ms >= ${after.timestampMs} AND e.timestamp_ms <= ${range.toMs}
    AND e.event_no > ${range.sinceNo} AND e.event_no <= ${range.upToNo}
    AND (e.timestamp_ms <= ${range.plausibleMs} OR e.received_ms >= ${range.fromMs})`;
}

/**
 * Planned for its values: without them PostgreSQL takes every range for a narrow one, and goes through a whole slice by number for
 * an hour of it.
 */
const forRange = (statement: Statement): Statement => ({ ...statement, isPlannedAnew: true });

const keyOf = (row: Row): EventKey => ({
  timestampMs: numberOf(row, 'timestamp_ms'),
  eventNo: numberOf(row, 'event_no'),
});

/** Event numbers begin at 1: this stands before every event of the range. */
const startOf = ({ fromMs, after }: KeyRange): EventKey =>
  after === null || after.timestampMs < fromMs ? { timestampMs: fromMs, eventNo: 0 } : after;

/** What of a range lies in a run. */
function cutTo(range: KeyRange, { fromMs, toMs }: Run): KeyRange {
  const after = startOf(range);
  return {
    ...range,
    after: after.timestampMs < fromMs ? { timestampMs: fromMs, eventNo: 0 } : after,
    toMs: Math.min(range.toMs, toMs),
  };
}

/** The runs that a range reaches into, the earliest first. */
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
  // Without codes the index alone answers.
  const column = codes === null ? sql`0 AS status_code` : sql`e.status_code`;
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
  const { scope } = range;
  const part = cutTo(range, run);
  return inChunks({
    start: startOf(part),
    read: (after) =>
      readSlice(
        db,
        run.sliceNo,
        forRange(sql`SELECT e.timestamp_ms, e.event_no, CASE WHEN ${visible(scope)} THEN 1 ELSE 0 END AS is_visible
          FROM ${run.table} e JOIN devices d ON d.device_no = e.device_no
          WHERE e.account_no = (SELECT account_no FROM accounts WHERE account_id = ${scope.accountID})
            AND e.status_code = ${code} AND ${isNotRoutine} AND ${within(part, after)}
          ORDER BY e.timestamp_ms, e.event_no LIMIT ${chunk}`),
      ),
    isHit: (row) => numberOf(row, 'is_visible') === 1,
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

/** First and last id of some devices that follow each other. */
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

/** The keys of one window of time; null when it holds more than `most` events, whatever their code. */
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
 * Events of all visible devices; with `codes` only those. There is no index of a whole fleet by time, which would cost
 * every event that comes in: so devices are looked through group by group, in windows of time that hold what fits.
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
    // Where no slice has anything there is nothing to look through.
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
    if (keys.hits.length > 0) yield keys.hits;
    if (keys.seen < windowKeys / (2 * factor)) widthMs *= factor;
    start = { timestampMs: toMs + 1, eventNo: 0 };
  }
}

/** True when the visible devices hold more than `most` events in the range, whatever their code; stops as soon as it knows. */
export async function fleetHoldsMore(db: Database, range: KeyRange, most: number): Promise<boolean> {
  let left = most + 1;
  const devices = await devicesOf(db, range.scope);
  for (const run of await runsOf(db, range)) {
    const part = cutTo(range, run);
    for (const group of devices) {
      const [row] = await readSlice(
        db,
        run.sliceNo,
        forRange(sql`SELECT COUNT(*) AS seen FROM (SELECT 1
          FROM devices d JOIN ${run.table} e ON e.device_no = d.device_no
          WHERE ${ofDevices(range, group)} AND ${within(part, startOf(part))} LIMIT ${left}) AS part`),
      );
      left -= row === undefined ? 0 : numberOf(row, 'seen');
      if (left <= 0) return true;
    }
  }
  return false;
}
