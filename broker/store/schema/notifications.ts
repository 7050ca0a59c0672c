// Rules, notifications, deliveries and push registrations.
import { ddl } from '../../../src/migrate.ts';
import type { Row, Statement } from '../../../src/ports.ts';
import { parseTopic } from '../../core/notifications/notice.ts';
import { parseKind } from '../../core/notifications/occurrence-kinds.ts';
import { flagOf, textOrEmpty, textOrNull } from '../base/row.ts';
import { column, table } from '../base/table.ts';

// One row for each target that one rule notifies of one event; `rule_no` 0: a notice of the account, by no rule. `target`: '' for the rule's webhook, an e-mail
// address, or the number of a push registration. `lane`: deliveries of one lane share a target (of webhooks the rule's
// URL, not its host), so its failures hold up them and no others. While it is being tried `next_ms` is when the attempt counts as lost.
// `escalation`: 0 of the event itself, else the round of its alarm that the rule escalated. `mail_no`: the mail of a feature (reports)
// that it carries instead of a notification, NULL without one; then `rule_no` is 0 and `event_no` is -2^53 + `mail_no`, below every other.
// `digest_no` of a late notice: 0 while it waits for others of its lane, then the number of the delivery that leads their digest. Only the
// leader is taken, tried and ended, its members with it; when the leader is gone otherwise they are due by themselves. NULL: sent alone.
export const deliveries = table(
  'deliveries',
  {
    deliveryNo: 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
    accountID: column('TEXT NOT NULL', 'hidden'),
    eventNo: column('BIGINT NOT NULL', 'hidden'),
    ruleNo: column('INTEGER NOT NULL', 'hidden'),
    channel: "TEXT NOT NULL CHECK (channel IN ('webhook', 'email', 'push'))",
    target: 'TEXT NOT NULL',
    lane: column('TEXT NOT NULL', 'hidden'),
    state: "TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'dead'))",
    attempts: 'INTEGER NOT NULL DEFAULT 0',
    nextMs: 'BIGINT NOT NULL',
    createdMs: 'BIGINT NOT NULL',
    sinceMs: column('BIGINT NOT NULL', 'hidden'),
    endedMs: 'BIGINT',
    fault: "TEXT NOT NULL DEFAULT ''",
    escalation: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    mailNo: column('BIGINT', 'hidden'),
    /** Subject of the mail; '' without one, and after its deletion. */
    mailOf: column("TEXT NOT NULL DEFAULT ''", 'hidden'),
    digestNo: column('BIGINT', 'hidden'),
  },
  'UNIQUE (event_no, rule_no, channel, target, escalation)',
);

// The inbox, one row an event, whole: it outlives the event. `device_no` is no reference, so that deleting a device
// need not wait for it; readers join the device. A notice of the account about a user is for its
// administrators: `device_no` 0, `event_no` a negative number drawn by lot, `topic` and `about_user` say what it is about.
// An occurrence (`occurrences.ts`) has a `kind` and `event_no` -2^52 - its number, below every number drawn by lot; `object_id`,
// `ends_ms` and `about_user` are its own, the position is the last one of the device.
export const notifications = table('notifications', {
  notificationNo: 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
  accountID: column('TEXT NOT NULL', 'hidden'),
  deviceNo: column('INTEGER NOT NULL', 'hidden'),
  eventNo: column('BIGINT NOT NULL UNIQUE', 'hidden'),
  statusCode: 'INTEGER NOT NULL',
  timestampMs: 'BIGINT NOT NULL',
  receivedMs: 'BIGINT NOT NULL',
  latitude: 'DOUBLE PRECISION',
  longitude: 'DOUBLE PRECISION',
  geozoneID: 'TEXT NOT NULL',
  commandID: 'TEXT',
  commandState: 'TEXT',
  isLate: column('INTEGER NOT NULL', flagOf),
  topic: column('TEXT', (row: Row, name) => parseTopic(textOrNull(row, name))),
  aboutUser: column('TEXT', 'hidden'),
  kind: column('TEXT', (row: Row, name) => parseKind(textOrNull(row, name))),
  objectID: column('TEXT', textOrEmpty),
  endsMs: 'BIGINT',
});

export const notificationTables: readonly Statement[] = [
  // `definition`: the rule as JSON. `webhook_secret` must be kept as it is: every delivery is signed with it.
  // `escalates_after_s`: as in the definition; NULL: the rule notifies of events, not of alarms that are not taken.
  // `offline_after_s`: as in the definition; NULL: the rule is not about absences. `is_about_certificates`: 1 for a rule that notifies
  // of certificates that expire.
  ddl(`CREATE TABLE notification_rules (
    rule_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL REFERENCES accounts (account_id),
    rule_id TEXT NOT NULL,
    definition TEXT NOT NULL,
    webhook_secret TEXT NOT NULL DEFAULT '',
    changed_ms BIGINT NOT NULL,
    escalates_after_s BIGINT,
    offline_after_s BIGINT,
    is_about_certificates INTEGER NOT NULL DEFAULT 0,
    UNIQUE (account_id, rule_id))`),
  ddl(`CREATE INDEX notification_rules_escalating ON notification_rules (account_id)
    WHERE escalates_after_s IS NOT NULL`),
  ddl(`CREATE INDEX notification_rules_offline ON notification_rules (account_id)
    WHERE offline_after_s IS NOT NULL`),
  // Episodes of a rule by device, code and subject (zone, command), so that it notifies once per episode.
  // `fired`, `ended`: JSON lists of event times in ms.
  ddl(`CREATE TABLE notification_episodes (
    rule_no INTEGER NOT NULL,
    device_no INTEGER NOT NULL,
    status_code INTEGER NOT NULL,
    subject TEXT NOT NULL,
    fired TEXT NOT NULL,
    ended TEXT NOT NULL,
    changed_ms BIGINT NOT NULL,
    PRIMARY KEY (device_no, subject, rule_no, status_code))`),
  ddl('CREATE INDEX notification_episodes_by_age ON notification_episodes (changed_ms)'),
  notifications.create,
  ddl('CREATE INDEX notifications_by_account ON notifications (account_id, notification_no)'),
  ddl('CREATE INDEX notifications_by_device ON notifications (device_no, notification_no)'),
  // What a user has viewed beyond `users.viewed_up_to`.
  ddl(`CREATE TABLE notification_views (
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    notification_no BIGINT NOT NULL,
    PRIMARY KEY (account_id, user_id, notification_no))`),
  ddl('CREATE INDEX notification_views_by_number ON notification_views (notification_no)'),
  // Position of the notifier; it starts with new events. Rows 'device <number>': that device has so many events that they are
  // decided apart, from this number up to that of 'notifier'.
  ddl('CREATE TABLE notifier_cursor (name TEXT NOT NULL PRIMARY KEY, event_no BIGINT NOT NULL)'),
  ddl("INSERT INTO notifier_cursor (name, event_no) VALUES ('notifier', 0)"),
  deliveries.create,
  ddl("CREATE INDEX deliveries_due ON deliveries (next_ms) WHERE state = 'pending'"),
  ddl("CREATE INDEX deliveries_waiting ON deliveries (account_id) WHERE state = 'pending'"),
  ddl("CREATE INDEX deliveries_by_lane ON deliveries (lane, next_ms) WHERE state = 'pending'"),
  ddl(
    "CREATE INDEX deliveries_failing ON deliveries (lane, next_ms) WHERE state = 'pending' AND fault <> ''",
  ),
  ddl('CREATE INDEX deliveries_by_account ON deliveries (account_id, delivery_no)'),
  ddl("CREATE INDEX deliveries_by_digest ON deliveries (digest_no) WHERE state = 'pending'"),
  ddl('CREATE INDEX deliveries_by_mail ON deliveries (mail_no) WHERE mail_no IS NOT NULL'),
  // `endpoint` '': an opaque token that nothing can be sent to. `is_registered` 0: stored, but not yet switched on. `session_hash`: the
  // session that stored it last: it ends with that session, unless that just runs out.
  ddl(`CREATE TABLE push_registrations (
    registration_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    push_id TEXT NOT NULL,
    endpoint TEXT NOT NULL DEFAULT '',
    p256dh TEXT NOT NULL DEFAULT '',
    auth TEXT NOT NULL DEFAULT '',
    is_registered INTEGER NOT NULL,
    session_hash TEXT NOT NULL,
    created_s BIGINT NOT NULL,
    UNIQUE (account_id, user_id, push_id))`),
  ddl("CREATE INDEX push_registrations_by_endpoint ON push_registrations (endpoint) WHERE endpoint <> ''"),
];
