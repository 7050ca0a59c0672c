// The disk as an update and the slots of the configuration need it: files that are always closed, folders whose names survive a power cut, and room that is left
// for others. It must never take the room that the outbox may still grow into.
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { AppError } from '../../src/core/errors.ts';

/** Works with a file or folder and closes it, whatever happens. */
export async function withHandle(
  opened: Promise<FileHandle>,
  work: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const handle = await opened;
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}

/** Names that were given or taken in this folder are on the disk when it resolves. */
export function syncFolder(folder: string): Promise<void> {
  return withHandle(open(folder, 'r'), (handle) => handle.sync());
}

/** Throws AppError `storage` unless `bytes` more and the reserve fit on the disk of that folder. */
export async function needRoom(
  folder: string,
  { bytes, reserveBytes }: { readonly bytes: number; readonly reserveBytes: number },
): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const neededBytes = bytes + reserveBytes;
  if (freeBytes >= neededBytes) return;
  const mib = (of: number): number => Math.ceil(of / 1_048_576);
  throw new AppError(
    'storage',
    `no room for the release: ${mib(freeBytes)} MiB are free, ${mib(neededBytes)} MiB are needed`,
  );
}
