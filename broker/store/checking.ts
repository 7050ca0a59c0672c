// Statements that look for impossible states: rows without their device, device state that is older than stored events,
// acknowledged numbers that are missing. They change nothing and may run beside the broker.
import type { Database, Row, Statement } from '../../src/ports.ts';
import { commaList, sql } from '../../src/sql.ts';
import { numberOf, numberOrNull, textOf } from './base/row.ts';
import { lastEventNo, readSlice, tableOf, wholeSlices } from './slices/slices.ts';

/** The tables, besides the slices of the events, whose rows may outlive their device until they are purged. */
const followers = ['notifications', 'notification_episodes', 'alarms'] as const;

export interface Orphans {
  readonly table: string;
  /** Devices that neither exist nor are being purged. */
  readonly devices: number;
}

/**
 * Rows without a device have the number 0. Walks from one device number to the next without reading the rows of a device:
 * each table has an index that begins with `device_no`.
 */
const countOrphans = (table: Statement): Statement => sql`WITH RECURSIVE numbers(n) AS (
    SELECT MIN(device_no) FROM ${table}
    UNION ALL
    SELECT (SELECT MIN(device_no) FROM ${table} WHERE device_no > numbers.n) FROM numbers
    WHERE numbers.n IS NOT NULL)
  SELECT COUNT(*) AS devices FROM numbers WHERE n IS NOT NULL
    AND n <> 0 AND NOT EXISTS (SELECT 1 FROM devices d WHERE d.device_no = n)
    AND NOT EXISTS (SELECT 1 FROM deleted_devices x WHERE x.device_no = n AND x.is_purged = 0)`;

/** Rows of devices that neither exist nor are being purged. */
export async function findOrphans(db: Database): Promise<readonly Orphans[]> {
  const found: Orphans[] = [];
  const note = (table: string, [row]: readonly Row[]): void => {
    const devices = row === undefined ? 0 : numberOf(row, 'devices');
    if (devices > 0) found.push({ table, devices });
  };
  for (const { sliceNo } of await wholeSlices(db)) {
    const table = tableOf(sliceNo);
    note(table.sql, await readSlice(db, sliceNo, countOrphans(table)));
  }
  for (const table of followers) note(table, await db.read(countOrphans({ sql: table, params: [] })));
  return found;
}

/** Event numbers that the notifier has passed although they were never given: it would stay silent until they are. */
export async function notifierAhead(db: Database): Promise<number> {
  const [row] = await db.read(sql`SELECT COALESCE(MAX(event_no), 0) AS cursor_no FROM notifier_cursor`);
  return row === undefined ? 0 : Math.max(0, numberOf(row, 'cursor_no') - (await lastEventNo(db)));
}

/** Up to `count` random devices. */
export async function sampleDevices(db: Database, count: number): Promise<readonly number[]> {
  const rows = await db.read(sql`SELECT device_no FROM devices ORDER BY RANDOM() LIMIT ${count}`);
  return rows.map((row) => numberOf(row, 'device_no'));
}

export interface StaleDevice {
  readonly accountID: string;
  readonly deviceID: string;
  /** The part of the device state that is older than an event. */
  readonly readings: readonly string[];
}

/** Earlier times are implausible; as in broker/core/events/projection.ts. */
const earliestMs = 978_307_200_000;
/** An event so far ahead of the broker's clock may have been set aside again; as in projections.ts. */
const aheadMostMs = 300_000;

/** Members of the device state, and the event column that carries each. */
const readings = [
  ['position', 'fix_ms', 'latitude'],
  ['fuel', 'fuel_ms', 'fuel_level'],
  ['odometer', 'odometer_ms', 'odometer'],
] as const;

/** Times of a slice's newest events with a value and a known, plausible time. */
const newestIn = (table: Statement, deviceNo: number): Statement => {
  const columns = readings.map(
    ([name, , column]) =>
      sql`MAX(CASE WHEN ${{ sql: column, params: [] }} IS NOT NULL THEN timestamp_ms END) AS ${{ sql: name, params: [] }}`,
  );
  return sql`SELECT ${commaList(columns)} FROM ${table} WHERE device_no = ${deviceNo}
    AND time_quality <> 'none' AND timestamp_ms >= ${earliestMs} AND timestamp_ms <= received_ms + ${aheadMostMs}`;
};

/** The part of a device's state that is older than its own events; null when none is, or the device was deleted. */
export async function findStale(db: Database, deviceNo: number): Promise<StaleDevice | null> {
  const newest = new Map<string, number>();
  for (const { sliceNo } of await wholeSlices(db)) {
    const [row] = await readSlice(db, sliceNo, newestIn(tableOf(sliceNo), deviceNo));
    if (row === undefined) continue;
    for (const [name] of readings)
      newest.set(name, Math.max(newest.get(name) ?? 0, numberOrNull(row, name) ?? 0));
  }
  // The state is read after the events: events that arrive meanwhile only make it newer.
  const [row] = await db.read(sql`SELECT account_id, device_id, fix_ms, fuel_ms, odometer_ms FROM devices
    WHERE device_no = ${deviceNo}`);
  if (row === undefined) return null;
  const stale = readings.filter(([name, column]) => numberOf(row, column) < (newest.get(name) ?? 0));
  if (stale.length === 0) return null;
  return {
    accountID: textOf(row, 'account_id'),
    deviceID: textOf(row, 'device_id'),
    readings: stale.map(([name]) => name),
  };
}

/** Boots of one device that are checked, newest first, and the most events of one. */
const bootsChecked = 3;
const eventsMost = 500_000;

export interface Gap {
  readonly accountID: string;
  readonly deviceID: string;
  readonly boot: string;
  /** Highest acknowledged number. */
  readonly upTo: number;
  /** Stored events up to it. */
  readonly stored: number;
}

/**
 * Boots that began after `sinceMs`, before which retention may have removed events, and of which an acknowledged event is
 * missing.
 */
export async function findGaps(db: Database, deviceNo: number, sinceMs: number): Promise<readonly Gap[]> {
  const boots = await db.read(sql`SELECT d.account_id, d.device_id, b.boot, b.up_to
    FROM (SELECT device_no, boot, up_to FROM boots
      WHERE device_no = ${deviceNo} AND first_seen_ms >= ${sinceMs} AND up_to BETWEEN 1 AND ${eventsMost}
      ORDER BY first_seen_ms DESC LIMIT ${bootsChecked}) b
    JOIN devices d ON d.device_no = ${deviceNo}`);
  const slices = (await wholeSlices(db)).filter(({ closedMs }) => closedMs === null || closedMs >= sinceMs);
  const gaps: Gap[] = [];
  for (const row of boots) {
    const [boot, upTo] = [textOf(row, 'boot'), numberOf(row, 'up_to')] as const;
    let stored = 0;
    for (const { sliceNo } of slices) {
      const [found] = await readSlice(
        db,
        sliceNo,
        sql`SELECT COUNT(*) AS stored FROM ${tableOf(sliceNo)}
          WHERE device_no = ${deviceNo} AND boot = ${boot} AND seq <= ${upTo}`,
      );
      stored += found === undefined ? 0 : numberOf(found, 'stored');
    }
    if (stored >= upTo) continue;
    gaps.push({
      accountID: textOf(row, 'account_id'),
      deviceID: textOf(row, 'device_id'),
      boot,
      upTo,
      stored,
    });
  }
  return gaps;
}
