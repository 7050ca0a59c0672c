// Table of common causes. A cause is one fault of a sensor, wire, supply or board. Alone it could make a witness claim rest while the vehicle moves
// or the engine turns. Credit and interlock share this table: two witnesses are independent when their lists have no cause in common.
import { type WitnessName, witnessNames } from '../../../src/core/verdict/witness.ts';

/**
 * `receiver`; `sensor:NAME` with its wire; `contacts`: their supply or common (one fuse feeds the contacts of all boards); `board:UNIT`: the board
 * repeats old values or reads nothing.
 */
export type Cause = 'receiver' | 'contacts' | `${'sensor' | 'board'}:${string}`;
export type Causes = Readonly<Record<WitnessName, readonly Cause[]>>;

/** One line reads all boards and may repeat old values of all, so all boards are one cause. */
const faultOf = (cause: Cause): string => (cause.startsWith('board:') ? 'board' : cause);

/** Causes that both witnesses share; empty: they are independent. */
export function sharedCauses(a: readonly Cause[], b: readonly Cause[]): readonly Cause[] {
  return a.filter((cause) => b.some((other) => faultOf(other) === faultOf(cause)));
}

export type WitnessPair = readonly [WitnessName, WitnessName];

/** All pairs of witnesses without a common cause. */
export function independentPairs(causes: Causes): readonly WitnessPair[] {
  return witnessNames.flatMap((a, at) =>
    witnessNames
      .slice(at + 1)
      .filter((b) => sharedCauses(causes[a], causes[b]).length === 0)
      .map((b): WitnessPair => [a, b]),
  );
}

/** True when "off" of the contact is a positive statement: its supply, or its second contact, is read beside it. */
export function isLiveContact(causes: readonly Cause[]): boolean {
  return !causes.includes('contacts');
}
