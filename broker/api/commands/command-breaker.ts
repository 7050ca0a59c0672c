// Limits of engine cuts, and the reset of the breakers after too many. The user who opened a breaker cannot reset it.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { capLimits } from '../../core/commands/command-caps.ts';
import {
  findCapFacts,
  isEligibleNow,
  listStoppedUsers,
  mayReset,
  resetBreaker,
} from '../../store/commands/command-caps.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';

const limits = Type.Object({
  cutsPerHour: Type.Integer({ description: 'Vehicles that one user may cut within an hour' }),
  accountCutsPerHour: Type.Integer({ description: 'The same for the whole account' }),
  cuts: Type.Integer({ description: 'Vehicles that the caller asked to cut within the last hour' }),
  accountCuts: Type.Integer({ description: 'The same for the whole account' }),
  needsApproval: Type.Boolean({ description: 'True: a cut needs a second user' }),
  needsPassword: Type.Boolean({
    description: 'True: a command of state `1`, and its approval, need the password again',
  }),
  isSecondPerson: Type.Boolean({
    description:
      'True: the caller counts for the second-person rule: may ask for a cut, and approve those of others',
  }),
  isBreakerOpen: Type.Boolean({
    description:
      "True: no cut of the caller is taken; the breaker of the account is open, or the caller's own",
  }),
  breakerOpened: Type.Integer({ description: 'Since when (epoch seconds); 0 while it is closed' }),
  breakerOpenedBy: Type.String({ description: 'Whose cut was one too many; empty while it is closed' }),
  stoppedUsers: Type.Array(Type.String(), {
    description: 'Users whose own breaker is open, 100 at most: no cut of theirs is taken',
  }),
  ...envelope,
});
type LimitsView = Static<typeof limits>;

const exampleLimits: LimitsView = {
  cutsPerHour: 20,
  accountCutsPerHour: 60,
  cuts: 1,
  accountCuts: 3,
  needsApproval: false,
  needsPassword: false,
  isSecondPerson: true,
  isBreakerOpen: false,
  breakerOpened: 0,
  breakerOpenedBy: '',
  stoppedUsers: [],
  ...ok,
};

const askerOf = ({ clock }: ApiServices, { accountID, userID }: Caller) => ({
  accountID,
  userID,
  atMs: Math.round(clock.utcMs()),
});

async function viewLimits(services: ApiServices, caller: Caller): Promise<LimitsView> {
  const asker = askerOf(services, caller);
  const facts = await findCapFacts(services.db, asker);
  if (facts === null) throw new AppError('not_found', 'The account was deleted meanwhile');
  return {
    cutsPerHour: facts.cutsPerHour,
    accountCutsPerHour: facts.cutsPerHour * capLimits.accountFactor,
    cuts: facts.userCuts,
    accountCuts: facts.accountCuts,
    needsApproval: facts.needsApproval,
    needsPassword: facts.needsPassword,
    isSecondPerson: await isEligibleNow(services.db, asker),
    isBreakerOpen: facts.breakerS !== null,
    breakerOpened: facts.breakerS ?? 0,
    breakerOpenedBy: facts.breakerBy ?? '',
    stoppedUsers: [...(await listStoppedUsers(services.db, caller.accountID))],
    ...ok,
  };
}

const show = operation({
  id: 'commandLimits',
  method: 'GET',
  path: '/command/limits/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'read', ofDevices: false },
  tag: 'Commands',
  summary: 'Limits of engine cuts and what is used of them',
  description: `How many engine cuts the caller and the account may ask for within an hour, how many they have, whether a cut needs a
second user or the password again, whether the caller counts as one, and whether the breaker is open. Restores are never limited and do not count.`,
  params: Type.Object({}),
  body: null,
  result: limits,
  errors: [],
  effects: false,
  examples: { result: exampleLimits },
  run: ({ caller }, services) => viewLimits(services, caller),
});

const reset = operation({
  id: 'resetBreaker',
  method: 'POST',
  path: '/command/resetbreaker/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Commands',
  summary: 'Allow engine cuts again after too many',
  description: `Closes the breakers of the account and of its users and begins to count anew. Not that which the caller opened (422
\`conflict\`), nor by an administrator who was created, promoted, re-activated or given a password by another user within the last
day. While all are closed the call changes nothing. Opening and closing stand in the audit log, closing with \`reason\`. In an account with one
administrator the operator of the service resets them: \`fleetward-broker account reset-breaker\`.`,
  params: Type.Object({}),
  body: Type.Object(
    { reason: Type.String({ minLength: 1, maxLength: 200, description: 'Why it is safe to go on' }) },
    { additionalProperties: false },
  ),
  result: limits,
  errors: ['conflict'],
  effects: true,
  examples: {
    body: { reason: 'stolen convoy, agreed with the owner' },
    result: { ...exampleLimits, cuts: 0, accountCuts: 0 },
  },
  async run({ body, caller, source }, services) {
    const asker = askerOf(services, caller);
    const onlyIf = mayReset(asker);
    await services.db.write([
      auditEntry(
        services,
        { caller, source },
        { action: 'command.resetbreaker', object: caller.accountID, detail: body, onlyIf },
      ),
      ...resetBreaker(asker, onlyIf),
    ]);
    const view = await viewLimits(services, caller);
    if (!view.isBreakerOpen && view.stoppedUsers.length === 0) return view;
    throw new AppError('conflict', 'The breaker must be reset by another administrator; it is still open', {
      hint: 'Another administrator must do it, with role and password of at least a day. Restores are still accepted.',
    });
  },
});

export const commandBreakerOperations = [show, reset] as const;
