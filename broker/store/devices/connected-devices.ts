// Connected devices by their hellos, of all processes: their work continues after a process has ended.
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { numberOf, textOf } from '../base/row.ts';
import { deviceRef, type Infer, shape } from '../base/table.ts';
import type { HeldConfig } from './device-configs.ts';

const connected = shape({
  device: shape(deviceRef).toRecord,
  boot: textOf,
  agentVersion: textOf,
  helloMs: numberOf,
  held: (row): HeldConfig => ({ version: numberOf(row, 'held_version'), sha256: textOf(row, 'held_sha256') }),
});
/** A device on its current connection. */
export type ConnectedDevice = Infer<typeof connected>;

const selectConnected = sql`SELECT d.device_no, d.account_id, d.device_id, d.boot, d.agent_version, d.hello_ms,
    COALESCE(c.held_version, 0) AS held_version, COALESCE(c.held_sha256, '') AS held_sha256
  FROM devices d LEFT JOIN device_configs c ON c.device_no = d.device_no`;

/** Null: it is not connected. */
export function findConnected(db: Database, deviceNo: number): Promise<ConnectedDevice | null> {
  return connected.first(db)(
    sql`${selectConnected} WHERE d.device_no = ${deviceNo} AND d.is_online = 1 AND d.boot IS NOT NULL`,
  );
}

export interface OverdueConfigQuery {
  /** Device numbers above this one. */
  readonly afterNo: number;
  /** Changes before this are due: another process may have failed to handle them. */
  readonly changedBeforeMs: number;
  /** Configurations sent before this and not confirmed are sent again. */
  readonly sentBeforeMs: number;
  readonly limit: number;
}

/** Connected devices whose configuration is overdue, by number. */
export function overdueConfigDevices(
  db: Database,
  query: OverdueConfigQuery,
): Promise<readonly ConnectedDevice[]> {
  const { afterNo, changedBeforeMs, sentBeforeMs, limit } = query;
  return connected.all(db)(sql`${selectConnected}
      LEFT JOIN account_configs a ON a.account_id = d.account_id
      LEFT JOIN device_settings s ON s.device_no = d.device_no
    WHERE d.is_online = 1 AND d.boot IS NOT NULL AND d.device_no > ${afterNo} AND d.hello_ms < ${changedBeforeMs}
      AND COALESCE(c.fault, '') = ''
      AND ((a.changed_ms < ${changedBeforeMs} AND a.revision <> COALESCE(c.account_revision, 0))
        OR (s.changed_ms < ${changedBeforeMs} AND s.revision <> COALESCE(c.device_revision, 0))
        OR (c.version > 0 AND c.held_version <> c.version AND c.failed_version <> c.version
          AND c.sent_ms < ${sentBeforeMs}))
    ORDER BY d.device_no LIMIT ${limit}`);
}
