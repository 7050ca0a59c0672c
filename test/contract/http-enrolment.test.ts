// Enrolment over HTTP, with the real cryptography: a code is good once, for one unit, for its time; what is asked again is
// answered again, and no other client learns or changes anything. The clock is the test's.
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findCredential } from '../../broker/store/devices/credentials.ts';
import { isSecret } from '../../broker/store/devices/device-secret.ts';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { transcriptOf } from '../../src/core/wire/enrolment.ts';
import { parseEnrolmentCode } from '../../src/core/wire/enrolment-code.ts';
import { helloOf, jsonBytes } from '../support/broker/broker-bench.ts';
import { isOnPostgres } from '../support/database/test-database.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { hangMs } from '../support/machine/wait-until.ts';
import { createUnit, crypto } from '../support/vehicle/enrolling-unit.ts';

/** Attempts at once that none of slows down: where answers take a round trip to a server, none has ended before the next. */
const many = isOnPostgres ? 5 : 8;

type Service = Awaited<ReturnType<typeof startHttpService>>;
type Answer = Awaited<ReturnType<Service['call']>>;

let service: Service;
let admin = '';
const key = { accountID: 'acme', deviceID: 'truck-17' };
const hourMs = 3600_000;

beforeEach(async () => {
  service = await startHttpService();
  await service.account('acme');
  await service.device('acme', 'truck-17');
  admin = await service.login('acme', 'admin');
});
afterEach(() => service.close());

const v1 = (name: string) => `/api/v1/device/${name}/authorization`;
const post = (name: string, body: unknown, changes: object = {}) =>
  service.call({ method: 'POST', path: v1(name), token: admin, body, ...changes });
/** As a unit does: without a token. */
const enrol = (body: unknown, from = '198.51.100.24') =>
  service.call({ method: 'POST', path: v1('enrol'), body, from });
const errorOf = (answer: Answer) => {
  const { code, detail } = answer.json()['error'] as { code: string; detail: string };
  return { status: answer.status, code, detail };
};
const statusOf = (answer: Answer) => (answer.status === 200 ? 'ok' : errorOf(answer).code);

async function makeCode(body: object = {}, token = admin): Promise<string> {
  const answer = await post('createenrolmentcode', { deviceID: 'truck-17', ...body }, { token });
  expect(answer.status, answer.text).toBe(200);
  return String(answer.json()['code']);
}

async function isCurrent(secret: string): Promise<boolean> {
  const credential = await findCredential(service.db, key, 0);
  return isSecret(Buffer.from(secret), credential?.secretHash ?? null);
}

async function list() {
  const answer = await service.call({ path: v1('enrolmentcodes'), token: admin });
  return answer.json()['codes'] as { codeID: string; state: string; usedFrom: string; createdBy: string }[];
}

async function trail() {
  const rows = await service.rows('SELECT * FROM audit ORDER BY audit_no');
  return rows
    .map((row) => ({
      action: String(row['action']),
      actor: row['actor'],
      source: row['source'],
      detail: row['detail'],
    }))
    .filter(({ action }) => /enrol/.test(action));
}

describe('a code', () => {
  it('gives its unit everything that it needs, and the old secret is refused', async () => {
    const old = await service.device('acme', 'truck-1');
    const unit = await createUnit(await makeCode({ deviceID: 'truck-1' }));
    const answer = await enrol(unit.request);
    const grant = unit.open(answer.text);
    expect(grant).toMatchObject({
      accountID: 'acme',
      deviceID: 'truck-1',
      publicKey: service.api.enrolment.publicKey,
      mqttUrls: ['mqtts://broker.example.com:8883'],
      ca: null,
      certificate: null,
    });
    const credential = await findCredential(service.db, { ...key, deviceID: 'truck-1' }, 0);
    expect(isSecret(Buffer.from(grant?.secret ?? ''), credential?.secretHash ?? null)).toBe(true);
    expect(isSecret(Buffer.from(old), credential?.secretHash ?? null)).toBe(false);
  });

  it('is good once: the second unit with it gets nothing, and changes nothing', async () => {
    const code = await makeCode();
    const [first, second] = [await createUnit(code), await createUnit(code)];
    const grant = first.open((await enrol(first.request)).text);
    const refused = errorOf(await enrol(second.request));
    expect(refused).toMatchObject({
      status: 422,
      code: 'conflict',
      detail: expect.stringContaining('was used on'),
    });
    expect(await isCurrent(grant?.secret ?? '')).toBe(true);
  });

  it('is used by one of many units that come at the same moment', async () => {
    const code = await makeCode();
    const units = await Promise.all(Array.from({ length: many }, () => createUnit(code)));
    const answers = await Promise.all(units.map(({ request }) => enrol(request)));
    expect(answers.map(statusOf).sort()).toEqual([
      ...Array.from({ length: many - 1 }, () => 'conflict'),
      'ok',
    ]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(await isCurrent(units[winner]?.open(answers[winner]?.text ?? '')?.secret ?? '')).toBe(true);
    expect((await trail()).filter(({ action }) => action === 'device.enrol')).toHaveLength(1);
  });

  it('gives an identical request the identical answer, at once and later, and no other request', async () => {
    const unit = await createUnit(await makeCode());
    const together = await Promise.all(Array.from({ length: many }, () => enrol(unit.request)));
    expect(together.map(statusOf)).toEqual(together.map(() => 'ok'));
    service.advance(23 * hourMs);
    const later = await enrol(unit.request, '203.0.113.9');
    const texts = new Set([...together, later].map(({ text }) => text));
    expect(texts.size).toBe(1);
    expect(await isCurrent(unit.open(later.text)?.secret ?? '')).toBe(true);
    expect((await trail()).filter(({ action }) => action === 'device.enrol')).toHaveLength(1);
    service.advance(2 * hourMs);
    expect(errorOf(await enrol(unit.request))).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('ended on'),
    });
  });

  it('does not bring back an old secret when its request is played again', async () => {
    const unit = await createUnit(await makeCode());
    await enrol(unit.request);
    const secret = String((await post('issuesecret', { deviceID: 'truck-17' })).json()['secret']);
    expect(statusOf(await enrol(unit.request))).toBe('ok');
    expect(await isCurrent(secret)).toBe(true);
  });

  it('ends with its time, which is a day unless said otherwise and a week at most', async () => {
    const day = await createUnit(await makeCode());
    service.advance(24 * hourMs);
    expect(errorOf(await enrol(day.request)).detail).toContain('ended on');
    const hour = await createUnit(
      await makeCode({ hours: 1 }, (admin = await service.login('acme', 'admin'))),
    );
    service.advance(hourMs);
    expect(statusOf(await enrol(hour.request))).toBe('conflict');
    for (const hours of [0, 169, 1.5]) {
      expect(statusOf(await post('createenrolmentcode', { deviceID: 'truck-17', hours }))).toBe(
        'invalid_content',
      );
    }
  });

  it('that was revoked gives nothing, and cannot be revoked twice nor once it was used', async () => {
    const code = await makeCode();
    const unit = await createUnit(code);
    const { codeID } = unit.request;
    expect(statusOf(await post('revokeenrolmentcode', { codeID }))).toBe('ok');
    expect(errorOf(await enrol(unit.request)).detail).toContain('revoked');
    expect(errorOf(await post('revokeenrolmentcode', { codeID }))).toMatchObject({ code: 'conflict' });
    const used = await createUnit(await makeCode());
    await enrol(used.request);
    const refused = errorOf(await post('revokeenrolmentcode', { codeID: used.request.codeID }));
    expect(refused).toMatchObject({ code: 'conflict', detail: expect.stringContaining('is used already') });
    expect(statusOf(await enrol(used.request))).toBe('ok');
  });

  it('takes the place of the one that the device had open', async () => {
    const first = await createUnit(await makeCode());
    const second = await createUnit(await makeCode());
    expect(statusOf(await enrol(first.request))).toBe('conflict');
    expect(statusOf(await enrol(second.request))).toBe('ok');
    expect((await list()).map(({ state }) => state)).toEqual(['used', 'revoked']);
  });

  it('is listed with what became of it, and never shown again', async () => {
    const code = await makeCode();
    const unit = await createUnit(code);
    await enrol(unit.request);
    const codes = await service.call({ path: v1('enrolmentcodes'), token: admin });
    expect(codes.json()['codes']).toMatchObject([
      {
        codeID: unit.request.codeID,
        deviceID: 'truck-17',
        state: 'used',
        createdBy: 'admin',
        usedFrom: '198.51.100.24',
      },
    ]);
    const parsed = parseEnrolmentCode(code);
    const secret = parsed.ok ? parsed.secret : '';
    const tables = ['enrolment_codes', 'audit', 'devices'];
    const kept = JSON.stringify(
      await Promise.all(tables.map((table) => service.rows(`SELECT * FROM ${table}`))),
    );
    for (const text of [kept, codes.text, service.logLines.join()]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(code);
    }
    const [row] = await service.rows('SELECT verifier FROM enrolment_codes');
    expect(codes.text).not.toContain(String(row?.['verifier']));
    expect(service.logLines.join()).not.toContain(String(row?.['verifier']));
  });

  it('is forgotten a month after its end, and of one device twenty are kept', async () => {
    await makeCode();
    service.advance(32 * 24 * hourMs);
    admin = await service.login('acme', 'admin');
    await makeCode();
    expect(await list()).toHaveLength(1);
    for (let at = 0; at < 22; at += 1) await makeCode();
    expect(await list()).toHaveLength(20);
    expect((await list()).filter(({ state }) => state === 'open')).toHaveLength(1);
  });

  it('goes with its device', async () => {
    const unit = await createUnit(await makeCode());
    expect(statusOf(await post('deletedevice', { deviceID: 'truck-17' }))).toBe('ok');
    await service.device('acme', 'truck-17');
    expect(statusOf(await enrol(unit.request))).toBe('not_found');
    expect(await list()).toEqual([]);
  });

  it('gives nothing while its account is suspended', async () => {
    const unit = await createUnit(await makeCode());
    await service.sql("UPDATE accounts SET is_active = 0 WHERE account_id = 'acme'");
    expect(errorOf(await enrol(unit.request)).detail).toContain('suspended');
    await service.sql("UPDATE accounts SET is_active = 1 WHERE account_id = 'acme'");
    expect(statusOf(await enrol(unit.request))).toBe('ok');
  });

  it('warns while a unit of the device is connected, which is cut off when the code is used', async () => {
    const quiet = await post('createenrolmentcode', { deviceID: 'truck-17' });
    expect(quiet.json()).toMatchObject({ isOnline: false, warning: null });
    const password = String((await post('issuesecret', { deviceID: 'truck-17' })).json()['secret']);
    const downs: string[] = [];
    const hello = {
      topic: 'fleet/v1/acme/truck-17/hello',
      payload: jsonBytes(helloOf('b1')),
      qos: 1,
    } as const;
    const link = openMqttLink(
      {
        url: `mqtt://127.0.0.1:${service.mqttPort}`,
        clientId: 'acme/truck-17',
        username: 'acme/truck-17',
        password,
        keepaliveS: 60,
        connectTimeoutMs: hangMs,
        will: { topic: 'fleet/v1/acme/truck-17/presence', payload: new Uint8Array(), qos: 1 },
      },
      {
        onUp: () => void link.publish(hello),
        onMessage: () => undefined,
        onDown: (reason) => downs.push(reason),
      },
    );
    onTestFinished(() => link.destroy('the test is over'));
    await expect.poll(() => service.api.isOnline('acme', 'truck-17')).toBe(true);
    const loud = await post('createenrolmentcode', { deviceID: 'truck-17' });
    expect(loud.json()).toMatchObject({ isOnline: true, warning: expect.stringContaining('cut off') });
    expect(downs).toEqual([]);
    await enrol((await createUnit(String(loud.json()['code']))).request);
    await expect.poll(() => downs.length).toBe(1);
  });
});

describe('a client without the code', () => {
  it('learns nothing: a code that is not there and a wrong proof are one answer', async () => {
    const unit = await createUnit(await makeCode());
    const other = await createUnit(await makeCode({}, admin));
    const plain = (answer: Answer) => answer.text.replace(/"requestId":"\w+"/, '');
    const unknown = await enrol({ ...unit.request, codeID: '000000' });
    const wrong = await enrol({ ...other.request, proof: unit.request.proof });
    const ended = await enrol({ ...unit.request, proof: other.request.proof });
    expect(statusOf(unknown)).toBe('not_found');
    expect([plain(wrong), plain(ended)]).toEqual([plain(unknown), plain(unknown)]);
  });

  it('changes nothing, whichever member is altered on the way', async () => {
    const unit = await createUnit(await makeCode(), { wantsCertificate: true });
    const foreign = await createUnit(await makeCode({}, admin), { wantsCertificate: true });
    for (const member of ['codeID', 'deviceKey', 'nonce', 'certificateRequest', 'proof'] as const) {
      const altered = { ...foreign.request, [member]: unit.request[member] };
      expect(statusOf(await enrol(altered)), member).toBe('not_found');
    }
    const { certificateRequest, ...without } = foreign.request;
    expect(certificateRequest).toBeTypeOf('string');
    expect(statusOf(await enrol(without))).toBe('not_found');
    expect((await list()).map(({ state }) => state)).toEqual(['open', 'revoked']);
    expect((await trail()).map(({ action }) => action)).toContain('enrolmentcode.fail');
  });

  it('is throttled, while the unit with the code enrols from another address', async () => {
    service.pin();
    holdClock(service);
    const unit = await createUnit(await makeCode());
    const other = await createUnit(await makeCode({}, admin));
    const guess = { ...other.request, proof: unit.request.proof };
    const statuses: string[] = [];
    for (let at = 0; at < 9; at += 1) statuses.push(statusOf(await enrol(guess, '192.0.2.1')));
    expect(statuses.slice(0, 5)).toEqual(statuses.slice(0, 5).map(() => 'not_found'));
    expect(statuses.at(-1)).toBe('throttled');
    const held = await enrol(other.request, '192.0.2.1');
    expect([statusOf(held), Number(held.headers['retry-after'])]).toEqual(['throttled', expect.any(Number)]);
    expect(statusOf(await enrol(other.request, '203.0.113.5'))).toBe('ok');
  });

  it('is slowed over many codes, and over many addresses', async () => {
    service.pin();
    holdClock(service);
    const unit = await createUnit(await makeCode());
    const ids = Array.from({ length: 60 }, (_unused, at) => `0000${String(at).padStart(2, '0')}`);
    const byCode: string[] = [];
    for (const codeID of ids) byCode.push(statusOf(await enrol({ ...unit.request, codeID }, '192.0.2.9')));
    expect(byCode).toContain('throttled');
    const byAddress: string[] = [];
    const guess = { ...unit.request, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' };
    for (let at = 0; at < 40; at += 1) byAddress.push(statusOf(await enrol(guess, `198.51.100.${at}`)));
    expect(byAddress).toContain('throttled');
    // A login from the same address is not held up by it.
    expect(await service.login('acme', 'admin')).toMatch(/%7C/);
  });

  it('gets no answer for a well-known public key', async () => {
    const code = await makeCode();
    const parsed = parseEnrolmentCode(code);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { seed } = await crypto.deriveCodeKey(parsed);
    const said = { codeID: parsed.codeID, deviceKey: 'A'.repeat(43), nonce: 'AAAAAAAAAAAAAAAAAAAAAA' };
    const answer = await enrol({ ...said, proof: crypto.sign(seed, transcriptOf(said)) });
    expect(statusOf(answer)).toBe('invalid_content');
    expect((await list()).map(({ state }) => state)).toEqual(['open']);
  });
});

describe('the users who may create codes', () => {
  it('are administrators, for devices of their own account', async () => {
    await service.account('rival');
    await service.device('rival', 'van-1');
    const rival = await service.login('rival', 'admin');
    await service.user('acme', 'dispatch', 'operator');
    const dispatch = await service.login('acme', 'dispatch');
    const unit = await createUnit(await makeCode());
    const { codeID } = unit.request;
    const make = (deviceID: string, token: string) => post('createenrolmentcode', { deviceID }, { token });
    expect(statusOf(await make('van-1', admin))).toBe('not_found');
    expect(statusOf(await make('truck-17', rival))).toBe('not_found');
    expect(statusOf(await make('truck-17', dispatch))).toBe('forbidden');
    expect(statusOf(await post('revokeenrolmentcode', { codeID }, { token: rival }))).toBe('not_found');
    const seen = await service.call({ path: v1('enrolmentcodes'), token: rival });
    expect(seen.json()['codes']).toEqual([]);
    expect(statusOf(await enrol(unit.request))).toBe('ok');
  });

  it('write audit entries, each in the batch of its effect', async () => {
    const code = await makeCode();
    const unit = await createUnit(code);
    await enrol({ ...unit.request, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' });
    await enrol(unit.request);
    const revoked = await createUnit(await makeCode());
    await post('revokeenrolmentcode', { codeID: revoked.request.codeID });
    await post('revokeenrolmentcode', { codeID: revoked.request.codeID });
    const found = await trail();
    expect(found.map(({ action, actor }) => [action, actor])).toEqual([
      ['enrolmentcode.create', 'admin'],
      ['enrolmentcode.fail', 'device'],
      ['device.enrol', 'device'],
      ['enrolmentcode.create', 'admin'],
      ['enrolmentcode.revoke', 'admin'],
    ]);
    expect(found[2]).toMatchObject({
      source: '198.51.100.24',
      detail: expect.stringContaining(unit.request.codeID),
    });
  });
});

describe('certificates', () => {
  it('are refused before the code is used where the broker signs none', async () => {
    const unit = await createUnit(await makeCode(), { wantsCertificate: true });
    expect(errorOf(await enrol(unit.request))).toMatchObject({ status: 422, code: 'unsupported' });
    expect((await list()).map(({ state }) => state)).toEqual(['open']);
  });
});
