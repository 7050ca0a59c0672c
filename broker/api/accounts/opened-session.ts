// Begins the session of a user, once a password, a code or a login provider has proven which one it is.
import { Type } from 'typebox';
import { formatToken, tokenRandomBytes } from '../../core/accounts/session.ts';
import type { UserKey } from '../../store/accounts/accounts.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import { beginSession, hashToken, tokenIDOf, userAgentMost } from '../../store/accounts/sessions.ts';
import type { ApiServices } from '../base/api-services.ts';

/** What an answer says of a session that it begins. */
export const sessionMembers = {
  token: Type.String({ description: '`<accountID>%7C<userID>%7C<random>`' }),
  accountID: Type.String({ description: 'The account' }),
  userID: Type.String({ description: 'The user within the account' }),
  expires: Type.Integer({ description: 'When the session ends at the latest (epoch seconds)' }),
} as const;

interface Proven extends UserKey {
  /** That the proof was made against: with another one there is no session. */
  readonly passwordHash: string;
  readonly source: string;
  readonly userAgent: string | null;
  /** When the session ends in any case; null: as `sessionLimits` say. */
  readonly expiresS: number | null;
  /** Further members of the audit entry. */
  readonly detail?: object;
}

/** What a client calls itself, printable and of bounded length. */
const shortened = (userAgent: string | null): string =>
  Array.from((userAgent ?? '').replace(/[\p{C}\s]+/gu, ' ').trim())
    .slice(0, userAgentMost)
    .join('');

/** @returns the token; null when the user was deleted, or its password changed, after the proof. */
export async function openSession(
  { db, clock, entropy }: ApiServices,
  { accountID, userID, passwordHash, source, userAgent, expiresS, detail }: Proven,
): Promise<string | null> {
  const token = formatToken({ accountID, userID }, entropy.bytes(tokenRandomBytes));
  const tokenHash = hashToken(token);
  const atMs = Math.round(clock.utcMs());
  const atS = Math.floor(atMs / 1000);
  const session = {
    accountID,
    userID,
    tokenHash,
    passwordHash,
    userAgent: shortened(userAgent),
    atS,
    expiresS,
  };
  const entry = { accountID, atMs, actor: userID, source, action: 'login', object: userID };
  const [begun] = await db.write([
    ...beginSession(session),
    insertAudit({ ...entry, detail: { tokenID: tokenIDOf(tokenHash), ...detail } }),
  ]);
  return begun?.changes === 1 ? token : null;
}
