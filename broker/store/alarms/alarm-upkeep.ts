// Reads for automatic alarm handling: shelves that end, ended conditions, missing owners; and the removal of closed alarms.
// Each read is bounded; the next one finds the rest.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Alarm } from '../../core/alarms/alarm.ts';
import { isAbandoned } from './alarm-changes.ts';
import { readAlarms } from './alarms.ts';

/** Alarms changed by one batch. */
const atOnce = 100;

/** Shelved alarms whose time is over, and critical ones that were raised again meanwhile. */
export function shelvesToEnd(db: Database, nowMs: number): Promise<readonly Alarm[]> {
  return readAlarms(
    db,
    sql`WHERE a.state = 'shelved'
      AND (a.shelved_until_ms <= ${nowMs} OR (a.priority = 0 AND a.last_event_no > a.shelved_event_no))
      ORDER BY a.alarm_no LIMIT ${atOnce}`,
  );
}

/** Alarms without an owner that close by themselves, as their condition has ended. */
export function endedAlarms(db: Database): Promise<readonly Alarm[]> {
  return readAlarms(
    db,
    sql`WHERE a.ended_ms IS NOT NULL AND a.state <> 'closed' AND a.state <> 'taken' AND a.closes_itself = 1
      AND a.owner = '' ORDER BY a.alarm_no LIMIT ${atOnce}`,
  );
}

/** Alarms whose owner can no longer handle them. */
export function abandonedAlarms(db: Database): Promise<readonly Alarm[]> {
  return readAlarms(
    db,
    sql`WHERE a.state IN ('taken', 'shelved') AND a.state <> 'closed' AND ${isAbandoned}
      ORDER BY a.alarm_no LIMIT ${atOnce}`,
  );
}

/** Deletes up to `count` alarms that were closed before `beforeMs`, with their activity, events and escalations. */
export function dropClosedAlarms(beforeMs: number, count: number): Statement {
  return sql`DELETE FROM alarms WHERE alarm_no IN (SELECT alarm_no FROM alarms
    WHERE state = 'closed' AND closed_ms < ${beforeMs} ORDER BY closed_ms LIMIT ${count})`;
}

/** Deletes up to `count` of an account's closed alarms beyond its newest `most`. */
export function dropClosedBeyond(of: {
  readonly accountID: string;
  readonly most: number;
  readonly count: number;
}): Statement {
  const { accountID, most, count } = of;
  return sql`DELETE FROM alarms WHERE alarm_no IN (SELECT alarm_no FROM alarms
    WHERE account_id = ${accountID} AND state = 'closed' AND closed_ms <= (SELECT closed_ms FROM alarms
      WHERE account_id = ${accountID} AND state = 'closed' ORDER BY closed_ms DESC LIMIT 1 OFFSET ${most})
    ORDER BY closed_ms LIMIT ${count})`;
}
