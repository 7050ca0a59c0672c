// Statements on login codes: one-time codes that begin a session without the password. The table holds a hash of a code, never the code,
// and each is used by one statement that can delete its row once.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { textOf } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';
import { isOpen } from '../devices/credentials.ts';
import type { UserKey } from './accounts.ts';

/** How long a code may be used, in s. */
export const loginCodeS = 15 * 60;

/**
 * Condition on `users u` and `accounts a`: the user may have a code. Not where a cut needs a second user: with codes the
 * machine's operator could be both. Not for users of the login provider.
 */
const mayHaveCode = (nowS: number): Statement =>
  sql`u.is_active = 1 AND u.identity IS NULL AND a.needs_approval = 0 AND ${isOpen(nowS)}`;

const isUsable = (nowS: number): Statement =>
  sql`expires_s > ${nowS} AND EXISTS (
    SELECT 1 FROM users u JOIN accounts a ON a.account_id = u.account_id
    WHERE u.account_id = login_codes.account_id AND u.user_id = login_codes.user_id
      AND u.password_hash = login_codes.password_hash AND ${mayHaveCode(nowS)})`;

/** Replaces the user's code and removes expired ones. The last result changes 0 rows when the user may have none. */
export function insertLoginCode(
  code: UserKey & { readonly codeHash: string; readonly nowS: number },
): readonly Statement[] {
  const { accountID, userID, codeHash, nowS } = code;
  return [
    sql`DELETE FROM login_codes WHERE expires_s <= ${nowS} OR (account_id = ${accountID} AND user_id = ${userID})`,
    sql`INSERT INTO login_codes (code_hash, account_id, user_id, password_hash, expires_s)
      SELECT ${codeHash}, u.account_id, u.user_id, u.password_hash, ${nowS + loginCodeS}
      FROM users u JOIN accounts a ON a.account_id = u.account_id
      WHERE u.account_id = ${accountID} AND u.user_id = ${userID} AND ${mayHaveCode(nowS)}`,
  ];
}

/** Condition: there is a code of this hash. */
export const isLoginCode = (codeHash: string): Statement =>
  sql`EXISTS (SELECT 1 FROM login_codes WHERE code_hash = ${codeHash})`;

const owners = shape({ accountID: textOf, userID: textOf, passwordHash: textOf });

/** Whose code it is, and the password hash that it was made for; null when no code may be used. */
export function findLoginCode(
  db: Database,
  codeHash: string,
  nowS: number,
): Promise<Infer<typeof owners> | null> {
  return owners.first(db)(sql`SELECT account_id, user_id, password_hash FROM login_codes
    WHERE code_hash = ${codeHash} AND ${isUsable(nowS)}`);
}

/** Uses a code up; changes 1 row for one request, and 0 rows for every other and once it is over. */
export function consumeLoginCode(codeHash: string, nowS: number): Statement {
  return sql`DELETE FROM login_codes WHERE code_hash = ${codeHash} AND ${isUsable(nowS)}`;
}
