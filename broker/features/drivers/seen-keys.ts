// Keys that vehicles reported lately: which vehicle named which, and when last. Read from the events, so nothing is kept of them here.
import { keyForm } from '../../../src/core/driver-key.ts';
import { dayMs } from '../../../src/core/durations.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { isNotRoutine } from '../../store/base/routine-codes.ts';
import { jsonObjectOrNull, numberOf, textOf } from '../../store/base/row.ts';
import { readSlice, runsWithin } from '../../store/slices/slices.ts';

export const seenLimits = {
  days: 31,
  /** Newest reports of each kind that are looked through. */
  reports: 2000,
} as const;

/** A key at its newest report. */
export interface SeenKey {
  readonly keyID: string;
  readonly deviceID: string;
  readonly atMs: number;
  /** The vehicle did not take it: it is not on its list. */
  readonly isRefused: boolean;
}

const kinds = [
  { code: statusCodes.DRIVER_IDENTIFIED.code, member: 'driverUniqueId', isRefused: false },
  { code: statusCodes.DRIVER_UNKNOWN.code, member: 'keyUniqueId', isRefused: true },
] as const;

async function reportsOf(
  db: Database,
  accountID: string,
  { code, member, isRefused, fromMs, toMs }: (typeof kinds)[number] & { fromMs: number; toMs: number },
): Promise<readonly SeenKey[]> {
  const found: SeenKey[] = [];
  for (const run of await runsWithin(db, { fromMs, toMs })) {
    const rows = await readSlice(
      db,
      run.sliceNo,
      sql`SELECT d.device_id, e.timestamp_ms, e.attributes FROM ${run.table} e JOIN devices d ON d.device_no = e.device_no
        WHERE e.account_no = (SELECT account_no FROM accounts WHERE account_id = ${accountID})
          AND e.status_code = ${code} AND e.timestamp_ms >= ${run.fromMs} AND e.timestamp_ms <= ${run.toMs}
          AND ${isNotRoutine}
        ORDER BY e.timestamp_ms DESC LIMIT ${seenLimits.reports}`,
    );
    for (const row of rows) {
      const sent = jsonObjectOrNull(row, 'attributes')?.[member];
      const keyID = typeof sent === 'string' ? keyForm(sent) : '';
      // An id that no key can have is not offered.
      if (keyID === '' || keyID.length > 64) continue;
      const [deviceID, atMs] = [textOf(row, 'device_id'), numberOf(row, 'timestamp_ms')];
      found.push({ keyID, deviceID, atMs, isRefused });
    }
  }
  return found;
}

/** Each key that was reported lately, the newest first. Times ahead of the clock do not count. */
export async function seenKeys(db: Database, accountID: string, nowMs: number): Promise<readonly SeenKey[]> {
  const span = { fromMs: nowMs - seenLimits.days * dayMs, toMs: nowMs };
  const found = await Promise.all(kinds.map((kind) => reportsOf(db, accountID, { ...kind, ...span })));
  const newest = new Map<string, SeenKey>();
  for (const one of found.flat().sort((a, b) => b.atMs - a.atMs))
    if (!newest.has(one.keyID)) newest.set(one.keyID, one);
  return [...newest.values()];
}
