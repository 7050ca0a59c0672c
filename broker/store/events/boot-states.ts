// Statements on the stored numbers of each boot: `boots.up_to` and, beyond it, `stored_ranges`. Optimistic lock: a change names
// the revision that it is based on, and the second of two writers fails.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { type RowsShape, toRows } from '../../../src/rows.ts';
import { sql } from '../../../src/sql.ts';
import type { TimeSpan } from '../../core/events/event-spans.ts';
import type { Range, RangeChanges } from '../../core/events/stored-numbers.ts';
import { numberOf, numberOrNull } from '../base/row.ts';

export interface BootKey {
  readonly deviceNo: number;
  readonly boot: string;
}

export interface BootRow {
  readonly accountNo: number;
  /** 0: nothing was stored yet. */
  readonly upTo: number;
  readonly revision: number;
  /** Rows of the boot in `stored_ranges`. */
  readonly rangeCount: number;
  /** Earliest and latest time of its events; null: not known. */
  readonly times: TimeSpan | null;
}

/** Null when there is no such device. */
export async function readBoot(db: Database, { deviceNo, boot }: BootKey): Promise<BootRow | null> {
  const [row] = await db.read({
    sql: `SELECT d.account_no, b.up_to, b.revision, b.range_count, b.first_ms, b.last_ms
      FROM devices d LEFT JOIN boots b ON b.device_no = d.device_no AND b.boot = $2 WHERE d.device_no = $1`,
    params: [deviceNo, boot],
  });
  if (row === undefined) return null;
  const fromMs = numberOrNull(row, 'first_ms');
  const toMs = numberOrNull(row, 'last_ms');
  return {
    accountNo: numberOf(row, 'account_no'),
    upTo: numberOrNull(row, 'up_to') ?? 0,
    revision: numberOrNull(row, 'revision') ?? 0,
    rangeCount: numberOrNull(row, 'range_count') ?? 0,
    times: fromMs === null || toMs === null ? null : { fromMs, toMs },
  };
}

const toRange = (row: Row): Range => [numberOf(row, 'first_seq'), numberOf(row, 'last_seq')];

/** The ranges with the highest numbers, ascending. */
export async function lastRanges(db: Database, key: BootKey, limit: number): Promise<readonly Range[]> {
  const rows = await db.read(sql`SELECT first_seq, last_seq FROM stored_ranges
    WHERE device_no = ${key.deviceNo} AND boot = ${key.boot} ORDER BY first_seq DESC LIMIT ${limit}`);
  return rows.map(toRange).toReversed();
}

/** The ranges that overlap `first` to `last` or touch it: at most one more than it has numbers. */
export async function rangesNear(
  db: Database,
  key: BootKey,
  [first, last]: Range,
): Promise<readonly Range[]> {
  const { deviceNo, boot } = key;
  // The one that begins before it and those that begin in it; an index look-up each.
  const rows = await db.read(sql`SELECT first_seq, last_seq FROM stored_ranges
    WHERE device_no = ${deviceNo} AND boot = ${boot} AND first_seq <= ${last + 1} AND first_seq >= COALESCE((
      SELECT MAX(s.first_seq) FROM stored_ranges s
      WHERE s.device_no = ${deviceNo} AND s.boot = ${boot} AND s.first_seq < ${first}), ${first})
    ORDER BY first_seq`);
  return rows.map(toRange);
}

export interface BootChange extends BootKey {
  readonly atMs: number;
  readonly upTo: number;
  /** What it goes out from, 0: nothing of the boot was stored; and what it becomes, see `revisionAfter`. */
  readonly fromRevision: number;
  readonly revision: number;
  /** Rows of the boot in `stored_ranges`. */
  readonly rangeCount: number;
  readonly times: TimeSpan | null;
}

/** Steps of revisions differ from each other up to this. */
const stepMost = 65_536;

/**
 * The revision of a boot after a change. Steps depend on the time: after a failover to a server that was behind, its history
 * and the lost one must not reach the same number.
 * @param atMs when what is stored came in.
 */
export const revisionAfter = (revision: number, atMs: number): number => revision + 1 + (atMs % stepMost);

const shape: readonly RowsShape<BootChange>[] = [
  { name: 'device_no', type: 'BIGINT', of: (change) => change.deviceNo },
  { name: 'boot', type: 'TEXT', of: (change) => change.boot },
  { name: 'at_ms', type: 'BIGINT', of: (change) => change.atMs },
  { name: 'up_to', type: 'BIGINT', of: (change) => change.upTo },
  { name: 'from_revision', type: 'BIGINT', of: (change) => change.fromRevision },
  { name: 'revision', type: 'BIGINT', of: (change) => change.revision },
  { name: 'range_count', type: 'BIGINT', of: (change) => change.rangeCount },
  { name: 'first_ms', type: 'BIGINT', of: ({ times }) => times?.fromMs },
  { name: 'last_ms', type: 'BIGINT', of: ({ times }) => times?.toMs },
];

/** A missing row equals revision 0 only. A deleted device changes nothing. */
const beginText = `INSERT INTO boots (device_no, boot, first_seen_ms, up_to, revision, range_count, first_ms, last_ms)
  SELECT r.device_no, r.boot, r.at_ms, r.up_to, r.revision, r.range_count, r.first_ms, r.last_ms
  FROM r JOIN devices d ON d.device_no = r.device_no WHERE true
  ON CONFLICT (device_no, boot) DO UPDATE SET up_to = excluded.up_to, revision = excluded.revision,
    range_count = excluded.range_count, first_ms = excluded.first_ms, last_ms = excluded.last_ms
  WHERE boots.revision = 0`;

const changeText = `UPDATE boots SET up_to = r.up_to, revision = r.revision, range_count = r.range_count,
    first_ms = r.first_ms, last_ms = r.last_ms FROM r
  WHERE boots.device_no = r.device_no AND boots.boot = r.boot AND boots.revision = r.from_revision`;

const changeOf = (sql: string, changes: readonly BootChange[]): readonly Statement[] =>
  changes.length === 0 ? [] : [{ sql, params: [], rows: toRows(shape, changes), mustChange: changes.length }];

/** Changes each of these boots, or fails as a whole. */
export function changeBoots(changes: readonly BootChange[]): readonly Statement[] {
  return [
    ...changeOf(
      beginText,
      changes.filter(({ fromRevision }) => fromRevision === 0),
    ),
    ...changeOf(
      changeText,
      changes.filter(({ fromRevision }) => fromRevision > 0),
    ),
  ];
}

/** A boot without new events, and the revision that it was read at. */
export interface BootProof extends BootKey {
  readonly revision: number;
}

const proofShape: readonly RowsShape<BootProof>[] = [
  { name: 'device_no', type: 'BIGINT', of: (proof) => proof.deviceNo },
  { name: 'boot', type: 'TEXT', of: (proof) => proof.boot },
  { name: 'revision', type: 'BIGINT', of: (proof) => proof.revision },
];

const proofText = `UPDATE boots SET revision = r.revision FROM r
  WHERE boots.device_no = r.device_no AND boots.boot = r.boot AND boots.revision = r.revision`;

/**
 * Changes nothing and fails unless each of these boots is at its revision: after a failover to a server that was behind, stored
 * rows may be lost.
 */
export function proveBoots(proofs: readonly BootProof[]): Statement {
  return { sql: proofText, params: [], rows: toRows(proofShape, proofs), mustChange: proofs.length };
}

/** Brings the ranges of a boot up to date; together with `changeBoots`, in the same batch. */
export function changeRanges({ deviceNo, boot }: BootKey, { gone, put }: RangeChanges): readonly Statement[] {
  return [
    ...gone.map(
      (first) =>
        sql`DELETE FROM stored_ranges WHERE device_no = ${deviceNo} AND boot = ${boot} AND first_seq = ${first}`,
    ),
    ...put.map(
      ([first, last]) => sql`INSERT INTO stored_ranges (device_no, boot, first_seq, last_seq)
        VALUES (${deviceNo}, ${boot}, ${first}, ${last})
        ON CONFLICT (device_no, boot, first_seq) DO UPDATE SET last_seq = excluded.last_seq`,
    ),
  ];
}
