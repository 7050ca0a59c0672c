// Persons who must agree: assertions of passkeys after WebAuthn, the owner's list, and its keys.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import {
  type OwnerSet,
  type PersonsList,
  parseOwnerDocument,
  verifyOwnerDocument,
} from '../../src/core/persons/owner-document.ts';
import { createVerifyPersons, orderChallenge, type PersonalOrder } from '../../src/core/persons/persons.ts';
import { assertionRefusal, decodeBase64url, encodeBase64url } from '../../src/core/persons/webauthn.ts';
import { assertionLimits } from '../../src/core/wire/assertion.ts';
import {
  type AssertionOptions,
  createAuthenticator,
  createOwnerKey,
  pinOf,
  testDomain,
} from '../support/machine/authenticator.ts';

const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

interface Vector {
  readonly name: string;
  readonly challenge: string;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
  readonly signature: string;
  readonly spki: string;
}
const { vectors } = JSON.parse(
  readFileSync(new URL('../data/webauthn-vectors.json', import.meta.url), 'utf8'),
) as { readonly vectors: readonly Vector[] };

describe('the assertions of WebAuthn Level 3, section 16', () => {
  const expectedOf = (vector: Vector) => ({
    challenge: fromHex(vector.challenge),
    rpID: 'example.org',
    origins: ['https://example.org'],
    publicKey: encodeBase64url(fromHex(vector.spki)),
  });
  const assertionOf = (vector: Vector) => ({
    credential: 'AAAA',
    clientData: encodeBase64url(fromHex(vector.clientDataJSON)),
    authenticatorData: encodeBase64url(fromHex(vector.authenticatorData)),
    signature: encodeBase64url(fromHex(vector.signature)),
  });

  it.each(vectors)('$name: the signature is right, and the flags and the page decide', (vector) => {
    const client = JSON.parse(Buffer.from(vector.clientDataJSON, 'hex').toString()) as {
      readonly crossOrigin: boolean;
    };
    const isVerified = ((fromHex(vector.authenticatorData)[32] ?? 0) & 0x04) !== 0;
    const refusal = client.crossOrigin ? 'cross_origin' : isVerified ? null : 'user_unverified';
    expect(assertionRefusal(assertionOf(vector), expectedOf(vector), personsCrypto)).toBe(refusal);
    const { publicKey } = expectedOf(vector);
    const hash = personsCrypto.sha256(fromHex(vector.clientDataJSON));
    const signed = new Uint8Array([...fromHex(vector.authenticatorData), ...hash]);
    expect(personsCrypto.verifyPasskey(publicKey, signed, fromHex(vector.signature))).toBe(true);
  });

  it('hold at least one that is accepted', () => {
    const accepted = vectors.filter(
      (vector) => assertionRefusal(assertionOf(vector), expectedOf(vector), personsCrypto) === null,
    );
    expect(accepted.length).toBeGreaterThan(2);
  });
});

const order: PersonalOrder = {
  accountID: 'acme',
  deviceID: 'bus-7',
  boot: 'b1',
  counter: 12,
  feature: 'enginecutoff',
  state: '1',
  expiresMs: 2_000_000,
  reason: 'stolen',
};
const nowMs = 1_000_000;
const [ann, bob, eve] = [
  createAuthenticator('ES256'),
  createAuthenticator('Ed25519'),
  createAuthenticator('ES256'),
];
const keyOf = ({ credential, publicKey }: typeof ann) => ({ credential, publicKey });
const [first, second, third, other] = [
  createOwnerKey(),
  createOwnerKey(),
  createOwnerKey(),
  createOwnerKey(),
];
const set: OwnerSet = {
  version: 1,
  needed: 2,
  keys: [first.publicKey, second.publicKey, third.publicKey],
};
const pin = pinOf(set);
const list: PersonsList = {
  version: 1,
  set: pin,
  ...testDomain,
  validUntilMs: 3_000_000,
  needed: { enginecutoff: 2, cargoaccess: 1 },
  persons: [
    { id: 'ann', name: 'Ann', role: 'both', vehicles: ['acme/*'], passkeys: [keyOf(ann)] },
    { id: 'bob', name: 'Bob', role: 'cut', vehicles: ['acme/bus-*', 'acme/van'], passkeys: [keyOf(bob)] },
  ],
};
const challenge = orderChallenge(order, personsCrypto);
const verify = createVerifyPersons(personsCrypto);
const agree = (of = order) => [ann, bob].map((one) => one.assert(orderChallenge(of, personsCrypto)));

describe('an order', () => {
  it('is accepted with the assertions of as many persons as the list wants', () => {
    expect(verify(list, order, agree(), nowMs)).toEqual({ ok: true, persons: ['ann', 'bob'] });
    const unlock = { ...order, feature: 'cargoaccess' } as const;
    const one = [ann.assert(orderChallenge(unlock, personsCrypto))];
    expect(verify(list, unlock, one, nowMs)).toEqual({ ok: true, persons: ['ann'] });
  });

  it.each([
    ['no list', { list: null }, { reason: 'no_list' }],
    ['an unknown time', { nowMs: null }, { reason: 'time_unknown' }],
    ['a list that has ended', { nowMs: 3_000_000 }, { reason: 'list_ended' }],
    ['an order that has expired', { nowMs: 2_000_000 }, { reason: 'order_expired' }],
    ['no assertion', { given: [] }, { reason: 'too_few', needed: 2, given: 0 }],
    ['one person', { given: agree().slice(1) }, { reason: 'too_few', needed: 2, given: 1 }],
    [
      'one person twice',
      { given: [ann.assert(challenge), ann.assert(challenge, { client: { again: 1 } })] },
      { reason: 'too_few', needed: 2, given: 1 },
    ],
    [
      'five assertions',
      { given: [1, 2, 3, 4, 5].map(() => ann.assert(challenge)) },
      { reason: 'too_many', given: 5 },
    ],
    ['a stranger', { given: [...agree(), eve.assert(challenge)] }, { reason: 'unknown_passkey' }],
    [
      "a stranger's key under a known credential",
      { given: [{ ...eve.assert(challenge), credential: ann.credential }] },
      { reason: 'signature', person: 'ann' },
    ],
    [
      'a person of another role',
      { order: { ...order, feature: 'cargoaccess' as const }, given: [bob.assert(challenge)] },
      { reason: 'role', person: 'bob' },
    ],
    [
      'a person of other vehicles',
      { order: { ...order, deviceID: 'van-2' }, given: [bob.assert(challenge)] },
      { reason: 'vehicle', person: 'bob' },
    ],
    [
      'a vehicle of another account',
      { order: { ...order, accountID: 'acm' } },
      { reason: 'vehicle', person: 'ann' },
    ],
  ])('is refused with %s', (_title, given: Readonly<Record<string, unknown>>, refusal) => {
    const is = { list, order, given: agree(), nowMs, ...given } as {
      readonly list: PersonsList | null;
      readonly order: PersonalOrder;
      readonly given: ReturnType<typeof agree>;
      readonly nowMs: number | null;
    };
    expect(verify(is.list, is.order, is.given, is.nowMs)).toEqual({ ok: false, refusal });
  });

  it('is refused once any member differs from what the persons agreed to', () => {
    const others: Readonly<Record<keyof PersonalOrder, unknown>> = {
      accountID: 'acme',
      deviceID: 'bus-8',
      boot: 'b2',
      counter: 13,
      feature: 'enginecutoff',
      state: '0',
      expiresMs: 2_000_001,
      reason: 'stolen: ',
    };
    for (const [name, value] of Object.entries(others)) {
      const changed = { ...order, [name]: value } as PersonalOrder;
      const isSame = value === order[name as keyof PersonalOrder];
      expect([name, verify(list, changed, agree(), nowMs).ok]).toEqual([name, isSame]);
    }
  });

  const variants: readonly (readonly [string, AssertionOptions, string])[] = [
    ['of a registration', { client: { type: 'webauthn.create' } }, 'type'],
    ['with another challenge', { client: { challenge: 'AAAA' } }, 'challenge'],
    ['of another page', { client: { origin: 'https://fleet.example.com.evil.org' } }, 'origin'],
    ['of a page that is embedded', { client: { crossOrigin: true } }, 'cross_origin'],
    ['with a crossOrigin that is no truth value', { client: { crossOrigin: 'false' } }, 'cross_origin'],
    ['with a topOrigin', { client: { topOrigin: 'https://fleet.example.com' } }, 'cross_origin'],
    ['for another domain', { rpID: 'example.com' }, 'rp'],
    ['without a person', { flags: 0x04 }, 'user_absent'],
    ['without a check of the person', { flags: 0x01 }, 'user_unverified'],
    ['with client data that are no object', { clientText: '[]' }, 'client_data'],
    ['with client data that are no JSON', { clientText: '{"type":' }, 'client_data'],
    ['with authenticator data that end early', { authenticatorData: new Uint8Array(36) }, 'assertion_form'],
    ['with long client data', { client: { more: 'x'.repeat(2000) } }, 'assertion_form'],
    ['with long authenticator data', { authenticatorData: new Uint8Array(600) }, 'assertion_form'],
  ];
  it.each(variants)('is refused with an assertion %s', (_title, options, reason) => {
    for (const one of [ann, bob]) {
      const verdict = verify(list, order, [one.assert(challenge, options)], nowMs);
      expect(verdict).toEqual({ ok: false, refusal: { reason, person: one === ann ? 'ann' : 'bob' } });
    }
  });

  it('is refused with any bit of an assertion flipped, and with any other spelling of its bytes', () => {
    for (const good of agree()) {
      for (const member of ['clientData', 'authenticatorData', 'signature'] as const) {
        const bytes = decodeBase64url(good[member]) ?? new Uint8Array();
        for (let bit = 0; bit < bytes.length * 8; bit += 1) {
          const flipped = bytes.slice();
          flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
          const bad = { ...good, [member]: encodeBase64url(flipped) };
          expect([member, bit, verify(list, order, [bad], nowMs).ok]).toEqual([member, bit, false]);
        }
        for (const other of [`${good[member]}=`, `${good[member]} `, good[member].slice(0, -1), '']) {
          const { ok } = verify(list, order, [{ ...good, [member]: other }], nowMs);
          expect([member, other, ok]).toEqual([member, other, false]);
        }
        const long = { ...good, [member]: 'A'.repeat(assertionLimits[member] + 1) };
        expect(verify(list, order, [long], nowMs).ok).toBe(false);
      }
    }
  });
});

const sign = (kind: 'set' | 'list', value: object, keys = [first, second]) =>
  keys.map((key) => key.sign(kind, value));
const document = (of: PersonsList | null = list, keys = [first, second]) => ({
  sets: [{ set, signatures: [] }],
  list: of,
  signatures: of === null ? [] : sign('list', of, keys),
});
const refusalOf = (value: unknown, known?: Parameters<typeof verifyOwnerDocument>[0]['known']) => {
  const verdict = verifyOwnerDocument(
    { pin, value, ...(known === undefined ? {} : { known }) },
    personsCrypto,
  );
  return verdict.ok ? null : verdict.refusal;
};
const accepted = (value: unknown) => {
  const verdict = verifyOwnerDocument({ pin, value }, personsCrypto);
  if (!verdict.ok) throw new Error(verdict.refusal);
  return verdict.owner;
};
const person = { id: 'cy', name: 'Cy', role: 'cut', vehicles: ['acme/*'], passkeys: [keyOf(eve)] };
const listWith = (change: object): PersonsList => ({ ...list, ...change });

describe("the owner's document", () => {
  it.each([
    ['one of its keys too few', document(list, [first]), 'list_signatures'],
    ['one key twice', document(list, [first, first]), 'list_signatures'],
    ['a key of a stranger', document(list, [first, other]), 'list_signatures'],
    ['a list of another set', document(listWith({ set: pinOf({ ...set, needed: 1 }) })), 'list_signatures'],
    [
      'another first set',
      { ...document(), sets: [{ set: { ...set, needed: 1 }, signatures: [] }] },
      'other_owner',
    ],
    ['a changed list', { ...document(), list: listWith({ validUntilMs: 3_000_001 }) }, 'list_signatures'],
    ['an unknown member', { ...document(), more: 1 }, 'document_form'],
    ['an unknown member of its list', document(listWith({ more: 1 })), 'document_form'],
    [
      'one passkey of two persons',
      document(listWith({ persons: [list.persons[0], { ...person, passkeys: [keyOf(ann)] }] })),
      'document_form',
    ],
    [
      'one key under two credentials',
      document(
        listWith({
          persons: [list.persons[0], { ...person, passkeys: [{ ...keyOf(ann), credential: 'AAAA' }] }],
        }),
      ),
      'document_form',
    ],
    [
      'one id of two persons',
      document(listWith({ persons: [person, { ...list.persons[0], id: 'cy' }] })),
      'document_form',
    ],
    ['an unknown role', document(listWith({ persons: [{ ...person, role: 'toString' }] })), 'document_form'],
    [
      'no person needed',
      document(listWith({ needed: { enginecutoff: 0, cargoaccess: 1 } })),
      'document_form',
    ],
    [
      'a page of another domain',
      document(listWith({ origins: ['https://evil-fleet.example.com.org'] })),
      'document_form',
    ],
    ['a page without TLS', document(listWith({ origins: ['http://fleet.example.com'] })), 'document_form'],
    [
      'a pattern of all accounts',
      document(listWith({ persons: [{ ...person, vehicles: ['*'] }] })),
      'document_form',
    ],
    [
      'more than 8000 bytes',
      document(listWith({ persons: Array.from({ length: 40 }, (_, index) => ({ ...createPerson(index) })) })),
      'document_form',
    ],
    ['nothing', null, 'document_form'],
  ])('is refused with %s', (_title, value, refusal) => expect(refusalOf(value)).toBe(refusal));

  it('is accepted once, and a later one only with a higher version', () => {
    const known = accepted(document());
    expect(known.list).toEqual(list);
    expect(refusalOf(document(), known)).toBe('not_newer');
    expect(refusalOf(document(null), known)).toBe('not_newer');
    expect(refusalOf(document(listWith({ version: 2 })), known)).toBeNull();
    expect(refusalOf(document(), accepted(document(listWith({ version: 2 }))))).toBe('not_newer');
  });

  it('passes to a new set with the signatures of the old one, which then signs nothing more', () => {
    const next: OwnerSet = { version: 2, needed: 1, keys: [other.publicKey, first.publicKey] };
    const rotated = (signers = [second, third], of: OwnerSet = next) => ({
      sets: [
        { set, signatures: [] },
        { set: of, signatures: sign('set', of, signers) },
      ],
    });
    const fresh = { ...list, set: pinOf(next) };
    const whole = { ...rotated(), list: fresh, signatures: sign('list', fresh, [other]) };
    const known = accepted(document(listWith({ version: 900 })));
    expect(refusalOf(whole, known)).toBeNull();
    expect(accepted(whole).list?.version).toBe(1);
    expect(refusalOf(document(listWith({ version: 901 })), accepted(whole))).toBe('not_newer');
    expect(refusalOf({ ...rotated([second]), list: null, signatures: [] })).toBe('rotation');
    expect(
      refusalOf({ ...rotated([second, third], { ...next, version: 3 }), list: null, signatures: [] }),
    ).toBe('rotation');
    // The old list with a key that stays in the new set.
    expect(refusalOf({ ...rotated(), list, signatures: sign('list', list, [first]) })).toBe(
      'list_signatures',
    );
  });

  it('costs no more than its limit to read', () => {
    expect(parseOwnerDocument(`{"sets":${'['.repeat(8000)}`)).toBeUndefined();
    expect(parseOwnerDocument('['.repeat(7000))).toBeUndefined();
    const deep: unknown = parseOwnerDocument(`${'['.repeat(3900)}${']'.repeat(3900)}`);
    expect(refusalOf({ ...document(), list: deep })).toBe('document_form');
  });

  it('is refused with any byte of its text changed', () => {
    const text = JSON.stringify(document());
    for (let at = 0; at < text.length; at += 1) {
      const changed = `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
      const value = parseOwnerDocument(changed);
      expect([at, value !== undefined && refusalOf(value) === null]).toEqual([at, false]);
    }
  });
});

function createPerson(index: number) {
  const { credential, publicKey } = createAuthenticator('ES256');
  return { ...person, id: `p${index}`, passkeys: [{ credential, publicKey }] };
}
