// Who may do what over MQTT, as properties over any string: a device reaches exactly its own topics. And the small pure
// counters beside it.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeConnect, judgePublish, mayReceive } from '../../broker/core/mqtt/mqtt-access.ts';
import { createTakeovers } from '../../broker/core/mqtt/takeovers.ts';
import { createRates } from '../../broker/core/scheduling/rate.ts';
import { shortEventsTopic } from '../../src/core/wire/topics.ts';

const device = { accountID: 'acme', deviceID: 'truck-1' } as const;
const own = (verb: string): string => `fleet/v1/acme/truck-1/${verb}`;
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const part = fc.oneof(
  id,
  fc.constantFrom('acme', 'truck-1', '+', '#', '', '$SYS', '$share', '..', '\u0000', 'fleet', 'v1'),
);
const verb = fc.constantFrom('hello', 'events', 'presence', 'welcome', 'ack', 'commands', 'config');
const topic = fc.oneof(
  fc.string(),
  fc.constantFrom(
    shortEventsTopic,
    'e/',
    '/e',
    'ee',
    'E',
    'e/v1/acme/truck-1/events',
    'fleet/v1/acme/truck-1/e',
  ),
  fc.array(part, { maxLength: 8 }).map((parts) => parts.join('/')),
  fc.tuple(part, part, verb).map(([account, name, last]) => `fleet/v1/${account}/${name}/${last}`),
);
const plain = { qos: 1, retain: false, messageId: 1 } as const;

describe('over any topic', () => {
  test('a device publishes on its three uplink topics, the short one of its events, and no other', () => {
    const allowed = [...['hello', 'events', 'presence'].map(own), shortEventsTopic];
    fc.assert(
      fc.property(topic, (name) => {
        expect(judgePublish(device, { ...plain, topic: name }).ok).toBe(allowed.includes(name));
      }),
      { numRuns: 3000 },
    );
    for (const name of allowed) expect(judgePublish(device, { ...plain, topic: name }).ok).toBe(true);
  });

  test('a device receives on its four downlink topics and on no other', () => {
    const allowed = ['welcome', 'ack', 'commands', 'config'].map(own);
    fc.assert(
      fc.property(topic, (name) => {
        expect(mayReceive(device, name)).toBe(allowed.includes(name));
      }),
      { numRuns: 3000 },
    );
    for (const name of allowed) expect(mayReceive(device, name)).toBe(true);
  });

  test('no device reaches a topic of another device', () => {
    const address = fc.record({ accountID: id, deviceID: id });
    fc.assert(
      fc.property(address, address, verb, (one, other, last) => {
        fc.pre(one.accountID !== other.accountID || one.deviceID !== other.deviceID);
        const name = `fleet/v1/${other.accountID}/${other.deviceID}/${last}`;
        expect(judgePublish(one, { ...plain, topic: name }).ok).toBe(false);
        expect(mayReceive(one, name)).toBe(false);
      }),
    );
  });
});

test('QoS 2, retained messages and packet id 0 are refused on allowed topics too', () => {
  const facts = { ...plain, topic: own('events') };
  expect(judgePublish(device, { ...facts, qos: 0, messageId: undefined }).ok).toBe(true);
  expect(judgePublish(device, { ...facts, qos: 2 }).ok).toBe(false);
  expect(judgePublish(device, { ...facts, retain: true }).ok).toBe(false);
  expect(judgePublish(device, { ...facts, messageId: 0 }).ok).toBe(false);
});

test('any user name that is not two ids, and any client id that is not the user name, is refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), part), fc.oneof(fc.string(), part), (account, name) => {
      const username = `${account}/${name}`;
      const facts = { clientId: username, username, hasPassword: true, keepaliveS: 60, will: null };
      const verdict = judgeConnect(facts);
      const pattern = /^[A-Za-z0-9_-]{1,64}$/;
      expect(verdict.ok).toBe(pattern.test(account) && pattern.test(name));
      expect(judgeConnect({ ...facts, clientId: `${username}x` }).ok).toBe(false);
      expect(judgeConnect({ ...facts, hasPassword: false }).ok).toBe(false);
    }),
  );
  const anonymous = { clientId: '', username: null, hasPassword: false, keepaliveS: 60, will: null };
  expect(judgeConnect(anonymous)).toMatchObject({ code: 4 });
});

test('a CONNECT has a keep-alive of at most half an hour, as every setting of our agent has', () => {
  const username = 'acme/truck-1';
  const judge = (keepaliveS: number) =>
    judgeConnect({ clientId: username, username, hasPassword: true, keepaliveS, will: null });
  // 10 to 1740 s is what the configuration of the agent allows.
  for (const keepaliveS of [1, 10, 60, 1740, 1800]) expect(judge(keepaliveS).ok).toBe(true);
  for (const keepaliveS of [0, 1801, 65_535]) expect(judge(keepaliveS)).toMatchObject({ ok: false, code: 5 });
});

test('a bucket gives its burst, then what comes back, each source for itself', () => {
  const rates = createRates({ burst: 3, perS: 2 });
  const taken = (key: string, nowMs: number) => rates.take(key, nowMs);
  expect([1, 2, 3, 4].map(() => taken('a', 0))).toEqual([true, true, true, false]);
  expect(rates.isSpent('a', 0)).toBe(true);
  expect(rates.isSpent('b', 0)).toBe(false);
  expect(taken('b', 0)).toBe(true);
  expect([1, 2].map(() => taken('a', 500))).toEqual([true, false]);
  expect([1, 2, 3, 4].map(() => taken('a', 1_000_000))).toEqual([true, true, true, false]);
  for (let key = 0; key < 30_000; key++) taken(`many ${key}`, 0);
  expect(taken('many 29999', 0)).toBe(true);
});

describe('take-overs', () => {
  const one = { user: 'a', from: '10.0.0.1', to: '10.0.0.1' };

  test('are counted over ten minutes', () => {
    const takeovers = createTakeovers();
    expect([0, 1000, 2000].map((nowMs) => takeovers.record({ ...one, nowMs }).count)).toEqual([1, 2, 3]);
    expect(takeovers.record({ ...one, user: 'b', nowMs: 2000 }).count).toBe(1);
    expect(takeovers.record({ ...one, nowMs: 600_500 }).count).toBe(3);
    expect(takeovers.record({ ...one, nowMs: 2_000_000 }).count).toBe(1);
  });

  test('from differing networks are suspect from the fourth on, from the same one only when there are very many', () => {
    const suspects = (moves: boolean): readonly number[] => {
      const takeovers = createTakeovers();
      const times = Array.from({ length: 20 }, (_unused, index) => index * 20_000);
      return times.filter((nowMs) => {
        const to = moves ? '10.0.0.2' : one.to;
        return takeovers.record({ ...one, to, nowMs }).isSuspect;
      });
    };
    expect(suspects(true)[0]).toBe(3 * 20_000);
    expect(suspects(false)[0]).toBe(12 * 20_000);
  });

  test('of a unit that changes its network now and then are not', () => {
    const takeovers = createTakeovers();
    for (let hour = 0; hour < 24; hour++) {
      const nowMs = hour * 3_600_000;
      expect(takeovers.record({ ...one, to: `10.0.0.${hour}`, nowMs }).isSuspect).toBe(false);
    }
  });
});
