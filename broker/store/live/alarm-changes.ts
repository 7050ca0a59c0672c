// Alarms that were raised, repeated or changed, as live streams send them: the whole record each time.
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { viewAlarm } from '../../core/alarms/alarm.ts';
import { selectAlarm, toAlarm } from '../alarms/alarms.ts';
import { numberOf } from '../base/row.ts';
import { type ChangePages, type ChangeSpan, changePages, seenIn } from './change-pages.ts';

export function alarmChanges(db: Database, { scope, sinceMs }: ChangeSpan): ChangePages<'alarm'> {
  return changePages(
    db,
    { sinceMs, start: 0 },
    {
      statement: ({ atMs, key }, limit) => sql`${selectAlarm}
        WHERE (a.changed_ms, a.alarm_no) > (${atMs}, ${key}) AND ${seenIn(scope)}
        ORDER BY a.changed_ms, a.alarm_no LIMIT ${limit}`,
      placeOf: (row) => ({ atMs: numberOf(row, 'changed_ms'), key: numberOf(row, 'alarm_no') }),
      toChange(row) {
        const alarm = toAlarm(row);
        const { accountID, deviceNo, deviceID, alarmNo, changedMs } = alarm;
        return {
          kind: 'alarm',
          accountID,
          deviceNo,
          deviceID,
          key: String(alarmNo),
          atMs: changedMs,
          data: viewAlarm(alarm),
        };
      },
    },
  );
}
