// Statements on idempotency keys: one row for each key in use, made before the work begins and filled with the answer
// when it is done. It never holds a key, a token or the body itself: hashes only.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { numberOf, textOf, textOrNull } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';

/** How long a key is kept, in ms. */
const keyLifeMs = 24 * 3_600_000;

/**
 * Keys that are kept at a time. Those for commands to vehicles count apart and for each user alone, so that neither other requests nor
 * other users can block a restore.
 */
export const keyLimits = { user: 5_000, account: 50_000, ordersOfUser: 20_000 } as const;

/** Expired rows that one claim removes. */
const clearedAtOnce = 100;

export interface KeyClaim {
  /** Hash of account, user and key. */
  readonly keyHash: string;
  readonly accountID: string;
  readonly userID: string;
  /** Hash of the request. */
  readonly requestHash: string;
  readonly atMs: number;
  readonly isOrder: boolean;
}

/** Condition: there is a place for a further key. */
function hasPlace({ accountID, userID, isOrder }: KeyClaim): Statement {
  const kept = sql`SELECT COUNT(*) FROM idempotency_keys WHERE account_id = ${accountID} AND is_order = ${isOrder ? 1 : 0}`;
  const ofUser = sql`(${kept} AND user_id = ${userID}) < ${isOrder ? keyLimits.ordersOfUser : keyLimits.user}`;
  return isOrder ? ofUser : sql`${ofUser} AND (${kept}) < ${keyLimits.account}`;
}

/**
 * Claims the key unless it is taken or the user or the account has too many. One batch; the second statement changes 1 row when the
 * claim succeeded.
 */
export function claimKey(claim: KeyClaim): readonly Statement[] {
  const { keyHash, accountID, userID, requestHash, atMs, isOrder } = claim;
  const overMs = atMs - keyLifeMs;
  return [
    sql`DELETE FROM idempotency_keys WHERE claimed_ms <= ${overMs} AND (key_hash = ${keyHash} OR key_hash IN (
      SELECT key_hash FROM idempotency_keys WHERE claimed_ms <= ${overMs} ORDER BY claimed_ms
      LIMIT ${clearedAtOnce}))`,
    sql`INSERT INTO idempotency_keys (key_hash, account_id, user_id, is_order, request_hash, claimed_ms)
      SELECT ${keyHash}, ${accountID}, ${userID}, ${isOrder ? 1 : 0}, ${requestHash}, ${atMs}
      WHERE ${hasPlace(claim)}
      ON CONFLICT (key_hash) DO NOTHING`,
  ];
}

const keys = shape({
  requestHash: textOf,
  claimedMs: numberOf,
  /** The answer as it was sent; null while the request runs. */
  answer: textOrNull,
});
export type KeyRow = Infer<typeof keys>;

/** The stored state of a key, or null. */
export function findKey(db: Database, keyHash: string): Promise<KeyRow | null> {
  return keys.first(db)(
    sql`SELECT request_hash, claimed_ms, answer FROM idempotency_keys WHERE key_hash = ${keyHash}`,
  );
}

/** Stores the answer of a key. */
export function keepAnswer(keyHash: string, answer: string): Statement {
  return sql`UPDATE idempotency_keys SET answer = ${answer} WHERE key_hash = ${keyHash}`;
}

/** Frees a key whose request changed nothing. */
export function freeKey(keyHash: string): Statement {
  return sql`DELETE FROM idempotency_keys WHERE key_hash = ${keyHash} AND answer IS NULL`;
}
