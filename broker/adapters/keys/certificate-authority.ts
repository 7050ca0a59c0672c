// The authority that signs certificates of vehicles (X.509 v3, RFC 5280): one fixed shape, for clients of TLS only. It must
// never take a name, an extension or a validity from a request: a request gives a key and nothing else.

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dayMs } from '../../../src/core/durations.ts';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import type { Entropy } from '../../../src/ports.ts';
import type { CertificateAuthority } from '../../devices/enrolment.ts';
import {
  certificateSerial,
  type Issuer,
  issuerOf,
  keyOfRequest,
  signCertificate,
} from './certificate-writer.ts';
import { needPrivate } from './secret-file.ts';

/** A vehicle's certificate is good a little before it was made: no two clocks agree. */
const earlierMs = 3600_000;

export interface AuthorityFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** How long its certificates are good, never longer than its own. */
  readonly days: number;
  /** Of the key; null or absent when it has none. */
  readonly passphrase?: string | null;
}

/** The key of an authority. @throws AppError `config` when others can read it, or it cannot be read. */
export function readAuthorityKey(keyFile: string, passphrase: string | null): KeyObject {
  try {
    needPrivate("the authority's key", keyFile);
    const key = readFileSync(keyFile, 'utf8');
    if (key.includes('ENCRYPTED') && passphrase === null)
      throw new Error('has a passphrase, and none was given');
    return createPrivateKey(passphrase === null ? key : { key, passphrase });
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('config', `the authority's key ${keyFile}: ${messageOf(thrown)}`);
  }
}

/** @throws AppError `config` when others may read the key, or the files are no authority. */
export function loadCertificateAuthority(files: AuthorityFiles, entropy: Entropy): CertificateAuthority {
  const { certFile, keyFile, days, passphrase = null } = files;
  let issuer: Issuer;
  try {
    const key = readAuthorityKey(keyFile, passphrase);
    issuer = issuerOf(readFileSync(certFile, 'utf8'), key);
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError(
      'config',
      `enrolment.caCertFile ${certFile}, enrolment.caKeyFile ${keyFile}: ${messageOf(thrown)}`,
    );
  }
  return {
    issue(request, { commonName, nowMs }) {
      const key = keyOfRequest(request);
      if (key === null || nowMs >= issuer.endMs) return null;
      const serial = certificateSerial(entropy.bytes(16));
      const untilMs = Math.min(nowMs + days * dayMs, issuer.endMs);
      const content = { serial, commonName, key, fromMs: nowMs - earlierMs, untilMs };
      const pem = signCertificate(issuer, { ...content, purpose: { kind: 'client' } });
      return { pem, serial: Buffer.from(serial).toString('hex'), untilMs };
    },
  };
}
