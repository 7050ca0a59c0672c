// Parts of the console that are loaded when they are needed. One that is gone leads to a reload, never to a broken screen. Pure.
import { createValue } from '../state/value.ts';

/** True once a part could not be loaded. */
export const isPartMissing = createValue(false);

export class PartNotLoaded extends Error {}

/** What Chromium, Firefox, Safari and the loader of styles say of a file that they did not get; a fault in a file that is there is none of these. */
const notThere =
  /Failed to fetch|error loading dynamically imported module|Importing a module script failed|Unable to preload CSS/i;

/**
 * @param isAhead before it is needed: a failure is met again, and said, when it is needed.
 * @throws PartNotLoaded for a file that is not there, and what the part itself throws.
 */
export async function loadPart<T>(part: Promise<T>, isAhead = false): Promise<T> {
  try {
    return await part;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    if (!notThere.test(message)) throw thrown;
    if (!isAhead) isPartMissing.set(true);
    throw new PartNotLoaded(`A part of the console was not loaded: ${message}`, { cause: thrown });
  }
}
