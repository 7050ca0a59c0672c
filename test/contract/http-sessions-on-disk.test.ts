// What a token may do, read from a database file in the calling thread beside the threads that write it: a change that was
// answered holds for the very next request, also when it was made by another connection, and beside requests that are under way.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { sql } from '../../src/sql.ts';
import { isOnPostgres } from '../support/database/test-database.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const folder = temporaryFolder('sessions');
let service: HttpService;
let admin = '';

beforeAll(async () => {
  service = await startHttpService({ databasePath: join(folder, 'broker.db') });
  await service.account('acme');
  for (const device of ['north-1', 'south-1']) await service.device('acme', device);
  await service.user('acme', 'watcher', 'viewer');
  admin = await service.login('acme', 'admin');
});
afterAll(() => service.close());

const post = (path: string, body: object, token = admin) =>
  service.call({ method: 'POST', path: `/api/v1${path}/authorization`, body, token });
const statusOf = async (path: string, token: string): Promise<number> =>
  (await service.call({ path: `/api/v1${path}/authorization`, token })).status;

describe('a change that was answered holds for the very next request', () => {
  it('when a session ends, beside twenty requests of the same token, each time of thirty', async () => {
    for (let round = 0; round < 30; round++) {
      const token = await service.login('acme', 'watcher');
      const beside = Array.from({ length: 20 }, () => statusOf('/device/getdevice/north-1', token));
      const ended = await service.call({ path: '/api/v1/auth/logout/acme/watcher', token });
      expect(ended.status).toBe(200);
      expect(await statusOf('/device/getdevice/north-1', token)).toBe(401);
      for (const status of await Promise.all(beside)) expect([200, 401]).toContain(status);
    }
  });

  it('when groups limit a user, in every answer about one device', async () => {
    const token = await service.login('acme', 'watcher');
    await post('/group/updategroup', { groupID: 'north', devices: ['north-1'] });
    for (let round = 0; round < 10; round++) {
      for (const path of ['/device/getdevice/south-1', '/eventdata/latest/south-1']) {
        await post('/user/updateuser', { userID: 'watcher', groups: [] });
        await post('/user/updateuser', { userID: 'watcher', groups: ['north'] });
        expect(await statusOf(path, token)).toBe(404);
        expect(await statusOf(path.replace('south', 'north'), token)).toBe(200);
      }
    }
  });

  it('when a device is changed or deleted', async () => {
    await service.device('acme', 'passing');
    for (let round = 0; round < 20; round++) {
      const changed = await post('/device/updatedevice', {
        deviceid: 'passing',
        devicedriver: `driver ${round}`,
      });
      expect(changed.status).toBe(200);
      const shown = await service.call({
        path: '/api/v1/device/getdevice/passing/authorization',
        token: admin,
      });
      expect(shown.text).toContain(`driver ${round}`);
    }
    expect((await post('/device/deletedevice', { deviceID: 'passing' })).status).toBe(200);
    expect(await statusOf('/device/getdevice/passing', admin)).toBe(404);
  });
});

it.skipIf(isOnPostgres)('sees what another connection of the file has committed', async () => {
  const other = openSqlite({ path: join(folder, 'broker.db'), pageSize: 4096 });
  try {
    const token = await service.login('acme', 'watcher');
    for (const [isActive, status] of [
      [0, 401],
      [1, 200],
    ] as const) {
      await other.write([sql`UPDATE users SET is_active = ${isActive} WHERE user_id = 'watcher'`]);
      expect(await statusOf('/group/groups', token)).toBe(status);
    }
  } finally {
    await other.close();
  }
});
