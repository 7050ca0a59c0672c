// Statements on requests to units (locate, logs, ...). A request ends once; only answers of the requested device are accepted, and a
// replay changes nothing. Kept for days and in small number: the events keep the facts.
import {
  isRehearsal,
  type RehearsalKind,
  type RequestKind,
  requestLimits,
} from '../../../src/core/wire/device-request.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { Answer } from '../../core/events/answers.ts';
import { flagOf, numberOf, textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { deviceRef, type Infer, shape } from '../base/table.ts';

export const deviceRequestLimits = {
  /** Requests kept per device. */
  kept: 20,
  /** ... and for how long, in seconds. */
  keptMs: 30 * 86_400_000,
} as const;

type RequestState = 'requested' | 'sent' | 'answering' | 'answered' | 'refused' | 'expired';

const requests = shape({
  ...deviceRef,
  requestNo: numberOf,
  requestID: textOf,
  kind: (row) => textOf(row, 'kind') as RequestKind,
  issuer: textOf,
  issuedMs: numberOf,
  expiresMs: numberOf,
  requestState: (row) => textOf(row, 'request_state') as RequestState,
  isOpen: flagOf,
  /** Why it was refused; empty otherwise. */
  detail: textOf,
  /** Parts of the answer; 0 while unknown. */
  parts: numberOf,
  /** Broker's time of the newest part; 0 before the first. */
  answeredMs: numberOf,
});
export type RequestRow = Infer<typeof requests>;

const laneOf = (kind: RequestKind): 'position' | RehearsalKind | 'report' =>
  kind === 'position' || isRehearsal(kind) ? kind : 'report';

const selectRequest = sql`SELECT r.*, d.account_id, d.device_id FROM device_requests r
  JOIN devices d ON d.device_no = r.device_no`;

/** Records a request; changes 0 rows when the device was deleted or one is open in its lane. */
export function insertRequest(
  request: Pick<RequestRow, 'requestID' | 'deviceNo' | 'kind' | 'issuer' | 'issuedMs' | 'expiresMs'>,
): Statement {
  const { requestID, deviceNo, kind, issuer, issuedMs, expiresMs } = request;
  const lane = laneOf(kind);
  return sql`INSERT INTO device_requests (request_id, device_no, kind, lane, issuer, issued_ms, expires_ms, request_state)
    SELECT ${requestID}, device_no, ${kind}, ${lane}, ${issuer}, ${issuedMs}, ${expiresMs}, 'requested'
    FROM devices WHERE device_no = ${deviceNo} AND NOT EXISTS (SELECT 1 FROM device_requests o
      WHERE o.device_no = ${deviceNo} AND o.lane = ${lane} AND o.is_open = 1)`;
}

/** Condition: the request is recorded. */
export function isAskedFor(requestID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM device_requests WHERE request_id = ${requestID})`;
}

/** Deletes all but the newest requests of a device. */
export function trimRequests(deviceNo: number): Statement {
  return sql`DELETE FROM device_requests WHERE device_no = ${deviceNo} AND is_open = 0
    AND request_no <= (SELECT o.request_no FROM device_requests o WHERE o.device_no = ${deviceNo}
      ORDER BY o.request_no DESC LIMIT 1 OFFSET ${deviceRequestLimits.kept})`;
}

/** Expires requests; returns the ids. */
export function expireRequests(atMs: number): Statement {
  return sql`UPDATE device_requests SET request_state = 'expired', is_open = 0
    WHERE is_open = 1 AND expires_ms <= ${atMs} RETURNING request_id, device_no`;
}

/** Deletes old requests. */
export function forgetRequests(atMs: number): Statement {
  return sql`DELETE FROM device_requests
    WHERE is_open = 0 AND issued_ms < ${atMs - deviceRequestLimits.keptMs}`;
}

/** One request for a device that the caller may see, or null. */
export function findRequest(db: Database, scope: Scope, requestID: string): Promise<RequestRow | null> {
  return requests.first(db)(sql`${selectRequest} WHERE ${visible(scope)} AND r.request_id = ${requestID}`);
}

/** Requests to one device, newest first. */
export function listRequests(db: Database, deviceNo: number): Promise<readonly RequestRow[]> {
  return requests.all(db)(sql`${selectRequest} WHERE r.device_no = ${deviceNo}
    ORDER BY r.request_no DESC LIMIT ${deviceRequestLimits.kept}`);
}

/** The open request that blocks one of that kind, or null. */
export function openRequest(
  db: Database,
  of: { readonly deviceNo: number; readonly kind: RequestKind },
): Promise<RequestRow | null> {
  return requests.first(db)(sql`${selectRequest}
    WHERE r.device_no = ${of.deviceNo} AND r.lane = ${laneOf(of.kind)} AND r.is_open = 1`);
}

/** Requests that the device has not begun to answer, oldest first. */
export function unansweredOf(db: Database, deviceNo: number, nowMs: number): Promise<readonly RequestRow[]> {
  return requests.all(db)(sql`${selectRequest} WHERE r.device_no = ${deviceNo} AND r.is_open = 1
    AND r.request_state IN ('requested', 'sent') AND r.expires_ms > ${nowMs} ORDER BY r.request_no`);
}

/** Age at which a recorded, unsent request counts as abandoned by its process, in ms. */
const unsentMs = 2000;
const unsentMost = 100;

/** Unsent requests to connected devices. */
export function unsentRequests(db: Database, nowMs: number): Promise<readonly RequestRow[]> {
  return requests.all(db)(sql`${selectRequest}
    WHERE r.is_open = 1 AND r.request_state = 'requested' AND r.issued_ms <= ${nowMs - unsentMs}
      AND r.expires_ms > ${nowMs} AND d.is_online = 1 AND d.boot IS NOT NULL
    ORDER BY r.request_no LIMIT ${unsentMost}`);
}

/**
 * Records that an envelope for `boot` is about to be sent; changes 0 rows when it must not be.
 * @param sending `isFirst`: only if none was sent before, as another process may have done.
 */
export function recordRequestSent(sending: {
  readonly requestNo: number;
  readonly boot: string;
  readonly atMs: number;
  readonly isFirst: boolean;
}): Statement {
  return sql`UPDATE device_requests SET request_state = 'sent', sent_boot = ${sending.boot}
    WHERE request_no = ${sending.requestNo} AND is_open = 1
      AND (request_state = 'requested' OR (request_state = 'sent' AND ${sending.isFirst ? 0 : 1} = 1))
      AND expires_ms > ${sending.atMs}`;
}

/** Records a part of an answer, then the request's state. */
export function answerStatements(deviceNo: number, answer: Answer, atMs: number): readonly Statement[] {
  const { requestID, kind, part, parts, content, reason } = answer;
  const ours = sql`request_id = ${requestID} AND device_no = ${deviceNo}`;
  const open = sql`${ours} AND request_state NOT IN ('answered', 'refused')`;
  if (kind === 'refused') {
    return [
      sql`UPDATE device_requests SET request_state = 'refused', is_open = 0, detail = ${reason},
          answered_ms = ${atMs} WHERE ${open}`,
    ];
  }
  const isWhole = sql`(SELECT COUNT(*) FROM device_answers a
    WHERE a.request_no = device_requests.request_no AND a.part <= ${parts}) >= ${parts}`;
  return [
    sql`INSERT INTO device_answers (request_no, part, content)
      SELECT request_no, ${part}, ${content} FROM device_requests
      WHERE ${open} AND kind = ${kind} AND parts IN (0, ${parts})
      ON CONFLICT (request_no, part) DO NOTHING`,
    sql`UPDATE device_requests SET parts = ${parts}, answered_ms = ${atMs},
        request_state = CASE WHEN ${isWhole} THEN 'answered' WHEN is_open = 1 THEN 'answering' ELSE request_state END,
        is_open = CASE WHEN ${isWhole} THEN 0 ELSE is_open END
      WHERE ${open} AND kind = ${kind} AND parts IN (0, ${parts})`,
  ];
}

const answers = shape({ part: numberOf, content: textOf });

/** The received parts of an answer, in order. */
export function answersFor(db: Database, requestNo: number): Promise<readonly Infer<typeof answers>[]> {
  return answers.all(db)(sql`SELECT part, content FROM device_answers WHERE request_no = ${requestNo}
    ORDER BY part LIMIT ${requestLimits.parts}`);
}
