// The folder of a small certificate authority: its certificate and key, and those that it made, as PEM files. A key is for
// its owner alone and is never overwritten; a certificate is replaced whole or not at all.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { normalizeSerial } from '../../core/accounts/client-certificate.ts';

const certEnding = '.crt.pem';
const keyEnding = '.key.pem';

/** Name of the authority's own files. */
export const authorityName = 'ca';

/** One certificate of the folder. */
export interface FolderCertificate {
  /** Files without their endings: `ca`, `server-fleet.example.com`, `device-acme.truck-1`. */
  readonly name: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly certPem: string;
  readonly subject: string;
  /** As `normalizeSerial` gives it. */
  readonly serial: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** DNS names and IP addresses of a server. */
  readonly names: readonly string[];
}

export interface AuthorityFolder {
  readonly path: string;
  certFile(name: string): string;
  keyFile(name: string): string;
  /** @throws AppError `conflict` when there is one of this name. */
  needFree(name: string): void;
  /** @throws AppError `conflict` when there is one of this name. */
  addKey(name: string, pem: string): void;
  /** Writes or replaces. */
  putCertificate(name: string, pem: string): void;
  /** @throws AppError `not_found` or `config`. */
  find(name: string): FolderCertificate;
  /** The key of a server or device. @throws AppError `config`. */
  readKey(name: string): KeyObject;
  list(): readonly FolderCertificate[];
}

function writeNew(file: string, text: string, mode: number): void {
  const handle = openSync(file, 'wx', mode);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** `DNS:a, IP Address:10.0.0.1` as a list; what is of another kind is left out. */
function namesOf(alternatives: string | undefined): readonly string[] {
  return (alternatives ?? '').split(', ').flatMap((entry) => {
    const [kind, ...rest] = entry.split(':');
    return kind === 'DNS' || kind === 'IP Address' ? [rest.join(':')] : [];
  });
}

/** @throws AppError `storage` for what the disk says. */
function onDisk<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw new AppError('storage', `${what}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: 'Check the rights on the folder and the free space of its disk.',
    });
  }
}

function missing(name: string, file: string): AppError {
  const hint =
    name === authorityName
      ? 'Make the authority with `ca init`, or name its folder with --dir.'
      : 'Check its name, or name the folder of the authority with --dir.';
  return new AppError('not_found', `There is no certificate ${file}`, { hint });
}

/** The folder; it is made when something is put into it. */
export function openAuthorityFolder(path: string): AuthorityFolder {
  const certFile = (name: string): string => join(path, `${name}${certEnding}`);
  const keyFile = (name: string): string => join(path, `${name}${keyEnding}`);
  const find = (name: string): FolderCertificate => {
    const file = certFile(name);
    if (!existsSync(file)) {
      throw missing(name, file);
    }
    try {
      const certPem = readFileSync(file, 'utf8');
      const certificate = new X509Certificate(certPem);
      return {
        name,
        certFile: file,
        keyFile: keyFile(name),
        certPem,
        subject: certificate.subject.replaceAll('\n', ', '),
        serial: normalizeSerial(certificate.serialNumber),
        fromMs: Date.parse(certificate.validFrom),
        untilMs: Date.parse(certificate.validTo),
        names: namesOf(certificate.subjectAltName),
      };
    } catch (thrown) {
      throw new AppError('config', `${file} is no certificate: ${messageOf(thrown)}`, {
        cause: thrown,
        hint: 'Put the file back from a backup of the folder, or issue the certificate again.',
      });
    }
  };
  const needFree = (name: string): void => {
    if (!existsSync(keyFile(name)) && !existsSync(certFile(name))) return;
    throw new AppError('conflict', `There is a ${name} in ${path} already; it is never overwritten`, {
      hint:
        name === authorityName
          ? 'Use another folder, or extend the authority with `ca renew --authority`.'
          : 'Extend it with `ca renew`, or move both of its files away to have a new key.',
    });
  };
  return {
    path,
    certFile,
    keyFile,
    find,
    needFree,
    addKey(name, pem) {
      needFree(name);
      onDisk(`cannot write to ${path}`, () => {
        mkdirSync(path, { recursive: true, mode: 0o700 });
        writeNew(keyFile(name), pem, 0o600);
      });
    },
    putCertificate(name, pem) {
      onDisk(`cannot write to ${path}`, () => {
        const draft = `${certFile(name)}.${process.pid}.new`;
        writeNew(draft, pem, 0o644);
        renameSync(draft, certFile(name));
      });
    },
    readKey(name) {
      try {
        return createPrivateKey(readFileSync(keyFile(name), 'utf8'));
      } catch (thrown) {
        throw new AppError('config', `Cannot read the key ${keyFile(name)}: ${messageOf(thrown)}`, {
          cause: thrown,
          hint: 'Put it back from a backup of the folder, and run the command as its owner.',
        });
      }
    },
    list() {
      if (!existsSync(path)) return [];
      const names = readdirSync(path).filter((file) => file.endsWith(certEnding));
      return names
        .map((file) => find(file.slice(0, -certEnding.length)))
        .sort((one, other) => one.untilMs - other.untilMs);
    },
  };
}
