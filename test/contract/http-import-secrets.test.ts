// Secrets of an import are shown once to an administrator, work at once, are in no log and no second answer, and never replace a secret
// that a device has.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashSecret } from '../../broker/store/devices/device-secret.ts';
import { startHttpService } from '../support/http/http-service.ts';

interface Line {
  readonly line: number;
  readonly deviceID: string;
  readonly action: string;
  readonly username: string;
  readonly secret: string | null;
}

let service: Awaited<ReturnType<typeof startHttpService>>;
let admin = '';
let operator = '';

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.user('acme', 'olga', 'operator');
  [admin, operator] = [await service.login('acme', 'admin'), await service.login('acme', 'olga')];
});
afterAll(() => service.close());

async function send(csv: string, { query = '', token = admin, headers = {} } = {}) {
  const answer = await service.call({
    method: 'POST',
    path: `/api/v1/device/importwithsecrets/authorization${query}`,
    token,
    body: csv,
    headers: { 'content-type': 'text/csv', ...headers },
  });
  return {
    status: answer.status,
    headers: answer.headers,
    json: answer.json(),
    lines: (answer.json()['lines'] ?? []) as readonly Line[],
    code: (answer.json()['error'] as { code: string } | undefined)?.code,
  };
}

const hashOf = async (deviceID: string): Promise<unknown> =>
  (
    await service.rows(
      `SELECT secret_hash FROM devices WHERE account_id = 'acme' AND device_id = '${deviceID}'`,
    )
  )[0]?.['secret_hash'];
const issued = async (): Promise<readonly unknown[]> =>
  (await service.rows("SELECT object FROM audit WHERE action = 'device.issuesecret' ORDER BY audit_no")).map(
    ({ object }) => object,
  );

describe('an import with secrets', () => {
  it('shows the secret of each new device in its line, keeps its hash only, and audits each', async () => {
    const { status, json, lines, headers } = await send('deviceID,deviceDriver\nnew-1,Ann\nnew-2,Bob\n', {
      headers: { 'accept-encoding': 'br, gzip' },
    });
    expect([status, json['created'], headers['content-encoding']]).toEqual([200, 2, undefined]);
    expect(lines.map(({ line, action, username }) => [line, action, username])).toEqual([
      [2, 'create', 'acme/new-1'],
      [3, 'create', 'acme/new-2'],
    ]);
    for (const { deviceID, secret } of lines) {
      expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(await hashOf(deviceID)).toBe(hashSecret(secret ?? ''));
    }
    expect(lines[0]?.secret).not.toBe(lines[1]?.secret);
    expect(await issued()).toEqual(['new-1', 'new-2']);
    const kept = JSON.stringify([
      await service.rows('SELECT * FROM audit'),
      await service.rows('SELECT * FROM idempotency_keys'),
      service.logLines,
    ]);
    for (const { secret } of lines) expect(kept).not.toContain(secret);
  });

  it('sent again shows nothing and issues nothing, whatever the key', async () => {
    const file = 'deviceID\nagain-1\n';
    const headers = { 'idempotency-key': 'first-delivery' };
    const [first] = (await send(file, { headers })).lines;
    const before = await hashOf('again-1');
    const second = await send(file, { headers });
    expect(second.lines).toMatchObject([{ action: 'unchanged', username: '', secret: null }]);
    expect(second.headers['idempotency-replayed']).toBeUndefined();
    expect(await hashOf('again-1')).toBe(before);
    expect(before).toBe(hashSecret(first?.secret ?? ''));
  });

  it('leaves a device that is there with the secret that it has, or without one', async () => {
    await service.device('acme', 'old-1');
    const before = await hashOf('old-1');
    const { lines } = await send('deviceID,deviceDriver\nold-1,Eve\nold-2,Eve\n');
    expect(lines.map(({ action, secret }) => [action, secret === null])).toEqual([
      ['update', true],
      ['create', false],
    ]);
    expect(await hashOf('old-1')).toBe(before);
  });

  it('as a dry run writes nothing and issues none', async () => {
    const before = await issued();
    const { lines, json } = await send('deviceID\ndry-1\nbad id\n', { query: '?dryRun=true' });
    expect(json).toMatchObject({ created: 1, failed: 1 });
    expect(lines.map(({ secret }) => secret)).toEqual([null, null]);
    expect(await issued()).toEqual(before);
    expect(await hashOf('dry-1')).toBeUndefined();
  });

  it('with a line at fault, or too many devices, writes nothing and issues none', async () => {
    const before = await issued();
    expect((await send('deviceID\nok-1\nbad id\n')).code).toBe('invalid_content');
    await service.sql(
      "UPDATE accounts SET device_limit = (SELECT COUNT(*) FROM devices WHERE account_id = 'acme') WHERE account_id = 'acme'",
    );
    expect((await send('deviceID\nok-1\n')).code).toBe('conflict');
    await service.sql("UPDATE accounts SET device_limit = NULL WHERE account_id = 'acme'");
    expect(await issued()).toEqual(before);
    expect(await hashOf('ok-1')).toBeUndefined();
  });

  it('of the same file twice at once shows only secrets that count', async () => {
    const file = `deviceID\n${Array.from({ length: 20 }, (_unused, at) => `race-${at}`).join('\n')}\n`;
    const answers = await Promise.all([send(file), send(file), send(file)]);
    const shown = answers.flatMap(({ lines }) => lines.filter(({ secret }) => secret !== null));
    expect(shown).toHaveLength(20);
    for (const { deviceID, secret } of shown) expect(await hashOf(deviceID)).toBe(hashSecret(secret ?? ''));
    expect((await issued()).filter((one) => String(one).startsWith('race-'))).toHaveLength(20);
  });

  it('is for administrators, and for up to 500 lines', async () => {
    expect((await send('deviceID\nno-1\n', { token: operator })).code).toBe('forbidden');
    const long = (count: number) =>
      `deviceID\n${Array.from({ length: count }, (_unused, at) => `many-${at}`).join('\n')}\n`;
    expect((await send(long(501))).code).toBe('invalid_content');
    expect((await send(long(500))).json['created']).toBe(500);
  });
});
