// Ways of vehicles over HTTP, from stored events to the lines of a tile: within the caller's scope, nothing of a deleted device, and
// the same after a restart, with late events, and with two bridges at once.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tileOf } from '../../broker/features/ways/core/way-grid.ts';
import { type Line, placesOf } from '../../broker/features/ways/core/way-lines.ts';
import { oldestPeriod } from '../../broker/features/ways/core/way-tracks.ts';
import { ways } from '../../broker/features/ways/way-maker.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

let service: Awaited<ReturnType<typeof startHttpService>>;
let admin = '';
const dayS = 86_400;
/** The noon to come: what comes late is read once a day, so that no test may go on past a midnight. */
const nowS = Math.ceil(Date.now() / 1000 / dayS + 0.5) * dayS - dayS / 2;
const metre = { east: 1 / (111_195 * Math.cos((48 * Math.PI) / 180)), north: 1 / 111_195 };
/** Each place of the tests lies in these. */
const home = [11_005_00, 48_005_00] as const;
let seq = 0;

beforeEach(async () => {
  service = await startHttpService();
  service.advance(nowS * 1000 - Date.now());
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of ['van-1', 'van-2']) await service.device('acme', deviceID);
  admin = await service.login('acme', 'admin');
});
afterEach(() => service.close());

/** A kilometre to the east, so far north of the others, in a minute. */
async function drive(deviceID: string, northM: number, startS: number): Promise<void> {
  const events = Array.from({ length: 7 }, (_unused, index) => ({
    seq: ++seq,
    timestamp: (startS + index * 10) * 1000,
    statusCode: 61_714,
    latitude: 48 + northM * metre.north,
    longitude: 11 + ((index * 1000) / 6) * metre.east,
    speed: 60,
  }));
  await service.events('acme', deviceID, { boot: 'b', events });
}

/** A worker of another process. */
const startWorker = () =>
  ways.create({
    ...service.api,
    leases: { holds: () => true },
    lagMs: () => 0,
    aging: { read: async () => ({ nowMs: service.api.clock.utcMs() }) },
    consoleUrl: '',
  });

/** Until every device is read that has events since it was read; each time by a worker that was just started. */
async function make(): Promise<void> {
  const worker = startWorker();
  await waitUntil('the ways', async () => {
    await worker.runNow();
    const due =
      await service.rows(`SELECT 1 AS due FROM devices d LEFT JOIN way_states s ON s.device_no = d.device_no
      WHERE d.fix_ms > COALESCE(s.to_ms, 0) UNION ALL SELECT 1 FROM ways WHERE lines IS NULL`);
    return due.length === 0;
  });
  await worker.close();
}
/** As if the last reading were so long ago. */
const wait = (ms: number) => service.sql('UPDATE way_states SET read_ms = read_ms - $1', [ms]);

const tilePath = (zoom: 8 | 12): string => {
  const tile = tileOf(zoom, home);
  return `/api/v1/map/ways/${zoom}/${tile?.x}/${tile?.y}/authorization`;
};
const ask = (token: string, zoom: 8 | 12 = 12, headers = {}) =>
  service.call({ path: tilePath(zoom), token, headers });
/** Metres north of each line that the caller sees. */
async function seen(token: string, zoom: 8 | 12 = 12): Promise<readonly number[]> {
  const answer = await ask(token, zoom);
  expect(answer.status, answer.text).toBe(200);
  const lines = answer.json()['lines'] as readonly Line[];
  return lines
    .map((line) => Math.round(((placesOf(line)[0]?.[1] ?? 0) / 1e5 - 48) / metre.north / 100) * 100)
    .toSorted((one, other) => one - other);
}
async function tokenWith(body: object): Promise<string> {
  const path = '/api/v1/auth/token/authorization';
  const made = await service.call({
    method: 'POST',
    path,
    token: admin,
    body: { description: 'x', ...body },
  });
  return String(made.json()['token']);
}
async function limitedUser(userID: string, deviceID: string): Promise<string> {
  await service.user('acme', userID, 'viewer');
  await service.sql('UPDATE users SET sees_all = 0 WHERE user_id = $1', [userID]);
  await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', $1)", [userID]);
  await service.sql(
    `INSERT INTO group_devices (device_no, group_no)
      SELECT device_no, group_no FROM devices JOIN device_groups ON group_id = $1 WHERE device_id = $2`,
    [userID, deviceID],
  );
  await service.sql(
    `INSERT INTO group_users (account_id, user_id, group_no)
      SELECT 'acme', user_id, group_no FROM device_groups JOIN users ON user_id = group_id WHERE group_id = $1`,
    [userID],
  );
  return service.login('acme', userID);
}

describe('the ways of a tile', () => {
  it('are those of the vehicles that the caller sees, and of no other', async () => {
    await drive('van-1', 0, nowS - 600);
    await drive('van-2', 300, nowS - 500);
    await make();
    const one = await limitedUser('one', 'van-1');
    const other = await limitedUser('other', 'van-2');
    const none = await limitedUser('none', 'unknown');
    const token = await tokenWith({ devices: ['van-2'] });
    const rival = await service.login('rival', 'admin');
    // Twice: the second time from memory.
    for (let time = 0; time < 2; time++) {
      expect(await seen(admin)).toEqual([0, 300]);
      expect(await seen(one)).toEqual([0]);
      expect(await seen(other)).toEqual([300]);
      expect(await seen(token)).toEqual([300]);
      expect(await seen(none)).toEqual([]);
      expect(await seen(rival)).toEqual([]);
      expect(await seen(one, 8)).toEqual([0]);
    }
    await service.sql(`UPDATE group_devices SET device_no = (SELECT device_no FROM devices WHERE device_id = 'van-2')
      WHERE group_no = (SELECT group_no FROM device_groups WHERE group_id = 'one')`);
    expect(await seen(one)).toEqual([300]);
    const expires = nowS + 3600;
    const path = '/api/v1/share/create/authorization';
    const shared = await service.call({
      method: 'POST',
      path,
      token: admin,
      body: { deviceID: 'van-1', expires },
    });
    expect((await ask(String(shared.json()['token']))).status).toBe(422);
  });

  it('hold nothing of a deleted device, at once and later', async () => {
    for (const deviceID of ['van-1', 'van-2']) await drive(deviceID, 0, nowS - 600);
    await drive('van-1', 300, nowS - 400);
    await make();
    expect(await seen(admin)).toEqual([0, 300]);
    const path = '/api/v1/device/deletedevice/authorization';
    const deleted = await service.call({ method: 'POST', path, token: admin, body: { deviceID: 'van-1' } });
    expect(deleted.status, deleted.text).toBe(200);
    expect(await seen(admin)).toEqual([]);
    await make();
    expect(await seen(admin)).toEqual([0]);
    await service.sql("DELETE FROM devices WHERE device_id = 'van-2'");
    await make();
    expect(await service.rows('SELECT 1 AS left_over FROM ways')).toEqual([]);
  });

  it('carry a tag, and another one once they changed', async () => {
    await drive('van-1', 0, nowS - 600);
    await make();
    const { headers } = await ask(admin);
    const etag = String(headers['etag']);
    expect((await ask(admin, 12, { 'if-none-match': etag })).status).toBe(304);
    await drive('van-2', 300, nowS - 500);
    await make();
    expect((await ask(admin, 12, { 'if-none-match': etag })).status).toBe(200);
  });

  it.each(['8/256/0', '8/0/256', '12/4096/1', '12/-1/0', '12/1.5/0', '9/1/1', '12/a/0', '12/12345/0'])(
    'do not exist at %s',
    async (tile) => {
      const answer = await service.call({ path: `/api/v1/map/ways/${tile}/authorization`, token: admin });
      expect(answer.status).toBe(422);
    },
  );
});

describe('the worker', () => {
  it('keeps a street once, goes on where it was, and takes in what comes late on the next day', async () => {
    await drive('van-1', 0, nowS - 3 * dayS);
    await make();
    const before = await service.rows('SELECT zoom, device_no, lines FROM ways ORDER BY zoom, device_no');
    expect(before).toHaveLength(4);
    // Again by the same and by another, on the same day.
    await wait(600_000);
    await drive('van-1', 5, nowS - 3 * dayS + 200);
    await drive('van-2', -5, nowS - 3 * dayS + 100);
    await make();
    const ofAccount = await service.rows('SELECT lines FROM ways WHERE device_no = 0 ORDER BY zoom');
    expect(ofAccount).toEqual(before.filter((row) => row['device_no'] === 0).map(({ lines }) => ({ lines })));
    // Late events, then one that is new.
    await drive('van-1', 600, nowS - 3 * dayS - 7200);
    await drive('van-1', 300, nowS - 300);
    await wait(600_000);
    await make();
    expect(await seen(admin)).toEqual([0, 300]);
    await wait(86_400_000);
    await drive('van-1', 300, nowS - 200);
    await service.sql('UPDATE way_states SET to_ms = to_ms - 3 * 86400000');
    await make();
    expect(await seen(admin)).toEqual([0, 300, 600]);
  });

  it('reads a device again after ten minutes at the earliest', async () => {
    await drive('van-1', 0, nowS - 600);
    await make();
    await drive('van-1', 300, nowS - 300);
    const worker = startWorker();
    await worker.runNow();
    expect(await seen(admin)).toEqual([0]);
    await wait(600_000);
    await worker.runNow();
    await worker.close();
    expect(await seen(admin)).toEqual([0, 300]);
  });

  it('writes once what two bridges read at the same time', async () => {
    await drive('van-1', 0, nowS - 600);
    const workers = [startWorker(), startWorker(), startWorker()];
    await Promise.all(workers.map((worker) => worker.runNow()));
    await Promise.all(workers.map((worker) => worker.close()));
    await make();
    expect(await seen(admin)).toEqual([0]);
    expect(service.logLines.filter((line) => line.includes('ways_failed'))).toEqual([]);
  });

  it('hides what is older than events are kept, and drops what is older than ways are', async () => {
    await drive('van-1', 0, nowS - 600);
    await make();
    const period = oldestPeriod(nowS * 1000);
    await service.sql('UPDATE ways SET period = $1', [period]);
    expect(await seen(admin)).toEqual([0]);
    await service.sql("UPDATE accounts SET retained_days = 29 WHERE account_id = 'acme'");
    expect(await seen(admin)).toEqual([]);
    expect(await seen(await limitedUser('one', 'van-1'))).toEqual([]);
    await service.sql('UPDATE ways SET period = $1', [period - 1]);
    const worker = startWorker();
    await worker.runNow();
    await worker.close();
    expect(await service.rows('SELECT 1 AS left_over FROM ways')).toEqual([]);
  });
});
