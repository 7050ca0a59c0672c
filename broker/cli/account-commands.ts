// `fleetward-broker account ...` on existing accounts: calls the operator's operations at the machine itself and prints
// their results.
import { AppError } from '../../src/core/errors.ts';
import { clearSome } from '../accounts/account-deletion.ts';
import {
  type AdministrationPorts,
  beginAccountDeletion,
  changeAccount,
  confirmUser,
  needAccount,
  resetBreakers,
} from '../accounts/administration.ts';
import { type MadeLoginCode, makeLoginCode } from '../accounts/login-code.ts';
import { viewAccount } from '../api/operator/admin-accounts.ts';
import { featureTables } from '../features.ts';
import { type AccountFields, listAccounts } from '../store/accounts/accounts.ts';
import { purgeSome } from '../upkeep/purge.ts';
import type { AccountAction, Flags } from './command-line.ts';

export interface CommandPorts extends AdministrationPorts {
  /** A line for people about work that takes long. */
  readonly onProgress: (line: string) => void;
}

interface Output {
  readonly json: object;
  readonly text: string;
}

type View = Awaited<ReturnType<typeof viewAccount>>;

const stateOf = ({ isActive, isDeleting, expirationTime }: View, nowS: number): string => {
  if (isDeleting) return 'deleting';
  if (!isActive) return 'suspended';
  return expirationTime !== 0 && expirationTime <= nowS ? 'expired' : 'active';
};

const limitText = (value: number): string => (value === 0 ? 'no limit' : `at most ${value}`);
const dayText = (epochS: number): string => new Date(epochS * 1000).toISOString().slice(0, 10);

function describe(view: View, nowS: number): string {
  return [
    `account ${view.accountID}: ${stateOf(view, nowS)}`,
    `name: ${view.accountDisplayName}`,
    `created: ${dayText(view.createdOn)}`,
    `expires: ${view.expirationTime === 0 ? 'never' : new Date(view.expirationTime * 1000).toISOString()}`,
    `devices: ${view.deviceCount} (${limitText(view.maximumDevices)})`,
    `days that events are kept: ${view.retainedDays === 0 ? 'for ever' : view.retainedDays} (${limitText(view.maximumRetainedDays)})`,
    `events a second: ${view.maximumEventsPerSecond === 0 ? 'as the service allows' : limitText(view.maximumEventsPerSecond)}`,
    `engine cut needs a second user: ${view.needsApproval ? 'yes' : 'no'}`,
    `cuts per user and hour: ${view.cutsPerHour}`,
  ].join('\n');
}

const nowSOf = ({ clock }: CommandPorts): number => Math.floor(clock.utcMs() / 1000);

async function show(ports: CommandPorts, accountID: string): Promise<Output> {
  const view = await viewAccount(ports.db, await needAccount(ports, accountID));
  return { json: view, text: describe(view, nowSOf(ports)) };
}

const accountsPerRead = 500;

async function list(ports: CommandPorts): Promise<Output> {
  const views: View[] = [];
  let after = '';
  for (;;) {
    const rows = await listAccounts(ports.db, { after, limit: accountsPerRead });
    for (const row of rows) views.push(await viewAccount(ports.db, row));
    const last = rows.at(-1);
    if (last === undefined || rows.length < accountsPerRead) break;
    after = last.accountID;
  }
  const width = Math.max(7, ...views.map(({ accountID }) => accountID.length));
  const lines = views.map((view) => {
    const state = stateOf(view, nowSOf(ports)).padEnd(9);
    return `${view.accountID.padEnd(width)}  ${state}  ${String(view.deviceCount).padStart(7)}`;
  });
  const head = `${'ACCOUNT'.padEnd(width)}  STATE      DEVICES`;
  return { json: { accounts: views }, text: [head, ...lines].join('\n') };
}

/** A flag as it was written; the parser may have made a number of it. */
function textOf(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** A count of a limit flag; `none` takes the limit away. @throws AppError `usage`. */
function countOf(flags: Flags, name: string): number | null | undefined {
  const text = textOf(flags, name);
  if (text === undefined) return undefined;
  if (text === 'none') return null;
  const count = /^\d{1,8}$/.test(text) ? Number(text) : 0;
  if (count >= 1) return count;
  throw new AppError(
    'usage',
    `--${name} ${JSON.stringify(text)} is neither a whole number from 1 on nor none`,
  );
}

/** Epoch seconds of `--expires`. @throws AppError `usage`. */
function expiryOf(flags: Flags): number | null | undefined {
  const text = textOf(flags, 'expires');
  if (text === undefined) return undefined;
  if (text === 'none') return null;
  if (/^\d{9,11}$/.test(text)) return Number(text);
  const dayMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isFinite(dayMs) && dayMs > 0) return dayMs / 1000;
  throw new AppError(
    'usage',
    `--expires ${JSON.stringify(text)} is neither YYYY-MM-DD, epoch seconds nor none`,
  );
}

function limitsOf(flags: Flags): AccountFields {
  const fields: AccountFields = {
    deviceLimit: countOf(flags, 'devices'),
    retainedMostDays: countOf(flags, 'retained-days'),
    eventsPerS: countOf(flags, 'events-per-s'),
    expiresS: expiryOf(flags),
  };
  if (Object.values(fields).every((value) => value === undefined)) {
    throw new AppError('usage', 'No limit was given', {
      hint: 'Give --devices, --retained-days, --events-per-s or --expires.',
    });
  }
  return fields;
}

const quietMs = 2000;

/** Says how far it is, once it takes longer than two seconds and then every two. */
function createProgress({ clock, onProgress }: CommandPorts, accountID: string) {
  let reportedMs = clock.monoMs();
  let events = 0;
  return (deleted: number): void => {
    events += deleted;
    if (clock.monoMs() - reportedMs < quietMs) return;
    reportedMs = clock.monoMs();
    onProgress(`Deleting ${accountID}: ${events} events so far`);
  };
}

async function remove(ports: CommandPorts, flags: Flags): Promise<Output> {
  const accountID = String(flags['accountID']);
  await needAccount(ports, accountID);
  if (flags['yes'] !== true) {
    throw new AppError(
      'usage',
      `This deletes account ${accountID} with its devices, users and events for good`,
      {
        hint: 'Add --yes to do it.',
      },
    );
  }
  await beginAccountDeletion(ports, accountID);
  const reportProgress = createProgress(ports, accountID);
  const silent = () => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent, with: () => log };
  for (;;) {
    const progress = await clearSome({ ...ports, log, featureTables }, accountID);
    if (progress === 'gone') break;
    const purged = progress === 'waiting' ? await purgeSome({ ...ports, log }) : 0;
    if (purged === null) {
      throw new AppError('conflict', `An engine of account ${accountID} is cut off after all`, {
        hint: 'Open the account again with: fleetward-broker account resume, and restore the engine.',
      });
    }
    reportProgress(purged);
  }
  return { json: { accountID, isDeleted: true }, text: `Deleted account ${accountID}` };
}

const describeLoginCode = ({ code, expires }: MadeLoginCode): string =>
  [
    `code: ${code}   (shown once, works once, until ${new Date(expires * 1000).toISOString()})`,
    `Open the console at the service's address with this path: /console/login#code=${code}`,
  ].join('\n');

/** Carries out one command. @throws AppError `usage`, `not_found`, `conflict`. */
export async function runAccountCommand(
  ports: CommandPorts,
  action: AccountAction,
  flags: Flags,
): Promise<Output> {
  if (action === 'list') return list(ports);
  if (action === 'delete') return remove(ports, flags);
  const accountID = String(flags['accountID']);
  if (action === 'suspend') await changeAccount(ports, accountID, { isActive: false });
  if (action === 'resume') await changeAccount(ports, accountID, { isActive: true });
  if (action === 'confirm') {
    const userID = String(flags['userID']);
    await confirmUser(ports, { accountID, userID });
    return {
      json: { accountID, userID, isConfirmed: true },
      text: `Confirmed user ${userID} of account ${accountID}`,
    };
  }
  if (action === 'reset-breaker') {
    await resetBreakers(ports, accountID);
    return {
      json: { accountID, isBreakerOpen: false },
      text: `Account ${accountID} takes engine cuts again`,
    };
  }
  if (action === 'login-code') {
    const userID = String(flags['userID']);
    const made = await makeLoginCode(ports, { accountID, userID });
    return { json: { accountID, userID, ...made }, text: describeLoginCode(made) };
  }
  if (action === 'limit') await changeAccount(ports, accountID, limitsOf(flags));
  return show(ports, accountID);
}
