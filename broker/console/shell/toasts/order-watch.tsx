// Orders and their ends as toasts: of a restore or a lock that was asked for in this tab, on any screen but that of the vehicle; of a cut or an
// unlock of this user, on any screen but that of the order.
import { useLocation, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useValue } from '../../components/use.ts';
import { orderEnds } from '../../service/orders/order-ends.ts';
import { type SafeOrder, safeOrders } from '../../service/orders/safe-orders.ts';
import { followSentOrders } from '../../service/orders/sent-watch.ts';
import { useCommand } from '../../service/orders.ts';
import { orderIn } from '../../state/orders/cut-view.ts';
import type { OrderEnd } from '../../state/orders/order-ends.ts';
import { say } from './toast-queue.ts';

function SafeWatch({ order }: { readonly order: SafeOrder }) {
  const { deviceID, relay, state } = order;
  const { data: record } = useCommand(state === 'asked' ? order.commandID : null);
  const { deviceID: opened } = useParams({ strict: false });
  const { vehicle: selected } = useSearch({ strict: false });
  const isOpen = (opened ?? selected) === deviceID;
  const isSaid = useRef(false);
  const hasEnded = state === 'failed' || record?.hasEnded === true;
  const isDone = state !== 'failed' && record?.commandState === 'confirmed';
  useEffect(() => {
    if (!hasEnded || isSaid.current) return;
    isSaid.current = true;
    // Its screen says it.
    if (!isOpen) say({ kind: 'safe', deviceID, relay, isDone });
  }, [hasEnded, isDone, isOpen, deviceID, relay]);
  return null;
}

/** One toast for each end, however often the service reports it. */
function useOrderEnds(): void {
  const ends = useValue(orderEnds);
  const { pathname } = useLocation();
  const { deviceID: opened } = useParams({ strict: false });
  const { cut, unlock, tab } = useSearch({ strict: false });
  const said = useRef<ReadonlySet<OrderEnd>>(new Set());
  useEffect(() => {
    const shown = orderIn({ cut, unlock })?.target;
    const isShown = ({ kind, id, deviceID }: OrderEnd): boolean => {
      if (kind === 'request' && pathname === '/approvals') return true;
      if (opened !== deviceID) return false;
      return tab === 'commands' || (shown?.kind === kind && shown.id === id);
    };
    for (const end of ends.toReversed()) {
      if (said.current.has(end)) continue;
      if (!isShown(end)) say({ kind: 'end', end });
    }
    said.current = new Set(ends);
  }, [ends, pathname, opened, cut, unlock, tab]);
}

export function OrderWatch() {
  const all = useValue(safeOrders);
  useOrderEnds();
  useEffect(followSentOrders, []);
  return [...all].map(([key, order]) => (
    <SafeWatch key={`${key} ${order.state === 'asked' ? order.commandID : order.state}`} order={order} />
  ));
}
