// The reason of a cut or an unlock as the ledger keeps it: a code that every language can show, and a note. Pure.
import type { FeatureName } from '../events/event.ts';

export const orderReasons = {
  enginecutoff: ['stolen', 'misuse', 'lease_ended', 'unsafe', 'driver', 'test', 'other'],
  cargoaccess: ['delivery', 'inspection', 'rescue', 'driver', 'test', 'other'],
} as const satisfies Record<FeatureName, readonly string[]>;
/** Of a cut. */
export type CutReason = (typeof orderReasons)['enginecutoff'][number];
export type OrderReason = (typeof orderReasons)[FeatureName][number];

/** @returns null for what is no reason for an order of this relay. */
export const reasonOf = (text: unknown, relay: FeatureName): OrderReason | null =>
  orderReasons[relay].find((one) => one === text) ?? null;

export function reasonText(reason: OrderReason, note: string): string {
  const trimmed = note.trim();
  return trimmed === '' ? reason : `${reason}: ${trimmed}`;
}

/** @returns the code, null where the text has none of ours (another client wrote it), and the rest. */
export function parseReason(
  text: string,
  relay: FeatureName,
): { readonly reason: OrderReason | null; readonly note: string } {
  const at = text.indexOf(':');
  const head = at < 0 ? text : text.slice(0, at);
  const reason = reasonOf(head, relay);
  if (reason === null) return { reason, note: text };
  return { reason, note: at < 0 ? '' : text.slice(at + 1).trim() };
}
