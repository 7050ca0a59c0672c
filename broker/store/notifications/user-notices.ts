// Statements that notify the administrators of an account about one of its users: an inbox entry, and deliveries to their
// mailboxes and push registrations. They are part of the batch of the change.
import type { Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { UserTopic } from '../../core/notifications/notice.ts';
import type { UserKey } from '../accounts/accounts.ts';
import { countsAsWaiting, waitingMost } from './deliveries.ts';

export interface UserNotice extends UserKey {
  readonly topic: UserTopic;
  readonly atMs: number;
  /** From 1 to 2^52, drawn by lot: names the notice. */
  readonly noticeNo: number;
  /** Condition of the notice. */
  readonly onlyIf: Statement;
}

/** Notifies the active administrators; an account with too many open deliveries gets the inbox entry only. */
export function notifyAdministrators(notice: UserNotice): readonly Statement[] {
  const { accountID, userID, topic, atMs, noticeNo, onlyIf } = notice;
  const now = sql`CAST(${atMs} AS BIGINT)`;
  const admins = sql`JOIN users u ON u.account_id = n.account_id AND u.role = 'admin' AND u.is_active = 1`;
  const isRoomy = sql`(SELECT COUNT(*) FROM deliveries w WHERE w.account_id = n.account_id AND w.state = 'pending'
    AND ${countsAsWaiting}) < ${waitingMost}`;
  const columns = sql`account_id, event_no, rule_no, channel, target, lane, state, next_ms, created_ms, since_ms, ended_ms, fault`;
  const initialState = sql`'pending', ${now}, ${now}, ${now}, NULL, ''`;
  return [
    sql`INSERT INTO notifications (account_id, device_no, event_no, status_code, timestamp_ms, received_ms, geozone_id,
        is_late, topic, about_user)
      SELECT a.account_id, 0, CAST(${-noticeNo} AS BIGINT), 0, ${now}, ${now}, '', 0, CAST(${topic} AS TEXT),
        CAST(${userID} AS TEXT)
      FROM accounts a WHERE a.account_id = ${accountID} AND ${onlyIf}`,
    sql`INSERT INTO deliveries (${columns})
      SELECT n.account_id, n.event_no, 0, 'email', u.notify_email,
        'email:' || n.account_id || ':' || LOWER(u.notify_email), ${initialState}
      FROM notifications n ${admins}
      WHERE n.event_no = ${-noticeNo} AND u.notify_email <> '' AND ${isRoomy}
      ON CONFLICT (event_no, rule_no, channel, target, escalation) DO NOTHING`,
    sql`INSERT INTO deliveries (${columns})
      SELECT n.account_id, n.event_no, 0, 'push', CAST(p.registration_no AS TEXT),
        'push:' || CAST(p.registration_no AS TEXT), ${initialState}
      FROM notifications n ${admins}
        JOIN push_registrations p ON p.account_id = u.account_id AND p.user_id = u.user_id
      WHERE n.event_no = ${-noticeNo} AND p.endpoint <> '' AND p.is_registered = 1 AND ${isRoomy}
      ON CONFLICT (event_no, rule_no, channel, target, escalation) DO NOTHING`,
  ];
}
