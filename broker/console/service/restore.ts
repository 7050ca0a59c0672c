// Restores asked for in this tab, by vehicle. One store for button, palette and key, so that each shows what became of it. A restore is
// never delayed: not by the state of the stream, not by a question. Only the second press of a double press asks for nothing, for the
// first has.
import { createValue } from '../state/value.ts';
import { call } from './call.ts';
import { session } from './session.ts';

export type Restore =
  | { readonly state: 'asking' }
  | { readonly state: 'asked'; readonly commandID: string }
  | { readonly state: 'failed'; readonly error: unknown };

export const restores = createValue<ReadonlyMap<string, Restore>>(new Map());

// What was asked for belongs to the session that asked.
session.subscribe(() => restores.set(new Map()));

function record(deviceID: string, restore: Restore): void {
  restores.set(new Map([...restores.get(), [deviceID, restore]]));
}

/** A second press comes no later than this, ms. */
const doublePressMs = 500;

/** When each vehicle's restore was pressed last, ms of `performance.now`. */
const pressedMs = new Map<string, number>();

/** The press before is a moment old, and its request is on its way or was taken. */
function isSecondPress(deviceID: string): boolean {
  const before = pressedMs.get(deviceID);
  const state = restores.get().get(deviceID)?.state;
  return (
    before !== undefined &&
    performance.now() - before < doublePressMs &&
    (state === 'asking' || state === 'asked')
  );
}

/** Asks the service to restore an engine. The outcome stands in `restores`; never throws. */
export async function askRestore(deviceID: string): Promise<void> {
  if (isSecondPress(deviceID)) return;
  pressedMs.set(deviceID, performance.now());
  record(deviceID, { state: 'asking' });
  try {
    const body = { deviceID, feature: 'enginecutoff', state: '0' } as const;
    const { commandID } = await call('commandFeature', { body });
    record(deviceID, { state: 'asked', commandID });
  } catch (error) {
    record(deviceID, { state: 'failed', error });
  }
}
