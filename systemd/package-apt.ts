// `npm run package:apt -- --key ID`: makes of the Debian packages in build/ a repository for apt in build/apt, a folder of static files:
// the packages, their list, and a Release that gpg signs with a key of this machine (DebianRepository/Format of the Debian wiki).
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { commitTimeS, runTool } from './tools.ts';

const repository = new URL('../..', import.meta.url).pathname;
const archs = ['amd64', 'arm64'] as const;
const pool = 'pool/main';
const suite = 'dists/stable';

const hash = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** The stanza of a package in the list of its architecture. */
function stanzaOf(path: string): { readonly arch: string; readonly text: string } {
  const control = runTool('dpkg-deb', ['--field', path]).trimEnd();
  const arch = /^Architecture: (\S+)$/m.exec(control)?.[1] ?? '';
  const bytes = readFileSync(path);
  const place = `Filename: ${pool}/${basename(path)}\nSize: ${bytes.length}\nSHA256: ${hash(bytes)}`;
  // apt wants the description last or anywhere; the place goes in front of it.
  return { arch, text: `${control.replace(/^(?=Description:)/m, `${place}\n`)}\n` };
}

interface Listed {
  readonly path: string;
  readonly bytes: Buffer;
}

function formatRelease(lists: readonly Listed[], epochS: number): string {
  const sums = lists.map(({ path, bytes }) => ` ${hash(bytes)} ${bytes.length} ${path}`);
  return [
    'Origin: Fleetward',
    'Label: Fleetward',
    'Suite: stable',
    'Codename: stable',
    `Date: ${new Date(epochS * 1000).toUTCString()}`,
    `Architectures: ${archs.join(' ')}`,
    'Components: main',
    'Description: Fleetward for Debian 12 and later',
    'SHA256:',
    ...sums,
    '',
  ].join('\n');
}

function build(packages: string, output: string, key: string) {
  const files = readdirSync(packages).filter((name) => /^fleetward-\w+_.*\.deb$/.test(name));
  if (files.length === 0) throw new Error(`there is no package in ${packages}: npm run package:deb`);
  rmSync(output, { recursive: true, force: true });
  mkdirSync(join(output, pool), { recursive: true });
  for (const file of files) copyFileSync(join(packages, file), join(output, pool, file));
  const stanzas = files.sort().map((file) => stanzaOf(join(packages, file)));
  const lists = archs.flatMap((arch): readonly Listed[] => {
    const bytes = Buffer.from(
      stanzas
        .filter((one) => one.arch === arch)
        .map(({ text }) => text)
        .join('\n'),
    );
    const path = `main/binary-${arch}/Packages`;
    return [
      { path, bytes },
      { path: `${path}.gz`, bytes: gzipSync(bytes, { level: 9 }) },
    ];
  });
  for (const { path, bytes } of lists) {
    mkdirSync(join(output, suite, path, '..'), { recursive: true });
    writeFileSync(join(output, suite, path), bytes);
  }
  const release = join(output, suite, 'Release');
  writeFileSync(release, formatRelease(lists, commitTimeS(repository)));
  const gpg = ['--batch', '--yes', '--local-user', key, '--armor'];
  const home = process.env['GNUPGHOME'] === undefined ? {} : { GNUPGHOME: process.env['GNUPGHOME'] };
  const environment = { HOME: process.env['HOME'] ?? '/', ...home };
  runTool('gpg', [...gpg, '--output', join(output, suite, 'InRelease'), '--clearsign', release], environment);
  runTool('gpg', [...gpg, '--output', `${release}.gpg`, '--detach-sign', release], environment);
  runTool(
    'gpg',
    ['--batch', '--yes', '--output', join(output, 'fleetward.gpg'), '--export', key],
    environment,
  );
  return { output, packages: files.length, key };
}

try {
  const { values } = parseArgs({
    options: {
      key: { type: 'string' },
      packages: { type: 'string', default: join(repository, 'build') },
      output: { type: 'string', default: join(repository, 'build/apt') },
    },
  });
  if (values.key === undefined)
    throw new Error('say --key ID, a signing key that gpg on this machine has (gpg --list-secret-keys)');
  console.log(JSON.stringify(build(values.packages, values.output, values.key)));
} catch (thrown) {
  process.stderr.write(`package:apt: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
}
