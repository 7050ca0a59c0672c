// Payloads that could not be read, from the vehicle to the person who looks at them: seen within the own devices only, dropped by
// administrators with an audit entry, counted for the operator of the service.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { quarantineBytesMost, quarantineTotals } from '../../broker/store/events/quarantine.ts';
import { sql } from '../../src/sql.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: Awaited<ReturnType<typeof startHttpService>>;
const tokens = new Map<string, string>();

const bytes = new Uint8Array([0, 1, 2, 255, 123]);

async function submit(accountID: string, deviceID: string, payload: Uint8Array): Promise<void> {
  const device = await findDevice(service.db, { accountID, deviceID });
  if (device === null) throw new Error(`no device ${deviceID}`);
  expect(await service.ingest.submit(device, payload)).toMatchObject({ kind: 'quarantined' });
}

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.user('acme', 'olga', 'operator');
  await service.user('acme', 'north', 'operator');
  await service.user('acme', 'guest', 'viewer');
  for (const deviceID of ['truck-1', 'truck-2']) await service.device('acme', deviceID);
  await service.device('rival', 'truck-1');
  await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'north'");
  await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'north')");
  await service.sql(`INSERT INTO group_devices (device_no, group_no) SELECT device_no, group_no FROM devices, device_groups
    WHERE device_id = 'truck-2'`);
  await service.sql(
    "INSERT INTO group_users (account_id, user_id, group_no) SELECT 'acme', 'north', group_no FROM device_groups",
  );
  for (const who of ['admin', 'olga', 'north', 'guest']) tokens.set(who, await service.login('acme', who));
  tokens.set('rival', await service.login('rival', 'admin'));
  await submit('acme', 'truck-1', bytes);
  await submit('acme', 'truck-2', new TextEncoder().encode('{"half'));
  await submit('rival', 'truck-1', new TextEncoder().encode('theirs'));
});

afterAll(() => service.close());

const get = (who: string, path: string, query = '') =>
  service.call({
    path: `/api/v1/device/quarantine${path}/authorization${query}`,
    token: tokens.get(who) ?? '',
  });
const drop = (who: string, body: object) =>
  service.call({
    method: 'POST',
    path: '/api/v1/device/dropquarantine/authorization',
    token: tokens.get(who) ?? '',
    body,
  });
type Entry = { readonly quarantineID: string; readonly deviceID: string; readonly bytes: number };
const entries = async (who: string, query = '') => (await get(who, '', query)).json()['payloads'] as Entry[];
const codeOf = (answer: Awaited<ReturnType<typeof get>>) => (answer.json()['error'] as { code: string }).code;

describe('what could not be read', () => {
  it('is listed newest first, of the devices that the caller sees', async () => {
    expect(await entries('olga')).toMatchObject([
      { deviceID: 'truck-2', bytes: 6, topic: expect.stringContaining('truck-2') },
      { deviceID: 'truck-1', bytes: 5, reason: expect.stringMatching(/./) },
    ]);
    expect((await entries('olga', '?limit=1')).map(({ deviceID }) => deviceID)).toEqual(['truck-2']);
    expect((await entries('olga', '?deviceID=truck-1')).map(({ deviceID }) => deviceID)).toEqual(['truck-1']);
    expect((await entries('north')).map(({ deviceID }) => deviceID)).toEqual(['truck-2']);
    expect((await get('north', '', '?deviceID=truck-1')).status).toBe(404);
    expect(codeOf(await get('guest', ''))).toBe('forbidden');
    expect(await entries('rival')).toHaveLength(1);
  });

  it('is readable byte for byte by users who see the device, and not found for others', async () => {
    const id = (await entries('olga', '?deviceID=truck-1'))[0]?.quarantineID ?? '';
    const answer = (await get('olga', `/${id}`)).json();
    expect(answer).toMatchObject({ quarantineID: id, deviceID: 'truck-1', bytes: 5 });
    expect(new Uint8Array(Buffer.from(String(answer['payload']), 'base64'))).toEqual(bytes);
    for (const who of ['north', 'rival']) expect((await get(who, `/${id}`)).status, who).toBe(404);
    expect((await get('olga', '/999999')).status).toBe(404);
  });

  it('is counted with its bytes', async () => {
    expect(await quarantineTotals(service.db)).toEqual({ payloads: 3, bytes: 17 });
  });

  it('is dropped by administrators, one or all of a device, with an audit entry', async () => {
    for (let at = 0; at < 3; at++) await submit('acme', 'truck-1', new Uint8Array([at]));
    const [newest] = await entries('admin', '?deviceID=truck-1');
    const one = { deviceID: 'truck-1', quarantineID: newest?.quarantineID ?? '' };
    expect(codeOf(await drop('olga', one))).toBe('forbidden');
    expect((await drop('rival', one)).status).toBe(404);
    expect((await drop('admin', { ...one, deviceID: 'truck-2' })).status).toBe(404);
    expect((await drop('admin', one)).json()).toMatchObject({ dropped: 1 });
    expect((await drop('admin', one)).status).toBe(404);
    expect((await drop('admin', { deviceID: 'truck-1' })).json()).toMatchObject({ dropped: 3 });
    expect((await drop('admin', { deviceID: 'truck-1' })).json()).toMatchObject({ dropped: 0 });
    expect((await entries('admin')).map(({ deviceID }) => deviceID)).toEqual(['truck-2']);
    expect(await entries('rival')).toHaveLength(1);
    const audit = await service.rows(
      "SELECT actor, object FROM audit WHERE action = 'quarantine.drop' ORDER BY audit_no",
    );
    expect(audit).toEqual([
      { actor: 'admin', object: 'truck-1' },
      { actor: 'admin', object: 'truck-1' },
    ]);
  });

  it('is taken in again by administrators once it can be read, and what still cannot stays', async () => {
    const old = await findDevice(service.db, { accountID: 'acme', deviceID: 'truck-1' });
    const timestamp = 1_763_683_200;
    // As a mend finds them: entries that an older release could not read.
    const entry = async (payload: object) => {
      await submit('acme', 'truck-1', new TextEncoder().encode('placeholder'));
      await service.write([
        sql`UPDATE quarantine SET payload = ${new TextEncoder().encode(JSON.stringify(payload))} WHERE quarantine_no =
          (SELECT MAX(quarantine_no) FROM quarantine)`,
      ]);
    };
    await submit('acme', 'truck-1', bytes);
    await entry({
      boot: 'mended',
      events: [
        { seq: 1, timestamp, statusCode: 63_553 },
        { seq: 2, timestamp },
      ],
    });
    await entry({ timestamp, statusCode: 61_472, heading: -1 });
    const retry = (who: string, body: object) =>
      service.call({
        method: 'POST',
        path: '/api/v1/device/retryquarantine/authorization',
        token: tokens.get(who) ?? '',
        body,
      });
    expect(codeOf(await retry('olga', { deviceID: 'truck-1' }))).toBe('forbidden');
    expect((await retry('rival', { deviceID: 'truck-2' })).status).toBe(404);
    expect((await retry('admin', { deviceID: 'truck-1', quarantineID: '999999' })).status).toBe(404);
    expect((await retry('admin', { deviceID: 'truck-1' })).json()).toMatchObject({ taken: 2, left: 2 });
    expect((await retry('admin', { deviceID: 'truck-1' })).json()).toMatchObject({ taken: 0, left: 2 });
    const kept = await entries('admin', '?deviceID=truck-1');
    expect(kept).toMatchObject([
      { reason: 'events[1]: statusCode must be an integer' },
      { bytes: bytes.length },
    ]);
    const stored = await service.rows('SELECT boot, seq, status_code FROM events ORDER BY event_no');
    expect(stored).toMatchObject([{ boot: 'mended' }, { boot: expect.stringMatching(/^@/) }]);
    const audit = await service.rows(
      "SELECT object FROM audit WHERE action = 'quarantine.retry' ORDER BY audit_no",
    );
    expect(audit).toEqual([{ object: 'truck-1' }, { object: 'truck-1' }]);
    // Not a sign of life.
    const device = await findDevice(service.db, { accountID: 'acme', deviceID: 'truck-1' });
    expect(device?.heartbeatMs).toBe(old?.heartbeatMs);
  });

  it('is told to people once an hour by the clock of the service, as an occurrence for rules', async () => {
    // On a clock of its own: that of the machine may be set back by some ms, and then the hour is not over.
    const clocked = await startHttpService();
    onTestFinished(() => clocked.close());
    holdClock(clocked);
    await clocked.account('acme');
    await clocked.device('acme', 'truck-2');
    const device = await findDevice(clocked.db, { accountID: 'acme', deviceID: 'truck-2' });
    if (device === null) throw new Error('no device truck-2');
    const told = async (...payload: readonly number[]): Promise<unknown> => {
      const outcome = await clocked.ingest.submit(device, new Uint8Array(payload));
      expect(outcome).toMatchObject({ kind: 'quarantined' });
      return (await clocked.rows('SELECT kind FROM occurrences')).map(({ kind }) => kind);
    };
    for (let at = 0; at < 3; at++) expect(await told(2, at)).toEqual(['data_unreadable']);
    clocked.advance(3_599_999);
    expect(await told(3)).toEqual(['data_unreadable']);
    clocked.advance(1);
    expect(await told(4)).toEqual(['data_unreadable', 'data_unreadable']);
  });

  it('is never more than so many bytes a device: then nothing more is accepted, and nothing falls out', async () => {
    const device = await findDevice(service.db, { accountID: 'acme', deviceID: 'truck-2' });
    if (device === null) throw new Error('no device');
    await drop('admin', { deviceID: 'truck-2' });
    const long = (at: number) => new Uint8Array(quarantineBytesMost / 4).fill(at + 1);
    for (let at = 0; at < 4; at++) await submit('acme', 'truck-2', long(at));
    await expect(service.ingest.submit(device, bytes)).rejects.toMatchObject({ code: 'conflict' });
    expect(await entries('olga', '?deviceID=truck-2')).toHaveLength(4);
    await submit('acme', 'truck-2', long(1));
    // Behind a queue that has acknowledged it, it is kept all the same.
    const forced = { verb: 'events', payload: bytes, reason: 'refused', isForced: true } as const;
    expect(await service.ingest.quarantine(device, forced)).toMatchObject({ kind: 'quarantined' });
    expect(await entries('olga', '?deviceID=truck-2')).toHaveLength(5);
    await drop('admin', { deviceID: 'truck-2' });
    await submit('acme', 'truck-2', bytes);
  });
});
