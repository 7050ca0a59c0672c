// Street addresses that people looked up for positions. They never change what the vehicle sent, neither place nor time.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { numberOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type Run, runsWithin, tableOf } from '../slices/slices.ts';

interface AddressTarget {
  readonly scope: Scope;
  readonly deviceID: string;
}

const deviceNo = ({ scope, deviceID }: AddressTarget): Statement =>
  sql`(SELECT d.device_no FROM devices d WHERE ${visible(scope)} AND d.device_id = ${deviceID})`;

/** Whose records, and which span of event time, both ends included. */
export interface AddressSpan extends AddressTarget {
  readonly fromMs: number;
  readonly toMs: number;
}

const tablesOf = (runs: readonly Run[]): readonly Statement[] =>
  [...new Set(runs.map(({ sliceNo }) => sliceNo))].map(tableOf);

// Old records may be gone while the last position is still known: either is enough.
const isFixIn = (span: AddressSpan): Statement =>
  sql`device_no = ${deviceNo(span)} AND fix_ms > 0 AND fix_ms BETWEEN ${span.fromMs} AND ${span.toMs}`;
const inSpan = (span: AddressSpan): Statement =>
  sql`device_no = ${deviceNo(span)} AND timestamp_ms BETWEEN ${span.fromMs} AND ${span.toMs} AND latitude IS NOT NULL`;

/** Holds while there is a position in the span. */
export async function isPositionIn(db: Database, span: AddressSpan): Promise<Statement> {
  let isThere = sql`EXISTS (SELECT 1 FROM devices WHERE ${isFixIn(span)})`;
  for (const { table } of await runsWithin(db, span))
    isThere = sql`${isThere} OR EXISTS (SELECT 1 FROM ${table} WHERE ${inSpan(span)})`;
  return sql`(${isThere})`;
}

/** Sets the address of the records with a position in the span, and of the last position if it is one of them. */
export async function setAddressIn(
  db: Database,
  span: AddressSpan,
  address: string,
): Promise<readonly Statement[]> {
  const tables = tablesOf(await runsWithin(db, span));
  return [
    sql`UPDATE devices SET address = ${address} WHERE ${isFixIn(span)}`,
    ...tables.map((table) => sql`UPDATE ${table} SET address = ${address} WHERE ${inSpan(span)}`),
  ];
}

/** Holds while the device has a last position. */
export function isPositioned(target: AddressTarget): Statement {
  return sql`EXISTS (SELECT 1 FROM devices WHERE device_no = ${deviceNo(target)} AND fix_ms > 0)`;
}

/** Sets the address of the last position, whichever it is by then, and of its records. */
export async function setLastAddress(
  db: Database,
  target: AddressTarget,
  address: string,
): Promise<readonly Statement[]> {
  const [device] = await db.read(sql`SELECT fix_ms FROM devices WHERE device_no = ${deviceNo(target)}`);
  const fromMs = device === undefined ? Number.MAX_SAFE_INTEGER : numberOf(device, 'fix_ms');
  const fixMs = sql`(SELECT fix_ms FROM devices WHERE device_no = ${deviceNo(target)})`;
  // The position may move on until this is written: it is looked for in what is newer, too.
  const tables = tablesOf(await runsWithin(db, { fromMs, toMs: Number.MAX_SAFE_INTEGER }));
  return [
    ...tables.map(
      (table) => sql`UPDATE ${table} SET address = ${address}
        WHERE device_no = ${deviceNo(target)} AND timestamp_ms = ${fixMs} AND latitude IS NOT NULL`,
    ),
    sql`UPDATE devices SET address = ${address}
      WHERE device_no = ${deviceNo(target)} AND fix_ms > 0`,
  ];
}
