// An authority and certificates for servers on loopback, made by the openssl command line for one test.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ');

/** Makes an authority in the folder. `issue` gives a certificate for that name; negative days make one that has expired. */
export function createAuthority(folder: string) {
  const openssl = (args: readonly string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  openssl([
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-days',
    '2',
    '-subj',
    '/CN=test',
  ]);
  return {
    caFile: join(folder, 'ca.crt'),
    issue(name: string, days: number): Certificate {
      const file = `${name}${days}`;
      openssl(['req', ...newKey, '-keyout', `${file}.key`, '-out', `${file}.csr`, '-subj', `/CN=${name}`]);
      writeFileSync(join(folder, 'names'), `subjectAltName=DNS:${name}`);
      const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
      openssl(['x509', '-req', '-in', `${file}.csr`, ...by, '-days', String(days), '-out', `${file}.crt`]);
      const [certFile, keyFile] = [join(folder, `${file}.crt`), join(folder, `${file}.key`)];
      return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    },
  };
}
