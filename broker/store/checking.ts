// Statements that look for what can never be: rows without their device, a present that is older than what was stored, numbers
// that were acknowledged and are not there. They change nothing, and each is true of one moment, also while the broker runs.
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { numberOf, textOf } from './row.ts';

/** The tables whose rows may outlive their device until they are purged; each has an index that begins with `device_no`. */
const followers = ['events', 'notifications', 'notification_episodes'] as const;

export interface Orphans {
  readonly table: string;
  /** Devices that are neither there nor being purged. */
  readonly devices: number;
}

/** Walks from one device number to the next, so that the rows of a device are not read. */
export async function findOrphans(db: Database): Promise<readonly Orphans[]> {
  const found: Orphans[] = [];
  for (const table of followers) {
    const [row] = await db.read({
      sql: `WITH RECURSIVE numbers(n) AS (
          SELECT MIN(device_no) FROM ${table}
          UNION ALL
          SELECT (SELECT MIN(device_no) FROM ${table} WHERE device_no > numbers.n) FROM numbers
          WHERE numbers.n IS NOT NULL)
        SELECT COUNT(*) AS devices FROM numbers WHERE n IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM devices d WHERE d.device_no = n)
          AND NOT EXISTS (SELECT 1 FROM deleted_devices x WHERE x.device_no = n AND x.is_purged = 0)`,
      params: [],
    });
    const devices = row === undefined ? 0 : numberOf(row, 'devices');
    if (devices > 0) found.push({ table, devices });
  }
  return found;
}

/** Event numbers that the notifier has passed although they were never given: it would stay silent until they are. */
export async function notifierAhead(db: Database): Promise<number> {
  const [row] = await db.read(sql`SELECT
    COALESCE((SELECT MAX(event_no) FROM notifier_cursor), 0) AS cursor_no,
    COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS last_no`);
  return row === undefined ? 0 : Math.max(0, numberOf(row, 'cursor_no') - numberOf(row, 'last_no'));
}

/** Up to `count` devices, drawn by lot. */
export async function drawDevices(db: Database, count: number): Promise<readonly number[]> {
  const rows = await db.read(sql`SELECT device_no FROM devices ORDER BY RANDOM() LIMIT ${count}`);
  return rows.map((row) => numberOf(row, 'device_no'));
}

export interface StaleDevice {
  readonly accountID: string;
  readonly deviceID: string;
  /** What of its present is older than an event of it. */
  readonly readings: readonly string[];
}

/** No device of ours existed before; as in broker/core/projection.ts. */
const earliestMs = 978_307_200_000;
/** An event so far ahead of the broker's clock may have been set aside again; as in projections.ts. */
const aheadMostMs = 300_000;

/** Time of the newest event that tells `column` and whose time was known and plausible. */
const newest = (column: string): string => `(SELECT MAX(e.timestamp_ms) FROM events e
  WHERE e.device_no = d.device_no AND e.${column} IS NOT NULL AND e.time_quality <> 'none'
    AND e.timestamp_ms >= ${earliestMs} AND e.timestamp_ms <= e.received_ms + ${aheadMostMs})`;

const presentText = `SELECT d.account_id, d.device_id,
    CASE WHEN d.fix_ms < ${newest('latitude')} THEN 1 ELSE 0 END AS position,
    CASE WHEN d.fuel_ms < ${newest('fuel_level')} THEN 1 ELSE 0 END AS fuel,
    CASE WHEN d.odometer_ms < ${newest('odometer')} THEN 1 ELSE 0 END AS odometer
  FROM devices d WHERE d.device_no = $1`;

/** What of a device's present is older than its own events; null when none is, or the device is gone. */
export async function findStale(db: Database, deviceNo: number): Promise<StaleDevice | null> {
  const [row] = await db.read({ sql: presentText, params: [deviceNo] });
  if (row === undefined) return null;
  const readings = ['position', 'fuel', 'odometer'].filter((name) => numberOf(row, name) === 1);
  if (readings.length === 0) return null;
  return { accountID: textOf(row, 'account_id'), deviceID: textOf(row, 'device_id'), readings };
}

/** Boots of one device that are looked at, newest first, and the most events of one. */
const bootsLooked = 3;
const eventsMost = 500_000;

export interface Gap {
  readonly accountID: string;
  readonly deviceID: string;
  readonly boot: string;
  /** Events up to there were acknowledged. */
  readonly upTo: number;
  /** So many of them are stored. */
  readonly stored: number;
}

/**
 * Boots that began after `sinceMs`, before which retention may have removed events, and of which an event that was
 * acknowledged is not there.
 */
export async function findGaps(db: Database, deviceNo: number, sinceMs: number): Promise<readonly Gap[]> {
  const rows = await db.read(sql`SELECT d.account_id, d.device_id, b.boot, b.up_to,
      (SELECT COUNT(*) FROM events e WHERE e.device_no = b.device_no AND e.boot = b.boot AND e.seq <= b.up_to) AS stored
    FROM (SELECT device_no, boot, up_to FROM boots
      WHERE device_no = ${deviceNo} AND first_seen_ms >= ${sinceMs} AND up_to BETWEEN 1 AND ${eventsMost}
      ORDER BY first_seen_ms DESC LIMIT ${bootsLooked}) b
    JOIN devices d ON d.device_no = b.device_no`);
  return rows
    .map((row) => ({
      accountID: textOf(row, 'account_id'),
      deviceID: textOf(row, 'device_id'),
      boot: textOf(row, 'boot'),
      upTo: numberOf(row, 'up_to'),
      stored: numberOf(row, 'stored'),
    }))
    .filter(({ upTo, stored }) => stored < upTo);
}
