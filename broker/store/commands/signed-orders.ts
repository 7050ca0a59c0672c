// Statements on restrictive orders that the owner's persons sign. An order is bound to the unit's boot and to its next counter, which is not used up
// before the order is sent: every other message takes it, so that nothing waits for a signature, and the order that lost it must be signed again.
import type { FeatureName } from '../../../src/core/events/event.ts';
import type { Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { countsAsSecondPerson } from '../accounts/second-person.ts';
import { followed } from '../base/live-topic.ts';
import type { Signature } from '../schema/commands.ts';
import { type Decision, isAwaited, isOpen, type NewApproval } from './approvals.ts';
import { type Asker, eligibleBeforeS, isEligible, isPermitted } from './command-caps.ts';
import { presumedRank, ranks, receivedRank } from './commands.ts';
import { isOvertaken } from './safe-orders.ts';

interface NewSignedOrder extends NewApproval {
  readonly feature: FeatureName;
  readonly ownerPin: string;
  readonly needed: number;
}

/** Condition: the account wants no second user for an order of this feature. */
const needsNoSecond = ({ accountID }: Pick<Asker, 'accountID'>, feature: Statement): Statement =>
  sql`(${feature} <> 'enginecutoff' OR EXISTS (SELECT 1 FROM accounts na WHERE na.account_id = ${accountID}
    AND na.needs_approval = 0))`;

/**
 * Records a request and reserves the unit's boot and next counter, unless one waits for the feature, a safe order has overtaken it, the unit has
 * another owner meanwhile, or a limit is reached. Where the account wants a second user the requester must count as one of the two.
 */
export function insertSignedOrder(asker: Asker, order: NewSignedOrder): Statement {
  const { feature, ownerPin } = order;
  return followed(sql`INSERT INTO approvals (approval_id, device_no, approval_state, reason, requested_by, requested_ms,
      expires_ms, command_expires_ms, feature, owner_pin, boot, counter, needed, signatures)
    SELECT ${order.approvalID}, d.device_no, 'pending', ${order.reason}, ${asker.userID}, ${order.requestedMs},
      ${order.expiresMs}, ${order.commandExpiresMs}, ${feature}, d.owner_pin, d.boot, d.command_counter + 1,
      ${order.needed}, '[]'
    FROM devices d WHERE d.device_no = ${order.deviceNo} AND d.account_id = ${asker.accountID}
      AND d.owner_pin = ${ownerPin} AND d.boot IS NOT NULL
      AND NOT ${isAwaited(order.order)} AND NOT ${isOvertaken(order.order)}
      AND (${needsNoSecond(asker, sql`${feature}`)} OR ${isEligible(asker)})
      AND ${isPermitted(asker, { feature, state: '1' }, 'signed')}`);
}

/** Condition: the approval `p` is an open signed order with these signatures. */
const isAt = (decision: Decision, signatures: readonly Signature[]): Statement =>
  sql`${isOpen(decision)} AND p.owner_pin IS NOT NULL AND p.signatures = ${JSON.stringify(signatures)}`;

/** Condition: this order is open and signed by these persons. */
export const isSignedBy = (decision: Decision, signatures: readonly Signature[]): Statement =>
  sql`EXISTS (SELECT 1 FROM approvals p WHERE ${isAt(decision, signatures)})`;

/** What a user adds to an order. */
export interface Agreement {
  readonly before: readonly Signature[];
  readonly after: readonly Signature[];
  /** The user agrees as the second one. */
  readonly isSecond: boolean;
}

/** Adds a person, or the second user; changes 0 rows when another one came first. */
export function recordAgreement(decision: Decision, { before, after, isSecond }: Agreement): Statement {
  const { approvalID, decider } = decision;
  const second = isSecond ? sql`, second_user = COALESCE(second_user, ${decider.userID})` : sql``;
  return followed(sql`UPDATE approvals SET signatures = ${JSON.stringify(after)}, signed_ms = ${decider.atMs}${second}
    WHERE approval_id = ${approvalID} AND approval_state = 'pending' AND ${isSignedBy(decision, before)}`);
}

/**
 * Condition: the order may be sent now. It is signed as it was verified; the unit is in the same boot and its counter is free; the requester is still
 * an operator; of a cut the breaker of the account is closed, and where the account wants a second user two of its users agree.
 */
export function mayEnact(decision: Decision, signatures: readonly Signature[]): Statement {
  const { decider } = decision;
  const before = eligibleBeforeS(decider);
  const user = (alias: Statement): Statement =>
    sql`${alias}.account_id = ${decider.accountID} AND ${alias}.role IN ('operator', 'admin') AND ${alias}.is_active = 1`;
  return sql`EXISTS (SELECT 1 FROM approvals p JOIN devices pd ON pd.device_no = p.device_no
    JOIN users ru ON ru.user_id = p.requested_by AND ${user(sql`ru`)}
    WHERE ${isAt(decision, signatures)} AND pd.boot = p.boot AND pd.owner_pin = p.owner_pin
      AND pd.command_counter < p.counter
      AND (p.feature <> 'enginecutoff' OR EXISTS (SELECT 1 FROM accounts g
        WHERE g.account_id = ${decider.accountID} AND g.breaker_s IS NULL))
      AND (${needsNoSecond(decider, sql`p.feature`)} OR (${countsAsSecondPerson('ru', before)}
        AND EXISTS (SELECT 1 FROM users su WHERE su.user_id = p.second_user AND su.user_id <> p.requested_by
          AND ${user(sql`su`)} AND ${countsAsSecondPerson('su', before)}))))`;
}

/** Approves, naming the command that the same batch records. */
export function enactSigned(
  decision: Decision,
  signatures: readonly Signature[],
  commandID: string,
): Statement {
  const { approvalID, decider } = decision;
  return followed(sql`UPDATE approvals SET approval_state = 'approved', decided_by = ${decider.userID},
      decided_ms = ${decider.atMs}, command_id = ${commandID}
    WHERE approval_id = ${approvalID} AND approval_state = 'pending' AND ${mayEnact(decision, signatures)}`);
}

/**
 * Ends signed orders that can no longer be carried out: the unit has another boot, or another message took their counter. Of those that were sent
 * and not confirmed as received, a unit in its next boot is sent a withdrawal. @param hello of one unit; null: all units.
 */
export function endVoidOrders(
  nowMs: number,
  hello: { readonly deviceNo: number; readonly counter: number } | null = null,
): readonly Statement[] {
  const ofUnit = hello === null ? sql`` : sql` AND device_no = ${hello.deviceNo}`;
  // In the same boot a unit that has not counted so far never got the envelope, and it cannot be sent again.
  const isLost =
    hello === null
      ? sql``
      : sql` OR (d.command_counter > commands.reserved_counter AND ${hello.counter} < commands.reserved_counter)`;
  return [
    followed(sql`UPDATE approvals SET approval_state = 'void', decided_ms = ${nowMs},
        end_cause = CASE WHEN boot = (SELECT d.boot FROM devices d WHERE d.device_no = approvals.device_no)
          THEN 'counter' ELSE 'restarted' END
      WHERE approval_state = 'pending' AND boot IS NOT NULL${ofUnit}
        AND EXISTS (SELECT 1 FROM devices d WHERE d.device_no = approvals.device_no
          AND (d.boot <> approvals.boot OR d.command_counter >= approvals.counter))`),
    followed(sql`UPDATE commands SET command_state = 'refused', state_rank = ${presumedRank}, is_final = 1,
        updated_ms = ${nowMs}, detail = CASE WHEN reserved_boot = (SELECT d.boot FROM devices d
          WHERE d.device_no = commands.device_no) THEN 'persons: counter' ELSE 'persons: restarted' END
      WHERE is_final = 0 AND reserved_boot IS NOT NULL AND state_rank < ${receivedRank} AND cancel_by IS NULL${ofUnit}
        AND EXISTS (SELECT 1 FROM devices d WHERE d.device_no = commands.device_no
          AND (d.boot <> commands.reserved_boot
            OR (commands.state_rank < ${ranks.sent} AND d.command_counter >= commands.reserved_counter)${isLost}))`),
  ];
}
