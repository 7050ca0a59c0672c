// Pages of changes for live streams, in the order of time, of one scope or of all accounts. A change may come twice; none is left
// out that was committed before the read.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { ChangeKind, LiveChange } from '../../core/live/live-kinds.ts';
import { visible } from '../base/scope.ts';

export interface ChangeSpan {
  /** Null: every account. */
  readonly scope: Scope | null;
  /** Broker's time, UTC ms; inclusive. */
  readonly sinceMs: number;
}

export type ChangePages<Kind extends ChangeKind = ChangeKind> = AsyncGenerator<
  readonly LiveChange<Kind>[],
  void,
  undefined
>;

/** Rows of one page. */
const pageSize = 500;

/** Condition on `devices d`: of the scope; every device for null. */
export const seenIn = (scope: Scope | null): Statement => (scope === null ? sql`1 = 1` : visible(scope));

/** A place in the order of time, and of keys within one ms. */
export interface ChangePlace<Key extends string | number> {
  readonly atMs: number;
  readonly key: Key;
}

/**
 * Reads page by page until one is not full.
 * @param start a key before all others.
 */
export async function* changePages<Kind extends ChangeKind, Key extends string | number>(
  db: Database,
  { sinceMs, start }: { readonly sinceMs: number; readonly start: NoInfer<Key> },
  of: {
    /** Rows after the place, in order. */
    statement(after: ChangePlace<Key>, limit: number): Statement;
    placeOf(row: Row): ChangePlace<Key>;
    toChange(row: Row): LiveChange<Kind>;
  },
): ChangePages<Kind> {
  let after: ChangePlace<Key> = { atMs: sinceMs, key: start };
  for (;;) {
    const rows = await db.read(of.statement(after, pageSize));
    if (rows.length > 0) yield rows.map(of.toChange);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
    after = of.placeOf(last);
  }
}
