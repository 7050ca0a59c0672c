// `npm run package:deb`: builds fleetward-agent_<version>_<arch>.deb with everything that the agent needs, Node included.
// The same input gives the same bytes: names and modes are set, times are SOURCE_DATE_EPOCH, the owner is root. It must
// never put anything in that is not named here or found by following the agent's imports.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Arch } from '../agent/update/core/manifest.ts';
import { isVersion } from '../agent/update/core/version.ts';
import { readVersion } from '../src/version.ts';
import { layTree, needMachine, ownArch, put, stripBinary, treeFiles } from './app-tree.ts';
import { sizeOf } from './closure.ts';
import { formatCopyright } from './copyright.ts';
import { commitTimeS, runTool } from './tools.ts';

const repository = new URL('../..', import.meta.url).pathname;
const maintainer = 'Fleetward maintainers <maintainers@fleetward.example>';

interface Options {
  readonly arch: Arch;
  readonly version: string;
  readonly node: string;
  readonly nodeLicence: string;
  readonly sqliteBinding: string | null;
  readonly releaseKey: string | null;
  readonly output: string;
  readonly compression: 'xz' | 'gzip';
  readonly epochS: number;
}

/** 1.0.0-rc.1 is 1.0.0~rc.1-1 for Debian: lower than 1.0.0-1. */
const debianVersion = (version: string): string => `${version.replace('-', '~')}-1`;

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: ownArch() },
      version: { type: 'string', default: readVersion() },
      parts: { type: 'string' },
      'release-key': { type: 'string' },
      output: { type: 'string', default: join(repository, 'build') },
      compression: { type: 'string', default: 'xz' },
    },
  });
  const { arch, version, parts, output, compression } = values;
  if (arch !== 'amd64' && arch !== 'arm64') throw new Error('--arch is amd64 or arm64');
  if (!isVersion(version)) throw new Error(`--version ${version} is no version`);
  if (compression !== 'xz' && compression !== 'gzip') throw new Error('--compression is xz or gzip');
  if (arch !== ownArch() && parts === undefined)
    throw new Error(`for ${arch} say --parts DIR, as made by systemd/arm64-parts.sh`);
  const beside = [join(dirname(process.execPath), '../LICENSE'), '/usr/share/doc/nodejs/LICENSE'];
  return {
    arch,
    version,
    node: parts === undefined ? process.execPath : join(parts, 'node'),
    nodeLicence:
      parts === undefined ? (beside.find((path) => existsSync(path)) ?? '') : join(parts, 'LICENSE'),
    sqliteBinding: parts === undefined ? null : join(parts, 'better_sqlite3.node'),
    releaseKey: values['release-key'] ?? null,
    output,
    compression,
    epochS: commitTimeS(repository),
  };
}

const gzip = (text: string | Buffer): Buffer => gzipSync(text, { level: 9 });

function write(path: string, content: string | Buffer, mode: 0o644 | 0o755 = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}

const stamp = (epochS: number): string => new Date(epochS * 1000).toUTCString().replace('GMT', '+0000');

/** Manual pages and completions of the agent, as far as there are any. */
function putManual(root: string): void {
  const manual = join(repository, 'systemd/man');
  const pages = existsSync(manual)
    ? readdirSync(manual).filter((name) => /^fleetward-agent.*\.[1-8]$/.test(name))
    : [];
  for (const page of pages.sort())
    write(
      join(root, `usr/share/man/man${page.at(-1) ?? '1'}`, `${page}.gz`),
      gzip(readFileSync(join(manual, page))),
    );
  const completions: Readonly<Record<string, string>> = {
    'fleetward-agent.bash': 'usr/share/bash-completion/completions/fleetward-agent',
    '_fleetward-agent': 'usr/share/zsh/vendor-completions/_fleetward-agent',
    'fleetward-agent.fish': 'usr/share/fish/vendor_completions.d/fleetward-agent.fish',
  };
  for (const [name, to] of Object.entries(completions)) {
    const from = join(repository, 'systemd/completion', name);
    if (existsSync(from)) put(from, join(root, to));
  }
}

function putDocuments(root: string, options: Options, bundled: ReturnType<typeof layTree>): void {
  const doc = join(root, 'usr/share/doc/fleetward-agent');
  const node = { version: process.version, licence: readFileSync(options.nodeLicence, 'utf8') };
  write(join(doc, 'copyright'), formatCopyright({ node, bundled }));
  write(join(doc, 'changelog.gz'), gzip(readFileSync(join(repository, 'CHANGELOG.md'))));
  const entry = `fleetward-agent (${debianVersion(options.version)}) unstable; urgency=medium

  * Release ${options.version}; what has changed is in changelog.gz.

 -- ${maintainer}  ${stamp(options.epochS)}
`;
  write(join(doc, 'changelog.Debian.gz'), gzip(entry));
  put(join(repository, 'systemd/deb/agent.example.toml'), join(doc, 'examples/agent.toml'));
  put(join(repository, 'systemd/70-fleetward.rules'), join(doc, 'examples/70-fleetward.rules'));
  putManual(root);
}

function putSystem(root: string): void {
  const from = (name: string): string => join(repository, 'systemd', name);
  put(from('fleetward-agent.service'), join(root, 'lib/systemd/system/fleetward-agent.service'));
  put(from('fleetward-agent-port@.service'), join(root, 'lib/systemd/system/fleetward-agent-port@.service'));
  put(from('deb/sysusers.conf'), join(root, 'usr/lib/sysusers.d/fleetward-agent.conf'));
  put(from('deb/fleetward-agent'), join(root, 'usr/bin/fleetward-agent'), 0o755);
  put(from('fleetward-agent-ports.sh'), join(root, 'usr/sbin/fleetward-agent-ports'), 0o755);
  put(from('launch.sh'), join(root, 'usr/lib/fleetward-agent/launch'), 0o755);
  put(from('deb/lintian-overrides'), join(root, 'usr/share/lintian/overrides/fleetward-agent'));
}

/** The highest version of a symbol set that any binary of the package asks for, such as `2.34` of `GLIBC`. */
function highestSymbol(root: string, set: 'GLIBC' | 'GLIBCXX'): string {
  const binaries = treeFiles(root).filter((path) => path.endsWith('.node') || path.endsWith('/node'));
  const found = binaries.flatMap((path) =>
    [
      ...readFileSync(join(root, path))
        .toString('latin1')
        .matchAll(new RegExp(`\\b${set}_(\\d+(?:\\.\\d+)+)\\0`, 'g')),
    ].map((match) => (match[1] ?? '').split('.').map(Number)),
  );
  found.sort((left, right) => {
    for (const index of [0, 1, 2]) {
      const order = (right[index] ?? 0) - (left[index] ?? 0);
      if (order !== 0) return order;
    }
    return 0;
  });
  return (found[0] ?? []).join('.');
}

/** GCC release that brought the newest `GLIBCXX_3.4.n`, from the ABI history of libstdc++. */
function libstdcxxVersion(symbol: string): string {
  const minor = Number(symbol.split('.')[2] ?? 0);
  const known: readonly (readonly [number, string])[] = [
    [25, '8'],
    [26, '9'],
    [28, '10'],
    [29, '11'],
    [30, '12'],
  ];
  const release = known.find(([most]) => minor <= most);
  if (release === undefined) throw new Error(`GLIBCXX_${symbol} is newer than Debian 12 has`);
  return release[1];
}

function formatControl(root: string, options: Options): string {
  const libc = highestSymbol(root, 'GLIBC');
  const libstdcxx = libstdcxxVersion(highestSymbol(root, 'GLIBCXX'));
  return `Package: fleetward-agent
Version: ${debianVersion(options.version)}
Architecture: ${options.arch}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(sizeOf(root) / 1024)}
Depends: libc6 (>= ${libc}), libgcc-s1, libstdc++6 (>= ${libstdcxx}), init-system-helpers (>= 1.54), passwd, systemd (>= 252), udev
Section: net
Priority: optional
Description: agent that protects one vehicle and its cargo
 Reads the I/O board and the GNSS receiver of a vehicle, keeps every event on
 disk until the broker has acknowledged it, and obeys signed commands. It never
 stops a moving vehicle.
 .
 Node.js is part of the package; nothing else has to be installed.
`;
}

function putControl(root: string, options: Options): void {
  const control = join(root, 'DEBIAN');
  const content = treeFiles(root);
  const sums = content.map((path) => {
    const sum = createHash('md5')
      .update(readFileSync(join(root, path)))
      .digest('hex');
    return `${sum}  ${path}\n`;
  });
  const text = formatControl(root, options);
  write(join(control, 'control'), text);
  write(join(control, 'md5sums'), sums.join(''));
  const settings = content.filter((path) => path.startsWith('etc/')).map((path) => `/${path}\n`);
  if (settings.length > 0) write(join(control, 'conffiles'), settings.join(''));
  for (const name of ['preinst', 'postinst', 'prerm', 'postrm']) {
    const script = readFileSync(join(repository, 'systemd/deb', name), 'utf8');
    write(join(control, name), script.replaceAll('@VERSION@', debianVersion(options.version)), 0o755);
  }
}

/** Folders 0755 and one time for all. */
function settle(folder: string, epochS: number): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) settle(path, epochS);
    else utimesSync(path, epochS, epochS);
  }
  chmodSync(folder, 0o755);
  utimesSync(folder, epochS, epochS);
}

function build(options: Options): string {
  const root = mkdtempSync(join(tmpdir(), 'fleetward-deb-'));
  try {
    const home = join(root, 'usr/lib/fleetward-agent');
    const bundled = layTree({ ...options, root: repository }, join(home, 'app'));
    put(options.node, join(home, 'node'), 0o755);
    needMachine(join(home, 'node'), options.arch);
    stripBinary(join(home, 'node'), options.arch);
    putSystem(root);
    // The service mounts a memory file system of its own here.
    mkdirSync(join(home, 'release'));
    mkdirSync(join(root, 'etc/fleetward-agent'), { recursive: true });
    if (options.releaseKey !== null) put(options.releaseKey, join(root, 'etc/fleetward-agent/release.pub'));
    putDocuments(root, options, bundled);
    putControl(root, options);
    settle(root, options.epochS);
    mkdirSync(options.output, { recursive: true });
    const target = join(
      options.output,
      `fleetward-agent_${debianVersion(options.version)}_${options.arch}.deb`,
    );
    const level = options.compression === 'gzip' ? '-z1' : '-z6';
    runTool('dpkg-deb', ['--root-owner-group', `-Z${options.compression}`, level, '--build', root, target], {
      SOURCE_DATE_EPOCH: String(options.epochS),
    });
    return target;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

try {
  if (spawnSync('dpkg-deb', ['--version']).status !== 0)
    throw new Error('dpkg-deb is missing: apt install dpkg');
  console.log(build(readOptions()));
} catch (thrown) {
  process.stderr.write(`package:deb: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
}
