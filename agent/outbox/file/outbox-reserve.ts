// Disk space reserved for the case that other programs fill the disk: without it not even a deletion could be written
// then. The file has no content and may be deleted at any time.
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** No files: for simulated vehicles, whose disk is the simulator's business. */
export const inMemory = ':memory:';

export const reservePath = (path: string): string => `${path}-reserve`;

/** Allocates `bytes` unless they are already; false when the disk is too full. */
export function allocateReserve(path: string, bytes: number): boolean {
  if (path === inMemory) return true;
  const reserve = reservePath(path);
  try {
    if (existsSync(reserve) && statSync(reserve).size === bytes) return true;
    writeFileSync(reserve, new Uint8Array(bytes));
    return true;
  } catch {
    freeReserve(path);
    return false;
  }
}

/** Gives that space back to the disk; false when there was none, or the file system does not allow it. */
export function freeReserve(path: string): boolean {
  if (path === inMemory || !existsSync(reservePath(path))) return false;
  try {
    rmSync(reservePath(path), { force: true });
    return true;
  } catch {
    return false;
  }
}
