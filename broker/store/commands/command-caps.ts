// Conditions on the number of commands of an account and its users. They are part of the statement that records one, so of two
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
import { findsRow, numberOf, numberOrNull, readTexts, textOrNull } from '../base/row.ts';

/** The requester, and the time. */
export interface Asker extends UserKey {
  readonly atMs: number;
  /** The device of the order: it does not count against itself. Absent: no order. */
  readonly deviceNo?: number;
}

interface Span {
  readonly of: 'user' | 'account';
  readonly within: 'minute' | 'hour';
}

/**
 * Vehicles that got commands within a minute, or cuts within an hour and after the last reset of the breaker. Vehicles and not commands,
 * so that a token that is limited to one vehicle takes no cut from the others.
 */
function count({ accountID, userID, atMs, deviceNo }: Asker, { of, within }: Span): Statement {
  const isMinute = within === 'minute';
  const sinceMs = atMs - (isMinute ? capLimits.minuteMs : capLimits.hourMs);
  const cuts = isMinute ? sql`` : sql` AND xc.feature = 'enginecutoff' AND xc.issued_ms > xa.cuts_since_ms`;
  const asked = isMinute
    ? sql``
    : sql` AND xp.feature = 'enginecutoff' AND xp.requested_ms > xa.cuts_since_ms`;
  const ofIssuer = of === 'account' ? sql`` : sql` AND xc.issuer = ${userID}`;
  const ofRequester = of === 'account' ? sql`` : sql` AND xp.requested_by = ${userID}`;
  const other = deviceNo === undefined ? sql`` : sql` AND xd.device_no <> ${deviceNo}`;
  return sql`(SELECT COUNT(*) FROM (SELECT xc.device_no FROM commands xc JOIN devices xd ON xd.device_no = xc.device_no
      JOIN accounts xa ON xa.account_id = xd.account_id
      WHERE xc.state = '1' AND xc.approval_id IS NULL AND xc.issued_ms > ${sinceMs}${cuts}
        AND xd.account_id = ${accountID}${ofIssuer}${other} AND xc.is_counted = 1
    UNION SELECT xp.device_no FROM approvals xp JOIN devices xd ON xd.device_no = xp.device_no
      JOIN accounts xa ON xa.account_id = xd.account_id
      WHERE xp.requested_ms > ${sinceMs}${asked} AND xd.account_id = ${accountID}${ofRequester}${other}) AS counted)`;
}

/** Commands of the user to the device of the order within a minute. */
function sameDeviceMinute({ userID, atMs, deviceNo }: Asker): Statement {
  if (deviceNo === undefined) return sql`0`;
  return sql`(SELECT COUNT(*) FROM commands yc WHERE yc.device_no = ${deviceNo} AND yc.issuer = ${userID}
    AND yc.state = '1' AND yc.issued_ms > ${atMs - capLimits.minuteMs})`;
}

/** Condition: the user's own breaker is closed. */
const mayCut = ({ accountID, userID }: Asker): Statement =>
  sql`NOT EXISTS (SELECT 1 FROM users bu WHERE bu.account_id = ${accountID} AND bu.user_id = ${userID}
    AND bu.breaker_s IS NOT NULL)`;

const userCuts = (asker: Asker): Statement => count(asker, { of: 'user', within: 'hour' });
const accountCuts = (asker: Asker): Statement => count(asker, { of: 'account', within: 'hour' });

/**
 * Condition: the command may be recorded.
 * @param as `command`: directly, so no second user is needed; `approval`: as a request to a second user, who is needed; `signed`: as a request to
 * the owner's persons, with or without a second user.
 */
export function isPermitted(
  asker: Asker,
  order: CappedOrder,
  as: 'command' | 'approval' | 'signed',
): Statement {
  if (!isLimited(order)) return sql`1 = 1`;
  const rate = sql`${sameDeviceMinute(asker)} < ${capLimits.userPerMinute}
    AND ${count(asker, { of: 'user', within: 'minute' })} < ${capLimits.userPerMinute}
    AND ${count(asker, { of: 'account', within: 'minute' })} < ${capLimits.accountPerMinute}`;
  if (!isCut(order)) return rate;
  const rule = as === 'signed' ? sql`` : sql` AND g.needs_approval = ${as === 'approval' ? 1 : 0}`;
  return sql`${rate} AND EXISTS (SELECT 1 FROM accounts g WHERE g.account_id = ${asker.accountID}${rule}
    AND g.breaker_s IS NULL AND ${mayCut(asker)}
    AND ${userCuts(asker)} < g.cuts_per_hour
    AND ${accountCuts(asker)} < ${capLimits.accountFactor} * g.cuts_per_hour)`;
}

/** Condition: one more cut exceeds the limit of the account, or that of the user, whose breaker is still closed. */
export function isTripping(asker: Asker, of: 'user' | 'account'): Statement {
  const exceeded =
    of === 'user'
      ? sql`${mayCut(asker)} AND ${userCuts(asker)} >= g.cuts_per_hour`
      : sql`${accountCuts(asker)} >= ${capLimits.accountFactor} * g.cuts_per_hour`;
  return sql`EXISTS (SELECT 1 FROM accounts g WHERE g.account_id = ${asker.accountID}
    AND g.breaker_s IS NULL AND g.cuts_per_hour > 0 AND ${exceeded})`;
}

/** Opens the breaker of the account or of the user under a condition. */
export function tripBreaker(asker: Asker, of: 'user' | 'account', onlyIf: Statement): Statement {
  const { accountID, userID } = asker;
  const atS = Math.floor(asker.atMs / 1000);
  if (of === 'user')
    return sql`UPDATE users SET breaker_s = ${atS}
      WHERE account_id = ${accountID} AND user_id = ${userID} AND breaker_s IS NULL AND ${onlyIf}`;
  return sql`UPDATE accounts SET breaker_s = ${atS}, breaker_by = ${userID}
    WHERE account_id = ${accountID} AND breaker_s IS NULL AND ${onlyIf}`;
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
  return findsRow(db)(sql`SELECT 1 AS there WHERE ${isEligible(asker)}`);
}

const isOther = (userID: string): Statement => sql`<> ${userID}`;

/** Condition: a breaker is open in the account that another user opened. */
export function isOpenByOther({ accountID, userID }: UserKey): Statement {
  return sql`(EXISTS (SELECT 1 FROM accounts g WHERE g.account_id = ${accountID}
      AND g.breaker_s IS NOT NULL AND g.breaker_by ${isOther(userID)})
    OR EXISTS (SELECT 1 FROM users ou WHERE ou.account_id = ${accountID}
      AND ou.breaker_s IS NOT NULL AND ou.user_id ${isOther(userID)}))`;
}

/** Condition: a breaker is open and this user may close it. */
export function mayReset(asker: Asker): Statement {
  return sql`${isOpenByOther(asker)} AND ${isEligible(asker)}`;
}

/** Closes the breakers that others opened, under a condition; earlier cuts no longer count. */
export function resetBreaker(asker: Asker, onlyIf: Statement): readonly Statement[] {
  const { accountID, userID } = asker;
  const atMs = Math.round(asker.atMs);
  // The later statements find the mark of the first, as they make `onlyIf` untrue.
  return [
    sql`UPDATE accounts SET cuts_since_ms = ${atMs} WHERE account_id = ${accountID} AND ${onlyIf}`,
    sql`UPDATE accounts SET breaker_s = NULL, breaker_by = NULL
      WHERE account_id = ${accountID} AND cuts_since_ms = ${atMs} AND breaker_by ${isOther(userID)}`,
    sql`UPDATE users SET breaker_s = NULL WHERE account_id = ${accountID} AND user_id ${isOther(userID)}
      AND breaker_s IS NOT NULL
      AND EXISTS (SELECT 1 FROM accounts g WHERE g.account_id = ${accountID} AND g.cuts_since_ms = ${atMs})`,
  ];
}

/** Users of the account whose own breaker is open. */
export function listStoppedUsers(db: Database, accountID: string): Promise<readonly string[]> {
  return readTexts(db)(sql`SELECT user_id FROM users
    WHERE account_id = ${accountID} AND breaker_s IS NOT NULL ORDER BY user_id LIMIT 100`);
}

/** The account's limits and the user's counts; null when there is no such account. */
export async function findCapFacts(db: Database, asker: Asker): Promise<CapFacts | null> {
  const [row] =
    await db.read(sql`SELECT g.needs_approval, g.needs_password, g.breaker_s, g.breaker_by, g.cuts_per_hour,
      (SELECT bu.breaker_s FROM users bu WHERE bu.account_id = g.account_id AND bu.user_id = ${asker.userID}) AS own_breaker_s,
      ${userCuts(asker)} AS user_cuts, ${accountCuts(asker)} AS account_cuts,
      ${count(asker, { of: 'user', within: 'minute' })} AS user_minute,
      ${count(asker, { of: 'account', within: 'minute' })} AS account_minute
    FROM accounts g WHERE g.account_id = ${asker.accountID}`);
  if (row === undefined) return null;
  return {
    needsApproval: numberOf(row, 'needs_approval') === 1,
    needsPassword: numberOf(row, 'needs_password') === 1,
    breakerS: numberOrNull(row, 'breaker_s') ?? numberOrNull(row, 'own_breaker_s'),
    breakerBy: textOrNull(row, 'breaker_by') ?? (row['own_breaker_s'] === null ? null : asker.userID),
    isBreakerOfAccount: row['breaker_s'] !== null,
    cutsPerHour: numberOf(row, 'cuts_per_hour'),
    userCuts: numberOf(row, 'user_cuts'),
    accountCuts: numberOf(row, 'account_cuts'),
    userMinute: numberOf(row, 'user_minute'),
    accountMinute: numberOf(row, 'account_minute'),
  };
}
