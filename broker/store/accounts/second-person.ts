// The second-person rule: an engine cut needs two users. Statements on who counts as a second person, on confirming a user, and
// on switching the rule off. A user whom an administrator created, promoted, re-enabled, or gave a password or more devices may
// be that administrator under another name. The user counts after a day, and only once another administrator has confirmed it.
// Grants of a login provider need two administrators: a grantor and another who confirms. Switching the rule off needs two
// administrators that count as a second person. With one such administrator the request is visible for a day first.
import type { Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { UserKey } from './accounts.ts';

/** Rights and password must be unchanged for this long before a user counts as a second person, in seconds. */
export const eligibleAfterS = 24 * 3600;
/** Waiting time of a request when only one administrator counts as a second person, in seconds. */
const waitS = 24 * 3600;
/** Lifetime of a request that was not carried out, in seconds. */
export const approvalOffLifeS = 7 * 24 * 3600;

/**
 * Condition on `users` under the alias: active, granted nothing since `beforeS`, and every earlier grant confirmed.
 */
export function countsAsSecondPerson(alias: 'ru' | 'su' | 'u', beforeS: number): Statement {
  const column = (name: string): Statement => ({ sql: `${alias}.${name}`, params: [] });
  return sql`${column('is_active')} = 1 AND ${column('granted_by')} IS NULL AND ${column('granted_s')} <= ${beforeS}`;
}

/** Condition: the user still waits for a confirmation of `grantedBy`, and the caller, another administrator, may give it. */
export function mayConfirm(
  { accountID, userID, nowS }: AdminRequest,
  confirmed: { readonly userID: string; readonly grantedBy: string },
): Statement {
  return sql`EXISTS (SELECT 1 FROM users t WHERE t.account_id = ${accountID} AND t.user_id = ${confirmed.userID}
    AND t.granted_by = ${confirmed.grantedBy} AND t.granted_by <> ${userID} AND t.user_id <> ${userID})
    AND EXISTS (SELECT 1 FROM users u WHERE u.account_id = ${accountID} AND u.user_id = ${userID} AND u.role = 'admin'
      AND ${countsAsSecondPerson('u', nowS - eligibleAfterS)})`;
}

/** Condition: the user waits for a confirmation. */
export function isUnconfirmed({ accountID, userID }: UserKey): Statement {
  return sql`EXISTS (SELECT 1 FROM users t WHERE t.account_id = ${accountID} AND t.user_id = ${userID}
    AND t.granted_by IS NOT NULL)`;
}

/** Confirms a user under a condition; the day of waiting still counts from the grant. */
export function confirm({ accountID, userID }: UserKey, onlyIf: Statement): Statement {
  return sql`UPDATE users SET granted_by = NULL
    WHERE account_id = ${accountID} AND user_id = ${userID} AND granted_by IS NOT NULL AND ${onlyIf}`;
}

/**
 * Makes an administrator the grantor of the login provider's grant, under a condition. Another one must then confirm: an
 * administrator who runs the provider could otherwise invent a user and confirm it alone.
 */
export function vouch(
  { accountID, userID }: UserKey,
  { grantedBy, by, onlyIf }: { readonly grantedBy: string; readonly by: string; readonly onlyIf: Statement },
): Statement {
  return sql`UPDATE users SET granted_by = ${by}
    WHERE account_id = ${accountID} AND user_id = ${userID} AND granted_by = ${grantedBy} AND ${onlyIf}`;
}

/** An administrator and the time of the request. */
export interface AdminRequest extends UserKey {
  readonly nowS: number;
}

/**
 * Condition: the user may switch the rule off now. It is an administrator who counts as a second person and agrees with another
 * one's request. Where no other counts, it repeats a request of a day ago.
 */
export function maySwitchOff({ accountID, userID, nowS }: AdminRequest): Statement {
  const counting = sql`SELECT 1 FROM users u WHERE u.account_id = a.account_id AND u.role = 'admin'
    AND ${countsAsSecondPerson('u', nowS - eligibleAfterS)}`;
  return sql`EXISTS (SELECT 1 FROM accounts a WHERE a.account_id = ${accountID} AND a.needs_approval = 1
    AND a.approval_off_s > ${nowS - approvalOffLifeS}
    AND EXISTS (${counting} AND u.user_id = ${userID})
    AND ((a.approval_off_by <> ${userID} AND EXISTS (${counting} AND u.user_id = a.approval_off_by))
      OR (a.approval_off_s <= ${nowS - waitS} AND NOT EXISTS (${counting} AND u.user_id <> ${userID}))))`;
}

/** Condition: the rule is on and no request to switch it off is open. */
export function isApprovalOffOpen({ accountID, nowS }: AdminRequest): Statement {
  return sql`EXISTS (SELECT 1 FROM accounts a WHERE a.account_id = ${accountID} AND a.needs_approval = 1
    AND (a.approval_off_s IS NULL OR a.approval_off_s <= ${nowS - approvalOffLifeS}))`;
}

/** Records the request; an open one is kept, so that its day does not start again. */
export function requestApprovalOff(request: AdminRequest): Statement {
  return sql`UPDATE accounts SET approval_off_by = ${request.userID}, approval_off_s = ${request.nowS}
    WHERE account_id = ${request.accountID} AND deleting_s IS NULL AND ${isApprovalOffOpen(request)}`;
}
