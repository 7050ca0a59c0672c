// Statements on the units of releases: their jobs in the command ledger, and how each of them stands.
import { commandStates } from '../../../src/core/events/event.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import {
  findsRow,
  flagOf,
  numberOf,
  readTexts,
  textOf,
  textOrEmpty,
  textOrNull,
} from '../../store/base/row.ts';
import { deviceRef, type Infer, shape } from '../../store/base/table.ts';
import { type ReleaseRow, releases } from './release-tables.ts';

/** How a unit stands: before its job, or as its job does. */
export const unitStates = ['waiting', 'current', ...commandStates] as const;
export type UnitState = (typeof unitStates)[number];

/** What counts as a failure. */
export const failedStates = ['refused', 'expired', 'unknown'] as const satisfies readonly UnitState[];

/**
 * The job that says how a unit `u` of a release `r` stands: the newest firmware job of the device when it is for the same file, so that a further
 * order of it counts; else the unit's own.
 */
const joinedJob = sql`LEFT JOIN commands c ON c.command_id = COALESCE((
    SELECT n.command_id FROM commands n WHERE n.command_id = (
      SELECT m.command_id FROM commands m WHERE m.device_no = u.device_no AND m.feature = 'firmware'
      ORDER BY m.issued_ms DESC, m.command_id DESC LIMIT 1)
    AND u.unit_state = 'ordered'
    AND n.content = (SELECT o.content FROM commands o WHERE o.command_id = u.command_id)), u.command_id)`;
const stateOf = sql`CASE WHEN u.unit_state <> 'ordered' THEN u.unit_state ELSE COALESCE(c.command_state, 'unknown') END`;

const stateIn = (row: Row): UnitState => textOf(row, 'state') as UnitState;
const counts = shape({ stage: numberOf, state: stateIn, units: numberOf });
export type StateCount = Infer<typeof counts>;

/** How many units of a release stand how, by stage. */
export function countUnits(db: Database, releaseNo: number): Promise<readonly StateCount[]> {
  return counts.all(db)(sql`SELECT s.stage, s.state, COUNT(*) AS units FROM (
      SELECT u.stage AS stage, ${stateOf} AS state FROM release_units u ${joinedJob}
      WHERE u.release_no = ${releaseNo}) s
    GROUP BY s.stage, s.state ORDER BY s.stage, s.state`);
}

const units = shape({
  deviceID: textOf,
  deviceName: textOf,
  stage: numberOf,
  state: stateIn,
  /** As the unit wrote it. */
  detail: textOrEmpty,
  commandID: textOrNull,
  changedMs: numberOf,
  agentVersion: textOf,
  agentSinceMs: numberOf,
  isOnline: flagOf,
});
export type UnitRow = Infer<typeof units>;

export interface UnitPage {
  readonly releaseNo: number;
  readonly stage: number | null;
  /** Null: every one. */
  readonly states: readonly UnitState[] | null;
  /** Device that the page before ended with; '' from the start. */
  readonly after: string;
  readonly limit: number;
}

/** Units of a release in the order of their ids. */
export function listUnits(db: Database, page: UnitPage): Promise<readonly UnitRow[]> {
  const ofStage = page.stage === null ? sql`` : sql` AND u.stage = ${page.stage}`;
  const ofState = page.states === null ? sql`` : sql` AND ${stateOf} IN (${valueList(page.states)})`;
  return units.all(
    db,
  )(sql`SELECT d.device_id, d.display_name AS device_name, d.agent_version, d.agent_since_ms, d.is_online,
      u.stage, COALESCE(c.updated_ms, u.changed_ms) AS changed_ms, ${stateOf} AS state, c.command_id, c.detail
    FROM release_units u JOIN devices d ON d.device_no = u.device_no ${joinedJob}
    WHERE u.release_no = ${page.releaseNo} AND d.device_id > ${page.after}${ofStage}${ofState}
    ORDER BY d.device_id LIMIT ${page.limit}`);
}

/** Releases that have something to do. */
export function openReleases(db: Database): Promise<readonly ReleaseRow[]> {
  return releases.all(db)(sql`SELECT * FROM releases WHERE release_state IN ('running', 'stopping')
    ORDER BY release_no`);
}

const waiting = shape({
  ...deviceRef,
  agentVersion: textOf,
  /** User that began its stage, and the address. */
  startedBy: textOrEmpty,
  startedFrom: textOf,
});
export type WaitingUnit = Infer<typeof waiting>;

/** Units of a release that have no job yet. */
export function waitingUnits(
  db: Database,
  releaseNo: number,
  limit: number,
): Promise<readonly WaitingUnit[]> {
  return waiting.all(db)(sql`SELECT d.device_no, d.account_id, d.device_id, d.agent_version, s.started_by,
      s.started_from
    FROM release_units u JOIN devices d ON d.device_no = u.device_no
    JOIN release_stages s ON s.release_no = u.release_no AND s.stage = u.stage
    WHERE u.release_no = ${releaseNo} AND u.unit_state = 'waiting' ORDER BY u.stage, u.device_no LIMIT ${limit}`);
}

interface UnitKey {
  readonly releaseNo: number;
  readonly deviceNo: number;
}

/** Condition: the release goes on and the unit waits for its job. */
export const mayOrder = ({
  releaseNo,
  deviceNo,
}: UnitKey): Statement => sql`EXISTS (SELECT 1 FROM release_units xu
  JOIN releases xr ON xr.release_no = xu.release_no
  WHERE xu.release_no = ${releaseNo} AND xu.device_no = ${deviceNo} AND xu.unit_state = 'waiting'
    AND xr.release_state = 'running')`;

/** Records the job of a unit under a condition. */
export function recordOrder(
  key: UnitKey,
  of: { readonly commandID: string; readonly atMs: number; readonly onlyIf: Statement },
): Statement {
  return sql`UPDATE release_units SET unit_state = 'ordered', command_id = ${of.commandID}, changed_ms = ${of.atMs}
    WHERE release_no = ${key.releaseNo} AND device_no = ${key.deviceNo} AND unit_state = 'waiting' AND ${of.onlyIf}`;
}

/** Records that a unit needs no job. */
export function recordCurrent(key: UnitKey, atMs: number): Statement {
  return sql`UPDATE release_units SET unit_state = 'current', changed_ms = ${atMs}
    WHERE release_no = ${key.releaseNo} AND device_no = ${key.deviceNo} AND ${mayOrder(key)}`;
}

/** Jobs of a release that are under way and are not being withdrawn. */
export function jobsUnderWay(db: Database, releaseNo: number, limit: number): Promise<readonly string[]> {
  return readTexts(db)(sql`SELECT c.command_id FROM release_units u
    JOIN commands c ON c.command_id = u.command_id
    WHERE u.release_no = ${releaseNo} AND c.is_final = 0 AND c.cancel_by IS NULL ORDER BY u.device_no LIMIT ${limit}`);
}

/** True while a job of the release has not ended. */
export function hasUnfinished(db: Database, releaseNo: number): Promise<boolean> {
  return findsRow(db)(sql`SELECT 1 AS there FROM release_units u
    JOIN commands c ON c.command_id = u.command_id
    WHERE u.release_no = ${releaseNo} AND c.is_final = 0 LIMIT 1`);
}
