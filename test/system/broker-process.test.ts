// The broker as an operator meets it: the built program, its command line, its exit codes, and a clean stop.
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const program = fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url));
const folder = temporaryFolder('broker');
const database = join(folder, 'fleet.db');
const { launch, run, killAll } = createBrokerProgram(folder);

afterAll(() => {
  killAll();
  rmSync(folder, { recursive: true });
});

/** Starts it on free ports and waits until it reports that it is ready. */
async function start() {
  const started = launch(['start', '--database', database, '--http-port', '0', '--mqtt-port', '0']);
  const ready = await new Promise<{ httpPort: number }>((resolve, reject) => {
    const look = () => {
      const line = started.output.out.split('\n').find((text) => text.includes('"broker_ready"'));
      if (line !== undefined) resolve(JSON.parse(line) as { httpPort: number });
    };
    started.child.stdout.on('data', look);
    started.child.on('close', () => reject(new Error(started.output.err)));
  });
  return { ...started, base: `http://127.0.0.1:${ready.httpPort}` };
}

describe.skipIf(!existsSync(program))(
  `the broker process${existsSync(program) ? '' : ' [skipped: not built]'}`,
  () => {
    it('prints its help', async () => {
      const { code, out } = await run(['--help']);
      expect([code, out]).toEqual([0, expect.stringContaining('Examples:')]);
    });

    it.each([
      ['no command', [], 64, '--help'],
      ['an unknown flag', ['start', '--http-prot', '1'], 64, 'http-prot'],
      ['a wrong value', ['config', 'check', '--http-port', 'x'], 64, 'integer from 0 to 65535'],
      ['an open listener', ['start', '--mqtt-host', '0.0.0.0'], 78, '--insecure-listen'],
      ['a missing file', ['config', 'check', '--config', 'none.toml'], 78, 'none.toml'],
    ])('ends with its exit code and a plain message for %s', async (_name, args, code, message) => {
      const ended = await run(args);
      expect(ended).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
      expect(ended.err).not.toContain('    at ');
    });

    it('shows every setting and its origin', async () => {
      writeFileSync(join(folder, 'broker.toml'), '[http]\nport = 81\n');
      const { out } = await run([
        'config',
        'show',
        '--origin',
        '--config',
        'broker.toml',
        '--mqtt-port',
        '82',
      ]);
      expect(out).toContain('http.port = 81   # broker.toml');
      expect(out).toContain('mqtt.port = 82   # --mqtt-port');
    });

    it('serves an account made on the command line, and stops cleanly', async () => {
      const password = 'correct horse battery staple';
      const account = [
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
      expect(await run(account, `${password}\n`)).toMatchObject({ code: 0 });
      expect(await run(account, `${password}\n`)).toMatchObject({ code: 65 });
      const device = await run(['device', 'create', 'acme', 'truck-17', '--json', '--database', database]);
      expect(JSON.parse(device.out)).toMatchObject({
        username: 'acme/truck-17',
        secret: expect.stringMatching(/^[\w-]{43}$/),
      });
      expect(statSync(database).mode & 0o077).toBe(0);

      const broker = await start();
      const body = JSON.stringify({ accountID: 'acme', userID: 'ann', password });
      const headers = { 'content-type': 'application/json' };
      const login = await fetch(`${broker.base}/api/v1/auth/login`, { method: 'POST', headers, body });
      const { token } = (await login.json()) as { token: string };
      const list = await fetch(`${broker.base}/device/getalldevices/authorization`, {
        headers: { authorization: token },
      });
      expect(await list.json()).toMatchObject({ devices: [{ deviceID: 'truck-17' }] });
      expect((await fetch(`${broker.base}/readyz`)).status).toBe(200);
      broker.child.kill('SIGTERM');
      expect(await broker.ended).toBe(0);
      expect(broker.output.err).toBe('');
      expect(broker.output.out).not.toContain(password);
      expect(broker.output.out).not.toContain(token);
    });

    it.each(['http', 'mqtt'])('names the flag to use when the %s port is taken', async (side) => {
      const holder = createServer();
      const port = await new Promise<number>((resolve) => {
        holder.listen(0, '127.0.0.1', () => {
          const address = holder.address();
          resolve(typeof address === 'object' && address !== null ? address.port : 0);
        });
      });
      const ports = { http: '0', mqtt: '0', [side]: String(port) };
      const args = ['start', '--database', database, '--http-port', ports.http, '--mqtt-port', ports.mqtt];
      const ended = await run(args);
      holder.close();
      expect(ended).toMatchObject({ code: 69, err: expect.stringContaining(`--${side}-port`) });
      expect(ended.err).toContain(String(port));
    });
  },
);
