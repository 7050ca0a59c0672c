// Order in which the outbox drops events when its space runs out: positions are thinned before they are deleted, then state changes go, then alarms.
// Panic, cut and tamper events go only when nothing else is left. Nothing is dropped while there is space.
import type { Priority } from '../../../src/core/events/status-codes.ts';

export interface Space {
  /** Pages in use, including those for the next write. */
  readonly usedPages: number;
  /** Above this, classes 1 to 3 are evicted: the space beyond is reserved for class 0. */
  readonly softPages: number;
  /** Above this, class 0 itself loses its oldest events. */
  readonly hardPages: number;
  /** True for each class, 0 to 3, that holds anything. */
  readonly present: readonly [boolean, boolean, boolean, boolean];
  /** Number of complete passes in which positions were thinned. */
  readonly thinPasses: number;
}

export type Eviction =
  | { readonly kind: 'none' }
  /** Drops every second position of the next stretch. */
  | { readonly kind: 'thin' }
  /** Drops the oldest events of a class. */
  | { readonly kind: 'delete'; readonly priority: Priority };

/** After this many passes one position in 16 is left; a sparser trail shows no route any more. */
export const thinPassesMost = 4;

/** The next single step; the caller repeats it until `none`. */
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

/** Splits a stretch (oldest first) into every second item to keep, including the newest, and the rest. */
export function thin<T>(stretch: readonly T[]): { readonly keep: readonly T[]; readonly drop: readonly T[] } {
  const isKept = (index: number): boolean => (stretch.length - 1 - index) % 2 === 0;
  return {
    keep: stretch.filter((_item, index) => isKept(index)),
    drop: stretch.filter((_item, index) => !isKept(index)),
  };
}
