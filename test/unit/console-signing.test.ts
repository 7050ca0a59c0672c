// What the console signs: the order that its screen shows, and nothing else.
import { describe, expect, it } from 'vitest';
import {
  challengeOf,
  type Difference,
  differenceOf,
  missingOf,
  type SeenOrder,
} from '../../broker/console/state/orders/signing.ts';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import { orderChallenge, type PersonalOrder } from '../../src/core/persons/persons.ts';
import { encodeBase64url } from '../../src/core/persons/webauthn.ts';

const order: PersonalOrder = {
  accountID: 'acme',
  deviceID: 'bus-7',
  boot: 'b1',
  counter: 12,
  feature: 'enginecutoff',
  state: '1',
  expiresMs: 2_000_000,
  reason: 'stolen: report 22',
};
const seen: SeenOrder = {
  accountID: 'acme',
  deviceID: 'bus-7',
  feature: 'enginecutoff',
  reason: 'stolen: report 22',
  latestMs: 2_000_000,
};

describe('an order to sign', () => {
  it('has the challenge that the vehicle computes', async () => {
    expect(await challengeOf(order)).toBe(encodeBase64url(orderChallenge(order, personsCrypto)));
    for (const change of [{ boot: 'b2' }, { counter: 13 }, { reason: '' }, { expiresMs: 2_000_001 }])
      expect(await challengeOf({ ...order, ...change })).not.toBe(await challengeOf(order));
  });

  it.each<readonly [Difference | null, Partial<PersonalOrder>]>([
    [null, {}],
    [null, { expiresMs: 1_000_000 }],
    ['accountID', { accountID: 'other' }],
    ['deviceID', { deviceID: 'bus-8' }],
    ['feature', { feature: 'cargoaccess' }],
    ['state', { state: '0' }],
    ['reason', { reason: 'stolen' }],
    ['expiresMs', { expiresMs: 2_000_001 }],
  ])('differs from what was seen in %s', (difference, change) => {
    expect(differenceOf({ ...order, ...change }, seen)).toBe(difference);
  });

  it('waits for the persons who are missing', () => {
    const one = { personID: 'ann', name: 'Ann', userID: 'ann', at: 1 };
    expect(missingOf({ needed: 2, given: [one] })).toBe(1);
    expect(missingOf({ needed: 1, given: [one, one] })).toBe(0);
  });
});
