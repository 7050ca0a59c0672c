// Why a command waits, over HTTP: the rules that the vehicle reported, the sentence that is made from them, and the states of
// the witnesses in its hello. What a vehicle sends in their place, however odd, never breaks an answer.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findDevice, recordHello } from '../../broker/store/devices/devices.ts';
import {
  type RuleFinding,
  verdictAttributes,
  verdictLimits,
  verdictOf,
} from '../../src/core/verdict/verdict.ts';
import { decodeHello } from '../../src/core/wire/wire.ts';
import { helloOf, jsonBytes } from '../support/broker/broker-bench.ts';
import { readStream, type StreamReader } from '../support/http/event-stream.ts';
import { holdClock } from '../support/http/held-clock.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

const sinceMs = 1_767_614_400_000;
const ignitionOn: RuleFinding = { rule: 'ignition_off', isMet: false, value: 'on', needed: 'off', sinceMs };
const moving: RuleFinding = { rule: 'speed_kmh', isMet: false, value: 53.6, needed: 1, sinceMs: null };
const timeKnown: RuleFinding = { rule: 'time_known', isMet: true, value: 'known', needed: 'known', sinceMs };
const driving = verdictOf([ignitionOn, moving, timeKnown]);
const standing = verdictOf([ignitionOn, { ...moving, isMet: true, value: 0 }, timeKnown]);
/** As answers show them: those that are not met first. */
const drivingView = { code: 'ignition_off', rules: [ignitionOn, moving, timeKnown] };

let service: HttpService;
let port = 0;
const tokens = { acme: '', rival: '' };
beforeAll(async () => {
  service = await startHttpService();
  port = await service.http.listen({ host: '127.0.0.1', port: 0 });
  for (const accountID of ['acme', 'rival'] as const) {
    await service.account(accountID);
    tokens[accountID] = await service.login(accountID, 'admin');
  }
});
afterAll(() => service.close());

let deviceID = '';
let number = 0;
beforeEach(async () => {
  number += 1;
  deviceID = `truck-${number}`;
  for (const accountID of ['acme', 'rival']) await service.device(accountID, deviceID);
  // Commands of earlier tests must not count towards the limits of the account.
  await service.sql("UPDATE commands SET is_final = 1, issued_ms = issued_ms - 7200000 WHERE state = '1'");
  await service.sql('UPDATE accounts SET breaker_s = NULL, breaker_by = NULL');
  await service.sql('UPDATE users SET breaker_s = NULL');
});

const open = new Set<StreamReader>();
afterEach(async () => {
  for (const reader of open) reader.close();
  for (const reader of open) await reader.ended;
  open.clear();
});

type AccountID = keyof typeof tokens;
const get = async (path: string, accountID: AccountID = 'acme') =>
  (await service.call({ path: `/api/v1${path}`, token: tokens[accountID] })).json();

/** Asks for a change; gives the id of the command. */
async function order(changes: object = {}, accountID: AccountID = 'acme'): Promise<string> {
  const body = { deviceID, feature: 'enginecutoff', state: '1', ...changes };
  const path = '/api/v1/command/feature/authorization';
  const answer = await service.call({ method: 'POST', path, token: tokens[accountID], body });
  expect(answer.status).toBe(200);
  return String(answer.json()['commandID']);
}

let seq = 0;
interface Report {
  readonly commandState?: string;
  readonly agoMs?: number;
  readonly accountID?: AccountID;
}
/** The vehicle reports a state of a command with these attributes. */
async function report(commandID: string, attributes: object, options: Report = {}): Promise<void> {
  const { commandState = 'armed', agoMs = 0, accountID = 'acme' } = options;
  seq += 1;
  const event = { seq, timestamp: Date.now() - agoMs, statusCode: 4353, commandID, commandState, attributes };
  await service.events(accountID, deviceID, { boot: 'reports', events: [event] });
}

const command = (commandID: string, accountID: AccountID = 'acme') =>
  get(`/command/get/${commandID}/authorization`, accountID);
async function state(accountID: AccountID = 'acme', feature = 'enginecutoff') {
  const device = await get(`/device/getdevice/${deviceID}/authorization`, accountID);
  return (device['state'] as Record<string, Record<string, unknown>>)[feature];
}

describe('the verdict of a waiting command', () => {
  it('shows its rules, a sentence and a hint wherever the command is shown', async () => {
    // A request counts as a repeat for some seconds.
    onTestFinished(holdClock(service));
    const beganS = Math.floor(service.api.clock.utcMs() / 1000);
    const commandID = await order();
    await report(commandID, verdictAttributes(driving));
    const reason = 'Ignition is on; The vehicle moves at 54 km/h';
    const asked = await service.call({
      method: 'POST',
      path: '/api/v1/command/feature/authorization',
      token: tokens.acme,
      body: { deviceID, feature: 'enginecutoff', state: '1' },
    });
    // The same request within some seconds is the same command.
    expect(asked.json()).toMatchObject({ commandID, verdict: { ...drivingView, at: expect.any(Number) } });
    const { at } = (await command(commandID))['verdict'] as { readonly at: number };
    expect(at).toBeGreaterThanOrEqual(beganS);
    expect(at).toBeLessThanOrEqual(Date.now() / 1000);
    const shown = {
      verdict: { ...drivingView, at },
      detail: reason,
      hint: expect.stringMatching(/^Switch the ignition/),
    };
    expect(await command(commandID)).toMatchObject({ commandState: 'armed', ...shown });
    const list = await get(`/command/list/${deviceID}/authorization`);
    expect(list['commands']).toMatchObject([{ commandID, ...shown }]);
    expect(await state()).toMatchObject({ pendingReason: reason, verdict: drivingView });
    expect(await state('acme', 'cargoaccess')).toMatchObject({ pendingReason: null, verdict: null });
    const all = await get('/device/getalldevices/authorization?fields=state');
    expect(all['devices']).toContainEqual({
      deviceID,
      state: expect.objectContaining({ enginecutoff: await state() }),
    });
  });

  it('is null before the first report, is replaced by each, and is null where a confirmation has none', async () => {
    const commandID = await order();
    expect(await command(commandID)).toMatchObject({ verdict: null, hint: null, detail: '' });
    await report(commandID, verdictAttributes(driving));
    await report(commandID, verdictAttributes(standing));
    expect(await command(commandID)).toMatchObject({
      verdict: { code: 'ignition_off', rules: [ignitionOn, { rule: 'speed_kmh', isMet: true }, timeKnown] },
      detail: 'Ignition is on',
    });
    await report(commandID, {});
    expect(await command(commandID)).toMatchObject({ commandState: 'armed', verdict: null, detail: '' });
    await report(commandID, verdictAttributes(driving));
    await report(commandID, {}, { commandState: 'confirmed' });
    expect(await command(commandID)).toMatchObject({
      commandState: 'confirmed',
      verdict: null,
      hint: null,
      detail: '',
    });
    expect(await state()).toMatchObject({ pendingReason: null, verdict: null, commandState: null });
  });

  it('of a confirmation is kept with the command as the proof that it was carried out on', async () => {
    const commandID = await order();
    await report(commandID, verdictAttributes(driving));
    const parked = verdictOf([{ ...ignitionOn, isMet: true, value: 'off' }, timeKnown]);
    await report(commandID, verdictAttributes(parked), { commandState: 'confirmed' });
    const shown = { commandState: 'confirmed', verdict: parked, detail: '', hint: null };
    expect(await command(commandID)).toMatchObject(shown);
    const list = await get(`/command/list/${deviceID}/authorization`);
    expect(list['commands']).toMatchObject([shown]);
    expect(await state()).toMatchObject({ pendingReason: null, verdict: null, commandState: null });
  });

  it('stays while a report comes late, or comes after a later state', async () => {
    const commandID = await order();
    await report(commandID, verdictAttributes(driving));
    await report(commandID, { reason: 'late' }, { agoMs: 60_000 });
    await report(commandID, verdictAttributes(standing), { commandState: 'received' });
    expect(await command(commandID)).toMatchObject({ verdict: drivingView, commandState: 'armed' });
    await report(commandID, { reason: 'too often' }, { commandState: 'refused' });
    await report(commandID, verdictAttributes(standing));
    expect(await command(commandID)).toMatchObject({ verdict: null, detail: 'too often' });
  });

  it('of a device is not shown by an equally named device of another account', async () => {
    const ours = await order();
    const theirs = await order({}, 'rival');
    await report(ours, verdictAttributes(driving));
    await report(ours, verdictAttributes(standing), { accountID: 'rival' });
    expect(await state()).toMatchObject({ verdict: drivingView });
    expect(await state('rival')).toMatchObject({ verdict: null, commandID: theirs });
    expect(await command(ours, 'rival')).toMatchObject({ error: { code: 'not_found' } });
  });

  it('changes the ETag of the list of devices', async () => {
    const commandID = await order();
    await report(commandID, verdictAttributes(driving));
    const path = '/api/v1/device/getalldevices/authorization?fields=state';
    const read = (etag = '') =>
      service.call({ path, token: tokens.acme, headers: etag === '' ? {} : { 'if-none-match': etag } });
    const etag = String((await read()).headers['etag']);
    expect((await read(etag)).status).toBe(304);
    await report(commandID, verdictAttributes(standing));
    const changed = await read(etag);
    expect(changed.status).toBe(200);
    expect(changed.headers['etag']).not.toBe(etag);
  });

  it('comes over the live stream at each change', async () => {
    const reader = await readStream({ port, token: tokens.acme, query: `?devices=${deviceID}` });
    open.add(reader);
    await reader.until(({ event }) => event === 'hello');
    const commandID = await order();
    const reported = (code: string | null, isSlow: boolean) =>
      reader.until(({ event, data }) => {
        const verdict = data['verdict'] as typeof drivingView | null;
        const isMet = verdict?.rules.find(({ rule }) => rule === 'speed_kmh')?.isMet ?? isSlow;
        return (
          event === 'command' &&
          data['commandID'] === commandID &&
          (verdict?.code ?? null) === code &&
          isMet === isSlow
        );
      });
    expect((await reported(null, false)).data).toMatchObject({ pendingReason: null });
    await report(commandID, verdictAttributes(driving));
    expect((await reported('ignition_off', false)).data).toMatchObject({
      verdict: { ...drivingView, at: expect.any(Number) },
      pendingReason: 'Ignition is on; The vehicle moves at 54 km/h',
      commandState: 'armed',
    });
    await report(commandID, verdictAttributes(standing));
    expect((await reported('ignition_off', true)).data).toMatchObject({ pendingReason: 'Ignition is on' });
  });

  it('is null while a second user is waited for', async () => {
    await service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
    await order();
    await service.sql("UPDATE accounts SET needs_approval = 0 WHERE account_id = 'acme'");
    expect(await state()).toMatchObject({
      commandState: 'approval',
      verdict: null,
      pendingReason: 'Waits for the approval of a second user',
    });
  });
});

describe('a tracker of another make', () => {
  it('that sends a sentence alone is shown with that sentence and no verdict', async () => {
    const commandID = await order();
    await report(commandID, { reason: 'engine running' });
    expect(await command(commandID)).toMatchObject({ detail: 'engine running', verdict: null, hint: null });
    expect(await state()).toMatchObject({ pendingReason: 'engine running', verdict: null });
  });

  it('that sends both is shown with its own sentence beside the rules', async () => {
    const commandID = await order();
    await report(commandID, { ...verdictAttributes(driving), reason: 'Zündung ein' });
    expect(await command(commandID)).toMatchObject({ detail: 'Zündung ein', verdict: drivingView });
  });

  it('that sends a null character in its sentence breaks no answer', async () => {
    const commandID = await order();
    await report(commandID, { reason: 'a\u0000b' });
    expect(await command(commandID)).toMatchObject({ commandState: 'armed', detail: 'a b' });
  });

  const { rules } = verdictAttributes(driving);
  const deep = `${'['.repeat(700)}${']'.repeat(700)}`;
  it.each([
    ['rules that are no JSON', { code: 'ignition_off', rules: '[[' }],
    ['rules that are deeply nested', { code: 'ignition_off', rules: deep }],
    ['too many rules', { code: 'a', rules: `[${Array(25).fill('["a",0,1,1,1]').join()}]` }],
    ['rules that are too long', { code: 'ignition_off', rules: `${rules}${' '.repeat(1500)}` }],
    ['rules that are a number', { code: 'ignition_off', rules: 7 }],
    ['a code that is a sentence', { code: 'Ignition is on', rules }],
    ['a code that is missing', { rules }],
    ['a value that is a document', { code: 'a', rules: '[["a",0,{"b":1},null,null]]' }],
    ['a value with a null character', { code: 'a', rules: '[["a",0,"\\u0000",null,null]]' }],
    ['an allowed change with a rule that is not met', { code: 'allowed', rules }],
  ])('that sends %s is shown with its sentence only', async (_title, attributes) => {
    const commandID = await order();
    await report(commandID, { ...attributes, reason: 'see the driver' });
    expect(await command(commandID)).toMatchObject({
      status_code: '200',
      commandState: 'armed',
      detail: 'see the driver',
      verdict: null,
    });
  });

  it.each(['constructor', 'valueof', '__proto__', 'tostring', 'hasownproperty', 'witness_constructor'])(
    'that names a rule %s breaks no answer',
    async (name) => {
      const commandID = await order();
      await report(commandID, {
        code: name,
        rules: JSON.stringify([[name, 0, 'constructor', '__proto__', 1]]),
      });
      const shown = await command(commandID);
      expect(shown).toMatchObject({ status_code: '200', hint: null, detail: expect.any(String) });
      expect(JSON.stringify(shown)).not.toMatch(/native code|\[object/);
    },
  );

  it('that sends the longest allowed verdict is shown within bounds', async () => {
    const commandID = await order();
    const finding = `["a",0,1e20,-1e20,${Number.MIN_SAFE_INTEGER}]`;
    const most = `[${Array(verdictLimits.rules).fill(finding).join()}]`;
    await report(commandID, { code: 'a', rules: most });
    expect(most.length).toBeLessThan(verdictLimits.encoded);
    expect((await command(commandID))['verdict']).toMatchObject({ rules: { length: verdictLimits.rules } });
    const [row] = await service.rows(
      `SELECT LENGTH(verdict) AS stored FROM commands WHERE command_id = '${commandID}'`,
    );
    expect(Number(row?.['stored'])).toBeLessThan(8000);
  });
});

describe('the witnesses of a vehicle', () => {
  const witnesses = {
    gnss: 'proven',
    motion: 'absent',
    ignition: 'stale',
    rpm: 'absent',
    voltage: 'unproven',
  };
  const shown = { ...witnesses, at: expect.any(Number) };
  const greet = async (changes: object) => {
    const device = await findDevice(service.db, { accountID: 'acme', deviceID });
    const hello = decodeHello(jsonBytes({ ...helloOf('b1'), ...changes }));
    if (device === null || hello === null) throw new Error('no device, or no hello');
    await service.write([recordHello(device.deviceNo, hello, { atMs: Date.now() })]);
    return (await get(`/device/getdevice/${deviceID}/authorization`))['witnesses'];
  };

  it('are null until it reports them, and those of its newest hello afterwards, with its time', async () => {
    const beganS = Math.floor(Date.now() / 1000);
    expect((await get(`/device/getdevice/${deviceID}/authorization`))['witnesses']).toBeNull();
    const reported = await greet({ witnesses });
    expect(reported).toEqual(shown);
    expect((reported as { readonly at: number }).at).toBeGreaterThanOrEqual(beganS);
    expect(await greet({ witnesses: { ...witnesses, motion: 'proven' } })).toMatchObject({
      motion: 'proven',
    });
    expect(await greet({})).toBeNull();
  });

  it('can be asked for alone, and are not those of another account', async () => {
    await greet({ witnesses });
    const ask = async (accountID: AccountID) =>
      (await get('/device/getalldevices/authorization?fields=witnesses', accountID))['devices'];
    expect(await ask('acme')).toContainEqual({ deviceID, witnesses: shown });
    expect(await ask('rival')).toContainEqual({ deviceID, witnesses: null });
  });

  it.each([
    ['one that is missing', { gnss: 'proven' }],
    ['an unknown state', { ...witnesses, gnss: 'certain' }],
    ['a list', ['proven']],
    ['a text', 'proven'],
    ['a name that every object has', { ...witnesses, gnss: 'constructor' }],
  ])('are null for a hello with %s', async (_title, sent) => {
    expect(await greet({ witnesses: sent })).toBeNull();
  });
});
