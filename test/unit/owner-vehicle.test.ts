// A vehicle with an owner's key: with the broker's key alone nothing restricts it; with the persons of the owner's list all is as ever.
import { describe, expect, it } from 'vitest';
import { requestLocal } from '../../agent/core/kernel/vehicle-control.ts';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import { orderChallenge, type PersonalOrder } from '../../src/core/persons/persons.ts';
import { type CommandBody, decodeCommand, encodeJsonMessage } from '../../src/core/wire/wire.ts';
import { extent } from '../support/extent.ts';
import { createAuthenticator, createOwnerKey, pinOf, testDomain } from '../support/machine/authenticator.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

const key = createOwnerKey();
const set = { version: 1, needed: 1, keys: [key.publicKey] };
const pin = pinOf(set);
const [ann, bob] = [createAuthenticator('ES256'), createAuthenticator('Ed25519')];
const personOf = (id: string, { credential, publicKey }: typeof ann) => ({
  id,
  name: id,
  role: 'both',
  vehicles: ['acme/truck-*'],
  passkeys: [{ credential, publicKey }],
});
const documentOf = (change: object = {}) => {
  const list = {
    version: 1,
    set: pin,
    ...testDomain,
    validUntilMs: Date.UTC(2028, 0, 1),
    needed: { enginecutoff: 2, cargoaccess: 1 },
    persons: [personOf('ann', ann), personOf('bob', bob)],
    ...change,
  };
  return { sets: [{ set, signatures: [] }], list, signatures: [key.sign('list', list)] };
};
const owner = { pin, documentText: JSON.stringify(documentOf()) };

const counters = new WeakMap<VehicleRig, number>();

interface Given {
  readonly persons: readonly (typeof ann)[];
  readonly state?: '0' | '1';
  /** How the order to which the persons agree differs. */
  readonly change?: Partial<PersonalOrder>;
}

/** A command as it comes from the wire. */
function bodyOf(
  rig: VehicleRig,
  feature: CommandBody['feature'],
  { persons, state = '1', change = {} }: Given,
): CommandBody {
  const seq = (counters.get(rig) ?? 0) + 1;
  counters.set(rig, seq);
  const body = {
    accountID: 'acme',
    deviceID: 'truck-1',
    boot: rig.config().boot,
    counter: seq,
    feature,
    state,
    expiresMs: rig.trueUtcMs() + 3_600_000,
    reason: 'stolen',
  } as const;
  const challenge = orderChallenge({ ...body, ...change }, personsCrypto);
  const assertions = persons.map((person) => person.assert(challenge));
  const whole = {
    ...body,
    commandID: `c${seq}`,
    issuedMs: rig.trueUtcMs(),
    mode: 'interlock',
    issuer: 'x',
    cancel: false,
  } as const;
  const decoded = decodeCommand(
    encodeJsonMessage({ ...whole, ...(assertions.length === 0 ? {} : { assertions }) }),
  );
  if (decoded === null) throw new Error('not decoded');
  return decoded;
}

function order(rig: VehicleRig, feature: CommandBody['feature'], given: Given): void {
  rig.command(feature, given.state ?? '1', bodyOf(rig, feature, given));
}

async function parked(options: Parameters<typeof createVehicleRig>[0] = { owner }): Promise<VehicleRig> {
  const rig = await createVehicleRig(options);
  rig.run(40);
  return rig;
}
const isCut = (rig: VehicleRig): boolean => rig.board.isEnergised('enginecutoff');

describe('a vehicle with an owner', () => {
  it('is cut with the persons of its list, and restored without any', async () => {
    const rig = await parked();
    order(rig, 'enginecutoff', { persons: [ann, bob] });
    rig.run(10);
    expect(isCut(rig)).toBe(true);
    order(rig, 'enginecutoff', { persons: [], state: '0' });
    rig.run(10);
    expect(isCut(rig)).toBe(false);
    order(rig, 'cargoaccess', { persons: [ann] });
    rig.run(5);
    expect(rig.board.isEnergised('cargoaccess')).toBe(true);
  });

  it.each([
    ['no person', { persons: [] }, 'persons: too_few (0 of 2)'],
    ['a person too few', { persons: [bob] }, 'persons: too_few (1 of 2)'],
    [
      'persons who agreed to another vehicle',
      { persons: [ann, bob], change: { deviceID: 'truck-2' } },
      'persons: challenge (ann)',
    ],
    [
      'persons who agreed to another boot',
      { persons: [ann, bob], change: { boot: 'b9' } },
      'persons: challenge (ann)',
    ],
    [
      'persons who agreed to another order',
      { persons: [ann, bob], change: { counter: 99 } },
      'persons: challenge (ann)',
    ],
    ['a stranger', { persons: [ann, createAuthenticator('ES256')] }, 'persons: unknown_passkey'],
  ])('refuses a cut with %s, and leaves a restore as it was', async (_title, given, reason) => {
    const rig = await parked();
    order(rig, 'enginecutoff', given);
    rig.run(60);
    expect(isCut(rig)).toBe(false);
    expect(rig.reasons()).toContain(reason);
    expect(rig.changes.filter(({ energised }) => energised)).toEqual([]);
  });

  it('takes no order twice, and none again in its next boot', async () => {
    const rig = await parked();
    order(rig, 'enginecutoff', { persons: [ann, bob] });
    rig.run(10);
    order(rig, 'enginecutoff', { persons: [], state: '0' });
    rig.run(90);
    const before = rig.changes.length;
    order(rig, 'enginecutoff', { persons: [ann, bob], change: { counter: 1 } });
    rig.run(60);
    expect(rig.changes.length).toBe(before);
  });

  it.each([
    ['without a document', { pin, documentText: null }],
    [
      'with a document of another owner',
      { pin: pinOf({ ...set, needed: 1, version: 2 }), documentText: owner.documentText },
    ],
    ['with a document that is no JSON', { pin, documentText: '{' }],
    ['with a list that has ended', { pin, documentText: JSON.stringify(documentOf({ validUntilMs: 1 })) }],
  ])('%s refuses what restricts, and restores', async (_title, given) => {
    const rig = await parked({ owner: given });
    order(rig, 'enginecutoff', { persons: [ann, bob] });
    rig.run(60);
    expect(isCut(rig)).toBe(false);
    expect(rig.reasons().join()).toMatch(/persons: (no_list|list_ended)/);
    order(rig, 'enginecutoff', { persons: [], state: '0' });
    rig.run(10);
    expect(rig.said()).toContain('confirmed');
  });

  it('has a relay guard that verifies the persons by itself, whatever the rest takes for true', async () => {
    const rig = await parked();
    const body = bodyOf(rig, 'enginecutoff', { persons: [ann, bob] });
    const { assertions: _, ...signed } = body;
    rig.dispatch({ kind: 'command', body, receipt: 1, token: `good.${JSON.stringify(signed)}` });
    rig.run(30);
    expect(isCut(rig)).toBe(false);
    expect(rig.state().guard.refused?.refusals).toEqual(['order']);
  });

  it('drops a cut that waits when a newer list lay beside its configuration at the start', async () => {
    const given = { ...owner };
    const rig = await parked({ owner: given });
    rig.board.setSignal('ignition', true);
    rig.run(5);
    order(rig, 'enginecutoff', { persons: [ann, bob] });
    rig.run(5);
    rig.kill();
    rig.start();
    rig.run(5);
    expect(rig.said()).not.toContain('cancelled');
    rig.kill();
    given.documentText = JSON.stringify(documentOf({ version: 2 }));
    rig.start();
    rig.board.setSignal('ignition', false);
    rig.run(60);
    expect(rig.said()).toContain('cancelled');
    expect(isCut(rig)).toBe(false);
  });

  const sendDocument = (rig: VehicleRig, change: object): void =>
    rig.dispatch({
      kind: 'owner',
      body: { accountID: 'acme', deviceID: 'truck-1', boot: rig.config().boot, document: documentOf(change) },
    });

  it('ends a cut that waits by name when the list ends, and raises no alarm of its guard', async () => {
    const rig = await parked();
    sendDocument(rig, { version: 2, validUntilMs: rig.trueUtcMs() + 120_000 });
    rig.board.setSignal('ignition', true);
    rig.run(5);
    order(rig, 'enginecutoff', { persons: [ann, bob] });
    rig.run(60);
    expect(rig.said()).not.toContain('cancelled');
    rig.run(60);
    expect(rig.reasons()).toContain('persons: list_ended');
    rig.board.setSignal('ignition', false);
    rig.run(60);
    expect(isCut(rig)).toBe(false);
    expect(rig.state().guard.refused).toBeNull();
    order(rig, 'enginecutoff', { persons: [], state: '0' });
    rig.run(10);
    expect(rig.said()).toContain('confirmed');
  });

  it('raises no alarm of its guard whenever the vehicle comes to rest about the end of the list', async () => {
    for (let leftS = 24; leftS >= 0; leftS -= 2) {
      const rig = await parked();
      const validUntilMs = rig.trueUtcMs() + 60_000;
      sendDocument(rig, { version: 2, validUntilMs });
      rig.board.setSignal('ignition', true);
      rig.run(5);
      order(rig, 'enginecutoff', { persons: [ann, bob] });
      rig.run(Math.max(1, (validUntilMs - rig.trueUtcMs()) / 1000 - leftS));
      rig.board.setSignal('ignition', false);
      rig.run(60);
      expect([leftS, rig.state().guard.refused]).toEqual([leftS, null]);
      expect(isCut(rig) || rig.said().includes('cancelled')).toBe(true);
    }
  });

  it('restricts nothing by itself: a geozone is refused by name, and lets go', async () => {
    const rig = await parked({ owner, protection: { zoneCuts: true } });
    const request = { feature: 'enginecutoff', source: 'zone', reason: 'zone' } as const;
    rig.within((context) => requestLocal(context, { ...request, state: '1' }));
    rig.run(60);
    expect(isCut(rig)).toBe(false);
    expect(rig.reasons()).toContain('persons: unsigned');
  });

  it('takes a newer list from the service, drops a cut that waits, and keeps the list over a restart', async () => {
    const rig = await parked();
    rig.board.setSignal('ignition', true);
    rig.run(5);
    order(rig, 'enginecutoff', { persons: [ann, bob] });
    rig.run(5);
    const send = (document: object) =>
      rig.dispatch({
        kind: 'owner',
        body: { accountID: 'acme', deviceID: 'truck-1', boot: rig.config().boot, document },
      });
    send(documentOf());
    expect(rig.said()).not.toContain('cancelled');
    send(
      documentOf({
        version: 2,
        needed: { enginecutoff: 1, cargoaccess: 1 },
        persons: [personOf('ann', ann)],
      }),
    );
    rig.run(1);
    expect(rig.said()).toContain('cancelled');
    send(documentOf({ version: 1, validUntilMs: Date.UTC(2029, 0, 1) }));
    rig.board.setSignal('ignition', false);
    rig.run(60);
    expect(isCut(rig)).toBe(false);
    rig.kill();
    rig.start();
    rig.run(60);
    order(rig, 'enginecutoff', { persons: [bob] });
    rig.run(5);
    expect(rig.reasons()).toContain('persons: unknown_passkey');
    order(rig, 'enginecutoff', { persons: [ann] });
    rig.run(30);
    expect(isCut(rig)).toBe(true);
  });
});

it('moves no relay for an attacker with the broker, whatever is sent', async () => {
  const rig = await parked();
  const attempts = extent({ gate: 300, nightly: 20_000 });
  const stranger = createAuthenticator('ES256');
  for (let count = 0; count < attempts; count += 1) {
    const persons = [[], [ann], [ann, ann], [stranger], [stranger, ann]][count % 5] ?? [];
    const change =
      [{}, { counter: count }, { boot: 'b1' }, { state: '0' as const }, { expiresMs: 9e12 }][
        (count >> 2) % 5
      ] ?? {};
    order(rig, 'enginecutoff', { persons, change });
    if (count % 50 === 0) rig.run(1);
  }
  rig.run(60);
  expect(rig.changes.filter(({ energised }) => energised)).toEqual([]);
});
