// Statements on devices that say no hello, as trackers of other makers: they are present while their messages come in time, see
// `src/core/presence.ts`. Their presence has the cause `message` or `silent`; no end of a connection changes it.
import { silenceLimits } from '../../../src/core/presence.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { type RowsShape, toRows } from '../../../src/rows.ts';
import { sql } from '../../../src/sql.ts';
import { followed } from '../base/live-topic.ts';
import { numberOf } from '../base/row.ts';
import { shape } from '../base/table.ts';

/** The longest usual silence after this message, see `src/core/presence.ts`: one long silence counts in part, as it may be an outage. */
export const usualSilence = ((): string => {
  const { leastMs, missing, longestMs, forgottenMs } = silenceLimits;
  const usual = 'devices.usual_silence_ms';
  const gap = '(r.heard_ms - devices.heartbeat_ms)';
  const most = `2 * (CASE WHEN ${missing} * ${usual} > ${leastMs} THEN ${missing} * ${usual} ELSE ${leastMs} END)`;
  return `CASE WHEN devices.heartbeat_ms = 0 OR r.heard_ms <= devices.heartbeat_ms THEN ${usual}
    WHEN ${gap} <= ${usual} THEN ${usual} - (${usual} - ${gap}) * ${gap} / ${forgottenMs}
    WHEN ${gap} > ${longestMs} AND ${most} > ${longestMs} THEN ${longestMs}
    WHEN ${gap} > ${most} THEN ${most} ELSE ${gap} END`;
})();

/** A message that comes later than this after a connection ended, and without a hello, is of a unit that says none. */
const helloMs = 60_000;

interface Contact {
  readonly deviceNo: number;
  /** Broker's time of the last message; 0: none. */
  readonly lastContactMs: number;
}

const contactShape: readonly RowsShape<Contact>[] = [
  { name: 'device_no', type: 'BIGINT', of: (one) => one.deviceNo },
  { name: 'heard_ms', type: 'BIGINT', of: (one) => one.lastContactMs },
];

const presentText = `UPDATE devices SET is_online = 1, presence_ms = r.heard_ms, presence_cause = 'message', linked_ms = r.heard_ms
  FROM r WHERE devices.device_no = r.device_no AND devices.is_online = 0 AND r.heard_ms > 0
    AND (devices.hello_ms = 0 OR r.heard_ms > devices.presence_ms + ${helloMs})`;

/** Marks devices online that sent a message and say no hello. */
export const markPresent = (devices: readonly Contact[]): Statement =>
  followed({ sql: presentText, params: [], rows: toRows(contactShape, devices) });

const quiet = shape({
  deviceNo: numberOf,
  heartbeatMs: numberOf,
  usualMs: (row) => numberOf(row, 'usual_silence_ms'),
});

/** Devices that sent without a hello and have been silent for at least `silenceLimits.leastMs`. */
export function quietDevices(
  db: Database,
  nowMs: number,
): Promise<readonly { readonly deviceNo: number; readonly heartbeatMs: number; readonly usualMs: number }[]> {
  return quiet.all(db)(sql`SELECT device_no, heartbeat_ms, usual_silence_ms FROM devices
    WHERE is_online = 1 AND presence_cause = 'message' AND heartbeat_ms <= ${nowMs - silenceLimits.leastMs}`);
}

/** Marks a device offline that is silent for too long, unless it has sent meanwhile. */
export function setSilent(deviceNo: number, heartbeatMs: number, atMs: number): Statement {
  return followed(sql`UPDATE devices SET linked_ms = ${atMs}, presence_ms = ${atMs}, presence_cause = 'silent', is_online = 0
    WHERE device_no = ${deviceNo} AND is_online = 1 AND presence_cause = 'message' AND heartbeat_ms = ${heartbeatMs}`);
}
