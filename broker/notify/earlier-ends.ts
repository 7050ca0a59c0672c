// Conditions whose end arrived before their beginning: events of a vehicle arrive in any order.
import type { Database } from '../../src/ports.ts';
import { endsOf, priorityOf } from '../core/notifications/alarm-kinds.ts';
import { ruleTimeOf } from '../core/notifications/notification-rules.ts';
import { zoneOf } from '../core/notifications/status-episodes.ts';
import { earlierEndMs } from '../store/alarms/alarm-raising.ts';
import type { RuleEventRow } from '../store/notifications/notifications.ts';
import type { RuleRow } from '../store/notifications/rules.ts';

/**
 * Ends that arrived before their beginning: of the newest event of each kind, for an older one ends with it.
 * @returns when, by the number of the event.
 */
export async function readEnds(
  db: Database,
  events: readonly RuleEventRow[],
  rules: readonly RuleRow[],
): Promise<ReadonlyMap<number, number>> {
  const raises = ({ statusCode, accountID }: RuleEventRow): boolean =>
    priorityOf(statusCode) !== null ||
    rules.some((rule) => rule.accountID === accountID && rule.alarm !== null);
  const newest = new Map<string, RuleEventRow>();
  for (const row of events) {
    const key = `${row.deviceNo} ${row.statusCode} ${zoneOf(row)}`;
    if ((newest.get(key)?.timestampMs ?? 0) <= row.timestampMs) newest.set(key, row);
  }
  const found = new Map<number, number>();
  for (const row of newest.values()) {
    const { eventNo, sliceNo, deviceNo } = row;
    const ends = endsOf(row.statusCode);
    if (ends.length === 0 || !raises(row)) continue;
    const atMs = Math.min(ruleTimeOf(row).atMs, row.receivedMs);
    const endMs = await earlierEndMs(db, { eventNo, sliceNo, deviceNo, subject: zoneOf(row), atMs, ends });
    if (endMs !== null) found.set(eventNo, Math.max(endMs, atMs));
  }
  return found;
}
