// The owner's document and the orders that its persons sign, by the operations: who may, what waits, what ends it, and that what is sent is what was
// signed. What the vehicle makes of it: `test/simulation/owner-attacks.test.ts`.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCommandLedger } from '../../broker/commands/commands.ts';
import { findDevice, recordHello, setOnline } from '../../broker/store/devices/devices.ts';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import { decodePersonsList } from '../../src/core/persons/owner-document.ts';
import type { PersonalOrder } from '../../src/core/persons/persons.ts';
import { createVerifyPersons } from '../../src/core/persons/persons.ts';
import type { Assertion } from '../../src/core/wire/assertion.ts';
import {
  type CommandBody,
  decodeCommand,
  decodeOwnerMessage,
  signedTypes,
} from '../../src/core/wire/wire.ts';
import { createBenchKeys, helloOf } from '../support/broker/broker-bench.ts';
import { password, startHttpService } from '../support/http/http-service.ts';
import { challengeOf, createTestOwner } from '../support/machine/test-owner.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;
type Json = Readonly<Record<string, unknown>>;
interface Waiting {
  readonly approvalID: string;
  readonly commandState: string;
  readonly signing: {
    readonly needed: number;
    readonly given: readonly Json[];
    readonly order: PersonalOrder;
  };
  readonly signOptions: { readonly challenge: string; readonly credentials: readonly string[] } | null;
}

const owner = createTestOwner();
const { signer, verifier } = createBenchKeys();

/** They are made when a test first calls as one of them. */
const users = {
  admin: { accountID: 'acme', role: 'admin' },
  olga: { accountID: 'acme', role: 'operator' },
  otto: { accountID: 'acme', role: 'operator' },
  guest: { accountID: 'acme', role: 'viewer' },
  rita: { accountID: 'rival', role: 'operator' },
} as const;
type Who = keyof typeof users;

async function start() {
  const service = await startHttpService();
  await service.account('acme');
  for (const id of ['truck-1', 'truck-2']) await service.device('acme', id);
  const tokens = new Map<Who, Promise<string>>();
  const enter = async (who: Who): Promise<string> => {
    const { accountID, role } = users[who];
    if (accountID !== 'acme') await service.account(accountID);
    if (who !== 'admin') await service.user(accountID, who, role);
    return service.login(accountID, who);
  };
  const tokenOf = (who: Who): Promise<string> => {
    const token = tokens.get(who) ?? enter(who);
    tokens.set(who, token);
    return token;
  };
  const post = async (who: Who, path: string, body: object) =>
    service.call({
      method: 'POST',
      path: `/api/v1${path}/authorization`,
      token: await tokenOf(who),
      body,
    });
  const get = async (who: Who, path: string) =>
    service.call({ path: `/api/v1${path}/authorization`, token: await tokenOf(who) });
  const deviceNo = async (deviceID: string): Promise<number> =>
    (await findDevice(service.db, { accountID: 'acme', deviceID }))?.deviceNo ?? expect.fail('no device');
  const say = async (boot: string, held = { set: 0, list: 0 }, commandCounter = 0): Promise<void> => {
    const hello = helloOf(boot, { owner: { pin: owner.pin, ...held }, commandCounter });
    const no = await deviceNo('truck-1');
    await service.write([recordHello(no, hello, { atMs: Date.now() }), offline(no)]);
  };
  const ask = (who: Who, changes: object = {}) =>
    post(who, '/command/feature', {
      deviceID: 'truck-1',
      feature: 'enginecutoff',
      state: '1',
      reason: 'stolen',
      ...changes,
    });
  const waiting = async (who: Who, changes: object = {}): Promise<Waiting> => {
    const answer = await ask(who, changes);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json() as unknown as Waiting;
  };
  const sign = (who: Who, { approvalID }: Pick<Waiting, 'approvalID'>, assertion: Assertion, more = {}) =>
    post(who, '/command/sign', { approvalID, assertion, ...more });
  const approvals = async (who: Who = 'olga'): Promise<readonly Json[]> =>
    (await get(who, '/command/approvals')).json()['approvals'] as readonly Json[];
  /** What the service would send: a ledger on the same store, with a link that keeps it. */
  const sent: (CommandBody | Json)[] = [];
  const ledger = createCommandLedger({
    db: service.db,
    clock: service.api.clock,
    entropy: service.api.entropy,
    log: service.log,
    signer,
    publish: async (_device, { verb, payload }) => {
      const token = new TextDecoder().decode(payload);
      const command = verb === 'commands' ? verifier.verify(token, signedTypes.command) : null;
      const document = verb === 'commands' ? verifier.verify(token, signedTypes.owner) : null;
      const body = command === null ? null : decodeCommand(command);
      if (body !== null) sent.push(body);
      if (document !== null) sent.push({ ...decodeOwnerMessage(document) });
      return true;
    },
  });
  /** The unit connects; what is sent to it is kept in `sent`. */
  const connect = async (boot: string, held = { set: 1, list: 1 }, commandCounter = 0): Promise<void> => {
    const hello = helloOf(boot, { owner: { pin: owner.pin, ...held }, commandCounter });
    const of =
      (await findDevice(service.db, { accountID: 'acme', deviceID: 'truck-1' })) ?? expect.fail('gone');
    await ledger.onHello(of, hello);
    await service.write([offline(of.deviceNo)]);
  };
  const commands = () => service.rows('SELECT * FROM commands ORDER BY issued_ms');
  const close = async (): Promise<void> => {
    await ledger.close();
    await service.close();
  };
  return { service, tokenOf, post, get, say, ask, waiting, sign, approvals, sent, connect, commands, close };
}

let world: Awaited<ReturnType<typeof start>>;
beforeEach(async () => {
  world = await start();
});
afterEach(() => world.close());

/** What is asked then waits for the next hello. */
const offline = (deviceNo: number) => setOnline(deviceNo, false, { atMs: Date.now(), cause: 'closed' });

const errorOf = (answer: Awaited<ReturnType<Service['call']>>) => {
  const error = answer.json()['error'] as Json | undefined;
  const [first] = (error?.['errors'] ?? []) as readonly { readonly message: string }[];
  return { status: answer.status, code: error?.['code'], reason: first?.message };
};
const conflict = { status: 422, code: 'conflict' };
const setDocument = (change?: object) =>
  world.post('admin', '/owner/set', { document: owner.documentText(change) });

describe("the owner's document", () => {
  it('is kept as it came, newer only, and read by administrators', async () => {
    expect((await world.get('admin', '/owner/get')).json()['owners']).toEqual([]);
    expect((await setDocument()).json()['owner']).toMatchObject({
      pin: owner.pin,
      set: 1,
      list: 1,
      needed: { enginecutoff: 2, cargoaccess: 1 },
      persons: [{ personID: 'ann', name: 'Person ann', passkeys: 1 }, { personID: 'bob' }],
      uploadedBy: 'admin',
      units: 0,
      outdated: 0,
    });
    await world.say('b1');
    expect((await setDocument()).status).toBe(200);
    const older = { validUntilMs: Date.UTC(2098, 0, 1) };
    expect(errorOf(await setDocument(older))).toMatchObject(conflict);
    const newer = (await setDocument({ version: 2 })).json()['owner'];
    expect(newer).toMatchObject({ list: 2, units: 1, outdated: 1 });
    const [kept] = await world.service.rows('SELECT document FROM owner_documents');
    expect(kept?.['document']).toBe(owner.documentText({ version: 2 }));
    const [device] = [(await world.get('guest', '/device/getdevice/truck-1')).json()];
    expect(device?.['owner']).toMatchObject({
      set: 0,
      list: 0,
      key: expect.stringMatching(/^(\w{4} ){5}\w{4}$/),
      at: expect.closeTo(Date.now() / 1000, -3),
    });
    const audited = await world.service.rows("SELECT actor, object FROM audit WHERE action = 'owner.set'");
    expect(audited).toHaveLength(2);
  });

  it.each([
    ['no JSON', '{}}', 'document_form'],
    ['a document without sets', '{"sets":[],"list":null,"signatures":[]}', 'document_form'],
    [
      'a list that another owner signed',
      JSON.stringify({ ...owner.document(), signatures: createTestOwner().document().signatures }),
      'list_signatures',
    ],
    ['a text that is too long', `${owner.documentText()}${' '.repeat(8192)}`, undefined],
  ])('is refused: %s', async (_title, document, reason) => {
    const answer = errorOf(await world.post('admin', '/owner/set', { document }));
    expect(answer).toMatchObject({ status: 422, code: 'invalid_content' });
    if (reason !== undefined) expect(answer.reason).toBe(reason);
    expect(await world.service.rows('SELECT pin FROM owner_documents')).toEqual([]);
  });

  it('says to whoever may order on a device, before that, how many must sign, who may and until when, and no key', async () => {
    const signersFor = async (who: Who, deviceID = 'truck-1') => get(who, `/owner/signers/${deviceID}`);
    const get = world.get;
    expect((await signersFor('olga')).json()['signers']).toBeNull();
    await world.say('b1');
    expect((await signersFor('olga')).json()['signers']).toMatchObject({
      list: 0,
      needed: null,
      persons: [],
    });
    await setDocument();
    const answer = await signersFor('olga');
    expect(answer.json()['signers']).toMatchObject({
      set: 1,
      list: 1,
      needed: { enginecutoff: 2, cargoaccess: 1 },
      validUntil: Math.floor(Date.UTC(2099, 0, 1) / 1000),
      persons: [
        { name: 'Person ann', features: ['enginecutoff', 'cargoaccess'] },
        { name: 'Person bob', features: ['enginecutoff', 'cargoaccess'] },
      ],
    });
    for (const { credential, publicKey } of Object.values(owner.persons))
      for (const secret of [credential, publicKey]) expect(answer.text).not.toContain(secret);
    expect(errorOf(await signersFor('guest'))).toMatchObject({ code: 'forbidden' });
    expect(errorOf(await signersFor('rita'))).toMatchObject({ code: 'not_found' });
    expect((await signersFor('olga', 'truck-2')).json()['signers']).toBeNull();
  });

  it('lets no order live longer than its list, and none be asked for in its last seconds', async () => {
    await world.say('b1');
    const validUntilMs = Date.now() + 600_000;
    await setDocument({ validUntilMs });
    const { signing } = await world.waiting('olga');
    expect(signing.order.expiresMs).toBeLessThanOrEqual(validUntilMs);
    expect(signing.order.expiresMs).toBeGreaterThan(validUntilMs - 60_000);
    await setDocument({ version: 2, validUntilMs: Date.now() + 5000 });
    expect(errorOf(await world.ask('olga'))).toMatchObject(conflict);
  });

  it('is set and read by no operator and no token', async () => {
    expect(errorOf(await world.get('olga', '/owner/get'))).toMatchObject({ code: 'forbidden' });
    expect(errorOf(await world.post('olga', '/owner/set', { document: owner.documentText() }))).toMatchObject(
      {
        code: 'forbidden',
      },
    );
  });

  it('goes to a unit that holds an older one, before its orders, and to no other', async () => {
    await setDocument();
    await world.say('b1', { set: 1, list: 1 });
    const asked = await world.waiting('olga');
    for (const one of ['ann', 'bob']) await world.sign('olga', asked, owner.sign(one, asked.signing.order));
    await world.connect('b1', { set: 0, list: 0 });
    expect(world.sent).toMatchObject([{ document: owner.document() }, { feature: 'enginecutoff' }]);
    world.sent.length = 0;
    await world.connect('b1');
    expect(world.sent.filter((one) => 'document' in one)).toEqual([]);
  });
});

describe('an order of a device with an owner', () => {
  beforeEach(async () => {
    await setDocument();
    await world.say('b1', { set: 1, list: 1 }, 7);
  });

  it('waits for its persons, and is then sent exactly as they signed it', async () => {
    const asked = await world.waiting('olga', { ttl: 3600 });
    expect(asked).toMatchObject({
      commandState: 'approval',
      signing: { needed: 2, given: [], order: { boot: 'b1', counter: 8, reason: 'stolen', state: '1' } },
      signOptions: { rpID: 'fleet.example.com', userVerification: 'required' },
    });
    const { order } = asked.signing;
    expect(asked.signOptions?.challenge).toBe(Buffer.from(challengeOf(order)).toString('base64url'));
    expect(asked.signOptions?.credentials).toEqual(Object.values(owner.persons).map((one) => one.credential));
    const first = (await world.sign('olga', asked, owner.sign('ann', order))).json();
    expect(first).toMatchObject({
      approvalState: 'pending',
      signing: { given: [{ personID: 'ann', name: 'Person ann', userID: 'olga' }] },
      signOptions: { credentials: [owner.persons['bob']?.credential] },
    });
    expect(await world.approvals('otto')).toMatchObject([{ approvalID: asked.approvalID }]);
    expect(await world.approvals('guest')).toMatchObject([{ signOptions: null, signing: { needed: 2 } }]);
    // The same person again changes nothing, nor does asking again.
    await world.sign('otto', asked, owner.sign('ann', order));
    expect((await world.waiting('otto')).signing.given).toHaveLength(1);
    const done = (await world.sign('otto', asked, owner.sign('bob', order))).json();
    expect(done).toMatchObject({ approvalState: 'approved', decidedBy: 'otto', signOptions: null });
    await world.connect('b1', { set: 1, list: 1 }, 7);
    const [body] = world.sent as readonly CommandBody[];
    const { boot, counter, expiresMs, reason } = order;
    expect(body).toMatchObject({ boot, counter, expiresMs, reason, feature: 'enginecutoff', state: '1' });
    const list = decodePersonsList(owner.document().list);
    expect(createVerifyPersons(personsCrypto)(list, order, body?.assertions ?? [], Date.now())).toEqual({
      ok: true,
      persons: ['ann', 'bob'],
    });
    const audit = await world.service.rows(
      "SELECT actor, action, detail FROM audit WHERE action LIKE 'command.%' ORDER BY audit_no",
    );
    expect(audit.map(({ actor, action }) => `${String(actor)} ${String(action)}`)).toEqual([
      'olga command.askapproval',
      'olga command.sign',
      'otto command.sign',
      'otto command.approve',
    ]);
    expect(String(audit[3]?.['detail'])).toContain('Person ann');
    expect(String(audit[3]?.['detail'])).toContain('Person bob');
  });

  it('is signed by no one without the rights', async () => {
    const asked = await world.waiting('olga');
    const assertion = owner.sign('ann', asked.signing.order);
    expect(errorOf(await world.sign('guest', asked, assertion))).toMatchObject({ code: 'forbidden' });
    expect(errorOf(await world.sign('rita', asked, assertion))).toMatchObject({ status: 404 });
    await world.tokenOf('otto');
    await world.service.sql("UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'otto'");
    expect(errorOf(await world.sign('otto', asked, assertion))).toMatchObject({ status: 404 });
    expect(await world.approvals()).toMatchObject([{ signing: { given: [] } }]);
  });

  const cases: readonly (readonly [string, string, (order: PersonalOrder) => Assertion])[] = [
    ['of a stranger', 'unknown_passkey', (order) => createTestOwner().sign('ann', order)],
    ['for another counter', 'challenge', (order) => owner.sign('ann', { ...order, counter: 9 })],
    ['for another device', 'challenge', (order) => owner.sign('ann', { ...order, deviceID: 'truck-2' })],
    ['for another reason', 'challenge', (order) => owner.sign('ann', { ...order, reason: 'x' })],
    [
      'for a longer life',
      'challenge',
      (order) => owner.sign('ann', { ...order, expiresMs: order.expiresMs + 1 }),
    ],
    ['of another domain', 'rp', (order) => owner.sign('ann', order, { rpID: 'evil.example.com' })],
    ['without the user verified', 'user_unverified', (order) => owner.sign('ann', order, { flags: 1 })],
    [
      'that was changed',
      'signature',
      (order) => ({ ...owner.sign('bob', order), signature: Buffer.alloc(64).toString('base64url') }),
    ],
  ];
  it.each(cases)('takes no signature %s', async (_title, reason, make) => {
    const asked = await world.waiting('olga');
    const answer = await world.sign('olga', asked, make(asked.signing.order));
    expect(errorOf(answer)).toEqual({ status: 422, code: 'invalid_content', reason });
    expect(await world.approvals()).toMatchObject([{ signing: { given: [] }, approvalState: 'pending' }]);
  });

  it.each([
    ['the vehicle restarts', 'restarted', () => world.say('b2', { set: 1, list: 1 }, 0)],
    [
      'a restore of the other relay takes its counter',
      'counter',
      async () => {
        await world.ask('olga', { feature: 'cargoaccess', state: '0' });
        await world.connect('b1', { set: 1, list: 1 }, 7);
      },
    ],
    ['the owner changes the list', 'list', () => setDocument({ version: 2 })],
  ])('ends while it waits when %s', async (_title, endCause, act) => {
    const asked = await world.waiting('olga');
    await world.sign('olga', asked, owner.sign('ann', asked.signing.order));
    await act();
    const answer = await world.sign('olga', asked, owner.sign('bob', asked.signing.order));
    expect(errorOf(answer)).toMatchObject(conflict);
    const [ended] = (await world.get('olga', '/command/approvals')).json()['approvals'] as readonly Json[];
    expect(ended).toBeUndefined();
    const all = await world.service.rows('SELECT approval_state, end_cause FROM approvals');
    expect(all).toEqual([{ approval_state: 'void', end_cause: endCause }]);
    expect((await world.commands()).filter(({ state }) => state === '1')).toEqual([]);
    // It can be asked for and signed again.
    const again = await world.waiting('olga');
    expect(again.approvalID).not.toBe(asked.approvalID);
  });

  it('is sent to the same boot after weeks of silence within its life, and ends with the next boot', async () => {
    const asked = await world.waiting('olga');
    for (const one of ['ann', 'bob']) await world.sign('olga', asked, owner.sign(one, asked.signing.order));
    expect(await world.commands()).toMatchObject([{ command_state: 'requested', reserved_counter: 8 }]);
    await world.connect('b2', { set: 1, list: 1 }, 0);
    expect(world.sent).toEqual([]);
    expect(await world.commands()).toMatchObject([
      { command_state: 'refused', detail: 'persons: restarted', is_final: 1 },
    ]);
  });

  it('goes out again with the same counter, until another message took a later one', async () => {
    const asked = await world.waiting('olga');
    for (const one of ['ann', 'bob']) await world.sign('olga', asked, owner.sign(one, asked.signing.order));
    for (let times = 0; times < 2; times += 1) await world.connect('b1', { set: 1, list: 1 }, 7);
    expect(world.sent).toMatchObject([{ counter: 8 }, { counter: 8 }]);
    world.sent.length = 0;
    await world.ask('olga', { feature: 'cargoaccess', state: '0' });
    await world.connect('b1', { set: 1, list: 1 }, 7);
    expect(world.sent[0]).toMatchObject({ counter: 8, feature: 'enginecutoff' });
    expect(world.sent[1]).toMatchObject({ counter: 9, feature: 'cargoaccess', state: '0' });
    // The unit has counted neither.
    await world.connect('b1', { set: 1, list: 1 }, 7);
    const cut = (await world.commands()).find(({ feature }) => feature === 'enginecutoff');
    expect(cut).toMatchObject({ command_state: 'refused', detail: 'persons: counter' });
  });

  it('never holds up a restore: it is sent with the next counter, and withdraws what waits', async () => {
    const asked = await world.waiting('olga');
    await world.sign('olga', asked, owner.sign('ann', asked.signing.order));
    await world.ask('otto', { state: '0', reason: '' });
    await world.connect('b1', { set: 1, list: 1 }, 7);
    expect(world.sent).toMatchObject([{ feature: 'enginecutoff', state: '0', counter: 8 }]);
    expect(errorOf(await world.sign('olga', asked, owner.sign('bob', asked.signing.order)))).toMatchObject(
      conflict,
    );
    expect(await world.service.rows('SELECT approval_state FROM approvals')).toEqual([
      { approval_state: 'withdrawn' },
    ]);
  });

  it('gives one command when two sign at once', async () => {
    const asked = await world.waiting('olga');
    const answers = await Promise.all(
      (['olga', 'otto'] as const).map((who, at) =>
        world.sign(who, asked, owner.sign(at === 0 ? 'ann' : 'bob', asked.signing.order)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await world.commands()).toHaveLength(1);
  });

  it('needs a second user too where the account wants one', async () => {
    await world.service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
    const asked = await world.waiting('olga');
    for (const one of ['ann', 'bob']) {
      const answer = (await world.sign('olga', asked, owner.sign(one, asked.signing.order))).json();
      expect(answer).toMatchObject({ approvalState: 'pending', secondUser: '' });
    }
    const { approvalID } = asked;
    expect(errorOf(await world.post('olga', '/command/approve', { approvalID }))).toMatchObject(conflict);
    const approved = (await world.post('otto', '/command/approve', { approvalID })).json();
    expect(approved).toMatchObject({ commandState: 'requested', approvalID });
    expect(await world.commands()).toMatchObject([{ issuer: 'olga', approver: 'otto' }]);
  });

  it('takes the signature of another user as that of the second one, and waits for the persons after an approval', async () => {
    await world.service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
    const asked = await world.waiting('olga');
    const { approvalID } = asked;
    const early = (await world.post('otto', '/command/approve', { approvalID })).json();
    expect(early).toMatchObject({ commandState: 'approval', commandID: '' });
    await world.sign('olga', asked, owner.sign('ann', asked.signing.order));
    const done = (await world.sign('olga', asked, owner.sign('bob', asked.signing.order))).json();
    expect(done).toMatchObject({ approvalState: 'approved', secondUser: 'otto' });
    expect(await world.commands()).toHaveLength(1);
  });

  it('is approved by no one where only persons are wanted', async () => {
    const { approvalID } = await world.waiting('olga');
    expect(errorOf(await world.post('otto', '/command/approve', { approvalID }))).toMatchObject(conflict);
    const unlock = await world.waiting('olga', { feature: 'cargoaccess' });
    expect(unlock.signing).toMatchObject({ needed: 1, order: { feature: 'cargoaccess', counter: 8 } });
    const done = (await world.sign('otto', unlock, owner.sign('ann', unlock.signing.order))).json();
    expect(done).toMatchObject({ approvalState: 'approved', feature: 'cargoaccess' });
    expect((await world.post('otto', '/command/refuse', { approvalID })).status).toBe(200);
  });

  it('asks another user than the requester for the password where the account wants it', async () => {
    await world.service.sql("UPDATE accounts SET needs_password = 1 WHERE account_id = 'acme'");
    expect(errorOf(await world.ask('olga'))).toMatchObject({ code: 'password_needed' });
    const asked = await world.waiting('olga', { password });
    const [ann, bob] = [owner.sign('ann', asked.signing.order), owner.sign('bob', asked.signing.order)];
    expect((await world.sign('olga', asked, ann)).status).toBe(200);
    expect(errorOf(await world.sign('otto', asked, bob))).toMatchObject({ code: 'password_needed' });
    expect((await world.sign('otto', asked, bob, { password })).json()['approvalState']).toBe('approved');
  });

  it('is one vehicle and one order: a request for many is refused for it alone, a restore of many is not', async () => {
    const body = { deviceIDs: ['truck-1', 'truck-2'], feature: 'enginecutoff' };
    const many = (await world.post('olga', '/command/devices', { ...body, state: '1' })).json();
    expect(many['items']).toMatchObject([{ status: 422, error: { code: 'conflict' } }, { status: 200 }]);
    const restored = (await world.post('olga', '/command/devices', { ...body, state: '0' })).json();
    expect(restored).toMatchObject({ done: 2 });
  });

  it('says of a zone that cuts or unlocks how many units refuse it', async () => {
    const zone = (more: object) =>
      world.post('olga', '/geozone/creategeozone', { geozoneID: 'depot', ...more }).then((one) => one.json());
    expect(await zone({ geozoneAlertEntry: true })).toMatchObject({ geozoneRefusedBy: 0 });
    expect(await zone({ geozoneDepartureCargoUnlock: true })).toMatchObject({ geozoneRefusedBy: 1 });
  });
});

describe('an order that no list lets be signed', () => {
  const refusals: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['without a document', () => world.say('b1')],
    [
      'with a list that has ended',
      async () => [await setDocument({ validUntilMs: 1 }), await world.say('b1')],
    ],
    [
      'of a unit that holds a newer list',
      async () => [await setDocument(), await world.say('b1', { set: 1, list: 9 })],
    ],
    [
      'with too few persons for this vehicle',
      async () => [await setDocument({ needed: { enginecutoff: 3, cargoaccess: 1 } }), await world.say('b1')],
    ],
  ];
  it.each(refusals)('%s is refused, and a restore is taken', async (_title, prepare) => {
    await prepare();
    expect(errorOf(await world.ask('olga'))).toMatchObject(conflict);
    expect(await world.service.rows('SELECT * FROM approvals')).toEqual([]);
    expect((await world.ask('olga', { state: '0' })).status).toBe(200);
  });
});
