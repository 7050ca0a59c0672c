// Looks up events stored under repeated numbers, of devices that may reuse a number: the record by its time, else the newest
// records of the boot. Reads a bounded number of rows.
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { TimeSpan } from '../../core/events/event-spans.ts';
import { fixedList, listMost } from '../base/fixed-list.ts';
import { numberOf, numberOrNull } from '../base/row.ts';
import { readSlice, tableOf } from '../slices/slices.ts';
import type { BootKey } from './boot-states.ts';
import { type EventRow, toEvent } from './events.ts';

/** Rows of a device that one look-up visits beside those of the exact times. */
const rowsMost = 2000;

/** The slices that can hold events of that time, newest first; hidden ones too, as they may be restored. */
async function slicesWithin(db: Database, { fromMs, toMs }: TimeSpan): Promise<readonly number[]> {
  const rows = await db.read(sql`SELECT DISTINCT p.slice_no FROM event_spans p
    JOIN event_slices s ON s.slice_no = p.slice_no
    WHERE p.to_ms >= ${fromMs} AND p.from_ms <= ${toMs} AND s.state <> 'dropping' ORDER BY p.slice_no DESC`);
  return rows.map((row) => numberOf(row, 'slice_no'));
}

/** Records of the boot, or of its later runs: `boot@...`. */
const isOfBoot =
  (boot: string) =>
  (row: EventRow): boolean =>
    row.boot === boot || row.boot.startsWith(`${boot}@`);

/** The records of the boot at exactly these times. */
export async function recordsAt(
  db: Database,
  { deviceNo, boot }: BootKey,
  times: readonly number[],
): Promise<readonly EventRow[]> {
  const found: EventRow[] = [];
  const sorted = [...new Set(times)].sort((one, other) => one - other);
  for (let at = 0; at < sorted.length; at += listMost) {
    const part = sorted.slice(at, at + listMost);
    const span = { fromMs: part[0] ?? 0, toMs: part.at(-1) ?? 0 };
    for (const sliceNo of await slicesWithin(db, span)) {
      const rows = await readSlice(
        db,
        sliceNo,
        sql`SELECT e.*, '' AS device_id FROM ${tableOf(sliceNo)} e
          WHERE e.device_no = ${deviceNo} AND e.timestamp_ms IN (${fixedList(part)})`,
      );
      found.push(...rows.map(toEvent).filter(isOfBoot(boot)));
    }
  }
  return found;
}

export interface NewestRecords {
  readonly records: readonly EventRow[];
  /** True: the device has no further records of that time. */
  readonly isWhole: boolean;
}

/** The newest records of the boot within a span of event time. */
export async function newestRecords(
  db: Database,
  { deviceNo, boot }: BootKey,
  { fromMs, toMs }: TimeSpan,
): Promise<NewestRecords> {
  const records: EventRow[] = [];
  let left = rowsMost;
  for (const sliceNo of await slicesWithin(db, { fromMs, toMs })) {
    const rows = await readSlice(
      db,
      sliceNo,
      sql`SELECT e.*, '' AS device_id FROM ${tableOf(sliceNo)} e
        WHERE e.device_no = ${deviceNo} AND e.timestamp_ms >= ${fromMs} AND e.timestamp_ms <= ${toMs}
        ORDER BY e.timestamp_ms DESC, e.event_no DESC LIMIT ${left}`,
    );
    records.push(...rows.map(toEvent).filter(isOfBoot(boot)));
    left -= rows.length;
    if (left <= 0) return { records, isWhole: false };
  }
  return { records, isWhole: true };
}

/** The days for which an account keeps events, the lower of its own limit and the operator's; null: for ever. */
export async function retainedDays(db: Database, accountNo: number): Promise<number | null> {
  const [row] = await db.read(sql`SELECT retained_days, retained_most_days FROM accounts
    WHERE account_no = ${accountNo}`);
  if (row === undefined) return null;
  const limits = [numberOrNull(row, 'retained_days'), numberOrNull(row, 'retained_most_days')];
  const days = limits.filter((one) => one !== null);
  return days.length === 0 ? null : Math.min(...days);
}
