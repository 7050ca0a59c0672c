// The approval that a caller decides about, and why it gives no command.
import { AppError } from '../../../src/core/errors.ts';
import { refusalOf } from '../../core/commands/command-caps.ts';
import { type ApprovalRow, type Decider, findApproval } from '../../store/commands/approvals.ts';
import { findCapFacts, isEligibleNow } from '../../store/commands/command-caps.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Caller } from '../base/caller.ts';

/** @throws AppError `not_found`, also when the device is outside of the caller's scope. */
export async function needApproval(
  services: ApiServices,
  caller: Caller,
  approvalID: string,
): Promise<ApprovalRow> {
  const row = await findApproval(services.db, caller.scope, approvalID);
  if (row === null) throw new AppError('not_found', `There is no approval ${JSON.stringify(approvalID)}`);
  return row;
}

export function deciderOf(services: ApiServices, caller: Caller): Decider {
  const { accountID, userID, scope, role } = caller;
  return { accountID, userID, scope, isAdmin: role === 'admin', atMs: Math.round(services.clock.utcMs()) };
}

/** @throws AppError `conflict` for a request that was decided or ran out. */
export function needOpen(row: ApprovalRow, decider: Pick<Decider, 'atMs'>): void {
  if (row.approvalState !== 'pending' || row.expiresMs <= decider.atMs) {
    const state = row.approvalState === 'pending' ? 'expired' : row.approvalState;
    throw new AppError('conflict', `The request cannot be approved: it is ${state}`, {
      hint:
        state === 'approved'
          ? 'Its command is under way or has ended: see getCommand with the commandID of the request.'
          : 'Nothing was sent for it. If it is still wanted, ask again.',
    });
  }
}

/** Reason why an approval gave no command, from the present state. */
export async function refuseApproval(
  services: ApiServices,
  caller: Caller,
  approvalID: string,
): Promise<never> {
  const row = await needApproval(services, caller, approvalID);
  const decider = deciderOf(services, caller);
  needOpen(row, decider);
  if (row.requestedBy === caller.userID) {
    throw new AppError(
      'conflict',
      'The user who asked for a cut cannot approve it: nothing was sent, it still waits',
      {
        hint: 'Another operator or administrator who sees the device must approve it.',
      },
    );
  }
  const facts = await findCapFacts(services.db, decider);
  const refusal =
    facts === null ? null : refusalOf({ ...facts, needsApproval: false }, { ...row, state: '1' });
  if (facts?.breakerS != null && refusal !== null) throw refusal;
  const isYours = !(await isEligibleNow(services.db, decider));
  const whose = isYours ? 'yours' : `that of ${JSON.stringify(row.requestedBy)}`;
  throw new AppError('conflict', `Two users must agree, and ${whose} does not count: nothing was sent`, {
    hint: isYours
      ? 'You must have had your role and password for a day, and be confirmed by an administrator. Another operator or administrator can approve it.'
      : 'The requester must be an active operator with an unchanged role and password for a day. Refuse it and request the cut yourself; another user can then approve it.',
  });
}
