// The launcher as the service starts it: the real script and the compiled program, on releases that this test signs. What it
// holds: only signed bytes run, a release that does not come up is given up, kill -9 at any moment loses no count, and
// whatever is broken, an agent starts.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readReleaseKey } from '../../agent/adapters/update/release.ts';
import { confirmTrial, readReleaseState, requestTrial } from '../../agent/adapters/update/release-state.ts';
import { type Arch, formatManifest, type Manifest } from '../../agent/core/update/manifest.ts';
import { planLimits, type ReleaseState } from '../../agent/core/update/plan.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';

const root = new URL('../..', import.meta.url).pathname;
const isBuilt = existsSync(join(root, 'dist/agent/cli/launch.js'));
const uid = process.getuid?.() ?? 0;

/** Long enough for a release to start, and to be confirmed, on a machine that stands still for seconds. */
const trialS = 2 * planLimits.confirmLeastS;

let folder: string;
let releases: string;
let keyPath: string;
let privateKey: KeyObject;
const at = (...path: readonly string[]): string => join(folder, ...path);

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A packaged release as the package lays it out, whose agent says its name and stays or ends as it is told. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-launcher-'));
  releases = at('state/releases');
  keyPath = at('release.pub');
  const pair = generateKeyPairSync('ed25519');
  ({ privateKey } = pair);
  writeFileSync(keyPath, pair.publicKey.export({ type: 'spki', format: 'pem' }), { mode: 0o644 });
  for (const part of [
    'dist/agent/cli/launch.js',
    'dist/agent/adapters/update',
    'dist/agent/core/update',
    'dist/src/core/errors.js',
    'dist/src/adapters/version.js',
  ])
    cpSync(join(root, part), at('home/app', part), { recursive: true });
  put(at('home/app/package.json'), '{"version":"1.0.0","type":"module"}');
  put(at('home/app/dist/agent/main.js'), program('packaged', 0));
  cpSync(join(root, 'systemd/launch.sh'), at('home/launch'));
  chmodSync(at('home/launch'), 0o755);
  symlinkSync(process.execPath, at('home/node'));
  mkdirSync(releases, { recursive: true });
});
afterEach(() => {
  sweep();
  rmSync(folder, { recursive: true, force: true });
});

const program = (name: string, exitCode: number): string =>
  `process.stdout.write(${JSON.stringify(`${name} `)} + process.argv.slice(2).join(' '));process.exitCode = ${exitCode};`;

interface Wanted {
  readonly version: string;
  readonly code?: string;
  readonly floor?: string;
  readonly key?: KeyObject;
}

/** Stages a signed release as the agent does: written under a hidden name, then renamed. */
function stage({ version, code = program(version, 0), floor = '0.0.0', key = privateKey }: Wanted): string {
  const partial = join(releases, `.staging-${version}`);
  const content = {
    'dist/agent/main.js': code,
    'package.json': JSON.stringify({ version, type: 'module' }),
  };
  const arch: Arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const manifest: Manifest = {
    name: 'fleetward-agent',
    version,
    arch,
    nodeAbi: process.versions.modules,
    floor,
    createdMs: 1_760_000_000_000,
    files: Object.entries(content).map(([path, text]) => ({
      path,
      sha256: createHash('sha256').update(text).digest('hex'),
      sizeBytes: Buffer.byteLength(text),
      mode: 0o644,
    })),
  };
  for (const [path, text] of Object.entries(content)) put(join(partial, path), text);
  const text = formatManifest(manifest);
  put(join(partial, 'manifest.json'), text);
  put(join(partial, 'manifest.sig'), sign(null, Buffer.from(text), key).toString('base64'));
  const staged = join(releases, version);
  rmSync(staged, { recursive: true, force: true });
  renameSync(partial, staged);
  return staged;
}

const trialKey = () => readReleaseKey(keyPath, uid);
const ask = (version: string, confirmWithinS = 600): void =>
  requestTrial({ root: releases, key: trialKey(), version, confirmWithinS });
const confirm = (version: string): boolean => confirmTrial({ root: releases, key: trialKey(), version });
const state = (): ReleaseState => readReleaseState(releases).state;

const launchArguments = (): string[] =>
  ['--releases', releases, '--scratch', at('scratch'), '--key', keyPath, '--key-owner', String(uid)].concat(
    '--',
    'start',
  );

/** Ends what a start left behind, such as the watcher of a trial, as the service manager does: the whole group. */
function sweep(): void {
  const pid = Number(existsSync(at('pid')) ? readFileSync(at('pid'), 'utf8') : 0);
  rmSync(at('pid'), { force: true });
  try {
    if (pid > 1) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing was left.
  }
}

/** Starts once and waits for the end; what the agent said, and what the launcher said. */
function launch(): { readonly said: string; readonly words: string; readonly code: number | null } {
  // Into files: a watcher of a trial holds a pipe open after the agent has ended.
  const script = `cd '${folder}'; echo $$ >pid; exec "$0" "$@" >out 2>err`;
  const { status } = spawnSync(
    'setsid',
    ['-w', 'sh', '-c', script, at('home/launch'), ...launchArguments()],
    {
      timeout: hangMs,
    },
  );
  sweep();
  return { said: readFileSync(at('out'), 'utf8'), words: readFileSync(at('err'), 'utf8'), code: status };
}

/** Starts without waiting; a group of its own, which `sweep` ends. */
function begin(): { readonly pid: number; readonly ended: Promise<number | null> } {
  const child = spawn(at('home/launch'), launchArguments(), { stdio: 'ignore', detached: true });
  put(at('pid'), String(child.pid));
  return { pid: child.pid ?? 0, ended: new Promise((resolve) => child.once('exit', resolve)) };
}

/** Processes of a group that have not ended, proc(5). */
const groupSize = (group: number): number =>
  readdirSync('/proc').filter((name) => {
    try {
      const [state = 'X', , pgrp] =
        readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return pgrp === String(group) && !'ZX'.includes(state);
    } catch {
      // No process, or one that has just ended.
      return false;
    }
  }).length;

describe.skipIf(!isBuilt)('the launcher', () => {
  it('runs the packaged release when nothing is staged, with the arguments and the exit code of the agent', () => {
    expect(launch()).toEqual({ said: 'packaged start', words: '', code: 0 });
    put(at('home/app/dist/agent/main.js'), program('packaged', 78));
    expect(launch().code).toBe(78);
  });

  it('runs a release on trial, and after its confirmation for good', () => {
    stage({ version: '1.1.0', floor: '1.0.5' });
    expect(launch().said).toBe('packaged start');
    ask('1.1.0');
    expect(launch().said).toBe('1.1.0 start');
    expect(state().trial).toMatchObject({ version: '1.1.0', attempts: 1 });
    expect(confirm('1.1.0')).toBe(true);
    expect(confirm('1.1.0')).toBe(false);
    for (let start = 0; start < planLimits.attempts + 1; start++) expect(launch().said).toBe('1.1.0 start');
    expect(state()).toEqual({ floor: '1.0.5', confirmed: '1.1.0', trial: null, rejected: [] });
  });

  it('gives up a release that crashes at start, and says so; the one before runs', () => {
    stage({ version: '1.1.0' });
    ask('1.1.0');
    launch();
    confirm('1.1.0');
    stage({ version: '1.2.0', code: 'throw new Error("broken")' });
    ask('1.2.0');
    for (let start = 0; start < planLimits.attempts; start++) expect(launch().code).toBe(1);
    const { said, words } = launch();
    expect(said).toBe('1.1.0 start');
    expect(words).toContain('release 1.2.0 is given up: it was started 3 times and never confirmed');
    expect(state().rejected).toEqual([
      { version: '1.2.0', reason: 'it was started 3 times and never confirmed' },
    ]);
    expect(launch().said).toBe('1.1.0 start');
  });

  it('stops a release on trial that runs well and is never confirmed', () => {
    stage({
      version: '1.1.0',
      code: 'setInterval(() => undefined, 1000); process.on("SIGTERM", () => process.exit(9));',
    });
    ask('1.1.0', trialS);
    const { code, words } = launch();
    expect(code).toBe(9);
    expect(words).toContain(`was not confirmed in ${trialS} s and is stopped`);
  });

  it('lets one that is confirmed in time go on', async () => {
    const code = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(at('up'))}, '');
setInterval(() => undefined, 1000); process.on('SIGUSR2', () => process.exit(0));`;
    stage({ version: '1.1.0', code });
    ask('1.1.0', trialS);
    const { pid, ended } = begin();
    await waitUntil('the release', () => existsSync(at('up')));
    expect(confirm('1.1.0')).toBe(true);
    await waitUntil('the watcher of the trial to have looked', () => groupSize(pid) < 2);
    process.kill(pid, 'SIGUSR2');
    expect(await ended).toBe(0);
  });
});

describe.skipIf(!isBuilt)('never runs', () => {
  beforeEach(() => {
    stage({ version: '1.1.0' });
    ask('1.1.0');
    launch();
    confirm('1.1.0');
    expect(launch().said).toBe('1.1.0 start');
  });

  it('a file that was changed, cut short, or replaced by a link', () => {
    const main = join(releases, '1.1.0/dist/agent/main.js');
    const good = readFileSync(main);
    const spoil: readonly (() => void)[] = [
      () => appendFileSync(main, ' '),
      () => truncateSync(main, good.length - 1),
      () => writeFileSync(main, Buffer.from(good).fill(32, 0, 1)),
      () => rmSync(main),
      () => {
        rmSync(main);
        put(at('evil.js'), good.toString());
        symlinkSync(at('evil.js'), main);
      },
      () => {
        rmSync(main);
        spawnSync('mkfifo', [main]);
      },
    ];
    for (const change of spoil) {
      rmSync(main, { force: true });
      writeFileSync(main, good);
      change();
      const { said, words } = launch();
      expect(said).toBe('packaged start');
      expect(words).toMatch(/main\.js|not the file that was signed/);
    }
    rmSync(main, { force: true });
    writeFileSync(main, good);
    expect(launch().said).toBe('1.1.0 start');
  });

  it('a manifest that was changed, a foreign signature, or anything without one', () => {
    const manifest = join(releases, '1.1.0/manifest.json');
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace('"1.1.0"', '"1.1.1"'));
    expect(launch()).toMatchObject({
      said: 'packaged start',
      words: expect.stringContaining('signature') as string,
    });
    writeFileSync(manifest, text);
    writeFileSync(join(releases, '1.1.0/manifest.sig'), '');
    expect(launch().said).toBe('packaged start');
    stage({ version: '1.1.0', key: generateKeyPairSync('ed25519').privateKey });
    expect(launch().said).toBe('packaged start');
    stage({ version: '1.1.0' });
    expect(launch().said).toBe('1.1.0 start');
  });

  it('files that the manifest does not name: they are not there when the release runs', () => {
    put(join(releases, '1.1.0/node_modules/mqtt/package.json'), '{}');
    put(join(releases, '1.1.0/dist/agent/extra.js'), 'evil');
    expect(launch().said).toBe('1.1.0 start');
    const names = readdirSync(at('scratch/1.1.0'), { recursive: true }).map(String).sort();
    expect(names).toEqual(['dist', 'dist/agent', 'dist/agent/main.js', 'package.json']);
  });

  it('a release under the name of another', () => {
    stage({ version: '1.0.1' });
    rmSync(join(releases, '1.1.0'), { recursive: true });
    renameSync(join(releases, '1.0.1'), join(releases, '1.1.0'));
    expect(launch()).toMatchObject({
      said: 'packaged start',
      words: expect.stringContaining('holds release 1.0.1') as string,
    });
  });

  it('a release below the floor, though its signature is good', () => {
    stage({ version: '1.3.0', floor: '1.2.0' });
    ask('1.3.0');
    launch();
    confirm('1.3.0');
    ask('1.1.0');
    expect(launch()).toMatchObject({
      said: '1.3.0 start',
      words: expect.stringContaining('release 1.1.0 is given up: it is below the floor 1.2.0') as string,
    });
  });

  it('a directory that is only half written', () => {
    put(join(releases, '.staging-1.4.0/manifest.json'), '{');
    put(join(releases, '1.5.0/manifest.json'), '{');
    expect(() => ask('1.5.0')).toThrow(/manifest\.sig/);
    expect(launch().said).toBe('1.1.0 start');
  });

  it('anything staged when the key is missing, or others than its owner can change it', () => {
    chmodSync(keyPath, 0o666);
    expect(launch()).toMatchObject({
      said: 'packaged start',
      words: expect.stringContaining('writable by its owner only') as string,
    });
    rmSync(keyPath);
    expect(launch().said).toBe('packaged start');
  });
});

describe.skipIf(!isBuilt)('an agent starts', () => {
  beforeEach(() => {
    stage({ version: '1.1.0' });
    ask('1.1.0');
  });

  it.each([
    ['the state is damaged', () => writeFileSync(join(releases, 'state.json'), '{"floor":')],
    [
      'the state is a folder',
      () => {
        rmSync(join(releases, 'state.json'));
        mkdirSync(join(releases, 'state.json'));
      },
    ],
    ['the releases are gone', () => rmSync(releases, { recursive: true })],
    ['there is no room for the copy', () => put(at('scratch'), 'a file where a folder should be')],
    ['the launcher does not even load', () => put(at('home/app/dist/agent/cli/launch.js'), 'syntax error')],
    [
      'the launcher says junk',
      () => put(at('home/app/dist/agent/cli/launch.js'), 'console.log("/nowhere x")'),
    ],
  ])('when %s', (_what, breakIt) => {
    breakIt();
    expect(launch()).toMatchObject({ said: 'packaged start', code: 0 });
  });

  it('when its start cannot be counted, and then not the one on trial', () => {
    mkdirSync(join(releases, '.state.json/in-the-way'), { recursive: true });
    expect(launch()).toMatchObject({
      said: 'packaged start',
      words: expect.stringContaining('was not written') as string,
    });
  });

  it('after kill -9 at any moment, and no start on trial goes uncounted', async () => {
    const started = at('started');
    stage({
      version: '1.2.0',
      code: `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(started)}, 'x'); setInterval(() => undefined, 1000);`,
    });
    ask('1.2.0');
    writeFileSync(started, '');
    for (let turn = 0; turn < 12 && state().trial !== null; turn++) {
      const { ended } = begin();
      await sleep(turn * 60);
      // The whole group, as the service manager kills the whole control group.
      sweep();
      await ended;
      expect(readReleaseState(releases).fault).toBeNull();
      const counted = state().trial?.attempts ?? planLimits.attempts;
      expect(readFileSync(started, 'utf8').length).toBeLessThanOrEqual(counted);
    }
    ask('1.2.0');
    stage({ version: '1.2.0' });
    expect(launch().said).toBe('1.2.0 start');
  });
});
