// Statements on the configuration of each vehicle: what it is to hold, what it said that it holds, what it could not take.
// They take the device number that authentication, or a statement with the caller's scope, gave.
import type { Database, Row, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { numberOf, textOf } from './row.ts';

export interface DeviceConfigRow {
  /** What the vehicle is to hold; 0: nothing was ever chosen. */
  readonly version: number;
  readonly sha256: string;
  /** Revisions of the account and of the device that it was made of. */
  readonly accountRevision: number;
  readonly deviceRevision: number;
  readonly sentMs: number;
  readonly heldVersion: number;
  readonly heldSha256: string;
  readonly heldMs: number;
  readonly failedVersion: number;
  readonly failedMs: number;
  readonly failedReason: string;
  readonly failedRetry: boolean;
  /** Version of the agent that could not take it. */
  readonly failedAgent: string;
  /** Why nothing could be made; '' when all is well. */
  readonly fault: string;
}

const empty: DeviceConfigRow = {
  version: 0,
  sha256: '',
  accountRevision: 0,
  deviceRevision: 0,
  sentMs: 0,
  heldVersion: 0,
  heldSha256: '',
  heldMs: 0,
  failedVersion: 0,
  failedMs: 0,
  failedReason: '',
  failedRetry: false,
  failedAgent: '',
  fault: '',
};

function toConfig(row: Row): DeviceConfigRow {
  return {
    version: numberOf(row, 'version'),
    sha256: textOf(row, 'sha256'),
    accountRevision: numberOf(row, 'account_revision'),
    deviceRevision: numberOf(row, 'device_revision'),
    sentMs: numberOf(row, 'sent_ms'),
    heldVersion: numberOf(row, 'held_version'),
    heldSha256: textOf(row, 'held_sha256'),
    heldMs: numberOf(row, 'held_ms'),
    failedVersion: numberOf(row, 'failed_version'),
    failedMs: numberOf(row, 'failed_ms'),
    failedReason: textOf(row, 'failed_reason'),
    failedRetry: numberOf(row, 'failed_retry') === 1,
    failedAgent: textOf(row, 'failed_agent'),
    fault: textOf(row, 'fault'),
  };
}

/** The state of one vehicle's configuration; all zero while nothing is known. */
export async function readDeviceConfig(db: Database, deviceNo: number): Promise<DeviceConfigRow> {
  const [row] = await db.read(sql`SELECT * FROM device_configs WHERE device_no = ${deviceNo}`);
  return row === undefined ? empty : toConfig(row);
}

const insertRow = (deviceNo: number): Statement => sql`
  INSERT INTO device_configs (device_no) SELECT device_no FROM devices WHERE device_no = ${deviceNo}
  ON CONFLICT (device_no) DO NOTHING`;

export interface Compiled {
  readonly deviceNo: number;
  readonly version: number;
  readonly sha256: string;
  readonly accountRevision: number;
  readonly deviceRevision: number;
}

/** Notes what the vehicle is to hold from now on. The version never falls. */
export function noteCompiled(compiled: Compiled): readonly Statement[] {
  const { deviceNo, version, sha256, accountRevision, deviceRevision } = compiled;
  return [
    insertRow(deviceNo),
    sql`UPDATE device_configs SET version = ${version}, sha256 = ${sha256}, account_revision = ${accountRevision},
        device_revision = ${deviceRevision}, fault = ''
      WHERE device_no = ${deviceNo} AND version <= ${version}`,
  ];
}

/** Notes why nothing can be made for the vehicle. */
export function noteFault(deviceNo: number, fault: string): readonly Statement[] {
  return [insertRow(deviceNo), sql`UPDATE device_configs SET fault = ${fault} WHERE device_no = ${deviceNo}`];
}

export function noteSent(deviceNo: number, atMs: number): Statement {
  return sql`UPDATE device_configs SET sent_ms = ${atMs} WHERE device_no = ${deviceNo}`;
}

/** The same where several processes send: changes 0 rows when another one has sent since `row` was read. */
export function claimSending(deviceNo: number, row: DeviceConfigRow, atMs: number): Statement {
  return sql`UPDATE device_configs SET sent_ms = ${atMs}
    WHERE device_no = ${deviceNo} AND sent_ms = ${row.sentMs} AND version = ${row.version}`;
}

/** Which configuration a vehicle said that it has. */
export interface HeldConfig {
  readonly version: number;
  /** '' where it did not say. */
  readonly sha256: string;
}

/** Notes what the vehicle holds, and since when it has said so. */
export function noteHeld(deviceNo: number, held: HeldConfig, atMs: number): readonly Statement[] {
  const { version, sha256 } = held;
  return [
    insertRow(deviceNo),
    sql`UPDATE device_configs SET held_version = ${version}, held_sha256 = ${sha256}, held_ms = ${atMs}
      WHERE device_no = ${deviceNo} AND (held_version <> ${version} OR held_sha256 <> ${sha256})`,
  ];
}

export interface FailedConfig {
  readonly version: number;
  readonly reason: string;
  readonly retry: boolean;
  readonly agentVersion: string;
  readonly atMs: number;
}

/** Notes that the vehicle could not take a version. */
export function noteFailed(deviceNo: number, failed: FailedConfig): readonly Statement[] {
  const { version, reason, retry, agentVersion, atMs } = failed;
  return [
    insertRow(deviceNo),
    sql`UPDATE device_configs SET failed_version = ${version}, failed_ms = ${atMs}, failed_reason = ${reason},
      failed_retry = ${retry ? 1 : 0}, failed_agent = ${agentVersion} WHERE device_no = ${deviceNo}`,
  ];
}
