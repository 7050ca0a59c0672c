// What a package really needs: its own compiled files and the npm packages that they import, found by following the
// imports from its entry points. It is built from this list and from nothing else, so neither another program of the
// repository nor a development dependency can get in.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Program } from './products.ts';

export interface Closure {
  /** Paths below `dist`, ascending. */
  readonly own: readonly string[];
  /** Paths of package folders below `node_modules`, ascending; nested ones as `a/node_modules/b`. */
  readonly packages: readonly string[];
}

/** Where a package lies that holds more than what runs: only these parts of it are taken. */
const partsOf: Readonly<Record<string, readonly RegExp[]>> = {
  'better-sqlite3': [/^lib\//, /^build\/Release\/better_sqlite3\.node$/],
  '@serialport/bindings-cpp': [/^dist\//, /^prebuilds\//],
  mqtt: [/^build\/(?!bin\/)/],
};

/** Whether a file at the root of a package says under which terms it may be used. */
export const isLicence = (name: string): boolean => /^(licen[cs]e|notice|copying)(\b|[._-])/i.test(name);

/** Never run: documentation, types, sources, tests, what git or an editor left. */
const isDeadWeight = (path: string): boolean =>
  /\.(md|markdown|map|ts|mts|cts|tsx|flow|yml|yaml|cc|cpp|h|c|gyp|gypi|o|a|html|sh|tsbuildinfo)$/i.test(
    path,
  ) ||
  /(^|\/)(\.[^/]+|tests?|__tests__|examples?|benchmarks?|coverage|fixtures?)(\/|$)/.test(path) ||
  // Further down it may be code: that of `yaml` is in `dist/doc`.
  /^docs?\//.test(path);

export function listFiles(folder: string, below = ''): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .flatMap((entry) => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFiles(folder, path);
      return entry.isFile() ? [path] : [];
    })
    .sort();
}

/** The files of an npm package that are taken, as paths in it, ascending. */
export function packageFiles(folder: string, name: string): string[] {
  const parts = partsOf[name];
  return listFiles(folder).filter((path) => {
    if (path === 'package.json' || (!path.includes('/') && isLicence(path))) return true;
    if (parts !== undefined && !parts.some((part) => part.test(path))) return false;
    return !isDeadWeight(path);
  });
}

function specifiersIn(text: string): string[] {
  const patterns = [
    /\b(?:import|export)\s[^'"();]*?from\s*['"]([^'"\s]+)['"]/g,
    /\bimport\s*['"]([^'"\s]+)['"]/g,
    /\b(?:require|import)\s*\(\s*['"]([^'"\s]+)['"]\s*\)/g,
    /\bnew URL\(\s*['"](\.[^'"]+)['"]\s*,\s*import\.meta\.url/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ''));
}

const nameOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

function ownFiles(
  dist: string,
  entries: readonly string[],
): { files: readonly string[]; names: ReadonlySet<string> } {
  const files = new Set<string>();
  const names = new Set<string>();
  const queue = [...entries];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const specifier of specifiersIn(readFileSync(join(dist, file), 'utf8'))) {
      if (specifier.startsWith('.')) {
        const target = relative(dist, join(dist, dirname(file), specifier));
        if (target.endsWith('.js') && existsSync(join(dist, target))) queue.push(target);
      } else if (!specifier.startsWith('node:')) names.add(nameOf(specifier));
    }
  }
  return { files: [...files].sort(), names };
}

/** The folder of `name` as Node finds it from `from` (both below `modules`), or null. */
function findPackage(modules: string, name: string, from: string): string | null {
  for (
    let at = from;
    ;
    at = at.includes('/node_modules/') ? at.slice(0, at.lastIndexOf('/node_modules/')) : ''
  ) {
    const path = at === '' ? name : `${at}/node_modules/${name}`;
    if (existsSync(join(modules, path, 'package.json'))) return path;
    if (at === '') return null;
  }
}

interface PackageJson {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Dependencies that code of the package asks for; what is declared and never asked for (installers) is left out. */
function neededBy(folder: string): string[] {
  const declared = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageJson;
  const known = { ...declared.dependencies, ...declared.optionalDependencies, ...declared.peerDependencies };
  const asked = new Set<string>();
  for (const path of packageFiles(folder, declared.name)) {
    if (!/\.(js|cjs|mjs)$/.test(path)) continue;
    for (const specifier of specifiersIn(readFileSync(join(folder, path), 'utf8')))
      asked.add(nameOf(specifier));
  }
  return Object.keys(known).filter((name) => asked.has(name));
}

/** Finds the closure. Throws when a file or package that is imported is not there, or belongs to another program. */
export function findClosure(product: Program, dist: string, modules: string): Closure {
  const { files, names } = ownFiles(dist, product.entries);
  const foreign = files.find((file) => !product.folders.includes(file.split('/')[0] ?? ''));
  if (foreign !== undefined) throw new Error(`${product.name} imports ${foreign}, which is not its own`);
  const packages = new Set<string>();
  const queue = [...names].map((name) => ({ name, from: '' }));
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const path = findPackage(modules, next.name, next.from);
    if (path === null) {
      if (next.from === '')
        throw new Error(`${product.name} imports ${next.name}, which is not installed: npm ci`);
      continue;
    }
    if (packages.has(path)) continue;
    packages.add(path);
    const from = path;
    queue.push(...neededBy(join(modules, path)).map((name) => ({ name, from })));
  }
  return { own: files, packages: [...packages].sort() };
}

/** Bytes of all files below a folder. */
export function sizeOf(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true });
  return paths
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
