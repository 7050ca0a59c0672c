// File helpers of updates and configuration slots: handles are always closed, synced folders keep names over a power
// cut, and a reserve of space stays free. The space that the outbox may still grow into must never be used.
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { AppError } from '../../src/core/errors.ts';

/** Runs `work` on a file or folder and always closes it. */
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

/** Resolves when created, renamed and removed names of this folder are on the disk. */
export function syncFolder(folder: string): Promise<void> {
  return withHandle(open(folder, 'r'), (handle) => handle.sync());
}

/** Throws AppError `storage` unless `bytes` more and the reserve fit on the disk of that folder. */
export async function needDiskSpace(
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
    `Too little disk space for the release: ${mib(freeBytes)} MiB are free, ${mib(neededBytes)} MiB are needed`,
    { hint: 'Free space on this disk, then order the update again.' },
  );
}
