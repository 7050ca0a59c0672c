// Statements on share links: one vehicle, or one trip of it, for the holder of the link. The table holds the SHA-256 of a token,
// never the token. A share lives only as long as its maker could make it now: the condition is in every read on behalf of a holder.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { fixedList } from '../../store/base/fixed-list.ts';
import { findsRow, numberOf, numberOrNull, textOf } from '../../store/base/row.ts';
import { visible } from '../../store/base/scope.ts';
import { deviceRef, type Infer, shape } from '../../store/base/table.ts';
import { shares } from './share-tables.ts';

/** Shares of an account that have not ended. */
export const sharesMost = 100;
/** How long ended shares are listed, in seconds. */
const keptS = 30 * 24 * 3600;

const listed = shape({ ...shares.columns, deviceID: textOf });
/** A share in answers to users of the account. */
export type ShareRow = Infer<typeof listed>;

function positionOf(row: Row) {
  const fixMs = numberOf(row, 'fix_ms');
  const place = {
    latitude: numberOf(row, 'latitude'),
    longitude: numberOf(row, 'longitude'),
    /** km/h. */
    speed: numberOrNull(row, 'speed'),
    heading: numberOrNull(row, 'heading'),
  };
  return fixMs === 0 ? null : { fixMs, ...place };
}

const { columns } = shares;
const open = shape({
  shareID: columns.shareID,
  kind: columns.kind,
  title: columns.title,
  fromMs: columns.fromMs,
  toMs: columns.toMs,
  expiresS: columns.expiresS,
  ...deviceRef,
  tokenHash: textOf,
  /** Last known position; null before the first. */
  position: positionOf,
});
/** A share as its holder reaches it. */
export type OpenShare = Infer<typeof open>;

export interface NewShare
  extends Pick<OpenShare, 'shareID' | 'kind' | 'title' | 'fromMs' | 'toMs' | 'expiresS' | 'tokenHash'> {
  readonly scope: Scope;
  readonly userID: string;
  readonly deviceID: string;
  readonly createdS: number;
  /** The API token that makes it; null: a login. */
  readonly byTokenHash: string | null;
}

/** Makes a share; changes 0 rows when the device is not visible or the account has `sharesMost`. */
export function insertShare(share: NewShare): Statement {
  const { scope, createdS } = share;
  return sql`INSERT INTO shares (share_id, token_hash, account_id, user_id, by_token_hash, device_no, kind, title, from_ms,
      to_ms, created_s, expires_s)
    SELECT ${share.shareID}, ${share.tokenHash}, d.account_id, ${share.userID}, CAST(${share.byTokenHash} AS TEXT),
      d.device_no, ${share.kind}, ${share.title}, CAST(${share.fromMs} AS BIGINT), CAST(${share.toMs} AS BIGINT),
      ${createdS}, ${share.expiresS}
    FROM devices d WHERE ${visible(scope)} AND d.device_id = ${share.deviceID}
      AND (SELECT COUNT(*) FROM shares o WHERE o.account_id = ${scope.accountID} AND o.revoked_s IS NULL
        AND o.expires_s > ${createdS}) < ${sharesMost}`;
}

/** Condition: the share is recorded. */
export function isShared(shareID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM shares WHERE share_id = ${shareID})`;
}

/** Forgets the shares of an account that ended long ago. */
export function forgetShares(accountID: string, nowS: number): Statement {
  return sql`DELETE FROM shares WHERE account_id = ${accountID} AND expires_s <= ${nowS - keptS}`;
}

/** Condition on `shares s`: its device is visible to the caller. */
const isOfVisible = (scope: Scope): Statement =>
  sql`EXISTS (SELECT 1 FROM devices d WHERE d.device_no = s.device_no AND ${visible(scope)})`;

/** Shares of the devices that the caller sees, newest first; at most `most`. */
export function listShares(db: Database, scope: Scope, most: number): Promise<readonly ShareRow[]> {
  return listed.all(db)(sql`SELECT s.*, v.device_id FROM shares s JOIN devices v ON v.device_no = s.device_no
    WHERE s.account_id = ${scope.accountID} AND ${isOfVisible(scope)}
    ORDER BY s.share_no DESC LIMIT ${most}`);
}

/** Condition: there is such a share that is not revoked, of a device that the caller sees. */
export function isRevocable(scope: Scope, shareID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM shares s WHERE s.account_id = ${scope.accountID} AND s.share_id = ${shareID}
    AND s.revoked_s IS NULL AND ${isOfVisible(scope)})`;
}

/** Ends a share; changes 0 rows unless `isRevocable`. */
export function revokeShare(
  scope: Scope,
  { shareID, atS }: { readonly shareID: string; readonly atS: number },
): Statement {
  return sql`UPDATE shares SET revoked_s = ${atS} WHERE share_id = ${shareID} AND ${isRevocable(scope, shareID)}`;
}

/** True when the account has a share of this id whose device the caller sees. */
export function seesShare(db: Database, scope: Scope, shareID: string): Promise<boolean> {
  return findsRow(db)(sql`SELECT 1 AS there FROM shares s
    WHERE s.account_id = ${scope.accountID} AND s.share_id = ${shareID} AND ${isOfVisible(scope)}`);
}

/** Counts a use, at most one in a second. */
export function countUse(tokenHash: string, atS: number): Statement {
  return sql`UPDATE shares SET uses = uses + 1, last_used_s = ${atS}
    WHERE token_hash = ${tokenHash} AND last_used_s < ${atS}`;
}

/**
 * The shares of these tokens (1 to 100) that are open: neither revoked nor expired, the account is active, and their maker may
 * still act, is at least an operator, and sees the device.
 */
export function openShares(
  db: Database,
  tokenHashes: readonly string[],
  nowS: number,
): Promise<readonly OpenShare[]> {
  return open.all(db)(sql`SELECT s.token_hash, s.share_id, s.kind, s.title, s.from_ms, s.to_ms, s.expires_s,
      d.account_id, d.device_id, d.device_no, d.fix_ms, d.latitude, d.longitude, d.speed, d.heading
    FROM shares s JOIN devices d ON d.device_no = s.device_no AND d.account_id = s.account_id
      JOIN users u ON u.account_id = s.account_id AND u.user_id = s.user_id
      JOIN accounts a ON a.account_id = s.account_id
    WHERE s.token_hash IN (${fixedList(tokenHashes)}) AND s.revoked_s IS NULL AND s.expires_s > ${nowS}
      AND a.is_active = 1 AND (a.expires_s IS NULL OR a.expires_s > ${nowS})
      AND u.is_active = 1 AND u.role IN ('operator', 'admin')
      AND (u.role = 'admin' OR u.sees_all = 1 OR EXISTS (SELECT 1 FROM group_devices gd
        JOIN group_users gu ON gu.group_no = gd.group_no
        WHERE gd.device_no = d.device_no AND gu.account_id = s.account_id AND gu.user_id = s.user_id))
      AND (s.by_token_hash IS NULL OR EXISTS (SELECT 1 FROM sessions t
        WHERE t.token_hash = s.by_token_hash AND t.expires_s > ${nowS}))`);
}
