// Reads the number of passengers of a device.
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { numberOf, numberOrNull } from '../base/row.ts';
import { visible } from '../base/scope.ts';

export interface Passengers {
  /** Null while no count was reported. */
  readonly count: number | null;
  /** Event time of the count; 0 while there is none or its time is unknown. */
  readonly countedMs: number;
  /** Null when unknown. */
  readonly most: number | null;
}

/** Null when the caller sees no such device. */
export async function findPassengers(
  db: Database,
  scope: Scope,
  deviceID: string,
): Promise<Passengers | null> {
  const [row] = await db.read(sql`SELECT d.passengers, d.passengers_ms, d.max_passengers FROM devices d
    WHERE ${visible(scope)} AND d.device_id = ${deviceID}`);
  if (row === undefined) return null;
  return {
    count: numberOrNull(row, 'passengers'),
    countedMs: numberOf(row, 'passengers_ms'),
    most: numberOrNull(row, 'max_passengers'),
  };
}
