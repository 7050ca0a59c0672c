// Commands and approvals that changed, as live streams send them.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { reasonText } from '../../core/commands/reported-reason.ts';
import { verdictRecord } from '../../core/commands/verdict-record.ts';
import { numberOf, textOf } from '../base/row.ts';
import { toApproval, viewApproval } from '../commands/approvals.ts';
import { selectCommand, toCommand } from '../commands/commands.ts';
import { type ChangePages, type ChangeSpan, changePages, seenIn } from './change-pages.ts';

/** Commands whose state, reason or verdict changed. */
export function commandChanges(db: Database, { scope, sinceMs }: ChangeSpan): ChangePages<'command'> {
  return changePages(
    db,
    { sinceMs, start: '' },
    {
      statement: ({ atMs, key }, limit) => sql`${selectCommand}
        WHERE (c.updated_ms, c.command_id) > (${atMs}, ${key}) AND ${seenIn(scope)}
        ORDER BY c.updated_ms, c.command_id LIMIT ${limit}`,
      placeOf: (row) => ({ atMs: numberOf(row, 'updated_ms'), key: textOf(row, 'command_id') }),
      toChange(row) {
        const { accountID, deviceNo, commandID, deviceID, state, updatedMs, ...command } = toCommand(row);
        return {
          kind: 'command',
          accountID,
          deviceNo,
          deviceID,
          key: commandID,
          atMs: updatedMs,
          data: {
            commandID,
            deviceID,
            feature: command.feature,
            state,
            pendingState: command.isFinal ? null : state,
            pendingReason: reasonText(command) || null,
            verdict: verdictRecord(command.verdict, command.reportedMs),
            commandState: command.commandState,
            expires: epochSeconds(command.expiresMs),
          },
        };
      },
    },
  );
}

/** Approvals that were requested or decided. */
export function approvalChanges(db: Database, { scope, sinceMs }: ChangeSpan): ChangePages<'approval'> {
  const changed = sql`COALESCE(p.decided_ms, p.signed_ms, p.requested_ms)`;
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
        const approval = toApproval(row);
        const { accountID, deviceNo, approvalID, deviceID } = approval;
        return {
          kind: 'approval',
          accountID,
          deviceNo,
          deviceID,
          key: approvalID,
          atMs: approval.decidedMs ?? approval.signedMs ?? approval.requestedMs,
          data: viewApproval(approval),
        };
      },
    },
  );
}
