// The page of devices that a listing reads, as conditions on `devices d` besides the caller's scope.
import type { Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';

/** Cursor of a listing of devices. */
export interface DevicePage {
  /** Last device id already read, exclusive; '' from the start. */
  readonly after: string;
  /** 1 to 1,000. */
  readonly limit: number;
  /** Last device id to read, inclusive; without it to the end. */
  readonly upTo?: string | null;
  /** Only devices that changed after this revision of the account's fleet; without it all. */
  readonly since?: number | null;
}

/** Condition on `d`: what answers show of it changed after a revision, see `schema/fleet-revisions.ts`; null: any device. */
export function isNewSince(since: number | null): Statement {
  return since === null ? sql`1 = 1` : sql`d.revision > ${since}`;
}

/** Condition on `d` of a page. */
export function inPage({ after, upTo = null, since = null }: DevicePage): Statement {
  const end = upTo === null ? sql`` : sql` AND d.device_id <= ${upTo}`;
  return sql`d.device_id > ${after}${end} AND ${isNewSince(since)}`;
}
