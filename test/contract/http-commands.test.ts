// Commands over HTTP: who may give them, how many, how they are read and withdrawn, and the jobs for the unit itself. What
// holds for every operation is in http-operations.test.ts; the second user is in http-approvals.test.ts.
import { afterEach, describe, expect, it } from 'vitest';
import { holdClock } from '../support/http/held-clock.ts';
import { startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start() {
  const service = await startHttpService();
  open.push(service);
  holdClock(service);
  await service.account('acme');
  await service.user('acme', 'olga', 'operator');
  await service.user('acme', 'otto', 'operator');
  await service.user('acme', 'anna', 'admin');
  for (let at = 1; at <= 30; at++) await service.device('acme', `truck-${at}`);
  const tokens = {
    admin: await service.login('acme', 'admin'),
    anna: await service.login('acme', 'anna'),
    olga: await service.login('acme', 'olga'),
    otto: await service.login('acme', 'otto'),
  };
  type Who = keyof typeof tokens;
  const post = (who: Who, path: string, body: unknown) =>
    service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token: tokens[who], body });
  const get = (who: Who, path: string) => service.call({ path: `/api/v1${path}`, token: tokens[who] });
  const order = (who: Who, deviceID: string, changes: object = {}) =>
    post(who, '/command/feature', { deviceID, feature: 'enginecutoff', state: '1', ...changes });
  const audit = async (): Promise<readonly unknown[]> => {
    const [found] = await service.sql(
      "SELECT actor, action, object FROM audit WHERE action LIKE 'command.%' ORDER BY audit_no",
    );
    return found?.rows ?? [];
  };
  /** So many cuts, spread so that only the hour counts. */
  const cuts = async (who: Who, count: number, from = 1) => {
    const answers = [];
    for (let at = 0; at < count; at++) {
      answers.push(await order(who, `truck-${from + at}`));
      service.advance(7000);
    }
    return answers;
  };
  return { service, tokens, post, get, order, audit, cuts };
}

const seen = (answer: Awaited<ReturnType<Service['call']>>) => ({
  status: answer.status,
  code: (answer.json()['error'] as { code?: string } | undefined)?.code,
});
const conflict = { status: 422, code: 'conflict' };

describe('a command', () => {
  it('is in the audit log once, with its requester; a repeat is not', async () => {
    const { order, audit } = await start();
    const { commandID } = (await order('olga', 'truck-1', { reason: 'stolen' })).json();
    expect((await order('olga', 'truck-1', { reason: 'stolen' })).json()).toMatchObject({ commandID });
    expect(await audit()).toEqual([{ actor: 'olga', action: 'command.request', object: 'truck-1' }]);
  });

  it('that the user did not confirm is not given', async () => {
    const { order, audit } = await start();
    expect(seen(await order('olga', 'truck-1', { confirm: false }))).toEqual({
      status: 422,
      code: 'invalid_content',
    });
    expect((await order('olga', 'truck-1', { confirm: true })).status).toBe(200);
    expect(await audit()).toHaveLength(1);
  });

  it('for a device outside of the groups of its user is not found, nor are its commands', async () => {
    const { service, order, get, post } = await start();
    const { commandID } = (await order('otto', 'truck-1')).json();
    await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'olga'");
    const answers = [
      await order('olga', 'truck-1'),
      await get('olga', '/command/send/truck-1/63681/authorization'),
      await post('olga', '/device/updatedevice/cargoaccess', { deviceID: 'truck-1', state: '0' }),
      await get('olga', `/command/get/${String(commandID)}/authorization`),
      await get('olga', '/command/list/truck-1/authorization'),
      await post('olga', '/command/cancel', { commandID }),
      await post('olga', '/notificationqueue/setMessages', { deviceID: 'truck-1', message: 'x' }),
    ];
    for (const answer of answers) expect(seen(answer)).toEqual({ status: 404, code: 'not_found' });
  });

  it('is listed newest first, page by page', async () => {
    const { service, order, get } = await start();
    const given: string[] = [];
    for (const state of ['1', '0', '1', '0', '1']) {
      given.unshift(String((await order('olga', 'truck-1', { state })).json()['commandID']));
      service.advance(10);
    }
    const read: unknown[] = [];
    let query = '?limit=2';
    for (let pages = 0; pages < 3; pages++) {
      const page = (await get('olga', `/command/list/truck-1/authorization${query}`)).json();
      read.push(...(page['commands'] as { commandID: string }[]).map(({ commandID }) => commandID));
      expect(page['more']).toBe(pages < 2);
      query = `?limit=2&cursor=${String(page['next'])}`;
    }
    expect(read).toEqual(given);
    expect(seen(await get('olga', '/command/list/truck-1/authorization?limit=0')).status).toBe(422);
  });

  it('is withdrawn once, and not when it has ended', async () => {
    const { order, post, audit, get } = await start();
    const { commandID } = (await order('olga', 'truck-1')).json();
    const cancelled = await post('otto', '/command/cancel', { commandID });
    expect(cancelled.json()).toMatchObject({ commandState: 'cancelled', pendingState: null });
    expect((await post('otto', '/command/cancel', { commandID })).status).toBe(200);
    const record = await get('olga', `/command/get/${String(commandID)}/authorization`);
    expect(record.json()).toMatchObject({ cancelledBy: 'otto', hasEnded: true });
    expect(await audit()).toMatchObject([{ action: 'command.request' }, { action: 'command.cancel' }]);
    const second = (await order('olga', 'truck-2')).json()['commandID'];
    await order('olga', 'truck-2', { state: '0' });
    expect(seen(await post('olga', '/command/cancel', { commandID: second }))).toEqual(conflict);
  });
});

describe('the limits of commands', () => {
  it('let a user give 10 commands a minute, and restores without end', async () => {
    const { service, order } = await start();
    const give = (at: number, state: string) =>
      order('olga', `truck-${at}`, { feature: 'cargoaccess', state });
    for (let at = 1; at <= 10; at++) expect((await give(at, '1')).status).toBe(200);
    const over = await give(11, '1');
    expect(seen(over)).toEqual({ status: 503, code: 'throttled' });
    expect(over.headers['retry-after']).toBe('60');
    for (let at = 1; at <= 30; at++) expect((await give(at, '0')).status).toBe(200);
    expect((await order('otto', 'truck-20', { feature: 'cargoaccess' })).status).toBe(200);
    service.advance(61_000);
    expect((await give(11, '1')).status).toBe(200);
  });

  it('open the breaker of the user with the cut that is one too many, and leave the others theirs', async () => {
    const { cuts, order, post, get, audit, service } = await start();
    await service.sql("UPDATE accounts SET cuts_per_hour = 3 WHERE account_id = 'acme'");
    expect((await cuts('olga', 3)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await order('olga', 'truck-3')).status, 'a repeat is none').toBe(200);
    expect(seen(await order('olga', 'truck-4'))).toEqual(conflict);
    expect(seen(await order('olga', 'truck-1', { state: '0' })).status).toBe(200);
    expect(seen(await order('olga', 'truck-1')), 'also of a vehicle that was cut before').toEqual(conflict);
    expect((await order('otto', 'truck-5')).status).toBe(200);
    expect((await get('olga', '/command/limits/authorization')).json()).toMatchObject({
      isBreakerOpen: true,
      breakerOpenedBy: 'olga',
      cutsPerHour: 3,
      cuts: 3,
      accountCuts: 4,
    });
    expect((await get('otto', '/command/limits/authorization')).json()).toMatchObject({
      isBreakerOpen: false,
      stoppedUsers: ['olga'],
    });
    expect(await audit()).toContainEqual({ actor: 'olga', action: 'command.tripbreaker', object: 'olga' });
    expect(seen(await post('olga', '/command/resetbreaker', { reason: 'x' }))).toMatchObject({ status: 422 });
    service.advance(1000);
    expect((await post('anna', '/command/resetbreaker', { reason: 'agreed' })).json()).toMatchObject({
      stoppedUsers: [],
      accountCuts: 0,
    });
    expect((await order('olga', 'truck-4')).status).toBe(200);
  });

  it('count vehicles, so that one vehicle that is cut again and again takes no cut from the others', async () => {
    const { order, service } = await start();
    await service.sql("UPDATE accounts SET cuts_per_hour = 3 WHERE account_id = 'acme'");
    for (let minute = 0; minute < 10; minute++) {
      for (let time = 0; time < 4; time++) {
        expect((await order('admin', 'truck-1')).status).toBe(200);
        expect((await order('admin', 'truck-1', { state: '0' })).status).toBe(200);
      }
      service.advance(61_000);
    }
    for (const truck of ['truck-2', 'truck-3']) expect((await order('admin', truck)).status).toBe(200);
    expect((await order('admin', 'truck-1')).status, 'counted already').toBe(200);
    expect(seen(await order('admin', 'truck-4'))).toEqual(conflict);
  });

  it('let 10 commands a minute go to one vehicle, which take none from the others', async () => {
    const { order } = await start();
    const flip = async () => {
      await order('olga', 'truck-1', { state: '0' });
      return order('olga', 'truck-1');
    };
    for (let time = 0; time < 10; time++) expect((await flip()).status).toBe(200);
    expect(seen(await flip())).toEqual({ status: 503, code: 'throttled' });
    expect((await order('olga', 'truck-2')).status).toBe(200);
  });

  it('let an account cut three times as often as one of its users', async () => {
    const { cuts, order, service } = await start();
    await service.sql("UPDATE accounts SET cuts_per_hour = 2 WHERE account_id = 'acme'");
    await cuts('olga', 2);
    await cuts('otto', 2, 3);
    await cuts('anna', 2, 5);
    expect(seen(await order('admin', 'truck-7'))).toEqual(conflict);
  });

  it('hold when many cut at once', async () => {
    const { order, service } = await start();
    await service.sql("UPDATE accounts SET cuts_per_hour = 4 WHERE account_id = 'acme'");
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_unused, at) => order('olga', `truck-${at + 1}`)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    const [found] = await service.sql("SELECT COUNT(*) AS cuts FROM commands WHERE state = '1'");
    expect(found?.rows).toEqual([{ cuts: 4 }]);
  });

  it('count the cuts of one hour', async () => {
    const { cuts, order, service } = await start();
    await service.sql("UPDATE accounts SET cuts_per_hour = 3 WHERE account_id = 'acme'");
    await cuts('olga', 3);
    service.advance(3_600_000);
    expect((await order('olga', 'truck-4')).status).toBe(200);
  });

  it('count requests to a second user', async () => {
    const { cuts, order, service } = await start();
    await service.sql("UPDATE accounts SET cuts_per_hour = 2, needs_approval = 1 WHERE account_id = 'acme'");
    expect((await cuts('olga', 2)).map((answer) => answer.json()['commandState'])).toEqual([
      'approval',
      'approval',
    ]);
    expect((await order('olga', 'truck-1')).status, 'what waits already is no new request').toBe(200);
    expect(seen(await order('olga', 'truck-3'))).toEqual(conflict);
    expect((await order('otto', 'truck-4')).status).toBe(200);
  });

  it('allow no cut at all at 0, without opening the breaker', async () => {
    const { order, get, service } = await start();
    await service.sql("UPDATE accounts SET cuts_per_hour = 0 WHERE account_id = 'acme'");
    expect(seen(await order('olga', 'truck-1'))).toEqual(conflict);
    expect((await get('olga', '/command/limits/authorization')).json()).toMatchObject({
      isBreakerOpen: false,
    });
  });
});

describe('the open breaker', () => {
  it('is reset by an administrator who did not open it, and counting restarts', async () => {
    const { cuts, order, post, audit, service } = await start();
    await service.sql("UPDATE accounts SET cuts_per_hour = 2 WHERE account_id = 'acme'");
    await cuts('admin', 3);
    const reason = { reason: 'a convoy was stolen' };
    expect(seen(await post('admin', '/command/resetbreaker', reason))).toEqual(conflict);
    expect(seen(await post('olga', '/command/resetbreaker', reason))).toEqual({
      status: 422,
      code: 'forbidden',
    });
    await service.sql(`UPDATE users SET granted_s = ${Math.floor(Date.now() / 1000)} WHERE user_id = 'anna'`);
    expect(seen(await post('anna', '/command/resetbreaker', reason)), 'made a moment ago').toEqual(conflict);
    await service.sql("UPDATE users SET granted_s = 0 WHERE user_id = 'anna'");
    const reset = await post('anna', '/command/resetbreaker', reason);
    expect(reset.json()).toMatchObject({ isBreakerOpen: false, accountCuts: 0 });
    expect((await post('anna', '/command/resetbreaker', reason)).status).toBe(200);
    expect((await order('admin', 'truck-9')).status).toBe(200);
    expect((await audit()).filter((entry) => JSON.stringify(entry).includes('resetbreaker'))).toHaveLength(1);
  });
});

describe('a firmware job', () => {
  const job = {
    deviceID: 'truck-1',
    version: '1.4.0',
    url: 'https://updates.example.com/agent.deb',
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  };

  it('is a command of its own kind, replaced by a newer one, and lives for 7 days', async () => {
    const { service, post, get } = await start();
    const first = (await post('anna', '/command/firmware', job)).json();
    expect(first).toMatchObject({ feature: 'firmware', commandState: 'requested', approvalID: '' });
    expect(Number(first['expires']) - Date.now() / 1000).toBeGreaterThan(6.9 * 86_400);
    expect((await post('anna', '/command/firmware', job)).json()).toMatchObject({
      commandID: first['commandID'],
    });
    service.advance(10);
    const second = (await post('anna', '/command/firmware', { ...job, version: '1.5.0' })).json();
    expect(second['commandID']).not.toBe(first['commandID']);
    const listed = (await get('olga', '/command/list/truck-1/authorization')).json();
    expect(listed['commands']).toMatchObject([
      { feature: 'firmware', commandState: 'requested' },
      { feature: 'firmware', commandState: 'superseded' },
    ]);
    const device = (await get('olga', '/device/getdevice/truck-1/authorization')).json();
    expect(device['hasPendingCommands'], 'it is no pending feature').toBe('false');
  });

  it('is for administrators, and for addresses that the operator of the service has listed', async () => {
    const { post } = await start();
    expect(seen(await post('olga', '/command/firmware', job))).toEqual({ status: 422, code: 'forbidden' });
    const bad = [
      'http://updates.example.com/agent.deb',
      'https://evil.example.com/agent.deb',
      'https://updates.example.com.evil.example/agent.deb',
      'https://updates.example.com:8443/agent.deb',
      'https://user:secret@updates.example.com/agent.deb',
      'https://evil.example@updates.example.com/agent.deb',
      'https://updates.example.com/agent.deb#x',
      'ftp://updates.example.com/x',
      '//updates.example.com/x',
      'updates.example.com',
      'javascript:alert(1)',
    ];
    for (const url of bad) {
      expect(seen(await post('anna', '/command/firmware', { ...job, url })), url).toEqual({
        status: 422,
        code: 'invalid_content',
      });
    }
    expect((await post('anna', '/command/firmware', { ...job, sha256: 'ABC' })).status).toBe(422);
  });

  it('takes a listed host at port 443, and another port where it is listed with the host', async () => {
    const { service, post } = await start();
    const order = async (host: string): Promise<string> => {
      service.advance(10);
      const url = `https://${host}/agent.deb`;
      const { status, text } = await post('anna', '/command/firmware', { ...job, url });
      return status === 200 ? 'allowed' : text;
    };
    for (const host of ['updates.example.com', 'files.example.com', 'mirror.example.com:8443']) {
      expect(await order(host), host).toBe('allowed');
      if (!host.includes(':')) expect(await order(`${host}:443`), `${host}:443`).toBe('allowed');
    }
    for (const host of ['updates.example.com:8443', 'files.example.com:44', 'mirror.example.com']) {
      const refused = await order(host);
      expect(refused).toContain('a host and port that the service allows');
      expect(refused).toContain('as host for port 443 or as host:port');
    }
  });

  it('never shows the part of the URL that may give access to the file', async () => {
    const { service, post, get } = await start();
    const url = `${job.url}?signature=SECRET`;
    const { commandID } = (await post('anna', '/command/firmware', { ...job, url })).json();
    const shown = await get('anna', `/command/get/${String(commandID)}/authorization`);
    const [audit] = await service.sql('SELECT detail FROM audit');
    for (const text of [shown.text, JSON.stringify(audit?.rows), service.logLines.join()]) {
      expect(text).not.toContain('SECRET');
    }
  });

  it('can be withdrawn while it executes, which takes days; the unit decides', async () => {
    const { service, post, get } = await start();
    const { commandID } = (await post('anna', '/command/firmware', job)).json();
    const report = (seq: number, statusCode: number, commandState: string) =>
      service.events('acme', 'truck-1', {
        boot: 'b1',
        events: [{ seq, timestamp: Date.now(), statusCode, commandID, commandState }],
      });
    await report(1, 64_834, 'executing');
    const withdrawn = await post('anna', '/command/cancel', { commandID });
    expect([withdrawn.status, withdrawn.json()['commandState']]).toEqual([200, 'executing']);
    await report(2, 4358, 'cancelled');
    expect((await get('olga', `/command/get/${String(commandID)}/authorization`)).json()).toMatchObject({
      commandState: 'cancelled',
      hasEnded: true,
    });
  });

  it('follows the events of the unit, in whatever order they come', async () => {
    const { service, post, get } = await start();
    const { commandID } = (await post('anna', '/command/firmware', job)).json();
    const timestamp = Date.now();
    const failed = {
      seq: 2,
      timestamp,
      statusCode: 64_836,
      commandID,
      commandState: 'refused',
      attributes: { version: '1.4.0', reason: 'this unit is updated by its package manager' },
    };
    const begun = { seq: 1, timestamp, statusCode: 64_834, commandID, commandState: 'executing' };
    for (const event of [failed, begun, failed])
      await service.events('acme', 'truck-1', { boot: 'b1', events: [event] });
    expect((await get('olga', `/command/get/${String(commandID)}/authorization`)).json()).toMatchObject({
      commandState: 'refused',
      detail: 'this unit is updated by its package manager',
      hasEnded: true,
    });
  });
});
