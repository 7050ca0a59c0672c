// What the database takes on its disk and what is left there. It must never fail: an unknown size is null.
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DiskSizes } from '../../metrics/sampler.ts';

function orNull<Value>(look: () => Value): Value | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Bytes that programs of this user may still write beside `path`; null when unknown. */
export function freeBytesAt(path: string): number | null {
  const found = orNull(() => statfsSync(dirname(path)));
  return found === null ? null : found.bavail * found.bsize;
}

/** Sizes of an SQLite file and its write-ahead log. */
export function sqliteDiskSizes(path: string): DiskSizes {
  return {
    databaseBytes: orNull(() => statSync(path).size),
    walBytes: orNull(() => statSync(`${path}-wal`).size),
    freeBytes: freeBytesAt(path),
  };
}
