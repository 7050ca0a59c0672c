// Certificate files of a listener, good and bad ones, made by openssl: each fault is refused with a message that says which file, and
// what to do.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultOfTerm, readAuthorities, readTlsFiles } from '../../broker/adapters/keys/tls-files.ts';
import { createAuthority } from '../support/broker/certificates.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const { missing } = requires({ commands: ['openssl'], debian: ['openssl'] });
const dayMs = 24 * 3600_000;

describe.skipIf(missing !== null)(`the files of a TLS listener ${missing ?? ''}`, () => {
  const folder = temporaryFolder('tls');
  const authority = createAuthority(folder);
  const good = authority.issue('localhost', 2);
  const other = authority.issue('other', 2);
  const file = (name: string, ...parts: readonly string[]): string => {
    writeFileSync(join(folder, name), parts.join(''), { mode: 0o600 });
    return join(folder, name);
  };
  const ca = readFileSync(authority.caFile, 'utf8');
  for (const { keyFile } of [good, other]) chmodSync(keyFile, 0o600);
  const read = (changes: object) =>
    readTlsFiles({ setting: 'mqtt.tls', certFile: good.certFile, keyFile: good.keyFile, ...changes });

  it('are taken with the chain in its order, and every date is known', () => {
    const chain = file('chain.pem', good.cert, ca);
    const { material, terms } = read({ certFile: chain, clientCaFile: authority.caFile });
    expect(material.cert).toBe(good.cert + ca);
    expect(terms.map(({ setting, name }) => [setting, name])).toEqual([
      ['mqtt.tls.certFile', 'CN=localhost'],
      ['mqtt.tls.certFile', 'CN=test'],
      ['mqtt.tls.clientCaFile', 'CN=test'],
    ]);
    const [term] = terms;
    if (term === undefined) throw new Error('no term');
    expect(faultOfTerm(term, Date.now())).toBeNull();
    expect(faultOfTerm(term, Date.now() + 3 * dayMs)).toMatch(/has expired on \d{4}-/);
    expect(faultOfTerm(term, Date.now() - dayMs)).toMatch(/not valid before .* clock/);
  });

  it.each([0o604, 0o660, 0o641])('with a key of mode %o are refused', (mode) => {
    const keyFile = file(`open-${mode}.key`, good.key);
    chmodSync(keyFile, mode);
    expect(() => read({ keyFile })).toThrow(/mqtt\.tls\.keyFile .* can be read by others/);
  });

  it('with a key for a group are refused, except one of root, which the group cannot replace', () => {
    const keyFile = file('group.key', good.key);
    chmodSync(keyFile, 0o640);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) expect(read({ keyFile }).material.key).toBe(good.key);
    if (isRoot) chownSync(keyFile, 1, 1);
    expect(() => read({ keyFile })).toThrow(/mqtt\.tls\.keyFile .* can be read by others/);
  });

  it.each([
    ['the key of another certificate', () => ({ keyFile: other.keyFile }), /keyFile .* is not the key of /],
    ['no certificate', () => ({ certFile: good.keyFile }), /certFile .* holds no certificate in PEM/],
    ['no key', () => ({ keyFile: file('none.key', 'nothing') }), /mqtt\.tls\.keyFile .*none\.key/],
    ['no file', () => ({ certFile: join(folder, 'gone.pem') }), /certFile .*gone\.pem: ENOENT/],
    [
      'a chain upside down',
      () => ({ certFile: file('up.pem', ca, good.cert) }),
      /put the listener's own first/,
    ],
    ['an authority that is none', () => ({ clientCaFile: good.certFile }), /clientCaFile .* is no authority/],
    [
      'half a certificate',
      () => ({ certFile: file('half.pem', good.cert.replace(/\n[^\n]+\n(?=-----END)/, '\n')) }),
      /mqtt\.tls\.certFile .*half\.pem/,
    ],
  ])('are refused with %s', (_what, changes, message) => {
    // A certificate of openssl's own authority in `issue` has no basicConstraints.
    expect(() => read(changes())).toThrow(message);
  });

  it('are refused with a key that has a passphrase, and with one that is too short', () => {
    const run = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
    run('pkcs8', '-topk8', '-in', good.keyFile, '-passout', 'pass:x', '-out', 'locked.key');
    chmodSync(join(folder, 'locked.key'), 0o600);
    expect(() => read({ keyFile: join(folder, 'locked.key') })).toThrow(/passphrase/);
    run(
      ...'req -x509 -newkey rsa:1024 -nodes -keyout weak.key -out weak.pem -days 2 -subj /CN=localhost'.split(
        ' ',
      ),
    );
    chmodSync(join(folder, 'weak.key'), 0o600);
    const weak = { certFile: join(folder, 'weak.pem'), keyFile: join(folder, 'weak.key') };
    expect(() => read(weak)).toThrow(/weak\.pem: .*key too small/);
  });

  it('of authorities keep the certificates alone, whatever stands between them', () => {
    const bundle = file(
      'bundle.pem',
      'subject=CN = test\r\n',
      ca.replaceAll('\n', '\r\n'),
      '\n# again\n',
      ca,
    );
    const { pem, terms } = readAuthorities('enrolment.mqttCaFile', bundle);
    expect(terms).toHaveLength(2);
    expect(pem).toBe(ca + ca);
  });
});
