// Which part of the devices a listing reads, as conditions on `devices d`. They stand beside the caller's scope, never in
// place of it.
import type { Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';

/** Where a listing of devices goes on. */
export interface DevicePage {
  /** Last device id already read, exclusive; '' from the start. */
  readonly after: string;
  /** 1 to 1,000. */
  readonly limit: number;
  /** Last device id to read, inclusive; without it to the end. */
  readonly upTo?: string | null;
  /** Only devices with something new since then, by the broker's clock in ms; without it all. */
  readonly sinceMs?: number | null;
}

/** A command moves on for at most a day and a little; older ones need not be looked at. */
const commandLifeMs = 7 * 86_400_000;

/** Condition on `d`: it said something, somebody changed it, or a command of it moved on since then. */
export function isNewSince(sinceMs: number | null): Statement {
  if (sinceMs === null) return sql`1 = 1`;
  return sql`(d.heartbeat_ms >= ${sinceMs} OR d.edited_ms >= ${sinceMs} OR d.created_s >= ${Math.floor(sinceMs / 1000)}
    OR EXISTS (SELECT 1 FROM commands n WHERE n.device_no = d.device_no AND n.issued_ms >= ${sinceMs - commandLifeMs}
      AND n.updated_ms >= ${sinceMs}))`;
}

/** Condition on `d` of a page. */
export function inPage({ after, upTo = null, sinceMs = null }: DevicePage): Statement {
  const end = upTo === null ? sql`` : sql` AND d.device_id <= ${upTo}`;
  return sql`d.device_id > ${after}${end} AND ${isNewSince(sinceMs)}`;
}
