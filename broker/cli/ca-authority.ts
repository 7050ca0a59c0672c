// Common parts of the `fleetward-broker ca` commands: the folder, the authority with its key, and lifetimes. No certificate
// outlives its authority.

import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { dayMs } from '../../src/core/durations.ts';
import { AppError } from '../../src/core/errors.ts';
import {
  type AuthorityFolder,
  authorityName,
  type FolderCertificate,
  openAuthorityFolder,
} from '../adapters/keys/authority-folder.ts';
import { readAuthorityKey } from '../adapters/keys/certificate-authority.ts';
import {
  type CertificatePurpose,
  certificateSerial,
  type Issuer,
  issuerOf,
  signCertificate,
} from '../adapters/keys/certificate-writer.ts';
import { readSecretLine } from '../adapters/keys/secret-file.ts';
import type { Flags } from './command-line.ts';

/** Before it was made, because no two clocks agree. */
const earlierMs = 3600_000;
const secondMs = 1000;

export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
export const nowMs = (): number => Math.round(createSystemClock().utcMs());
export const folderOf = (flags: Flags): AuthorityFolder => openAuthorityFolder(resolve(String(flags['dir'])));

/** Days: what a kind of certificate is good for unless said, and at most. */
export const lifetimes = {
  authority: { standard: 3650, most: 7300 },
  // Longer ones are refused by some clients.
  server: { standard: 397, most: 825 },
  client: { standard: 397, most: 3650 },
} as const;

/** @throws AppError `usage`. */
export function daysOf(
  flags: Flags,
  name: 'days' | 'within',
  { standard, most }: { readonly standard: number; readonly most: number },
): number {
  const days = flags[name] === undefined ? standard : Number(flags[name]);
  if (Number.isInteger(days) && days >= 1 && days <= most) return days;
  throw new AppError('usage', `--${name} must be a whole number from 1 to ${most}`);
}

/** A new P-256 key. */
export const makeKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

export function passphraseOf(flags: Flags): string | null {
  const file = flags['passphrase-file'];
  return typeof file === 'string' ? readSecretLine('passphrase file', file) : null;
}

export interface Authority extends FolderCertificate {
  readonly issuer: Issuer;
}

/** The authority of the folder with its key. @throws AppError `not_found` or `config`. */
export function openAuthority(folder: AuthorityFolder, flags: Flags): Authority {
  const found = folder.find(authorityName);
  if (nowMs() >= found.untilMs) {
    throw new AppError('config', `The authority ${found.certFile} ended on ${dayOf(found.untilMs)}`, {
      hint: 'Extend it with `ca renew --authority` and give its certificate to every client again.',
    });
  }
  return { ...found, issuer: issuerOf(found.certPem, readAuthorityKey(found.keyFile, passphraseOf(flags))) };
}

export interface SigningRequest {
  readonly commonName: string;
  readonly privateKey: KeyObject;
  readonly days: number;
  readonly purpose: CertificatePurpose;
  /** It says truly when it was made, by beginning with the next second. Otherwise an hour ago. */
  readonly beginsNow?: boolean;
}

/** A certificate for a given key. */
export function issueCertificate(issuer: Issuer, request: SigningRequest) {
  const { commonName, privateKey, days, purpose, beginsNow = false } = request;
  const atMs = nowMs();
  const fromMs = beginsNow ? Math.ceil(atMs / secondMs) * secondMs : atMs - earlierMs;
  const untilMs = Math.min(atMs + days * dayMs, issuer.endMs);
  const serial = certificateSerial(createSystemEntropy().bytes(16));
  const key = createPublicKey(privateKey);
  const pem = signCertificate(issuer, {
    serial,
    commonName,
    key,
    fromMs,
    untilMs,
    purpose,
  });
  return { pem, serial: Buffer.from(serial).toString('hex'), fromMs, untilMs };
}

/** PKCS #8. @param passphrase null: not encrypted. */
export function formatKey(key: KeyObject, passphrase: string | null = null): string {
  const lock = passphrase === null ? {} : { cipher: 'aes-256-cbc', passphrase };
  return key.export({ type: 'pkcs8', format: 'pem', ...lock }).toString();
}
