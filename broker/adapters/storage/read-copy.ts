// A copy of a database to read where reading it in place would change it: its log is replayed in the copy.
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storageError } from '../../../src/adapters/database/sqlite.ts';
import { isReadInPlace, realPathOf } from '../../../src/adapters/database/sqlite-files.ts';
import { AppError } from '../../../src/core/errors.ts';
import { needSpace } from './backup-file.ts';

/**
 * Null: the file can be read where it is.
 * @throws AppError `storage` when there is no space for a copy in the folder of the system for temporary files.
 */
export function copyToRead(database: string): { readonly path: string; remove(): void } | null {
  if (isReadInPlace(database)) return null;
  const real = realPathOf(database);
  const files = ['', '-wal'].filter((suffix) => existsSync(real + suffix));
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-check-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const path = join(folder, 'copy.db');
  try {
    needSpace(
      path,
      files.reduce((sum, suffix) => sum + statSync(real + suffix).size, 0),
    );
    for (const suffix of files) copyFileSync(real + suffix, path + suffix, constants.COPYFILE_FICLONE);
  } catch (thrown) {
    remove();
    throw thrown instanceof AppError ? thrown : storageError(thrown, real);
  }
  return { path, remove };
}
