// Status codes that vehicles send all the time: positions, heartbeats, samples. A small partial index finds all other
// codes; index and queries use one condition text.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Statement } from '../../../src/ports.ts';

const { LOCATION, LAST_LOCATION, HEARTBEAT, MOTION_EN_ROUTE, MOTION_DORMANT, FUEL_LEVEL } = statusCodes;

/** 61717 Stopped and 61724 Moving are sent by third-party trackers. */
const routineCodes: readonly number[] = [
  ...[LOCATION, LAST_LOCATION, HEARTBEAT, MOTION_EN_ROUTE, MOTION_DORMANT, FUEL_LEVEL].map(
    ({ code }) => code,
  ),
  61717,
  61724,
];

/**
 * Condition of the index `events_by_code`; a query that uses the index repeats it literally. No list: SQLite would make a
 * table of it for every statement that inserts, and a position is out at the first comparison.
 */
export const notRoutine = routineCodes.map((code) => `status_code <> ${code}`).join(' AND ');

/** The same for a statement. */
export const isNotRoutine: Statement = { sql: notRoutine, params: [] };

export function isRoutine(statusCode: number): boolean {
  return routineCodes.includes(statusCode);
}
