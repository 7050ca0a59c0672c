// For which order of the agent a contact moved, told from the agent's log. Pure. It must never credit a move to an order to the
// other side, nor to one that can no longer be on the wires: then a contact moves for nobody, and that is a breach.
import type { FeatureName } from '../../src/core/event.ts';

/** More orders than this do not wait for one relay: each takes the place of the one before it. */
const ordersMost = 16;
/** What moves a contact without an order; `input n` is the board's own wiring from an input to a relay. */
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
  /** A line of the agent's log; lines that are not about relay orders are passed over. */
  note(event: string, fields: Readonly<Record<string, unknown>>): void;
  /** The newest order to that side that may still be on the wires, or the cause itself; null: nobody asked for it. */
  tokenOf(move: ContactMove): string | null;
  /** True when the agent has said that the command behind this order was carried out. */
  isConfirmed(token: string | null): boolean;
}

/**
 * An order to open may be given while the order to close that it takes back is on the wires: the contact closes for the older
 * one, and opens for the newer. Only what the agent read back after an order proves that none before it is left.
 */
function afterDone(orders: readonly Order[], done: { token: string; outcome: unknown }): readonly Order[] {
  const at = orders.findLastIndex(({ token }) => token === done.token);
  if (at < 0) return orders;
  // What the board did not get moves nothing; what was confirmed was the last on the wires, whatever came before it.
  if (done.outcome === 'refused') return orders.filter((_, index) => index !== at);
  return done.outcome === 'confirmed' ? orders.slice(at) : orders;
}

/** An empty book, of one vehicle. */
export function createOrderBook(): OrderBook {
  const orders = new Map<string, readonly Order[]>();
  const confirmed = new Set<string>();
  return {
    note(event, fields) {
      const relay = String(fields['relay']);
      const token = String(fields['order']);
      const open = orders.get(relay) ?? [];
      if (event === 'relay order') {
        const order = { token, energised: fields['energised'] === true };
        orders.set(relay, [...open, order].slice(-ordersMost));
      } else if (event === 'relay order done') {
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
