// Content of a digest of late notices: those of one recipient that one delivery leads, see `deliveries.digest_no`.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { type Digest, digestNewest } from '../../core/notifications/digest.ts';
import { numberOf, textOf } from '../base/row.ts';
import { contentColumns, contentTables, type DeliveryContent, toContent } from './deliveries.ts';

const members = (digestNo: number): Statement => sql`y.digest_no = ${digestNo} AND y.state = 'pending'`;

/** Content of a digest; null: none, as its rules or devices were deleted. The digest of a single notice is null. */
export async function digestContentOf(
  db: Database,
  digestNo: number,
): Promise<{ readonly content: DeliveryContent; readonly digest: Digest | null } | null> {
  // A notice that two rules send to one recipient is there twice.
  const rows = await db.read(sql`SELECT ${contentColumns} FROM ${contentTables}
    WHERE ${members(digestNo)} AND r.rule_no IS NOT NULL AND d.device_no IS NOT NULL
    ORDER BY n.timestamp_ms DESC, n.notification_no DESC LIMIT ${digestNewest * 20}`);
  const contents = new Map<number, DeliveryContent>();
  for (const row of rows) {
    const content = toContent(row);
    const { notificationNo } = content.notice;
    if (!contents.has(notificationNo)) contents.set(notificationNo, content);
  }
  const [content, second] = contents.values();
  if (content === undefined) return null;
  if (second === undefined) return { content, digest: null };
  const newest = [...contents.values()].slice(0, digestNewest).map(({ notice }) => notice);
  return { content, digest: { digestNo, ...(await countsOf(db, digestNo)), newest } };
}

async function countsOf(db: Database, digestNo: number): Promise<Omit<Digest, 'digestNo' | 'newest'>> {
  const from = sql`FROM ${contentTables}
    WHERE ${members(digestNo)} AND r.rule_no IS NOT NULL AND d.device_no IS NOT NULL`;
  const [kinds, rules, all] = await Promise.all([
    db.read(sql`SELECT n.status_code, COUNT(DISTINCT n.notification_no) AS of_kind ${from}
      GROUP BY n.status_code ORDER BY of_kind DESC, n.status_code`),
    db.read(sql`SELECT DISTINCT r.rule_id ${from} ORDER BY r.rule_id`),
    db.read(sql`SELECT COUNT(DISTINCT n.device_no) AS devices, MIN(n.timestamp_ms) AS from_ms,
      MAX(n.timestamp_ms) AS to_ms ${from}`),
  ]);
  const [total] = all as readonly [Row];
  return {
    kinds: kinds.map((row) => ({
      statusCode: numberOf(row, 'status_code'),
      count: numberOf(row, 'of_kind'),
    })),
    ruleIDs: rules.map((row) => textOf(row, 'rule_id')),
    devices: numberOf(total, 'devices'),
    fromMs: numberOf(total, 'from_ms'),
    toMs: numberOf(total, 'to_ms'),
  };
}
