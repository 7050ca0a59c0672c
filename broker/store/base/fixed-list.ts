// Lists in statements, padded to one of two lengths: few texts are prepared.
import type { Statement } from '../../../src/ports.ts';
import { valueList } from '../../../src/sql.ts';

/** Most values of a list. */
export const listMost = 100;
/** Nearly all lists are as short; a long one costs ten times as much to write. */
const shortMost = 8;

/** `a, b, c` as 8 or 100 parameters, padded with the first value. The list must have 1 to 100 values. */
export function fixedList(values: readonly (string | number)[]): Statement {
  const [first] = values;
  if (first === undefined || values.length > listMost) throw new Error(`a list of ${values.length} values`);
  const length = values.length <= shortMost ? shortMost : listMost;
  return valueList(Array.from({ length }, (_, at) => values[at] ?? first));
}
