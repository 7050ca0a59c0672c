// The order of a list that stays as it is while a person points at it: a press that was aimed at one row never acts on another. Pure.

export interface HeldRow<T> {
  readonly item: T;
  /** It left the list after the order was held; `item` is as it was last seen. */
  readonly isGone: boolean;
}

interface HeldList<T> {
  readonly rows: readonly HeldRow<T>[];
  /** Those that came after the order was held. */
  readonly fresh: readonly T[];
}

/**
 * The rows in the held order, with the content of now.
 * @param held the rows when the order was held; null: it is not. @param items in the order of now.
 */
export function heldList<T>(
  held: readonly HeldRow<T>[] | null,
  items: readonly T[],
  keyOf: (item: T) => string,
): HeldList<T> {
  if (held === null) return { rows: items.map((item) => ({ item, isGone: false })), fresh: [] };
  const rest = new Map(items.map((item) => [keyOf(item), item]));
  const rows = held.map(({ item }): HeldRow<T> => {
    const key = keyOf(item);
    const now = rest.get(key);
    rest.delete(key);
    return now === undefined ? { item, isGone: true } : { item: now, isGone: false };
  });
  return { rows, fresh: [...rest.values()] };
}
