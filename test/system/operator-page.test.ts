// The page of the operator and its answer at the real broker: served at the operator's listener alone, by its own token, by its own names; what
// backups of the command line show there; and settings that would open it are refused at the start.
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatusView } from '../../broker/api/operator/status.ts';
import { whyNotBuilt } from '../support/machine/requires.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';
import {
  type BrokerSetup,
  createBrokerSetup,
  type Program,
  provision,
  startBroker,
} from '../support/programs/fleet-processes.ts';

const why = whyNotBuilt('broker');
const path = '/api/v1/admin/status/authorization';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
}

/** With any Host header, which fetch does not allow. */
function ask(port: number, at: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: at, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => void (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }));
    });
    sent.on('error', reject).end();
  });
}

describe.skipIf(why !== null)(why === null ? 'the operator' : `the operator [${why}]`, () => {
  const setup: BrokerSetup = createBrokerSetup('operator-page');
  const { folder } = setup;
  const at = (name: string): string => join(folder, name);
  const database = at('fleet.db');
  const { run, killAll } = createBrokerProgram(folder);
  let broker: Program;
  let port = 0;
  let token = '';
  let view = '';

  const flags = [
    ['--admin-port', '0'],
    ['--admin-token-file', at('admin.token')],
    ['--admin-view-token-file', at('view.token')],
    ['--admin-backup-hours', '30'],
  ].flat();
  const start = async (): Promise<void> => {
    broker = await startBroker(setup, flags);
    port = Number(broker.lines.find(({ msg }) => msg === 'broker_ready')?.['adminPort']);
  };
  const status = async (): Promise<StatusView> =>
    JSON.parse((await ask(port, path, { authorization: view })).text) as StatusView;

  beforeAll(async () => {
    provision(setup, 'truck-17');
    for (const name of ['admin.token', 'view.token'])
      expect(await run(['admin-token', '--file', at(name)])).toMatchObject({ code: 0 });
    token = readFileSync(at('admin.token'), 'utf8').trim();
    view = readFileSync(at('view.token'), 'utf8').trim();
    await start();
  });

  afterAll(async () => {
    killAll();
    broker?.signal('SIGKILL');
    await broker?.ended();
  });

  it('is served a page with a policy that allows its own files and answers only', async () => {
    const moved = await ask(port, '/');
    expect([moved.status, moved.headers.location]).toEqual([302, '/console/']);
    const page = await ask(port, '/console/');
    expect(page.status).toBe(200);
    expect(page.text).toContain('/console/assets/operator-');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:/);
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(page.headers['cross-origin-opener-policy']).toBe('same-origin');
    const files = [...page.text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) expect([file, (await ask(port, file)).status]).toEqual([file, 200]);
    // Nothing of the console itself.
    for (const file of ['share.html', 'push-worker.mjs', 'operator.html'])
      expect([file, (await ask(port, `/console/${file}`)).status]).toEqual([file, 404]);
  });

  it('is not found at the listener of users, neither the page nor the answer', async () => {
    expect((await ask(setup.httpPort, '/console/operator.html')).status).toBe(404);
    expect((await ask(setup.httpPort, '/console/operator')).text).not.toContain('assets/operator-');
    for (const authorization of [token, view])
      expect((await ask(setup.httpPort, path, { authorization })).status).toBe(404);
  });

  it('reads with the token of the operator or the one that only reads, and no other', async () => {
    for (const authorization of [token, view])
      expect((await ask(port, path, { authorization })).status).toBe(200);
    for (const headers of [{}, { authorization: `${view}0` }, { authorization: view.replace(/.$/, 'x') }])
      expect((await ask(port, path, headers)).status).toBe(401);
    const accounts = '/api/v1/admin/accounts/authorization';
    expect((await ask(port, accounts, { authorization: token })).status).toBe(200);
    expect((await ask(port, accounts, { authorization: view })).status).toBe(422);
  });

  it('is not answered by a name of another host, whatever is asked and with which token', async () => {
    for (const host of ['evil.example', `evil.example:${port}`])
      for (const asked of ['/', '/console/', path, '/livez'])
        expect([host, asked, (await ask(port, asked, { host, authorization: token })).status]).toEqual([
          host,
          asked,
          400,
        ]);
    expect((await ask(port, path, { host: `localhost:${port}`, authorization: view })).status).toBe(200);
  });

  it('sees which backup was the last good one, and which failed and why', async () => {
    const before = await status();
    expect(before.backup).toMatchObject({ good: null, failed: null, lateAfterS: 30 * 3600 });
    expect(before.findings).toContainEqual(expect.objectContaining({ code: 'backup_missing' }));
    const made = await run(['backup', at('good.db'), '--database', database]);
    expect([made.code, made.err]).toEqual([0, expect.not.stringContaining('not recorded')]);
    expect(await run(['backup', at('good.db'), '--database', database])).toMatchObject({ code: 65 });
    // Figures are held for half a minute, so a new start reads them at once.
    broker.signal('SIGTERM');
    expect(await broker.ended()).toBe(0);
    await start();
    const { backup, findings } = await status();
    expect(backup?.good).toMatchObject({ file: 'good.db', hasSigningKey: false });
    expect(backup?.good?.bytes).toBeGreaterThan(100_000);
    expect(backup?.failed?.reason).toContain('exists already');
    expect(findings).toContainEqual(expect.objectContaining({ code: 'backup_failed' }));
    expect(findings).not.toContainEqual(expect.objectContaining({ code: 'backup_missing' }));
    expect(await run(['check', '--database', at('good.db')])).toMatchObject({ code: 0 });
  });

  it('changes nothing of a file that is no database of the broker when its backup fails', async () => {
    const foreign = at('foreign.db');
    const db = new Sqlite(foreign);
    db.exec('CREATE TABLE audit (account_id TEXT)');
    db.close();
    const before = readFileSync(foreign);
    const ended = await run(['backup', at('none.db'), '--database', foreign]);
    expect(ended.code).toBe(74);
    expect(ended.err).toContain('no database of Fleetward');
    expect(readFileSync(foreign).equals(before)).toBe(true);
  });

  it('finds no token in the log', () => {
    const said = JSON.stringify(broker.lines) + broker.complaints();
    for (const secret of [token, view]) expect(said).not.toContain(secret.slice(-64));
  });

  it.each([
    [
      'an open address without TLS',
      ['--admin-host', '0.0.0.0', '--admin-view-token-file', at('view.token')],
      'without TLS',
    ],
    ['a file that is no token', ['--admin-view-token-file', database], 'others may read it|holds no token'],
    ['a name that is none', ['--admin-names', 'https://ops.example.com'], 'names'],
    ['no hours', ['--admin-backup-hours', '0'], 'integer from 1'],
  ])('is refused %s', async (_what, args, message) => {
    const ended = await run([
      'start',
      '--database',
      at('other.db'),
      '--http-port',
      '0',
      '--mqtt-port',
      '0',
      ...args,
    ]);
    expect(ended.code).not.toBe(0);
    expect(ended.err).toMatch(new RegExp(message));
  });
});
