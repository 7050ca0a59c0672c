// Messages over HTTP: who may write, when a message counts as delivered, and what is unread for whom.
import { afterEach, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start() {
  const service = await startHttpService();
  open.push(service);
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.user('acme', 'olga', 'operator');
  await service.user('acme', 'guest', 'viewer');
  for (const deviceID of ['truck-1', 'truck-2']) await service.device('acme', deviceID);
  await service.device('rival', 'truck-9');
  const tokens = {
    olga: await service.login('acme', 'olga'),
    guest: await service.login('acme', 'guest'),
    rival: await service.login('rival', 'admin'),
  };
  type Who = keyof typeof tokens;
  const queue = '/api/v1/notificationqueue';
  const post = (who: Who, verb: string, body: unknown) =>
    service.call({ method: 'POST', path: `${queue}/${verb}/authorization`, token: tokens[who], body });
  const unread = async (who: Who) =>
    (await service.call({ path: `${queue}/getMessages/authorization`, token: tokens[who] })).json();
  const sent = async (deviceID: string, query = '') =>
    (
      await service.call({
        path: `${queue}/sentmessages/${deviceID}/authorization${query}`,
        token: tokens.guest,
      })
    ).json();
  const say = (deviceID: string, seq: number, message: unknown, accountID = 'acme') =>
    service.events(accountID, deviceID, {
      boot: 'b1',
      events: [{ seq, timestamp: Date.now(), statusCode: 4392, attributes: { message } }],
    });
  return { service, post, unread, sent, say };
}

describe('a message to a vehicle', () => {
  it('is kept for each vehicle once, and audited without its text', async () => {
    const { service, post, sent } = await start();
    const body = { deviceID: 'truck-1', deviceIDs: ['truck-2', 'truck-1'], message: 'Call\nthe depot' };
    const answer = (await post('olga', 'setMessages', body)).json();
    expect(answer).toMatchObject({
      messages: [{ deviceID: 'truck-1' }, { deviceID: 'truck-2' }],
      refused: [],
    });
    expect((await sent('truck-1'))['messages']).toMatchObject([
      { message: 'Call\nthe depot', sender: 'olga', delivered: 0 },
    ]);
    const [audit] = await service.sql(
      "SELECT actor, object, detail FROM audit WHERE action = 'message.send' ORDER BY audit_no",
    );
    expect(audit?.rows).toMatchObject([
      { actor: 'olga', object: 'truck-1' },
      { actor: 'olga', object: 'truck-2' },
    ]);
    expect(JSON.stringify(audit?.rows)).not.toContain('depot');
    expect(service.logLines.join()).not.toContain('depot');
  });

  it('needs a text and a vehicle; an empty object asks for nothing', async () => {
    const { post, sent } = await start();
    expect((await post('olga', 'setMessages', {})).json()).toEqual({
      status_code: '200',
      success: '1',
      messages: [],
      refused: [],
    });
    const bad = [
      { message: 'x' },
      { deviceID: 'truck-1' },
      { deviceIDs: [], message: 'x' },
      { deviceID: 'truck-1', message: '' },
      { deviceID: 'truck-1', message: 'x'.repeat(501) },
      { deviceID: 'truck-1', message: 'bell \u0007' },
      { deviceIDs: Array.from({ length: 101 }, (_unused, at) => `t-${at}`), message: 'x' },
    ];
    for (const body of bad) expect((await post('olga', 'setMessages', body)).status).toBe(422);
    expect((await post('guest', 'setMessages', {})).json()).toMatchObject({ error: { code: 'forbidden' } });
    const foreign = { deviceIDs: ['truck-1', 'truck-9'], message: 'x' };
    expect((await post('olga', 'setMessages', foreign)).status).toBe(404);
    expect((await sent('truck-1'))['messages']).toEqual([]);
  });

  it('is delivered when that vehicle confirms it, once, and no other vehicle can confirm it', async () => {
    const { service, post, sent } = await start();
    const answer = (await post('olga', 'setMessages', { deviceID: 'truck-1', message: 'x' })).json();
    const [{ messageID } = { messageID: '' }] = answer['messages'] as { messageID: string }[];
    const receipt = {
      timestamp: Date.now(),
      statusCode: 4393,
      commandID: messageID,
      commandState: 'received',
    };
    await service.events('rival', 'truck-9', { boot: 'b1', events: [{ seq: 1, ...receipt }] });
    await service.events('acme', 'truck-2', { boot: 'b1', events: [{ seq: 1, ...receipt }] });
    expect((await sent('truck-1'))['messages']).toMatchObject([{ delivered: 0 }]);
    await service.events('acme', 'truck-1', { boot: 'b1', events: [{ seq: 1, ...receipt }] });
    const [first] = (await sent('truck-1'))['messages'] as { delivered: number }[];
    expect(first?.delivered).toBeGreaterThan(0);
    service.advance(60_000);
    await service.events('acme', 'truck-1', { boot: 'b1', events: [{ seq: 2, ...receipt }] });
    expect((await sent('truck-1'))['messages']).toEqual([first]);
  });

  it('is one of at most 50 that wait', async () => {
    const { service, post, sent } = await start();
    const body = { deviceID: 'truck-1', message: 'x' };
    for (let count = 0; count < 50; count++)
      expect((await post('olga', 'setMessages', body)).status).toBe(200);
    expect((await post('olga', 'setMessages', body)).json()).toMatchObject({ error: { code: 'conflict' } });
    const both = (await post('olga', 'setMessages', { ...body, deviceIDs: ['truck-2'] })).json();
    expect(both).toMatchObject({ messages: [{ deviceID: 'truck-2' }], refused: ['truck-1'] });
    const page = await sent('truck-1', '?limit=30');
    const rest = await sent('truck-1', `?limit=30&cursor=${String(page['next'])}`);
    expect([page['messages'], rest['messages']].map((one) => (one as unknown[]).length)).toEqual([30, 20]);
    expect(rest['more']).toBe(false);
    service.advance(7 * 86_400_000);
    await service.sql('UPDATE sessions SET last_used_s = last_used_s + 604800');
    expect((await post('olga', 'setMessages', body)).status).toBe(200);
  });
});

describe('a message of a vehicle', () => {
  it('is unread for each user until marked as read, and stays within its account', async () => {
    const { post, unread, say } = await start();
    await say('truck-1', 1, 'Dock 4 is closed');
    await say('truck-2', 1, 'On my way');
    await say('truck-9', 1, 'rival only', 'rival');
    const both = [
      { deviceID: 'truck-1', message: 'Dock 4 is closed' },
      { deviceID: 'truck-2', message: 'On my way' },
    ];
    expect(await unread('olga')).toMatchObject({ messages: both, more: false });
    expect(await unread('olga'), 'reading changes nothing').toMatchObject({ messages: both });
    const [first] = (await unread('olga'))['messages'] as { messageNo: number }[];
    expect((await post('olga', 'readmessages', { upTo: first?.messageNo })).status).toBe(200);
    expect((await unread('olga'))['messages']).toMatchObject([both[1]]);
    expect((await unread('guest'))['messages']).toMatchObject(both);
    await post('olga', 'readmessages', { upTo: 0 });
    expect((await unread('olga'))['messages'], 'it never goes back').toMatchObject([both[1]]);
    await post('olga', 'readmessages', { upTo: Number.MAX_SAFE_INTEGER });
    await say('truck-1', 2, 'later');
    expect((await unread('olga'))['messages'], 'nor ahead of what there is').toMatchObject([
      { message: 'later' },
    ]);
    expect((await unread('rival'))['messages']).toMatchObject([{ message: 'rival only' }]);
  });

  it('is visible only to users who see the vehicle, and its text may be anything', async () => {
    const { service, unread, say } = await start();
    await say('truck-1', 1, 'x'.repeat(900));
    await say('truck-1', 2, 5);
    const messages = (await unread('guest'))['messages'] as { message: string }[];
    expect(messages.map(({ message }) => message.length)).toEqual([500, 0]);
    await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'guest'");
    expect((await unread('guest'))['messages']).toEqual([]);
  });
});
