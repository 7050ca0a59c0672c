// What stands in the form of a cut or an unlock while the browser is at the login provider. It holds no secret, and lives as long as the tab.
import { type OrderReason, reasonOf } from '../../../../src/core/reports/order-reason.ts';
import { lifeOf, noteMost, type Relay } from '../../state/orders/cut-view.ts';

interface Draft {
  readonly deviceID: string;
  readonly relay: Relay;
  readonly reason: OrderReason | null;
  readonly note: string;
  readonly lifeS: number;
}

const key = 'fleetward.cut-draft';

export function keepDraft(draft: Draft): void {
  sessionStorage.setItem(key, JSON.stringify(draft));
}

export function dropDraft(): void {
  sessionStorage.removeItem(key);
}

/** The draft of an order for this vehicle; null without one. */
export function draftOf(deviceID: string, relay: Relay): Draft | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Draft> | null;
    if (kept?.deviceID !== deviceID || kept.relay !== relay) return null;
    return {
      deviceID,
      relay,
      reason: reasonOf(kept.reason, relay),
      note: typeof kept.note === 'string' ? kept.note.slice(0, noteMost) : '',
      lifeS: lifeOf(kept.lifeS, relay),
    };
  } catch {
    return null;
  }
}
