// An owner with persons, as `fleetward-broker owner` and their browsers would make them: keys, documents and signatures of orders.
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../src/core/canonical-json.ts';
import type { PersonalOrder } from '../../../src/core/persons/persons.ts';
import type { Assertion } from '../../../src/core/wire/assertion.ts';
import {
  type AssertionOptions,
  type Authenticator,
  createAuthenticator,
  createOwnerKey,
  pinOf,
  testDomain,
} from './authenticator.ts';

/** The challenge of an order; it shares no code with the product's but the canonical JSON. */
export function challengeOf(order: PersonalOrder): Uint8Array {
  const { accountID, deviceID, boot, counter, feature, state, expiresMs, reason } = order;
  const exactly = { accountID, deviceID, boot, counter, feature, state, expiresMs, reason };
  return createHash('sha256')
    .update(`fleetward-order-1\n${canonicalJson(exactly)}`)
    .digest();
}

export interface TestOwner {
  readonly pin: string;
  readonly persons: Readonly<Record<string, Authenticator>>;
  /** A signed document. @param change of its list; `version` 1 and two persons for a cut unless given. */
  document(change?: object): { readonly list: object; readonly signatures: readonly string[] };
  documentText(change?: object): string;
  /** @param person one of `persons`. */
  sign(person: string, order: PersonalOrder, how?: AssertionOptions): Assertion;
}

/** @param vehicles that each person may order. */
export function createTestOwner(
  personIDs: readonly string[] = ['ann', 'bob'],
  vehicles: readonly string[] = ['acme/*'],
): TestOwner {
  const key = createOwnerKey();
  const set = { version: 1, needed: 1, keys: [key.publicKey] };
  const pin = pinOf(set);
  const persons = Object.fromEntries(
    personIDs.map((id, at) => [id, createAuthenticator(at % 2 === 0 ? 'ES256' : 'Ed25519')]),
  );
  const document = (change: object = {}) => {
    const list = {
      version: 1,
      set: pin,
      ...testDomain,
      validUntilMs: Date.UTC(2099, 0, 1),
      needed: { enginecutoff: Math.min(2, personIDs.length), cargoaccess: 1 },
      persons: Object.entries(persons).map(([id, { credential, publicKey }]) => ({
        id,
        name: `Person ${id}`,
        role: 'both',
        vehicles,
        passkeys: [{ credential, publicKey }],
      })),
      ...change,
    };
    return { sets: [{ set, signatures: [] }], list, signatures: [key.sign('list', list)] };
  };
  return {
    pin,
    persons,
    document,
    documentText: (change) => JSON.stringify(document(change)),
    sign(person, order, how) {
      const authenticator = persons[person];
      if (authenticator === undefined) throw new Error(`no person ${person}`);
      return authenticator.assert(challengeOf(order), how);
    },
  };
}
