// An authority with certificates for listeners and devices, made by the product's own `ca` commands, and what a test needs
// of them as PEM. `createAuthority` (certificates.ts) is the openssl one, for what must come from elsewhere.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../programs/fleet-processes.ts';

export interface OwnCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly serial: string;
  readonly cert: string;
  readonly key: string;
}

/** Makes it in `folder/ca`; `--database` of devices is `folder/fleet.db` where there is one. */
export function createOwnAuthority(folder: string) {
  const dir = ['--dir', join(folder, 'ca'), '--database', join(folder, 'fleet.db'), '--json'];
  const run = (...args: readonly string[]): OwnCertificate => {
    const made = JSON.parse(runProgram('broker', ['ca', ...args, ...dir])) as Omit<
      OwnCertificate,
      'cert' | 'key'
    >;
    const text = (file: string) => readFileSync(file, 'utf8');
    return { ...made, cert: text(made.certFile), key: text(made.keyFile) };
  };
  const authority = run('init');
  return {
    caFile: authority.certFile,
    ca: authority.cert,
    caKeyFile: authority.keyFile,
    server: (names: string) => run('server', '--names', names),
    device: (accountID: string, deviceID: string, ...more: readonly string[]) =>
      run('device', accountID, deviceID, ...more),
  };
}
