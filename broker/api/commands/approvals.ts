// Orders that wait for a second user or for the owner's persons: list, approve, refuse, withdraw. The statements' conditions enforce the rule, so
// that two concurrent answers give one command or none.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import {
  type ApprovalRow,
  approve,
  endApproval,
  isApprovedAs,
  listApprovals,
  mayApprove,
  mayEnd,
} from '../../store/commands/approvals.ts';
import { findCapFacts } from '../../store/commands/command-caps.ts';
import { type CommandRow, supersedeAndInsert } from '../../store/commands/commands.ts';
import { provePasswordAgain } from '../accounts/password-proof.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { lineText, passwordAgain } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { pageMembers, pageOf, pageQuery, pageSize, pageText, parsePageCursor } from '../base/paging.ts';
import { envelope, ok } from '../base/shapes.ts';
import {
  approvalAnswer,
  approvalRecord,
  commandAnswer,
  exampleApproval,
  exampleApprovalID,
  unsigned,
  viewCommand,
  viewWaiting,
} from './command-view.ts';
import { deciderOf, needApproval, refuseApproval } from './open-approval.ts';
import { agree } from './signed-decision.ts';
import { signOptionsFor, viewAllFor, viewFor } from './signed-order.ts';

const list = operation({
  id: 'listApprovals',
  method: 'GET',
  path: '/command/approvals/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Commands',
  summary: "Orders that wait for a second user or the owner's persons",
  description: `Requests about the devices that the caller sees, newest first: those that wait, or with \`?state=all\` also those that were
decided or ran out. Of an order that the owner's persons sign \`signing\` says who must and who did, and \`signOptions\` is for the calling user:
see \`signCommand\`. ${pageText}`,
  params: Type.Object({}),
  query: Type.Object(
    {
      ...pageQuery,
      state: Type.Optional(Type.String({ pattern: '^(pending|all)$', description: '`pending` or `all`' })),
    },
    { additionalProperties: false },
  ),
  body: null,
  result: Type.Object({
    ...envelope,
    approvals: Type.Array(approvalRecord, { description: 'Newest first' }),
    ...pageMembers,
  }),
  errors: ['invalid_content'],
  effects: false,
  examples: { result: { approvals: [exampleApproval] } },
  async run({ query, caller }, services) {
    const limit = pageSize(query.limit);
    const place = parsePageCursor(query.cursor);
    const rows = await listApprovals(services.db, {
      scope: caller.scope,
      pendingOnly: query.state !== 'all',
      before: place === null ? null : { requestedMs: place.atMs, approvalID: place.id },
      limit: limit + 1,
    });
    const { page, more, next } = pageOf(rows, limit, (row) => `${row.requestedMs}-${row.approvalID}`);
    const approvals = await viewAllFor(services, caller, page);
    return { ...ok, approvals, more, next };
  },
});

async function approveCut(services: ApiServices, actor: Actor, row: ApprovalRow): Promise<CommandRow | null> {
  const { caller } = actor;
  const { approvalID, deviceNo, accountID, deviceID, reason, requestedBy: issuer } = row;
  const decision = { approvalID, decider: deciderOf(services, caller) };
  const approval = { approvalID, approver: caller.userID };
  return services.ledger.enact({
    device: { accountID, deviceID, deviceNo },
    statements: ({ commandID, issuedMs }) => {
      const command = {
        feature: row.feature,
        state: '1' as const,
        deviceNo,
        commandID,
        reason,
        issuer,
        issuedMs,
        approval,
        expiresMs: row.commandExpiresMs,
        // An approval is no repeat of anything.
        sameSinceMs: Number.MAX_SAFE_INTEGER,
      };
      const detail = { approvalID, commandID, requestedBy: issuer };
      return [
        lockAccount(accountID),
        auditEntry(services, actor, {
          action: 'command.approve',
          object: deviceID,
          detail,
          onlyIf: mayApprove(decision),
        }),
        approve(decision, commandID),
        ...supersedeAndInsert(command, isApprovedAs(approvalID, commandID)),
      ];
    },
  });
}

const approvalBody = Type.Object(
  { approvalID: Type.String({ minLength: 1, maxLength: 64, description: 'The request' }) },
  { additionalProperties: false },
);

/** The same with the password, where the account wants it. */
const approveBody = Type.Object(
  { ...approvalBody.properties, password: Type.Optional(passwordAgain) },
  { additionalProperties: false },
);

const approveOperation = operation({
  id: 'approveCommand',
  method: 'POST',
  path: '/command/approve/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Commands',
  summary: 'Approve a cut as the second user',
  description: `Signs and sends the cut that another user asked for. The answer is that of a command and does not mean that the vehicle
has acted. The approver must be another operator or administrator of the account who sees the device; the requester must still
be an active operator. Neither of the two may have been created, promoted, re-activated, or given a password or more devices by another user within
the last day, nor before that without the confirmation of another administrator (\`confirmUser\`): one of them could be the other under
a new name; saving a user unchanged counts as no change. So in a new account nothing can be approved on its first day.
Anything else, a request that was decided or ran out, and an open breaker answer 422 \`conflict\`. Of two approvals at once
one gives the command. While the clock of the service stands before the request, nothing is approved. The life of the command counts from the request, not from the approval. The vehicle and the ledger
get both names. In an account with \`needsPassword\` the approver sends their own \`password\`: without it 422
\`password_needed\`, with a wrong one \`password_wrong\`; the request goes on waiting.

Of a cut that the owner's persons sign it records the second user, where the account wants one; the cut is sent once the persons have signed too
(\`commandState\` \`approval\` until then). Where the account wants none, and of an unlock, it answers 422 \`conflict\`: use \`signCommand\`.`,
  params: Type.Object({}),
  body: approveBody,
  result: commandAnswer,
  errors: ['not_found', 'conflict', 'password_needed', 'password_wrong'],
  effects: true,
  proofMember: 'password',
  examples: {
    body: { approvalID: exampleApprovalID },
    result: {
      commandID: '5f0c6b0e9d1f4a3f8e7d6c5b4a392817',
      deviceID: 'truck-17',
      feature: 'enginecutoff',
      state: '1',
      pendingState: '1',
      commandState: 'sent',
      expires: 1763769600,
      approvalID: exampleApprovalID,
      verdict: null,
      ...unsigned,
    },
  },
  async run({ body, caller, source }, services) {
    const row = await needApproval(services, caller, body.approvalID);
    const facts = await findCapFacts(services.db, deciderOf(services, caller));
    if (facts?.needsPassword === true) await provePasswordAgain(services, { caller, source }, body.password);
    if (row.ownerPin !== null) {
      const { command, approval } = await agree(services, { caller, source }, row, null);
      if (command !== null) return viewCommand(command);
      return viewWaiting(approval, await signOptionsFor(services, caller, approval));
    }
    const command = await approveCut(services, { caller, source }, row);
    return viewCommand(command ?? (await refuseApproval(services, caller, body.approvalID)));
  },
});

interface Ending {
  readonly approvalID: string;
  readonly as: 'refused' | 'withdrawn';
  readonly verb: 'refuse' | 'withdraw';
  readonly reason?: string | undefined;
}

/** Ends a request without a command. @throws AppError `not_found`, `conflict`. */
async function endRequest(
  services: ApiServices,
  actor: Actor,
  { approvalID, as, verb, reason }: Ending,
): Promise<Static<typeof approvalAnswer>> {
  const { caller } = actor;
  const { deviceID } = await needApproval(services, caller, approvalID);
  const decision = { approvalID, decider: deciderOf(services, caller) };
  const [, , ended] = await services.db.write([
    lockAccount(caller.accountID),
    auditEntry(services, actor, {
      action: `command.${verb}`,
      object: deviceID,
      detail: { approvalID, ...(reason === undefined ? {} : { reason }) },
      onlyIf: mayEnd(decision, as),
    }),
    endApproval(decision, as, reason ?? null),
  ]);
  const row = await needApproval(services, caller, approvalID);
  if (ended?.changes !== 1) {
    const why = row.approvalState === 'pending' ? 'another user must decide' : `it is ${row.approvalState}`;
    throw new AppError('conflict', `The request cannot be ${as}: ${why}`);
  }
  return { ...(await viewFor(services, caller, row)), ...ok };
}

const exampleEnded = { ...exampleApproval, decidedBy: 'admin', decided: 1763683230, ...ok };

const refuse = operation({
  id: 'refuseCommand',
  method: 'POST',
  path: '/command/refuse/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Commands',
  summary: 'Refuse a cut as the second user',
  description: `Ends a request of another user without a command. \`reason\` is kept with the request and in the audit log. Who asked uses
\`withdrawCommand\`. A request that was decided or ran out answers 422 \`conflict\`.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      ...approvalBody.properties,
      reason: Type.Optional(lineText(200, 'Why, for the requester and the audit log')),
    },
    { additionalProperties: false },
  ),
  result: approvalAnswer,
  errors: ['not_found', 'conflict', 'invalid_content'],
  effects: true,
  isOrder: true,
  examples: {
    body: { approvalID: exampleApprovalID, reason: 'wrong vehicle' },
    result: { ...exampleEnded, approvalState: 'refused', decidedReason: 'wrong vehicle' },
  },
  run: ({ body, caller, source }, services) =>
    endRequest(services, { caller, source }, { ...body, as: 'refused', verb: 'refuse' }),
});

const withdraw = operation({
  id: 'withdrawCommand',
  method: 'POST',
  path: '/command/withdraw/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Commands',
  summary: 'Take back the own request for a cut',
  description: `Ends the caller's own request, or as an administrator any, before it is approved. Another user uses
\`refuseCommand\`. A request that was
decided or ran out answers 422 \`conflict\`; a restore of the device withdraws it as well.`,
  params: Type.Object({}),
  body: approvalBody,
  result: approvalAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  isOrder: true,
  examples: {
    body: { approvalID: exampleApprovalID },
    result: { ...exampleEnded, approvalState: 'withdrawn' },
  },
  run: ({ body, caller, source }, services) =>
    endRequest(services, { caller, source }, { ...body, as: 'withdrawn', verb: 'withdraw' }),
});

export const approvalOperations = [list, approveOperation, refuse, withdraw] as const;
