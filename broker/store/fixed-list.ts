// Lists in statements, filled up to one length, so that there is one text to prepare whatever their length.
import type { Statement } from '../../src/ports.ts';
import { commaList, sql } from '../../src/sql.ts';

/** Most values of a list. */
export const listMost = 100;

/** `a, b, c` as 100 parameters; the first value fills it up. The list must hold 1 to 100 values. */
export function fixedList(values: readonly (string | number)[]): Statement {
  const [first] = values;
  if (first === undefined || values.length > listMost) throw new Error(`a list of ${values.length} values`);
  return commaList(Array.from({ length: listMost }, (_, at) => sql`${values[at] ?? first}`));
}
