// Commands and approvals that changed, as live streams send them.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { reasonText } from '../../core/commands/reported-reason.ts';
import { verdictRecord } from '../../core/commands/verdict-record.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';
import { approvedOrder } from '../commands/approvals.ts';
import { storedVerdict } from '../commands/commands.ts';
import { type ChangePages, type ChangeSpan, changePages, seenIn } from './change-pages.ts';

/** Commands whose state, reason or verdict changed. */
export function commandChanges(db: Database, { scope, sinceMs }: ChangeSpan): ChangePages<'command'> {
  return changePages(
    db,
    { sinceMs, start: '' },
    {
      statement: ({ atMs, key }, limit) => sql`
        SELECT c.command_id, c.device_no, c.feature, c.state, c.command_state, c.detail, c.verdict, c.is_final,
          c.expires_ms, c.updated_ms, c.reported_ms, d.account_id, d.device_id
        FROM commands c JOIN devices d ON d.device_no = c.device_no
        WHERE (c.updated_ms, c.command_id) > (${atMs}, ${key}) AND ${seenIn(scope)}
        ORDER BY c.updated_ms, c.command_id LIMIT ${limit}`,
      placeOf: (row) => ({ atMs: numberOf(row, 'updated_ms'), key: textOf(row, 'command_id') }),
      toChange(row) {
        const [commandID, deviceID] = [textOf(row, 'command_id'), textOf(row, 'device_id')];
        const [state, verdict] = [textOf(row, 'state'), storedVerdict(row)];
        return {
          kind: 'command',
          accountID: textOf(row, 'account_id'),
          deviceNo: numberOf(row, 'device_no'),
          deviceID,
          key: commandID,
          atMs: numberOf(row, 'updated_ms'),
          data: {
            commandID,
            deviceID,
            feature: textOf(row, 'feature'),
            state,
            pendingState: numberOf(row, 'is_final') === 1 ? null : state,
            pendingReason: reasonText({ detail: textOf(row, 'detail'), verdict }) || null,
            verdict: verdictRecord(verdict, numberOf(row, 'reported_ms')),
            commandState: textOf(row, 'command_state'),
            expires: epochSeconds(numberOf(row, 'expires_ms')),
          },
        };
      },
    },
  );
}

/** Approvals that were requested or decided. */
export function approvalChanges(db: Database, { scope, sinceMs }: ChangeSpan): ChangePages<'approval'> {
  const changed = sql`COALESCE(p.decided_ms, p.requested_ms)`;
  return changePages(
    db,
    { sinceMs, start: '' },
    {
      statement: ({ atMs, key }, limit) => sql`
        SELECT p.*, ${changed} AS changed_ms, d.account_id, d.device_id
        FROM approvals p JOIN devices d ON d.device_no = p.device_no
        WHERE ${changed} >= ${atMs} AND (${changed} > ${atMs} OR p.approval_id > ${key}) AND ${seenIn(scope)}
        ORDER BY ${changed}, p.approval_id LIMIT ${limit}`,
      placeOf: (row) => ({ atMs: numberOf(row, 'changed_ms'), key: textOf(row, 'approval_id') }),
      toChange(row) {
        const [approvalID, deviceID] = [textOf(row, 'approval_id'), textOf(row, 'device_id')];
        return {
          kind: 'approval',
          accountID: textOf(row, 'account_id'),
          deviceNo: numberOf(row, 'device_no'),
          deviceID,
          key: approvalID,
          atMs: numberOf(row, 'changed_ms'),
          data: {
            approvalID,
            deviceID,
            ...approvedOrder,
            approvalState: textOf(row, 'approval_state'),
            reason: textOf(row, 'reason'),
            requestedBy: textOf(row, 'requested_by'),
            requested: epochSeconds(numberOf(row, 'requested_ms')),
            expires: epochSeconds(numberOf(row, 'expires_ms')),
            decidedBy: textOrNull(row, 'decided_by') ?? '',
            decided: epochSeconds(numberOrNull(row, 'decided_ms')),
            decidedReason: textOrNull(row, 'decided_reason') ?? '',
            commandID: textOrNull(row, 'command_id') ?? '',
          },
        };
      },
    },
  );
}
