// `check` reads without a trace, also from a disk that cannot be written; `backup` and `restore` work where the file system has no hard
// links. The real program; link(2) fails by strace as it does on FAT, CIFS and FUSE.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { createBrokerSetup, provision, startBroker } from '../support/programs/fleet-processes.ts';

const missing = whyNotBuilt('broker');
const note = missing === null ? '' : ` [${missing}]`;
const strace = requires({ commands: ['strace'], debian: ['strace'] }).missing;
const mayMount = spawnSync('unshare', ['--mount', 'true']).status === 0;
const base = temporaryFolder('places');
const program = ['dist/broker/main.js'] as const;
const run = (args: readonly string[]) =>
  spawnSync(process.execPath, [...program, ...args], { encoding: 'utf8' });

/** Bytes of every file of a folder. */
const contentOf = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  );

const places = ['killed', 'stopped', 'backup'] as const;

describe.skipIf(missing !== null)(`safekeeping wherever the files lie${note}`, () => {
  beforeAll(async () => {
    const setup = createBrokerSetup('places-fleet');
    provision(setup, 'truck-1');
    const from = `${setup.folder}/fleet.db`;
    const broker = await startBroker(setup);
    for (const place of places) mkdirSync(join(base, place));
    execFileSync(
      process.execPath,
      [...program, 'backup', join(base, 'backup/fleet.db'), '--database', from],
      { stdio: 'ignore' },
    );
    broker.signal('SIGKILL');
    await broker.ended();
    for (const suffix of ['', '-wal', '-shm']) cpSync(from + suffix, join(base, `killed/fleet.db${suffix}`));
    const again = await startBroker(setup);
    again.signal('SIGTERM');
    await again.ended();
    cpSync(from, join(base, 'stopped/fleet.db'));
  });

  it.each(places)('check changes no byte of a database that is %s, and leaves no file', (place) => {
    const folder = join(base, place);
    const before = contentOf(folder);
    const checked = run(['check', '--database', join(folder, 'fleet.db')]);
    expect([checked.status, checked.stdout]).toEqual([0, expect.stringContaining('good')]);
    expect(contentOf(folder)).toEqual(before);
  });

  it.skipIf(!mayMount).each(places)('check reads one that is %s from a read-only disk', (place) => {
    const folder = join(base, place);
    const script = `mount --bind ${folder} ${folder} && mount -o remount,bind,ro ${folder} && exec ${process.execPath} ${program[0]} check --database ${folder}/fleet.db`;
    const checked = spawnSync('unshare', ['--mount', 'sh', '-c', script], { encoding: 'utf8' });
    expect([checked.status, checked.stdout, checked.stderr]).toEqual([
      0,
      expect.stringContaining('good'),
      expect.anything(),
    ]);
  });

  it.skipIf(strace !== null).each(['EPERM', 'EOPNOTSUPP', 'ENOSYS'])(
    'backup and restore work where a hard link fails with %s',
    (code) => {
      const folder = join(base, `links-${code}`);
      mkdirSync(folder);
      const linkless = (args: readonly string[]) => {
        const inject = ['link', 'linkat'].flatMap((call) => ['-e', `inject=${call}:error=${code}`]);
        return spawnSync(
          'strace',
          [
            '-f',
            '-qq',
            '-o',
            '/dev/null',
            '-e',
            'trace=link,linkat',
            ...inject,
            process.execPath,
            ...program,
            ...args,
          ],
          { encoding: 'utf8' },
        );
      };
      const made = linkless([
        'backup',
        join(folder, 'one.bak'),
        '--database',
        join(base, 'stopped/fleet.db'),
      ]);
      expect([made.status, made.stderr]).toEqual([0, expect.any(String)]);
      expect(
        linkless(['backup', join(folder, 'one.bak'), '--database', join(base, 'stopped/fleet.db')]).status,
      ).toBe(65);
      expect(
        linkless(['restore', join(folder, 'one.bak'), '--database', join(folder, 'back.db')]).status,
      ).toBe(0);
      expect(
        linkless(['restore', join(folder, 'one.bak'), '--database', join(folder, 'back.db')]).status,
      ).toBe(65);
      expect(run(['check', '--database', join(folder, 'back.db')]).status).toBe(0);
      expect(readdirSync(folder).filter((name) => /partial|restore-/.test(name))).toEqual([]);
    },
  );
});
