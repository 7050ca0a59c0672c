// Certificates and keys from files, checked with plain messages before OpenSSL sees them: rights of the key, that it belongs to the
// certificate, the order of the chain, and the dates. It must never take a key that others may have read.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { type TlsMaterial } from '../../ports/tls.ts';
import { needPrivate, rightsHint } from './secret-file.ts';
import { serverOptions } from './tls-options.ts';

export interface TlsFiles {
  /** Table of the configuration: `mqtt.tls`. */
  readonly setting: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile?: string | undefined;
}

/** How long a certificate in a file is good. */
export interface CertificateTerm {
  /** Setting that names the file. */
  readonly setting: string;
  readonly file: string;
  readonly name: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

const fileMost = 1024 * 1024;
const pemPattern = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

/** @throws Error when it cannot be read or is far too long. */
function readPem(file: string): string {
  const text = readFileSync(file, 'utf8');
  if (text.length > fileMost) throw new Error(`is longer than ${fileMost} characters`);
  return text;
}

/** @throws Error when the text holds none, or one that cannot be read. */
function parseCertificates(pem: string): readonly [X509Certificate, ...X509Certificate[]] {
  const [first, ...rest] = (pem.match(pemPattern) ?? []).map((block) => new X509Certificate(block));
  if (first === undefined) throw new Error('holds no certificate in PEM');
  return [first, ...rest];
}

const termOf = (setting: string, file: string, certificate: X509Certificate): CertificateTerm => ({
  setting,
  file,
  name: certificate.subject.replaceAll('\n', ', '),
  fromMs: Date.parse(certificate.validFrom),
  untilMs: Date.parse(certificate.validTo),
});

/** Runs a check and says which setting and file it is about. @throws AppError `config`. */
function about<T>(setting: string, file: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('config', `${setting} ${file}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: rightsHint(file, thrown) ?? `Correct ${setting} or the file, which holds PEM.`,
    });
  }
}

/** A chain that leads from the first certificate upwards; clients refuse any other, each with a message of its own. */
function checkChain(chain: readonly X509Certificate[]): void {
  for (const [at, certificate] of chain.entries()) {
    const issuer = chain[at + 1];
    if (issuer === undefined || certificate.checkIssued(issuer)) continue;
    throw new Error(
      `certificate ${at + 2} (${issuer.subject}) did not sign certificate ${at + 1}: put the listener's own first, then each one's issuer`,
    );
  }
}

/** The certificates of a file, without whatever stands between them, and their terms. @throws AppError `config`. */
export function readCertificates(setting: string, file: string) {
  return about(setting, file, () => {
    const certificates = parseCertificates(readPem(file));
    const pem = certificates.map((certificate) => certificate.toString()).join('');
    return { pem, certificates, terms: certificates.map((one) => termOf(setting, file, one)) };
  });
}

/** The same where all of them must be able to sign others. @throws AppError `config`. */
export function readAuthorities(setting: string, file: string) {
  const found = readCertificates(setting, file);
  const other = found.certificates.find((certificate) => !certificate.ca);
  if (other === undefined) return found;
  throw new AppError(
    'config',
    `${setting} ${file}: ${other.subject} is no authority (basicConstraints CA:TRUE)`,
    { hint: 'Name the file of the authority that signs the certificates, not one of those certificates.' },
  );
}

/**
 * What a listener needs, read and checked; dates are the caller's to judge.
 * @throws AppError `config` naming setting, file and remedy.
 */
export function readTlsFiles(files: TlsFiles) {
  const { setting, certFile, keyFile, clientCaFile } = files;
  const certSetting = `${setting}.certFile`;
  const keySetting = `${setting}.keyFile`;
  const { cert, chain } = about(certSetting, certFile, () => {
    const pem = readPem(certFile);
    const certificates = parseCertificates(pem);
    checkChain(certificates);
    return { cert: pem, chain: certificates };
  });
  const key = about(keySetting, keyFile, () => {
    needPrivate(keySetting, keyFile);
    const pem = readPem(keyFile);
    if (pem.includes('ENCRYPTED')) throw new Error('has a passphrase; give a key without one');
    if (!chain[0].checkPrivateKey(createPrivateKey(pem))) throw new Error(`is not the key of ${certFile}`);
    return pem;
  });
  const authorities =
    clientCaFile === undefined ? null : readAuthorities(`${setting}.clientCaFile`, clientCaFile);
  const material: TlsMaterial = { cert, key, clientCa: authorities?.pem ?? null };
  // What else OpenSSL does not like, as a key that is too short.
  about(certSetting, certFile, () => createSecureContext(serverOptions({ material, clientCert: 'none' })));
  const own = chain.map((certificate) => termOf(certSetting, certFile, certificate));
  return { material, terms: [...own, ...(authorities?.terms ?? [])] };
}

/** What is wrong with the dates at this moment, as text; null when nothing is. */
export function faultOfTerm({ fromMs, untilMs }: CertificateTerm, nowMs: number): string | null {
  if (nowMs >= untilMs) return `has expired on ${dayOf(untilMs)}`;
  return nowMs < fromMs ? `is not valid before ${dayOf(fromMs)}: is the clock right?` : null;
}
