// Shapes of commands and approvals in answers, and their mapping from rows. An answer shows the ledger's state and never
// claims an action that the vehicle has not reported.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { featureNames } from '../../../src/core/events/event.ts';
import { verdictHint } from '../../../src/core/verdict/verdict-text.ts';
import { reasonText } from '../../core/commands/reported-reason.ts';
import { verdictRecord } from '../../core/commands/verdict-record.ts';
import { type ApprovalRow, viewApproval } from '../../store/commands/approvals.ts';
import type { CommandRow } from '../../store/commands/commands.ts';
import { waitingState } from '../answers/pending-feature.ts';
import { envelope, epoch, ok, text, verdict } from '../base/shapes.ts';

/** What a person signs, exactly. */
const personalOrder = Type.Object(
  {
    accountID: text('The account'),
    deviceID: text('The device'),
    boot: text('The run of the unit that it is bound to'),
    counter: Type.Integer({ description: 'The number that it is bound to: the next one of the device' }),
    feature: Type.Enum([...featureNames], { description: 'What to set' }),
    state: Type.Enum(['0', '1'], { description: 'The state to bring it into' }),
    expiresMs: Type.Integer({ description: 'The vehicle never acts on it after this; epoch milliseconds' }),
    reason: text('Why it was asked for'),
  },
  { description: 'The order, with the members that its persons sign' },
);

export const signing = Type.Union(
  [
    Type.Object({
      needed: Type.Integer({ minimum: 1, description: 'Persons who must sign' }),
      given: Type.Array(
        Type.Object({
          personID: text("Person of the owner's list"),
          name: text('Name in the list'),
          userID: text('User of the session in which the person signed'),
          at: epoch('When'),
        }),
        { description: 'Persons who signed' },
      ),
      order: personalOrder,
    }),
    Type.Null(),
  ],
  { description: "Which persons of the owner's list must sign the order, and who did; null where none must" },
);

/** For `navigator.credentials.get` of the calling user; null: the user cannot sign it. */
export const signOptions = Type.Union(
  [
    Type.Object({
      rpID: text('Domain that the passkeys are bound to'),
      challenge: text(
        'SHA-256 of `fleetward-order-1`, a line feed and the canonical JSON of `signing.order`; base64url',
      ),
      credentials: Type.Array(text('Credential id, base64url'), {
        description: 'Passkeys of the persons who may sign it and did not, those of the calling user first',
      }),
      userVerification: Type.Literal('required'),
    }),
    Type.Null(),
  ],
  {
    description:
      'For `navigator.credentials.get`; null where nothing waits for a signature of the calling user: viewers and API tokens cannot sign',
  },
);

const signedMembers = { signing, signOptions } as const;
export type SignedMembers = Static<ReturnType<typeof Type.Object<typeof signedMembers>>>;
/** Of an answer about nothing that persons sign. */
export const unsigned: SignedMembers = { signing: null, signOptions: null };

const commandMembers = {
  commandID: text('Key of the command in the ledger; empty while it waits for a second user'),
  deviceID: text('The device'),
  feature: text('`enginecutoff` or `cargoaccess`; `firmware` for a firmware job, `position` for locate now'),
  state: text('The state asked for'),
  pendingState: Type.Union([Type.String(), Type.Null()], { description: 'Null once the command has ended' }),
  commandState: text(
    "`approval` (waits for a second user, or for the owner's persons), requested, sent, received, armed, executing, confirmed, refused, expired ...",
  ),
  expires: epoch('The vehicle never acts on the command after this'),
  approvalID: text('The request to a second user; empty when none was needed'),
  verdict,
} as const;

/** A command in a list. */
export const commandItem = Type.Object({ ...commandMembers, ...signedMembers });

/** Confirmation of a command. */
export const commandAnswer = Type.Object({ ...commandMembers, ...signedMembers, ...envelope });
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

function membersOf(command: CommandRow): Omit<CommandView, 'status_code' | 'success' | keyof SignedMembers> {
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
  return { ...membersOf(command), ...unsigned, ...ok };
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

/** The answer to an order that waits for a second user or for the owner's persons. */
export function viewWaiting(approval: ApprovalRow, options: SignedMembers['signOptions']): CommandView {
  return {
    commandID: '',
    deviceID: approval.deviceID,
    feature: approval.feature,
    state: '1',
    pendingState: '1',
    commandState: waitingState,
    expires: epochSeconds(approval.commandExpiresMs),
    approvalID: approval.approvalID,
    verdict: null,
    signing: viewApproval(approval).signing,
    signOptions: options,
    ...ok,
  };
}

const approvalMembers = {
  approvalID: text('Names the request'),
  deviceID: text('The device'),
  feature: text('`enginecutoff`, or `cargoaccess` of a signed order'),
  state: text('Always `1`'),
  approvalState: text(
    '`pending`, `approved`, `refused`, `withdrawn`, `expired` or `void`: it can no longer be carried out as it was signed',
  ),
  reason: text('Why it was asked for'),
  requestedBy: text('User who asked'),
  requested: epoch('When'),
  expires: epoch('Until when it can be approved'),
  decidedBy: text('User who approved, refused or withdrew it; empty while undecided'),
  decided: epoch('When; 0 while it waits'),
  decidedReason: text('Why it was refused; empty without a reason'),
  commandID: text('The command that came of it; empty without one'),
  endCause: text(
    'Why it is `void`, else empty: `restarted` (the vehicle did), `counter` (another message was sent to the vehicle meanwhile), `list` (the owner changed who may order). Ask and sign again',
  ),
  secondUser: text('Second user who agreed to a signed order; empty without one'),
  ...signedMembers,
} as const;

export const approvalRecord = Type.Object(approvalMembers);
export const approvalAnswer = Type.Object({ ...approvalMembers, ...envelope });

/** For the examples of operations. */
export const exampleApprovalID = '0b8e5a1c7d2f43968a5b4c3d2e1f0a99';

export const exampleApproval: Static<typeof approvalRecord> = {
  approvalID: exampleApprovalID,
  deviceID: 'truck-17',
  feature: 'enginecutoff',
  state: '1',
  approvalState: 'pending',
  reason: 'stolen',
  requestedBy: 'dispatch',
  requested: 1763683200,
  expires: 1763684100,
  decidedBy: '',
  decided: 0,
  decidedReason: '',
  commandID: '',
  endCause: '',
  secondUser: '',
  ...unsigned,
};
