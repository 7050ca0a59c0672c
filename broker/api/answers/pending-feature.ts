// What is pending for a feature, as device views show it: commands, cuts that wait for a second user, and what the vehicle is about to do on its own.
import type { FeatureName } from '../../../src/core/events/event.ts';
import { verdictText } from '../../../src/core/verdict/verdict-text.ts';
import { type OrderOrigin, ownOrderOf } from '../../core/events/own-order.ts';
import type { CommandRow } from '../../store/commands/commands.ts';
import type { DeviceState } from '../../store/devices/devices.ts';

/** Something that may still change the state of a feature. */
export interface Pending
  extends Pick<
    CommandRow,
    'deviceNo' | 'feature' | 'state' | 'detail' | 'verdict' | 'reportedMs' | 'approvalID'
  > {
  /** Null while it waits for a second user, and of what the vehicle does on its own. */
  readonly commandID: string | null;
  /** State of the command, or `approval` for one that waits for a second user. */
  readonly commandState: string;
}

/** `commandState` of a cut that waits for a second user: nothing is signed or sent yet. */
export const waitingState = 'approval';
/** Why such a cut waits. */
export const waitingReason = 'Waits for the approval of a second user';

const origins: Readonly<Record<OrderOrigin, string>> = {
  zone: 'Asked for by a geozone',
  service: 'Asked for at the vehicle, with a service code',
  relay: 'The relay is not as it was confirmed; the vehicle sets it again as soon as it may',
};

/** What a vehicle is about to do with a relay on its own; null: nothing. */
export function ownPending(
  feature: FeatureName,
  states: ReadonlyMap<string, DeviceState>,
): Omit<Pending, 'deviceNo'> | null {
  const order = ownOrderOf(feature, states);
  if (order === null) return null;
  const { origin, ...known } = order;
  const detail = [origins[origin], ...(order.verdict === null ? [] : [verdictText(order.verdict)])].join(
    '; ',
  );
  return { feature, ...known, detail, commandID: null, approvalID: null };
}
