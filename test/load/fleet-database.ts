// A database with history for benches: 10,000 devices of one account, events back from `nowMs` in the order in which they would
// have come and in the slices of the weeks in which they came, and some busy devices with a record every ten seconds of the last
// day, a third of it on the road. The last weeks are the same whatever the history, so that two databases differ in nothing but what lies behind.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { spanOf } from '../../broker/core/events/event-spans.ts';
import { migrations } from '../../broker/migrations.ts';
import { insertDevice } from '../../broker/store/devices/devices.ts';
import { openNext, recordSpan } from '../../broker/store/slices/slice-writing.ts';
import { tableOf } from '../../broker/store/slices/slices.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { dayMs, weekMs } from '../../src/core/durations.ts';
import { migrate } from '../../src/migrate.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { makeAccount } from './bench-account.ts';

export const benchAccount = {
  accountID: 'bench',
  userID: 'admin',
  password: 'a long bench password',
} as const;
export const busyDevice = 'truck-00000';
/** Busy devices, the first ones of the fleet: more than the service keeps the days of. */
export const busyDevices = 40;
/** Records of their last day. */
const busyRecords = 8640;
/** Events of the busy devices. */
export const busyEvents = busyDevices * busyRecords;
/** One event in a thousand is a panic. */
export const rareCode = 63553;
/** One in fifty is an ignition that was switched on. */
export const commonCode = 62465;

export const deviceCount = 10_000;
/** One million events a month. */
export const monthlyStepMs = (30 * dayMs) / 1_000_000;
/** How much later than its time an event comes in. */
export const delayMs = 900;
const chunk = 100_000;

export interface FleetDatabase {
  readonly path: string;
  readonly eventCount: number;
  readonly nowMs: number;
  /** Between two events of the history. */
  readonly stepMs: number;
  /** So many vehicles, each of which drives a third of each day; absent: 10,000 that are somewhere else with each event. */
  readonly driving?: number;
}

/** Account and devices, numbered from 1 on in a database without any. */
export async function createFleet(db: Database, devices = deviceCount): Promise<void> {
  await migrate(db, migrations);
  await makeAccount(db, benchAccount);
  for (let first = 0; first < devices; first += 500) {
    const statements = Array.from({ length: Math.min(500, devices - first) }, (_unused, at) => {
      const deviceID = `truck-${String(first + at).padStart(5, '0')}`;
      const fields = { description: `Freightliner ${first + at}, Toronto`, displayName: deviceID };
      return insertDevice(
        { accountID: benchAccount.accountID, deviceID },
        { createdS: 1_700_000_000, fields },
      );
    });
    await db.write(statements.flat());
  }
}

export const eventColumns = `event_no, account_no, device_no, boot, seq, timestamp_ms, received_ms, up_ms, time_quality, status_code,
  latitude, longitude, altitude, speed, heading, hdop, satellites, odometer, fuel_level, inputs`;

/** Rows `$from` to `$to` of the fleet's history, by time; `$step` ms apart, the last one at `$now`. */
const historySql = (table: string): string => `INSERT INTO ${table} (${eventColumns})
  WITH RECURSIVE n (i) AS (SELECT $from UNION ALL SELECT i + 1 FROM n WHERE i < $to)
  SELECT i, 1, 1 + (i * 7919) % ${deviceCount}, 'b1', i, CAST($now - ($total - i) * $step AS INTEGER),
    CAST($now - ($total - i) * $step AS INTEGER) + ${delayMs}, i, 'gnss',
    CASE WHEN i % 1000 = 0 THEN ${rareCode} WHEN i % 50 = 0 THEN ${commonCode} ELSE 61472 END,
    43.6 + (i % 1000) * 0.0001, -79.3 - (i % 777) * 0.0001, 90, i % 90, i % 360, 0.9, 11, i * 0.01, 0.62, NULL FROM n`;

/** Events of a vehicle a day, and of them one drive with the stand after it. */
const [dayEvents, driveEvents] = [1000, 80];

/**
 * The same of vehicles that drive there and back every other day, four times with a stand between, and are parked for the rest of the day.
 */
const drivingSql = (table: string, vehicles: number): string => `INSERT INTO ${table} (${eventColumns})
  WITH RECURSIVE n (i) AS (SELECT CAST($from AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i < $to),
    m (i, day, at) AS (SELECT i, i / ${vehicles} / ${dayEvents}, (i / ${vehicles}) % ${dayEvents} FROM n),
    d (i, day, driven, moves) AS (SELECT i, day, MIN(4, at / ${driveEvents}) * 64
        + CASE WHEN at < 4 * ${driveEvents} THEN MIN(64, at % ${driveEvents}) ELSE 0 END,
      at < 4 * ${driveEvents} AND at % ${driveEvents} < 64 FROM m)
  SELECT i, 1, 1 + i % ${vehicles}, 'b1', i, CAST($now - ($total - i) * $step AS INTEGER),
    CAST($now - ($total - i) * $step AS INTEGER) + ${delayMs}, i, 'gnss', 61472,
    43.6 + 0.012 * CASE WHEN day % 2 = 0 THEN driven ELSE 256 - driven END, -79.3 - (i % ${vehicles}) * 0.01, 90,
    moves * 57, 0, 0.9, 11, (256 * day + driven) * 1.334, 0.62,
    CASE WHEN moves THEN '{"ignition":true}' ELSE '{"ignition":false}' END FROM d`;

const busySql = (table: string): string => `INSERT INTO ${table} (${eventColumns})
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${busyRecords})
  SELECT $total + i, 1, $device, 'b2', i, $now - (${busyRecords} - i) * 10000, $now, i, 'gnss', 61472,
    43.65 + MAX(0, i - 5760) * 0.00013, -79.34 - MAX(0, i - 5760) * 0.00011, 90, 54, i % 360,
    0.9, 11, i * 0.1, 0.6, '{"ignition":true}' FROM n`;

type Connection = InstanceType<typeof SqliteConnection>;

function perform(connection: Connection, { sql, params }: Statement): void {
  const order: number[] = [];
  const text = sql.replace(/\$(\d+)/g, (_whole, digits: string) => {
    order.push(Number(digits) - 1);
    return '?';
  });
  connection.prepare(text).run(...order.map((at) => params[at] ?? null));
}

/** Notes every day of a stretch of time. */
export function noteDays(
  sliceNo: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly Statement[] {
  const notes: Statement[] = [];
  for (let ms = fromMs; ms <= toMs + dayMs; ms += dayMs) {
    const at = Math.min(ms, toMs);
    notes.push(recordSpan(sliceNo, spanOf(at, at)));
  }
  return notes;
}

export interface Week {
  readonly sliceNo: number;
  readonly from: number;
  readonly to: number;
}

/** The history by weeks of receipt, in slices from the second on: the first one gives numbers of its own. */
export function weeksOf({ eventCount, nowMs, stepMs }: FleetDatabase): readonly Week[] {
  const weeks: Week[] = [];
  const endMs = nowMs - dayMs;
  const timeOf = (no: number): number => endMs - (eventCount - no) * stepMs;
  let from = 1;
  while (from <= eventCount) {
    const nextMs = (Math.floor((timeOf(from) + delayMs) / weekMs) + 1) * weekMs - delayMs;
    const to = Math.min(eventCount, Math.max(from, Math.ceil((nextMs - timeOf(1)) / stepMs)));
    weeks.push({ sliceNo: weeks.length + 2, from, to });
    from = to + 1;
  }
  return weeks;
}

function fillWeek(connection: Connection, fleet: FleetDatabase, { sliceNo, from, to }: Week): void {
  const { eventCount: total, nowMs, stepMs: step, driving } = fleet;
  const now = nowMs - dayMs;
  const timeOf = (no: number): number => Math.trunc(now - (total - no) * step);
  perform(connection, { sql: 'UPDATE event_counter SET next_no = $1', params: [from] });
  connection.transaction(() => {
    for (const statement of openNext(sliceNo - 1, timeOf(from))) perform(connection, statement);
  })();
  const table = tableOf(sliceNo).sql;
  const insert = connection.prepare(driving === undefined ? historySql(table) : drivingSql(table, driving));
  // Indexes are made much faster of what is there than row by row.
  const indexes = connection
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
    .all(tableOf(sliceNo).sql) as readonly { readonly name: string; readonly sql: string }[];
  for (const { name } of indexes) connection.exec(`DROP INDEX ${name}`);
  for (let first = from; first <= to; first += chunk) {
    insert.run({ from: first, to: Math.min(to, first + chunk - 1), total, now, step });
  }
  for (const { sql } of indexes) connection.exec(sql);
  for (const note of noteDays(sliceNo, { fromMs: timeOf(from), toMs: timeOf(to) })) perform(connection, note);
}

/** The last positions of the fleet as ingest would have left them; without them `latest` finds nothing. */
export function lastPositions(nowMs: number): Statement {
  return {
    sql: `UPDATE devices SET heartbeat_ms = $1, fix_ms = $2, latitude = 43.65 + device_no * 0.0001,
      longitude = -79.34 - device_no * 0.0001, speed = 54, heading = 90`,
    params: [nowMs, nowMs],
  };
}

/** Makes the database unless the file is there already; `onProgress` gets 0 to 1. */
export async function makeFleetDatabase(
  fleet: FleetDatabase,
  onProgress: (done: number) => void,
): Promise<void> {
  const { path, eventCount, nowMs } = fleet;
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  // Under its name only when it is whole.
  const part = `${path}.part`;
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${part}${suffix}`, { force: true });
  const db = openSqlite({ path: part, pageSize: 4096 });
  await createFleet(db, fleet.driving);
  await db.close();
  const connection = new SqliteConnection(part);
  connection.pragma('journal_mode = MEMORY');
  connection.pragma('synchronous = OFF');
  connection.pragma('cache_size = -1000000');
  connection.pragma('temp_store = MEMORY');
  const weeks = weeksOf(fleet);
  for (const week of weeks) {
    fillWeek(connection, fleet, week);
    onProgress(week.to / eventCount);
  }
  const last = weeks.at(-1)?.sliceNo ?? 1;
  const busyCount = fleet.driving === undefined ? busyDevices : 0;
  const insertBusy = connection.prepare(busySql(tableOf(last).sql));
  for (let device = 1; device <= busyCount; device++) {
    insertBusy.run({ now: nowMs, device, total: eventCount + (device - 1) * busyRecords });
  }
  for (const note of noteDays(last, { fromMs: nowMs - dayMs, toMs: nowMs })) perform(connection, note);
  perform(connection, lastPositions(nowMs));
  perform(connection, {
    sql: 'UPDATE event_counter SET next_no = $1',
    params: [eventCount + busyCount * busyRecords + 1],
  });
  // Nobody is to be told of any of it.
  perform(connection, {
    sql: 'UPDATE notifier_cursor SET event_no = $1',
    params: [eventCount + busyCount * busyRecords],
  });
  connection.pragma('journal_mode = WAL');
  connection.close();
  renameSync(part, path);
}
