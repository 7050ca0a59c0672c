// What can fail together. A cause is one fault, of a sensor, a wire, a supply or a board, that alone could make a witness claim rest on a
// vehicle that moves or an engine that turns. Credit and interlock use this one table: two witnesses are independent when no cause is in
// both of their lists.
import { type WitnessName, witnessNames } from '../../../src/core/verdict/witness.ts';

/**
 * `receiver`, `sensor:NAME` (with its wire), `contacts` (their supply or common: one fuse feeds those of all boards), `board:UNIT` (repeats, or
 * reads nothing).
 */
export type Cause = 'receiver' | 'contacts' | `${'sensor' | 'board'}:${string}`;
export type Causes = Readonly<Record<WitnessName, readonly Cause[]>>;

/** One line reads all boards, and may repeat for all. */
const faultOf = (cause: Cause): string => (cause.startsWith('board:') ? 'board' : cause);

/** Causes that both could have; none when they are independent. */
export function sharedCauses(a: readonly Cause[], b: readonly Cause[]): readonly Cause[] {
  return a.filter((cause) => b.some((other) => faultOf(other) === faultOf(cause)));
}

export type WitnessPair = readonly [WitnessName, WitnessName];

/** Every pair of witnesses without a common cause. */
export function independentPairs(causes: Causes): readonly WitnessPair[] {
  return witnessNames.flatMap((a, at) =>
    witnessNames
      .slice(at + 1)
      .filter((b) => sharedCauses(causes[a], causes[b]).length === 0)
      .map((b): WitnessPair => [a, b]),
  );
}

/** A contact whose "off" is a statement of its own: its supply, or its second contact, is read beside it. */
export function isLiveContact(causes: readonly Cause[]): boolean {
  return !causes.includes('contacts');
}
