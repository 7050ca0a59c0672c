// Device certificates in the broker's database, for `fleetward-broker ca`: record, list and revoke. A revocation is in the
// account's audit log and is final.
import { type KeyObject, X509Certificate } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { formatDeviceUser, parseDeviceUser } from '../../src/core/wire/topics.ts';
import type { Clock, Database } from '../../src/ports.ts';
import type { Issuer } from '../adapters/keys/certificate-writer.ts';
import type { BrokerConfig } from '../config/broker-config.ts';
import { normalizeSerial } from '../core/accounts/client-certificate.ts';
import { type DeviceKey } from '../core/device-key.ts';
import type { IssuedCertificate } from '../devices/enrolment.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import {
  findBySerial,
  listCertificates,
  recordCertificate,
  revokeAllCertificates,
  revokeCertificate,
} from '../store/devices/certificates.ts';
import { isThere } from '../store/devices/device-limit.ts';
import { findDevice } from '../store/devices/devices.ts';
import { issueCertificate, nowMs } from './ca-authority.ts';
import type { Flags } from './command-line.ts';
import { administer, configOf, hasDatabase, needDatabase, print, readText } from './program.ts';

const listedMost = 100_000;

async function needDevice(db: Database, key: DeviceKey): Promise<void> {
  if ((await findDevice(db, key)) !== null) return;
  throw new AppError('not_found', `There is no device ${key.deviceID} in account ${key.accountID}`);
}

const entryOf = (clock: Clock, { accountID, deviceID }: DeviceKey) => ({
  accountID,
  atMs: Math.round(clock.utcMs()),
  actor: 'operator',
  source: '',
  object: deviceID,
});

export interface DeviceCertificateRequest {
  readonly key: DeviceKey;
  readonly privateKey: KeyObject;
  readonly days: number;
}

export interface DeviceCertificate extends IssuedCertificate {
  /** False when there is no database on this machine, as where an authority is kept apart. */
  readonly isRecorded: boolean;
}

/**
 * Makes a certificate of a device and records it: what the broker does not know must not be about. One that cannot be
 * recorded here counts at the broker by when it began (`revocationFault`), so that it must not begin before it was made:
 * otherwise the last revocation would end it, too. It is given once it is good.
 * @throws AppError `not_found` when there is no such device.
 */
export async function certifyDevice(
  config: BrokerConfig,
  issuer: Issuer,
  { key, privateKey, days }: DeviceCertificateRequest,
): Promise<DeviceCertificate> {
  const isRecorded = hasDatabase(config);
  const commonName = formatDeviceUser(key);
  const request = {
    commonName,
    privateKey,
    days,
    purpose: { kind: 'client' },
    beginsNow: !isRecorded,
  } as const;
  const issued = issueCertificate(issuer, request);
  if (isRecorded) await record(config, key, issued);
  else await wait(Math.max(0, issued.fromMs - nowMs()));
  return { ...issued, isRecorded };
}

async function record(
  config: BrokerConfig,
  key: DeviceKey,
  { serial, untilMs }: IssuedCertificate,
): Promise<void> {
  await administer(config, async ({ db, clock }) => {
    await needDevice(db, key);
    const entry = entryOf(clock, key);
    const detail = { certificate: serial };
    await db.write([
      insertAudit({ ...entry, action: 'device.certify', detail }, isThere(key)),
      recordCertificate(key, { serial: normalizeSerial(serial), atMs: entry.atMs, untilMs }),
    ]);
  });
}

/** Those that the database knows; none where there is no database. */
export async function listRecorded(config: BrokerConfig, nowMs: number) {
  if (!hasDatabase(config)) return [];
  const found: Awaited<ReturnType<typeof listCertificates>>[number][] = [];
  await administer(config, async ({ db }) => {
    found.push(...(await listCertificates(db, listedMost)));
  });
  return found.map(({ serial, untilMs, revokedMs, ...key }) => ({
    what: `recorded for ${formatDeviceUser(key)}`,
    serial,
    expires: Math.floor(untilMs / 1000),
    file: null,
    state: revokedMs !== null ? 'revoked' : untilMs <= nowMs ? 'expired' : 'good',
  }));
}

interface Target {
  readonly key: DeviceKey;
  readonly serial: string;
  readonly untilMs: number;
}

/** What a certificate file says. @throws AppError `usage`. */
function readTarget(file: string): Target {
  const pem = readText(file, 'the certificate');
  try {
    const { subject, serialNumber, validTo } = new X509Certificate(pem);
    const key = subject.startsWith('CN=') ? parseDeviceUser(subject.slice('CN='.length)) : null;
    if (key === null) throw new Error(`is of no device: ${subject}`);
    return { key, serial: normalizeSerial(serialNumber), untilMs: Date.parse(validTo) };
  } catch (thrown) {
    throw new AppError('usage', `${file}: ${messageOf(thrown)}`);
  }
}

/** @throws AppError `not_found`. */
async function needSerial(db: Database, text: string): Promise<readonly Target[]> {
  const serial = normalizeSerial(text);
  const found = await findBySerial(db, serial);
  if (found.length > 0) return found.map(({ untilMs, ...key }) => ({ key, serial, untilMs }));
  throw new AppError('not_found', `No certificate of serial number ${serial} is recorded`, {
    hint: 'Give its file with --cert, or end all certificates of the device: ca revoke <accountID> <deviceID>.',
  });
}

interface RevokePorts {
  readonly db: Database;
  readonly clock: Clock;
}

async function revokeOne({ db, clock }: RevokePorts, { key, serial, untilMs }: Target): Promise<void> {
  await needDevice(db, key);
  const entry = entryOf(clock, key);
  await db.write([
    insertAudit(
      { ...entry, action: 'device.revokecertificate', detail: { certificate: serial } },
      isThere(key),
    ),
    ...revokeCertificate(key, { serial, atMs: entry.atMs, untilMs }),
  ]);
}

async function revokeAll({ db, clock }: RevokePorts, key: DeviceKey): Promise<void> {
  await needDevice(db, key);
  const entry = entryOf(clock, key);
  await db.write([
    insertAudit(
      { ...entry, action: 'device.revokecertificate', detail: { certificate: 'all' } },
      isThere(key),
    ),
    ...revokeAllCertificates(key, { atMs: entry.atMs, isForSecret: false }),
  ]);
}

/** `ca revoke`: one certificate, or all of a device. The running broker sees it within two seconds. */
export async function revokeCertificates(flags: Flags): Promise<void> {
  const { accountID, deviceID, serial, cert } = flags;
  const isDevice = typeof accountID === 'string' && typeof deviceID === 'string';
  const ways = [isDevice, serial !== undefined, cert !== undefined].filter(Boolean).length;
  if (ways !== 1 || (accountID !== undefined && !isDevice)) {
    throw new AppError(
      'usage',
      'Say which: <accountID> <deviceID> for all of a device, or --serial, or --cert',
    );
  }
  const config = configOf(flags).value;
  needDatabase(config);
  await administer(config, async (ports) => {
    if (isDevice) {
      const key = { accountID, deviceID };
      await revokeAll(ports, key);
      print(flags, {
        json: { ...key, revoked: 'all' },
        text: `Revoked all certificates of ${formatDeviceUser(key)}`,
      });
      return;
    }
    const targets =
      typeof cert === 'string' ? [readTarget(cert)] : await needSerial(ports.db, String(serial));
    for (const target of targets) await revokeOne(ports, target);
    const lines = targets.map(
      (target) => `Revoked certificate ${target.serial} of ${formatDeviceUser(target.key)}`,
    );
    const json = targets.map(({ key, serial: ended }) => ({ ...key, serial: ended }));
    print(flags, { json: { revoked: json }, text: lines.join('\n') });
  });
}
