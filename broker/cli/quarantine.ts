// `fleetward-broker quarantine`: unreadable payloads, on the machine itself.
import { AppError } from '../../src/core/errors.ts';
import type { AdministrationPorts } from '../accounts/administration.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import { wholeAccount } from '../store/base/scope.ts';
import { findDevice } from '../store/devices/devices.ts';
import {
  dropEntries,
  findEntry,
  holdsEntries,
  listEntries,
  quarantineMost,
} from '../store/events/quarantine.ts';
import type { Flags } from './command-line.ts';
import { administer, configOf, needDatabase, print } from './program.ts';

type Key = { readonly accountID: string; readonly deviceID: string };

const timeOf = (ms: number): string => new Date(ms).toISOString();

async function list({ db }: AdministrationPorts, { accountID, deviceID }: Key) {
  const page = { deviceID, before: Number.MAX_SAFE_INTEGER, limit: quarantineMost };
  const entries = await listEntries(db, wholeAccount(accountID), page);
  const lines = entries.map(
    (one) =>
      `${String(one.quarantineNo).padStart(10)}  ${timeOf(one.receivedMs)}  ${String(one.bytes).padStart(7)} bytes  ${one.reason}`,
  );
  return {
    json: { accountID, deviceID, payloads: entries },
    text: lines.join('\n') || 'Quarantine is empty',
  };
}

async function show({ db }: AdministrationPorts, { accountID, deviceID }: Key, id: string) {
  const entry = /^\d{1,15}$/.test(id) ? await findEntry(db, wholeAccount(accountID), Number(id)) : null;
  if (entry === null || entry.deviceID !== deviceID) {
    throw new AppError('not_found', `There is no payload ${id} of ${deviceID} in quarantine`);
  }
  const payload = Buffer.from(entry.payload).toString('base64');
  const text = `topic: ${entry.topic}\nreceived: ${timeOf(entry.receivedMs)}\nreason: ${entry.reason}\n${payload}`;
  return { json: { accountID, ...entry, payload }, text };
}

async function drop({ db, clock }: AdministrationPorts, { accountID, deviceID }: Key) {
  const all = { accountID, deviceID, quarantineNo: null };
  const audit = {
    accountID,
    atMs: Math.round(clock.utcMs()),
    actor: 'operator',
    source: '',
    action: 'quarantine.drop',
    object: deviceID,
    detail: { quarantineID: 'all' },
  };
  const results = await db.write([insertAudit(audit, holdsEntries(all)), dropEntries(all)]);
  const dropped = results[1]?.changes ?? 0;
  return { json: { accountID, deviceID, dropped }, text: `Deleted ${dropped} payloads of ${deviceID}` };
}

/** Lists, shows or drops what a device sent that could not be read. @throws AppError `not_found`. */
export async function runQuarantine(flags: Flags, action: 'list' | 'show' | 'drop'): Promise<void> {
  const key = { accountID: String(flags['accountID']), deviceID: String(flags['deviceID']) };
  const config = configOf(flags).value;
  needDatabase(config);
  await administer(config, async (ports) => {
    if ((await findDevice(ports.db, key)) === null) {
      throw new AppError('not_found', `There is no device ${key.deviceID} in account ${key.accountID}`);
    }
    if (action === 'list') print(flags, await list(ports, key));
    else if (action === 'drop') print(flags, await drop(ports, key));
    else print(flags, await show(ports, key, String(flags['quarantineID'])));
  });
}
