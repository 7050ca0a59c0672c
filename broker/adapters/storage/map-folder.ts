// The folder of map files on disk. A name is checked before it comes near a path, so nothing outside of the folder is read; files may be
// added and replaced while the broker runs.
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { type MapFile, type MapFolder, mapNamePattern, type OpenMapFile } from '../../ports/map-folder.ts';

const filesMost = 100;
/** Bytes of one read, which is all that is in memory of an answer besides what the connection holds. */
const readBytes = 64 * 1024;

const isMissing = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String(thrown.code));

async function describe(name: string, file: FileHandle): Promise<OpenMapFile | null> {
  const { size, mtimeMs, mtimeNs, ino, isRegular } = await file
    .stat({ bigint: true })
    .then((found) => ({ ...found, mtimeMs: found.mtimeMs, isRegular: found.isFile() }));
  if (!isRegular) return null;
  return {
    name,
    size: Number(size),
    changedMs: Number(mtimeMs),
    etag: `"${[size, mtimeNs, ino].map((one) => one.toString(36)).join('-')}"`,
    read: ({ start, end }) => file.createReadStream({ start, end, highWaterMark: readBytes }),
    close: () => file.close(),
  };
}

async function openFile(path: string, name: string): Promise<OpenMapFile | null> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK, opening a named pipe in the folder would block until it has a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw new AppError('storage', `Cannot read the map ${name}: ${messageOf(thrown)}`, { cause: thrown });
  }
  const found = await describe(name, file);
  if (found === null) await file.close();
  return found;
}

/** @throws AppError `config` when there is no such folder. */
export async function openMapFolder(folder: string): Promise<MapFolder> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) {
    throw new AppError('config', `--maps ${folder} is no folder`, {
      hint: 'Make the folder and put map files (*.pmtiles) into it, or leave the setting out.',
    });
  }
  return {
    async list() {
      const names = (await readdir(folder)).filter((name) => mapNamePattern.test(name)).sort();
      const files: MapFile[] = [];
      for (const name of names.slice(0, filesMost)) {
        const one = await stat(join(folder, name)).catch(() => null);
        if (one?.isFile() === true) files.push({ name, size: one.size, changedMs: one.mtimeMs });
      }
      return files;
    },
    open: async (name) => (mapNamePattern.test(name) ? openFile(join(folder, name), name) : null),
  };
}
