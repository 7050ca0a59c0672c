// Breaches by what they are about. Pure.
import type { Breach, BreachKind } from './ledger-types.ts';

/** A breach that is about a vehicle as a whole, or about what is shown of it. */
export const vehicleBreach = (kind: BreachKind, deviceID: string, words: string): Breach => ({
  kind,
  deviceID,
  factNo: null,
  eventID: null,
  commandID: null,
  words,
});

/** A breach that is about an event. */
export function eventBreach(
  kind: BreachKind,
  of: { readonly deviceID: string; readonly eventID: string; readonly factNo?: number | null },
  words: string,
): Breach {
  const { deviceID, eventID, factNo = null } = of;
  return { kind, deviceID, eventID, factNo, commandID: null, words };
}
