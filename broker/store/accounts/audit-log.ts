// Statements that read and seal the audit log. Sealing gives an entry its place in the chain and never changes its content;
// every change carries its condition, so that of two concurrent sealers one retries.
import { createHash } from 'node:crypto';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { type ChainedEntry, type ChainHead, emptyChain } from '../../core/accounts/audit-chain.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';

/** An entry as kept; without a place while it is not sealed. */
export interface AuditRow extends Omit<ChainedEntry, 'chainNo' | 'prevHash' | 'hash'> {
  readonly chainNo: number | null;
  readonly prevHash: string | null;
  readonly hash: string | null;
}

/** SHA-256 of a text in hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function toAuditRow(row: Row): AuditRow {
  return {
    auditNo: numberOf(row, 'audit_no'),
    accountID: textOf(row, 'account_id'),
    atMs: numberOf(row, 'at_ms'),
    actor: textOf(row, 'actor'),
    source: textOf(row, 'source'),
    action: textOf(row, 'action'),
    object: textOf(row, 'object'),
    detail: textOrNull(row, 'detail'),
    detailHash: textOf(row, 'detail_hash'),
    chainNo: numberOrNull(row, 'chain_no'),
    prevHash: textOrNull(row, 'prev_hash'),
    hash: textOrNull(row, 'hash'),
  };
}

/** The oldest entries without a place, of all accounts. */
export async function unsealedEntries(db: Database, limit: number): Promise<readonly AuditRow[]> {
  const rows = await db.read(
    sql`SELECT * FROM audit WHERE chain_no IS NULL ORDER BY audit_no LIMIT ${limit}`,
  );
  return rows.map(toAuditRow);
}

/** Entries without a place that came before `beforeMs`. */
export async function countUnsealed(db: Database, beforeMs: number): Promise<number> {
  const [row] = await db.read(
    sql`SELECT COUNT(*) AS there FROM audit WHERE chain_no IS NULL AND at_ms < ${beforeMs}`,
  );
  return row === undefined ? 0 : numberOf(row, 'there');
}

/** Entries of a user that are searched for logins. */
const entriesScanned = 1000;

/** Sources of a user's recent logins, from the newest entries. */
export async function loginSources(
  db: Database,
  { accountID, userID }: { readonly accountID: string; readonly userID: string },
): Promise<readonly string[]> {
  const rows = await db.read(sql`SELECT DISTINCT source FROM
    (SELECT source, action FROM audit WHERE account_id = ${accountID} AND object = ${userID}
      ORDER BY audit_no DESC LIMIT ${entriesScanned}) AS newest
    WHERE action = 'login'`);
  return rows.map((row) => textOf(row, 'source'));
}

/** The end of an account's chain. */
export async function chainHead(db: Database, accountID: string): Promise<ChainHead> {
  const [row] = await db.read(sql`SELECT chain_no, hash FROM audit
    WHERE account_id = ${accountID} AND chain_no IS NOT NULL ORDER BY chain_no DESC LIMIT 1`);
  return row === undefined ? emptyChain : { chainNo: numberOf(row, 'chain_no'), hash: textOf(row, 'hash') };
}

/**
 * Gives an entry its place, right after the row that it follows from; changes 0 rows when it has a place already or that
 * row is not there. A place that is taken fails the whole batch.
 */
export function sealEntry(link: {
  readonly auditNo: number;
  readonly chainNo: number;
  readonly prevHash: string;
  readonly hash: string;
}): Statement {
  const follows = sql`EXISTS (SELECT 1 FROM audit p WHERE p.account_id = audit.account_id
    AND p.chain_no = ${link.chainNo - 1} AND p.hash = ${link.prevHash})`;
  return sql`UPDATE audit SET chain_no = ${link.chainNo}, prev_hash = ${link.prevHash}, hash = ${link.hash}
    WHERE audit_no = ${link.auditNo} AND chain_no IS NULL AND ${link.chainNo === 1 ? sql`1 = 1` : follows}`;
}

/** Accounts that have entries, after `after` in the order of ids; '' is the service's own and comes first. */
export async function auditedAccounts(
  db: Database,
  page: { readonly after: string | null; readonly limit: number },
): Promise<readonly string[]> {
  // One step of the index for each account, not one for each entry.
  const found: string[] = [];
  let after = page.after;
  while (found.length < page.limit) {
    const beyond = after === null ? sql`` : sql`WHERE account_id > ${after}`;
    const [row] = await db.read(sql`SELECT account_id FROM audit ${beyond} ORDER BY account_id LIMIT 1`);
    if (row === undefined) break;
    after = textOf(row, 'account_id');
    found.push(after);
  }
  return found;
}

/** Sealed entries of one chain from `fromNo` on, in the order of places. */
export async function chainPage(
  db: Database,
  page: { readonly accountID: string; readonly fromNo: number; readonly limit: number },
): Promise<readonly ChainedEntry[]> {
  const rows = await db.read(sql`SELECT * FROM audit
    WHERE account_id = ${page.accountID} AND chain_no IS NOT NULL AND chain_no >= ${page.fromNo}
    ORDER BY chain_no LIMIT ${page.limit}`);
  return rows.map(toAuditRow).map((row) => ({
    ...row,
    chainNo: row.chainNo ?? 0,
    prevHash: row.prevHash ?? '',
    hash: row.hash ?? '',
  }));
}

/** Entries of an account, newest first. */
export async function auditPage(
  db: Database,
  page: {
    readonly accountID: string;
    /** Entries about this object only; null: all. */
    readonly object: string | null;
    /** Entries older than this number only; null: from the newest. */
    readonly before: number | null;
    readonly limit: number;
  },
): Promise<readonly AuditRow[]> {
  const about = page.object === null ? sql`` : sql`AND object = ${page.object}`;
  const older = page.before === null ? sql`` : sql`AND audit_no < ${page.before}`;
  const rows = await db.read(sql`SELECT * FROM audit WHERE account_id = ${page.accountID} ${about} ${older}
    ORDER BY audit_no DESC LIMIT ${page.limit}`);
  return rows.map(toAuditRow);
}
