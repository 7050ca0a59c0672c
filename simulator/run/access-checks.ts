// Tries forbidden access at the end of a run: a vehicle with another secret, a reader without a token, and at the run's own
// broker a reader of another account.

import { AppError, type ErrorCode, messageOf } from '../../src/core/errors.ts';
import { vehicleBreach } from '../core/ledger/breach.ts';
import type { Ledger } from '../core/ledger/ledger.ts';
import { logInAsDevice } from './link/device-login.ts';
import type { BrokerAccess } from './service/broker-access.ts';
import type { Provisioned } from './service/provision.ts';
import { openService, type Service } from './service/service.ts';
import type { RunPorts } from './shared/run-ports.ts';

/** Another account, which may see nothing of the run. */
const otherAccountID = 'other';

/** Another secret of the same shape. */
const otherSecret = (secret: string): string => `${secret.startsWith('A') ? 'B' : 'A'}${secret.slice(1)}`;

/** True when the broker accepts a client as this device with another secret. */
async function isLetIn(ports: RunPorts, { target }: BrokerAccess, device: Provisioned): Promise<boolean> {
  const login = await logInAsDevice(ports, target, { ...device, secret: otherSecret(device.secret) });
  login.close();
  return login.isIn;
}

const refusals: ReadonlySet<ErrorCode> = new Set(['not_found', 'unauthorized', 'login_failed', 'forbidden']);

/** The service's answer to a user without rights to a device; null: it refused. */
async function answerOf(ask: () => Promise<unknown>): Promise<string | null> {
  try {
    return JSON.stringify(await ask()).slice(0, 200);
  } catch (thrown) {
    const isRefused = thrown instanceof AppError && refusals.has(thrown.code);
    return isRefused ? null : messageOf(thrown);
  }
}

/** Prefix of everything that the run makes. */
const ownPrefix = 'sim-';

/** Lists of an account; in another one's stands nothing of the run. */
const lists = [
  '/device/getalldevices',
  '/eventdata/fleetdata/0/0',
  '/events/activations',
  '/notification/getallpushnotifications',
  '/alarm/alarms',
  '/geozone/getgeozones',
  '/group/groups',
  '/user/getallusers',
  '/command/approvals',
  '/notification/rules',
  '/notification/deliveries',
  '/notificationqueue/getMessages',
  '/diagnostic/diagnosticall',
  '/device/lostvehicles',
  '/audit/entries',
] as const;

const readsOf = (deviceID: string): readonly string[] =>
  [
    `/device/getdevice/${deviceID}`,
    `/eventdata/devicedata/${deviceID}/0/0`,
    `/eventdata/latest/${deviceID}`,
    `/command/list/${deviceID}`,
    `/settings/device/${deviceID}`,
    `/report/trips/${deviceID}/0/0`,
    `/notificationqueue/sentmessages/${deviceID}`,
  ].map((path) => `${path}/authorization`);

/** Forbidden reads and actions that another account succeeds with; one text each. */
async function lookAsOther(other: Service, deviceID: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of readsOf(deviceID)) {
    const seen = await answerOf(() => other.call({ path }));
    if (seen !== null) found.push(`read by another account, ${path}: ${seen}`);
  }
  for (const path of lists) {
    const listed = JSON.stringify(await other.call({ path: `${path}/authorization` }));
    if (listed.includes(ownPrefix)) found.push(`named to another account by ${path}`);
  }
  const body = { deviceID, feature: 'enginecutoff', state: '0' };
  const order = { method: 'POST', path: '/command/feature/authorization', body } as const;
  const taken = await answerOf(() => other.call(order));
  if (taken !== null) found.push(`commanded by another account: ${taken}`);
  return found;
}

/** Records in the ledger each access that was not refused. */
export async function checkAccess(
  ports: RunPorts,
  access: BrokerAccess,
  { device, ledger }: { readonly device: Provisioned; readonly ledger: Ledger },
): Promise<void> {
  const { target, own } = access;
  const { deviceID } = device;
  const found = (words: string): void => ledger.breach(vehicleBreach('accessWrong', deviceID, words));
  if (await isLetIn(ports, access, device)) found('connected with another secret than its own');
  for (const path of [...readsOf(deviceID), ...lists.map((one) => `${one}/authorization`)]) {
    const answer = await answerOf(() => access.service.call({ path, token: null }));
    if (answer !== null) found(`read without a token, ${path}: ${answer}`);
  }
  if (own === null) return;
  const other = await openService(target.http, await own.createAccount(otherAccountID), target.ca ?? null);
  try {
    for (const words of await lookAsOther(other, deviceID)) found(words);
  } finally {
    await other.close();
  }
}
