// Statements on notification rules and on what each has told. A rule is kept as JSON, checked when it came in; the webhook
// secret stands beside it and leaves this file only to sign a delivery.
import type { Database, Row, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { Episode, Rule } from '../core/notification-rules.ts';
import { fixedList } from './fixed-list.ts';
import { numberOf, textOf } from './row.ts';

/** Rules of one account. */
export const rulesMost = 100;

/** What people set of a rule. */
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

/** The webhook of a rule's definition as it is kept; null when it has none. */
export function webhookUrlOf(definition: string): string | null {
  // Only `putRule` writes the column.
  return definition === '' ? null : ((JSON.parse(definition) as RuleDefinition).webhook?.url ?? null);
}

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

interface RuleWish extends RuleKey {
  readonly definition: RuleDefinition;
  /** Null keeps the one that is there. */
  readonly secret: string | null;
  readonly nowMs: number;
}

/** Creates or changes a rule. The statement changes 0 rows when the account has `rulesMost` others. */
export function putRule({ accountID, ruleID, definition, secret, nowMs }: RuleWish): Statement {
  return sql`
    INSERT INTO notification_rules (account_id, rule_id, definition, webhook_secret, changed_ms)
    SELECT a.account_id, CAST(${ruleID} AS TEXT), CAST(${JSON.stringify(definition)} AS TEXT),
      CAST(${secret ?? ''} AS TEXT), CAST(${nowMs} AS BIGINT)
    FROM accounts a WHERE a.account_id = ${accountID} AND ${hasRoom({ accountID, ruleID })}
    ON CONFLICT (account_id, rule_id) DO UPDATE SET definition = excluded.definition,
      webhook_secret = CASE WHEN excluded.webhook_secret = '' THEN notification_rules.webhook_secret
        ELSE excluded.webhook_secret END,
      changed_ms = excluded.changed_ms`;
}

/** Condition under which `putRule` changes something. */
export function hasRoom({ accountID, ruleID }: RuleKey): Statement {
  return sql`(SELECT COUNT(*) FROM notification_rules
    WHERE account_id = ${accountID} AND rule_id <> ${ruleID}) < ${rulesMost}`;
}

/** Condition that there is such a rule. */
export function ruleExists({ accountID, ruleID }: RuleKey): Statement {
  return sql`EXISTS (SELECT 1 FROM notification_rules WHERE account_id = ${accountID} AND rule_id = ${ruleID})`;
}

/** Deletes a rule with what it remembers, and gives up what it has not delivered; the last result tells how many. */
export function deleteRule({ accountID, ruleID }: RuleKey, nowMs: number): readonly Statement[] {
  const ruleNo = sql`(SELECT rule_no FROM notification_rules
    WHERE account_id = ${accountID} AND rule_id = ${ruleID})`;
  return [
    sql`DELETE FROM notification_episodes WHERE rule_no = ${ruleNo}`,
    sql`UPDATE deliveries SET state = 'dead', ended_ms = ${nowMs}, fault = 'the rule was deleted'
      WHERE account_id = ${accountID} AND state = 'pending' AND rule_no = ${ruleNo}`,
    sql`DELETE FROM notification_rules WHERE account_id = ${accountID} AND rule_id = ${ruleID}`,
  ];
}

export interface EpisodeRow extends Episode {
  readonly ruleNo: number;
  readonly deviceNo: number;
  readonly statusCode: number;
  readonly subject: string;
}

function timesOf(row: Row, column: string): readonly number[] {
  // Only `putEpisode` writes the column.
  return JSON.parse(textOf(row, column)) as readonly number[];
}

/** What the rules remember of the devices and these subjects (at most 100 each); others a vehicle may have made many. */
export async function listEpisodes(
  db: Database,
  of: { readonly deviceNos: readonly number[]; readonly subjects: readonly string[] },
): Promise<readonly EpisodeRow[]> {
  if (of.deviceNos.length === 0) return [];
  const rows = await db.read(sql`SELECT rule_no, device_no, status_code, subject, fired, ended
    FROM notification_episodes
    WHERE device_no IN (${fixedList(of.deviceNos)}) AND subject IN (${fixedList(of.subjects)})`);
  return rows.map((row) => ({
    ruleNo: numberOf(row, 'rule_no'),
    deviceNo: numberOf(row, 'device_no'),
    statusCode: numberOf(row, 'status_code'),
    subject: textOf(row, 'subject'),
    firedMs: timesOf(row, 'fired'),
    endedMs: timesOf(row, 'ended'),
  }));
}

/** Remembers an episode of a rule that is still there. */
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
