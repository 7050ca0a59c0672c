// Statements on orders that wait: engine cuts for a second user, and restrictive orders for the owner's persons. The conditions here enforce the
// rules: the requester can never approve, and one approval gives one command, none after another decision or after its end.
// What is special about signed orders stands in `signed-orders.ts`.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import type { PersonalOrder } from '../../../src/core/persons/persons.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { countsAsSecondPerson } from '../accounts/second-person.ts';
import { followed } from '../base/live-topic.ts';
import { visible } from '../base/scope.ts';
import { deviceRef, type Infer, shape } from '../base/table.ts';
import type { DeviceSpan } from '../devices/devices.ts';
import { approvals } from '../schema/commands.ts';
import { type Asker, eligibleBeforeS, isEligible, isPermitted } from './command-caps.ts';
import { type Arrived, isOvertaken } from './safe-orders.ts';

const ofDevice = shape({ ...approvals.columns, ...deviceRef });
/** The approval of a row with `account_id` and `device_id` of its device. */
export const toApproval = ofDevice.toRecord;
export type ApprovalRow = Infer<typeof ofDevice>;

/** What persons sign; null: it needs none. */
export function personalOrderOf(approval: ApprovalRow): PersonalOrder | null {
  const { accountID, deviceID, boot, counter, feature, reason, commandExpiresMs: expiresMs } = approval;
  if (boot === null || counter === null) return null;
  return { accountID, deviceID, boot, counter, feature, state: '1', expiresMs, reason };
}

/** Who must sign it and who did; null: it needs no persons. */
function viewSigning(approval: ApprovalRow) {
  const order = personalOrderOf(approval);
  if (order === null) return null;
  const given = (approval.signatures ?? []).map(({ personID, name, userID, atMs }) => ({
    personID,
    name,
    userID,
    at: epochSeconds(atMs),
  }));
  return { needed: approval.needed ?? 0, given, order };
}

/** As answers and live streams show it. */
export function viewApproval(approval: ApprovalRow) {
  return {
    approvalID: approval.approvalID,
    deviceID: approval.deviceID,
    feature: approval.feature,
    state: '1' as const,
    approvalState: approval.approvalState,
    reason: approval.reason,
    requestedBy: approval.requestedBy,
    requested: epochSeconds(approval.requestedMs),
    expires: epochSeconds(approval.expiresMs),
    decidedBy: approval.decidedBy ?? '',
    decided: epochSeconds(approval.decidedMs),
    decidedReason: approval.decidedReason ?? '',
    commandID: approval.commandID ?? '',
    endCause: approval.endCause ?? '',
    secondUser: approval.secondUser ?? '',
    signing: viewSigning(approval),
  };
}

const selectApproval = sql`SELECT p.*, d.account_id, d.device_id FROM approvals p
  JOIN devices d ON d.device_no = p.device_no`;

/** One approval whose device the caller may see, or null. */
export function findApproval(db: Database, scope: Scope, approvalID: string): Promise<ApprovalRow | null> {
  return ofDevice.first(db)(sql`${selectApproval} WHERE ${visible(scope)} AND p.approval_id = ${approvalID}`);
}

/** The pending approvals of this device: at most one for each feature. */
export function findPending(db: Database, deviceNo: number): Promise<readonly ApprovalRow[]> {
  return ofDevice.all(db)(
    sql`${selectApproval} WHERE p.device_no = ${deviceNo} AND p.approval_state = 'pending'`,
  );
}

/** Pending approvals of the devices of one page. */
export function pendingApprovals(
  db: Database,
  scope: Scope,
  span: DeviceSpan,
): Promise<readonly ApprovalRow[]> {
  return ofDevice.all(db)(sql`${selectApproval}
    WHERE ${visible(scope)} AND d.device_id BETWEEN ${span.from} AND ${span.to} AND p.approval_state = 'pending'`);
}

/** Cursor of a listing: the last approval already read, exclusive. */
export interface ApprovalCursor {
  readonly requestedMs: number;
  readonly approvalID: string;
}

/** Approvals that the caller may see, newest first. */
export function listApprovals(
  db: Database,
  of: {
    readonly scope: Scope;
    readonly pendingOnly: boolean;
    readonly before: ApprovalCursor | null;
    readonly limit: number;
  },
): Promise<readonly ApprovalRow[]> {
  const state = of.pendingOnly ? sql` AND p.approval_state = 'pending'` : sql``;
  const older =
    of.before === null
      ? sql``
      : sql` AND (p.requested_ms, p.approval_id) < (${of.before.requestedMs}, ${of.before.approvalID})`;
  return ofDevice.all(db)(sql`${selectApproval} WHERE ${visible(of.scope)}${state}${older}
    ORDER BY p.requested_ms DESC, p.approval_id DESC LIMIT ${of.limit}`);
}

/** Expires pending approvals. */
export function expireApprovals(nowMs: number): Statement {
  return followed(sql`UPDATE approvals SET approval_state = 'expired', decided_ms = ${nowMs}
    WHERE approval_state = 'pending' AND expires_ms <= ${nowMs}`);
}

export interface NewApproval {
  readonly approvalID: string;
  readonly deviceNo: number;
  readonly reason: string;
  readonly requestedMs: number;
  readonly expiresMs: number;
  readonly commandExpiresMs: number;
  readonly order: Arrived;
}

/** A feature of a device. */
interface FeatureKey {
  readonly deviceNo: number;
  readonly feature: string;
}

/** Condition: an approval is pending for this feature. */
export function isAwaited({ deviceNo, feature }: FeatureKey): Statement {
  return sql`EXISTS (SELECT 1 FROM approvals WHERE device_no = ${deviceNo} AND feature = ${feature}
    AND approval_state = 'pending')`;
}

/** Condition: this request is recorded. */
export function isAsked(approvalID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM approvals WHERE approval_id = ${approvalID})`;
}

/**
 * Records a request unless one is pending, a restore has overtaken it, the rule is off, or a limit is reached. The requester
 * must count as one of the two users: otherwise the request could never be approved and would block others.
 */
export function insertApproval(asker: Asker, approval: NewApproval): Statement {
  return followed(sql`INSERT INTO approvals (approval_id, device_no, approval_state, reason, requested_by, requested_ms,
      expires_ms, command_expires_ms)
    SELECT ${approval.approvalID}, d.device_no, 'pending', ${approval.reason}, ${asker.userID},
      ${approval.requestedMs}, ${approval.expiresMs}, ${approval.commandExpiresMs}
    FROM devices d WHERE d.device_no = ${approval.deviceNo} AND d.account_id = ${asker.accountID}
      AND NOT ${isAwaited(approval.order)} AND NOT ${isOvertaken(approval.order)} AND ${isEligible(asker)}
      AND ${isPermitted(asker, { feature: 'enginecutoff', state: '1' }, 'approval')}`);
}

/** A user who decides about a request. */
export interface Decider extends Asker {
  readonly scope: Scope;
  readonly isAdmin: boolean;
}

export interface Decision {
  readonly approvalID: string;
  readonly decider: Decider;
}

/**
 * Condition: the approval `p` is open and its device visible to the decider. After the clock was set back to before the
 * request it waits for the clock, so it never lives longer than requested.
 */
export function isOpen({ approvalID, decider }: Decision): Statement {
  return sql`p.approval_id = ${approvalID} AND p.approval_state = 'pending' AND p.expires_ms > ${decider.atMs}
    AND p.requested_ms <= ${decider.atMs}
    AND EXISTS (SELECT 1 FROM devices d WHERE d.device_no = p.device_no AND ${visible(decider.scope)})`;
}

/**
 * Condition: this user may approve now. The requester is another user and still an active operator. Both count as separate
 * persons (`countsAsSecondPerson`): one could be the other under a new name. The breaker of the account is closed. Not of a signed order.
 */
export function mayApprove(decision: Decision): Statement {
  const { decider } = decision;
  return sql`EXISTS (SELECT 1 FROM approvals p WHERE ${isOpen(decision)} AND p.owner_pin IS NULL AND p.requested_by <> ${decider.userID}
    AND EXISTS (SELECT 1 FROM users ru WHERE ru.account_id = ${decider.accountID} AND ru.user_id = p.requested_by
      AND ru.role IN ('operator', 'admin') AND ${countsAsSecondPerson('ru', eligibleBeforeS(decider))})
    AND EXISTS (SELECT 1 FROM accounts g WHERE g.account_id = ${decider.accountID} AND g.breaker_s IS NULL)
    AND ${isEligible(decider)})`;
}

/** Approves, naming the command that the same batch records. */
export function approve(decision: Decision, commandID: string): Statement {
  const { approvalID, decider } = decision;
  return followed(sql`UPDATE approvals SET approval_state = 'approved', decided_by = ${decider.userID},
      decided_ms = ${decider.atMs}, command_id = ${commandID}
    WHERE approval_id = ${approvalID} AND approval_state = 'pending' AND ${mayApprove(decision)}`);
}

/** Condition: the request was approved by the batch that names this command. */
export function isApprovedAs(approvalID: string, commandID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM approvals WHERE approval_id = ${approvalID} AND approval_state = 'approved'
    AND command_id = ${commandID})`;
}

/**
 * Condition: this user may end the request without a command: `refused` by another user, `withdrawn` by the requester or an
 * administrator.
 */
export function mayEnd(decision: Decision, as: 'refused' | 'withdrawn'): Statement {
  const { userID, isAdmin } = decision.decider;
  const isOwn = isAdmin ? sql`1 = 1` : sql`p.requested_by = ${userID}`;
  const who = as === 'refused' ? sql`p.requested_by <> ${userID}` : isOwn;
  return sql`EXISTS (SELECT 1 FROM approvals p WHERE ${isOpen(decision)} AND ${who})`;
}

export function endApproval(
  decision: Decision,
  as: 'refused' | 'withdrawn',
  reason: string | null,
): Statement {
  const { approvalID, decider } = decision;
  return followed(sql`UPDATE approvals SET approval_state = ${as}, decided_by = ${decider.userID}, decided_ms = ${decider.atMs},
    decided_reason = ${reason}
    WHERE approval_id = ${approvalID} AND approval_state = 'pending' AND ${mayEnd(decision, as)}`);
}

/** An order to the safe state withdraws what waits for the same feature. */
export function withdrawPending(
  { deviceNo, feature }: FeatureKey,
  by: { readonly userID: string; readonly atMs: number },
): Statement {
  return followed(sql`UPDATE approvals SET approval_state = 'withdrawn', decided_by = ${by.userID}, decided_ms = ${by.atMs}
    WHERE device_no = ${deviceNo} AND feature = ${feature} AND approval_state = 'pending'`);
}
