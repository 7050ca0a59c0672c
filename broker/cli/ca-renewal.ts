// `fleetward-broker ca renew`: new certificates for the same keys and names and as many days, before the old ones expire,
// so that a listener or vehicle never needs a new key.
import { X509Certificate } from 'node:crypto';
import { basename } from 'node:path';
import { dayMs } from '../../src/core/durations.ts';
import { AppError } from '../../src/core/errors.ts';
import { parseDeviceUser } from '../../src/core/wire/topics.ts';
import {
  type AuthorityFolder,
  authorityName,
  type FolderCertificate,
} from '../adapters/keys/authority-folder.ts';
import { readAuthorityKey } from '../adapters/keys/certificate-authority.ts';
import { selfIssuer } from '../adapters/keys/certificate-writer.ts';
import {
  dayOf,
  daysOf,
  folderOf,
  issueCertificate,
  lifetimes,
  nowMs,
  openAuthority,
  passphraseOf,
} from './ca-authority.ts';
import { certifyDevice } from './ca-records.ts';
import type { Flags } from './command-line.ts';
import { configOf, print } from './program.ts';

const nameOf = ({ subject }: FolderCertificate): string => subject.replace(/^CN=/, '');

/** As many days as before, unless said. */
function sameDays(flags: Flags, old: FolderCertificate, most: number): number {
  const standard = Math.min(most, Math.max(1, Math.round((old.untilMs - old.fromMs) / dayMs)));
  return daysOf(flags, 'days', { standard, most });
}

interface Renewal {
  readonly folder: AuthorityFolder;
  readonly flags: Flags;
}

async function extend({ folder, flags }: Renewal, old: FolderCertificate): Promise<FolderCertificate> {
  const { issuer } = openAuthority(folder, flags);
  const kind = old.name.startsWith('server-') ? 'server' : 'client';
  const privateKey = folder.readKey(old.name);
  if (!new X509Certificate(old.certPem).checkPrivateKey(privateKey)) {
    throw new AppError('config', `${old.keyFile} is not the key of ${old.certFile}`, {
      hint: 'Put the right key back from a backup of the folder, or issue a new certificate with a new key.',
    });
  }
  const commonName = nameOf(old);
  const days = sameDays(flags, old, lifetimes[kind].most);
  const renewServer = () => {
    const purpose = { kind: 'server', names: old.names } as const;
    return issueCertificate(issuer, { commonName, privateKey, days, purpose });
  };
  const renewDevice = () => {
    const key = parseDeviceUser(commonName);
    if (key === null) {
      throw new AppError('config', `${old.certFile} is of no device: ${old.subject}`, {
        hint: 'Renew certificates of devices here; issue one of a server again with `ca server`.',
      });
    }
    return certifyDevice(configOf(flags).value, issuer, { key, privateKey, days });
  };
  const { pem } = kind === 'server' ? renewServer() : await renewDevice();
  folder.putCertificate(old.name, pem);
  return folder.find(old.name);
}

function extendAuthority({ folder, flags }: Renewal): FolderCertificate {
  const old = folder.find(authorityName);
  const privateKey = readAuthorityKey(old.keyFile, passphraseOf(flags));
  const commonName = nameOf(old);
  const days = sameDays(flags, old, lifetimes.authority.most);
  const request = { commonName, privateKey, days, purpose: { kind: 'authority' } } as const;
  folder.putCertificate(authorityName, issueCertificate(selfIssuer(commonName, privateKey), request).pem);
  return folder.find(authorityName);
}

/** The one that was named, or all that end soon. */
function dueOf({ folder, flags }: Renewal, withinDays: number): readonly FolderCertificate[] {
  const file = flags['file'];
  if (typeof file === 'string') {
    const named = folder.find(basename(file).replace(/\.(crt|key)\.pem$/, ''));
    if (named.name !== authorityName) return [named];
    throw new AppError('usage', `${file} is the authority itself`, {
      hint: 'Extend it with `ca renew --authority`.',
    });
  }
  const untilMs = nowMs() + withinDays * dayMs;
  return folder.list().filter((one) => one.name !== authorityName && one.untilMs < untilMs);
}

/** @throws AppError `usage`, `not_found`, `config` or `storage`. */
export async function renewCertificates(flags: Flags): Promise<void> {
  const renewal = { folder: folderOf(flags), flags };
  const within = daysOf(flags, 'within', { standard: 30, most: 3650 });
  const renewed: FolderCertificate[] = [];
  if (flags['authority'] === true) renewed.push(extendAuthority(renewal));
  else for (const old of dueOf(renewal, within)) renewed.push(await extend(renewal, old));
  const lines = renewed.map(({ certFile, untilMs }) => `${certFile}, valid until ${dayOf(untilMs)}`);
  const json = renewed.map(({ certFile, serial, untilMs }) => ({
    certFile,
    serial,
    expires: Math.floor(untilMs / 1000),
  }));
  const next = 'The keys are unchanged; reload the broker: systemctl reload fleetward-broker (kill -HUP)';
  const text =
    lines.length === 0 ? `No certificate expires within ${within} days` : [...lines, next].join('\n');
  print(flags, { json: { renewed: json }, text });
}
