// Parts of the console that are loaded when they are needed. One that is gone leads to a reload, never to a broken screen. Pure.
import { createValue } from './value.ts';

/** True once a part could not be loaded. */
export const isPartMissing = createValue(false);

export class PartNotLoaded extends Error {}

/** @throws PartNotLoaded */
export async function loadPart<T>(part: Promise<T>): Promise<T> {
  try {
    return await part;
  } catch (thrown) {
    isPartMissing.set(true);
    throw new PartNotLoaded('A part of the console was not loaded', { cause: thrown });
  }
}
