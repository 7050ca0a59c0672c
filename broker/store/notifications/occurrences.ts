// Statements on occurrences: recording, those that rules have not decided, and inbox entries. The batch that decides about a
// row removes it: while the row is there, no process has decided.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { parseKind } from '../../core/notifications/occurrence-kinds.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';

const occurrences = shape({
  occurrenceNo: numberOf,
  accountID: textOf,
  deviceNo: numberOf,
  deviceID: textOf,
  notifyEmail: textOf,
  /** Null: recorded by a newer release. */
  kind: (row) => parseKind(textOf(row, 'kind')),
  commandID: textOrNull,
  objectID: textOf,
  afterS: numberOrNull,
  notedMs: numberOf,
});
/** An occurrence that rules have to decide about. */
export type OccurrenceRow = Infer<typeof occurrences>;

/** Lower than every number of a notice of the account, which are above -2^52. */
const firstNumber = -(2 ** 52);

/** The number that stands for an occurrence where events have theirs. */
export function eventNoOf(occurrenceNo: number): number {
  return firstNumber - occurrenceNo;
}

/** The oldest that nothing has decided, in the order of their numbers. */
export function undecidedOccurrences(db: Database, limit: number): Promise<readonly OccurrenceRow[]> {
  return occurrences.all(db)(sql`
    SELECT o.occurrence_no, d.account_id, o.device_no, d.device_id, d.notify_email, o.kind, o.command_id, o.object_id,
      o.after_s, o.noted_ms
    FROM occurrences o JOIN devices d ON d.device_no = o.device_no
    ORDER BY o.occurrence_no LIMIT ${limit}`);
}

/** Condition: no process has decided about these two. */
export function areUndecided(first: number, occurrenceNo: number): Statement {
  return sql`(EXISTS (SELECT 1 FROM occurrences WHERE occurrence_no = ${first})
    AND EXISTS (SELECT 1 FROM occurrences WHERE occurrence_no = ${occurrenceNo}))`;
}

/** Removes what was decided from `first` to `upTo`; changes 0 rows when another process did. */
export function removeDecided(first: number, upTo: number): Statement {
  return sql`DELETE FROM occurrences WHERE occurrence_no >= ${first} AND occurrence_no <= ${upTo}
    AND EXISTS (SELECT 1 FROM occurrences WHERE occurrence_no = ${first})`;
}

/** Puts an occurrence into the inbox, with the last known position of its device. */
export function insertOccurrenceNotification(occurrenceNo: number, onlyIf: Statement): Statement {
  return sql`
    INSERT INTO notifications (account_id, device_no, event_no, status_code, timestamp_ms, received_ms, latitude,
      longitude, geozone_id, command_id, command_state, is_late, about_user, kind, object_id, ends_ms)
    SELECT d.account_id, o.device_no, CAST(${eventNoOf(occurrenceNo)} AS BIGINT), 0, o.timestamp_ms, o.noted_ms,
      CASE WHEN d.fix_ms > 0 THEN d.latitude END, CASE WHEN d.fix_ms > 0 THEN d.longitude END, '', o.command_id,
      o.command_state, 0, o.user_id, o.kind, o.object_id, o.ends_ms
    FROM occurrences o JOIN devices d ON d.device_no = o.device_no
    WHERE o.occurrence_no = ${occurrenceNo} AND ${onlyIf}
    ON CONFLICT (event_no) DO NOTHING`;
}

const absences = shape({
  deviceNo: numberOf,
  afterS: (row) => numberOf(row, 'offline_after_s'),
  sinceMs: numberOf,
});
/** A device that has been offline for longer than a rule waits, and that is not noted yet. */
type Absence = Infer<typeof absences>;

// A unit is absent since its connection ended; one that says no hello since its last message.
const absentSince: Statement = {
  sql: "(CASE WHEN d.presence_cause = 'silent' THEN d.heartbeat_ms ELSE d.presence_ms END)",
  params: [],
};

/**
 * Absences to record (at most `limit`): those that reached a rule's waiting time after the rule was last changed. So a new rule
 * does not report units that are off for months.
 * @param at `sinceMs`: only those that became so after this time.
 */
export function absencesToRecord(
  db: Database,
  at: { readonly sinceMs: number; readonly nowMs: number; readonly limit: number },
): Promise<readonly Absence[]> {
  const waitMs = sql`r.offline_after_s * 1000`;
  const sinceMs = sql`CASE WHEN r.changed_ms > ${at.sinceMs} THEN r.changed_ms ELSE ${at.sinceMs} END`;
  return absences.all(db)(sql`
    SELECT d.device_no, r.offline_after_s, ${absentSince} AS since_ms
    FROM (SELECT account_id, offline_after_s, MIN(changed_ms) AS changed_ms FROM notification_rules
        WHERE offline_after_s IS NOT NULL GROUP BY account_id, offline_after_s) r
      JOIN devices d ON d.account_id = r.account_id AND d.is_online = 0
    WHERE d.presence_ms > 0 AND d.presence_ms > ${sinceMs} - ${waitMs} AND ${absentSince} <= ${at.nowMs} - ${waitMs}
      AND NOT EXISTS (SELECT 1 FROM absences a
        WHERE a.device_no = d.device_no AND a.after_s = r.offline_after_s)
    LIMIT ${at.limit}`);
}

/** Notes an absence, once, unless the device is back. */
export function recordAbsence({ deviceNo, afterS, sinceMs }: Absence, nowMs: number): Statement {
  return sql`
    INSERT INTO absences (device_no, after_s, since_ms, noted_ms)
    SELECT d.device_no, CAST(${afterS} AS BIGINT), ${absentSince}, CAST(${nowMs} AS BIGINT) FROM devices d
    WHERE d.device_no = ${deviceNo} AND d.is_online = 0 AND ${absentSince} = ${sinceMs}
    ON CONFLICT (device_no, after_s) DO NOTHING`;
}

/**
 * Records certificates that end before `untilMs`, each once (at most `limit`), in accounts with a rule about them. Skips those
 * that a later one of the device replaces.
 */
export function recordExpiring(at: {
  readonly nowMs: number;
  readonly untilMs: number;
  readonly limit: number;
}): Statement {
  return sql`
    UPDATE device_certificates SET expiry_noted_ms = ${at.nowMs} WHERE (device_no, serial) IN (
      SELECT c.device_no, c.serial FROM device_certificates c JOIN devices d ON d.device_no = c.device_no
      WHERE c.expiry_noted_ms IS NULL AND c.revoked_ms IS NULL AND c.until_ms > ${at.nowMs}
        AND c.until_ms <= ${at.untilMs}
        AND EXISTS (SELECT 1 FROM notification_rules r
          WHERE r.account_id = d.account_id AND r.is_about_certificates = 1)
        AND NOT EXISTS (SELECT 1 FROM device_certificates n WHERE n.device_no = c.device_no
          AND n.revoked_ms IS NULL AND n.until_ms > c.until_ms)
      LIMIT ${at.limit})`;
}

/** Between two notes that a device's identity is used twice, in ms. */
const cloneRestMs = 3_600_000;

/** Notes that two units seem to have the identity of the device; changes 0 rows within an hour of the last note. */
export function recordClone(deviceNo: number, nowMs: number): Statement {
  return sql`UPDATE devices SET clone_ms = ${nowMs}
    WHERE device_no = ${deviceNo} AND clone_ms <= ${nowMs - cloneRestMs}`;
}

/** Deletes the oldest (at most `limit`) beyond the newest `most`: nothing decided about them for a long time. */
export function dropOccurrencesBeyond(most: number, limit: number): Statement {
  return sql`DELETE FROM occurrences WHERE occurrence_no IN (SELECT occurrence_no FROM occurrences
    WHERE occurrence_no <= (SELECT MAX(occurrence_no) FROM occurrences) - ${most} ORDER BY occurrence_no LIMIT ${limit})`;
}

/** Deletes absences (at most `limit`) that no rule of their account waits for any more. */
export function dropUnasked(limit: number): Statement {
  return sql`DELETE FROM absences WHERE (device_no, after_s) IN (
    SELECT a.device_no, a.after_s FROM absences a JOIN devices d ON d.device_no = a.device_no
    WHERE NOT EXISTS (SELECT 1 FROM notification_rules r
      WHERE r.account_id = d.account_id AND r.offline_after_s = a.after_s)
    LIMIT ${limit})`;
}
