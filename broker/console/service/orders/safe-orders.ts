// Orders towards the safe state that were asked for in this tab: restores of the engine, locks of the cargo. One store for button, palette and
// key, so that each shows what became of it. None is ever delayed: not by the state of the stream, not by a question. Only the second press of
// a double press asks for nothing, for the first has.
import type { Relay } from '../../state/orders/cut-view.ts';
import { createValue } from '../../state/value.ts';
import { abandonReads, call } from '../call.ts';
import { isLive } from '../live.ts';
import { onUserChange } from '../session.ts';
import { takeBack } from './sent-orders.ts';

interface Subject {
  readonly deviceID: string;
  readonly relay: Relay;
}

export type SafeOrder = Subject &
  /** `sentMs` by the clock of this computer. */
  (
    | { readonly state: 'asking'; readonly sentMs: number }
    | { readonly state: 'asked'; readonly commandID: string }
    | { readonly state: 'failed'; readonly error: unknown }
  );

/** The newest of each vehicle and relay, by `safeKey`. */
export const safeOrders = createValue<ReadonlyMap<string, SafeOrder>>(new Map());

export const safeKey = ({ deviceID, relay }: Subject): string => `${relay} ${deviceID}`;

// What was asked for belongs to the user that asked.
onUserChange(() => safeOrders.set(new Map()));

function record(order: SafeOrder): void {
  safeOrders.set(new Map([...safeOrders.get(), [safeKey(order), order]]));
}

/** A second press comes no later than this, ms. */
const doublePressMs = 500;

/** When each was pressed last, ms of `performance.now`. */
const pressedMs = new Map<string, number>();

/** The press before is a moment old, and its request is on its way or was taken. */
function isSecondPress(key: string): boolean {
  const before = pressedMs.get(key);
  const state = safeOrders.get().get(key)?.state;
  return (
    before !== undefined &&
    performance.now() - before < doublePressMs &&
    (state === 'asking' || state === 'asked')
  );
}

/** Asks the service to restore an engine or to lock a cargo. The outcome stands in `safeOrders`; never throws. */
export async function askSafe({ deviceID, relay }: Subject): Promise<void> {
  const subject = { deviceID, relay };
  const key = safeKey(subject);
  if (isSecondPress(key)) return;
  pressedMs.set(key, performance.now());
  const asked: SafeOrder = { ...subject, state: 'asking', sentMs: Date.now() };
  record(asked);
  takeBack(relay, deviceID);
  if (!isLive()) abandonReads();
  try {
    const body = { deviceID, feature: relay, state: '0' } as const;
    const { commandID } = await call('commandFeature', { body });
    record({ ...subject, state: 'asked', commandID });
  } catch (error) {
    // Of several presses without an answer the newest counts, and an answer to an earlier one.
    if (safeOrders.get().get(key) === asked) record({ ...subject, state: 'failed', error });
  }
}
