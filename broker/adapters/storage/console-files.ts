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
