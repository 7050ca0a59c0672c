// The broker's database files, taken away, replaced and written over under the running program, and reached by a second one under
// another name. Nothing is acknowledged that the next start does not have; a person learns what happened and what to do.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { everyEventIn } from '../support/database/stored-events.ts';
import { whyNotBuilt } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { connectPacket, connectRaw, publishPacket } from '../support/mqtt/raw-mqtt.ts';
import {
  type BrokerSetup,
  type Program,
  provision,
  startBroker,
  startProgram,
} from '../support/programs/fleet-processes.ts';

const missing = whyNotBuilt('broker');
const noMounts =
  spawnSync('unshare', ['--mount', 'true']).status === 0 ? null : 'skipped, it needs root and mounts';

const running: Program[] = [];
const mounts: string[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.signal('SIGKILL');
    await one.ended();
  }
  for (const one of mounts.splice(0)) spawnSync('umount', ['-l', one]);
});

/** A broker with one vehicle that sends numbered events. */
async function openScene() {
  const folder = join(temporaryFolder('files'), 'data');
  mkdirSync(folder);
  const setup: BrokerSetup = { folder, password: 'correct horse battery staple', httpPort: 0, mqttPort: 0 };
  const { secret } = provision(setup, 'truck-1');
  const path = `${folder}/fleet.db`;
  const acknowledged: number[] = [];
  let sent = 0;
  const start = async (at = folder, env: Readonly<Record<string, string>> = {}): Promise<Program> => {
    const broker = await startBroker(Object.assign(setup, { folder: at }), [], env);
    running.push(broker);
    return broker;
  };
  /** Sends so many events; each that is acknowledged is noted. False: the broker turned the vehicle away. */
  const send = async (count: number, first = sent + 1): Promise<boolean> => {
    const client = await connectRaw(setup.mqttPort);
    client.send(connectPacket('demo/truck-1', secret));
    if ((await client.next('connack')).returnCode !== 0) return false;
    const numbers = Array.from({ length: count }, (_unused, at) => first + at);
    sent = Math.max(sent, ...numbers);
    for (const seq of numbers) {
      const event = { seq, timestamp: 1_767_614_400 + seq, statusCode: 61_472, latitude: 52, longitude: 5 };
      const payload = JSON.stringify({ boot: 'b1', events: [event] });
      client.send(publishPacket('fleet/v1/demo/truck-1/events', payload, seq));
    }
    const isAcknowledged = (seq: number): boolean =>
      client.received.some((one) => one.cmd === 'puback' && one.messageId === seq);
    await waitUntil('answers or the end', () => client.isClosed() || numbers.every(isAcknowledged));
    acknowledged.push(...numbers.filter(isAcknowledged));
    client.end();
    return numbers.every(isAcknowledged);
  };
  const readiness = async (): Promise<{ readonly status: number; readonly text: string }> => {
    const answer = await fetch(`http://127.0.0.1:${setup.httpPort}/readyz`);
    return { status: answer.status, text: await answer.text() };
  };
  const isReady = (wanted: number) =>
    waitUntil(`status ${wanted}`, async () => (await readiness()).status === wanted, { everyMs: 200 });
  const stored = (at = path): readonly number[] => {
    const db = new SqliteConnection(at);
    const rows = db.prepare(`SELECT seq FROM ${everyEventIn(db)} ORDER BY seq`).all() as { seq: number }[];
    db.close();
    return rows.map(({ seq }) => seq);
  };
  return { folder, setup, path, acknowledged, start, send, readiness, isReady, stored };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

/** Where the hint says what to copy: it is done to the letter. */
function followHint(hint: string, folder: string): void {
  mkdirSync(folder);
  const commands = [...hint.matchAll(/cp \S+ FOLDER\/\S+?(?=[;.]? |[;.]$)/g)].map(([one]) =>
    one.replace('FOLDER', folder),
  );
  expect(commands).toHaveLength(2);
  for (const one of commands) execFileSync('sh', ['-c', one]);
}

interface Case {
  readonly name: string;
  readonly take: (scene: Scene) => void;
  readonly reason: RegExp;
  /** Puts the files back under the running broker, which then goes on. */
  readonly putBack?: (scene: Scene) => void;
  /** What a person does before the broker is killed; where the files are afterwards. */
  readonly save?: (scene: Scene, hint: string) => string;
}

const moveAll = (from: string, to: string): void => {
  for (const suffix of ['', '-wal', '-shm']) renameSync(from + suffix, to + suffix);
};

const cases: readonly Case[] = [
  {
    name: 'the log is removed',
    take: ({ path }) => rmSync(`${path}-wal`),
    reason: /fleet\.db-wal was removed or moved while it was open/,
  },
  {
    name: 'log and index are removed',
    take: ({ path }) => ['-wal', '-shm'].forEach((suffix) => rmSync(path + suffix)),
    reason: /fleet\.db-wal was removed or moved/,
  },
  {
    name: 'the index of the log is removed',
    take: ({ path }) => rmSync(`${path}-shm`),
    reason: /fleet\.db-shm was removed or moved/,
  },
  {
    name: 'the log is moved and put back',
    take: ({ path }) => renameSync(`${path}-wal`, `${path}.away`),
    reason: /fleet\.db-wal was removed or moved/,
    putBack: ({ path }) => renameSync(`${path}.away`, `${path}-wal`),
  },
  {
    name: 'all files are moved and put back',
    take: ({ path }) => moveAll(path, `${path}.away`),
    reason: /fleet\.db was removed or moved/,
    putBack: ({ path }) => moveAll(`${path}.away`, path),
  },
  {
    name: 'the folder is moved and put back',
    take: ({ folder }) => renameSync(folder, `${folder}.away`),
    reason: /fleet\.db was removed or moved/,
    putBack: ({ folder }) => renameSync(`${folder}.away`, folder),
  },
  {
    name: 'all files are removed, and saved as the message says',
    take: ({ path }) => ['', '-wal', '-shm'].forEach((suffix) => rmSync(path + suffix)),
    reason: /fleet\.db was removed or moved/,
    save: ({ folder }, hint) => {
      followHint(hint, `${folder}/saved`);
      return `${folder}/saved/fleet.db`;
    },
  },
  {
    name: 'a copy is renamed over the database, as rsync does',
    take: ({ path }) => {
      renameSync(path, `${path}.kept`);
      copyFileSync(`${path}.kept`, path);
    },
    reason: /fleet\.db was replaced by another file/,
    putBack: ({ path }) => renameSync(`${path}.kept`, path),
  },
  {
    name: 'the log is emptied in place',
    take: ({ path }) => {
      copyFileSync(`${path}-wal`, `${path}.copy`);
      truncateSync(`${path}-wal`);
    },
    reason: /fleet\.db-wal was overwritten/,
    save: ({ path }) => {
      copyFileSync(`${path}.copy`, `${path}-wal`);
      return path;
    },
  },
];

describe.skipIf(missing !== null)(
  `files that go away under the broker${missing === null ? '' : ` [${missing}]`}`,
  () => {
    it.each(cases)(
      'nothing is acknowledged that is lost when $name',
      async ({ take, reason, putBack, save }) => {
        const scene = await openScene();
        let broker = await scene.start();
        expect(await scene.send(50)).toBe(true);
        await scene.isReady(200);
        take(scene);
        expect(await scene.send(50)).toBe(false);
        expect(scene.acknowledged).toHaveLength(50);
        await scene.isReady(503);
        expect((await scene.readiness()).text).toMatch(reason);
        const line = await waitUntil('the log to say so', () =>
          broker.lines.find(
            ({ msg, reason: why }) => msg === 'store_unavailable' && reason.test(String(why)),
          ),
        );
        const hint = String(line['hint']);
        expect(hint).toMatch(/restart|put the same files back|restore/i);
        if (putBack !== undefined) {
          putBack(scene);
          await scene.isReady(200);
          await waitUntil('the vehicle to be served', () => scene.send(10), { everyMs: 500 });
        }
        const at = save?.(scene, hint) ?? scene.path;
        broker.signal('SIGKILL');
        await broker.ended();
        if (at === scene.path) {
          broker = await scene.start();
          await waitUntil('the vehicle to be served', () => scene.send(10), { everyMs: 500 });
          broker.signal('SIGTERM');
          await broker.ended();
        }
        const stored = new Set(scene.stored(at));
        expect(scene.acknowledged.filter((seq) => !stored.has(seq))).toEqual([]);
      },
    );

    it('an idle broker notices by itself, and a backup that is copied over the database stops it', async () => {
      const scene = await openScene();
      const broker = await scene.start();
      await scene.send(20);
      copyFileSync(scene.path, `${scene.path}.old`);
      execFileSync(process.execPath, [
        'dist/broker/main.js',
        'backup',
        `${scene.folder}/one.db`,
        '--database',
        scene.path,
      ]);
      writeFileSync(scene.path, readFileSync(`${scene.folder}/one.db`));
      await waitUntil('the log to say so', () =>
        broker.lines.some(
          ({ reason, hint }) =>
            /fleet\.db was overwritten/.test(String(reason)) && /restore/.test(String(hint)),
        ),
      );
      expect(await scene.send(20)).toBe(false);
      expect(scene.acknowledged).toHaveLength(20);
    });

    it.skipIf(noMounts !== null)(
      `a disk that is unmounted lazily stops it${noMounts === null ? '' : ` [${noMounts}]`}`,
      async () => {
        const scene = await openScene();
        const disk = `${scene.folder}.disk`;
        mkdirSync(disk);
        execFileSync('mount', ['--bind', scene.folder, disk]);
        mounts.push(disk);
        const broker = await scene.start(disk);
        expect(await scene.send(20)).toBe(true);
        execFileSync('umount', ['-l', disk]);
        expect(await scene.send(20)).toBe(false);
        expect((await scene.readiness()).text).toMatch(/fleet\.db was removed or moved/);
        broker.signal('SIGKILL');
        await broker.ended();
        expect(scene.stored().filter((seq) => seq <= 20)).toHaveLength(20);
      },
    );
  },
);

const library = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu']
  .map((folder) => `${folder}/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));
const noClock =
  missing ?? (library === undefined ? 'skipped, faketime is missing: apt install faketime' : null);

describe.skipIf(noClock !== null)(`a clock that is ahead${noClock === null ? '' : ` [${noClock}]`}`, () => {
  it('removes nothing at one start by 400 days, and what the vehicle sends again is there', async () => {
    const scene = await openScene();
    const env = {
      LD_PRELOAD: library ?? '',
      FAKETIME: '+400d',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const command = (args: readonly string[], wall = {}) =>
      spawnSync(process.execPath, ['dist/broker/main.js', ...args, '--database', scene.path], {
        encoding: 'utf8',
        env: { ...process.env, ...wall },
      });
    expect(command(['account', 'limit', 'demo', '--retained-days', '30']).status).toBe(0);
    const right = await scene.start();
    expect(await scene.send(50)).toBe(true);
    right.signal('SIGTERM');
    await right.ended();
    const ahead = await scene.start(scene.folder, env);
    expect(
      ahead.lines.some(({ msg, hint }) => msg === 'clock_leap' && String(hint).includes('--accept-clock')),
    ).toBe(true);
    await waitUntil('a run of the retention', () => ahead.lines.some(({ msg }) => msg === 'retention_run'));
    expect(await scene.send(10, 41)).toBe(true);
    ahead.signal('SIGKILL');
    await ahead.ended();
    expect(new Set(scene.stored())).toEqual(new Set(Array.from({ length: 50 }, (_unused, at) => at + 1)));
    const refused = command(['retention', 'run'], env);
    expect([refused.status, refused.stderr]).toEqual([65, expect.stringContaining('--accept-clock')]);
    expect(command(['retention', 'run']).status).toBe(0);
    expect(scene.stored()).toHaveLength(50);
    expect(command(['retention', 'run', '--accept-clock'], env).status).toBe(0);
  });
});

describe.skipIf(missing !== null)(`a second broker${missing === null ? '' : ` [${missing}]`}`, () => {
  const names: readonly [string, (path: string, folder: string) => string][] = [
    ['a hard link', (path, folder) => (linkSync(path, `${folder}/g.db`), `${folder}/g.db`)],
    [
      'a hard link in another folder',
      (path, folder) => (linkSync(path, `${folder}/sub/fleet.db`), `${folder}/sub/fleet.db`),
    ],
    ['a symbolic link', (path, folder) => (symlinkSync(path, `${folder}/g.db`), `${folder}/g.db`)],
    [
      'a link of the folder',
      (_path, folder) => (symlinkSync(folder, `${folder}/sub/way`), `${folder}/sub/way/fleet.db`),
    ],
    ['a path with dots', (_path, folder) => `${folder}/sub/../fleet.db`],
    [
      'the moved file',
      (path, folder) => (renameSync(path, `${folder}/sub/fleet.db`), `${folder}/sub/fleet.db`),
    ],
    ['a lost lock file', (path) => (rmSync(`${path}-lock`), path)],
    ['a bind mount of the file', (path, folder) => mountAt(path, `${folder}/g.db`, '')],
    ['a bind mount of the folder', (_path, folder) => mountAt(folder, `${folder}.way`, '/fleet.db')],
  ];
  const mountAt = (from: string, to: string, below: string): string => {
    if (below === '') writeFileSync(to, '');
    else mkdirSync(to);
    execFileSync('mount', ['--bind', from, to]);
    mounts.push(to);
    return to + below;
  };
  it.each(names)('is refused by %s', async (name, wayOf) => {
    if (name.startsWith('a bind mount') && noMounts !== null) return;
    const scene = await openScene();
    mkdirSync(`${scene.folder}/sub`);
    const broker = await scene.start();
    await scene.send(20);
    const way = wayOf(scene.path, scene.folder);
    const hasKey = existsSync(`${way}.signing-key.pem`);
    const second = startProgram('broker', [
      'start',
      '--database',
      way,
      '--http-port',
      '0',
      '--mqtt-port',
      '0',
    ]);
    running.push(second);
    expect(await second.ended()).toBe(78);
    expect(second.complaints()).toMatch(
      /in use by another process|names \(hard links\)|mounted as a single file/,
    );
    expect(existsSync(`${way}.signing-key.pem`)).toBe(hasKey);
    expect(broker.exitCode()).toBeNull();
  });
});
