// Account operations of the service's operator, on a listener of its own. They reach accounts only: no device, no position,
// no command.
import { type Static, Type } from 'typebox';
import { idPatternSource } from '../../../src/core/ids.ts';
import {
  type AdministrationPorts,
  beginAccountDeletion,
  changeAccount,
  createAccount,
  generatePassword,
  needAccount,
} from '../../accounts/administration.ts';
import {
  type AccountFields,
  type AccountRow,
  countDevices,
  listAccounts,
} from '../../store/accounts/accounts.ts';
import type { ApiServices } from '../base/api-services.ts';
import {
  invalidAt,
  lineText,
  needStrongPassword,
  needTimeZone,
  newPassword,
  timeZone,
} from '../base/input-members.ts';
import { operation, type Pages } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needOperator } from './admin-caller.ts';

const account = Type.Object({
  accountID: Type.String({ description: 'The account' }),
  accountDisplayName: Type.String({ description: 'Name for people' }),
  isActive: Type.Boolean({ description: 'False: suspended' }),
  isDeleting: Type.Boolean({ description: 'True while it is being cleared away' }),
  createdOn: Type.Integer({ description: 'When it was made (epoch seconds)' }),
  expirationTime: Type.Integer({ description: 'When it ends (epoch seconds); 0 = never' }),
  maximumDevices: Type.Integer({ description: 'Most devices; 0 = no limit' }),
  deviceCount: Type.Integer({ description: 'Devices now' }),
  maximumRetainedDays: Type.Integer({
    description: 'Days that the account may keep events; 0 = no limit',
  }),
  maximumEventsPerSecond: Type.Integer({
    description:
      'Events a second that its devices may go on to send together; 0 = `ingest.accountEventsPerS`',
  }),
  retainedDays: Type.Integer({ description: 'Days that it does keep them; 0 = for ever' }),
  timeZone: Type.String({ description: 'IANA time zone' }),
  needsApproval: Type.Boolean({ description: 'True: an engine cut needs a second user' }),
  cutsPerHour: Type.Integer({ description: 'Restrictive commands of one user in an hour' }),
});
type AccountView = Static<typeof account>;

const exampleAccount: AccountView = {
  accountID: 'acme',
  accountDisplayName: 'Acme Haulage',
  isActive: true,
  isDeleting: false,
  createdOn: 1763683200,
  expirationTime: 0,
  maximumDevices: 500,
  deviceCount: 1,
  maximumRetainedDays: 365,
  maximumEventsPerSecond: 0,
  retainedDays: 365,
  timeZone: 'America/Toronto',
  needsApproval: false,
  cutsPerHour: 20,
};

/** An account as the operator sees it, here and at the command line. */
export async function viewAccount(db: ApiServices['db'], row: AccountRow): Promise<AccountView> {
  return {
    accountID: row.accountID,
    accountDisplayName: row.displayName,
    isActive: row.isActive,
    isDeleting: row.deletingS !== null,
    createdOn: row.createdS,
    expirationTime: row.expiresS ?? 0,
    maximumDevices: row.deviceLimit ?? 0,
    deviceCount: await countDevices(db, row.accountID),
    maximumRetainedDays: row.retainedMostDays ?? 0,
    maximumEventsPerSecond: row.eventsPerS ?? 0,
    retainedDays: row.retainedDays ?? 0,
    timeZone: row.timeZone,
    needsApproval: row.needsApproval,
    cutsPerHour: row.cutsPerHour,
  };
}

const portsOf = (services: ApiServices, source: string): AdministrationPorts => ({
  db: services.db,
  clock: services.clock,
  entropy: services.entropy,
  passwords: services.passwords,
  source,
});

const members = {
  accountDisplayName: Type.Optional(lineText(128, 'Name for people; the id when absent')),
  timeZone: Type.Optional(timeZone),
  isActive: Type.Optional(Type.Boolean({ description: 'False suspends the account, true opens it again' })),
  expirationTime: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 99_999_999_999, description: 'Epoch seconds; 0 = never' }),
  ),
  maximumDevices: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10_000_000, description: 'Most devices; 0 = no limit' }),
  ),
  maximumRetainedDays: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 36_500,
      description: 'Most days that events are kept; 0 = no limit',
    }),
  ),
  maximumEventsPerSecond: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description:
        'Events a second that its devices may go on to send together, what is beyond waits; 0 = `ingest.accountEventsPerS`',
    }),
  ),
  needsApproval: Type.Optional(Type.Boolean({ description: 'An engine cut needs a second user' })),
  cutsPerHour: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1000, description: 'Restrictive commands of one user in an hour' }),
  ),
} as const;

const accountBody = Type.Object(members);

/** 0 stands for no limit in the interface, null in the store. */
const limitOf = (value: number | undefined): number | null | undefined => (value === 0 ? null : value);

function fieldsOf(body: Static<typeof accountBody>): AccountFields {
  needTimeZone(body.timeZone);
  return {
    displayName: body.accountDisplayName,
    timeZone: body.timeZone,
    isActive: body.isActive,
    expiresS: limitOf(body.expirationTime),
    deviceLimit: limitOf(body.maximumDevices),
    retainedMostDays: limitOf(body.maximumRetainedDays),
    eventsPerS: limitOf(body.maximumEventsPerSecond),
    needsApproval: body.needsApproval,
    cutsPerHour: body.cutsPerHour,
  };
}

const accountsPerPage = 100;

async function* allAccounts({ db }: ApiServices): Pages<AccountView> {
  let after = '';
  for (;;) {
    const rows = await listAccounts(db, { after, limit: accountsPerPage });
    const page: AccountView[] = [];
    for (const row of rows) page.push(await viewAccount(db, row));
    if (page.length > 0) yield page;
    const last = rows.at(-1);
    if (last === undefined || rows.length < accountsPerPage) return;
    after = last.accountID;
  }
}

const adminAccounts = operation({
  id: 'adminGetAccounts',
  method: 'GET',
  path: '/admin/accounts/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: 'none',
  tag: 'Accounts',
  summary: 'All accounts',
  description: 'Every account of the service in the order of account ids, also those that are being deleted.',
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, accounts: Type.Array(account) }),
  errors: [],
  effects: false,
  examples: { result: { accounts: [exampleAccount] } },
  async run({ caller }, services) {
    needOperator(caller);
    return { ...ok, accounts: allAccounts(services) };
  },
});

const adminAccount = operation({
  id: 'adminGetAccount',
  method: 'GET',
  path: '/admin/getaccount/{accountID}/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: 'none',
  tag: 'Accounts',
  summary: 'One account',
  description:
    'State, limits and figures of an account. It is found until the last row of a deleted account is gone.',
  params: Type.Object({ accountID: Type.String({ description: 'The account' }) }),
  body: null,
  result: Type.Object({ ...account.properties, ...envelope }),
  errors: ['not_found'],
  effects: false,
  examples: { result: exampleAccount },
  async run({ params, caller, source }, services) {
    needOperator(caller);
    const row = await needAccount(portsOf(services, source), params.accountID);
    return { ...(await viewAccount(services.db, row)), ...ok };
  },
});

const adminCreate = operation({
  id: 'adminCreateAccount',
  method: 'POST',
  path: '/admin/createaccount/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: 'none',
  tag: 'Accounts',
  summary: 'Create an account with its first administrator',
  description: `Creates an account and its first administrator. Without \`password\` one is generated and stands in the answer, this
once; with it the answer's \`password\` is empty. An account of that id that is there, or is still being deleted, answers
422 \`conflict\`. For the limits 0 means none.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      accountID: Type.String({ pattern: idPatternSource, description: '1 to 64 of `A-Z a-z 0-9 _ -`' }),
      userID: Type.String({ pattern: idPatternSource, description: 'Its first administrator' }),
      password: Type.Optional(newPassword),
      ...members,
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...account.properties,
    userID: Type.String({ description: 'Its first administrator' }),
    password: Type.String({
      description: 'Password of that user when it was generated, else empty; shown once',
    }),
    ...envelope,
  }),
  errors: ['conflict', 'throttled'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { accountID: 'newcomer', userID: 'ann', maximumDevices: 50 },
    result: { ...exampleAccount, accountID: 'newcomer', userID: 'ann', password: 'oHh5tqXwQ1m0YxkqJ8cVw2nE' },
  },
  async run({ body, caller, source }, services) {
    needOperator(caller);
    const { accountID, userID } = body;
    if (body.password !== undefined) needStrongPassword(body.password, body);
    const generated = body.password === undefined ? generatePassword(services.entropy) : '';
    const ports = portsOf(services, source);
    const password = body.password ?? generated;
    await createAccount(ports, { accountID, userID, password, fields: fieldsOf(body) });
    const row = await needAccount(ports, accountID);
    return { ...(await viewAccount(services.db, row)), userID, password: generated, ...ok };
  },
});

const adminUpdate = operation({
  id: 'adminUpdateAccount',
  method: 'POST',
  path: '/admin/updateaccount/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: 'none',
  tag: 'Accounts',
  summary: 'Change, suspend or resume an account',
  description: `Changes the given members. \`isActive\` false, or an \`expirationTime\` that has passed: tokens of the account are refused
at once, its devices and live streams end within five seconds; nothing is lost, and \`isActive\` true or a later
\`expirationTime\` opens it again. A \`maximumDevices\` below what is there deletes nothing: it only lets no further device in.
An account that kept events as long as it could follows \`maximumRetainedDays\`; one that chose less keeps its choice. For
the limits 0 means none. While an account is being deleted the answer is 422 \`conflict\`, except that \`isActive\` true takes
back a deletion that waits because an engine is cut off after all. \`needsApproval\` true answers 422 \`conflict\` while a geozone
of the account asks for an engine cut; false switches the second user off at
once, which the account's own administrators cannot. Every change stands in the account's own audit log too.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      accountID: Type.String({ minLength: 1, maxLength: 64, description: 'The account' }),
      ...members,
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ ...account.properties, ...envelope }),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { accountID: 'acme', maximumDevices: 500 }, result: exampleAccount },
  async run({ body, caller, source }, services) {
    needOperator(caller);
    const row = await changeAccount(portsOf(services, source), body.accountID, fieldsOf(body));
    return { ...(await viewAccount(services.db, row)), ...ok };
  },
});

const adminDelete = operation({
  id: 'adminDeleteAccount',
  method: 'POST',
  path: '/admin/deleteaccount/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: 'none',
  tag: 'Accounts',
  summary: 'Delete an account with everything in it',
  description: `Closes the account at once and for good, then clears away everything of it in small batches in the background: devices,
users, settings, and events last. Until that is done the account is shown with \`isDeleting\` and its id is taken. The audit
log keeps its chain and the hashes of its details; the details themselves are emptied. Refused (422 \`conflict\`) while an
engine of the account is cut off or a cut-off is under way: restore it first. \`confirm\` must repeat the account's id.
Deleting it again while it is being deleted changes nothing.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      accountID: Type.String({ minLength: 1, maxLength: 64, description: 'The account' }),
      confirm: Type.String({ maxLength: 64, description: 'The same id once more' }),
    },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { accountID: 'leaver', confirm: 'leaver' } },
  async run({ body, caller, source }, services) {
    needOperator(caller);
    if (body.confirm !== body.accountID) {
      throw invalidAt('/confirm', 'must repeat the accountID');
    }
    await beginAccountDeletion(portsOf(services, source), body.accountID);
    return ok;
  },
});

export const adminAccountOperations = [
  adminAccounts,
  adminAccount,
  adminCreate,
  adminUpdate,
  adminDelete,
] as const;
