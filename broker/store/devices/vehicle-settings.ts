// Statements on the chosen settings of an account and of one device. A change can require the version that was read. It
// always marks the configurations that must be made again.
import type { SettingsChange } from '../../../src/core/settings/change.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { jsonObjectOrNull, numberOf, textOf } from '../base/row.ts';

/** What was chosen, and how often that was changed. */
export interface Choice {
  /** Checked when it was saved; each use checks it against today's limits. */
  readonly settings: SettingsChange;
  readonly revision: number;
}

const noChoice: Choice = { settings: {}, revision: 0 };

function choiceIn(row: Row | undefined, revision: string): Choice {
  if (row === undefined) return noChoice;
  return {
    settings: jsonObjectOrNull(row, 'settings') ?? {},
    revision: numberOf(row, revision),
  };
}

/** Marks that something changed which may change what the account's vehicles are sent. */
export function touchConfigs(accountID: string, atMs: number): Statement {
  return sql`
    INSERT INTO account_configs (account_id, settings, settings_revision, revision, changed_ms)
    SELECT account_id, '{}', 0, 1, ${atMs} FROM accounts WHERE account_id = ${accountID}
    ON CONFLICT (account_id) DO UPDATE SET revision = account_configs.revision + 1, changed_ms = ${atMs}`;
}

/** A change as it is written. */
export interface SettingsWrite {
  readonly settings: SettingsChange;
  /** The revision that was read; null: whatever is there. */
  readonly revision: number | null;
  readonly atMs: number;
}

/** Holds while the account's settings are as they were read. */
export function isAccountAt(accountID: string, revision: number | null): Statement {
  if (revision === null) return sql`1 = 1`;
  return sql`COALESCE((SELECT settings_revision FROM account_configs WHERE account_id = ${accountID}), 0) = ${revision}`;
}

/** @returns the statements of one batch; the last one changes 1 row, or 0 when they are not as they were read. */
export function saveAccountSettings(accountID: string, write: SettingsWrite): readonly Statement[] {
  return [
    touchConfigs(accountID, write.atMs),
    sql`UPDATE account_configs
      SET settings = ${JSON.stringify(write.settings)}, settings_revision = settings_revision + 1
      WHERE account_id = ${accountID} AND ${isAccountAt(accountID, write.revision)}`,
  ];
}

/** Holds while the device is there and its settings are as they were read. */
export function isDeviceAt(deviceNo: number, revision: number | null): Statement {
  const isThere = sql`EXISTS (SELECT 1 FROM devices WHERE device_no = ${deviceNo})`;
  if (revision === null) return isThere;
  return sql`${isThere}
    AND COALESCE((SELECT revision FROM device_settings WHERE device_no = ${deviceNo}), 0) = ${revision}`;
}

/** The same for one device, whose number came from a statement that took the caller's scope. */
export function saveDeviceSettings(deviceNo: number, write: SettingsWrite): readonly Statement[] {
  return [
    sql`INSERT INTO device_settings (device_no, settings, revision, changed_ms)
      SELECT device_no, '{}', 0, 0 FROM devices WHERE device_no = ${deviceNo}
      ON CONFLICT (device_no) DO NOTHING`,
    sql`UPDATE device_settings
      SET settings = ${JSON.stringify(write.settings)}, revision = revision + 1, changed_ms = ${write.atMs}
      WHERE device_no = ${deviceNo} AND ${isDeviceAt(deviceNo, write.revision)}`,
  ];
}

export interface AccountChoice extends Choice {
  /** Grows with settings and geozones. */
  readonly contentRevision: number;
}

/** What the account chose for all of its vehicles. */
export async function readAccountChoice(db: Database, accountID: string): Promise<AccountChoice> {
  const [row] = await db.read(sql`SELECT * FROM account_configs WHERE account_id = ${accountID}`);
  const contentRevision = row === undefined ? 0 : numberOf(row, 'revision');
  return { ...choiceIn(row, 'settings_revision'), contentRevision };
}

/** What was chosen for one device. */
export async function readDeviceChoice(db: Database, deviceNo: number): Promise<Choice> {
  const [row] = await db.read(sql`SELECT * FROM device_settings WHERE device_no = ${deviceNo}`);
  return choiceIn(row, 'revision');
}

export interface ConfigChanges {
  readonly accounts: readonly { readonly accountID: string; readonly revision: number }[];
  readonly devices: readonly { readonly deviceNo: number; readonly revision: number }[];
}

/** Rows of one look for changes; what is beyond is found by the next hello of the vehicle. */
const changesMost = 20_000;

/** Changes since a time, by the clocks of the changing processes. */
export async function changesSince(db: Database, sinceMs: number): Promise<ConfigChanges> {
  const [accounts, devices] = await Promise.all([
    db.read(sql`SELECT account_id, revision FROM account_configs
      WHERE changed_ms >= ${sinceMs} ORDER BY changed_ms DESC LIMIT ${changesMost}`),
    db.read(sql`SELECT device_no, revision FROM device_settings
      WHERE changed_ms >= ${sinceMs} ORDER BY changed_ms DESC LIMIT ${changesMost}`),
  ]);
  return {
    accounts: accounts.map((row) => ({
      accountID: textOf(row, 'account_id'),
      revision: numberOf(row, 'revision'),
    })),
    devices: devices.map((row) => ({
      deviceNo: numberOf(row, 'device_no'),
      revision: numberOf(row, 'revision'),
    })),
  };
}
