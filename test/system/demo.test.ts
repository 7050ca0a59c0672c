// `npm start` as a newcomer meets it: one command, and what it prints works when pasted into a shell. Then again, with
// the ports taken, with the broker dead, and stopped by Ctrl-C.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/machine/free-port.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const program = new URL('../../dist/simulator/main.js', import.meta.url).pathname;
const brokerProgram = new URL('../../dist/broker/main.js', import.meta.url).pathname;
const { missing } = requires({ commands: ['curl', 'sed'], debian: ['curl', 'sed'] });
const why = missing ?? (existsSync(program) ? null : 'skipped, dist is missing: npm run build');

interface Demo {
  readonly child: ChildProcess;
  said(): string;
  ended: Promise<number | null>;
}

const folder = temporaryFolder('demo');
const state = join(folder, 'state');
const running: Demo[] = [];

function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => done({ server, port: (server.address() as { port: number }).port }));
  });
}

function startDemo(...args: string[]): Demo {
  const child = spawn(process.execPath, [program, 'demo', '--state', state, '--vehicles', '6', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const demo = { child, said: () => text, ended };
  running.push(demo);
  return demo;
}

/** Waits until all vehicles are online. */
async function served({ child, said }: Demo): Promise<void> {
  const look = (): boolean => {
    if (child.exitCode !== null) throw new Error(`the demo ended:\n${said()}`);
    return /6 of 6 online, .* [1-9]\d* events acknowledged/.test(said());
  };
  await waitUntil('vehicles online', look, { seen: said });
}

/** What stands between the invitation and the last line, as a shell reads it. */
function pasted(text: string): string {
  const lines = text.split('\n');
  return lines
    .slice(
      lines.findIndex((line) => line.includes('PASSWORD=')),
      lines.findIndex((line) => line.includes('Ctrl-C')),
    )
    .join('\n');
}

/** Processes that work on the folder of this test. */
function brokers(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        return line.includes(join(state, 'fleetward.db')) && line.includes('start');
      } catch {
        return false;
      }
    })
    .map(Number);
}

describe.skipIf(why !== null)(why === null ? 'demo' : `demo [${why}]`, () => {
  let ports: string[] = [];
  let password = '';
  let firstCode = '';

  const codeIn = (text: string): string =>
    /\/console\/login\?next=\/practice#code=([\w-]{43}) /.exec(text)?.[1] ?? '';
  const exchange = async (code: string): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${ports[1]}/api/v1/auth/login/code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    return answer.status;
  };

  beforeAll(async () => {
    ports = ['--http-port', String(await freePort()), '--mqtt-port', String(await freePort())];
  });
  afterEach(async () => {
    for (const demo of running.splice(0)) {
      if (demo.child.exitCode === null) demo.child.kill('SIGINT');
      await demo.ended;
    }
  });

  it('starts all in one go; the lines that it prints list the vehicles; Ctrl-C leaves nothing running', async () => {
    const demo = startDemo(...ports);
    await served(demo);
    const { stdout } = spawnSync('sh', ['-c', pasted(demo.said())], { encoding: 'utf8' });
    const answer = JSON.parse(stdout) as { devices: { deviceID: string; deviceLastHeartbeat: number }[] };
    expect(answer.devices.map((device) => device.deviceID)).toEqual(
      Array.from({ length: 6 }, (_, at) => `van-0${at + 1}`),
    );
    expect(answer.devices.every((device) => device.deviceLastHeartbeat > 0)).toBe(true);
    password = /Password\s+(\S+)\s+\(shown once\)/.exec(demo.said())?.[1] ?? '';
    expect(password.length).toBeGreaterThanOrEqual(16);
    firstCode = codeIn(demo.said());
    expect(/Console .*/.exec(demo.said())?.[0]).not.toContain(password);
    for (const name of readdirSync(state)) {
      expect([name, (statSync(join(state, name)).mode & 0o077).toString(8)]).toEqual([name, '0']);
    }
    expect(brokers()).toHaveLength(1);
    demo.child.kill('SIGINT');
    expect(await demo.ended).toBe(0);
    expect(brokers()).toEqual([]);
  });

  it('lets its users operate the vehicles, and no other broker does', async () => {
    const demo = startDemo(...ports);
    await served(demo);
    const base = `http://127.0.0.1:${ports[1]}/api/v1`;
    const call = async (path: string, token: string, body?: object): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${base}/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: token, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    const login = { accountID: 'demo', userID: 'admin', password };
    const token = String((await call('auth/login', '', login))['token']);
    const act = (action: string) => call('practice/act/authorization', token, { deviceID: 'van-02', action });
    const truth = async () => {
      const { vehicles } = await call('practice/fleet/authorization', token);
      return (vehicles as Record<string, unknown>[])[1];
    };
    const online = async () => (await call('diagnostic/diagnostic/van-02/authorization', token))['online'];
    for (const action of ['panic', 'jam', 'disconnect'])
      expect(await act(action)).toMatchObject({ success: '1' });
    expect(await truth()).toMatchObject({ isPanicPressed: true, isJammed: true, isConnected: false });
    // The service takes 30 requests a second with a token.
    const pace = { everyMs: 100 };
    await waitUntil('offline', async () => (await online()) === false, pace);
    await act('connect');
    await waitUntil('online', async () => (await online()) === true, pace);
    // What the vehicle recorded without a network has come.
    const alarmed = async () => {
      const { alarms } = await call('alarm/alarms/authorization', token);
      return (alarms as Record<string, unknown>[]).some(
        ({ deviceID, statusCode }) => deviceID === 'van-02' && statusCode === 63553,
      );
    };
    await waitUntil('alarm', alarmed, pace);
    demo.child.kill('SIGINT');
    expect(await demo.ended).toBe(0);
    const database = join(state, 'fleetward.db');
    const alone = spawnSync(
      process.execPath,
      [brokerProgram, 'start', '--database', database, '--practice-account', 'demo'],
      { encoding: 'utf8', timeout: 60_000 },
    );
    expect([alone.status, alone.stderr]).toEqual([78, expect.stringContaining('no demonstration started')]);
  });

  it('goes on where it was at the next start, without showing the password again', async () => {
    const demo = startDemo(...ports);
    await served(demo);
    expect(password).not.toBe('');
    expect(demo.said()).not.toContain(password);
    expect(demo.said()).toContain('printed at the first start');
    expect(demo.said()).toContain('--fresh');
    expect(await exchange(firstCode)).toBe(401);
    expect(await exchange(codeIn(demo.said()))).toBe(200);
    expect(await exchange(codeIn(demo.said()))).toBe(401);
    expect(readFileSync(join(state, 'broker.log'), 'utf8')).not.toContain(codeIn(demo.said()));
    const lines = pasted(demo.said()).replace(/PASSWORD='.*'/, `PASSWORD='${password}'`);
    const { stdout } = spawnSync('sh', ['-c', lines], { encoding: 'utf8' });
    expect((JSON.parse(stdout) as { devices: unknown[] }).devices).toHaveLength(6);
  });

  it('says why it ends when the broker dies', async () => {
    const demo = startDemo(...ports);
    await served(demo);
    for (const pid of brokers()) process.kill(pid, 'SIGKILL');
    expect(await demo.ended).toBe(75);
    expect(demo.said()).toContain('The broker ended (SIGKILL)');
  });

  it.each([
    ['http-port', 0],
    ['mqtt-port', 2],
  ])('names a taken port and --%s', async (flag, at) => {
    const { server, port } = await listen();
    const args = ports.with(at + 1, String(port));
    const demo = startDemo(...args);
    expect(await demo.ended).toBe(69);
    expect(demo.said()).toContain(`Port ${port} is taken`);
    expect(demo.said()).toContain(`--${flag}`);
    await new Promise((done) => server.close(done));
    expect(brokers()).toEqual([]);
  });
});
