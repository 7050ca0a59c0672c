// Finds the relay order of the agent for which a contact moved, from the agent's log. Pure. A move is never credited to an order of the
// other direction, nor to one that can no longer be on the bus: a move without an order is a breach.
import type { FeatureName } from '../../../src/core/events/event.ts';

/** More orders than this do not wait for one relay: each takes the place of the one before it. */
const ordersMost = 16;
/** Causes that move a contact without an order; `input n` is the board's link from an input to a relay. */
const byItself = /^(power|flash end|input \d+)$/;

interface Order {
  readonly token: string;
  readonly energised: boolean;
}

export interface ContactMove {
  readonly feature: FeatureName;
  readonly energised: boolean;
  /** Of the simulated board (`simulator/hardware/contacts.ts`). */
  readonly cause: string;
}

export interface OrderBook {
  /** A line of the agent's log; lines that are not about relay orders are ignored. */
  record(event: string, fields: Readonly<Record<string, unknown>>): void;
  /** The newest order to that side that may still be on the wires, or the cause itself; null: no order. */
  tokenOf(move: ContactMove): string | null;
  /** True when the agent has logged that this order's command was carried out. */
  isConfirmed(token: string | null): boolean;
}

/**
 * An opening order may follow while the closing order that it withdraws is on the wires: the contact closes for the older and
 * opens for the newer. Only a read-back after an order proves that no earlier one is left.
 */
function afterDone(orders: readonly Order[], done: { token: string; outcome: unknown }): readonly Order[] {
  const at = orders.findLastIndex(({ token }) => token === done.token);
  if (at < 0) return orders;
  // A refused order moves nothing; a confirmed order was the last on the wires.
  if (done.outcome === 'refused') return orders.filter((_, index) => index !== at);
  return done.outcome === 'confirmed' ? orders.slice(at) : orders;
}

/** An empty book, of one vehicle. */
export function createOrderBook(): OrderBook {
  const orders = new Map<string, readonly Order[]>();
  const confirmed = new Set<string>();
  return {
    record(event, fields) {
      const relay = String(fields['relay']);
      const token = String(fields['order']);
      const open = orders.get(relay) ?? [];
      if (event === 'relay_order') {
        const order = { token, energised: fields['energised'] === true };
        orders.set(relay, [...open, order].slice(-ordersMost));
      } else if (event === 'relay_order_done') {
        orders.set(relay, afterDone(open, { token, outcome: fields['outcome'] }));
      } else if (event === 'command' && fields['state'] === 'confirmed') {
        confirmed.add(`drive:${String(fields['commandID'])}`);
      }
    },
    tokenOf({ feature, energised, cause }) {
      if (byItself.test(cause)) return cause;
      return orders.get(feature)?.findLast((order) => order.energised === energised)?.token ?? null;
    },
    isConfirmed: (token) => token !== null && confirmed.has(token),
  };
}
