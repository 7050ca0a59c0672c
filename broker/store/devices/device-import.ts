// Statements that create and change many devices in one batch. Each writes many rows, so that a batch of thousands delays other
// writers only briefly. They take the account; the caller has checked that the user sees all of it.
import type { Database, SqlValue, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { columnOf } from '../base/table.ts';
import { devices } from '../schema/devices.ts';
import { type DeviceFields, defaultStates } from './devices.ts';

/** Rows of one statement. */
const rowsAtOnce = 50;

export interface ImportRow {
  readonly deviceID: string;
  readonly fields: DeviceFields;
}

/** `($2, $3), ($4, $5)`: parameters for so many rows, after the account's `$1`. */
function holes(rowCount: number, width: number): string {
  const row = (at: number): string =>
    Array.from({ length: width }, (_, column) => `$${2 + at * width + column}`).join(', ');
  return Array.from({ length: rowCount }, (_, at) => `(${row(at)})`).join(', ');
}

/** One statement for every `rowsAtOnce` rows; the texts differ only in the last one, so they stay prepared. */
function inChunks(
  accountID: string,
  rows: readonly (readonly SqlValue[])[],
  textOf: (values: string) => string,
): readonly Statement[] {
  const width = rows[0]?.length ?? 0;
  const fullText = textOf(holes(rowsAtOnce, width));
  const statements: Statement[] = [];
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const chunk = rows.slice(start, start + rowsAtOnce);
    const text = chunk.length === rowsAtOnce ? fullText : textOf(holes(chunk.length, width));
    statements.push({ sql: text, params: [accountID, ...chunk.flat()] });
  }
  return statements;
}

/** New devices with default texts and states; an existing one stays unchanged. */
export function insertBare(
  accountID: string,
  rows: readonly ImportRow[],
  createdS: number,
): readonly Statement[] {
  const bare = rows.map(({ deviceID }) => [deviceID, `Device ${deviceID}`, createdS]);
  const devices = inChunks(
    accountID,
    bare,
    (values) => `INSERT INTO devices (account_no, account_id, device_id, description, display_name, created_s)
      SELECT a.account_no, a.account_id, v.column1, v.column2, v.column1, CAST(v.column3 AS BIGINT)
      FROM accounts a, (VALUES ${values}) AS v WHERE a.account_id = $1
      ON CONFLICT (account_id, device_id) DO NOTHING`,
  );
  const names = defaultStates.map((name) => `('${name}')`).join(', ');
  const states = inChunks(
    accountID,
    rows.map(({ deviceID }) => [deviceID]),
    (values) => `INSERT INTO device_states (device_no, name, state, changed_ms)
      SELECT d.device_no, n.column1, '0', 0 FROM devices d, (VALUES ${names}) AS n
      WHERE d.account_id = $1 AND d.device_id IN (VALUES ${values})
      ON CONFLICT (device_no, name) DO NOTHING`,
  );
  return [...devices, ...states];
}

/** Clears the hardware ids, so that devices may exchange them within one batch. */
export function clearUniqueIDs(accountID: string, deviceIDs: readonly string[]): readonly Statement[] {
  return inChunks(
    accountID,
    deviceIDs.map((deviceID) => [deviceID]),
    (values) => `UPDATE devices SET unique_id = '' WHERE account_id = $1 AND device_id IN (VALUES ${values})`,
  );
}

/** A field from its column of `v`; in a list of values a number may come as text. */
function assignment(name: keyof DeviceFields, at: number): string {
  const column = columnOf(name);
  const value = devices.columns[name].type.startsWith('TEXT')
    ? `v.column${at}`
    : `CAST(v.column${at} AS INTEGER)`;
  return `${column} = COALESCE(${value}, devices.${column})`;
}

/** Changes the given fields of each device and leaves the others. */
export function updateMany(accountID: string, rows: readonly ImportRow[]): readonly Statement[] {
  const names = devices
    .marked('edited')
    .filter((name) => rows.some(({ fields }) => fields[name] !== undefined));
  if (names.length === 0) return [];
  const assignments = names.map((name, at) => assignment(name, at + 2));
  return inChunks(
    accountID,
    rows.map(({ deviceID, fields }) => [deviceID, ...names.map((name) => fields[name] ?? null)]),
    (values) => `UPDATE devices SET ${assignments.join(', ')}
      FROM (VALUES ${values}) AS v WHERE devices.account_id = $1 AND devices.device_id = v.column1`,
  );
}

/** The first secret of a device, as its hash. */
export interface FirstSecret {
  readonly deviceID: string;
  readonly secretHash: string;
}

/** Gives devices their first secrets. A device that has had one keeps it, also one that was issued meanwhile. */
export function insertSecrets(
  accountID: string,
  secrets: readonly FirstSecret[],
  issuedS: number,
): readonly Statement[] {
  return inChunks(
    accountID,
    secrets.map(({ deviceID, secretHash }) => [deviceID, secretHash, issuedS]),
    (values) => `UPDATE devices SET secret_hash = v.column2, secret_issued_s = CAST(v.column3 AS BIGINT)
      FROM (VALUES ${values}) AS v
      WHERE devices.account_id = $1 AND devices.device_id = v.column1 AND devices.secret_hash IS NULL`,
  );
}

/** Condition: the device has this secret. */
export const hasSecret = (accountID: string, { deviceID, secretHash }: FirstSecret): Statement =>
  sql`EXISTS (SELECT 1 FROM devices WHERE account_id = ${accountID} AND device_id = ${deviceID}
    AND secret_hash = ${secretHash})`;

/** Of these, the devices that have the secret of the same entry. */
export async function devicesWith(
  db: Database,
  accountID: string,
  secrets: readonly FirstSecret[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { deviceID, secretHash } of secrets) {
    const rows = await db.read(
      sql`SELECT 1 AS there WHERE ${hasSecret(accountID, { deviceID, secretHash })}`,
    );
    if (rows.length > 0) found.add(deviceID);
  }
  return found;
}
