// The cuts and unlocks of this tab that have no answer yet, over reloads. They hold no password.
import type { Relay } from '../../state/orders/cut-view.ts';
import { type FoundOrder, parseSentOrders, type SentOrder } from '../../state/orders/sent-orders.ts';
import { createValue } from '../../state/value.ts';
import { session } from '../session.ts';

const key = 'fleetward.sent-orders';

const isOwn = ({ accountID, userID }: SentOrder): boolean =>
  session.get()?.accountID === accountID && session.get()?.userID === userID;

export const sentOrders = createValue<readonly SentOrder[]>(
  parseSentOrders(sessionStorage.getItem(key)).filter(isOwn),
);
/** What became of those that were found in the ledger, until a screen shows it; by `orderKey`. */
export const foundOrders = createValue<ReadonlyMap<string, FoundOrder>>(new Map());

export const orderKey = (relay: Relay, deviceID: string): string => `${relay} ${deviceID}`;

const keep = (orders: readonly SentOrder[]): void => {
  sentOrders.set(orders);
  sessionStorage.setItem(key, JSON.stringify(orders));
};

// They outlive a session that ends, for the same user may sign in again.
session.subscribe(() => {
  foundOrders.set(new Map());
  if (session.get() !== null) keep(sentOrders.get().filter(isOwn));
});

/** Call before the request leaves; one that is sent again replaces itself. */
export const recordSent = (order: SentOrder): void =>
  keep([...sentOrders.get().filter(({ key: other }) => other !== order.key), order]);

/** @param deviceIDs the vehicles whose part is settled; undefined: all of the order. */
export function settleSent(orderKeyText: string, deviceIDs?: readonly string[]): void {
  keep(
    sentOrders.get().flatMap((one) => {
      if (one.key !== orderKeyText) return [one];
      const left = deviceIDs === undefined ? [] : one.deviceIDs.filter((id) => !deviceIDs.includes(id));
      return left.length === 0 ? [] : [{ ...one, deviceIDs: left }];
    }),
  );
}

/** The order of a vehicle that has no answer yet; undefined: there is none. */
export const sentOf = (
  orders: readonly SentOrder[],
  relay: Relay,
  deviceIDs: readonly string[],
): SentOrder | undefined =>
  orders.findLast((one) => one.relay === relay && deviceIDs.some((id) => one.deviceIDs.includes(id)));

/** A restore or a lock was asked for: what was sent before it must not count, however late it arrives. */
export function takeBack(relay: Relay, deviceID: string): void {
  if (sentOf(sentOrders.get(), relay, [deviceID]) === undefined) return;
  keep(
    sentOrders
      .get()
      .map((one) =>
        one.relay === relay && one.deviceIDs.includes(deviceID)
          ? { ...one, takenBack: [...one.takenBack.filter((id) => id !== deviceID), deviceID] }
          : one,
      ),
  );
}

export const recordFound = (relay: Relay, deviceID: string, found: FoundOrder): void =>
  foundOrders.set(new Map([...foundOrders.get(), [orderKey(relay, deviceID), found]]));

/** A screen shows it now. */
export function showFound(relay: Relay, deviceIDs: readonly string[]): void {
  const keys = deviceIDs.map((id) => orderKey(relay, id));
  foundOrders.set(new Map([...foundOrders.get()].filter(([one]) => !keys.includes(one))));
}
