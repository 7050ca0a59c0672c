// What a laid tree consists of, for the list of its components: each npm package with its files, those that are joined into the console,
// Node, and our own files.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arch } from '../agent/core/update/manifest.ts';
import { needMachine, put, stripBinary, treeFiles } from './app-tree.ts';
import type { Component } from './sbom.ts';
import type { TarFile } from './tar.ts';

export interface LaidTree {
  readonly tree: string;
  /** Where the tree is in a package or image, without the slash in front. */
  readonly prefix: string;
  /** The repository, built. */
  readonly root: string;
  readonly name: string;
  readonly version: string;
}

function npmComponent(name: string, version: string, licence: string): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', name, version, purl, licence, files: [] };
}

/** Packages whose code is in files of the console, as its licences name them. */
function consolePackages(tree: string): readonly Component[] {
  const path = join(tree, 'dist/broker/console/licences.txt');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return [...text.matchAll(/^## (\S+) - (\S+) \((.+)\)$/gm)].map(
    ([, name = '', version = '', licence = '']) => npmComponent(name, version, licence),
  );
}

/** Folder of the package that a file of the tree belongs to; null: it is ours. */
const folderOf = (path: string): string | null =>
  /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? null;

function packageAt({ tree, root }: LaidTree, folder: string): Component {
  // A package of which the build copies some files only has no manifest beside them.
  const paths = [join(tree, folder), join(root, folder.replace(/^dist\//, ''))].map((path) =>
    join(path, 'package.json'),
  );
  const manifest = paths.find((path) => existsSync(path));
  if (manifest === undefined) throw new Error(`${folder} belongs to no package that is known`);
  const { name, version, license } = JSON.parse(readFileSync(manifest, 'utf8')) as Readonly<
    Record<string, string>
  >;
  if (name === undefined || version === undefined || license === undefined)
    throw new Error(`${manifest} does not say its name, version and licence`);
  return npmComponent(name, version, license);
}

/** Our own files first, then each package with its files; every file is in exactly one. */
export function treeComponents(laid: LaidTree): readonly Component[] {
  const { tree, prefix, name, version } = laid;
  const own: TarFile[] = [];
  const packages = new Map<string, { component: Component; files: TarFile[] }>();
  for (const path of treeFiles(tree)) {
    const file = { path: `${prefix}/${path}`, bytes: readFileSync(join(tree, path)), mode: 0o644 };
    const folder = folderOf(path);
    if (folder === null) {
      own.push(file);
      continue;
    }
    const component = packageAt(laid, folder);
    const known = packages.get(component.purl) ?? { component, files: [] };
    known.files.push(file);
    packages.set(component.purl, known);
  }
  for (const component of consolePackages(tree))
    if (!packages.has(component.purl)) packages.set(component.purl, { component, files: [] });
  const purl = `pkg:generic/${name}@${version}`;
  return [
    { type: 'application', name, version, purl, licence: 'Apache-2.0', files: own },
    ...[...packages.values()].map(({ component, files }) => ({ ...component, files })),
  ];
}

/** Lays Node at `path`, stripped. @param place where it is in a package or image. */
export function layNode(
  { node, arch }: { readonly node: string; readonly arch: Arch },
  path: string,
  place: string,
): Component {
  put(node, path, 0o755);
  needMachine(path, arch);
  stripBinary(path, arch);
  const version = process.versions.node;
  const files = [{ path: place, bytes: readFileSync(path), mode: 0o755 }];
  return {
    type: 'platform',
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
    licence: 'MIT',
    files,
  };
}
