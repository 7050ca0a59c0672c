// Shapes of commands and approvals in answers, and their mapping from rows. An answer shows the ledger's state and never
// claims an action that the vehicle has not reported.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { verdictHint } from '../../../src/core/verdict/verdict-text.ts';
import { reasonText } from '../../core/commands/reported-reason.ts';
import { verdictRecord } from '../../core/commands/verdict-record.ts';
import type { ApprovalRow } from '../../store/commands/approvals.ts';
import type { CommandRow } from '../../store/commands/commands.ts';
import { waitingState } from '../answers/pending-feature.ts';
import { envelope, epoch, ok, text, verdict } from '../base/shapes.ts';

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
  verdict,
} as const;

/** A command in a list. */
export const commandItem = Type.Object(commandMembers);

/** Confirmation of a command. */
export const commandAnswer = Type.Object({ ...commandMembers, ...envelope });
export type CommandView = Static<typeof commandAnswer>;

const recordMembers = {
  ...commandMembers,
  detail: text(
    "Why it waits or how it ended, as a sentence: the vehicle's own, else made from `verdict`; may be empty",
  ),
  hint: Type.Union([Type.String(), Type.Null()], {
    description: 'What can be done about it; null where only time helps, or nothing is to be done',
  }),
  reason: text('Why it was asked for'),
  issuer: text('User who asked for it'),
  approver: text('User who approved it; empty when none was needed'),
  cancelledBy: text('User who requested its withdrawal; empty when none did'),
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
    expires: epochSeconds(command.expiresMs),
    approvalID: command.approvalID ?? '',
    verdict: verdictRecord(command.verdict, command.reportedMs),
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
    hint: command.verdict === null ? null : verdictHint(command.verdict),
    reason: command.reason,
    issuer: command.issuer,
    approver: command.approver ?? '',
    cancelledBy: command.cancelBy ?? '',
    hasEnded: command.isFinal,
    issued: epochSeconds(command.issuedMs),
    updated: epochSeconds(command.updatedMs),
    reported: epochSeconds(command.reportedMs),
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
    expires: epochSeconds(approval.commandExpiresMs),
    approvalID: approval.approvalID,
    verdict: null,
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
  decidedBy: text('User who approved, refused or withdrew it; empty while undecided'),
  decided: epoch('When; 0 while it waits'),
  decidedReason: text('Why it was refused; empty without a reason'),
  commandID: text('The command that came of it; empty without one'),
} as const;

export const approvalRecord = Type.Object(approvalMembers);
export type ApprovalView = Static<typeof approvalRecord>;
export const approvalAnswer = Type.Object({ ...approvalMembers, ...envelope });
