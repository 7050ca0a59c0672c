// Statements that read and seal the audit log. Sealing gives an entry its place in the chain and never changes its content.
// Every change is conditional, so one of two concurrent sealers retries.
import { createHash } from 'node:crypto';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { type ChainedEntry, type ChainHead, emptyChain } from '../../core/accounts/audit-chain.ts';
import { numberOf, readNumber, readTexts, textOf } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';
import { audit } from '../schema/accounts.ts';

/** An entry as kept; without a place while it is not sealed. */
export type AuditRow = Infer<typeof audit>;

/** SHA-256 of a text in hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The oldest entries without a place, of all accounts. */
export function unsealedEntries(db: Database, limit: number): Promise<readonly AuditRow[]> {
  return audit.all(db)(sql`SELECT * FROM audit WHERE chain_no IS NULL ORDER BY audit_no LIMIT ${limit}`);
}

/** Entries without a place that came before `beforeMs`. @param accountID null: of all accounts. */
export async function countUnsealed(
  db: Database,
  { accountID, beforeMs }: { readonly accountID: string | null; readonly beforeMs: number },
): Promise<number> {
  const own = accountID === null ? sql`` : sql`AND account_id = ${accountID}`;
  const count = sql`SELECT COUNT(*) AS entries FROM audit WHERE chain_no IS NULL AND at_ms < ${beforeMs} ${own}`;
  return (await readNumber(db)(count)) ?? 0;
}

/** Entries of a user that are searched for logins. */
const entriesScanned = 1000;

/** Sources of a user's recent logins, from the newest entries. */
export function loginSources(
  db: Database,
  { accountID, userID }: { readonly accountID: string; readonly userID: string },
): Promise<readonly string[]> {
  return readTexts(
    db,
  )(sql`SELECT DISTINCT source FROM (SELECT source, action FROM audit WHERE account_id = ${accountID} AND object = ${userID}
      ORDER BY audit_no DESC LIMIT ${entriesScanned}) AS newest
    WHERE action = 'login'`);
}

const chainHeads = shape({ chainNo: numberOf, hash: textOf });

/** The end of an account's chain. */
export async function chainHead(db: Database, accountID: string): Promise<ChainHead> {
  const head = await chainHeads.first(db)(sql`SELECT chain_no, hash FROM audit
      WHERE account_id = ${accountID} AND chain_no IS NOT NULL ORDER BY chain_no DESC LIMIT 1`);
  return head ?? emptyChain;
}

/**
 * Gives an entry its place after its predecessor. Changes 0 rows when it has a place or the predecessor is missing. An occupied
 * place fails the whole batch.
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

/** The head of a chain as it was kept when its last entry was sealed. */
const keptHeads = shape({
  ...chainHeads.columns,
  /** The same, signed by the service. */
  signed: textOf,
});
export type KeptHead = Infer<typeof keptHeads>;

/** The kept head of an account's chain; null: there is none. */
export function keptHead(db: Database, accountID: string): Promise<KeptHead | null> {
  return keptHeads.first(db)(
    sql`SELECT chain_no, hash, signed FROM audit_heads WHERE account_id = ${accountID}`,
  );
}

/**
 * Keeps the head of a chain, in the batch that seals its entry. The head only moves on along its chain: where rows were removed
 * or changed, it stays, and so does the fault. @param isFirst the batch begins the chain.
 */
export function keepHead(accountID: string, head: KeptHead, isFirst: boolean): readonly Statement[] {
  const isIn = (chainNo: Statement, hash: Statement) => sql`EXISTS (SELECT 1 FROM audit p
    WHERE p.account_id = ${accountID} AND p.chain_no = ${chainNo} AND p.hash = ${hash})`;
  const isSealed = isIn(sql`${head.chainNo}`, sql`${head.hash}`);
  const begin = sql`INSERT INTO audit_heads (account_id, chain_no, hash, signed)
    SELECT ${accountID}, ${head.chainNo}, ${head.hash}, ${head.signed}
    WHERE ${isSealed} AND NOT EXISTS (SELECT 1 FROM audit_heads WHERE account_id = ${accountID})`;
  const move = sql`UPDATE audit_heads SET chain_no = ${head.chainNo}, hash = ${head.hash}, signed = ${head.signed}
    WHERE account_id = ${accountID} AND chain_no < ${head.chainNo} AND ${isSealed}
      AND ${isIn(sql`audit_heads.chain_no`, sql`audit_heads.hash`)}`;
  return isFirst ? [begin, move] : [move];
}

/** Accounts whose chain has a kept head. */
export function headedAccounts(db: Database): Promise<readonly string[]> {
  return readTexts(db)(sql`SELECT account_id FROM audit_heads`);
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
  const rows = await audit.all(db)(sql`SELECT * FROM audit
      WHERE account_id = ${page.accountID} AND chain_no IS NOT NULL AND chain_no >= ${page.fromNo}
      ORDER BY chain_no LIMIT ${page.limit}`);
  return rows.map((row) => ({
    ...row,
    chainNo: row.chainNo ?? 0,
    prevHash: row.prevHash ?? '',
    hash: row.hash ?? '',
  }));
}

/** Filter of a listing; null: all. */
export interface AuditFilter {
  readonly object: string | null;
  readonly actor: string | null;
  /** One action, `user.create`, or all of one resource, `user`. */
  readonly action: string | null;
  /** Not before. */
  readonly fromMs: number | null;
  /** Not after. */
  readonly untilMs: number | null;
}

/** Rows that one page of a filtered list looks at. */
export const auditScanned = 20_000;

function conditionsOf({ actor, action, fromMs, untilMs }: AuditFilter): Statement {
  const by = actor === null ? sql`` : sql`AND actor = ${actor}`;
  const did =
    action === null
      ? sql``
      : sql`AND (action = ${action} OR substr(action, 1, ${action.length + 1}) = ${`${action}.`})`;
  const from = fromMs === null ? sql`` : sql`AND at_ms >= ${fromMs}`;
  const until = untilMs === null ? sql`` : sql`AND at_ms <= ${untilMs}`;
  return sql`${by} ${did} ${from} ${until}`;
}

/**
 * Entries of an account, newest first.
 * @returns `scannedTo`: the number of the last row that was looked at when the page ends because enough were; null: it is whole.
 */
export async function auditPage(
  db: Database,
  page: {
    readonly accountID: string;
    readonly filter: AuditFilter;
    /** Entries older than this number only. */
    readonly before: number;
    readonly limit: number;
  },
): Promise<{ readonly rows: readonly AuditRow[]; readonly scannedTo: number | null }> {
  const { accountID, filter, before, limit } = page;
  const about = filter.object === null ? sql`` : sql`AND object = ${filter.object}`;
  const span = sql`FROM audit WHERE account_id = ${accountID} ${about} AND audit_no < ${before}
    ORDER BY audit_no DESC`;
  const isWhole = [filter.actor, filter.action, filter.fromMs, filter.untilMs].every((one) => one === null);
  if (isWhole) {
    return { rows: await audit.all(db)(sql`SELECT * ${span} LIMIT ${limit}`), scannedTo: null };
  }
  // A filter that nothing matches would read the whole log; each page reads a part.
  const last = await readNumber(db)(sql`SELECT audit_no ${span} LIMIT 1 OFFSET ${auditScanned - 1}`);
  const beyond = last === null ? sql`` : sql`AND audit_no >= ${last}`;
  const rows = await audit.all(db)(sql`SELECT * FROM audit WHERE account_id = ${accountID} ${about}
      AND audit_no < ${before} ${beyond} ${conditionsOf(filter)} ORDER BY audit_no DESC LIMIT ${limit}`);
  return { rows, scannedTo: rows.length < limit ? last : null };
}
