// Users of a bench with sessions that need no login: passwords are no part of what is measured.
import { randomBytes } from 'node:crypto';
import { formatToken, type Role } from '../../broker/core/accounts/session.ts';
import { hashToken } from '../../broker/store/accounts/sessions.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';

export interface BenchUser {
  readonly accountID: string;
  readonly userID: string;
  readonly role: Role;
  /** Only these devices; absent: all of the account. */
  readonly deviceIDs?: readonly string[];
  readonly sessions: number;
}

/** Makes the user, and gives a token for each session. */
export async function furnishUser(db: Database, user: BenchUser): Promise<readonly string[]> {
  const { accountID, userID, role, deviceIDs, sessions } = user;
  const atS = Math.floor(Date.now() / 1000);
  const tokens = Array.from({ length: sessions }, () => formatToken({ accountID, userID }, randomBytes(32)));
  const group = sql`SELECT group_no FROM device_groups WHERE account_id = ${accountID} AND group_id = ${userID}`;
  await db.write([
    sql`INSERT INTO users (account_id, user_id, password_hash, role, display_name, sees_all, created_s)
      VALUES (${accountID}, ${userID}, 'x', ${role}, ${userID}, ${deviceIDs === undefined ? 1 : 0}, ${atS})`,
    ...tokens.map((token) => {
      const hash = hashToken(token);
      return sql`INSERT INTO sessions (token_hash, token_id, account_id, user_id, created_s, last_used_s)
        VALUES (${hash}, ${hash.slice(0, 16)}, ${accountID}, ${userID}, ${atS}, ${atS})`;
    }),
    ...(deviceIDs === undefined
      ? []
      : [
          sql`INSERT INTO device_groups (account_id, group_id) VALUES (${accountID}, ${userID})`,
          sql`INSERT INTO group_users (account_id, user_id, group_no) SELECT ${accountID}, ${userID}, group_no FROM (${group}) g`,
          ...deviceIDs.map(
            (
              deviceID,
            ) => sql`INSERT INTO group_devices (device_no, group_no) SELECT device_no, (${group}) FROM devices
              WHERE account_id = ${accountID} AND device_id = ${deviceID}`,
          ),
        ]),
  ]);
  return tokens;
}
