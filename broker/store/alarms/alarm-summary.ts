// Figures above the alarm queue: open alarms, incoming rate, waiting times. Each number is counted in an index over a
// bounded span.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { type AlarmState, openStates } from '../../core/alarms/alarm.ts';
import { type AlarmPriority, alarmPriorities } from '../../core/notifications/alarm-kinds.ts';
import { numberOf, numberOrNull, textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';

export const summarySpans = {
  /** Takings that are measured. */
  takenMs: 3_600_000,
  /** Alarms older than this at their taking do not count: they would be no measure of this hour. */
  openedMs: 24 * 3_600_000,
  takings: 1000,
  /** Parts of the rate, and how many of them. */
  partMs: 600_000,
  parts: 12,
} as const;

export interface AlarmSummary {
  /** Open alarms by state and priority. */
  readonly open: Readonly<Record<(typeof openStates)[number], Readonly<Record<AlarmPriority, number>>>>;
  /** Since when the oldest alarm without an owner has waited; null: there is none. */
  readonly oldestUntakenMs: number | null;
  /** From opening to the first taking, shortest first, of those taken in the last hour. */
  readonly takenAfterMs: readonly number[];
  /** Alarms opened in each part of the span before now, oldest first. */
  readonly rate: readonly number[];
  readonly closed: number;
}

const from = sql`FROM alarms a JOIN devices d ON d.device_no = a.device_no`;

async function openOf(
  db: Database,
  seen: Statement,
): Promise<Pick<AlarmSummary, 'open' | 'oldestUntakenMs'>> {
  const rows =
    await db.read(sql`SELECT a.state, a.priority, COUNT(*) AS alarms, MIN(a.untaken_ms) AS oldest_ms
    ${from} WHERE ${seen} AND a.state <> 'closed' GROUP BY a.state, a.priority`);
  const countOf = (state: AlarmState, rank: number): number => {
    const row = rows.find((one) => textOf(one, 'state') === state && numberOf(one, 'priority') === rank);
    return row === undefined ? 0 : numberOf(row, 'alarms');
  };
  const byPriority = (state: AlarmState): Record<AlarmPriority, number> => {
    const [critical, high, low] = alarmPriorities.map((_priority, rank) => countOf(state, rank));
    return { critical: critical ?? 0, high: high ?? 0, low: low ?? 0 };
  };
  const untaken = rows
    .filter((row) => textOf(row, 'state') === 'new')
    .map((row) => numberOf(row, 'oldest_ms'));
  return {
    open: { new: byPriority('new'), taken: byPriority('taken'), shelved: byPriority('shelved') },
    oldestUntakenMs: untaken.length === 0 ? null : Math.min(...untaken),
  };
}

async function takingsOf(db: Database, seen: Statement, nowMs: number): Promise<readonly number[]> {
  const { takenMs, openedMs, takings } = summarySpans;
  const rows = await db.read(sql`SELECT a.first_taken_ms - a.opened_ms AS took_ms ${from}
    WHERE ${seen} AND a.opened_ms >= ${nowMs - openedMs} AND a.first_taken_ms >= ${nowMs - takenMs}
    ORDER BY a.opened_ms DESC LIMIT ${takings}`);
  return rows.map((row) => Math.max(0, numberOrNull(row, 'took_ms') ?? 0)).sort((one, other) => one - other);
}

async function rateOf(db: Database, seen: Statement, nowMs: number): Promise<readonly number[]> {
  const { partMs, parts } = summarySpans;
  const rows =
    await db.read(sql`SELECT (CAST(${nowMs} AS BIGINT) - a.opened_ms) / ${partMs} AS part, COUNT(*) AS alarms
    ${from} WHERE ${seen} AND a.opened_ms > ${nowMs - parts * partMs} AND a.opened_ms <= ${nowMs} GROUP BY 1`);
  const counts = Array.from({ length: parts }, () => 0);
  for (const row of rows) {
    const part = Math.floor(numberOf(row, 'part'));
    counts[parts - 1 - part] = (counts[parts - 1 - part] ?? 0) + numberOf(row, 'alarms');
  }
  return counts.slice(0, parts);
}

/** @param closedSinceMs from when closed alarms are counted. */
export async function readSummary(
  db: Database,
  of: { readonly scope: Scope; readonly nowMs: number; readonly closedSinceMs: number },
): Promise<AlarmSummary> {
  const { scope, nowMs, closedSinceMs } = of;
  const seen = sql`a.account_id = ${scope.accountID} AND ${visible(scope)}`;
  const [open, takenAfterMs, rate, [closed]] = await Promise.all([
    openOf(db, seen),
    takingsOf(db, seen, nowMs),
    rateOf(db, seen, nowMs),
    db.read(sql`SELECT COUNT(*) AS alarms ${from}
      WHERE ${seen} AND a.state = 'closed' AND a.closed_ms >= ${closedSinceMs}`),
  ]);
  return { ...open, takenAfterMs, rate, closed: closed === undefined ? 0 : numberOf(closed, 'alarms') };
}
