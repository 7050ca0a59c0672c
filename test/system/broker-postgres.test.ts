// The broker program on a PostgreSQL database, as an operator runs it: its commands, its start, its readiness while the
// server is away, and not a word of the password.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatusView } from '../../broker/api/operator/status.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const isBuilt = existsSync(fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url)));
const missing = isBuilt ? postgresMissing : 'skipped: not built';
const title =
  missing === null ? 'the broker program on PostgreSQL' : `the broker program on PostgreSQL [${missing}]`;

describe.skipIf(missing !== null)(title, () => {
  const folder = temporaryFolder('broker-postgres');
  const broker = createBrokerProgram(folder);
  const hush = 'hush-4711';
  let server: PostgresBench;
  let on: readonly string[] = [];
  const said: string[] = [];
  const run = async (args: readonly string[], input = '') => {
    const ended = await broker.run([...args, ...on], input);
    said.push(ended.out, ended.err);
    return ended;
  };
  beforeAll(async () => {
    server = await startPostgres();
    // The server trusts any client on its socket; the password is there to be kept out of logs.
    on = ['--database', (await server.create()).replace('postgres@', `postgres:${hush}@`)];
  });
  afterAll(async () => {
    broker.killAll();
    await server?.close();
    rmSync(folder, { recursive: true });
  });

  it('makes accounts and devices, and verifies and clears away', async () => {
    const account = ['account', 'create', 'acme', '--admin', 'ann', '--password-file', '-'];
    expect(await run(account, 'correct horse battery\n')).toMatchObject({ code: 0 });
    expect(await run(['device', 'create', 'acme', 'truck-1'])).toMatchObject({ code: 0 });
    expect(await run(['audit', 'verify'])).toMatchObject({ code: 0 });
    expect(await run(['retention', 'run', '--dry-run'])).toMatchObject({ code: 0 });
    expect(await run(['account', 'list'])).toMatchObject({ code: 0, out: expect.stringContaining('acme') });
  });

  it('records the certificates that its authority makes', async () => {
    const dir = ['--dir', join(folder, 'ca'), '--json'];
    expect(await run(['ca', 'init', ...dir])).toMatchObject({ code: 0 });
    expect(await run(['ca', 'device', 'acme', 'truck-1', ...dir])).toMatchObject({
      code: 0,
      out: expect.stringContaining('"isRecorded":true'),
    });
    expect(await run(['ca', 'list', ...dir])).toMatchObject({
      code: 0,
      out: expect.stringContaining('"what":"device-acme.truck-1"'),
    });
    expect(await run(['ca', 'revoke', 'acme', 'truck-1'])).toMatchObject({ code: 0 });
    expect(await run(['ca', 'list', ...dir])).toMatchObject({ out: expect.stringContaining('"revoked"') });
  });

  it('serves, reports when the database server is down, and is ready again when it is back', async () => {
    const { child, output, ended } = broker.launch(['start', '--http-port', '0', '--mqtt-port', '0', ...on]);
    await waitUntil('the broker to be ready', () => (output.out + output.err).includes('broker_ready'), {
      seen: () => output.out + output.err,
    });
    const port = Number(/"httpPort":(\d+)/.exec(output.out + output.err)?.[1]);
    const isReady = (status: number): Promise<unknown> =>
      waitUntil(
        `status ${status}`,
        async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === status,
        { everyMs: 200 },
      );
    await isReady(200);
    await server.stop('fast');
    await isReady(503);
    await server.start();
    await isReady(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    said.push(output.out, output.err);
  });

  it('shows the operator every bridge on the database, which of them does the work of all, and that their cluster is away', async () => {
    expect(await broker.run(['admin-token', '--file', 'view.token'])).toMatchObject({ code: 0 });
    writeFileSync(join(folder, 'cluster.word'), 'not-needed-here\n', { mode: 0o600 });
    const flags = [
      ['--ingress', 'amqp://bridge@127.0.0.1:1/fleet', '--cluster-password-file', 'cluster.word'],
      [
        '--cluster-management-urls',
        'http://127.0.0.1:1',
        '--cluster-management-password-file',
        'cluster.word',
      ],
      ['--cluster-auth-port', '0', '--http-port', '0', '--admin-port', '0'],
      ['--admin-view-token-file', 'view.token'],
    ].flat();
    const authorization = readFileSync(join(folder, 'view.token'), 'utf8').trim();
    const bridges = [1, 2].map(() => broker.launch(['start', ...flags, ...on]));
    const statusOf = async ({ output }: (typeof bridges)[number]): Promise<StatusView> => {
      await waitUntil('the bridge to be ready', () => output.out.includes('broker_ready'), {
        seen: () => output.out + output.err,
      });
      const port = Number(/"adminPort":(\d+)/.exec(output.out)?.[1]);
      const url = `http://127.0.0.1:${port}/api/v1/admin/status/authorization`;
      return (await (await fetch(url, { headers: { authorization } })).json()) as StatusView;
    };
    const isKnown = async (bridge: (typeof bridges)[number]): Promise<boolean> => {
      const { leases, bridges: known } = await statusOf(bridge);
      return leases.every(({ holder }) => holder !== '') && leases.length === 2 && known?.listed.length === 2;
    };
    for (const bridge of bridges) await waitUntil('both bridges', () => isKnown(bridge), { everyMs: 500 });
    const found = await Promise.all(bridges.map(statusOf));
    for (const { service, bridges: known, leases, findings, storage, backup } of found) {
      expect(service).toMatchObject({ database: 'postgres', ingress: 'cluster' });
      // The server is on this machine, so no bridge has an address there.
      expect(known?.listed.map(({ address }) => address)).toEqual(['', '']);
      for (const { silentS } of leases) expect(silentS).toBeLessThan(60);
      expect(storage?.databaseBytes).toBeGreaterThan(1e6);
      expect(backup?.archive).toBeNull();
      const codes = findings.map(({ code, subject }) => `${code} ${subject}`);
      expect(codes).toContain('not_ready mqtt');
      expect(codes.join()).not.toContain('backup');
    }
    const [first, second] = found.map(({ leases }) => leases);
    for (const [at, lease] of (first ?? []).entries()) {
      expect(second?.[at]?.holder).toBe(lease.holder);
      expect([lease.isOwn, second?.[at]?.isOwn].filter((isOwn) => isOwn === true)).toHaveLength(1);
    }
    for (const { child } of bridges) child.kill('SIGTERM');
    for (const { ended, output } of bridges) {
      expect(await ended).toBe(0);
      said.push(output.out, output.err);
    }
    expect(said.join('\n')).not.toContain(authorization.slice(-64));
  });

  it('never prints the password, nor names a file after it', async () => {
    expect(await run(['config', 'show'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('postgres://postgres@'),
    });
    await run(['config', 'show', '--json']);
    expect((await run(['audit', 'verify', '--account', 'nobody'])).code).not.toBeNull();
    expect(said.join('\n')).not.toContain(hush);
    expect(readdirSync(folder).join(' ')).not.toContain(hush);
    expect(readdirSync(folder)).toContain('fleetward.signing-key.pem');
  });
});
