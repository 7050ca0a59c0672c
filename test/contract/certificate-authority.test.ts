// Certificates of vehicles as others read them: every shape of authority, checked by OpenSSL, which is not our code.
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadCertificateAuthority } from '../../broker/adapters/keys/certificate-authority.ts';
import { createCertificateRequest } from '../../src/adapters/certificate-request.ts';
import { createSystemEntropy } from '../../src/adapters/system.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const { missing } = requires({ commands: ['openssl'], debian: ['openssl'] });
const entropy = createSystemEntropy();
const dayMs = 24 * 3600_000;

describe.skipIf(missing !== null)(`certificates of vehicles ${missing ?? ''}`, () => {
  const folder = temporaryFolder('ca');
  const openssl = (...args: readonly string[]): string =>
    execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

  /** Makes an authority with this kind of key; `-extensions` of openssl decide whether it names its key. */
  function authority(kind: string, options: readonly string[], more: readonly string[] = []) {
    const [certFile, keyFile] = [join(folder, `${kind}.crt`), join(folder, `${kind}.key`)];
    const subject = [
      '-subj',
      '/C=CA/O=Acme Trucks/CN=Fleet authority',
      '-days',
      '10',
      '-addext',
      'keyUsage=critical,keyCertSign',
    ];
    openssl('req', '-x509', '-nodes', ...options, '-keyout', keyFile, '-out', certFile, ...subject, ...more);
    chmodSync(keyFile, 0o600);
    return { certFile, keyFile, days: 365 };
  }
  const ec = authority('ec', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']);
  const to = { commonName: 'acme/truck-17', nowMs: Date.now() };

  it.each([
    ['EC', ec],
    ['P-384', authority('p384', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384'])],
    ['RSA', authority('rsa', ['-newkey', 'rsa:2048'])],
    ['Ed25519', authority('ed', ['-newkey', 'ed25519'])],
    [
      'EC without a key identifier',
      authority(
        'bare',
        ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
        ['-addext', 'subjectKeyIdentifier=none'],
      ),
    ],
  ])('of an authority of %s are good for clients, in the strict eyes of OpenSSL', (name, files) => {
    const { keyPem, request } = createCertificateRequest();
    const issued = loadCertificateAuthority(files, entropy).issue(request, to);
    const pem = issued?.pem ?? '';
    writeFileSync(join(folder, 'leaf.crt'), pem);
    // Strictly, an authority that does not name its key is none.
    const strict = name.includes('without') ? [] : ['-x509_strict'];
    expect(
      openssl('verify', ...strict, '-purpose', 'sslclient', '-CAfile', files.certFile, 'leaf.crt'),
      name,
    ).toContain('OK');
    expect(() => openssl('verify', '-purpose', 'sslserver', '-CAfile', files.certFile, 'leaf.crt')).toThrow();
    const certificate = new X509Certificate(pem);
    expect(certificate.subject).toBe('CN=acme/truck-17');
    expect(certificate.ca).toBe(false);
    expect(certificate.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
    expect(certificate.serialNumber.toLowerCase()).toBe(issued?.serial);
    // Never longer than its authority.
    expect(Date.parse(certificate.validTo)).toBe(
      Date.parse(new X509Certificate(readFileSync(files.certFile)).validTo),
    );
    const text = openssl('x509', '-in', 'leaf.crt', '-noout', '-text');
    expect(text).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
    expect(text).toMatch(/Extended Key Usage:\s+TLS Web Client Authentication\n/);
  });

  it('are requested by a request that OpenSSL accepts', () => {
    writeFileSync(join(folder, 'own.csr'), createCertificateRequest().request);
    expect(() => openssl('req', '-inform', 'DER', '-in', 'own.csr', '-noout', '-verify')).not.toThrow();
  });

  it('are issued for a request of OpenSSL and take nothing from it but the key', () => {
    openssl(
      ...'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout other.key -outform DER -out other.csr'.split(
        ' ',
      ),
      '-subj',
      '/CN=acme/truck-1/O=root',
      '-addext',
      'basicConstraints=critical,CA:TRUE',
    );
    const issued = loadCertificateAuthority(ec, entropy).issue(readFileSync(join(folder, 'other.csr')), to);
    const certificate = new X509Certificate(issued?.pem ?? '');
    expect([certificate.subject, certificate.ca]).toEqual(['CN=acme/truck-17', false]);
  });

  it('are good for as long as the settings say, also beyond 2049', () => {
    const long = authority('long', ['-newkey', 'ed25519'], ['-days', '20000']);
    const issue = (nowMs: number) => {
      const { request } = createCertificateRequest();
      const pem = loadCertificateAuthority({ ...long, days: 30 }, entropy).issue(request, {
        ...to,
        nowMs,
      })?.pem;
      return new X509Certificate(pem ?? '');
    };
    for (const year of [2030, 2049, 2050, 2060]) {
      const nowMs = Date.UTC(year, 11, 20, 3, 4, 5);
      const certificate = issue(nowMs);
      expect(Date.parse(certificate.validTo)).toBe(nowMs + 30 * dayMs);
      expect(Date.parse(certificate.validFrom)).toBe(nowMs - 3600_000);
    }
  });

  it('are not issued once the certificate of the authority has expired', () => {
    const { request } = createCertificateRequest();
    const nowMs = Date.now() + 11 * dayMs;
    expect(loadCertificateAuthority(ec, entropy).issue(request, { ...to, nowMs })).toBeNull();
  });

  it('are not issued for a key without proof of possession, nor for another kind of key', () => {
    const issuer = loadCertificateAuthority(ec, entropy);
    const { request } = createCertificateRequest();
    const other = createCertificateRequest().request;
    // Another's key under a signature of one's own.
    const swapped = Buffer.from(request);
    const keyAt = Buffer.from(other).indexOf(Buffer.from('034200', 'hex'));
    swapped.set(
      Buffer.from(other).subarray(keyAt, keyAt + 68),
      Buffer.from(request).indexOf(Buffer.from('034200', 'hex')),
    );
    expect(issuer.issue(swapped, to)).toBeNull();
    openssl(...'req -newkey rsa:2048 -nodes -keyout r.key -outform DER -out r.csr -subj /CN=x'.split(' '));
    expect(issuer.issue(readFileSync(join(folder, 'r.csr')), to)).toBeNull();
  });

  it('are not issued for anything but a valid request, and no input makes the authority throw', () => {
    const issuer = loadCertificateAuthority(ec, entropy);
    const { request } = createCertificateRequest();
    fc.assert(
      fc.property(fc.nat({ max: request.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, bits) => {
        const changed = request.slice();
        changed[at] = (changed[at] ?? 0) ^ bits;
        expect(issuer.issue(changed, to)).toBeNull();
        expect(issuer.issue(request.slice(0, at), to)).toBeNull();
      }),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => issuer.issue(bytes, to) === null));
  });

  it('need a key that only the owner can read, and both halves of one authority', () => {
    const other = authority('other', ['-newkey', 'ed25519']);
    expect(() => loadCertificateAuthority({ ...ec, keyFile: other.keyFile }, entropy)).toThrow(/not that of/);
    expect(() => loadCertificateAuthority({ ...ec, certFile: 'none.pem' }, entropy)).toThrow(/none\.pem/);
    const open = authority('open', ['-newkey', 'ed25519']);
    chmodSync(open.keyFile, 0o644);
    expect(() => loadCertificateAuthority(open, entropy)).toThrow(/can be read by others/);
    const leaf = authority('leaf', ['-newkey', 'ed25519'], ['-addext', 'basicConstraints=critical,CA:FALSE']);
    expect(() => loadCertificateAuthority(leaf, entropy)).toThrow(/CA:TRUE/);
  });

  it('have unpredictable serial numbers, all different', () => {
    const issuer = loadCertificateAuthority(ec, entropy);
    const { request } = createCertificateRequest();
    const serials = Array.from({ length: 20 }, () => issuer.issue(request, to)?.serial);
    expect(new Set(serials).size).toBe(20);
  });
});
