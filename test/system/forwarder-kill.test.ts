// The broker and a fake of Traccar's forwarder (`traccar-child.mjs`) killed with SIGKILL again and again while positions are forwarded:
// each position that Traccar stored is here once, whatever it forgot.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import SqliteConnection from 'better-sqlite3';
import { afterAll, expect, test } from 'vitest';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { everyEventIn } from '../support/database/stored-events.ts';
import { freePort } from '../support/machine/free-port.ts';
import { runSeed } from '../support/machine/run-seed.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const isBuilt = existsSync(fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url)));
const child = fileURLToPath(new URL('../support/programs/traccar-child.mjs', import.meta.url));
const folder = temporaryFolder('forwarder-kill');
const database = join(folder, 'fleet.db');
const { launch, run, killAll } = createBrokerProgram(folder);
let forwarder: ChildProcess | null = null;
afterAll(() => {
  forwarder?.kill('SIGKILL');
  killAll();
  rmSync(folder, { recursive: true });
});

const kills = Number(process.env['FLEETWARD_TEST_KILLS'] ?? 3);
const count = Number(process.env['FLEETWARD_TEST_POSITIONS'] ?? 3000);
const perS = Number(process.env['FLEETWARD_TEST_PER_S'] ?? 300);
const devices = 5;
const password = 'correct horse battery';

test.skipIf(!isBuilt)(
  `of ${count} forwarded positions none is lost or doubled over ${kills} kills of each side${isBuilt ? '' : ' [skipped: not built]'}`,
  { timeout: 240_000 + (count / perS) * 4000 + kills * 60_000 },
  async () => {
    const apiPort = await freePort();
    const httpPort = await freePort();
    const origin = `http://127.0.0.1:${httpPort}/api/v1`;
    const tokenFile = join(folder, 'traccar.token');
    writeFileSync(tokenFile, 'of-traccar\n', { mode: 0o600 });
    const config = join(folder, 'broker.toml');
    writeFileSync(
      config,
      `logLevel = "warn"\n\n[traccar]\nurl = "http://127.0.0.1:${apiPort}"\ntokenFile = "${tokenFile}"\naccount = "acme"\neveryS = ${Math.max(1, Math.ceil(count / 10_000))}\n`,
    );
    const created = [
      'account',
      'create',
      'acme',
      '--admin',
      'ann',
      '--password-file',
      '-',
      '--database',
      database,
    ];
    expect(await run(created, `${password}\n`)).toMatchObject({ code: 0 });
    const start = async () => {
      const on = [
        '--config',
        config,
        '--database',
        database,
        '--http-port',
        String(httpPort),
        '--mqtt-port',
        '0',
      ];
      const program = launch(['start', ...on]);
      const { output } = program;
      const isReady = async (): Promise<boolean> =>
        (await fetch(`http://127.0.0.1:${httpPort}/readyz`).catch(() => null))?.status === 200;
      await waitUntil('the start of the broker', isReady, {
        everyMs: 100,
        seen: () => `${output.out}${output.err}`,
      });
      return program;
    };
    let broker = await start();
    const post = async (
      path: string,
      body: object,
      token = '',
    ): Promise<Readonly<Record<string, unknown>>> => {
      const headers = {
        'content-type': 'application/json',
        ...(token === '' ? {} : { authorization: token }),
      };
      const answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(answer.status).toBe(200);
      return (await answer.json()) as Readonly<Record<string, unknown>>;
    };
    const login = await post('/auth/login', { accountID: 'acme', userID: 'ann', password });
    const admin = String(login['token']);
    const made = await post(
      '/auth/token/authorization',
      { description: 'traccar', scopes: ['track'] },
      admin,
    );
    await post('/tracker/setsettings/authorization', { addsTrackers: true }, admin);
    const options = {
      folder,
      url: `${origin}/tracker/traccar/authorization`,
      token: made['token'],
      apiToken: 'of-traccar',
      apiPort,
      count,
      devices,
      perS,
    };
    let said = '';
    const startForwarder = (): ChildProcess => {
      const one = spawn(process.execPath, [child, JSON.stringify(options)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      one.stdout
        ?.setEncoding('utf8')
        .on('data', (part: string) => void (said = `${said}${part}`.slice(-500)));
      return one;
    };
    const sentUpTo = (): number => Number(said.trim().split('\n').at(-1) ?? 0);
    forwarder = startForwarder();
    const random = createSeededEntropy(`forwarder-kill ${runSeed()}`);
    for (let kill = 0; kill < kills; kill++) {
      const at = ((kill + 0.5) * count) / (kills + 1);
      await waitUntil(`position ${at}`, () => sentUpTo() >= at, {
        seen: () => said,
        limitMs: 60_000 + (count / perS) * 4000,
      });
      broker.child.kill('SIGKILL');
      await broker.ended;
      // Long enough that more positions wait than the forwarder keeps.
      await sleep(500 + random.fraction() * 1000);
      broker = await start();
      await sleep(random.fraction() * 500);
      forwarder.kill('SIGKILL');
      await once(forwarder, 'exit');
      forwarder = startForwarder();
    }
    const db = new SqliteConnection(database, { readonly: true });
    const numbers = (): readonly number[] =>
      db
        .prepare<[], number>(
          `SELECT CAST(ROUND((e.latitude - 40) * 1000000) AS INTEGER) FROM ${everyEventIn(db)}`,
        )
        .pluck()
        .all();
    const hasAll = (): boolean => new Set(numbers()).size >= count;
    await waitUntil('every position', () => sentUpTo() === count && hasAll(), {
      everyMs: 500,
      seen: () => `${new Set(numbers()).size} of ${count}, sent ${said}; ${broker.output.out.slice(-2000)}`,
      limitMs: 120_000 + (count / perS) * 4000,
    });
    // Two more looks for lost positions store nothing twice.
    await sleep(3000);
    const stored = numbers();
    db.close();
    expect(new Set(stored).size).toBe(stored.length);
    expect(stored).toHaveLength(count);
    expect(broker.output.out).toContain('lost_positions_fetched');
    broker.child.kill('SIGTERM');
    expect(await broker.ended).toBe(0);
  },
);
