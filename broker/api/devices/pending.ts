// Pending changes of devices, for their views: unfinished commands, cuts that wait for a second user, and the vehicles' own
// changes.
import { featureNames } from '../../../src/core/events/event.ts';
import { verdictText } from '../../../src/core/verdict/verdict-text.ts';
import type { Database } from '../../../src/ports.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { type OrderOrigin, ownOrderOf } from '../../core/events/own-order.ts';
import { type ApprovalRow, findPending, pendingApprovals } from '../../store/commands/approvals.ts';
import { unfinishedCommands, unfinishedOf } from '../../store/commands/commands.ts';
import type { DeviceSpan, DeviceState } from '../../store/devices/devices.ts';
import type { Pending } from '../answers/pending-feature.ts';
import { waitingForPersons, waitingReason, waitingState } from '../answers/pending-feature.ts';

function waiting({ deviceNo, approvalID, feature, ownerPin }: ApprovalRow): Pending {
  const noCommand = { commandID: null, commandState: waitingState, verdict: null, reportedMs: 0 };
  const detail = ownerPin === null ? waitingReason : waitingForPersons;
  return { deviceNo, feature, state: '1', detail, approvalID, ...noCommand };
}

/** Pending changes of one device; commands come before waiting approvals. */
export async function pendingOf(db: Database, deviceNo: number): Promise<readonly Pending[]> {
  const [commands, approvals] = await Promise.all([unfinishedOf(db, deviceNo), findPending(db, deviceNo)]);
  return [...commands, ...approvals.map(waiting)];
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

const origins: Readonly<Record<OrderOrigin, string>> = {
  zone: 'Asked for by a geozone',
  service: 'Asked for at the vehicle, with a service code',
  relay: 'The relay is not as it was confirmed; the vehicle sets it again as soon as it may',
};

/** The same with the vehicle's own changes, which come after commands and requests. @param states of the device. */
export function withOwnOrders(
  pending: readonly Pending[],
  deviceNo: number,
  states: ReadonlyMap<string, DeviceState>,
): readonly Pending[] {
  const own = featureNames.flatMap((feature): readonly Pending[] => {
    const order = ownOrderOf(feature, states);
    if (order === null) return [];
    const { origin, ...known } = order;
    const reasons = order.verdict === null ? [] : [verdictText(order.verdict)];
    const detail = [origins[origin], ...reasons].join('; ');
    return [{ deviceNo, feature, ...known, detail, commandID: null, approvalID: null }];
  });
  return own.length === 0 ? pending : [...pending, ...own];
}
