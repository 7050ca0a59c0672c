// A database with history for benches: 10,000 devices of one account, one million events a month back from `nowMs` in the
// order in which they would have come, and one busy device with a record every ten seconds of the last day. The last
// month is the same whatever the history, so that two databases differ in nothing but what lies behind.
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { createAccount } from '../../broker/accounts/administration.ts';
import { createPasswords } from '../../broker/adapters/passwords.ts';
import { insertDevice } from '../../broker/store/devices.ts';
import { migrations } from '../../broker/store/migrations.ts';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { migrate } from '../../src/migrate.ts';

export const benchAccount = {
  accountID: 'bench',
  userID: 'admin',
  password: 'a long bench password',
} as const;
export const busyDevice = 'truck-00000';
/** One event in a thousand is a panic. */
export const rareCode = 63553;

const deviceCount = 10_000;
const eventsPerMonth = 1_000_000;
const monthMs = 30 * 24 * 3_600_000;
const dayMs = 24 * 3_600_000;
const chunk = 100_000;

export interface FleetDatabase {
  readonly path: string;
  readonly eventCount: number;
  readonly nowMs: number;
}

async function createFleet(path: string): Promise<void> {
  const db = openSqlite({ path, pageSize: 4096 });
  const ports = {
    db,
    clock: createSystemClock(),
    entropy: createSystemEntropy(),
    passwords: createPasswords(),
  };
  await migrate(db, migrations);
  await createAccount(ports, benchAccount);
  for (let first = 0; first < deviceCount; first += 500) {
    const statements = Array.from({ length: 500 }, (_unused, at) => {
      const deviceID = `truck-${String(first + at).padStart(5, '0')}`;
      const fields = { description: `Freightliner ${first + at}, Toronto`, displayName: deviceID };
      return insertDevice(
        { accountID: benchAccount.accountID, deviceID },
        { createdS: 1_700_000_000, fields },
      );
    });
    await db.write(statements.flat());
  }
  await db.close();
}

const columns = `account_no, device_no, boot, seq, timestamp_ms, received_ms, up_ms, time_quality, status_code, latitude,
  longitude, altitude, speed, heading, hdop, satellites, odometer, fuel_level, inputs`;

/** Rows `$from` to `$to` of the fleet's history, by time; `$step` ms apart, the last one at `$now`. */
const historySql = `INSERT INTO events (${columns})
  WITH RECURSIVE n (i) AS (SELECT $from UNION ALL SELECT i + 1 FROM n WHERE i < $to)
  SELECT 1, 1 + (i * 7919) % ${deviceCount}, 'b1', i, $now - ($total - i) * $step, $now - ($total - i) * $step + 900,
    i, 'gnss', CASE WHEN i % 1000 = 0 THEN ${rareCode} WHEN i % 50 = 0 THEN 62465 ELSE 61472 END,
    43.6 + (i % 1000) * 0.0001, -79.3 - (i % 777) * 0.0001, 90, i % 90, i % 360, 0.9, 11, i * 0.01, 0.62, NULL FROM n`;

const busySql = `INSERT INTO events (${columns})
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8640)
  SELECT 1, 1, 'b2', i, $now - (8640 - i) * 10000, $now, i, 'gnss', 61472, 43.65, -79.34, 90, 54, i % 360, 0.9, 11,
    i * 0.1, 0.6, '{"ignition":true}' FROM n`;

/** Makes the database unless the file is there already; `onProgress` gets 0 to 1. */
export async function makeFleetDatabase(
  fleet: FleetDatabase,
  onProgress: (done: number) => void,
): Promise<void> {
  const { path, eventCount, nowMs } = fleet;
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  await createFleet(path);
  const connection = new SqliteConnection(path);
  connection.pragma('journal_mode = OFF');
  connection.pragma('synchronous = OFF');
  connection.pragma('cache_size = -4000000');
  const insert = connection.prepare(historySql);
  for (let from = 1; from <= eventCount; from += chunk) {
    const to = Math.min(eventCount, from + chunk - 1);
    insert.run({
      from,
      to,
      total: eventCount,
      now: nowMs - dayMs,
      step: Math.round(monthMs / eventsPerMonth),
    });
    onProgress(to / eventCount);
  }
  connection.prepare(busySql).run({ now: nowMs });
  connection.pragma('journal_mode = WAL');
  connection.close();
}
