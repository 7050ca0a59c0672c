// Folders of tests in the temporary directory. One is gone when the process of its test file ends: also when every test of the file
// was skipped, where no hook of the file runs. Where the runner kills that process, `undertaker.mjs` removes them by their list.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const folders: string[] = [];

function removeAll(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

process.once('exit', removeAll);
// The runner ends the process of a file so, which does not reach `exit` by itself.
process.once('SIGTERM', () => {
  removeAll();
  process.kill(process.pid, 'SIGTERM');
});

/**
 * Makes a folder `fleetward-<name>-…` for this test file.
 * @param directory to make it in; else the temporary one.
 */
export function temporaryFolder(name: string, directory = tmpdir()): string {
  const folder = mkdtempSync(join(directory, `fleetward-${name}-`));
  folders.push(folder);
  if (directory === process.env['FLEETWARD_TEST_DIRECTORY'])
    appendFileSync(join(directory, '.folders'), `${process.pid} ${basename(folder)}\n`);
  return folder;
}
