// Statements on switching off the rule that an engine cut needs a second user. Nobody does it alone and at once: either
// another administrator asks too, or a day passes in which the others see the wish. An administrator whom somebody has
// just made, or let in again, is no second person: he may be the first one under another name.
import type { Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { UserKey } from './accounts.ts';

/** How long a user must have had his rights and his password before he counts as a second person. */
export const settledS = 24 * 3600;
/** How long a single administrator's wish must stand before it may be carried out. */
const waitS = 24 * 3600;
/** A wish that nobody carried out is forgotten. */
export const wishS = 7 * 24 * 3600;

/** A user and the moment of his call. */
export interface Wisher extends UserKey {
  readonly nowS: number;
}

/** Condition: the user may switch the rule off now. */
export function maySwitchOff({ accountID, userID, nowS }: Wisher): Statement {
  return sql`EXISTS (SELECT 1 FROM accounts a WHERE a.account_id = ${accountID} AND a.needs_approval = 1
    AND a.approval_off_s > ${nowS - wishS}
    AND (a.approval_off_s <= ${nowS - waitS}
      OR (a.approval_off_by <> ${userID} AND (SELECT COUNT(*) FROM users u
        WHERE u.account_id = a.account_id AND u.user_id IN (${userID}, a.approval_off_by) AND u.role = 'admin'
          AND u.is_active = 1 AND u.granted_s <= ${nowS - settledS}) = 2)))`;
}

/** Condition: the rule holds and nobody has asked to switch it off. */
export function mayWish({ accountID, nowS }: Wisher): Statement {
  return sql`EXISTS (SELECT 1 FROM accounts a WHERE a.account_id = ${accountID} AND a.needs_approval = 1
    AND (a.approval_off_s IS NULL OR a.approval_off_s <= ${nowS - wishS}))`;
}

/** Notes who asks; a wish that stands is left as it is, so that its day is not begun again. */
export function wishOff(wisher: Wisher): Statement {
  return sql`UPDATE accounts SET approval_off_by = ${wisher.userID}, approval_off_s = ${wisher.nowS}
    WHERE account_id = ${wisher.accountID} AND deleting_s IS NULL AND ${mayWish(wisher)}`;
}
