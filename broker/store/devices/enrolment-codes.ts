// Statements on enrolment codes. One statement, which can change one row once, uses a code. All other effects are in its
// batch, conditional on it. The verifier must never reach an answer or a log.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { type DeviceKey } from '../../core/device-key.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { isOpen } from './credentials.ts';

/** Ended codes are kept for a month, so users can see their outcome. */
const rememberedMs = 30 * 24 * 3600_000;
/** Codes remembered of one device. */
const ofDeviceMost = 20;

export interface NewCode extends DeviceKey {
  readonly codeID: string;
  readonly verifier: string;
  /** User, or `operator` at the command line. */
  readonly createdBy: string;
  readonly atMs: number;
  readonly expiresMs: number;
}

const numberOfDevice = ({ accountID, deviceID }: DeviceKey): Statement =>
  sql`(SELECT device_no FROM devices WHERE account_id = ${accountID} AND device_id = ${deviceID})`;

const isUsable = (nowMs: number): Statement =>
  sql`used_ms IS NULL AND revoked_ms IS NULL AND expires_ms > ${nowMs}`;

/**
 * Replaces the device's open code and removes old ended ones. The last result changes 0 rows when the device is missing or
 * the code's name exists.
 */
export function insertCode(code: NewCode): readonly Statement[] {
  const { codeID, verifier, createdBy, atMs, expiresMs } = code;
  const ofDevice = sql`device_no = ${numberOfDevice(code)}`;
  return [
    sql`DELETE FROM enrolment_codes WHERE expires_ms < ${atMs - rememberedMs}`,
    sql`UPDATE enrolment_codes SET answer = NULL WHERE expires_ms <= ${atMs} AND answer IS NOT NULL`,
    sql`DELETE FROM enrolment_codes WHERE ${ofDevice} AND code_no NOT IN (
      SELECT code_no FROM enrolment_codes WHERE ${ofDevice} ORDER BY code_no DESC LIMIT ${ofDeviceMost - 1})`,
    sql`UPDATE enrolment_codes SET revoked_ms = ${atMs} WHERE ${ofDevice} AND ${isUsable(atMs)}`,
    sql`INSERT INTO enrolment_codes (code_id, device_no, verifier, created_ms, created_by, expires_ms)
      SELECT ${codeID}, device_no, ${verifier}, ${atMs}, ${createdBy}, ${expiresMs} FROM devices
      WHERE account_id = ${code.accountID} AND device_id = ${code.deviceID}
      ON CONFLICT (code_id) DO NOTHING`,
  ];
}

/** Condition: the code of this name is the one with this verifier. */
export function isCode(codeID: string, verifier: string): Statement {
  return sql`EXISTS (SELECT 1 FROM enrolment_codes WHERE code_id = ${codeID} AND verifier = ${verifier})`;
}

/** A code as a vehicle that uses it meets it. */
export interface CodeRow extends DeviceKey {
  readonly codeID: string;
  readonly verifier: string;
  readonly expiresMs: number;
  readonly revokedMs: number | null;
  readonly usedMs: number | null;
  /** Of the request that used it; null while none did. */
  readonly requestHash: string | null;
  readonly answer: string | null;
  readonly isAccountActive: boolean;
}

/** For a vehicle that has no account yet: the proof must be checked before anything of it is returned. */
export async function findCode(db: Database, codeID: string, nowS: number): Promise<CodeRow | null> {
  const [row] = await db.read(sql`
    SELECT c.*, d.account_id, d.device_id, CASE WHEN ${isOpen(nowS)} THEN 1 ELSE 0 END AS account_active
    FROM enrolment_codes c
      JOIN devices d ON d.device_no = c.device_no
      JOIN accounts a ON a.account_id = d.account_id
    WHERE c.code_id = ${codeID}`);
  if (row === undefined) return null;
  return {
    codeID,
    accountID: textOf(row, 'account_id'),
    deviceID: textOf(row, 'device_id'),
    verifier: textOf(row, 'verifier'),
    expiresMs: numberOf(row, 'expires_ms'),
    revokedMs: numberOrNull(row, 'revoked_ms'),
    usedMs: numberOrNull(row, 'used_ms'),
    requestHash: textOrNull(row, 'request_hash'),
    answer: textOrNull(row, 'answer'),
    isAccountActive: numberOf(row, 'account_active') === 1,
  };
}

export interface CodeUse {
  readonly codeID: string;
  readonly requestHash: string;
  readonly answer: string;
  /** Address that the request came from. */
  readonly source: string;
  readonly atMs: number;
}

/** Uses the code: changes 1 row for one request, and 0 rows for every other and once it is over. */
export function useCode({ codeID, requestHash, answer, source, atMs }: CodeUse): Statement {
  return sql`UPDATE enrolment_codes SET used_ms = ${atMs}, used_from = ${source}, request_hash = ${requestHash},
      answer = ${answer}
    WHERE code_id = ${codeID} AND ${isUsable(atMs)} AND EXISTS (
      SELECT 1 FROM devices d JOIN accounts a ON a.account_id = d.account_id
      WHERE d.device_no = enrolment_codes.device_no AND ${isOpen(Math.floor(atMs / 1000))})`;
}

/** Condition: it was this use. No two have the same answer, because the key that each is sealed with is random. */
export function isUsedBy({ codeID, answer }: CodeUse): Statement {
  return sql`EXISTS (SELECT 1 FROM enrolment_codes WHERE code_id = ${codeID} AND answer = ${answer})`;
}

/** Condition on `enrolment_codes`: of a device that the caller may see. */
const isVisible = (scope: Scope): Statement =>
  sql`device_no IN (SELECT d.device_no FROM devices d WHERE ${visible(scope)})`;

/** Condition: the caller sees an open code of this name. */
export function hasOpenCode(scope: Scope, codeID: string, nowMs: number): Statement {
  return sql`EXISTS (SELECT 1 FROM enrolment_codes WHERE code_id = ${codeID} AND ${isUsable(nowMs)}
    AND ${isVisible(scope)})`;
}

/** Ends an open code; changes 0 rows when the caller sees none of that name. */
export function revokeCode(scope: Scope, codeID: string, nowMs: number): Statement {
  return sql`UPDATE enrolment_codes SET revoked_ms = ${nowMs}
    WHERE code_id = ${codeID} AND ${isUsable(nowMs)} AND ${isVisible(scope)}`;
}

/** A code as people see it. */
export interface ListedCode {
  readonly codeNo: number;
  readonly codeID: string;
  readonly deviceID: string;
  readonly createdMs: number;
  readonly createdBy: string;
  readonly expiresMs: number;
  readonly revokedMs: number | null;
  readonly usedMs: number | null;
  readonly usedFrom: string;
}

const toListed = (row: Row): ListedCode => ({
  codeNo: numberOf(row, 'code_no'),
  codeID: textOf(row, 'code_id'),
  deviceID: textOf(row, 'device_id'),
  createdMs: numberOf(row, 'created_ms'),
  createdBy: textOf(row, 'created_by'),
  expiresMs: numberOf(row, 'expires_ms'),
  revokedMs: numberOrNull(row, 'revoked_ms'),
  usedMs: numberOrNull(row, 'used_ms'),
  usedFrom: textOf(row, 'used_from'),
});

const listedColumns = sql`c.code_no, c.code_id, d.device_id, c.created_ms, c.created_by, c.expires_ms, c.revoked_ms,
  c.used_ms, c.used_from`;

/** Codes of the devices that the caller sees, newest first. @param page `before` is a `codeNo`; null begins. */
export async function listCodes(
  db: Database,
  scope: Scope,
  page: { readonly before: number | null; readonly limit: number },
): Promise<readonly ListedCode[]> {
  const older = page.before === null ? sql`1 = 1` : sql`c.code_no < ${page.before}`;
  const rows = await db.read(sql`
    SELECT ${listedColumns} FROM enrolment_codes c JOIN devices d ON d.device_no = c.device_no
    WHERE ${visible(scope)} AND ${older} ORDER BY c.code_no DESC LIMIT ${page.limit}`);
  return rows.map(toListed);
}

/** One code of a device that the caller sees; null when there is none of that name. */
export async function findListedCode(db: Database, scope: Scope, codeID: string): Promise<ListedCode | null> {
  const [row] = await db.read(sql`
    SELECT ${listedColumns} FROM enrolment_codes c JOIN devices d ON d.device_no = c.device_no
    WHERE ${visible(scope)} AND c.code_id = ${codeID}`);
  return row === undefined ? null : toListed(row);
}
