// `fleetward-broker ca`: a small certificate authority for listeners and vehicles, on the machine itself. Prints where each
// file belongs. Device certificates are recorded in the broker's database if it is available.
import { isIP } from 'node:net';
import { basename } from 'node:path';
import { AppError } from '../../src/core/errors.ts';
import { formatDeviceUser, parseDeviceUser } from '../../src/core/wire/topics.ts';
import { authorityName } from '../adapters/keys/authority-folder.ts';
import { selfIssuer } from '../adapters/keys/certificate-writer.ts';
import {
  dayOf,
  daysOf,
  folderOf,
  formatKey,
  issueCertificate,
  lifetimes,
  makeKey,
  nowMs,
  openAuthority,
  passphraseOf,
} from './ca-authority.ts';
import { certifyDevice, listRecorded, revokeCertificates } from './ca-records.ts';
import { renewCertificates } from './ca-renewal.ts';
import type { Flags } from './command-line.ts';
import type { CaAction } from './flags/ca-command-line.ts';
import { configOf, print } from './program.ts';

async function init(flags: Flags): Promise<void> {
  const folder = folderOf(flags);
  const days = daysOf(flags, 'days', lifetimes.authority);
  const passphrase = passphraseOf(flags);
  const commonName = String(flags['name']);
  if (!/^[^\p{C}]{1,64}$/u.test(commonName))
    throw new AppError('usage', '--name must have 1 to 64 characters');
  const privateKey = makeKey();
  folder.addKey(authorityName, formatKey(privateKey, passphrase));
  const request = { commonName, privateKey, days, purpose: { kind: 'authority' } } as const;
  folder.putCertificate(authorityName, issueCertificate(selfIssuer(commonName, privateKey), request).pem);
  const { certFile, keyFile, untilMs } = folder.find(authorityName);
  print(flags, {
    json: { certFile, keyFile, expires: Math.floor(untilMs / 1000) },
    text: `Authority ${certFile}, valid until ${dayOf(untilMs)}
key ${keyFile}: with it anyone can pose as any vehicle; best kept on another machine than the broker
next: fleetward-broker ca server --names <what vehicles connect to> --dir ${folder.path}`,
  });
}

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const dnsName = new RegExp(`^(\\*\\.)?(${label}\\.)*${label}$`);

/** @throws AppError `usage`. */
function namesOf(flags: Flags): readonly string[] {
  const names = String(flags['names'])
    .split(',')
    .map((name) => name.trim().toLowerCase());
  const wrong = names.find((name) => name.length > 253 || (isIP(name) === 0 && !dnsName.test(name)));
  if (wrong === undefined && names.length <= 50) return names;
  throw new AppError(
    'usage',
    `--names: ${JSON.stringify(wrong ?? 'more than 50')} is no DNS name or IP address`,
  );
}

async function server(flags: Flags): Promise<void> {
  const folder = folderOf(flags);
  const names = namesOf(flags);
  const first = names[0] ?? '';
  const days = daysOf(flags, 'days', lifetimes.server);
  const authority = openAuthority(folder, flags);
  const name = `server-${first.replaceAll('*', '_').replaceAll(':', '-')}`;
  const privateKey = makeKey();
  folder.addKey(name, formatKey(privateKey));
  const purpose = { kind: 'server', names } as const;
  // Only the alternative names count; a common name has no room for more than 64.
  const request = { commonName: first.slice(0, 64), privateKey, days, purpose };
  folder.putCertificate(name, issueCertificate(authority.issuer, request).pem);
  const { certFile, keyFile, untilMs } = folder.find(name);
  print(flags, {
    json: { certFile, keyFile, caFile: authority.certFile, names, expires: Math.floor(untilMs / 1000) },
    text: `Certificate for ${names.join(', ')}, valid until ${dayOf(untilMs)}
in the broker's file, for each listener that shall use it:
[mqtt.tls]
certFile = "${certFile}"
keyFile = "${keyFile}"
clients trust ${authority.certFile}`,
  });
}

async function device(flags: Flags): Promise<void> {
  const folder = folderOf(flags);
  const key = parseDeviceUser(`${String(flags['accountID'])}/${String(flags['deviceID'])}`);
  if (key === null) throw new AppError('usage', 'Account and device are ids: 1 to 64 of A-Z a-z 0-9 _ -');
  const days = daysOf(flags, 'days', lifetimes.client);
  const authority = openAuthority(folder, flags);
  // No id has a dot.
  const name = `device-${key.accountID}.${key.deviceID}`;
  folder.needFree(name);
  const privateKey = makeKey();
  const request = { key, privateKey, days };
  const { pem, isRecorded } = await certifyDevice(configOf(flags).value, authority.issuer, request);
  folder.addKey(name, formatKey(privateKey));
  folder.putCertificate(name, pem);
  const { certFile, keyFile, untilMs, serial } = folder.find(name);
  const caFile = authority.certFile;
  const record = isRecorded
    ? ''
    : '\nNo database here: revoke it at the broker with `ca revoke --cert` and this file';
  print(flags, {
    json: { ...key, certFile, keyFile, caFile, serial, isRecorded, expires: Math.floor(untilMs / 1000) },
    text: `Certificate for ${formatDeviceUser(key)}, serial number ${serial}, valid until ${dayOf(untilMs)}${record}
copy it, its key and ${caFile} to the vehicle, remove the key here, and in the vehicle's agent.toml:
[broker]
ca = "<folder>/${basename(caFile)}"
certFile = "<folder>/${basename(certFile)}"
keyFile = "<folder>/${basename(keyFile)}"`,
  });
}

async function list(flags: Flags): Promise<void> {
  const atMs = nowMs();
  const files = folderOf(flags)
    .list()
    .map(({ name, serial, untilMs, certFile }) => ({
      what: name,
      serial,
      expires: Math.floor(untilMs / 1000),
      file: certFile,
      state: untilMs <= atMs ? 'expired' : 'good',
    }));
  const recorded = await listRecorded(configOf(flags).value, atMs);
  const states = new Map(recorded.map(({ serial, state }) => [serial, state]));
  const inFolder = new Set(files.map(({ serial }) => serial));
  const rows = [
    ...files.map((row) => ({ ...row, state: states.get(row.serial) ?? row.state })),
    ...recorded.filter(({ serial }) => !inFolder.has(serial)),
  ].sort((one, other) => one.expires - other.expires);
  const lines = rows.map(({ what, serial, expires, state }) => {
    return `${dayOf(expires * 1000)}  ${state.padEnd(7)}  ${serial}  ${what}`;
  });
  print(flags, {
    json: { certificates: rows },
    text: lines.length === 0 ? 'No certificates' : lines.join('\n'),
  });
}

/** Runs one of them. @throws AppError `usage`, `conflict`, `not_found`, `config` or `storage`. */
export async function runCa(flags: Flags, action: CaAction): Promise<void> {
  const runs = { init, server, device, list, revoke: revokeCertificates, renew: renewCertificates } as const;
  await runs[action](flags);
}
