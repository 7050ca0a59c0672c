// Statements on open logins at a provider and on the users that it makes. An open login is found by the hash of the app's
// secret and is used once. Any broker on the database can finish it.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { readNumber, textOf } from '../base/row.ts';

/** Logins that have begun, of all sources; a further one is refused. Of one network the rate of requests allows some 3,000. */
export const providerLoginsMost = 100_000;
/** Time limit of a login at the provider, in s. */
export const providerLoginS = 600;

/** Validity of a repeated login's proof, in s. */
export const providerProofS = 120;

/**
 * Records a login that begins; the second result changes 0 rows when there are `providerLoginsMost`.
 * @param sessionHash the session whose user logs in again; null: a new one is to begin.
 */
export function beginProviderLogin(
  secretHash: string,
  nowS: number,
  sessionHash: string | null,
): readonly Statement[] {
  return [
    sql`DELETE FROM provider_logins WHERE expires_s <= ${nowS}`,
    sql`INSERT INTO provider_logins (secret_hash, session_hash, begun_s, expires_s)
      SELECT ${secretHash}, CAST(${sessionHash} AS TEXT), ${nowS}, ${nowS + providerLoginS}
      WHERE (SELECT COUNT(*) FROM provider_logins) < ${providerLoginsMost}`,
  ];
}

/** Uses up a login that has begun; changes 0 rows when there is none, or it has expired. */
export function consumeProviderLogin(secretHash: string, nowS: number): Statement {
  return sql`DELETE FROM provider_logins
    WHERE secret_hash = ${secretHash} AND session_hash IS NULL AND expires_s > ${nowS}`;
}

/** A login that is made again within a session. */
export interface LoginAgain {
  readonly secretHash: string;
  readonly sessionHash: string;
  readonly nowS: number;
}

/** Begin of a repeated login, in epoch seconds; null when none exists or it has expired. */
export function loginAgainBegun(db: Database, login: LoginAgain): Promise<number | null> {
  return readNumber(db)(sql`SELECT begun_s FROM provider_logins
    WHERE secret_hash = ${login.secretHash} AND session_hash = ${login.sessionHash} AND expires_s > ${login.nowS}`);
}

/** Lets one request ask the provider; changes 0 rows for every further one. */
export function consumeLoginAgain({ secretHash, sessionHash, nowS }: LoginAgain): Statement {
  return sql`UPDATE provider_logins SET state = 'taken'
    WHERE secret_hash = ${secretHash} AND session_hash = ${sessionHash} AND state = 'begun' AND expires_s > ${nowS}`;
}

/** Records that the provider has proven the person: the secret is a proof from now on. */
export function proveLoginAgain({ secretHash, sessionHash, nowS }: LoginAgain): Statement {
  return sql`UPDATE provider_logins SET state = 'proven', expires_s = ${nowS + providerProofS}
    WHERE secret_hash = ${secretHash} AND session_hash = ${sessionHash} AND state = 'taken'`;
}

/** Uses up a proof; changes 0 rows when there is none of this session, or it has expired. */
export function useLoginProof({ secretHash, sessionHash, nowS }: LoginAgain): Statement {
  return sql`DELETE FROM provider_logins
    WHERE secret_hash = ${secretHash} AND session_hash = ${sessionHash} AND state = 'proven' AND expires_s > ${nowS}`;
}

/** Id of the user of an identity; null when the account has none. */
export async function userOfIdentity(
  db: Database,
  { accountID, identity }: { readonly accountID: string; readonly identity: string },
): Promise<string | null> {
  const [row] = await db.read(
    sql`SELECT user_id FROM users WHERE account_id = ${accountID} AND identity = ${identity}`,
  );
  return row === undefined ? null : textOf(row, 'user_id');
}
