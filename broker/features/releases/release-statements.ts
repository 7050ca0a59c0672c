// Statements on releases and their stages. Every change carries its condition, so that of two administrators at once the second one changes
// nothing.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { numberOrNull } from '../../store/base/row.ts';
import { type Infer, shape } from '../../store/base/table.ts';
import { type ReleaseRow, releaseStages, releases } from './release-tables.ts';

export const releaseLimits = {
  /** Releases of an account that have not ended. */
  openMost: 5,
  /** Releases of an account that are kept; the oldest that have ended are forgotten. */
  keptMost: 100,
  stagesMost: 20,
} as const;

export type ReleaseKey = Pick<ReleaseRow, 'accountID' | 'releaseID'>;

export interface NewRelease
  extends Omit<ReleaseRow, 'releaseNo' | 'releaseState' | 'stoppedBy' | 'stopReason' | 'endedMs'> {
  /** Group ids, in the order of the stages. */
  readonly groups: readonly string[];
}

const stages = shape({
  ...releaseStages.columns,
  /** Devices that the group has now; null: there is no such group any more. */
  groupDevices: numberOrNull,
});
export type StageRow = Infer<typeof stages>;

const isOpen = sql`release_state NOT IN ('stopped', 'done')`;

/** One release of an account, or null. */
export function findRelease(db: Database, key: ReleaseKey): Promise<ReleaseRow | null> {
  return releases.first(db)(
    sql`SELECT * FROM releases WHERE account_id = ${key.accountID} AND release_id = ${key.releaseID}`,
  );
}

/** Releases of an account, the newest first. */
export function listReleases(db: Database, accountID: string): Promise<readonly ReleaseRow[]> {
  return releases.all(db)(sql`SELECT * FROM releases WHERE account_id = ${accountID}
    ORDER BY release_no DESC LIMIT ${releaseLimits.keptMost}`);
}

/** Stages of the releases of an account, in their order. */
export function listStages(db: Database, accountID: string): Promise<readonly StageRow[]> {
  return stages.all(db)(sql`SELECT s.*, CASE WHEN g.group_no IS NULL THEN NULL ELSE (
      SELECT COUNT(*) FROM group_devices m WHERE m.group_no = g.group_no) END AS group_devices
    FROM release_stages s JOIN releases r ON r.release_no = s.release_no
    LEFT JOIN device_groups g ON g.account_id = r.account_id AND g.group_id = s.group_id
    WHERE r.account_id = ${accountID} ORDER BY s.release_no, s.stage`);
}

/** Condition: the release is recorded. For later statements of its batch. */
export const isStaged = (releaseID: string): Statement =>
  sql`EXISTS (SELECT 1 FROM releases WHERE release_id = ${releaseID})`;

/** Records a release with its stages, unless the account has too many that have not ended, and forgets the oldest. One batch. */
export function insertRelease(release: NewRelease): readonly Statement[] {
  const { accountID, releaseID } = release;
  return [
    sql`INSERT INTO releases (release_id, account_id, version, url, sha256, note, ttl_s, stop_after, release_state,
        created_by, created_ms)
      SELECT ${releaseID}, account_id, ${release.version}, ${release.url}, ${release.sha256}, ${release.note},
        ${release.ttlS}, ${release.stopAfter}, 'ready', ${release.createdBy}, ${release.createdMs}
      FROM accounts WHERE account_id = ${accountID}
        AND (SELECT COUNT(*) FROM releases WHERE account_id = ${accountID} AND ${isOpen}) < ${releaseLimits.openMost}`,
    ...release.groups.map(
      (groupID, at) => sql`INSERT INTO release_stages (release_no, stage, group_id)
        SELECT release_no, ${at + 1}, ${groupID} FROM releases WHERE release_id = ${releaseID}`,
    ),
    sql`DELETE FROM releases WHERE account_id = ${accountID} AND NOT (${isOpen}) AND release_no <= COALESCE((
      SELECT release_no FROM releases WHERE account_id = ${accountID}
      ORDER BY release_no DESC LIMIT 1 OFFSET ${releaseLimits.keptMost}), 0)`,
  ];
}

export interface StageStart extends ReleaseKey {
  readonly stage: number;
  readonly by: string;
  readonly source: string;
  readonly atMs: number;
}

/** Condition: this stage is the next one, the release may go on, and its group exists. */
export const mayStart = ({ accountID, releaseID, stage }: StageStart): Statement => sql`EXISTS (
  SELECT 1 FROM releases r JOIN release_stages s ON s.release_no = r.release_no
  WHERE r.account_id = ${accountID} AND r.release_id = ${releaseID} AND r.release_state IN ('ready', 'running')
    AND s.stage = ${stage} AND s.started_ms = 0
    AND NOT EXISTS (SELECT 1 FROM release_stages b WHERE b.release_no = r.release_no AND b.stage < ${stage}
      AND b.started_ms = 0)
    AND EXISTS (SELECT 1 FROM device_groups g WHERE g.account_id = r.account_id AND g.group_id = s.group_id))`;

/** Begins a stage with the devices that its group has now and that are in no earlier one; the last result changes 1 row, or 0 unless `mayStart`. */
export function startStage(start: StageStart): readonly Statement[] {
  const { accountID, releaseID, stage, by, source, atMs } = start;
  const onlyIf = mayStart(start);
  return [
    sql`INSERT INTO release_units (release_no, device_no, stage, unit_state, changed_ms)
      SELECT r.release_no, m.device_no, ${stage}, 'waiting', CAST(${atMs} AS BIGINT)
      FROM releases r JOIN release_stages s ON s.release_no = r.release_no AND s.stage = ${stage}
      JOIN device_groups g ON g.account_id = r.account_id AND g.group_id = s.group_id
      JOIN group_devices m ON m.group_no = g.group_no
      WHERE r.release_id = ${releaseID} AND r.account_id = ${accountID} AND ${onlyIf}
        AND NOT EXISTS (SELECT 1 FROM release_units u
          WHERE u.release_no = r.release_no AND u.device_no = m.device_no)`,
    sql`UPDATE releases SET release_state = 'running'
      WHERE account_id = ${accountID} AND release_id = ${releaseID} AND ${onlyIf}`,
    sql`UPDATE release_stages SET started_by = ${by}, started_from = ${source}, started_ms = ${atMs}
      WHERE stage = ${stage}
        AND release_no = (SELECT release_no FROM releases WHERE release_id = ${releaseID}) AND ${onlyIf}`,
  ];
}

/** Condition: the release can be stopped. */
export const mayStop = ({ accountID, releaseID }: ReleaseKey): Statement => sql`EXISTS (SELECT 1 FROM releases
  WHERE account_id = ${accountID} AND release_id = ${releaseID} AND release_state IN ('ready', 'running'))`;

/** Stops a release: no further job is made, and those under way are withdrawn. Changes 0 rows unless `mayStop`. */
export function stopRelease(
  key: ReleaseKey,
  of: { readonly by: string; readonly reason: string; readonly atMs: number },
): Statement {
  return sql`UPDATE releases SET release_state = 'stopping', stopped_by = ${of.by}, stop_reason = ${of.reason},
      ended_ms = ${of.atMs}
    WHERE account_id = ${key.accountID} AND release_id = ${key.releaseID} AND ${mayStop(key)}`;
}

/** Records that nothing of a release is left to do. */
export function endRelease(
  { releaseNo, releaseState }: Pick<ReleaseRow, 'releaseNo' | 'releaseState'>,
  atMs: number,
): Statement {
  return releaseState === 'stopping'
    ? sql`UPDATE releases SET release_state = 'stopped' WHERE release_no = ${releaseNo}
        AND release_state = 'stopping'`
    : sql`UPDATE releases SET release_state = 'done', ended_ms = ${atMs} WHERE release_no = ${releaseNo}
        AND release_state = 'running'
        AND NOT EXISTS (SELECT 1 FROM release_stages s WHERE s.release_no = ${releaseNo} AND s.started_ms = 0)
        AND NOT EXISTS (SELECT 1 FROM release_units u WHERE u.release_no = ${releaseNo}
          AND u.unit_state = 'waiting')`;
}
