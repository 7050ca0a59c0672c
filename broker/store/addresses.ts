// Street addresses of positions, as people looked them up. They are kept beside what the vehicle sent and never touch it:
// neither the place nor the time of a record changes.
import type { Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { type Scope, visible } from './scope.ts';

interface AddressTarget {
  readonly scope: Scope;
  readonly deviceID: string;
}

/** An address and when it was given, epoch ms. */
interface Given {
  readonly address: string;
  readonly atMs: number;
}

const deviceNo = ({ scope, deviceID }: AddressTarget): Statement =>
  sql`(SELECT d.device_no FROM devices d WHERE ${visible(scope)} AND d.device_id = ${deviceID})`;

/** Whose records, and which span of event time, both ends included. */
export interface AddressSpan extends AddressTarget {
  readonly fromMs: number;
  readonly toMs: number;
}

// Old records may be gone while the last position is still known: either is enough.
const isFixIn = (span: AddressSpan): Statement =>
  sql`device_no = ${deviceNo(span)} AND fix_ms > 0 AND fix_ms BETWEEN ${span.fromMs} AND ${span.toMs}`;
const inSpan = (span: AddressSpan): Statement =>
  sql`device_no = ${deviceNo(span)} AND timestamp_ms BETWEEN ${span.fromMs} AND ${span.toMs} AND latitude IS NOT NULL`;

/** Holds while there is a position in the span. */
export function isPositionIn(span: AddressSpan): Statement {
  return sql`(EXISTS (SELECT 1 FROM events WHERE ${inSpan(span)})
    OR EXISTS (SELECT 1 FROM devices WHERE ${isFixIn(span)}))`;
}

/** Sets the address of the records with a position in the span, and of the last position if it is one of them. */
export function setAddressIn(span: AddressSpan, { address, atMs }: Given): readonly Statement[] {
  return [
    sql`UPDATE devices SET address = ${address}, edited_ms = ${atMs} WHERE ${isFixIn(span)}`,
    sql`UPDATE events SET address = ${address} WHERE ${inSpan(span)}`,
  ];
}

/** Holds while the device has a last position. */
export function isPositioned(target: AddressTarget): Statement {
  return sql`EXISTS (SELECT 1 FROM devices WHERE device_no = ${deviceNo(target)} AND fix_ms > 0)`;
}

/** Sets the address of the last position, whichever it is by then, and of its records. */
export function setLastAddress(target: AddressTarget, { address, atMs }: Given): readonly Statement[] {
  const fixMs = sql`(SELECT fix_ms FROM devices WHERE device_no = ${deviceNo(target)})`;
  return [
    sql`UPDATE events SET address = ${address}
      WHERE device_no = ${deviceNo(target)} AND timestamp_ms = ${fixMs} AND latitude IS NOT NULL`,
    sql`UPDATE devices SET address = ${address}, edited_ms = ${atMs}
      WHERE device_no = ${deviceNo(target)} AND fix_ms > 0`,
  ];
}
