// Statements on notification rules and their episodes. A rule is kept as JSON, checked when it was saved; the webhook secret is a
// column of its own and is read only to sign a delivery.

import type { Language } from '../../../src/core/words/languages.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { DeliveryFault } from '../../core/notifications/delivery-fault.ts';
import type { Rule } from '../../core/notifications/notification-rules.ts';
import { absenceKinds } from '../../core/notifications/occurrence-kinds.ts';
import { fixedList } from '../base/fixed-list.ts';
import { numberOf, textOf } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';

/** Rules of one account. */
export const rulesMost = 100;

/** Members of a rule that users set. */
export type RuleDefinition = Omit<Rule, 'ruleNo' | 'ruleID'> & { readonly displayName: string };

export interface RuleRow extends Rule {
  readonly accountID: string;
  readonly displayName: string;
  readonly changedMs: number;
}

export interface RuleKey {
  readonly accountID: string;
  readonly ruleID: string;
}

function toRule(row: Row): RuleRow {
  return {
    // Only `putRule` writes the column.
    ...(JSON.parse(textOf(row, 'definition')) as RuleDefinition),
    ruleNo: numberOf(row, 'rule_no'),
    accountID: textOf(row, 'account_id'),
    ruleID: textOf(row, 'rule_id'),
    changedMs: numberOf(row, 'changed_ms'),
  };
}

/** A rule's definition as it is kept; null for '', that of no rule. */
function parseDefinition(definition: string): RuleDefinition | null {
  // Only `putRule` writes the column.
  return definition === '' ? null : (JSON.parse(definition) as RuleDefinition);
}

/** The webhook of a rule's definition as it is kept; null when it has none. */
export const webhookUrlOf = (definition: string): string | null =>
  parseDefinition(definition)?.webhook?.url ?? null;

/** The language of a rule's mails, by its definition as it is kept; English without a rule. */
export const languageOf = (definition: string): Language => parseDefinition(definition)?.language ?? 'en';

const columns: Statement = { sql: 'rule_no, account_id, rule_id, definition, changed_ms', params: [] };

/** Every rule of the accounts, in the order of their ids. */
export async function listRules(db: Database, accountIDs: readonly string[]): Promise<readonly RuleRow[]> {
  if (accountIDs.length === 0) return [];
  const rows = await db.read(sql`SELECT ${columns} FROM notification_rules
    WHERE account_id IN (${fixedList(accountIDs)}) ORDER BY account_id, rule_id`);
  return rows.map(toRule);
}

/** One rule, or null. */
export async function findRule(db: Database, key: RuleKey): Promise<RuleRow | null> {
  const [row] = await db.read(sql`SELECT ${columns} FROM notification_rules
    WHERE account_id = ${key.accountID} AND rule_id = ${key.ruleID}`);
  return row === undefined ? null : toRule(row);
}

/** The secret that signs a rule's webhook; empty for a rule that never had one, null for no rule. */
export async function webhookSecretOf(db: Database, key: RuleKey): Promise<string | null> {
  const [row] = await db.read(sql`SELECT webhook_secret FROM notification_rules
    WHERE account_id = ${key.accountID} AND rule_id = ${key.ruleID}`);
  return row === undefined ? null : textOf(row, 'webhook_secret');
}

/** Those of the ids (at most 100) that the account has no user of. */
export async function unknownUsers(
  db: Database,
  accountID: string,
  userIDs: readonly string[],
): Promise<readonly string[]> {
  if (userIDs.length === 0) return [];
  const rows = await db.read(sql`SELECT user_id FROM users
    WHERE account_id = ${accountID} AND user_id IN (${fixedList(userIDs)})`);
  const known = new Set(rows.map((row) => textOf(row, 'user_id')));
  return userIDs.filter((userID) => !known.has(userID));
}

interface RuleInput extends RuleKey {
  readonly definition: RuleDefinition;
  /** Null keeps the existing one. */
  readonly secret: string | null;
  readonly nowMs: number;
}

/** Creates or changes a rule. The statement changes 0 rows when the account has `rulesMost` others. */
export function putRule({ accountID, ruleID, definition, secret, nowMs }: RuleInput): Statement {
  // A rule that is off decides nothing: switched on again, it decides about what is still without an owner.
  const escalatesAfterS = definition.isActive ? definition.escalatesAfterS : null;
  const isAboutAbsences = definition.isActive && definition.kinds.some((kind) => absenceKinds.includes(kind));
  const offlineAfterS = isAboutAbsences ? definition.offlineAfterS : null;
  const isAboutCertificates =
    definition.isActive && definition.kinds.includes('certificate_expiring') ? 1 : 0;
  return sql`
    INSERT INTO notification_rules (account_id, rule_id, definition, webhook_secret, changed_ms, escalates_after_s,
      offline_after_s, is_about_certificates)
    SELECT a.account_id, CAST(${ruleID} AS TEXT), CAST(${JSON.stringify(definition)} AS TEXT),
      CAST(${secret ?? ''} AS TEXT), CAST(${nowMs} AS BIGINT), CAST(${escalatesAfterS} AS BIGINT),
      CAST(${offlineAfterS} AS BIGINT), CAST(${isAboutCertificates} AS INTEGER)
    FROM accounts a WHERE a.account_id = ${accountID} AND ${isBelowLimit({ accountID, ruleID })}
    ON CONFLICT (account_id, rule_id) DO UPDATE SET definition = excluded.definition,
      webhook_secret = CASE WHEN excluded.webhook_secret = '' THEN notification_rules.webhook_secret
        ELSE excluded.webhook_secret END,
      changed_ms = excluded.changed_ms, escalates_after_s = excluded.escalates_after_s,
      offline_after_s = excluded.offline_after_s, is_about_certificates = excluded.is_about_certificates`;
}

/** Condition under which `putRule` changes something. */
export function isBelowLimit({ accountID, ruleID }: RuleKey): Statement {
  return sql`(SELECT COUNT(*) FROM notification_rules
    WHERE account_id = ${accountID} AND rule_id <> ${ruleID}) < ${rulesMost}`;
}

/** Condition: the rule exists. */
export function ruleExists({ accountID, ruleID }: RuleKey): Statement {
  return sql`EXISTS (SELECT 1 FROM notification_rules WHERE account_id = ${accountID} AND rule_id = ${ruleID})`;
}

/** Deletes a rule with its episodes and cancels its open deliveries; the last result has their count. */
export function deleteRule({ accountID, ruleID }: RuleKey, nowMs: number): readonly Statement[] {
  const ruleNo = sql`(SELECT rule_no FROM notification_rules
    WHERE account_id = ${accountID} AND rule_id = ${ruleID})`;
  return [
    sql`DELETE FROM notification_episodes WHERE rule_no = ${ruleNo}`,
    sql`UPDATE deliveries SET state = 'dead', ended_ms = ${nowMs}, fault = ${'rule_deleted' satisfies DeliveryFault}
      WHERE account_id = ${accountID} AND state = 'pending' AND rule_no = ${ruleNo}`,
    sql`DELETE FROM notification_rules WHERE account_id = ${accountID} AND rule_id = ${ruleID}`,
  ];
}

const episodes = shape({
  ruleNo: numberOf,
  deviceNo: numberOf,
  statusCode: numberOf,
  subject: textOf,
  firedMs: (row) => timesOf(row, 'fired'),
  endedMs: (row) => timesOf(row, 'ended'),
});
export type EpisodeRow = Infer<typeof episodes>;

function timesOf(row: Row, column: string): readonly number[] {
  // Only `putEpisode` writes the column.
  return JSON.parse(textOf(row, column)) as readonly number[];
}

/** Episodes of the devices and these subjects (at most 100 each): a vehicle may have made many others. */
export async function listEpisodes(
  db: Database,
  of: { readonly deviceNos: readonly number[]; readonly subjects: readonly string[] },
): Promise<readonly EpisodeRow[]> {
  if (of.deviceNos.length === 0) return [];
  return episodes.all(db)(sql`SELECT rule_no, device_no, status_code, subject, fired, ended
    FROM notification_episodes
    WHERE device_no IN (${fixedList(of.deviceNos)}) AND subject IN (${fixedList(of.subjects)})`);
}

/** Stores an episode of an existing rule. */
export function putEpisode(
  episode: EpisodeRow,
  at: { readonly nowMs: number; readonly onlyIf: Statement },
): Statement {
  return sql`
    INSERT INTO notification_episodes (rule_no, device_no, status_code, subject, fired, ended, changed_ms)
    SELECT r.rule_no, CAST(${episode.deviceNo} AS BIGINT), CAST(${episode.statusCode} AS INTEGER),
      CAST(${episode.subject} AS TEXT), CAST(${JSON.stringify(episode.firedMs)} AS TEXT),
      CAST(${JSON.stringify(episode.endedMs)} AS TEXT), CAST(${at.nowMs} AS BIGINT)
    FROM notification_rules r WHERE r.rule_no = ${episode.ruleNo} AND ${at.onlyIf}
    ON CONFLICT (device_no, subject, rule_no, status_code) DO UPDATE SET
      fired = excluded.fired, ended = excluded.ended, changed_ms = excluded.changed_ms`;
}

/** Groups of the devices: device number -> ids. */
export async function groupsOf(
  db: Database,
  deviceNos: readonly number[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const groups = new Map<number, string[]>();
  if (deviceNos.length === 0) return groups;
  const rows = await db.read(sql`SELECT m.device_no, g.group_id
    FROM group_devices m JOIN device_groups g ON g.group_no = m.group_no
    WHERE m.device_no IN (${fixedList(deviceNos)})`);
  for (const row of rows) {
    const deviceNo = numberOf(row, 'device_no');
    groups.set(deviceNo, [...(groups.get(deviceNo) ?? []), textOf(row, 'group_id')]);
  }
  return groups;
}
