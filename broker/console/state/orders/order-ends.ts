// Cuts and unlocks under way, from the stream and the list of devices, so that each end is found once. Pure.
import { type FleetRow, pendingIn } from '../../../../src/core/events/fleet-row.ts';
import type { Approval, CommandRecord } from '../../api/operations.ts';
import { requestState } from './cut-course.ts';
import { type CutState, cutStateOf, type Relay, relayOf } from './cut-view.ts';

/** An order of state `1`, or the request for one. */
export interface OpenOrder {
  readonly kind: 'command' | 'request';
  readonly id: string;
  readonly deviceID: string;
  readonly relay: Relay;
}

/** Ends that are reported to the user of the order; a withdrawn or replaced order is none. */
const endings = ['confirmed', 'refused', 'expired', 'unknown'] as const;
export type Ending = (typeof endings)[number];

export interface OrderEnd extends OpenOrder {
  readonly ending: Ending;
}

const endingOf = (state: CutState): Ending | null => endings.find((one) => one === state) ?? null;

type Members = Readonly<Record<string, unknown>>;

/** The order that a message of the stream is about; null: it is about none, or about one towards the safe state. */
export function orderOf(event: 'command' | 'approval', message: Members): OpenOrder | null {
  const { deviceID, feature, state } = message;
  const id = event === 'command' ? message['commandID'] : message['approvalID'];
  const relay = relayOf(feature);
  if (relay === undefined || state !== '1' || typeof deviceID !== 'string' || typeof id !== 'string')
    return null;
  return { kind: event === 'command' ? 'command' : 'request', id, deviceID, relay };
}

/** True when the order of a message is still under way. */
export function isUnderWay(event: 'command' | 'approval', message: Members): boolean {
  if (event === 'approval') return message['approvalState'] === 'pending';
  return ['requested', 'sent', 'received', 'armed', 'executing'].includes(String(message['commandState']));
}

/** Waiting order of each relay by a row of the fleet; null: none. */
export function pendingOrders(row: FleetRow): Readonly<Record<Relay, OpenOrder | null>> {
  const deviceID = row[0];
  const of = (relay: Relay): OpenOrder | null => {
    const known = pendingIn(row)?.find(({ feature, state }) => feature === relay && state === '1');
    if (known === undefined) return null;
    if (known.commandID !== null) return { kind: 'command', id: known.commandID, deviceID, relay };
    return known.approvalID === null ? null : { kind: 'request', id: known.approvalID, deviceID, relay };
  };
  return { enginecutoff: of('enginecutoff'), cargoaccess: of('cargoaccess') };
}

/** The state of a command for its issuer or approver: `open`, or how it ended. Null: that end has no toast, or the user is neither. */
export function commandEnd(
  order: OpenOrder,
  { commandState, hasEnded, issuer, approver }: CommandRecord,
  userID: string,
): OrderEnd | 'open' | null {
  if (issuer !== userID && approver !== userID) return null;
  const state = cutStateOf(commandState);
  const ending = endingOf(state);
  if (ending !== null) return { ...order, ending };
  return hasEnded ? null : 'open';
}

/** The same of a request for approval; an approved one continues as a command. */
export function requestEnd(order: OpenOrder, request: Approval, userID: string): OrderEnd | 'open' | null {
  if (request.requestedBy !== userID) return null;
  const ending = endingOf(requestState(request));
  if (ending !== null) return { ...order, ending };
  return request.approvalState === 'pending' ? 'open' : null;
}
