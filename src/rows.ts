// Many rows for one statement, as columns of numbers and of deduplicated texts: they pass to a thread or server
// without an object per row.
import type { Rows, RowsColumn, Statement } from './ports.ts';

/** A column and where its values come from. A number that is no number (NaN) is stored as NULL. */
export type RowsShape<Item> =
  | {
      readonly name: string;
      readonly type: 'BIGINT' | 'DOUBLE PRECISION';
      readonly of: (item: Item) => number | null | undefined;
    }
  | { readonly name: string; readonly type: 'TEXT'; readonly of: (item: Item) => string | null | undefined };

function toNumbers<Item>(
  items: readonly Item[],
  of: (item: Item) => number | null | undefined,
): Float64Array {
  const numbers = new Float64Array(items.length);
  let row = 0;
  for (const item of items) numbers[row++] = of(item) ?? Number.NaN;
  return numbers;
}

function toTexts<Item>(items: readonly Item[], of: (item: Item) => string | null | undefined) {
  const places = new Uint32Array(items.length);
  const known = new Map<string, number>();
  let last: string | null = null;
  let lastPlace = 0;
  let row = 0;
  for (const item of items) {
    const text = of(item) ?? null;
    // Neighbours are often alike.
    if (text !== last) {
      last = text;
      lastPlace = text === null ? 0 : (known.get(text) ?? known.size + 1);
      if (text !== null && lastPlace > known.size) known.set(text, lastPlace);
    }
    places[row++] = lastPlace;
  }
  return { texts: [...known.keys()], places };
}

/** A row of these columns for each item. */
export function toRows<Item>(shape: readonly RowsShape<Item>[], items: readonly Item[]): Rows {
  const columns = shape.map((column): RowsColumn => {
    const { name } = column;
    if (column.type === 'TEXT') return { name, type: column.type, ...toTexts(items, column.of) };
    return { name, type: column.type, numbers: toNumbers(items, column.of) };
  });
  return { count: items.length, columns };
}

/** The text with the numbers of its parameters moved up by `by`. */
export function shiftParams(text: string, by: number): string {
  return text.replace(/\$(\d+)/g, (_whole, digits: string) => `$${Number(digits) + by}`);
}

/** Values that a statement holds, for limits on what waits. */
export function sizeOf({ params, rows }: Statement): number {
  return params.length + 1 + (rows === undefined ? 0 : rows.count * rows.columns.length);
}
