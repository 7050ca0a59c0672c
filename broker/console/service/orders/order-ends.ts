// Ends of cuts and unlocks that this user asked for or approved, each once. An order is known from the stream or from the list of devices;
// once either says that it is no longer under way, the ledger is asked how it ended. So an end is found also when its message was missed.
import { type FleetRow, pendingIn } from '../../../../src/core/events/fleet-row.ts';
import {
  commandEnd,
  isUnderWay,
  type OpenOrder,
  type OrderEnd,
  orderOf,
  pendingOrders,
  requestEnd,
} from '../../state/orders/order-ends.ts';
import { createValue } from '../../state/value.ts';
import { call } from '../call.ts';
import { listedRows, orderMessages } from '../live.ts';
import { session } from '../session.ts';

const endsKept = 100;
/** Orders that are remembered as settled. */
const settledMost = 2000;

/** The newest first. */
export const orderEnds = createValue<readonly OrderEnd[]>([]);

const keyOf = ({ deviceID, relay }: OpenOrder): string => `${relay} ${deviceID}`;

/** A relay has at most one order under way: a newer one replaces it. */
const open = new Map<string, OpenOrder>();
/** Ids of orders whose end was found, or is being read. */
const settled = new Set<string>();

async function readEnd(order: OpenOrder, userID: string): Promise<OrderEnd | 'open' | null> {
  if (order.kind === 'command')
    return commandEnd(order, await call('getCommand', { params: { commandID: order.id } }), userID);
  const { approvals } = await call('listApprovals', { query: { state: 'all', limit: '100' } });
  const request = approvals.find(({ approvalID }) => approvalID === order.id);
  return request === undefined ? null : requestEnd(order, request, userID);
}

async function settle(order: OpenOrder): Promise<void> {
  const userID = session.get()?.userID;
  if (userID === undefined || settled.has(order.id)) return;
  settled.add(order.id);
  for (const oldest of settled) {
    if (settled.size <= settledMost) break;
    settled.delete(oldest);
  }
  if (open.get(keyOf(order))?.id === order.id) open.delete(keyOf(order));
  // What cannot be read counts as under way, and is read again when the list of devices is.
  const end = await readEnd(order, userID).catch(() => 'open' as const);
  if (session.get()?.userID !== userID) return;
  if (end === 'open') {
    settled.delete(order.id);
    if (!open.has(keyOf(order))) open.set(keyOf(order), order);
  } else if (end !== null) orderEnds.set([end, ...orderEnds.get()].slice(0, endsKept));
}

function follow(order: OpenOrder): void {
  const before = open.get(keyOf(order));
  open.set(keyOf(order), order);
  if (before !== undefined && before.id !== order.id) void settle(before);
}

/** A message of the stream about a command or a request. */
function noteOrder(event: 'command' | 'approval', message: Readonly<Record<string, unknown>>): void {
  const order = orderOf(event, message);
  if (order === null || settled.has(order.id)) return;
  if (isUnderWay(event, message)) follow(order);
  else void settle(order);
}

/** Devices as the list has them now. */
function noteRows(rows: readonly FleetRow[]): void {
  for (const row of rows) {
    // Most of a fleet has no order, now or before.
    if (pendingIn(row) === null && open.size === 0) continue;
    for (const [relay, pending] of Object.entries(pendingOrders(row))) {
      const known = open.get(`${relay} ${row[0]}`);
      if (pending !== null && !settled.has(pending.id)) follow(pending);
      else if (known !== undefined && known.id !== pending?.id) void settle(known);
    }
  }
}

/** Follows the orders of the session until the returned function is called. */
export function followOrderEnds(): () => void {
  const leave = [
    orderMessages.subscribe(() => {
      const newest = orderMessages.get();
      if (newest !== null) noteOrder(newest.event, newest.message);
    }),
    listedRows.subscribe(() => noteRows(listedRows.get())),
  ];
  return () => {
    for (const end of leave) end();
    open.clear();
    settled.clear();
    orderEnds.set([]);
  };
}
