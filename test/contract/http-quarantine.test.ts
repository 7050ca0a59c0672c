// Payloads that could not be read, from the vehicle to the person who looks at them: seen within the own devices only, dropped by
// administrators with an audit entry, counted for the operator of the service.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findDevice } from '../../broker/store/devices/devices.ts';
import {
  quarantineBytesMost,
  quarantineMost,
  quarantineTotals,
} from '../../broker/store/events/quarantine.ts';
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
    const audit = await service.rows("SELECT actor, object FROM audit WHERE action = 'quarantine.drop'");
    expect(audit).toEqual([
      { actor: 'admin', object: 'truck-1' },
      { actor: 'admin', object: 'truck-1' },
    ]);
  });

  it('is never more than so many a device', async () => {
    for (let at = 0; at < quarantineMost + 5; at++) await submit('acme', 'truck-1', new Uint8Array([at]));
    expect(await entries('olga', '?deviceID=truck-1')).toHaveLength(quarantineMost);
  });

  it('is never more than so many bytes a device, without the oldest ones', async () => {
    const long = new Uint8Array(100 * 1024);
    const count = Math.floor(quarantineBytesMost / long.length);
    for (let at = 0; at < count + 3; at++) await submit('acme', 'truck-2', long);
    const kept = await entries('olga', '?deviceID=truck-2');
    expect(kept.map((entry) => entry.bytes)).toEqual(Array.from({ length: count }, () => long.length));
    await submit('acme', 'truck-2', new Uint8Array(quarantineBytesMost + 1));
    expect(await entries('olga', '?deviceID=truck-2')).toMatchObject([{ bytes: quarantineBytesMost + 1 }]);
    await submit('acme', 'truck-2', bytes);
    expect(await entries('olga', '?deviceID=truck-2')).toMatchObject([{ bytes: bytes.length }]);
  });
});
