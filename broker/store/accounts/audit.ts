// Statements on the audit log. An entry is written in the batch of its effect, so neither exists without the other. It must
// never hold a secret, token or password.
import { createHash } from 'node:crypto';
import type { Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';

export interface AuditEntry {
  /** The account's chain; '' is the service's own. */
  readonly accountID: string;
  readonly atMs: number;
  /** User, or what acted: `operator` at the command line, `service` by itself. */
  readonly actor: string;
  /** Address that the request came from; '' when there was none. */
  readonly source: string;
  /** What was done, as `<resource>.<verb>`: `user.create`, `command.request`. */
  readonly action: string;
  /** What it was done to: an id. */
  readonly object: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** SHA-256 of the detail as kept, in hexadecimal: it stays when the detail itself is erased. */
function hashDetail(detail: string): string {
  return createHash('sha256').update(detail).digest('hex');
}

/**
 * Appends an entry; the sealer chains it afterwards.
 * @param onlyIf condition of the effect; the entry precedes the change that it depends on in the batch.
 */
export function insertAudit(entry: AuditEntry, onlyIf: Statement = sql`1 = 1`): Statement {
  const detail = JSON.stringify(entry.detail);
  return sql`INSERT INTO audit (account_id, at_ms, actor, source, action, object, detail, detail_hash)
    SELECT ${entry.accountID}, ${entry.atMs}, ${entry.actor}, ${entry.source}, ${entry.action}, ${entry.object},
      ${detail}, ${hashDetail(detail)}
    WHERE ${onlyIf}`;
}
