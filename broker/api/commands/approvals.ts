// Engine cuts that wait for a second user: who may say yes or no, and what comes of it. The rule itself stands in the
// conditions of the statements, so that two answers at once give one command or none.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { refusalOf } from '../../core/command-caps.ts';
import { lockAccount } from '../../store/accounts.ts';
import {
  type ApprovalRow,
  approve,
  approvedWish,
  type Decider,
  endApproval,
  findApproval,
  isApprovedAs,
  listApprovals,
  mayApprove,
  mayEnd,
} from '../../store/approvals.ts';
import { findCapFacts, isSettledNow } from '../../store/command-caps.ts';
import { type CommandRow, supersedeAndInsert } from '../../store/commands.ts';
import { type ApiServices, type Caller, operation } from '../operation.ts';
import { envelope, ok } from '../shapes.ts';
import { type Doer, trail } from '../trail.ts';
import {
  type ApprovalView,
  approvalAnswer,
  approvalRecord,
  commandAnswer,
  pageMembers,
  pageOf,
  pageQuery,
  pageSize,
  placeOf,
  viewApproval,
  viewCommand,
} from './command-view.ts';

const exampleID = '0b8e5a1c7d2f43968a5b4c3d2e1f0a99';

const exampleApproval: ApprovalView = {
  approvalID: exampleID,
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
  commandID: '',
};

const list = operation({
  id: 'listApprovals',
  method: 'GET',
  path: '/command/approvals/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Commands',
  summary: 'Cuts that wait for a second user',
  description: `Requests about the devices that the caller sees, newest first: those that wait, or with \`?state=all\` also those that were
decided or ran out. \`?limit=\` (1 to 500, 100 without it) gives that many; while \`more\` is true hand \`next\` back as
\`?cursor=\`.`,
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
  examples: {
    params: {},
    body: null,
    result: { ...ok, approvals: [exampleApproval], more: false, next: null },
  },
  async run({ query, caller }, services) {
    const limit = pageSize(query.limit);
    const place = placeOf(query.cursor);
    const rows = await listApprovals(services.db, {
      scope: caller.scope,
      pendingOnly: query.state !== 'all',
      before: place === null ? null : { requestedMs: place.atMs, approvalID: place.id },
      limit: limit + 1,
    });
    const { page, more, next } = pageOf(rows, limit, (row) => `${row.requestedMs}-${row.approvalID}`);
    return { ...ok, approvals: page.map(viewApproval), more, next };
  },
});

/** @throws AppError `not_found`, also when the device is outside of the caller's scope. */
async function needApproval(services: ApiServices, caller: Caller, approvalID: string): Promise<ApprovalRow> {
  const row = await findApproval(services.db, caller.scope, approvalID);
  if (row === null) throw new AppError('not_found', `there is no approval ${JSON.stringify(approvalID)}`);
  return row;
}

function deciderOf(services: ApiServices, caller: Caller): Decider {
  const { accountID, userID, scope, role } = caller;
  return { accountID, userID, scope, isAdmin: role === 'admin', atMs: Math.round(services.clock.utcMs()) };
}

/** Why an approval gave no command, from what is there now. */
async function refuseApproval(services: ApiServices, caller: Caller, approvalID: string): Promise<never> {
  const row = await needApproval(services, caller, approvalID);
  const decider = deciderOf(services, caller);
  if (row.approvalState !== 'pending' || row.expiresMs <= decider.atMs) {
    const state = row.approvalState === 'pending' ? 'expired' : row.approvalState;
    throw new AppError('conflict', `the request cannot be approved: it is ${state}`, {
      hint:
        state === 'approved'
          ? 'Its command is under way or has ended: see getCommand with the commandID of the request.'
          : 'Nothing was sent for it. If the engine must still be cut, ask anew.',
    });
  }
  if (row.requestedBy === caller.userID) {
    throw new AppError(
      'conflict',
      'who asked for a cut cannot approve it: nothing was sent, it still waits',
      {
        hint: 'Another operator or administrator who sees the device must approve it.',
      },
    );
  }
  const facts = await findCapFacts(services.db, decider);
  const refusal = facts === null ? null : refusalOf({ ...facts, needsApproval: false }, approvedWish);
  if (facts?.breakerS != null && refusal !== null) throw refusal;
  const isYours = !(await isSettledNow(services.db, decider));
  const whose = isYours ? 'yours' : `that of ${JSON.stringify(row.requestedBy)}`;
  throw new AppError(
    'conflict',
    `two persons must have agreed, and ${whose} does not count: nothing was sent`,
    {
      hint: isYours
        ? 'You must have had your role and password for a day. Another operator or administrator can approve it.'
        : 'Who asked must be an active operator who has had his role and password for a day. Refuse it and ask yourself; another user can then approve.',
    },
  );
}

async function approveCut(services: ApiServices, doer: Doer, row: ApprovalRow): Promise<CommandRow | null> {
  const { caller } = doer;
  const { approvalID, deviceNo, accountID, deviceID, reason, requestedBy: issuer } = row;
  const decision = { approvalID, decider: deciderOf(services, caller) };
  const approval = { approvalID, approver: caller.userID };
  return services.ledger.enact({
    device: { accountID, deviceID, deviceNo },
    statements: ({ commandID, issuedMs }) => {
      const command = {
        ...approvedWish,
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
        trail(services, doer, {
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

const approveOperation = operation({
  id: 'approveCommand',
  method: 'POST',
  path: '/command/approve/authorization',
  forms: ['versioned'],
  access: 'operator',
  tag: 'Commands',
  summary: 'Approve a cut as the second user',
  description: `Signs and sends the cut that another user asked for. The answer is that of a command and does not mean that the vehicle
has acted. The approver must be another operator or administrator of the account who sees the device; who asked must still
be an active operator. Nobody may have made, promoted or re-activated either of them or set his password within the last
day: one of them could be the other under a new name; who is saved as he was keeps his time. So in a new account nothing can be approved on its first day.
Anything else, a request that was decided or ran out, and an open breaker answer 422 \`conflict\`. Of two approvals at once
one gives the command. While the clock of the service stands before the request, nothing is approved. The life of the command counts from the request, not from the approval. The vehicle and the ledger
are told both names.`,
  params: Type.Object({}),
  body: approvalBody,
  result: commandAnswer,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    params: {},
    body: { approvalID: exampleID },
    result: {
      commandID: '5f0c6b0e9d1f4a3f8e7d6c5b4a392817',
      deviceID: 'truck-17',
      feature: 'enginecutoff',
      state: '1',
      pendingState: '1',
      commandState: 'sent',
      expires: 1763769600,
      approvalID: exampleID,
      ...ok,
    },
  },
  async run({ body, caller, source }, services) {
    const row = await needApproval(services, caller, body.approvalID);
    const command = await approveCut(services, { caller, source }, row);
    return viewCommand(command ?? (await refuseApproval(services, caller, body.approvalID)));
  },
});

/** The operation that ends a request without a command. */
function endOperation(words: {
  readonly as: 'refused' | 'withdrawn';
  readonly id: string;
  readonly verb: string;
  readonly summary: string;
  readonly description: string;
}) {
  return operation({
    id: words.id,
    method: 'POST',
    path: `/command/${words.verb}/authorization`,
    forms: ['versioned'],
    access: 'operator',
    tag: 'Commands',
    summary: words.summary,
    description: words.description,
    params: Type.Object({}),
    body: approvalBody,
    result: approvalAnswer,
    errors: ['not_found', 'conflict'],
    effects: true,
    isOrder: true,
    examples: {
      params: {},
      body: { approvalID: exampleID },
      result: { ...exampleApproval, approvalState: words.as, decidedBy: 'admin', decided: 1763683230, ...ok },
    },
    async run({ body: { approvalID }, caller, source }, services) {
      const { deviceID } = await needApproval(services, caller, approvalID);
      const decision = { approvalID, decider: deciderOf(services, caller) };
      const [, , ended] = await services.db.write([
        lockAccount(caller.accountID),
        trail(
          services,
          { caller, source },
          {
            action: `command.${words.verb}`,
            object: deviceID,
            detail: { approvalID },
            onlyIf: mayEnd(decision, words.as),
          },
        ),
        endApproval(decision, words.as),
      ]);
      const row = await needApproval(services, caller, approvalID);
      if (ended?.changes !== 1) {
        const why =
          row.approvalState === 'pending'
            ? 'this is for somebody else to decide'
            : `it is ${row.approvalState}`;
        throw new AppError('conflict', `the request cannot be ${words.as}: ${why}`);
      }
      return { ...viewApproval(row), ...ok };
    },
  });
}

const refuse = endOperation({
  as: 'refused',
  id: 'refuseCommand',
  verb: 'refuse',
  summary: 'Refuse a cut as the second user',
  description: `Ends a request of another user without a command. Who asked uses \`withdrawCommand\`. A request that was decided or ran
out answers 422 \`conflict\`.`,
});

const withdraw = endOperation({
  as: 'withdrawn',
  id: 'withdrawCommand',
  verb: 'withdraw',
  summary: 'Take back the own request for a cut',
  description: `Ends the caller's own request, or as an administrator any, before somebody has approved it. Another user uses
\`refuseCommand\`. A request that was
decided or ran out answers 422 \`conflict\`; a restore of the device withdraws it as well.`,
});

export const approvalOperations = [list, approveOperation, refuse, withdraw] as const;
