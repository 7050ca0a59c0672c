// The caller's own account: its figures for every user, its settings for administrators. Decisions of the service's
// operator (limits, suspension, deletion) are in admin-accounts.ts, on a listener of its own.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import type { Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { needNoCuttingZones } from '../../accounts/administration.ts';
import type { UserTopic } from '../../core/notifications/notice.ts';
import {
  type AccountRow,
  countDevices,
  findAccount,
  lockAccount,
  updateAccount,
} from '../../store/accounts/accounts.ts';
import {
  type AdminRequest,
  approvalOffLifeS,
  isApprovalOffOpen,
  maySwitchOff,
  requestApprovalOff,
} from '../../store/accounts/second-person.ts';
import { isWithoutCuts } from '../../store/geozones/geozones.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry, changesOf } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { lineText, needTimeZone, passwordAgain, timeZone } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { baseMap } from '../service/maps.ts';
import { provePasswordAgain } from './password-proof.ts';
import { noticeOf } from './user-notice.ts';

const accountZone = Type.String({ description: 'IANA time zone; default of new users' });

const figures = {
  isActive: Type.Boolean({ description: 'False: suspended or expired' }),
  expirationTime: Type.Integer({ description: 'When the account ends (epoch seconds); 0 = never' }),
  maximumDevices: Type.Integer({ description: 'Most devices; 0 = no limit' }),
  deviceCount: Type.Integer({ description: 'Devices now' }),
} as const;

const nowSOf = ({ clock }: ApiServices): number => Math.floor(clock.utcMs() / 1000);

/** @throws AppError `not_found`, with the same message whether there is such an account or not. */
async function needOwn(services: ApiServices, caller: Caller, accountID: string): Promise<AccountRow> {
  const row = accountID === caller.accountID ? await findAccount(services.db, accountID) : null;
  if (row === null) throw new AppError('not_found', `There is no account ${JSON.stringify(accountID)}`);
  return row;
}

async function viewFigures(services: ApiServices, row: AccountRow) {
  return {
    isActive: row.isActive && (row.expiresS === null || nowSOf(services) < row.expiresS),
    expirationTime: row.expiresS ?? 0,
    maximumDevices: row.deviceLimit ?? 0,
    deviceCount: await countDevices(services.db, row.accountID),
  };
}

const checkAccount = operation({
  id: 'checkAccount',
  method: 'GET',
  path: '/auth/checkaccount/{accountID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Accounts',
  summary: 'State and limits of the own account',
  description: `Whether the account is active, when it ends (\`expirationTime\`, 0 = never), how many devices it may have
(\`maximumDevices\`, 0 = no limit) and how many it has, and its time
zone. Any account but the caller's own answers 404, whether it exists or not.`,
  params: Type.Object({ accountID: Type.String({ description: 'The own account' }) }),
  body: null,
  result: Type.Object({ timeZone: accountZone, ...figures, ...envelope }),
  errors: ['not_found'],
  effects: false,
  examples: {
    result: {
      timeZone: 'America/Toronto',
      isActive: true,
      expirationTime: 0,
      maximumDevices: 500,
      deviceCount: 1,
    },
  },
  async run({ params, caller }, services) {
    const row = await needOwn(services, caller, params.accountID);
    return { timeZone: row.timeZone, ...(await viewFigures(services, row)), ...ok };
  },
});

const settings = Type.Object({
  accountID: Type.String({ description: 'The account' }),
  accountDisplayName: Type.String({ description: 'Name for people' }),
  timeZone: accountZone,
  needsApproval: Type.Boolean({ description: 'True: an engine cut needs a second user' }),
  needsPassword: Type.Boolean({
    description: 'True: a command of state `1`, and its approval, need the password again',
  }),
  approvalOffRequestedBy: Type.String({
    description: 'Administrator who asks to switch that off; empty when none does',
  }),
  approvalOffRequestedOn: Type.Integer({ description: 'Since when (epoch seconds); 0 when none does' }),
  cutsPerHour: Type.Integer({ description: 'Restrictive commands of one user in an hour' }),
  baseMap: Type.String({
    description: 'What maps of the console draw below the vehicles; empty: the built-in world',
  }),
  retainedDays: Type.Integer({ description: 'Days that events are kept; 0 = for ever' }),
  maximumRetainedDays: Type.Integer({ description: 'Most days that may be chosen; 0 = no limit' }),
  ...figures,
  ...envelope,
});

const exampleSettings: Static<typeof settings> = {
  accountID: 'acme',
  accountDisplayName: 'Acme Haulage',
  timeZone: 'America/Toronto',
  needsApproval: false,
  needsPassword: false,
  approvalOffRequestedBy: '',
  approvalOffRequestedOn: 0,
  cutsPerHour: 20,
  baseMap: 'file:toronto.pmtiles',
  retainedDays: 0,
  maximumRetainedDays: 0,
  isActive: true,
  expirationTime: 0,
  maximumDevices: 500,
  deviceCount: 1,
  ...ok,
};

async function viewSettings(services: ApiServices, caller: Caller): Promise<Static<typeof settings>> {
  const row = await needOwn(services, caller, caller.accountID);
  const isRequested = row.approvalOffS !== null && row.approvalOffS > nowSOf(services) - approvalOffLifeS;
  return {
    accountID: row.accountID,
    accountDisplayName: row.displayName,
    timeZone: row.timeZone,
    needsApproval: row.needsApproval,
    needsPassword: row.needsPassword,
    approvalOffRequestedBy: isRequested ? (row.approvalOffBy ?? '') : '',
    approvalOffRequestedOn: isRequested ? (row.approvalOffS ?? 0) : 0,
    cutsPerHour: row.cutsPerHour,
    baseMap: row.baseMap ?? '',
    retainedDays: row.retainedDays ?? 0,
    maximumRetainedDays: row.retainedMostDays ?? 0,
    ...(await viewFigures(services, row)),
    ...ok,
  };
}

const getAccount = operation({
  id: 'getAccount',
  method: 'GET',
  path: '/auth/account/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Accounts',
  summary: 'Settings of the account',
  description: `Settings and limits of the caller's account. \`approvalOffRequestedBy\` names an administrator who wants to switch off
the rule that an engine cut needs a second user: see \`updateAccount\`.`,
  params: Type.Object({}),
  body: null,
  result: settings,
  errors: [],
  effects: false,
  examples: { result: exampleSettings },
  run: ({ caller }, services) => viewSettings(services, caller),
});

/** The days an account may choose: not more than the service's operator allows, and for ever only without a limit. */
function retainedFits(days: number | null): Statement {
  return days === null
    ? sql`retained_most_days IS NULL`
    : sql`(retained_most_days IS NULL OR retained_most_days >= ${days})`;
}

/** Records in the audit log, and to every administrator, that commands no longer need the password; after the change. */
function passwordOff(services: ApiServices, actor: Actor, { accountID }: AccountRow): readonly Statement[] {
  const { userID } = actor.caller;
  const onlyIf = sql`EXISTS (SELECT 1 FROM accounts WHERE account_id = ${accountID} AND needs_password = 0)`;
  return [
    auditEntry(services, actor, { action: 'account.passwordoff', object: accountID, onlyIf }),
    ...noticeOf(services, actor.caller, { userID, topic: 'password_off', onlyIf }),
  ];
}

/**
 * Switches the second-person rule off, or records the request for it; only if `fits`. Both stand in the audit log, and every
 * administrator is notified.
 */
function approvalOff(
  services: ApiServices,
  actor: Actor,
  { request, fits }: { readonly request: AdminRequest; readonly fits: Statement },
): readonly Statement[] {
  const { accountID, userID } = request;
  const isAgreed = sql`${maySwitchOff(request)} AND ${fits}`;
  const isAsked = sql`${isApprovalOffOpen(request)} AND ${fits}`;
  const record = (action: string, topic: UserTopic, onlyIf: Statement): readonly Statement[] => [
    auditEntry(services, actor, { action, object: accountID, onlyIf }),
    ...noticeOf(services, actor.caller, { userID, topic, onlyIf }),
  ];
  return [
    ...record('account.approvaloff', 'approval_off', isAgreed),
    updateAccount(accountID, { needsApproval: false }, isAgreed),
    ...record('account.askapprovaloff', 'approval_off_asked', isAsked),
    sql`${requestApprovalOff(request)} AND ${fits}`,
  ];
}

/** The account as its changes are recorded. */
const recorded = (row: AccountRow): Readonly<Record<string, unknown>> => ({
  accountDisplayName: row.displayName,
  timeZone: row.timeZone,
  cutsPerHour: row.cutsPerHour,
  baseMap: row.baseMap ?? '',
  retainedDays: row.retainedDays ?? 0,
  needsPassword: row.needsPassword,
  needsApproval: row.needsApproval,
});

const changeAccount = operation({
  id: 'updateAccount',
  method: 'POST',
  path: '/auth/updateaccount/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Accounts',
  summary: 'Change settings of the account',
  description: `Changes the given settings of the caller's own account; any other \`accountID\` answers 404.

\`needsApproval\` true: from now on an engine cut needs a second user. While a geozone of the account asks for an engine cut
(\`...EngineOff\`) the answer is 422 \`conflict\` and nothing is changed: switch that off first. Cuts that one user asked for
before are not touched: withdraw them with \`cancelCommand\`. Switching it off is never done by one person at once:
\`needsApproval\` false first only records who asks (\`approvalOffRequestedBy\`). It takes effect when another administrator
asks for the same, or, where no other administrator counts, when the only one asks again a day later; a request is forgotten
after seven days, and \`needsApproval\` true withdraws it. An administrator counts who was not made, promoted, re-activated or given
a password by another user within the last day, or without a confirmation (\`confirmUser\`). Every step stands in the audit log and
in the inbox of every administrator.

\`needsPassword\` true: from now on every command of state \`1\` (engine cut, cargo unlock) and every approval needs the password
of its user once more; a restore never does. Geozones that cut by themselves go on, and \`commandSend\`, which has no body, sends safe
states only. Switching it off needs the administrator's own \`password\` (422 \`password_needed\`, \`password_wrong\`), so that a token
alone cannot do it; every administrator gets a notice, and it stands in the audit log (\`account.passwordoff\`).

\`cutsPerHour\`: restrictive commands of one user within an hour; 0 = none at all. \`retainedDays\`: how long events are kept,
not above \`maximumRetainedDays\`; 0 = for ever, where that has no limit. A shorter time deletes older events for good.

\`baseMap\`: what maps of the console draw below the vehicles for every user of the account who has not chosen otherwise: \`world\`, \`file:\` with the
name of a map file, or \`style\` for the map of another host, which then learns where users look; see \`getMaps\`.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      accountID: Type.String({ minLength: 1, maxLength: 64, description: 'The own account' }),
      accountDisplayName: Type.Optional(lineText(128, 'Name for people')),
      timeZone: Type.Optional(timeZone),
      needsApproval: Type.Optional(Type.Boolean({ description: 'An engine cut needs a second user' })),
      needsPassword: Type.Optional(
        Type.Boolean({ description: 'A command of state `1`, and its approval, need the password again' }),
      ),
      password: Type.Optional(passwordAgain),
      cutsPerHour: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1000,
          description: 'Restrictive commands of one user in an hour',
        }),
      ),
      baseMap: Type.Optional(baseMap),
      retainedDays: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 36_500, description: 'Days that events are kept; 0 = for ever' }),
      ),
    },
    { additionalProperties: false },
  ),
  result: settings,
  errors: ['not_found', 'conflict', 'password_needed', 'password_wrong'],
  effects: true,
  proofMember: 'password',
  examples: {
    body: { accountID: 'acme', accountDisplayName: 'Acme Haulage', timeZone: 'America/Toronto' },
    result: exampleSettings,
  },
  async run({ body, caller, source }, services) {
    const { accountID, needsApproval, needsPassword, accountDisplayName: displayName, cutsPerHour } = body;
    const known = await needOwn(services, caller, accountID);
    const actor = { caller, source };
    const isPasswordOff = needsPassword === false && known.needsPassword;
    if (isPasswordOff) await provePasswordAgain(services, actor, body.password);
    needTimeZone(body.timeZone);
    const retainedDays = body.retainedDays === 0 ? null : body.retainedDays;
    const fitsDays = retainedDays === undefined ? sql`1 = 1` : retainedFits(retainedDays);
    const fits = needsApproval === true ? sql`${fitsDays} AND ${isWithoutCuts(accountID)}` : fitsDays;
    const onlyIf = sql`EXISTS (SELECT 1 FROM accounts WHERE account_id = ${accountID} AND ${fits})`;
    const fields = {
      displayName,
      timeZone: body.timeZone,
      cutsPerHour,
      baseMap: body.baseMap,
      retainedDays,
      // Switched on by another request meanwhile, it stays on: this one has proven no password.
      needsPassword: needsPassword === true || isPasswordOff ? needsPassword : undefined,
      needsApproval: needsApproval === true ? true : undefined,
    };
    const request = { accountID, userID: caller.userID, nowS: nowSOf(services) };
    const { accountID: _own, password: _proof, ...given } = body;
    // A rule that is switched off has an entry of its own, when that has come to pass.
    const rules = { needsPassword: fields.needsPassword, needsApproval: fields.needsApproval };
    const detail = changesOf(recorded(known), { ...given, ...rules });
    const [, , updated] = await services.db.write([
      lockAccount(accountID),
      auditEntry(services, actor, { action: 'account.update', object: accountID, detail, onlyIf }),
      updateAccount(accountID, fields, onlyIf),
      ...(isPasswordOff ? passwordOff(services, actor, known) : []),
      ...(needsApproval === false ? approvalOff(services, actor, { request, fits: onlyIf }) : []),
    ]);
    if (updated?.changes !== 1) {
      if (needsApproval === true) await needNoCuttingZones(services.db, accountID);
      throw new AppError('conflict', '/retainedDays is above what the operator of the service allows', {
        details: [{ pointer: '/retainedDays', message: 'is above `maximumRetainedDays`' }],
      });
    }
    if (isPasswordOff || needsApproval === false) services.wakeDelivery();
    return viewSettings(services, caller);
  },
});

export const accountOperations = [checkAccount, getAccount, changeAccount] as const;
