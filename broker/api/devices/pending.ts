// What is under way for devices as their views show it: unfinished commands, and cuts that wait for a second user.
import type { Database } from '../../../src/ports.ts';
import { type ApprovalRow, approvedWish, findPending, pendingApprovals } from '../../store/approvals.ts';
import { type CommandRow, unfinishedCommands, unfinishedOf } from '../../store/commands.ts';
import type { DeviceSpan } from '../../store/devices.ts';
import type { Scope } from '../../store/scope.ts';
import { waitingReason, waitingState } from '../commands/command-view.ts';

/** Something that may still change the state of a feature. */
export interface Pending extends Pick<CommandRow, 'deviceNo' | 'feature' | 'state' | 'detail' | 'verdict'> {
  /** Null while it waits for a second user. */
  readonly commandID: string | null;
  /** State of the command, or the word for one that waits for a second user. */
  readonly commandState: string;
}

function waiting({ deviceNo }: ApprovalRow): Pending {
  const noCommand = { commandID: null, commandState: waitingState, verdict: null };
  return { deviceNo, ...approvedWish, detail: waitingReason, ...noCommand };
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
