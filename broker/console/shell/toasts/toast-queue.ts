// What toasts can say. Each of it stands in a screen too: a toast is never the only place of what it says.
import { UNSTABLE_ToastQueue as ToastQueue } from 'react-aria-components';
import type { Language } from '../../../../src/core/words/languages.ts';
import type { Alarm } from '../../api/operations.ts';
import type { Relay } from '../../state/orders/cut-view.ts';
import type { OrderEnd } from '../../state/orders/order-ends.ts';
import { createValue } from '../../state/value.ts';

export type Said =
  | { readonly kind: 'back' }
  | { readonly kind: 'language'; readonly wanted: Language }
  /** New alarms of `newAlarms`: one toast for all of them. */
  | { readonly kind: 'alarms' }
  /** A restore or a lock that was asked for in this tab. */
  | { readonly kind: 'safe'; readonly deviceID: string; readonly relay: Relay; readonly isDone: boolean }
  /** A cut or an unlock of this user. */
  | { readonly kind: 'end'; readonly end: OrderEnd };

/** What has gone well leaves by itself after this, ms; not while the pointer or the focus is on it. Everything else stays until it is closed. */
const leavesMs = 6000;
const visibleMost = 3;

export const toasts = new ToastQueue<Said>({ maxVisibleToasts: visibleMost });

/** New alarms that the toast says, the newest first. */
export const newAlarms = createValue<readonly Alarm[]>([]);

/** @returns the key that closes it. */
export function say(said: Said, onClose?: () => void): string {
  const isGood =
    said.kind === 'back' ||
    (said.kind === 'safe' && said.isDone) ||
    (said.kind === 'end' && said.end.ending === 'confirmed');
  return toasts.add(said, {
    ...(isGood ? { timeout: leavesMs } : {}),
    ...(onClose === undefined ? {} : { onClose }),
  });
}
