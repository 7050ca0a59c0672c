// Keys of events in the order of event time, as short reads that never hold up other readers: of one device, of one status
// code of a whole account, or of everything. Every read looks at a bounded number of index entries, whatever it finds; it
// must never sort what it does not give.
import type { Database, Row, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { notRoutine } from './routine-codes.ts';
import { numberOf, textOf } from './row.ts';
import { type Scope, visible } from './scope.ts';

/** Place of an event in a listing by event time; events of one millisecond follow in the order of arrival. */
export interface EventKey {
  readonly timestampMs: number;
  readonly eventNo: number;
}

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
export type KeyStream = AsyncGenerator<readonly EventKey[], void, undefined>;

/** Index entries looked at by one read: a few milliseconds. */
const chunk = 1000;
/** Devices looked through by one read. */
const devicesPerSlice = 500;
/** Keys of a fleet that are put in order at once. */
const windowKeys = 5000;
/** First window of time; it becomes `coarse` times wider or narrower until one was too full, and then `fine` times. */
const windowMs = 3_600_000;
const coarse = 16;
const fine = 4;

const isNotRoutine: Statement = { sql: notRoutine, params: [] };

function within(range: KeyRange, after: EventKey): Statement {
  return sql`(e.timestamp_ms, e.event_no) > (${after.timestampMs}, ${after.eventNo})
    AND e.timestamp_ms <= ${range.toMs} AND e.event_no > ${range.sinceNo} AND e.event_no <= ${range.upToNo}
    AND (e.timestamp_ms <= ${range.plausibleMs} OR e.received_ms >= ${range.fromMs})`;
}

const keyOf = (row: Row): EventKey => ({
  timestampMs: numberOf(row, 'timestamp_ms'),
  eventNo: numberOf(row, 'event_no'),
});

/** Event numbers begin at 1: this stands before every event of the range. */
const startOf = ({ fromMs, after }: KeyRange): EventKey =>
  after === null || after.timestampMs < fromMs ? { timestampMs: fromMs, eventNo: 0 } : after;

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
export function deviceKeys(
  db: Database,
  range: KeyRange & { readonly deviceID: string },
  codes: ReadonlySet<number> | null,
): KeyStream {
  // Without codes the index alone answers.
  const column = codes === null ? sql`0 AS status_code` : sql`e.status_code`;
  return inChunks({
    start: startOf(range),
    read: (after) =>
      db.read(sql`SELECT e.timestamp_ms, e.event_no, ${column}
        FROM devices d JOIN events e ON e.device_no = d.device_no
        WHERE ${visible(range.scope)} AND d.device_id = ${range.deviceID} AND ${within(range, after)}
        ORDER BY e.timestamp_ms, e.event_no LIMIT ${chunk}`),
    isHit: (row) => codes === null || codes.has(numberOf(row, 'status_code')),
  });
}

/** Events of all visible devices with one code that is not routine. */
function codeKeys(db: Database, range: KeyRange, code: number): KeyStream {
  const { scope } = range;
  return inChunks({
    start: startOf(range),
    read: (after) =>
      db.read(sql`SELECT e.timestamp_ms, e.event_no, CASE WHEN ${visible(scope)} THEN 1 ELSE 0 END AS is_visible
        FROM events e JOIN devices d ON d.device_no = e.device_no
        WHERE e.account_no = (SELECT account_no FROM accounts WHERE account_id = ${scope.accountID})
          AND e.status_code = ${code} AND ${isNotRoutine} AND ${within(range, after)}
        ORDER BY e.timestamp_ms, e.event_no LIMIT ${chunk}`),
    isHit: (row) => numberOf(row, 'is_visible') === 1,
  });
}

const isBefore = (one: EventKey, other: EventKey): boolean =>
  one.timestampMs < other.timestampMs ||
  (one.timestampMs === other.timestampMs && one.eventNo < other.eventNo);

interface Head {
  readonly stream: KeyStream;
  keys: readonly EventKey[];
  at: number;
}

/** False at the end of the stream. */
async function refill(head: Head): Promise<boolean> {
  const next = await head.stream.next();
  head.keys = next.done === true ? [] : next.value;
  head.at = 0;
  return head.keys.length > 0;
}

/** Several streams as one, in order. */
async function* merge(streams: readonly KeyStream[]): KeyStream {
  let heads: Head[] = [];
  for (const stream of streams) {
    const head: Head = { stream, keys: [], at: 0 };
    if (await refill(head)) heads.push(head);
  }
  let found: EventKey[] = [];
  for (;;) {
    let first: { head: Head; key: EventKey } | null = null;
    for (const head of heads) {
      const key = head.keys[head.at];
      if (key !== undefined && (first === null || isBefore(key, first.key))) first = { head, key };
    }
    if (first === null) break;
    const { head, key } = first;
    found.push(key);
    head.at += 1;
    if (found.length >= chunk) {
      yield found;
      found = [];
    }
    if (head.at >= head.keys.length && !(await refill(head))) heads = heads.filter((one) => one !== head);
  }
  if (found.length > 0) yield found;
}

/** Events of all visible devices with one of the codes, none of which may be routine. */
export function codesKeys(db: Database, range: KeyRange, codes: readonly number[]): KeyStream {
  return merge(codes.map((code) => codeKeys(db, range, code)));
}

/** First and last id of some devices that follow each other. */
interface Slice {
  readonly first: string;
  readonly last: string;
}

async function slicesOf(db: Database, scope: Scope): Promise<readonly Slice[]> {
  const slices: Slice[] = [];
  let after = '';
  for (;;) {
    const rows = await db.read(sql`SELECT d.device_id FROM devices d
      WHERE ${visible(scope)} AND d.device_id > ${after} ORDER BY d.device_id LIMIT ${devicesPerSlice}`);
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return slices;
    after = textOf(last, 'device_id');
    slices.push({ first: textOf(first, 'device_id'), last: after });
  }
}

const ofSlice = ({ scope }: KeyRange, { first, last }: Slice): Statement =>
  sql`${visible(scope)} AND d.device_id >= ${first} AND d.device_id <= ${last}`;

interface Window {
  readonly range: KeyRange;
  readonly slices: readonly Slice[];
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
  const { range, slices, codes, most } = window;
  const column = codes === null ? sql`0 AS status_code` : sql`e.status_code`;
  const hits: EventKey[] = [];
  let seen = 0;
  for (const slice of slices) {
    const limit = most === null ? Number.MAX_SAFE_INTEGER : most + 1 - seen;
    const rows = await db.read(sql`SELECT e.timestamp_ms, e.event_no, ${column}
      FROM devices d JOIN events e ON e.device_no = d.device_no
      WHERE ${ofSlice(range, slice)} AND ${within(range, startOf(range))} LIMIT ${limit}`);
    seen += rows.length;
    if (most !== null && seen > most) return null;
    for (const row of rows)
      if (codes === null || codes.has(numberOf(row, 'status_code'))) hits.push(keyOf(row));
  }
  return { hits: hits.sort((one, other) => (isBefore(one, other) ? -1 : 1)), seen };
}

/**
 * Events of all visible devices; with `codes` only those. There is no index of a whole fleet by time, which would cost
 * every event that comes in: so devices are looked through slice by slice, in windows of time that hold what fits.
 */
export async function* fleetKeys(
  db: Database,
  range: KeyRange,
  codes: ReadonlySet<number> | null,
): KeyStream {
  const slices = await slicesOf(db, range.scope);
  let start = startOf(range);
  let widthMs = windowMs;
  let factor = coarse;
  while (start.timestampMs <= range.toMs) {
    const toMs = Math.min(range.toMs, start.timestampMs + widthMs - 1);
    const most = widthMs === 1 ? null : windowKeys;
    const keys = await keysOfWindow(db, { range: { ...range, after: start, toMs }, slices, codes, most });
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
  for (const slice of await slicesOf(db, range.scope)) {
    const [row] = await db.read(sql`SELECT COUNT(*) AS seen FROM (SELECT 1
      FROM devices d JOIN events e ON e.device_no = d.device_no
      WHERE ${ofSlice(range, slice)} AND ${within(range, startOf(range))} LIMIT ${left}) AS part`);
    left -= row === undefined ? 0 : numberOf(row, 'seen');
    if (left <= 0) return true;
  }
  return false;
}
