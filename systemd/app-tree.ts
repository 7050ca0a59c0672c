// Lays out a program as it is installed and as it is released: compiled files, board profiles and npm packages, native
// parts for one architecture only. Modes and names do not depend on the machine, so the same input gives the same bytes.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Arch } from '../agent/core/update/manifest.ts';
import { findClosure, isLicence, listFiles, packageFiles } from './closure.ts';
import type { Program } from './products.ts';

export interface TreeOptions {
  readonly product: Program;
  /** The repository, built. */
  readonly root: string;
  readonly arch: Arch;
  readonly version: string;
  /** Native parts for another architecture, as arm64-parts.sh makes them; null: this machine's own. */
  readonly parts: string | null;
}

export interface Bundled {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** Texts of licence files; empty when the package has none. */
  readonly texts: readonly string[];
}

const machineOf = {
  amd64: { node: 'x64', elf: 62, strip: 'strip' },
  arm64: { node: 'arm64', elf: 183, strip: 'aarch64-linux-gnu-strip' },
};

/** `amd64` or `arm64` of the Node that runs this. */
export function ownArch(): Arch {
  return process.arch === 'arm64' ? 'arm64' : 'amd64';
}

/** Throws unless `path` is an ELF file for `arch` (e_machine of the ELF header). */
export function needMachine(path: string, arch: Arch): void {
  const header = readFileSync(path).subarray(0, 20);
  const isElf = header.toString('latin1', 1, 4) === 'ELF';
  if (!isElf || header.readUInt16LE(18) !== machineOf[arch].elf)
    throw new Error(`${path} is not for ${arch}`);
}

/** Takes symbols and debug sections away; without the tool the file is larger and that is all. */
export function stripBinary(path: string, arch: Arch): void {
  const tool = arch === ownArch() ? 'strip' : machineOf[arch].strip;
  const result = spawnSync(
    tool,
    ['--strip-unneeded', '--remove-section=.comment', '--remove-section=.note', path],
    { timeout: 120_000 },
  );
  if (result.status !== 0) process.stderr.write(`not stripped, ${tool} does not do it: ${path}\n`);
}

/** Copies a file. Nothing of the tree is started by name, so only what is given a mode can be run. */
export function put(from: string, to: string, mode: 0o644 | 0o755 = 0o644): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

/** True for a native part that this architecture does not load. */
function isForeignPrebuild(path: string, arch: Arch): boolean {
  if (!path.startsWith('prebuilds/')) return false;
  return !path.startsWith(`prebuilds/linux-${machineOf[arch].node}/`) || !path.endsWith('.glibc.node');
}

/** Packages without a licence file whose notice opens one of their sources. */
const noticeIn: Readonly<Record<string, string>> = { '@bufbuild/protobuf': 'dist/esm/wire/varint.js' };

/** The lines of comment that a source opens with. */
function noticeOf(path: string): string {
  const lines = readFileSync(path, 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ''))
    .join('\n');
}

function describe(folder: string): Bundled {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  if (license === undefined) throw new Error(`${name} says nothing of its licence`);
  const texts = readdirSync(folder)
    .filter(isLicence)
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const source = noticeIn[name];
  if (source !== undefined) texts.push(noticeOf(join(folder, source)));
  return { name, version, licence: license, texts };
}

/** Name of a platform package of npm, such as `@node-rs/argon2-linux-x64-gnu`, for this architecture. */
const nameFor = (path: string, arch: Arch): string =>
  path.replace(/-linux-(x64|arm64)-gnu$/, `-linux-${machineOf[arch].node}-gnu`);

function putPackage({ root, arch, parts }: TreeOptions, target: string, found: string): Bundled {
  const path = nameFor(found, arch);
  const joined = join(root, 'dist/node_modules', path);
  const own = existsSync(joined) ? joined : join(root, 'node_modules', path);
  const folder = path === found || parts === null ? own : join(parts, 'node_modules', path);
  if (!existsSync(folder)) throw new Error(`${folder} is not there: run systemd/arm64-parts.sh again`);
  const bundled = describe(folder);
  for (const file of packageFiles(folder, bundled.name)) {
    if (isForeignPrebuild(file, arch)) continue;
    const to = join(target, 'node_modules', path, file);
    const isSqlite = file.endsWith('better_sqlite3.node');
    put(isSqlite && parts !== null ? join(parts, 'better_sqlite3.node') : join(folder, file), to);
    if (!file.endsWith('.node')) continue;
    needMachine(to, arch);
    stripBinary(to, arch);
  }
  return bundled;
}

/** Lays the tree at `target`, which is replaced; says which npm packages are in it. */
export function layTree(options: TreeOptions, target: string): readonly Bundled[] {
  const { root, version, product } = options;
  rmSync(target, { recursive: true, force: true });
  const { own, packages } = findClosure(product, join(root, 'dist'), join(root, 'node_modules'));
  for (const file of own) put(join(root, 'dist', file), join(target, 'dist', file));
  for (const folder of product.data)
    for (const file of listFiles(join(root, folder)))
      put(join(root, folder, file), join(target, 'dist', folder, file));
  for (const folder of product.built)
    for (const file of listFiles(join(root, 'dist', folder)).filter((path) => !path.startsWith('.')))
      put(join(root, 'dist', folder, file), join(target, 'dist', folder, file));
  const manifest = { name: product.name, version, type: 'module', private: true, license: 'Apache-2.0' };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o644 });
  const bundled = packages.map((path) => putPackage(options, target, path));
  const copied = product.built.filter((folder) => folder.startsWith('node_modules/'));
  const natives = treeFiles(target).filter((file) => file.endsWith('.node'));
  const lacking = product.natives.find(
    (name) => natives.filter((file) => file.startsWith(`node_modules/${name}`)).length !== 1,
  );
  if (lacking !== undefined || natives.length !== product.natives.length)
    throw new Error(`the native parts for ${options.arch} are not all there: ${natives.join(', ')}`);
  return [...bundled, ...copied.map((folder) => describe(join(root, folder)))];
}

/** Every regular file of a tree with its path, ascending by code units as manifests want it. */
export function treeFiles(target: string): readonly string[] {
  if (!existsSync(target)) throw new Error(`${target} is not there`);
  return readdirSync(target, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(target.length + 1))
    .sort((left, right) => (left < right ? -1 : 1));
}
