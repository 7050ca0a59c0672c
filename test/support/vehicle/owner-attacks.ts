// Attacks on a vehicle with an owner. The attacker holds the broker's signing key, database and configuration, and each signature that was given: orders
// that no person signed as they are, replays, and documents of other owners.
import type { PersonalOrder } from '../../../src/core/persons/persons.ts';
import type { Assertion } from '../../../src/core/wire/assertion.ts';
import { type CommandBody, type OwnerBody, signedTypes } from '../../../src/core/wire/wire.ts';
import { createTestOwner, type TestOwner } from '../machine/test-owner.ts';

/** The dice of an attacker. */
interface Dice {
  integer(low: number, high: number): number;
}

/** What the vehicle is in now, as its hello and the database show it. */
interface Target {
  readonly boot: string;
  readonly counter: number;
  readonly nowMs: number;
}

interface Attack {
  readonly name: string;
  readonly type: string;
  readonly body: object;
}

/** Persons of a list that was replaced: carl was removed from it. */
const removedPerson = 'carl';
export const createAttackedOwner = (): TestOwner => createTestOwner(['ann', 'bob', removedPerson]);
/** The document that holds: version 2, without the removed person. */
export function presentDocument(owner: TestOwner): object {
  const all = owner.document().list as { readonly persons: readonly { readonly id: string }[] };
  return owner.document({ version: 2, persons: all.persons.filter(({ id }) => id !== removedPerson) });
}

/** Makes attacks. @param captured envelopes that were sent honestly. */
export function createAttacker(owner: TestOwner, captured: readonly CommandBody[], dice: Dice) {
  const stranger = createTestOwner(['ann', 'bob']);
  const pick = <T>(items: readonly T[]): T => items[dice.integer(0, items.length - 1)] as T;
  let numbered = 0;
  const orderOf = ({ boot, counter, nowMs }: Target): PersonalOrder => ({
    accountID: 'acme',
    deviceID: 'truck-1',
    boot,
    counter: counter + 1,
    feature: pick(['enginecutoff', 'cargoaccess']),
    state: '1',
    expiresMs: nowMs + pick([60_000, 3_600_000, 86_400_000]),
    reason: 'stolen',
  });
  const both = (order: PersonalOrder, how: Parameters<TestOwner['sign']>[2] = {}, persons = ['ann', 'bob']) =>
    persons.map((person) => owner.sign(person, order, how));
  /** Signatures that were given for another order than the one that is sent. */
  const forOther = (change: (order: PersonalOrder) => Partial<PersonalOrder>) => (order: PersonalOrder) =>
    both({ ...order, ...change(order) });
  const ways: Readonly<Record<string, (order: PersonalOrder) => readonly Assertion[]>> = {
    none: () => [],
    'a wrong boot': forOther(() => ({ boot: pick(['b0', '', 'ffffffff']) })),
    'an old counter': forOther(({ counter }) => ({ counter: counter - dice.integer(1, 50) })),
    'another device': forOther(() => ({ deviceID: pick(['truck-2', 'truck-11', 'TRUCK-1']) })),
    'another account': forOther(() => ({ accountID: 'rival' })),
    'another feature': forOther(({ feature }) => ({
      feature: feature === 'enginecutoff' ? 'cargoaccess' : 'enginecutoff',
    })),
    'the safe state': forOther(() => ({ state: '0' })),
    'a shorter life': forOther(({ expiresMs }) => ({ expiresMs: expiresMs - dice.integer(1, 50_000) })),
    'another reason': forOther(() => ({ reason: pick(['', 'Stolen', 'stolen ']) })),
    'a removed person': (order) =>
      both(order, {}, pick([[removedPerson], [removedPerson, 'ann'], ['ann', removedPerson]])),
    'another rpID': (order) => both(order, { rpID: pick(['evil.example.com', 'example.com', '']) }),
    'another origin': (order) => both(order, { client: { origin: 'https://evil.example.com' } }),
    'a frame of another origin': (order) => both(order, { client: { crossOrigin: true } }),
    'the user not verified': (order) => both(order, { flags: pick([0x00, 0x01, 0x04]) }),
    'a login': (order) => both(order, { client: { type: 'webauthn.create' } }),
    'too few persons': (order) => (order.feature === 'enginecutoff' ? both(order, {}, ['ann']) : []),
    'one person twice': (order) => (order.feature === 'enginecutoff' ? both(order, {}, ['ann', 'ann']) : []),
    strangers: (order) => ['ann', 'bob'].map((person) => stranger.sign(person, order)),
    'keys that were exchanged': (order) => {
      const [ann, bob] = both(order);
      return [
        { ...(ann as Assertion), credential: (bob as Assertion).credential },
        { ...(bob as Assertion), credential: (ann as Assertion).credential },
      ];
    },
    'a bit that was turned': (order) =>
      both(order).map((one) => {
        const bytes = Buffer.from(one.signature, 'base64url');
        const at = dice.integer(0, bytes.length - 1);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.integer(0, 7));
        return { ...one, signature: bytes.toString('base64url') };
      }),
  };
  const documents: Readonly<Record<string, () => object>> = {
    'a list of another key': () => ({
      ...owner.document({ version: 3 }),
      signatures: stranger.document({ version: 3 }).signatures,
    }),
    'the document of another owner': () => stranger.document({ version: 9 }),
    'an old list': () => owner.document({ version: 1 }),
    'a list that lowers the number': () => ({
      ...(presentDocument(owner) as { readonly list: object }),
      list: {
        ...(presentDocument(owner) as { readonly list: object }).list,
        version: 3,
        needed: { enginecutoff: 1, cargoaccess: 1 },
      },
    }),
  };
  const envelopeOf = (
    order: PersonalOrder,
    assertions: readonly Assertion[],
    nowMs: number,
  ): CommandBody => ({
    ...order,
    commandID: `forged-${(numbered += 1)}`,
    issuedMs: nowMs,
    mode: 'interlock',
    issuer: 'eve',
    cancel: false,
    assertions,
  });
  return {
    names: [...Object.keys(ways), ...Object.keys(documents), 'a replay'],
    next(target: Target): Attack {
      const name = pick([...Object.keys(ways), ...Object.keys(documents), 'a replay']);
      const way = ways[name];
      if (way !== undefined) {
        const order = orderOf(target);
        return { name, type: signedTypes.command, body: envelopeOf(order, way(order), target.nowMs) };
      }
      const document = documents[name];
      if (document !== undefined) {
        const body: OwnerBody = {
          accountID: 'acme',
          deviceID: 'truck-1',
          boot: target.boot,
          document: document(),
        };
        return { name, type: signedTypes.owner, body };
      }
      // As it was, or with what an attacker may write anew.
      const old = captured.length === 0 ? envelopeOf(orderOf(target), [], target.nowMs) : pick(captured);
      const change = pick([
        {},
        { commandID: `forged-${(numbered += 1)}` },
        { boot: target.boot },
        { counter: target.counter + 1 },
        {
          boot: target.boot,
          counter: target.counter + 1,
          issuedMs: target.nowMs,
          commandID: `forged-${(numbered += 1)}`,
        },
        { expiresMs: target.nowMs + 86_400_000, counter: target.counter + 1, boot: target.boot },
      ]);
      return { name, type: signedTypes.command, body: { ...old, ...change } };
    },
  };
}
