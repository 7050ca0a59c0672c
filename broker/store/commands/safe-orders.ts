// Conditions by which a restrictive order yields to a safe one. State `0` of a feature, requested at or after the restrictive
// order's arrival, wins in any order of recording.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { findsRow } from '../base/row.ts';
import { isRepeat, type NewCommand } from './commands.ts';

/** Longest handling of a request, in microseconds; a safe order beyond it was stamped by a wrong clock. */
const requestMostUs = 60_000_000;
/** A safe order may have been recorded this long before its last repeat: repeats count for 10 s. In ms. */
const repeatMostMs = 60_000;

/** A restrictive order of a device, and its position in the order of arrival. */
export interface Arrived {
  readonly deviceNo: number;
  readonly feature: string;
  readonly arrivedUs: number;
}

/** Condition on `commands` under the alias `s`: a safe order requested at or after the arrival. */
function isLater({ arrivedUs }: Pick<Arrived, 'arrivedUs'>): Statement {
  return sql`s.state = '0' AND s.asked_us >= ${arrivedUs} AND s.asked_us < ${arrivedUs + requestMostUs}`;
}

/** Condition: a safe order of the same feature was requested at or after the arrival of this one. */
export function isOvertaken(order: Arrived): Statement {
  const sinceMs = Math.floor(order.arrivedUs / 1000) - repeatMostMs;
  return sql`EXISTS (SELECT 1 FROM commands s WHERE s.device_no = ${order.deviceNo} AND s.issued_ms > ${sinceMs}
    AND s.feature = ${order.feature} AND ${isLater(order)})`;
}

/** The same as a read. */
export async function isOvertakenNow(db: Database, order: Arrived): Promise<boolean> {
  return findsRow(db)(sql`SELECT 1 AS there WHERE ${isOvertaken(order)}`);
}

/** Condition: this command is a safe order that was requested or repeated at or after the arrival. */
export function isAskedSince(commandID: string, arrivedUs: number): Statement {
  return sql`EXISTS (SELECT 1 FROM commands s WHERE s.command_id = ${commandID} AND ${isLater({ arrivedUs })})`;
}

/** Records a repeat on the open safe order that it repeats; changes 0 rows when it repeats none. */
export function recordRepeat(command: NewCommand): Statement {
  return sql`UPDATE commands SET asked_us = ${command.askedUs ?? 0}
    WHERE device_no = ${command.deviceNo} AND feature = ${command.feature} AND state = '0' AND is_final = 0
      AND ${isRepeat(command)}`;
}
