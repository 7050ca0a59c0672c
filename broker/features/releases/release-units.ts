// Statements on the units of releases: their jobs in the command ledger, and how each of them stands.
import { commandStates } from '../../../src/core/events/event.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import type { DeviceRef } from '../../core/device-key.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from '../../store/base/row.ts';
import { type ReleaseRow, toRelease } from './release-statements.ts';

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

export interface StateCount {
  readonly stage: number;
  readonly state: UnitState;
  readonly units: number;
}

/** How many units of a release stand how, by stage. */
export async function countUnits(db: Database, releaseNo: number): Promise<readonly StateCount[]> {
  const rows = await db.read(sql`SELECT s.stage, s.state, COUNT(*) AS units FROM (
      SELECT u.stage AS stage, ${stateOf} AS state FROM release_units u ${joinedJob}
      WHERE u.release_no = ${releaseNo}) s
    GROUP BY s.stage, s.state ORDER BY s.stage, s.state`);
  return rows.map((row) => ({
    stage: numberOf(row, 'stage'),
    state: textOf(row, 'state') as UnitState,
    units: numberOf(row, 'units'),
  }));
}

export interface UnitRow {
  readonly deviceID: string;
  readonly deviceName: string;
  readonly stage: number;
  readonly state: UnitState;
  /** As the unit wrote it. */
  readonly detail: string;
  readonly commandID: string | null;
  readonly changedMs: number;
  readonly agentVersion: string;
  readonly agentSinceMs: number;
  readonly isOnline: boolean;
}

export interface UnitPage {
  readonly releaseNo: number;
  readonly stage: number | null;
  /** Null: every one. */
  readonly states: readonly UnitState[] | null;
  /** Device that the page before ended with; '' from the start. */
  readonly after: string;
  readonly limit: number;
}

const toUnit = (row: Row): UnitRow => ({
  deviceID: textOf(row, 'device_id'),
  deviceName: textOf(row, 'display_name'),
  stage: numberOf(row, 'stage'),
  state: textOf(row, 'state') as UnitState,
  detail: textOrNull(row, 'detail') ?? '',
  commandID: textOrNull(row, 'job_id'),
  changedMs: numberOrNull(row, 'updated_ms') ?? numberOf(row, 'changed_ms'),
  agentVersion: textOf(row, 'agent_version'),
  agentSinceMs: numberOf(row, 'agent_since_ms'),
  isOnline: numberOf(row, 'is_online') === 1,
});

/** Units of a release in the order of their ids. */
export async function listUnits(db: Database, page: UnitPage): Promise<readonly UnitRow[]> {
  const ofStage = page.stage === null ? sql`` : sql` AND u.stage = ${page.stage}`;
  const ofState = page.states === null ? sql`` : sql` AND ${stateOf} IN (${valueList(page.states)})`;
  const rows =
    await db.read(sql`SELECT d.device_id, d.display_name, d.agent_version, d.agent_since_ms, d.is_online,
      u.stage, u.changed_ms, ${stateOf} AS state, c.command_id AS job_id, c.detail, c.updated_ms
    FROM release_units u JOIN devices d ON d.device_no = u.device_no ${joinedJob}
    WHERE u.release_no = ${page.releaseNo} AND d.device_id > ${page.after}${ofStage}${ofState}
    ORDER BY d.device_id LIMIT ${page.limit}`);
  return rows.map(toUnit);
}

/** Releases that have something to do. */
export async function openReleases(db: Database): Promise<readonly ReleaseRow[]> {
  const rows = await db.read(sql`SELECT * FROM releases WHERE release_state IN ('running', 'stopping')
    ORDER BY release_no`);
  return rows.map(toRelease);
}

export interface WaitingUnit {
  readonly device: DeviceRef;
  readonly agentVersion: string;
  /** Who began its stage, and from which address. */
  readonly startedBy: string;
  readonly source: string;
}

/** Units of a release that have no job yet. */
export async function waitingUnits(
  db: Database,
  releaseNo: number,
  limit: number,
): Promise<readonly WaitingUnit[]> {
  const rows = await db.read(sql`SELECT d.device_no, d.account_id, d.device_id, d.agent_version, s.started_by,
      s.started_from
    FROM release_units u JOIN devices d ON d.device_no = u.device_no
    JOIN release_stages s ON s.release_no = u.release_no AND s.stage = u.stage
    WHERE u.release_no = ${releaseNo} AND u.unit_state = 'waiting' ORDER BY u.stage, u.device_no LIMIT ${limit}`);
  return rows.map((row) => ({
    device: {
      deviceNo: numberOf(row, 'device_no'),
      accountID: textOf(row, 'account_id'),
      deviceID: textOf(row, 'device_id'),
    },
    agentVersion: textOf(row, 'agent_version'),
    startedBy: textOrNull(row, 'started_by') ?? '',
    source: textOf(row, 'started_from'),
  }));
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
export async function jobsUnderWay(
  db: Database,
  releaseNo: number,
  limit: number,
): Promise<readonly string[]> {
  const rows = await db.read(sql`SELECT c.command_id FROM release_units u
    JOIN commands c ON c.command_id = u.command_id
    WHERE u.release_no = ${releaseNo} AND c.is_final = 0 AND c.cancel_by IS NULL ORDER BY u.device_no LIMIT ${limit}`);
  return rows.map((row) => textOf(row, 'command_id'));
}

/** True while a job of the release has not ended. */
export async function hasUnfinished(db: Database, releaseNo: number): Promise<boolean> {
  const rows = await db.read(sql`SELECT 1 AS there FROM release_units u
    JOIN commands c ON c.command_id = u.command_id
    WHERE u.release_no = ${releaseNo} AND c.is_final = 0 LIMIT 1`);
  return rows.length > 0;
}
