// Conditions on how many commands an account and its users may give, used inside the statement that records one, so that of two
// concurrent requests the second counts the first. Cuts that wait for approval count from their request.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import {
  type CapFacts,
  type CappedOrder,
  capLimits,
  isCut,
  isLimited,
} from '../../core/commands/command-caps.ts';
import type { UserKey } from '../accounts/accounts.ts';
import { countsAsSecondPerson, eligibleAfterS } from '../accounts/second-person.ts';
import { numberOf, numberOrNull, textOrNull } from '../base/row.ts';
import { isOfNoRelease } from '../releases/release-units.ts';

/** The requester, and the time. */
export interface Asker extends UserKey {
  readonly atMs: number;
}

interface Span {
  readonly of: 'user' | 'account';
  readonly within: 'minute' | 'hour';
}

/** Commands within a minute, or cuts within an hour and after the last reset of the breaker. */
function count({ accountID, userID, atMs }: Asker, { of, within }: Span): Statement {
  const isMinute = within === 'minute';
  const sinceMs = atMs - (isMinute ? capLimits.minuteMs : capLimits.hourMs);
  const cuts = isMinute ? sql`` : sql` AND xc.feature = 'enginecutoff' AND xc.issued_ms > xa.cuts_since_ms`;
  const asked = isMinute ? sql`` : sql` AND xp.requested_ms > xa.cuts_since_ms`;
  const ofIssuer = of === 'account' ? sql`` : sql` AND xc.issuer = ${userID}`;
  const ofRequester = of === 'account' ? sql`` : sql` AND xp.requested_by = ${userID}`;
  return sql`((SELECT COUNT(*) FROM commands xc JOIN devices xd ON xd.device_no = xc.device_no
      JOIN accounts xa ON xa.account_id = xd.account_id
      WHERE xc.state = '1' AND xc.approval_id IS NULL AND xc.issued_ms > ${sinceMs}${cuts}
        AND xd.account_id = ${accountID}${ofIssuer} AND ${isOfNoRelease})
    + (SELECT COUNT(*) FROM approvals xp JOIN devices xd ON xd.device_no = xp.device_no
      JOIN accounts xa ON xa.account_id = xd.account_id
      WHERE xp.requested_ms > ${sinceMs}${asked} AND xd.account_id = ${accountID}${ofRequester}))`;
}

const userCuts = (asker: Asker): Statement => count(asker, { of: 'user', within: 'hour' });
const accountCuts = (asker: Asker): Statement => count(asker, { of: 'account', within: 'hour' });

/**
 * Condition: the command may be recorded.
 * @param as `command`: directly, so no second user is needed; `approval`: as a request to a second user, who is needed.
 */
export function isPermitted(asker: Asker, order: CappedOrder, as: 'command' | 'approval'): Statement {
  if (!isLimited(order)) return sql`1 = 1`;
  const rate = sql`${count(asker, { of: 'user', within: 'minute' })} < ${capLimits.userPerMinute}
    AND ${count(asker, { of: 'account', within: 'minute' })} < ${capLimits.accountPerMinute}`;
  if (!isCut(order)) return rate;
  return sql`${rate} AND EXISTS (SELECT 1 FROM accounts g WHERE g.account_id = ${asker.accountID}
    AND g.needs_approval = ${as === 'approval' ? 1 : 0} AND g.breaker_s IS NULL
    AND ${userCuts(asker)} < g.cuts_per_hour
    AND ${accountCuts(asker)} < ${capLimits.accountFactor} * g.cuts_per_hour)`;
}

/** Condition: one more cut exceeds the limit, and the breaker is still closed. */
export function isTripping(asker: Asker): Statement {
  return sql`EXISTS (SELECT 1 FROM accounts g WHERE g.account_id = ${asker.accountID}
    AND g.breaker_s IS NULL AND g.cuts_per_hour > 0
    AND (${userCuts(asker)} >= g.cuts_per_hour
      OR ${accountCuts(asker)} >= ${capLimits.accountFactor} * g.cuts_per_hour))`;
}

/** Opens the breaker under a condition; changes 1 row when it opens. */
export function tripBreaker(asker: Asker, onlyIf: Statement): Statement {
  return sql`UPDATE accounts SET breaker_s = ${Math.floor(asker.atMs / 1000)}, breaker_by = ${asker.userID}
    WHERE account_id = ${asker.accountID} AND breaker_s IS NULL AND ${onlyIf}`;
}

/** Latest grant of rights or password, in epoch seconds, with which a user counts as a second person. */
export function eligibleBeforeS({ atMs }: Pick<Asker, 'atMs'>): number {
  return Math.floor(atMs / 1000) - eligibleAfterS;
}

/** Condition: the user may give commands and counts as a second person. */
export function isEligible(asker: Asker): Statement {
  return sql`EXISTS (SELECT 1 FROM users su WHERE su.account_id = ${asker.accountID} AND su.user_id = ${asker.userID}
    AND su.role IN ('operator', 'admin') AND ${countsAsSecondPerson('su', eligibleBeforeS(asker))})`;
}

/** The same as a read. */
export async function isEligibleNow(db: Database, asker: Asker): Promise<boolean> {
  return (await db.read(sql`SELECT 1 AS there WHERE ${isEligible(asker)}`)).length > 0;
}

/** Condition: the breaker is open and this user may close it. */
export function mayReset(asker: Asker): Statement {
  return sql`EXISTS (SELECT 1 FROM accounts g WHERE g.account_id = ${asker.accountID}
    AND g.breaker_s IS NOT NULL AND g.breaker_by <> ${asker.userID}) AND ${isEligible(asker)}`;
}

/** Closes the breaker; earlier cuts no longer count. */
export function resetBreaker(asker: Asker): Statement {
  return sql`UPDATE accounts SET breaker_s = NULL, breaker_by = NULL, cuts_since_ms = ${Math.round(asker.atMs)}
    WHERE account_id = ${asker.accountID} AND ${mayReset(asker)}`;
}

/** The account's limits and the user's counts; null when there is no such account. */
export async function findCapFacts(db: Database, asker: Asker): Promise<CapFacts | null> {
  const [row] =
    await db.read(sql`SELECT g.needs_approval, g.needs_password, g.breaker_s, g.breaker_by, g.cuts_per_hour,
      ${userCuts(asker)} AS user_cuts, ${accountCuts(asker)} AS account_cuts,
      ${count(asker, { of: 'user', within: 'minute' })} AS user_minute,
      ${count(asker, { of: 'account', within: 'minute' })} AS account_minute
    FROM accounts g WHERE g.account_id = ${asker.accountID}`);
  if (row === undefined) return null;
  return {
    needsApproval: numberOf(row, 'needs_approval') === 1,
    needsPassword: numberOf(row, 'needs_password') === 1,
    breakerS: numberOrNull(row, 'breaker_s'),
    breakerBy: textOrNull(row, 'breaker_by'),
    cutsPerHour: numberOf(row, 'cuts_per_hour'),
    userCuts: numberOf(row, 'user_cuts'),
    accountCuts: numberOf(row, 'account_cuts'),
    userMinute: numberOf(row, 'user_minute'),
    accountMinute: numberOf(row, 'account_minute'),
  };
}
