// Statements that bring the present of a device up to date with a batch of events. Every one is conditional on the
// event's time, so that old backlog after newer events, and any replay, change nothing. Only what a clock that ran ahead
// left behind yields to an older time: it must not hold the present still until the broker's clock gets there.
import type { Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { Diagnosis, Position, Projection, Reading, StateReport } from '../core/projection.ts';
import { advanceCommand } from './commands.ts';
import { answerStatements } from './device-requests.ts';
import { markDelivered } from './messages.ts';

/** A stored time further ahead of the broker's clock than this was a fault of the device's clock, in ms. */
const aheadMostMs = 300_000;

// These run for every payload, so their texts are constants: a text made anew each time would cost more than the rest.
const texts = {
  position: `UPDATE devices SET fix_ms = $2, fix_tie = $3, latitude = $4, longitude = $5, speed = $6, heading = $7,
      altitude = $8, geozone_id = $9, address = ''
    WHERE device_no = $1 AND ((fix_ms, fix_tie) < ($2, $3) OR (fix_ms > $10 AND $2 BETWEEN 1 AND $10))`,
  fuel: `UPDATE devices SET fuel_ms = $2, fuel_tie = $3, fuel_level = $4
    WHERE device_no = $1 AND ((fuel_ms, fuel_tie) < ($2, $3) OR (fuel_ms > $5 AND $2 BETWEEN 1 AND $5))`,
  odometer: `UPDATE devices SET odometer_ms = $2, odometer_tie = $3, odometer = $4
    WHERE device_no = $1 AND ((odometer_ms, odometer_tie) < ($2, $3) OR (odometer_ms > $5 AND $2 BETWEEN 1 AND $5))`,
  passengers: `UPDATE devices SET passengers_ms = $2, passengers_tie = $3, passengers = $4
    WHERE device_no = $1
      AND ((passengers_ms, passengers_tie) < ($2, $3) OR (passengers_ms > $5 AND $2 BETWEEN 1 AND $5))`,
  diagnostic: `UPDATE devices SET diagnostic_ms = $2, diagnostic_tie = $3, diagnostic = $4
    WHERE device_no = $1
      AND ((diagnostic_ms, diagnostic_tie) < ($2, $3) OR (diagnostic_ms > $5 AND $2 BETWEEN 1 AND $5))`,
  state: `INSERT INTO device_states (device_no, name, state, changed_ms, changed_tie) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (device_no, name) DO UPDATE SET state = excluded.state, changed_ms = excluded.changed_ms,
      changed_tie = excluded.changed_tie
    WHERE (device_states.changed_ms, device_states.changed_tie) < (excluded.changed_ms, excluded.changed_tie)
      OR (device_states.changed_ms > $6 AND excluded.changed_ms BETWEEN 1 AND $6)`,
  heartbeat: 'UPDATE devices SET heartbeat_ms = $2 WHERE device_no = $1 AND heartbeat_ms < $2',
  boot: `INSERT INTO boots (device_no, boot, first_seen_ms) SELECT device_no, $2, $3 FROM devices WHERE device_no = $1
    ON CONFLICT (device_no, boot) DO NOTHING`,
  upTo: `UPDATE boots SET up_to = CASE WHEN up_to + 1 >= $3 AND up_to < $4 THEN (
      SELECT e.seq FROM events e
      WHERE e.device_no = $1 AND e.boot = $2 AND e.seq >= $4
        AND NOT EXISTS (SELECT 1 FROM events n WHERE n.device_no = $1 AND n.boot = $2 AND n.seq = e.seq + 1)
      ORDER BY e.seq LIMIT 1) ELSE up_to END
    WHERE device_no = $1 AND boot = $2 RETURNING up_to`,
  upToOld: `UPDATE boots SET up_to = CASE WHEN up_to + 1 >= $3 AND up_to < $4
      AND EXISTS (SELECT 1 FROM events o WHERE o.device_no = $1 AND o.boot = $2 AND o.seq = $4) THEN (
      SELECT e.seq FROM events e
      WHERE e.device_no = $1 AND e.boot = $2 AND e.seq >= $4
        AND NOT EXISTS (SELECT 1 FROM events n WHERE n.device_no = $1 AND n.boot = $2 AND n.seq = e.seq + 1)
      ORDER BY e.seq LIMIT 1) ELSE up_to END
    WHERE device_no = $1 AND boot = $2 RETURNING up_to`,
} as const;

/** Whose present it is, and the latest time that a right clock can have given. */
interface Target {
  readonly deviceNo: number;
  readonly latestMs: number;
}

function movePosition({ deviceNo, latestMs }: Target, position: Position): Statement {
  const { ms, tie, latitude, longitude, speed, heading, altitude, geozoneID } = position;
  return {
    sql: texts.position,
    params: [deviceNo, ms, tie, latitude, longitude, speed, heading, altitude, geozoneID, latestMs],
  };
}

function setReading(
  target: Target,
  name: 'fuel' | 'odometer' | 'passengers',
  { ms, tie, value }: Reading,
): Statement {
  return { sql: texts[name], params: [target.deviceNo, ms, tie, value, target.latestMs] };
}

function setDiagnosis({ deviceNo, latestMs }: Target, { ms, tie, attributes }: Diagnosis): Statement {
  return { sql: texts.diagnostic, params: [deviceNo, ms, tie, JSON.stringify(attributes), latestMs] };
}

function setState(target: Target, name: string, { state, ms, tie }: StateReport): Statement {
  return { sql: texts.state, params: [target.deviceNo, name, state, ms, tie, target.latestMs] };
}

/** Notes a sign of life at the broker's time `atMs`; it never goes back. */
export function setHeartbeat(deviceNo: number, atMs: number): Statement {
  return { sql: texts.heartbeat, params: [deviceNo, atMs] };
}

/** The statements of one projection, to stand in the same batch as the events. */
export function projectionStatements(deviceNo: number, projection: Projection, atMs: number): Statement[] {
  const { position, fuel, odometer, passengers, diagnosis, states, reports, answers } = projection;
  const statements: Statement[] = [setHeartbeat(deviceNo, atMs)];
  const target: Target = { deviceNo, latestMs: atMs + aheadMostMs };
  if (position !== null) statements.push(movePosition(target, position));
  if (fuel !== null) statements.push(setReading(target, 'fuel', fuel));
  if (odometer !== null) statements.push(setReading(target, 'odometer', odometer));
  if (passengers !== null) statements.push(setReading(target, 'passengers', passengers));
  if (diagnosis !== null) statements.push(setDiagnosis(target, diagnosis));
  for (const [name, report] of states) statements.push(setState(target, name, report));
  for (const { commandID, commandState, detail, ms, tie } of reports) {
    const advance = advanceCommand({ deviceNo, commandID, commandState, detail, reportedMs: ms, tie, atMs });
    if (advance !== null) statements.push(advance);
    // A vehicle confirms a message in the same words as a command; an id stands for one of them only.
    if (commandState === 'received') statements.push(markDelivered({ deviceNo, messageID: commandID, atMs }));
  }
  for (const answer of answers) statements.push(...answerStatements(deviceNo, answer, atMs));
  return statements;
}

/** Makes a boot of an existing device known; a known one is left as it is. */
export function insertBoot(deviceNo: number, boot: string, atMs: number): Statement {
  return { sql: texts.boot, params: [deviceNo, boot, atMs] };
}

/**
 * Moves `up_to` over the events `from`..`to`, which this batch holds, and over all that already follow them without a
 * gap. Exact in any order of arrival, because the events themselves are asked; normally that is one look-up.
 * Returns `up_to`.
 */
export function advanceBoot(boot: {
  readonly deviceNo: number;
  readonly boot: string;
  readonly from: number;
  readonly to: number;
  /** Inserted by `insertOldEvents`: the last one may not be there, and then nothing moves. */
  readonly isOld?: boolean;
}): Statement {
  return {
    sql: boot.isOld === true ? texts.upToOld : texts.upTo,
    params: [boot.deviceNo, boot.boot, boot.from, boot.to],
  };
}

/** Everything of this boot up to here is stored; no row when nothing is. */
export function selectUpTo(deviceNo: number, boot: string): Statement {
  return sql`SELECT up_to FROM boots WHERE device_no = ${deviceNo} AND boot = ${boot}`;
}
