// `fleetward-broker device`: devices, their secrets and one-time codes, on the machine itself. Secrets are shown once.
import { createEnrolmentCrypto } from '../../src/adapters/enrolment-crypto.ts';
import { AppError } from '../../src/core/errors.ts';
import { createDevice } from '../accounts/administration.ts';
import { issueDeviceSecret } from '../accounts/issue-device-secret.ts';
import { showServiceCode } from '../commands/service-codes.ts';
import { codeHoursMost } from '../config/enrolment-config.ts';
import { type DeviceKey } from '../core/device-key.ts';
import { makeEnrolmentCode } from '../devices/enrolment.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import { isThere } from '../store/devices/device-limit.ts';
import { findDevice } from '../store/devices/devices.ts';
import type { Flags } from './command-line.ts';
import { loadFleetKey } from './known-fleet.ts';
import { administer, configOf, needDatabase, print } from './program.ts';

const keyOf = (flags: Flags): DeviceKey => ({
  accountID: String(flags['accountID']),
  deviceID: String(flags['deviceID']),
});

/** Makes a device, or a new secret of one. */
export async function runDevice(flags: Flags, action: 'create' | 'secret'): Promise<void> {
  const key = keyOf(flags);
  const config = configOf(flags).value;
  needDatabase(config);
  await administer(config, async (ports) => {
    const { publicKey } = await loadFleetKey(config, ports.db, flags);
    const secret =
      action === 'create'
        ? await createDevice(ports, key)
        : await issueDeviceSecret(ports.db, ports.entropy, ports.clock, key);
    const username = `${key.accountID}/${key.deviceID}`;
    const text = `username: ${username}\nsecret: ${secret}   (shown once)\nbroker public key: ${publicKey}`;
    print(flags, { json: { ...key, username, secret, publicKey }, text });
  });
}

/** Makes an enrolment code, of a new device where that is wanted; whether the unit is connected now is what the running broker last wrote. */
export async function runDeviceCode(flags: Flags): Promise<void> {
  const key = keyOf(flags);
  const config = configOf(flags).value;
  needDatabase(config);
  const hours = hoursOf(flags['hours']) ?? config.enrolment.codeHours;
  await administer(config, async (ports) => {
    // Its first secret is never shown: the code brings the unit one of its own.
    if (flags['create'] === true) await createDevice(ports, key);
    const crypto = createEnrolmentCrypto(ports.entropy);
    const request = { key, hours, actor: 'operator', source: '' };
    const made = await makeEnrolmentCode({ ...ports, crypto }, request);
    const isOnline = (await findDevice(ports.db, key))?.isOnline === true;
    const expires = Math.floor(made.expiresMs / 1000);
    const warning = isOnline ? '\nits unit is connected now: using the code cuts it off' : '';
    const use = `fleetward-agent enrol --broker <http address of this broker> --code ${made.code}`;
    const text = `${made.code}   (shown once, good for ${hours} h and one unit)\non the vehicle: ${use}${warning}`;
    print(flags, { json: { ...key, code: made.code, codeID: made.codeID, expires, isOnline }, text });
  });
}

/** @throws AppError `usage`. */
function hoursOf(text: unknown): number | null {
  if (text === undefined) return null;
  const hours = Number(text);
  if (Number.isInteger(hours) && hours >= 1 && hours <= codeHoursMost) return hours;
  throw new AppError('usage', `--hours must be a whole number from 1 to ${codeHoursMost}`);
}

/** Shows the next one-time code that restores the engine at the vehicle, for when the service cannot be asked. */
export async function runServiceCode(flags: Flags): Promise<void> {
  const key = keyOf(flags);
  const config = configOf(flags).value;
  needDatabase(config);
  await administer(config, async ({ db, clock }) => {
    const device = await findDevice(db, key);
    if (device === null)
      throw new AppError('not_found', `There is no device ${key.deviceID} in account ${key.accountID}`);
    const { accountID, deviceID } = key;
    const entry = {
      accountID,
      atMs: Math.round(clock.utcMs()),
      actor: 'operator',
      source: '',
      object: deviceID,
    };
    const audit = insertAudit({ ...entry, action: 'device.servicecode', detail: {} }, isThere(key));
    const { code, number } = await showServiceCode(db, { ...key, deviceNo: device.deviceNo }, audit);
    const text = `${code}   (shown once, works once, restores the engine of ${key.deviceID} and does nothing else)`;
    print(flags, { json: { ...key, code, number }, text });
  });
}
