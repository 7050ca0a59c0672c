// Statements on the configuration of each vehicle: wanted, reported as held, and failed. They take the device number from
// authentication or from a statement with the caller's scope.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { followed } from '../base/live-topic.ts';
import type { Infer } from '../base/table.ts';
import { deviceConfigs } from '../schema/configs.ts';

export type DeviceConfigRow = Infer<typeof deviceConfigs>;

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

/** The state of one vehicle's configuration; all zero before the first. */
export async function readDeviceConfig(db: Database, deviceNo: number): Promise<DeviceConfigRow> {
  const config = await deviceConfigs.first(db)(
    sql`SELECT * FROM device_configs WHERE device_no = ${deviceNo}`,
  );
  return config ?? empty;
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

/** Records the wanted configuration. The version never decreases. */
export function recordCompiled(compiled: Compiled): readonly Statement[] {
  const { deviceNo, version, sha256, accountRevision, deviceRevision } = compiled;
  return [
    insertRow(deviceNo),
    sql`UPDATE device_configs SET version = ${version}, sha256 = ${sha256}, account_revision = ${accountRevision},
        device_revision = ${deviceRevision}, fault = ''
      WHERE device_no = ${deviceNo} AND version <= ${version}`,
  ];
}

/** Records why none can be made for the vehicle. */
export function recordFault(deviceNo: number, fault: string): readonly Statement[] {
  return [insertRow(deviceNo), sql`UPDATE device_configs SET fault = ${fault} WHERE device_no = ${deviceNo}`];
}

export function recordSent(deviceNo: number, atMs: number): Statement {
  return sql`UPDATE device_configs SET sent_ms = ${atMs} WHERE device_no = ${deviceNo}`;
}

/** The same where several processes send: changes 0 rows when another one has sent since `row` was read. */
export function claimSending(deviceNo: number, row: DeviceConfigRow, atMs: number): Statement {
  return sql`UPDATE device_configs SET sent_ms = ${atMs}
    WHERE device_no = ${deviceNo} AND sent_ms = ${row.sentMs} AND version = ${row.version}`;
}

/** A configuration that a vehicle reports as held. */
export interface HeldConfig {
  readonly version: number;
  /** '' when not reported. */
  readonly sha256: string;
}

/** Records the held configuration, and since when it is reported. */
export function recordHeld(deviceNo: number, held: HeldConfig, atMs: number): readonly Statement[] {
  const { version, sha256 } = held;
  return [
    insertRow(deviceNo),
    followed(sql`UPDATE device_configs SET held_version = ${version}, held_sha256 = ${sha256}, held_ms = ${atMs}
      WHERE device_no = ${deviceNo} AND (held_version <> ${version} OR held_sha256 <> ${sha256})`),
  ];
}

export interface FailedConfig {
  readonly version: number;
  readonly reason: string;
  readonly retry: boolean;
  readonly agentVersion: string;
  readonly atMs: number;
}

/** Records that the vehicle refused a version. */
export function recordFailed(deviceNo: number, failed: FailedConfig): readonly Statement[] {
  const { version, reason, retry, agentVersion, atMs } = failed;
  return [
    insertRow(deviceNo),
    followed(sql`UPDATE device_configs SET failed_version = ${version}, failed_ms = ${atMs}, failed_reason = ${reason},
      failed_retry = ${retry ? 1 : 0}, failed_agent = ${agentVersion} WHERE device_no = ${deviceNo}`),
  ];
}
