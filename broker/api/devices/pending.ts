// Pending commands of devices for their views: unfinished commands, and cuts that wait for a second user.
import type { Database } from '../../../src/ports.ts';
import type { Scope } from '../../store/base/scope.ts';
import {
  type ApprovalRow,
  approvedOrder,
  findPending,
  pendingApprovals,
} from '../../store/commands/approvals.ts';
import { unfinishedCommands, unfinishedOf } from '../../store/commands/commands.ts';
import type { DeviceSpan } from '../../store/devices/devices.ts';
import type { Pending } from '../answers/pending-feature.ts';
import { waitingReason, waitingState } from '../answers/pending-feature.ts';

function waiting({ deviceNo, approvalID }: ApprovalRow): Pending {
  const noCommand = { commandID: null, commandState: waitingState, verdict: null, reportedMs: 0 };
  return { deviceNo, ...approvedOrder, detail: waitingReason, approvalID, ...noCommand };
}

/** What is under way for one device; commands stand before what waits. */
export async function pendingOf(db: Database, deviceNo: number): Promise<readonly Pending[]> {
  const [commands, approval] = await Promise.all([unfinishedOf(db, deviceNo), findPending(db, deviceNo)]);
  return approval === null ? commands : [...commands, waiting(approval)];
}

/** The same for the devices of one page, by device number. */
export async function pendingOn(
  db: Database,
  scope: Scope,
  span: DeviceSpan,
): Promise<ReadonlyMap<number, readonly Pending[]>> {
  const [commands, approvals] = await Promise.all([
    unfinishedCommands(db, scope, span),
    pendingApprovals(db, scope, span),
  ]);
  const found = new Map<number, Pending[]>();
  for (const one of [...commands, ...approvals.map(waiting)]) {
    const known = found.get(one.deviceNo);
    if (known === undefined) found.set(one.deviceNo, [one]);
    else known.push(one);
  }
  return found;
}
