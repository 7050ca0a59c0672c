// Shapes of commands and approvals in answers, and how rows fill them. An answer says what the ledger knows at this moment
// and never that the vehicle has acted, unless the vehicle has said so.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { verdictHint } from '../../../src/core/verdict-text.ts';
import { reasonText } from '../../core/reported-reason.ts';
import type { ApprovalRow } from '../../store/approvals.ts';
import type { CommandRow } from '../../store/commands.ts';
import { envelope, ok, verdict } from '../shapes.ts';
import { viewVerdict } from '../views.ts';

const text = (description: string) => Type.String({ description });
const epoch = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description} (epoch seconds)` });
const seconds = (ms: number | null): number => Math.max(0, Math.floor((ms ?? 0) / 1000));

/** `commandState` of a cut that waits for a second user: nothing is signed or sent yet. */
export const waitingState = 'approval';
/** Why such a cut waits. */
export const waitingReason = 'Waits for the approval of a second user';

const commandMembers = {
  commandID: text('Key of the command in the ledger; empty while it waits for a second user'),
  deviceID: text('The device'),
  feature: text('`enginecutoff` or `cargoaccess`; `firmware` for a firmware job, `position` for locate now'),
  state: text('The state asked for'),
  pendingState: Type.Union([Type.String(), Type.Null()], { description: 'Null once the command has ended' }),
  commandState: text(
    '`approval` (waits for a second user), requested, sent, received, armed, executing, confirmed, refused, expired ...',
  ),
  expires: epoch('The vehicle never acts on the command after this'),
  approvalID: text('The request to a second user; empty when none was needed'),
} as const;

/** Confirmation of a command. */
export const commandAnswer = Type.Object({ ...commandMembers, ...envelope });
export type CommandView = Static<typeof commandAnswer>;

const recordMembers = {
  ...commandMembers,
  detail: text(
    "Why it waits or how it ended, as a sentence: the vehicle's own, else made from `verdict`; may be empty",
  ),
  verdict,
  hint: Type.Union([Type.String(), Type.Null()], {
    description: 'What can be done about it; null where only time helps, or nothing is to be done',
  }),
  reason: text('Why it was asked for'),
  issuer: text('User who asked for it'),
  approver: text('User who approved it; empty when none was needed'),
  cancelledBy: text('User who asked to withdraw it; empty when nobody did'),
  hasEnded: Type.Boolean({ description: 'False while something may still come of it' }),
  issued: epoch('When it was recorded'),
  updated: epoch('When its state last changed'),
  reported: epoch('Time of the newest report of the vehicle; 0 while there is none'),
} as const;

/** A command with all that the ledger knows of it. */
export const commandRecord = Type.Object(recordMembers);
export type CommandRecordView = Static<typeof commandRecord>;
export const commandRecordAnswer = Type.Object({ ...recordMembers, ...envelope });

function membersOf(command: CommandRow): Omit<CommandView, 'status_code' | 'success'> {
  return {
    commandID: command.commandID,
    deviceID: command.deviceID,
    feature: command.feature,
    state: command.state,
    pendingState: command.isFinal ? null : command.state,
    commandState: command.commandState,
    expires: seconds(command.expiresMs),
    approvalID: command.approvalID ?? '',
  };
}

/** The answer to a command. */
export function viewCommand(command: CommandRow): CommandView {
  return { ...membersOf(command), ...ok };
}

export function viewCommandRecord(command: CommandRow): CommandRecordView {
  return {
    ...membersOf(command),
    detail: reasonText(command),
    verdict: viewVerdict(command.verdict),
    hint: command.verdict === null ? null : verdictHint(command.verdict),
    reason: command.reason,
    issuer: command.issuer,
    approver: command.approver ?? '',
    cancelledBy: command.cancelBy ?? '',
    hasEnded: command.isFinal,
    issued: seconds(command.issuedMs),
    updated: seconds(command.updatedMs),
    reported: seconds(command.reportedMs),
  };
}

/** The answer to a cut that waits for a second user. */
export function viewWaiting(approval: ApprovalRow): CommandView {
  return {
    commandID: '',
    deviceID: approval.deviceID,
    feature: 'enginecutoff',
    state: '1',
    pendingState: '1',
    commandState: waitingState,
    expires: seconds(approval.commandExpiresMs),
    approvalID: approval.approvalID,
    ...ok,
  };
}

const approvalMembers = {
  approvalID: text('Names the request'),
  deviceID: text('The device'),
  feature: text('Always `enginecutoff`'),
  state: text('Always `1`'),
  approvalState: text('`pending`, `approved`, `refused`, `withdrawn` or `expired`'),
  reason: text('Why it was asked for'),
  requestedBy: text('User who asked'),
  requested: epoch('When'),
  expires: epoch('Until when it can be approved'),
  decidedBy: text('User who approved, refused or withdrew it; empty while nobody did'),
  decided: epoch('When; 0 while it waits'),
  commandID: text('The command that came of it; empty without one'),
} as const;

export const approvalRecord = Type.Object(approvalMembers);
export type ApprovalView = Static<typeof approvalRecord>;
export const approvalAnswer = Type.Object({ ...approvalMembers, ...envelope });

export function viewApproval(approval: ApprovalRow): ApprovalView {
  return {
    approvalID: approval.approvalID,
    deviceID: approval.deviceID,
    feature: 'enginecutoff',
    state: '1',
    approvalState: approval.approvalState,
    reason: approval.reason,
    requestedBy: approval.requestedBy,
    requested: seconds(approval.requestedMs),
    expires: seconds(approval.expiresMs),
    decidedBy: approval.decidedBy ?? '',
    decided: seconds(approval.decidedMs),
    commandID: approval.commandID ?? '',
  };
}

/** Query of a listing that is newest first. */
export const pageQuery = {
  limit: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,3}$', description: 'Page size, 1 to 500; 100 without it' }),
  ),
  cursor: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,16}-[A-Za-z0-9_-]{1,64}$', description: '`next` of the page before' }),
  ),
} as const;

/** Members of the answer beside the list. */
export const pageMembers = {
  more: Type.Boolean({ description: 'Whether there are older ones' }),
  next: Type.Union([Type.String(), Type.Null()], {
    description: 'The cursor of the next page; null at the end',
  }),
} as const;

/** @throws AppError `invalid_content`. */
export function pageSize(limit: string | undefined): number {
  const count = Number(limit ?? 100);
  if (count >= 1 && count <= 500) return count;
  throw new AppError('invalid_content', 'limit must be 1 to 500', {
    details: [{ pointer: '/limit', message: 'must be 1 to 500' }],
  });
}

/** The place in a listing that a cursor names; null from the start. */
export function placeOf(cursor: string | undefined): { readonly atMs: number; readonly id: string } | null {
  const [, atMs = '', id = ''] = /^(\d+)-(.+)$/.exec(cursor ?? '') ?? [];
  return id === '' ? null : { atMs: Number(atMs), id };
}

/** A page out of rows of which one more was read than fit; `place` names the last of them. */
export function pageOf<T>(rows: readonly T[], limit: number, place: (row: T) => string) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { page, more, next: more ? place(last) : null };
}
