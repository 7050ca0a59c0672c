// The broker program on a PostgreSQL database, as an operator runs it: its commands, its start, its readiness while the
// server is away, and not a word of the password.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
