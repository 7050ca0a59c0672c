// Reads the built console once, at the start: what is not in the list does not exist, so no path of a request ever reaches the disk. Links
// are not followed, and the whole is bounded, because it stays in memory.
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { AppError } from '../../../src/core/errors.ts';
import { answerTag } from '../../api/base/answer-tag.ts';
import type { ConsoleFile, ConsoleFiles } from '../../ports/console-files.ts';

const limits = { files: 2000, fileBytes: 16 * 1024 * 1024, bytes: 64 * 1024 * 1024 } as const;

/** Media type by ending, and whether it shrinks. */
const types: Readonly<Record<string, readonly [type: string, isCompressible: boolean]>> = {
  '.html': ['text/html; charset=utf-8', true],
  '.js': ['text/javascript; charset=utf-8', true],
  '.mjs': ['text/javascript; charset=utf-8', true],
  '.css': ['text/css; charset=utf-8', true],
  '.json': ['application/json; charset=utf-8', true],
  '.webmanifest': ['application/manifest+json; charset=utf-8', true],
  '.svg': ['image/svg+xml; charset=utf-8', true],
  '.txt': ['text/plain; charset=utf-8', true],
  '.wasm': ['application/wasm', true],
  '.png': ['image/png', false],
  '.webp': ['image/webp', false],
  '.jpg': ['image/jpeg', false],
  '.ico': ['image/x-icon', false],
  '.woff2': ['font/woff2', false],
  '.mp3': ['audio/mpeg', false],
  '.ogg': ['audio/ogg', false],
  '.pbf': ['application/octet-stream', true],
};

/** As Vite names what it builds: at least 8 characters of a hash before the ending. */
const hashedName = /[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

function toFile(path: string, bytes: Buffer): ConsoleFile {
  const [type, isCompressible] = types[extname(path).toLowerCase()] ?? ['application/octet-stream', false];
  return {
    type,
    isCompressible,
    bytes,
    etag: answerTag(createHash('sha256').update(bytes)),
    isHashed: path.startsWith('assets/') && hashedName.test(path),
  };
}

/**
 * Reads the folder of the built console.
 * @returns null when there is no such folder.
 * @throws AppError `config` when it holds no console, or too much.
 */
export async function readConsoleFiles(folder: string): Promise<ConsoleFiles | null> {
  if ((await stat(folder).catch(() => null))?.isDirectory() !== true) return null;
  const fail = (message: string): never => {
    throw new AppError('config', `The console in ${folder} ${message}`, {
      hint: 'Name the folder that the build of the console has written, or leave --console out.',
    });
  };
  const files = new Map<string, ConsoleFile>();
  let total = 0;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const full = join(entry.parentPath, entry.name);
    const path = relative(folder, full).split(sep).join('/');
    // Source maps and hidden files are not for browsers.
    if (!entry.isFile() || path.split('/').some((part) => part.startsWith('.')) || path.endsWith('.map'))
      continue;
    const { size } = await stat(full);
    total += size;
    if (size > limits.fileBytes || total > limits.bytes || files.size >= limits.files) {
      fail(`is larger than ${limits.files} files and ${limits.bytes / 1024 / 1024} MiB`);
    }
    files.set(path, toFile(path, await readFile(full)));
  }
  return files.has('index.html') ? files : fail('has no index.html');
}

/** The page of the operator of the service, which is built beside the console. */
const operatorPage = 'operator.html';

/** What users are served: all but the page of the operator. */
export function userFilesOf(files: ConsoleFiles): ConsoleFiles {
  return new Map([...files].filter(([path]) => path !== operatorPage));
}

/** Built files that a page, style or script names. */
const namesIn = ({ bytes }: ConsoleFile): readonly string[] =>
  [...bytes.toString().matchAll(/[\w-]+-[A-Za-z0-9_-]{8}\.(?:js|css)/g)].map(([name]) => `assets/${name}`);

/**
 * What the operator's listener serves: the operator's page as its index, with the files that it names, themselves or by others, and the
 * icon. Null when the folder has no such page.
 */
export function operatorFilesOf(files: ConsoleFiles): ConsoleFiles | null {
  const page = files.get(operatorPage);
  if (page === undefined) return null;
  const served = new Map([['index.html', page]]);
  const icon = files.get('icon.svg');
  if (icon !== undefined) served.set('icon.svg', icon);
  const open = [page];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    for (const name of namesIn(file)) {
      const named = files.get(name);
      if (named === undefined || served.has(name)) continue;
      served.set(name, named);
      open.push(named);
    }
  }
  return served;
}
