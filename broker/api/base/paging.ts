// Paging of listings that begin with the newest row: `limit` and `cursor` ask for a page, `more` and `next` name the one after it. New rows come
// before the first page, so a later page of a growing list does not change. Listings of events page the same way, in `event-list.ts`.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import type { Pages } from './operation.ts';

export const pageLimits = { usual: 100, most: 500 } as const;

const limit = Type.Optional(
  Type.String({
    pattern: '^[0-9]{1,3}$',
    description: `Page size, 1 to ${pageLimits.most}; ${pageLimits.usual} without it`,
  }),
);
const cursor = (pattern: string) =>
  Type.Optional(Type.String({ pattern, description: '`next` of the page before' }));

/** Query of a listing by time and id. */
export const pageQuery = { limit, cursor: cursor('^[0-9]{1,16}-[A-Za-z0-9_-]{1,64}$') } as const;

/** Query of a listing by a number that grows. */
export const numberedQuery = { limit, cursor: cursor('^[0-9]{1,15}$') } as const;

/** What the query does, for the descriptions of operations. */
export const pageText = `\`?limit=\` (1 to ${pageLimits.most}, ${pageLimits.usual} without it) gives that many; while \`more\` is true send
\`next\` back as \`?cursor=\`.`;

/** The same where the answer without a query is complete. */
export const optionalPageText = `Without a query the answer is complete. \`?limit=\` (1 to ${pageLimits.most}) gives that many and the members
\`more\` and \`next\`; while \`more\` is true send \`next\` back as \`?cursor=\`.`;

const more = Type.Boolean({ description: 'Whether there are older ones' });
const next = Type.Union([Type.String(), Type.Null()], {
  description: 'The cursor of the next page; null at the end',
});

/** Members of the answer beside the list. */
export const pageMembers = { more, next } as const;

/** Members beside a list that is paged only when asked for. */
export const optionalPageMembers = { more: Type.Optional(more), next: Type.Optional(next) } as const;

/** @throws AppError `invalid_content`. */
export function pageSize(asked: string | undefined): number {
  const count = Number(asked ?? pageLimits.usual);
  if (count >= 1 && count <= pageLimits.most) return count;
  throw new AppError('invalid_content', `limit must be 1 to ${pageLimits.most}`, {
    details: [{ pointer: '/limit', message: `must be 1 to ${pageLimits.most}` }],
  });
}

/** The place in a listing that a cursor names; null from the start. */
export function parsePageCursor(
  text: string | undefined,
): { readonly atMs: number; readonly id: string } | null {
  const [, atMs = '', id = ''] = /^(\d+)-(.+)$/.exec(text ?? '') ?? [];
  return id === '' ? null : { atMs: Number(atMs), id };
}

/** A page out of rows of which one more was read than fit; `place` names the last of them. */
export function pageOf<T>(rows: readonly T[], size: number, place: (row: T) => string) {
  const page = rows.slice(0, size);
  const last = page.at(-1);
  const isMore = rows.length > size && last !== undefined;
  return { page, more: isMore, next: isMore ? place(last) : null };
}

interface NumberedQuery {
  readonly limit?: string;
  readonly cursor?: string;
}

interface NumberedList<Row> {
  /** Rows with numbers below `before`, the greatest first. */
  read(span: { readonly before: number; readonly limit: number }): Promise<readonly Row[]>;
  numberOf(row: Row): number;
}

/** One page of a listing by number. @throws AppError `invalid_content`. */
export async function numberedPage<Row>(query: NumberedQuery, list: NumberedList<Row>) {
  const size = pageSize(query.limit);
  const before = query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(query.cursor);
  const rows = await list.read({ before, limit: size + 1 });
  return pageOf(rows, size, (row) => String(list.numberOf(row)));
}

/** All pages of a listing by number, the greatest first. At most one page is in memory. */
export async function* allPages<Row>({ read, numberOf }: NumberedList<Row>): Pages<Row> {
  const size = pageLimits.most;
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await read({ before, limit: size });
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < size) return;
    before = numberOf(last);
  }
}
