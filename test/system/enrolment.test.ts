// Enrolment as it happens in the yard: the real broker, the real `fleetward-agent enrol`, then `start` on ptys until the
// vehicle's events arrive; somebody in between who alters each word; and both sides killed at the worst moment.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../support/broker/certificates.ts';
import { type Members, startAlteringProxy } from '../support/http/altering-proxy.ts';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import {
  type Api,
  createBrokerSetup,
  type LogLine,
  openApi,
  type Program,
  provision,
  runProgram,
  startBroker,
  startProgram,
} from '../support/programs/fleet-processes.ts';

/** Number of the newest event of the highest priority in the outbox of this unit. */
function newestUrgent(home: string): number {
  const database = new SqliteConnection(join(home, 'outbox.db'), { readonly: true });
  const newest = database.prepare<[], number | null>('SELECT max(id) FROM p0').pluck().get();
  database.close();
  return newest ?? 0;
}

const tools = requires({ commands: ['socat', 'openssl'], debian: ['socat', 'openssl'] });
const why = tools.missing ?? whyNotBuilt('agent');

describe.skipIf(why !== null)(`enrolment ${why ?? ''}`, () => {
  const setup = createBrokerSetup('enrolment');
  const { folder } = setup;
  const programs: Program[] = [];
  const cleanups: (() => unknown)[] = [];
  let broker: Program;
  let proxy: Awaited<ReturnType<typeof startAlteringProxy>>;
  let api: Api;
  let units = 0;

  const start = (...args: Parameters<typeof startProgram>): Program => {
    const program = startProgram(...args);
    programs.push(program);
    return program;
  };

  const startOwnBroker = async (): Promise<Program> => {
    const program = await startBroker(setup);
    programs.push(program);
    return program;
  };

  beforeAll(async () => {
    provision(setup, 'van-01');
    broker = await startOwnBroker();
    api = await openApi(setup);
    proxy = await startAlteringProxy(() => setup.httpPort);
    cleanups.push(proxy.close);
  });

  afterAll(async () => {
    for (const program of programs) program.signal('SIGKILL');
    await Promise.all(programs.map((program) => program.ended()));
    for (const cleanup of cleanups) await cleanup();
    rmSync(folder, { recursive: true, force: true });
  });

  const makeCode = async (deviceID = 'van-01') =>
    api.post<{ code: string; codeID: string; isOnline: boolean }>(
      '/device/createenrolmentcode/authorization',
      { deviceID },
    );

  const stateOf = async (codeID: string) => {
    const { codes } = await api.get<{ codes: { codeID: string; state: string }[] }>(
      '/device/enrolmentcodes/authorization',
    );
    return codes.find((code) => code.codeID === codeID)?.state;
  };

  /** A machine of its own: an empty folder for its files. */
  function newUnit() {
    units += 1;
    const home = join(folder, `unit-${units}`);
    mkdirSync(home, { mode: 0o700 });
    const config = join(home, 'agent.toml');
    const launch = (code: string, more: readonly string[] = [], url = proxy.url): Program =>
      start('agent', ['enrol', '--broker', url, '--code', code, '--config', config, '--json', ...more]);
    return {
      home,
      config,
      launch,
      /** Runs to its end. */
      async enrol(code: string, more: readonly string[] = [], url = proxy.url) {
        const program = launch(code, more, url);
        const exitCode = await program.ended();
        return { exitCode, words: program.complaints(), report: program.lines[0] };
      },
      file: (name: string) => readFileSync(join(home, name), 'utf8'),
      has: (name: string) => existsSync(join(home, name)),
    };
  }

  it('takes a vehicle from a code to its events, and again while events wait in its outbox', async () => {
    const unit = newUnit();
    const bench = start('simulator', [
      'hardware',
      '--board=waveshare-relay-d',
      `--link-board=${join(unit.home, 'board')}`,
      `--link-gnss=${join(unit.home, 'gnss')}`,
      '--control-port=0',
      '--json',
    ]);
    const seen = (program: Program) => () =>
      `${JSON.stringify(program.lines.slice(-10))}${program.complaints()}`;
    const { control } = await waitUntil('the bench', () => bench.lines.find((line) => 'control' in line), {
      seen: seen(bench),
    });
    const type = async (line: string): Promise<void> => {
      expect((await fetch(`${String(control)}/command`, { method: 'POST', body: line })).status, line).toBe(
        200,
      );
    };
    writeFileSync(
      unit.config,
      `# Ann's van
[broker]
connectSpreadS = 0
[storage]
path = "${unit.home}/outbox.db"
windowS = 1
[board]
profile = "waveshare-relay-d"
port = "${unit.home}/board"
[gnss]
port = "${unit.home}/gnss"
`,
    );
    const askedMs = Date.now();
    const { exitCode, report, words } = await unit.enrol(
      runProgram('broker', [
        'device',
        'code',
        'demo',
        'van-01',
        '--json',
        '--database',
        join(folder, 'fleet.db'),
      ]).match(/"code":"([^"]+)"/)?.[1] ?? '',
    );
    expect([exitCode, words]).toEqual([0, '']);
    expect(report).toMatchObject({ accountID: 'demo', deviceID: 'van-01', missing: null });
    // Both have the clock of this machine: the answer is as old as its way was long.
    const clockOffsetS = report?.['clockOffsetS'];
    expect(clockOffsetS).toBeGreaterThanOrEqual(0);
    expect(clockOffsetS).toBeLessThanOrEqual(Math.ceil((Date.now() - askedMs) / 1000));
    expect(statSync(join(unit.home, 'secret')).mode & 0o777).toBe(0o600);
    expect(unit.file('agent.toml')).toContain("# Ann's van");
    expect(unit.file('agent.toml.bak')).not.toContain('publicKey');

    const panics = async () => {
      const path =
        '/eventdata/fleetdata/63553/0/0/authorization?limit=100&fields=deviceID,timestamp,statusCode';
      return JSON.stringify(await api.get(path)).match(/"statusCode":"?63553/g)?.length ?? 0;
    };
    const first = start('agent', ['start', '--config', unit.config]);
    const says = (what: string, isSo: (line: LogLine) => boolean) =>
      waitUntil(what, () => first.lines.some(isSo), { seen: seen(first) });
    const arrived = async (program: Program, count: number): Promise<void> => {
      await waitUntil(`panic ${count}`, async () => (await panics()) >= count, {
        everyMs: 500,
        seen: seen(program),
      });
      expect(await panics()).toBe(count);
    };
    await says('the connection', ({ msg }) => msg === 'connected');
    await type('panic press');
    await arrived(first, 1);

    // A new code while it is connected: it is cut off, goes on recording, and what it recorded comes later.
    const again = await makeCode();
    expect(again.isOnline).toBe(true);
    const before = unit.file('secret');
    expect(await unit.enrol(again.code)).toMatchObject({ exitCode: 0 });
    expect(unit.file('secret')).not.toBe(before);
    await says('the cut', ({ msg }) => msg === 'disconnected');
    /** Until one more event of the panic button is on the disk of the vehicle. */
    const kept = async (line: string): Promise<void> => {
      const newest = newestUrgent(unit.home);
      await type(line);
      await waitUntil(line, () => newestUrgent(unit.home) > newest, { seen: seen(first) });
    };
    await kept('panic release');
    await kept('panic press');
    first.signal('SIGKILL');
    await first.ended();
    await type('panic release');
    expect(await panics()).toBe(1);
    const second = start('agent', ['start', '--config', unit.config]);
    await arrived(second, 2);
    second.signal('SIGTERM');
    expect(await second.ended()).toBe(0);
  });

  describe('with a proxy between that alters messages', () => {
    const flip = (text: unknown): string => {
      const bytes = Buffer.from(String(text), 'base64url');
      bytes[5] = (bytes[5] ?? 0) ^ 4;
      return bytes.toString('base64url');
    };
    const otherID = (text: unknown): string =>
      `${String(text).slice(0, 5)}${String(text).endsWith('Z') ? 'Y' : 'Z'}`;

    it.each([
      ['codeID', otherID],
      ['deviceKey', flip],
      ['nonce', flip],
      ['proof', flip],
    ] as const)(
      'nothing comes of a changed %s, and the code stays good',

      async (member, change) => {
        const unit = newUnit();
        const { code, codeID } = await makeCode();
        proxy.alterations.request = (body) => ({ ...body, [member]: change(body[member]) });
        expect(await unit.enrol(code)).toMatchObject({
          exitCode: 66,
          words: expect.stringContaining('no such enrolment code'),
        });
        expect([unit.has('secret'), unit.has('agent.toml')]).toEqual([false, false]);
        expect(await stateOf(codeID)).toBe('open');
        delete proxy.alterations.request;
        expect(await unit.enrol(code)).toMatchObject({ exitCode: 0 });
      },
    );

    it.each([
      ['brokerKey', flip],
      ['sealed', flip],
    ] as const)(
      'nothing is written of a changed %s, and the same command ends it later',

      async (member, change) => {
        const unit = newUnit();
        const { code, codeID } = await makeCode();
        proxy.alterations.answer = (body: Members) => ({ ...body, [member]: change(body[member]) });
        const fooled = await unit.enrol(code);
        expect(fooled).toMatchObject({ exitCode: 77, words: expect.stringContaining('changed in transit') });
        expect([unit.has('secret'), unit.has('agent.toml')]).toEqual([false, false]);
        // The code is used, and by this unit's key alone: it gets the same answer once nobody is in between.
        expect(await stateOf(codeID)).toBe('used');
        delete proxy.alterations.answer;
        expect(await unit.enrol(code)).toMatchObject({ exitCode: 0 });
      },
    );

    it('a replayed recording yields nothing that can be opened', async () => {
      const unit = newUnit();
      const { code } = await makeCode();
      await unit.enrol(code);
      const { request } = proxy.seen.at(-1) ?? { request: {} };
      const secret = unit.file('secret').trim();
      const send = async (body: object) => {
        const url = `http://127.0.0.1:${setup.httpPort}/api/v1/device/enrol/authorization`;
        const headers = { 'content-type': 'application/json' };
        return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).text();
      };
      const replayed = await send(request);
      expect(replayed).toContain('"sealed"');
      expect(replayed).not.toContain(secret);
      // And there is no way to have it sealed to a key of his own.
      expect(await send({ ...request, deviceKey: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' })).toContain(
        'not_found',
      );
    });
  });

  describe('with a side that dies', () => {
    /** Runs the same command again unless everything was done when it ended: the code is used up then. */
    async function finish(unit: ReturnType<typeof newUnit>, code: string, what: string): Promise<void> {
      const isDone = unit.has('agent.toml') && !unit.has('secret.enrolment');
      if (!isDone) expect(await unit.enrol(code), what).toMatchObject({ exitCode: 0, words: '' });
      expect(unit.file('agent.toml'), what).toContain('id = "van-01"');
      expect(unit.file('secret'), what).toMatch(/^[\w-]{43}\n$/);
      expect(unit.has('secret.enrolment'), what).toBe(false);
    }

    it('survives a broker that is killed between its commit and its answer', async () => {
      const unit = newUnit();
      const { code, codeID } = await makeCode();
      proxy.alterations.answer = async () => {
        broker.signal('SIGKILL');
        await broker.ended();
        return null;
      };
      expect(await unit.enrol(code)).toMatchObject({
        exitCode: 75,
        words: expect.stringContaining('the code is not lost'),
      });
      expect(unit.has('secret')).toBe(false);
      delete proxy.alterations.answer;
      broker = await startOwnBroker();
      expect(await stateOf(codeID)).toBe('used');
      expect(await unit.enrol(code)).toMatchObject({ exitCode: 0 });
      expect(await unit.enrol((await makeCode()).code)).toMatchObject({ exitCode: 0 });
    });

    it('survives a broker that is killed while it is asked, whatever it had done by then', async () => {
      for (const delayMs of [0, 10]) {
        const unit = newUnit();
        const { code } = await makeCode();
        proxy.alterations.request = (body) => {
          setTimeout(() => broker.signal('SIGKILL'), delayMs);
          return body;
        };
        const cut = unit.launch(code);
        await broker.ended();
        cut.signal('SIGKILL');
        await cut.ended();
        delete proxy.alterations.request;
        broker = await startOwnBroker();
        await finish(unit, code, `broker killed after ${delayMs} ms`);
      }
    });

    it('survives a unit that is killed before, while and after the answer comes', async () => {
      for (const delayMs of [-1, 1, 8]) {
        const unit = newUnit();
        const { code, codeID } = await makeCode();
        let running: Program | null = null;
        proxy.alterations.answer = async (body: Members) => {
          if (delayMs < 0) running?.signal('SIGKILL');
          else setTimeout(() => running?.signal('SIGKILL'), delayMs);
          return body;
        };
        running = unit.launch(code);
        await running.ended();
        delete proxy.alterations.answer;
        expect(await stateOf(codeID)).toBe('used');
        await finish(unit, code, `unit killed after ${delayMs} ms`);
      }
    });
  });

  describe('in words', () => {
    it('distinguishes a code that was mistyped, is wrong, was used, or was revoked', async () => {
      const unit = newUnit();
      const { code, codeID } = await makeCode();
      const mistyped = `${code.slice(1, 2)}${code.slice(0, 1)}${code.slice(2)}`;
      const swapped = mistyped === code ? code.slice(0, -1) : mistyped;
      expect(await unit.enrol(swapped)).toMatchObject({
        exitCode: 64,
        words: expect.stringContaining('Nothing was sent'),
      });
      await api.post('/device/revokeenrolmentcode/authorization', { codeID });
      expect(await unit.enrol(code)).toMatchObject({
        exitCode: 65,
        words: expect.stringContaining('revoked'),
      });
      const used = await makeCode();
      await newUnit().enrol(used.code);
      expect(await unit.enrol(used.code)).toMatchObject({
        exitCode: 65,
        words: expect.stringContaining('was used on'),
      });
      expect(await unit.enrol('7K3M')).toMatchObject({
        exitCode: 64,
        words: expect.stringContaining('4 characters'),
      });
    });

    it('distinguishes an unreachable broker from a server that is none', async () => {
      const { code } = await makeCode();
      const strangers = [
        createPlainServer((_request, response) => response.end('<html>Welcome to our router</html>')),
        createPlainServer((_request, response) => response.writeHead(301, { location: proxy.url }).end()),
      ];
      const urls = await Promise.all(
        strangers.map(async (server) => {
          cleanups.push(
            () => server.close(),
            () => server.closeAllConnections(),
          );
          await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
          return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        }),
      );
      const unused = strangers.map((server) => (server.address() as AddressInfo).port).includes(9) ? 7 : 9;
      const [nobody, page, redirect, none] = await Promise.all(
        [`http://127.0.0.1:${unused}`, ...urls, 'fleet.example.com'].map((url) =>
          newUnit().enrol(code, [], url),
        ),
      );
      expect(nobody).toMatchObject({
        exitCode: 75,
        words: expect.stringContaining('nothing listens at that port'),
      });
      expect(page).toMatchObject({
        exitCode: 78,
        words: expect.stringContaining('no answer to an enrolment'),
      });
      expect(redirect).toMatchObject({
        exitCode: 78,
        words: expect.stringContaining('sends to another address'),
      });
      expect(none).toMatchObject({ exitCode: 64, words: expect.stringContaining('is no address') });
    });

    it('reports a certificate that is not trusted, or for another name, and accepts the one that --ca names', async () => {
      const authority = createAuthority(folder);
      const servers = ['localhost', 'fleet.example.com'].map((name) => {
        const { cert, key } = authority.issue(name, 2);
        const server = createServer({ cert, key }, (request, response) => {
          const parts: Buffer[] = [];
          request.on('data', (part: Buffer) => parts.push(part));
          request.on('end', () => {
            fetch(`http://127.0.0.1:${setup.httpPort}${request.url ?? ''}`, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: Buffer.concat(parts),
            })
              .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
              .catch(() => response.destroy());
          });
        });
        return server;
      });
      const urls = await Promise.all(
        servers.map(async (server) => {
          cleanups.push(
            () => server.close(),
            () => server.closeAllConnections(),
          );
          await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
          return `https://localhost:${(server.address() as AddressInfo).port}`;
        }),
      );
      const unit = newUnit();
      const { code } = await makeCode();
      const ca = ['--ca', authority.caFile];
      expect(await unit.enrol(code, [], urls[0])).toMatchObject({
        exitCode: 78,
        words: expect.stringContaining('--ca'),
      });
      expect(await unit.enrol(code, ca, urls[1])).toMatchObject({
        exitCode: 78,
        words: expect.stringContaining('another name'),
      });
      expect(await unit.enrol(code, ca, urls[0])).toMatchObject({ exitCode: 0, words: '' });
    });
  });
});
