// The C and C++ libraries that Node needs, from Debian's packages, which apt checks against the signed list of their repository. The
// lists and downloads lie in a folder of their own: nothing of the machine's apt is changed.
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Arch } from '../../agent/core/update/manifest.ts';
import type { TarFile } from '../tar.ts';
import { runTool } from '../tools.ts';

/** Shared objects of each package that Node and the native parts load. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  libc6: ['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1', 'libresolv.so.2'],
  'libgcc-s1': ['libgcc_s.so.1'],
  'libstdc++6': ['libstdc++.so.6'],
};
const loaders: Readonly<Record<Arch, { readonly triplet: string; readonly loader: string }>> = {
  amd64: { triplet: 'x86_64-linux-gnu', loader: 'lib64/ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'lib/ld-linux-aarch64.so.1' },
};

export interface DebianPart {
  readonly name: string;
  readonly version: string;
  readonly files: readonly TarFile[];
}

function aptOptions(arch: Arch, folder: string): readonly string[] {
  for (const path of ['state/lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, 'status'), '');
  return [
    `APT::Architecture=${arch}`,
    `APT::Architectures=${arch}`,
    'APT::Sandbox::User=root',
    `Dir::State=${join(folder, 'state')}`,
    `Dir::State::status=${join(folder, 'status')}`,
    `Dir::Cache=${join(folder, 'cache')}`,
  ].flatMap((option) => ['-o', option]);
}

/** A file of an unpacked package by its name; links are followed within it. */
function findFile(root: string, name: string): string {
  const entry = readdirSync(root, { recursive: true, withFileTypes: true }).find((one) => one.name === name);
  if (entry === undefined) throw new Error(`${name} is not in ${basename(root)}`);
  return realpathSync(join(entry.parentPath, entry.name));
}

function partOf(name: string, arch: Arch, folder: string): DebianPart {
  const archive = readdirSync(folder).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'));
  if (archive === undefined) throw new Error(`apt left no package ${name} for ${arch}`);
  const root = join(folder, name);
  runTool('dpkg-deb', ['--extract', join(folder, archive), root]);
  const control = runTool('dpkg-deb', ['--field', join(folder, archive)]);
  const version = /^Version: (.+)$/m.exec(control)?.[1];
  if (version === undefined) throw new Error(`${archive} does not say its version`);
  const { triplet, loader } = loaders[arch];
  const wanted = (libraries[name] ?? []).map((file) => ({ file, to: `usr/lib/${triplet}/${file}` }));
  if (name === 'libc6') wanted.push({ file: basename(loader), to: loader });
  const files = wanted.map(({ file, to }) => ({
    path: to,
    bytes: readFileSync(findFile(root, file)),
    mode: 0o755,
  }));
  const copyright = join(root, 'usr/share/doc', name, 'copyright');
  // The copyright of libgcc-s1 and libstdc++6 is a link into a package that both need.
  if (existsSync(copyright))
    files.push({ path: `usr/share/doc/${name}/copyright`, bytes: readFileSync(copyright), mode: 0o644 });
  // Scanners for known faults read what is installed here.
  files.push({ path: `var/lib/dpkg/status.d/${name}`, bytes: Buffer.from(control), mode: 0o644 });
  return { name, version, files };
}

/** Fetches and unpacks them below `folder`, which is empty. @throws Error with what apt or dpkg-deb printed. */
export function fetchDebianParts(arch: Arch, folder: string): readonly DebianPart[] {
  const options = aptOptions(arch, folder);
  runTool('apt-get', [...options, '--quiet', 'update']);
  const names = [...Object.keys(libraries), 'gcc-12-base'];
  // apt downloads into the folder that it runs in.
  runTool('sh', ['-c', 'cd "$0" && exec apt-get "$@"', folder, ...options, '--quiet', 'download', ...names]);
  return names.map((name) => partOf(name, arch, folder));
}
