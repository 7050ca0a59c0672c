// Statements that update the current state of devices with a batch of events. Each is conditional on the event's time, so that
// old backlog after newer events, and any replay, change nothing. Only values from a clock that ran ahead are replaced by older
// ones: otherwise the state would not change until the broker's clock caught up.
import type { Statement } from '../../../src/ports.ts';
import { type RowsShape, toRows } from '../../../src/rows.ts';
import { sql } from '../../../src/sql.ts';
import {
  aheadMostMs,
  aheadOfClockMs,
  type Present,
  type Projection,
  type StateReport,
} from '../../core/events/projection.ts';
import { advanceCommand } from '../commands/commands.ts';
import { markDelivered } from '../commands/messages.ts';
import { answerStatements } from '../devices/device-requests.ts';
import { markPresent, usualSilence } from '../devices/tracker-presence.ts';

/** An update of one device, with the time of receipt of the newest payload. */
export interface DevicePresent {
  readonly accountNo: number;
  readonly deviceNo: number;
  readonly atMs: number;
  /** Last message of the device; 0 when a user recorded the events. */
  readonly lastContactMs: number;
  readonly present: Present;
}

const deviceShape: readonly RowsShape<DevicePresent>[] = [
  { name: 'device_no', type: 'BIGINT', of: (one) => one.deviceNo },
  { name: 'heard_ms', type: 'BIGINT', of: (one) => one.lastContactMs },
  // The latest time that a correct clock can give.
  { name: 'latest_ms', type: 'BIGINT', of: (one) => one.atMs + aheadOfClockMs },
  // A later time is no time: such a position stands only where there is no other.
  { name: 'usable_ms', type: 'BIGINT', of: (one) => one.atMs + aheadMostMs },
  { name: 'fix_ms', type: 'BIGINT', of: ({ present }) => present.position?.ms },
  { name: 'fix_tie', type: 'TEXT', of: ({ present }) => present.position?.tie },
  { name: 'latitude', type: 'DOUBLE PRECISION', of: ({ present }) => present.position?.latitude },
  { name: 'longitude', type: 'DOUBLE PRECISION', of: ({ present }) => present.position?.longitude },
  { name: 'speed', type: 'DOUBLE PRECISION', of: ({ present }) => present.position?.speed },
  { name: 'heading', type: 'DOUBLE PRECISION', of: ({ present }) => present.position?.heading },
  { name: 'altitude', type: 'DOUBLE PRECISION', of: ({ present }) => present.position?.altitude },
  { name: 'geozone_id', type: 'TEXT', of: ({ present }) => present.position?.geozoneID },
  { name: 'fuel_ms', type: 'BIGINT', of: ({ present }) => present.fuel?.ms },
  { name: 'fuel_tie', type: 'TEXT', of: ({ present }) => present.fuel?.tie },
  { name: 'fuel_level', type: 'DOUBLE PRECISION', of: ({ present }) => present.fuel?.value },
  { name: 'odometer_ms', type: 'BIGINT', of: ({ present }) => present.odometer?.ms },
  { name: 'odometer_tie', type: 'TEXT', of: ({ present }) => present.odometer?.tie },
  { name: 'odometer', type: 'DOUBLE PRECISION', of: ({ present }) => present.odometer?.value },
];

/** True when the row has a newer value, or a correct one after a clock that ran ahead. Unknown (NULL) without a value. */
const isNewer = (name: string): string =>
  `((devices.${name}_ms, devices.${name}_tie) < (r.${name}_ms, r.${name}_tie)
    OR (devices.${name}_ms > r.latest_ms AND r.${name}_ms BETWEEN 1 AND r.latest_ms))`;
/** For positions, which alone are kept of a clock that is wrong. */
const isNewerFix = `(${isNewer('fix')}
    AND (r.fix_ms <= r.usable_ms OR devices.fix_ms = 0 OR devices.fix_ms > r.usable_ms))`;
const whenNewer = (name: string, columns: readonly string[]): string =>
  columns
    .map(
      (column) =>
        `${column} = CASE WHEN ${name === 'fix' ? isNewerFix : isNewer(name)} THEN r.${column} ELSE devices.${column} END`,
    )
    .join(', ');

const accountShape: readonly RowsShape<number>[] = [
  { name: 'account_no', type: 'BIGINT', of: (accountNo) => accountNo },
];

// One step for all devices of an account in a commit; see `schema/fleet-revisions.ts`.
const revisionText = `UPDATE accounts SET fleet_revision = fleet_revision + 1
  WHERE account_no IN (SELECT r.account_no FROM r)`;

// Updates every device, so that a deleted one is noticed.
const presentText = `UPDATE devices SET
    revision = (SELECT a.fleet_revision FROM accounts a WHERE a.account_no = devices.account_no),
    usual_silence_ms = ${usualSilence},
    heartbeat_ms = CASE WHEN devices.heartbeat_ms < r.heard_ms THEN r.heard_ms ELSE devices.heartbeat_ms END,
    ${whenNewer('fix', ['fix_ms', 'fix_tie', 'latitude', 'longitude', 'speed', 'heading', 'altitude', 'geozone_id'])},
    address = CASE WHEN ${isNewerFix} THEN '' ELSE devices.address END,
    ${whenNewer('fuel', ['fuel_ms', 'fuel_tie', 'fuel_level'])},
    ${whenNewer('odometer', ['odometer_ms', 'odometer_tie', 'odometer'])}
  FROM r WHERE devices.device_no = r.device_no`;

interface StateRow {
  readonly deviceNo: number;
  readonly report: StateReport;
}

const stateShape: readonly RowsShape<StateRow>[] = [
  { name: 'device_no', type: 'BIGINT', of: (row) => row.deviceNo },
  { name: 'name', type: 'TEXT', of: ({ report }) => report.name },
  { name: 'state', type: 'TEXT', of: ({ report }) => report.state },
  { name: 'changed_ms', type: 'BIGINT', of: ({ report }) => report.ms },
  { name: 'changed_tie', type: 'TEXT', of: ({ report }) => report.tie },
];

const statesText = `INSERT INTO device_states (device_no, name, state, changed_ms, changed_tie)
  SELECT r.device_no, r.name, r.state, r.changed_ms, r.changed_tie FROM r WHERE true
  ON CONFLICT (device_no, name) DO UPDATE SET state = excluded.state, changed_ms = excluded.changed_ms,
    changed_tie = excluded.changed_tie
  WHERE (device_states.changed_ms, device_states.changed_tie) < (excluded.changed_ms, excluded.changed_tie)
    OR (device_states.changed_ms > $1 AND excluded.changed_ms BETWEEN 1 AND $1)`;

// Few events carry these two.
const passengersText = `UPDATE devices SET passengers_ms = $2, passengers_tie = $3, passengers = $4
  WHERE device_no = $1
    AND ((passengers_ms, passengers_tie) < ($2, $3) OR (passengers_ms > $5 AND $2 BETWEEN 1 AND $5))`;
const diagnosticText = `UPDATE devices SET diagnostic_ms = $2, diagnostic_tie = $3, diagnostic = $4
  WHERE device_no = $1
    AND ((diagnostic_ms, diagnostic_tie) < ($2, $3) OR (diagnostic_ms > $5 AND $2 BETWEEN 1 AND $5))`;

function rareStatements({ deviceNo, atMs, present }: DevicePresent): readonly Statement[] {
  const { passengers, diagnosis } = present;
  const latestMs = atMs + aheadOfClockMs;
  const statements: Statement[] = [];
  if (passengers !== null) {
    const { ms, tie, value } = passengers;
    statements.push({ sql: passengersText, params: [deviceNo, ms, tie, value, latestMs] });
  }
  if (diagnosis !== null) {
    const { ms, tie, attributes } = diagnosis;
    const text = JSON.stringify(attributes);
    statements.push({ sql: diagnosticText, params: [deviceNo, ms, tie, text, latestMs] });
  }
  return statements;
}

/**
 * Updates devices from their events, each device once; in the same batch as the events. Fails as a whole, with `CONFLICT`, when
 * one of the devices was deleted.
 */
export function presentStatements(devices: readonly DevicePresent[]): readonly Statement[] {
  const accountNos = [...new Set(devices.map(({ accountNo }) => accountNo))];
  const statements: Statement[] = [
    { sql: revisionText, params: [], rows: toRows(accountShape, accountNos) },
    {
      sql: presentText,
      params: [],
      rows: toRows(deviceShape, devices),
      mustChange: devices.length,
    },
    markPresent(devices),
  ];
  const states: StateRow[] = [];
  for (const { deviceNo, present } of devices) {
    for (const report of present.states) states.push({ deviceNo, report });
  }
  if (states.length > 0) {
    const latestMs = Math.max(...devices.map(({ atMs }) => atMs)) + aheadOfClockMs;
    statements.push({ sql: statesText, params: [latestMs], rows: toRows(stateShape, states) });
  }
  for (const device of devices) statements.push(...rareStatements(device));
  return statements;
}

/** Records a message of the device at the broker's time `atMs`; it never decreases. */
export function setHeartbeat(deviceNo: number, atMs: number): Statement {
  return {
    sql: 'UPDATE devices SET heartbeat_ms = $2 WHERE device_no = $1 AND heartbeat_ms < $2',
    params: [deviceNo, atMs],
  };
}

/** What a payload reports on commands, messages and requests. */
export function reportStatements(
  deviceNo: number,
  { reports, answers }: Pick<Projection, 'reports' | 'answers'>,
  atMs: number,
): readonly Statement[] {
  const statements: Statement[] = [];
  for (const { ms: reportedMs, ...report } of reports) {
    const { commandID, commandState } = report;
    const advance = advanceCommand({ deviceNo, ...report, reportedMs, atMs });
    if (advance !== null) statements.push(advance);
    // A vehicle confirms a message the same way as a command; an id belongs to one of them only.
    if (commandState === 'received') statements.push(markDelivered({ deviceNo, messageID: commandID, atMs }));
  }
  for (const answer of answers) statements.push(...answerStatements(deviceNo, answer, atMs));
  return statements;
}

/** Records a boot of an existing device; a recorded one stays unchanged. */
export function insertBoot(deviceNo: number, boot: string, atMs: number): Statement {
  return {
    sql: `INSERT INTO boots (device_no, boot, first_seen_ms) SELECT device_no, $2, $3 FROM devices WHERE device_no = $1
      ON CONFLICT (device_no, boot) DO NOTHING`,
    params: [deviceNo, boot, atMs],
  };
}

/** Everything of this boot up to here is stored; no row when nothing is. */
export function selectUpTo(deviceNo: number, boot: string): Statement {
  return sql`SELECT up_to FROM boots WHERE device_no = ${deviceNo} AND boot = ${boot}`;
}
