// Reads about the health of units and of the fleet: what each unit last said of itself, which fell silent, and counts.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { aheadOfClockMs, clockAheadState } from '../../core/events/projection.ts';
import { isNotRoutine } from '../base/routine-codes.ts';
import {
  flagOf,
  jsonObjectOrNull,
  numberOf,
  readNumber,
  textListOf,
  textOf,
  textOrNull,
} from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type Infer, shape } from '../base/table.ts';
import { isUnaskedCrossing } from '../base/unasked-crossings.ts';
import { readSlice, runsWithin } from '../slices/slices.ts';

const diagnostics = shape({
  deviceID: textOf,
  isOnline: flagOf,
  /** Broker's time of the last sign of life; 0 before the first. */
  heartbeatMs: numberOf,
  /** Broker's time of the last hello; 0 before the first. */
  helloMs: numberOf,
  boot: textOrNull,
  agentVersion: textOf,
  features: textListOf,
  sensors: textListOf,
  timeQuality: textOf,
  /** Event time of the last position; 0 while there is none. */
  fixMs: numberOf,
  /** Attributes of its newest Diagnostic event, and when that was; null and 0 before the first. */
  diagnostic: jsonObjectOrNull,
  diagnosticMs: numberOf,
  /** By how much its clock is ahead, s; null: not that is known. */
  clockAheadS: (row) => (textOrNull(row, 'clock_ahead') === null ? null : Number(textOf(row, 'clock_ahead'))),
});
/** What is known of the health of a unit. */
export type DiagnosticRow = Infer<typeof diagnostics>;

// A position of a right time since then shows that the clock was set.
const selectDiagnostic = sql`SELECT d.device_id, d.is_online, d.heartbeat_ms, d.hello_ms, d.boot, d.agent_version,
  d.features, d.sensors, d.time_quality, d.fix_ms, d.diagnostic, d.diagnostic_ms,
  (SELECT s.state FROM device_states s WHERE s.device_no = d.device_no AND s.name = ${clockAheadState}
    AND (s.changed_ms >= d.fix_ms OR d.fix_ms > d.heartbeat_ms + ${aheadOfClockMs})) AS clock_ahead
  FROM devices d`;

/** Units that the caller may see, by device id, after `after`. */
export function listDiagnostics(
  db: Database,
  scope: Scope,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly DiagnosticRow[]> {
  return diagnostics.all(db)(sql`${selectDiagnostic} WHERE ${visible(scope)} AND d.device_id > ${page.after}
    ORDER BY d.device_id LIMIT ${page.limit}`);
}

/** One unit that the caller may see, or null. */
export function findDiagnostic(db: Database, scope: Scope, deviceID: string): Promise<DiagnosticRow | null> {
  return diagnostics.first(db)(
    sql`${selectDiagnostic} WHERE ${visible(scope)} AND d.device_id = ${deviceID}`,
  );
}

/** Cursor of a listing of silent units: the last one read. */
export interface SilentKey {
  readonly sinceMs: number;
  readonly deviceID: string;
}

// A unit that never said anything is silent since it was created.
const silentSince = 'CASE WHEN d.heartbeat_ms > 0 THEN d.heartbeat_ms ELSE d.created_s * 1000 END';
const since: Statement = { sql: silentSince, params: [] };

/** Units without a sign of life since before `beforeMs`, longest silent first. */
export async function silentDevices(
  db: Database,
  scope: Scope,
  page: { readonly beforeMs: number; readonly after: SilentKey | null; readonly limit: number },
): Promise<readonly SilentKey[]> {
  const { beforeMs, after, limit } = page;
  const later =
    after === null ? sql`` : sql`AND (${since}, d.device_id) > (${after.sinceMs}, ${after.deviceID})`;
  const rows = await db.read(sql`SELECT ${since} AS since_ms, d.device_id FROM devices d
    WHERE ${visible(scope)} AND ${since} < ${beforeMs} ${later}
    ORDER BY since_ms, d.device_id LIMIT ${limit}`);
  return rows.map((row) => ({ sinceMs: numberOf(row, 'since_ms'), deviceID: textOf(row, 'device_id') }));
}

export interface FleetCounts {
  readonly devices: number;
  readonly online: number;
  readonly alarms: number;
  readonly pendingCommands: number;
}

async function countAlarms(
  db: Database,
  scope: Scope,
  alarms: { readonly codes: Statement; readonly fromMs: number },
): Promise<number> {
  let count = 0;
  for (const run of await runsWithin(db, { fromMs: alarms.fromMs, toMs: Number.MAX_SAFE_INTEGER })) {
    const [row] = await readSlice(
      db,
      run.sliceNo,
      sql`SELECT COUNT(*) AS there FROM ${run.table} e JOIN devices d ON d.device_no = e.device_no
        WHERE e.account_no = (SELECT account_no FROM accounts WHERE account_id = ${scope.accountID})
          AND e.status_code IN (${alarms.codes}) AND ${isNotRoutine}
          AND e.timestamp_ms >= ${run.fromMs} AND e.timestamp_ms <= ${run.toMs} AND ${visible(scope)}
          AND NOT ${isUnaskedCrossing}`,
    );
    count += row === undefined ? 0 : numberOf(row, 'there');
  }
  return count;
}

/** Counts over the devices that the caller may see, each by an index. */
export async function countFleet(
  db: Database,
  scope: Scope,
  alarms: { readonly codes: Statement; readonly fromMs: number },
): Promise<FleetCounts> {
  const count = async (statement: Statement): Promise<number> => {
    return (await readNumber(db)(statement)) ?? 0;
  };
  const [devices, online, alarmCount, pendingCommands] = await Promise.all([
    count(sql`SELECT COUNT(*) AS there FROM devices d WHERE ${visible(scope)}`),
    count(sql`SELECT COUNT(*) AS there FROM devices d WHERE ${visible(scope)} AND d.is_online = 1`),
    countAlarms(db, scope, alarms),
    count(sql`SELECT COUNT(*) AS there FROM commands c JOIN devices d ON d.device_no = c.device_no
      WHERE c.is_final = 0 AND ${visible(scope)}`),
  ]);
  return { devices, online, alarms: alarmCount, pendingCommands };
}
