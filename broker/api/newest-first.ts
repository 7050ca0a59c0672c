// Lists of what grows at one end, newest first: two optional members of the query, and the pages that they choose. No more
// than one page is in memory.
import { type Static, Type } from 'typebox';
import type { Pages } from './operation.ts';

/** The part of a list that is asked for. */
export const newestFirst = Type.Object({
  limit: Type.Optional(
    Type.String({ pattern: '^[1-9][0-9]{0,4}$', description: 'At most so many; all without it' }),
  ),
  before: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,15}$', description: 'Only those older than the one of this id' }),
  ),
});

const pageSize = 500;

interface List<Row, View> {
  /** Rows with numbers below `before`, the greatest first. */
  read(span: { readonly before: number; readonly limit: number }): Promise<readonly Row[]>;
  numberOf(row: Row): number;
  view(row: Row): View;
}

/** The pages of a list from its newest row down. */
export async function* pagesDown<Row, View>(
  query: Static<typeof newestFirst>,
  { read, numberOf, view }: List<Row, View>,
): Pages<View> {
  let before = query.before === undefined ? Number.MAX_SAFE_INTEGER : Number(query.before);
  let left = query.limit === undefined ? Number.MAX_SAFE_INTEGER : Number(query.limit);
  while (left > 0) {
    const limit = Math.min(left, pageSize);
    const rows = await read({ before, limit });
    yield rows.map(view);
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    before = numberOf(last);
    left -= rows.length;
  }
}
