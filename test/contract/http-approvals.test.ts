// The rule that an engine cut needs a second user: who may say yes, when it is too late, and that one person alone never
// cuts, whatever calls that person makes in whatever order.
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { isOnPostgres } from '../support/database/test-database.ts';
import { type Call, password, startHttpService } from '../support/http/http-service.ts';
import { hangMs } from '../support/machine/wait-until.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

/** An account with the rule on, three people and a truck. */
async function start() {
  const service = await startHttpService();
  open.push(service);
  await service.account('acme');
  await service.user('acme', 'olga', 'operator');
  await service.user('acme', 'otto', 'operator');
  await service.user('acme', 'guest', 'viewer');
  await service.device('acme', 'truck-1');
  await service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
  const tokens = {
    admin: await service.login('acme', 'admin'),
    olga: await service.login('acme', 'olga'),
    otto: await service.login('acme', 'otto'),
    guest: await service.login('acme', 'guest'),
  };
  const post = (who: keyof typeof tokens, path: string, body: unknown) =>
    service.call({
      method: 'POST',
      path: `/api/v1/command/${path}/authorization`,
      token: tokens[who],
      body,
    });
  const cut = (who: keyof typeof tokens, changes: object = {}) =>
    post(who, 'feature', { deviceID: 'truck-1', feature: 'enginecutoff', state: '1', ...changes });
  const commands = async (): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const [result] = await service.sql('SELECT * FROM commands ORDER BY issued_ms');
    return result?.rows ?? [];
  };
  const device = async (): Promise<Readonly<Record<string, unknown>>> =>
    (
      await service.call({ path: '/api/v1/device/getdevice/truck-1/authorization', token: tokens.guest })
    ).json();
  const ask = async (): Promise<string> => String((await cut('olga')).json()['approvalID']);
  return { service, tokens, post, cut, ask, commands, device };
}

const refused = (status: number, code: string) => ({ status, code });
const seen = (answer: Awaited<ReturnType<Service['call']>>) => ({
  status: answer.status,
  code: (answer.json()['error'] as { code?: string } | undefined)?.code,
});

describe('a cut in an account that wants a second user', () => {
  it('waits, whichever path it comes by, and nothing is recorded as a command', async () => {
    const { service, tokens, cut, commands, device } = await start();
    const answer = await cut('olga', { reason: 'stolen', ttl: 3600 });
    expect(answer.json()).toMatchObject({
      commandID: '',
      commandState: 'approval',
      pendingState: '1',
      approvalID: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const { approvalID } = answer.json();
    const send = await service.call({
      path: '/api/v1/command/send/truck-1/63680/authorization',
      token: tokens.otto,
    });
    expect(send.json()).toMatchObject({ commandState: 'approval', approvalID });
    const update = await service.call({
      method: 'POST',
      path: '/api/v1/device/updatedevice/enginecutoff/authorization',
      token: tokens.admin,
      body: { deviceID: 'truck-1', state: '1' },
    });
    const waiting = {
      hasPendingCommands: 'true',
      state: {
        enginecutoff: {
          state: '0',
          pendingState: '1',
          commandState: 'approval',
          commandID: null,
          approvalID,
          pendingReason: 'Waits for the approval of a second user',
        },
      },
    };
    expect(update.json()).toMatchObject(waiting);
    expect(await device()).toMatchObject(waiting);
    const all = await service.call({
      path: '/api/v1/device/getalldevices/authorization',
      token: tokens.guest,
    });
    expect(all.json()['devices']).toMatchObject([waiting]);
    expect(await commands()).toEqual([]);
  });

  it('is sent when another operator approves, with both names', async () => {
    const { post, ask, commands, service, tokens } = await start();
    const approvalID = await ask();
    const approved = await post('otto', 'approve', { approvalID });
    expect(approved.json()).toMatchObject({ feature: 'enginecutoff', commandState: 'requested', approvalID });
    expect(await commands()).toMatchObject([
      { issuer: 'olga', approver: 'otto', approval_id: approvalID, feature: 'enginecutoff', state: '1' },
    ]);
    const path = `/api/v1/command/get/${String(approved.json()['commandID'])}/authorization`;
    const record = await service.call({ path, token: tokens.guest });
    expect(record.json()).toMatchObject({ issuer: 'olga', approver: 'otto', approvalID });
    const [audit] = await service.sql(
      "SELECT actor, action FROM audit WHERE action LIKE 'command.%' ORDER BY audit_no",
    );
    expect(audit?.rows).toEqual([
      { actor: 'olga', action: 'command.askapproval' },
      { actor: 'otto', action: 'command.approve' },
    ]);
  });

  it('is never approved by its requester, by a viewer, or twice', async () => {
    const { post, ask, commands } = await start();
    const approvalID = await ask();
    expect(seen(await post('olga', 'approve', { approvalID }))).toEqual(refused(422, 'conflict'));
    expect(seen(await post('guest', 'approve', { approvalID }))).toEqual(refused(422, 'forbidden'));
    expect(await commands()).toEqual([]);
    expect((await post('otto', 'approve', { approvalID })).status).toBe(200);
    expect(seen(await post('admin', 'approve', { approvalID }))).toEqual(refused(422, 'conflict'));
    expect(await commands()).toHaveLength(1);
  });

  it('gives one command when two approve at once', async () => {
    const { post, ask, commands } = await start();
    const approvalID = await ask();
    const answers = await Promise.all([
      post('otto', 'approve', { approvalID }),
      post('admin', 'approve', { approvalID }),
      post('otto', 'approve', { approvalID }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(2);
    expect(await commands()).toHaveLength(1);
  });

  it('is not for a user who does not see the device, nor for another account', async () => {
    const { service, post, ask, commands } = await start();
    const approvalID = await ask();
    await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'otto'");
    expect(seen(await post('otto', 'approve', { approvalID }))).toEqual(refused(404, 'not_found'));
    await service.account('rival');
    const token = await service.login('rival', 'admin');
    const foreign: Call = {
      method: 'POST',
      path: '/api/v1/command/approve/authorization',
      token,
      body: { approvalID },
    };
    expect(seen(await service.call(foreign))).toEqual(refused(404, 'not_found'));
    expect(await commands()).toEqual([]);
  });

  it.each(['otto', 'olga'])('needs %s to have been an operator for a day', async (userID) => {
    const { service, post, ask, commands } = await start();
    const approvalID = await ask();
    const nowS = Math.floor(Date.now() / 1000);
    await service.sql(`UPDATE users SET granted_s = ${nowS - 3600} WHERE user_id = '${userID}'`);
    expect(seen(await post('otto', 'approve', { approvalID }))).toEqual(refused(422, 'conflict'));
    await service.sql(`UPDATE users SET granted_s = ${nowS - 86_401} WHERE user_id = '${userID}'`);
    expect((await post('otto', 'approve', { approvalID })).status).toBe(200);
    expect(await commands()).toHaveLength(1);
  });

  it('is not sent for a user who was suspended meanwhile', async () => {
    const { service, post, ask } = await start();
    const approvalID = await ask();
    await service.sql("UPDATE users SET is_active = 0 WHERE user_id = 'olga'");
    expect(seen(await post('otto', 'approve', { approvalID }))).toEqual(refused(422, 'conflict'));
  });

  it('waits for 15 minutes at most, and not longer than the command may live', async () => {
    const { service, cut, post, ask, device } = await start();
    const approvalID = await ask();
    service.advance(15 * 60_000 + 1000);
    expect(seen(await post('otto', 'approve', { approvalID }))).toEqual(refused(422, 'conflict'));
    const second = await cut('olga', { ttl: 60 });
    expect(second.json()['approvalID']).not.toBe(approvalID);
    service.advance(61_000);
    const late = { approvalID: second.json()['approvalID'] };
    expect(seen(await post('otto', 'approve', late))).toEqual(refused(422, 'conflict'));
    await service.sql("UPDATE approvals SET approval_state = 'expired'");
    expect(await device()).toMatchObject({ hasPendingCommands: 'false' });
  });

  it('lives from the request on, not from the approval', async () => {
    const { service, cut, post } = await start();
    const asked = (await cut('olga', { ttl: 600 })).json();
    service.advance(300_000);
    const approved = (await post('otto', 'approve', { approvalID: asked['approvalID'] })).json();
    expect(approved['expires']).toBe(asked['expires']);
  });

  it('can be refused by another user and withdrawn by its requester', async () => {
    const { post, ask, commands } = await start();
    const first = { approvalID: await ask() };
    expect(seen(await post('olga', 'refuse', first))).toEqual(refused(422, 'conflict'));
    expect(seen(await post('otto', 'withdraw', first))).toEqual(refused(422, 'conflict'));
    expect((await post('otto', 'refuse', first)).json()).toMatchObject({
      approvalState: 'refused',
      decidedBy: 'otto',
    });
    expect(seen(await post('admin', 'approve', first))).toEqual(refused(422, 'conflict'));
    const second = { approvalID: await ask() };
    expect((await post('olga', 'withdraw', second)).json()).toMatchObject({ approvalState: 'withdrawn' });
    expect(seen(await post('otto', 'approve', second))).toEqual(refused(422, 'conflict'));
    expect(await commands()).toEqual([]);
  });

  it('keeps the reason of a refusal with the request and in the audit log, and takes none that is malformed', async () => {
    const { post, ask, service, tokens } = await start();
    const approvalID = await ask();
    for (const reason of ['a\nb', 'x'.repeat(201), 7, null])
      expect((await post('otto', 'refuse', { approvalID, reason })).status).toBe(422);
    expect(seen(await post('otto', 'withdraw', { approvalID, reason: 'mine' })).status).toBe(422);
    const answer = await post('otto', 'refuse', { approvalID, reason: 'wrong vehicle' });
    expect(answer.json()).toMatchObject({ approvalState: 'refused', decidedReason: 'wrong vehicle' });
    const all = await service.call({
      path: '/api/v1/command/approvals/authorization?state=all',
      token: tokens.olga,
    });
    expect(all.json()['approvals']).toMatchObject([{ decidedBy: 'otto', decidedReason: 'wrong vehicle' }]);
    const [audit] = await service.sql(
      "SELECT detail FROM audit WHERE action = 'command.refuse' ORDER BY audit_no",
    );
    expect(JSON.parse(String(audit?.rows[0]?.['detail']))).toEqual({ approvalID, reason: 'wrong vehicle' });
  });

  it('says to each user whether that user counts as a second person', async () => {
    const { service, tokens } = await start();
    const limits = async (token: string) =>
      (await service.call({ path: '/api/v1/command/limits/authorization', token })).json();
    expect(await limits(tokens.otto)).toMatchObject({ isSecondPerson: true });
    await service.sql("UPDATE users SET granted_by = 'admin' WHERE user_id = 'otto'");
    expect(await limits(tokens.otto)).toMatchObject({ isSecondPerson: false });
    expect(await limits(tokens.olga)).toMatchObject({ isSecondPerson: true });
  });

  it('is withdrawn by a restore, which needs no second user', async () => {
    const { cut, post, ask, commands, service, tokens } = await start();
    const approvalID = await ask();
    expect((await cut('otto', { state: '0' })).json()).toMatchObject({
      state: '0',
      commandState: 'requested',
    });
    expect(seen(await post('otto', 'approve', { approvalID }))).toEqual(refused(422, 'conflict'));
    expect(await commands()).toMatchObject([{ state: '0' }]);
    const all = await service.call({
      path: '/api/v1/command/approvals/authorization?state=all',
      token: tokens.guest,
    });
    expect(all.json()['approvals']).toMatchObject([{ approvalState: 'withdrawn', decidedBy: 'otto' }]);
    const [audit] = await service.sql(
      "SELECT actor FROM audit WHERE action = 'command.withdraw' ORDER BY audit_no",
    );
    expect(audit?.rows).toEqual([{ actor: 'otto' }]);
    const waiting = await service.call({
      path: '/api/v1/command/approvals/authorization',
      token: tokens.guest,
    });
    expect(waiting.json()['approvals']).toEqual([]);
  });

  it('waits also where the rule is switched on while it is asked for', async () => {
    const { service, post, cut } = await start();
    const states = new Set<unknown>();
    const beganMs = performance.now();
    // On a slow machine an answer takes more turns of the event loop: they grow until the rule came too late for one.
    for (let turns = 0; turns < 40 || states.size < 2; turns += turns < 40 ? 1 : Math.ceil(turns / 8)) {
      if (performance.now() - beganMs > hangMs) break;
      await service.sql(
        "UPDATE accounts SET needs_approval = 0, cuts_since_ms = 0 WHERE account_id = 'acme'",
      );
      await service.sql('DELETE FROM commands');
      const asked = cut('olga');
      for (let turn = 0; turn < turns; turn++) await new Promise<void>((done) => void setImmediate(done));
      await service.sql('UPDATE accounts SET needs_approval = 1');
      const answer = await asked;
      expect([turns, seen(answer)]).toEqual([turns, { status: 200, code: undefined }]);
      states.add(answer.json()['commandState']);
      await post('olga', 'feature', { deviceID: 'truck-1', feature: 'enginecutoff', state: '0' });
      await service.sql('DELETE FROM approvals');
      await service.sql('DELETE FROM commands');
    }
    expect(states).toEqual(new Set(['approval', 'requested']));
  });

  it('does not hold up cargo, and not the engine once the rule is off', async () => {
    const { service, cut } = await start();
    expect((await cut('olga', { feature: 'cargoaccess' })).json()).toMatchObject({
      commandState: 'requested',
    });
    await service.sql('UPDATE accounts SET needs_approval = 0');
    expect((await cut('olga')).json()).toMatchObject({ commandState: 'requested', approvalID: '' });
  });
});

/** What one person can do: under the own name, by a token for programs, or by a user that the person made or took over. */
const names = ['self', 'program', 'puppet', 'stolen'] as const;
/** Columns that put the rows of a table into the order in which they were made. */
const orders: Readonly<Record<string, string>> = isOnPostgres
  ? { approvals: 'requested_ms', commands: 'issued_ms' }
  : { approvals: 'rowid', commands: 'rowid' };
const acts = [
  'cut',
  'send',
  'update',
  'approve',
  'refuse',
  'withdraw',
  'cancel',
  'restore',
  'createDevice',
  'importDevice',
  'ruleOff',
  'limitUp',
  'resetBreaker',
  'wait',
  'waitDays',
  'confirm',
  'regrant',
] as const;

async function onePerson() {
  const base = await start();
  const { service, tokens } = base;
  const post = (path: string, token: string, body: unknown) =>
    service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token, body });
  // Another administrator, who does nothing.
  await service.user('acme', 'berta', 'admin');
  const program = await post('/auth/token', tokens.admin, { description: 'script' });
  await post('/user/createuser', tokens.admin, { userID: 'puppet', password, roleID: 'operator' });
  await post('/user/updateuser', tokens.admin, { userID: 'otto', password: `${password}!` });
  const stolen = await service.call({
    method: 'POST',
    path: '/api/v1/auth/login',
    body: { accountID: 'acme', userID: 'otto', password: `${password}!` },
  });
  const token = {
    self: tokens.admin,
    program: String(program.json()['token']),
    puppet: await service.login('acme', 'puppet'),
    stolen: String(stolen.json()['token']),
  };
  for (const one of Object.values(token)) expect(one).toMatch(/^acme%7C/);
  return { ...base, token, postTo: post };
}

async function act(
  person: Awaited<ReturnType<typeof onePerson>>,
  { what, who }: { readonly what: (typeof acts)[number]; readonly who: (typeof names)[number] },
): Promise<void> {
  const { service, postTo, token } = person;
  const as = token[who];
  const request = (state: string) => ({ deviceID: 'truck-1', feature: 'enginecutoff', state });
  const newest = async (table: string, column: string): Promise<string> => {
    const [found] = await service.sql(
      `SELECT ${column} AS id FROM ${table} ORDER BY ${orders[table]} DESC LIMIT 1`,
    );
    return String(found?.rows[0]?.['id'] ?? 'none');
  };
  const decide = async (verb: string) =>
    postTo(`/command/${verb}`, as, { approvalID: await newest('approvals', 'approval_id') });
  switch (what) {
    case 'cut':
      return void (await postTo('/command/feature', as, request('1')));
    case 'send':
      return void (await service.call({
        path: '/api/v1/command/send/truck-1/63680/authorization',
        token: as,
      }));
    case 'update':
      return void (await postTo('/device/updatedevice/enginecutoff', as, {
        deviceID: 'truck-1',
        state: '1',
      }));
    case 'approve':
    case 'refuse':
    case 'withdraw':
      return void (await decide(what));
    case 'cancel':
      return void (await postTo('/command/cancel', as, {
        commandID: await newest('commands', 'command_id'),
      }));
    case 'restore':
      return void (await postTo('/command/feature', as, request('0')));
    case 'createDevice':
      return void (await postTo('/device/createdevice', as, { deviceID: 'truck-1', deviceDriver: 'x' }));
    case 'importDevice':
      return void (await postTo('/device/import', as, { csv: 'deviceID,deviceDriver\ntruck-1,y\n' }));
    case 'ruleOff':
      return void (await postTo('/auth/updateaccount', as, { accountID: 'acme', needsApproval: false }));
    case 'limitUp':
      return void (await postTo('/auth/updateaccount', as, { accountID: 'acme', cutsPerHour: 1000 }));
    case 'resetBreaker':
      return void (await postTo('/command/resetbreaker', as, { reason: 'because' }));
    case 'waitDays':
      return service.advance(2 * 24 * 3_600_000);
    case 'confirm':
      for (const userID of ['puppet', 'otto', 'admin']) await postTo('/user/confirmuser', as, { userID });
      return;
    case 'regrant':
      return void (await postTo('/user/updateuser', as, { userID: 'puppet', roleID: 'admin' }));
    case 'wait':
      return service.advance(16 * 60_000);
  }
}

it('never lets one person alone cut an engine, with any sequence of calls under several users', {
  timeout: 600_000,
}, async () => {
  const step = fc.record({ what: fc.constantFrom(...acts), who: fc.constantFrom(...names) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
      const person = await onePerson();
      for (const one of steps) await act(person, one);
      const cuts = (await person.commands()).filter(({ state }) => state === '1');
      await person.service.close();
      open.splice(open.indexOf(person.service), 1);
      expect(cuts).toEqual([]);
    }),
    { numRuns: Number(process.env['FLEETWARD_TEST_APPROVAL_RUNS'] ?? 25) },
  );
});
