// What the outbox drops when its space runs out, and in which order: positions are thinned before they are deleted,
// then state changes, then alarms; panic, cut and tamper events only when no other is left. Never drops while there
// is space.
import type { Priority } from '../../../src/core/events/status-codes.ts';

export interface Space {
  /** Pages in use, with those the next write will need. */
  readonly usedPages: number;
  /** Above this, classes 1 to 3 are evicted: the space beyond is reserved for class 0. */
  readonly softPages: number;
  /** Above this, class 0 itself loses its oldest. */
  readonly hardPages: number;
  /** Whether each class, 0 to 3, holds anything. */
  readonly present: readonly [boolean, boolean, boolean, boolean];
  /** How often the positions have been thinned from end to end. */
  readonly thinPasses: number;
}

export type Eviction =
  | { readonly kind: 'none' }
  /** Give up every second position of the next stretch. */
  | { readonly kind: 'thin' }
  /** Give up the oldest of a class. */
  | { readonly kind: 'delete'; readonly priority: Priority };

/** After so many passes one position in 16 is left; a sparser trail shows no route any more. */
export const thinPassesMost = 4;

/** The next single step; the caller repeats until `none`. */
export function nextEviction(space: Space): Eviction {
  if (space.usedPages <= space.softPages) return { kind: 'none' };
  if (space.present[3]) {
    return space.thinPasses < thinPassesMost ? { kind: 'thin' } : { kind: 'delete', priority: 3 };
  }
  if (space.present[2]) return { kind: 'delete', priority: 2 };
  if (space.present[1]) return { kind: 'delete', priority: 1 };
  return space.usedPages > space.hardPages && space.present[0]
    ? { kind: 'delete', priority: 0 }
    : { kind: 'none' };
}

/** Splits a stretch (oldest first) into every second one to keep, the newest among them, and the rest. */
export function thin<T>(stretch: readonly T[]): { readonly keep: readonly T[]; readonly drop: readonly T[] } {
  const isKept = (index: number): boolean => (stretch.length - 1 - index) % 2 === 0;
  return {
    keep: stretch.filter((_item, index) => isKept(index)),
    drop: stretch.filter((_item, index) => !isKept(index)),
  };
}
