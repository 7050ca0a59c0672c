// Statements on the watch over geozones that the service keeps for devices without an agent, and the records that it resumes from.
import type { Database, Statement } from '../../../src/ports.ts';
import { pointRead, sql } from '../../../src/sql.ts';
import type { DeviceRef } from '../../core/device-key.ts';
import { numberOf, numberOrNull, readNumber, textListOf, textOf } from '../base/row.ts';
import { wholeAccount } from '../base/scope.ts';
import { earlierPositionsMs, type TrackEvent, trackEventsBefore } from '../events/trip-events.ts';

/** What is stored of the watch of a device. */
export interface ZoneWatchRow {
  readonly revision: number;
  readonly compared: string | null;
  readonly inside: readonly string[];
  /** Crossings that are recorded. */
  readonly crossings: number;
}

/** Of a device without a row. */
const noRow: ZoneWatchRow = { revision: 0, compared: null, inside: [], crossings: 0 };

/**
 * The watch of a device; `agent` when it has one that watches itself, which is known by its hello; null: it was deleted. One that
 * says hello no more, as after another unit was fitted, has none (`tracker-presence.ts`).
 */
export async function findZoneWatch(db: Database, deviceNo: number): Promise<ZoneWatchRow | 'agent' | null> {
  const [row] = await db.read(
    pointRead(sql`SELECT d.hello_ms, d.presence_cause, w.revision, w.compared, w.inside, w.crossings
      FROM devices d LEFT JOIN zone_watches w ON w.device_no = d.device_no WHERE d.device_no = ${deviceNo}`),
  );
  if (row === undefined) return null;
  if (numberOf(row, 'hello_ms') > 0 && !['message', 'silent'].includes(textOf(row, 'presence_cause')))
    return 'agent';
  if (numberOrNull(row, 'revision') === null) return noRow;
  return {
    revision: numberOf(row, 'revision'),
    compared: textOf(row, 'compared'),
    inside: textListOf(row, 'inside'),
    crossings: numberOf(row, 'crossings'),
  };
}

/** Replaces the watch of a device. The batch fails when another process changed it since the read. */
export function putZoneWatch(
  deviceNo: number,
  from: ZoneWatchRow,
  to: Omit<ZoneWatchRow, 'revision'>,
): Statement {
  return {
    ...sql`INSERT INTO zone_watches (device_no, revision, compared, inside, crossings)
      VALUES (${deviceNo}, ${from.revision + 1}, ${to.compared ?? ''}, ${JSON.stringify(to.inside)}, ${to.crossings})
      ON CONFLICT (device_no) DO UPDATE SET revision = excluded.revision, compared = excluded.compared,
        inside = excluded.inside, crossings = excluded.crossings
      WHERE zone_watches.revision = ${from.revision}`,
    mustChange: 1,
  };
}

/** Grows with each change of the account's geozones. */
export async function zonesRevision(db: Database, accountID: string): Promise<number> {
  return (
    (await readNumber(db)(
      pointRead(sql`SELECT zones_revision FROM accounts WHERE account_id = ${accountID}`),
    )) ?? 0
  );
}

/** Positions that show where a device was before, and which of its positions are doubtful. */
const earlierPositions = 10;

/** The newest records of a device that were stored before `eventNo`, in the order of their time. */
export async function earlierRecords(
  db: Database,
  { accountID, deviceID }: DeviceRef,
  { eventNo, nowMs }: { readonly eventNo: number; readonly nowMs: number },
): Promise<readonly TrackEvent[]> {
  const of = { scope: wholeAccount(accountID), deviceID };
  const fromMs = await earlierPositionsMs(db, of, { beforeMs: nowMs, positions: earlierPositions });
  return fromMs === null ? [] : trackEventsBefore(db, { ...of, fromMs, toMs: nowMs }, eventNo);
}
