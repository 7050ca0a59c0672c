// `npm run package:deb [-- agent | broker]`: builds fleetward-agent_<version>_<arch>.deb or that of the broker with everything
// that it needs, Node included.
// The same input gives the same bytes: names and modes are set, times are SOURCE_DATE_EPOCH, the owner is root. It must
// never put anything in that is not named in products.ts or found by following imports.
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
import type { Arch } from '../agent/core/update/manifest.ts';
import { readVersion } from '../src/adapters/version.ts';
import { isVersion } from '../src/core/releases/version.ts';
import { layTree, ownArch, put, treeFiles } from './app-tree.ts';
import { sizeOf } from './closure.ts';
import { layNode, treeComponents } from './components.ts';
import { formatCopyright } from './copyright.ts';
import { homeOf, type Product, productOf } from './products.ts';
import { type Component, formatSbom } from './sbom.ts';
import { commitTimeS, runTool } from './tools.ts';

const repository = new URL('../..', import.meta.url).pathname;
const maintainer = 'Fleetward maintainers <maintainers@fleetward.example>';

interface Options {
  readonly product: Product;
  readonly arch: Arch;
  readonly version: string;
  readonly node: string;
  readonly nodeLicence: string;
  readonly parts: string | null;
  readonly releaseKey: string | null;
  readonly advisories: string | null;
  readonly output: string;
  readonly compression: 'xz' | 'gzip';
  readonly epochS: number;
}

/** 1.0.0-rc.1 is 1.0.0~rc.1-1 for Debian: lower than 1.0.0-1. */
const debianVersion = (version: string): string => `${version.replace('-', '~')}-1`;

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      arch: { type: 'string', default: ownArch() },
      version: { type: 'string', default: readVersion() },
      parts: { type: 'string' },
      'release-key': { type: 'string' },
      advisories: { type: 'string' },
      output: { type: 'string', default: join(repository, 'build') },
      compression: { type: 'string', default: 'xz' },
    },
  });
  const { arch, version, parts, output, compression } = values;
  const product = productOf(positionals[0]);
  if (values.advisories !== undefined && values['release-key'] === undefined)
    throw new Error('--advisories needs --release-key, the public key that they are checked with');
  if (arch !== 'amd64' && arch !== 'arm64') throw new Error('--arch is amd64 or arm64');
  if (!isVersion(version)) throw new Error(`--version ${version} is no version`);
  if (compression !== 'xz' && compression !== 'gzip') throw new Error('--compression is xz or gzip');
  if (arch !== ownArch() && parts === undefined)
    throw new Error(`for ${arch} say --parts DIR, as made by systemd/arm64-parts.sh`);
  const beside = [join(dirname(process.execPath), '../LICENSE'), '/usr/share/doc/nodejs/LICENSE'];
  return {
    product,
    arch,
    version,
    node: parts === undefined ? process.execPath : join(parts, 'node'),
    nodeLicence:
      parts === undefined ? (beside.find((path) => existsSync(path)) ?? '') : join(parts, 'LICENSE'),
    parts: parts ?? null,
    releaseKey: values['release-key'] ?? null,
    advisories: values.advisories ?? null,
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

/** Manual pages and completions, as far as there are any. */
function putManual(root: string, { name: program }: Product): void {
  const manual = join(repository, 'systemd/man');
  const pages = existsSync(manual)
    ? readdirSync(manual).filter((name) => name.startsWith(program) && /\.[1-8]$/.test(name))
    : [];
  for (const page of pages.sort())
    write(
      join(root, `usr/share/man/man${page.at(-1) ?? '1'}`, `${page}.gz`),
      gzip(readFileSync(join(manual, page))),
    );
  const completions: Readonly<Record<string, string>> = {
    [`${program}.bash`]: `usr/share/bash-completion/completions/${program}`,
    [`_${program}`]: `usr/share/zsh/vendor-completions/_${program}`,
    [`${program}.fish`]: `usr/share/fish/vendor_completions.d/${program}.fish`,
  };
  for (const [name, to] of Object.entries(completions)) {
    const from = join(repository, 'systemd/completion', name);
    if (existsSync(from)) put(from, join(root, to));
  }
}

function putDocuments(root: string, options: Options, bundled: ReturnType<typeof layTree>): void {
  const { product } = options;
  const doc = join(root, 'usr/share/doc', product.name);
  const node = { version: process.version, licence: readFileSync(options.nodeLicence, 'utf8') };
  write(join(doc, 'copyright'), formatCopyright({ title: product.title, node, bundled }));
  write(join(doc, 'changelog.gz'), gzip(readFileSync(join(repository, 'CHANGELOG.md'))));
  const entry = `${product.name} (${debianVersion(options.version)}) unstable; urgency=medium

  * Release ${options.version}; what has changed is in changelog.gz.

 -- ${maintainer}  ${stamp(options.epochS)}
`;
  write(join(doc, 'changelog.Debian.gz'), gzip(entry));
  putManual(root, product);
}

/** The list of components; files of the system, such as units, are not in it: dpkg has their sums. */
function putSbom(root: string, options: Options, node: Component): void {
  const { product, version, arch, epochS } = options;
  const { name } = product;
  const tree = join(root, homeOf(product), 'app');
  const app = treeComponents({ tree, prefix: join(homeOf(product), 'app'), root: repository, name, version });
  const purl = `pkg:deb/fleetward/${name}@${encodeURIComponent(debianVersion(version))}?arch=${arch}`;
  const subject = { type: 'application', name, version, purl } as const;
  const text = formatSbom(subject, [node, ...app], epochS);
  write(join(root, 'usr/share/doc', name, 'sbom.cdx.json.gz'), gzip(text));
}

function putSystem(root: string, { files }: Product): void {
  for (const { from, to, mode } of files) put(join(repository, 'systemd', from), join(root, to), mode);
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
  const { product, version, arch } = options;
  const libraries = [`libc6 (>= ${libc})`, `libstdc++6 (>= ${libstdcxx})`];
  return `Package: ${product.name}
Version: ${debianVersion(version)}
Architecture: ${arch}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(sizeOf(root) / 1024)}
Depends: ${[...libraries, ...product.depends].join(', ')}
Section: net
Priority: optional
Description: ${product.description}
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
    const script = readFileSync(join(repository, 'systemd', options.product.scripts, name), 'utf8');
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
  const { product } = options;
  try {
    const home = join(root, homeOf(product));
    const bundled = layTree({ ...options, root: repository }, join(home, 'app'));
    const node = layNode(options, join(home, 'node'), join(homeOf(product), 'node'));
    putSystem(root, product);
    for (const name of product.mounts) mkdirSync(join(home, name));
    const settings = join(root, 'etc', product.name);
    mkdirSync(settings, { recursive: true });
    if (options.releaseKey !== null) put(options.releaseKey, join(settings, 'release.pub'));
    if (options.advisories !== null) put(options.advisories, join(settings, 'advisories.jws'));
    putDocuments(root, options, bundled);
    putSbom(root, options, node);
    putControl(root, options);
    settle(root, options.epochS);
    mkdirSync(options.output, { recursive: true });
    const target = join(
      options.output,
      `${product.name}_${debianVersion(options.version)}_${options.arch}.deb`,
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
