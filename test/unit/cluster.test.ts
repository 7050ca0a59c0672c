// The pure half of a bridge behind a cluster: its address, who may do what there, what may be acknowledged, and what becomes
// of a payload that cannot be stored.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClusterUplinks, type Delivered } from '../../broker/cluster/cluster-uplinks.ts';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { checkCluster } from '../../broker/config/cluster-config.ts';
import { isLoopback } from '../../broker/config/listener-config.ts';
import { createAckWindow } from '../../broker/core/cluster/ack-window.ts';
import {
  deviceOf,
  formatRoutingKey,
  keysOf,
  mayUseResource,
  mayUseTopic,
  parseUplinkKey,
} from '../../broker/core/cluster/cluster-access.ts';
import { parseClusterUrl } from '../../broker/core/cluster/cluster-url.ts';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { AppError } from '../../src/core/errors.ts';
import { shortEventsTopic, uplinkVerbs } from '../../src/core/wire/topics.ts';
import type { Clock, Log } from '../../src/ports.ts';
import { createBenchClock } from '../support/broker/broker-bench.ts';
import { onUplinkOf } from '../support/broker/uplinks.ts';

const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silent,
};

describe('the address of a cluster', () => {
  it('names hosts with or without ports', () => {
    expect(parseClusterUrl('amqps://bridge@mq1,mq2:5700,[::1]:5672/fleet')).toEqual({
      ok: true,
      address: {
        isTls: true,
        user: 'bridge',
        hosts: [
          { host: 'mq1', port: 5671 },
          { host: 'mq2', port: 5700 },
          { host: '::1', port: 5672 },
        ],
        vhost: 'fleet',
      },
    });
  });

  it('refuses a password and whatever else is not one, without repeating it', () => {
    const wrong = [
      'amqps://bridge:hush@mq1/fleet',
      'amqps://mq1/fleet',
      'amqps://bridge@mq1',
      'amqps://bridge@/fleet',
    ];
    for (const text of [
      ...wrong,
      'amqps://bridge@mq1:0/fleet',
      'https://bridge@mq1/fleet',
      'amqps://b@m/f/x',
      '',
    ]) {
      const parsed = parseClusterUrl(text);
      expect(parsed.ok, text).toBe(false);
      expect(JSON.stringify(parsed)).not.toContain('hush');
    }
  });
});

describe('the settings of a cluster', () => {
  const settings = {
    ingress: 'amqps://bridge@mq1,mq2,mq3/fleet',
    'cluster-password-file': '/p',
    'cluster-management-urls': 'https://mq1:15671',
    'cluster-management-password-file': '/m',
  };
  const check = (flags: Readonly<Record<string, unknown>>): void => {
    loadBrokerConfig({ file: null, env: {}, flags });
  };

  it('are complete, and nothing is sent unencrypted unless a setting allows it', () => {
    expect(() => check(settings)).not.toThrow();
    for (const name of Object.keys(settings).slice(1)) {
      expect(() => check({ ...settings, [name]: undefined }), name).toThrow(/without cluster/);
    }
    const plain = { ...settings, ingress: 'amqp://bridge@mq1/fleet' };
    expect(() => check(plain)).toThrow(/without TLS/);
    expect(() => check({ ...plain, 'cluster-allow-plain': true })).not.toThrow();
    expect(() => check({ ...settings, ingress: 'amqp://bridge@127.0.0.1/fleet' })).not.toThrow();
    expect(() => check({ ...settings, 'cluster-management-urls': 'http://mq1:15672' })).toThrow(
      /without TLS/,
    );
    expect(() => check({ ...settings, 'cluster-auth-host': '10.0.0.5' })).toThrow(/which secrets are right/);
    const withSecretOnly = { ...settings, 'cluster-auth-host': '10.0.0.5', 'cluster-auth-word-file': '/w' };
    expect(() => check(withSecretOnly)).toThrow(/without TLS/);
    expect(() => check({ ...settings, 'ws-port': 9001 })).toThrow(/no MQTT/);
  });

  it('ask for nothing without ingress', () => {
    const { value } = loadBrokerConfig({ file: null, env: {}, flags: {} });
    expect(() => checkCluster(value, isLoopback)).not.toThrow();
    expect(value.ingress).toBeUndefined();
  });
});

const idText = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
const device = fc.record({ accountID: idText, deviceID: idText });

describe('what a vehicle may do in a cluster', () => {
  it('is its own topics, each in one direction', () => {
    fc.assert(
      fc.property(device, device, (own, other) => {
        const username = `${own.accountID}/${own.deviceID}`;
        const isOther = `${other.accountID}/${other.deviceID}` !== username;
        const may = (permission: string, key: string): boolean =>
          mayUseTopic({ username, name: 'amq.topic', permission, routing_key: key });
        for (const key of keysOf(own).write)
          expect([may('write', key), may('read', key)]).toEqual([true, false]);
        for (const key of keysOf(own).read)
          expect([may('write', key), may('read', key)]).toEqual([false, true]);
        const { write, read } = keysOf(other);
        if (isOther)
          for (const key of [...write, ...read]) expect(may('write', key) || may('read', key)).toBe(false);
      }),
    );
  });

  it('is nothing that was not named to the letter', () => {
    fc.assert(
      fc.property(
        device,
        fc.string(),
        fc.constantFrom('read', 'write', 'configure', ''),
        (own, text, permission) => {
          const username = `${own.accountID}/${own.deviceID}`;
          const { write, read } = keysOf(own);
          const isNamed = (permission === 'write' ? write : read).includes(text);
          expect(mayUseTopic({ username, name: 'amq.topic', permission, routing_key: text })).toBe(
            isNamed && permission !== 'configure' && permission !== '',
          );
          expect(mayUseResource({ username, resource: 'queue', name: text, permission })).toBe(false);
        },
      ),
    );
    const username = 'demo/truck-1';
    for (const key of [
      'fleet.v1.demo.truck-1.#',
      'fleet.v1.demo.*.commands',
      '#',
      'fleet/v1/demo/truck-1/commands',
    ])
      expect(mayUseTopic({ username, name: 'amq.topic', permission: 'read', routing_key: key }), key).toBe(
        false,
      );
    // The cluster passes a publish on without its connection: the short topic would be that of any device.
    const short = { username, name: 'amq.topic', routing_key: shortEventsTopic };
    for (const permission of ['read', 'write']) expect(mayUseTopic({ ...short, permission })).toBe(false);
    expect(
      mayUseTopic({
        username,
        name: 'amq.direct',
        permission: 'write',
        routing_key: keysOf({ accountID: 'demo', deviceID: 'truck-1' }).write[0] ?? '',
      }),
    ).toBe(false);
  });

  it('is its own subscription queues and the exchange of topics', () => {
    const ask = (resource: string, name: string, permission: string): boolean =>
      mayUseResource({ username: 'demo/truck-1', resource, name, permission });
    for (const permission of ['configure', 'write', 'read'])
      expect(ask('queue', 'mqtt-subscription-demo/truck-1qos1', permission)).toBe(true);
    expect(ask('queue', 'mqtt-subscription-demo/truck-2qos1', 'read')).toBe(false);
    expect(ask('queue', 'fleetward.events', 'read')).toBe(false);
    expect(ask('exchange', 'amq.topic', 'write')).toBe(true);
    expect(ask('exchange', 'amq.topic', 'configure')).toBe(false);
    expect(ask('exchange', 'amq.default', 'write')).toBe(false);
  });

  it('is under its own client id only', () => {
    expect(deviceOf({ username: 'demo/truck-1', client_id: 'demo/truck-1' })).toEqual({
      accountID: 'demo',
      deviceID: 'truck-1',
    });
    expect(deviceOf({ username: 'demo/truck-1', client_id: 'demo/truck-2' })).toBeNull();
    expect(deviceOf({ username: 'demo/truck-1' })).toBeNull();
    expect(deviceOf({ username: 'fleetward-bridge', client_id: 'fleetward-bridge' })).toBeNull();
  });

  it('is called by routing keys that are read back as they were', () => {
    fc.assert(
      fc.property(device, fc.constantFrom(...uplinkVerbs), (own, verb) => {
        expect(parseUplinkKey(formatRoutingKey(own, verb))).toEqual({ device: own, verb });
      }),
    );
    for (const key of [
      '',
      shortEventsTopic,
      'fleet.v1.a.b',
      'fleet.v1.a.b.commands',
      'fleet.v1.a.b.c.events',
      'x.v1.a.b.events',
    ])
      expect(parseUplinkKey(key)).toBeNull();
  });
});

describe('acknowledgements to a cluster', () => {
  it('cover a delivery only when it and all before it are done', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 60 })
          .chain((count) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count })),
        (order) => {
          const window = createAckWindow();
          for (let tag = 1; tag <= order.length; tag++) window.arrived(tag);
          const done = new Set<number>();
          let upTo = 0;
          for (const at of order) {
            done.add(at + 1);
            const said = window.done(at + 1);
            if (said !== null) {
              expect(said).toBeGreaterThan(upTo);
              upTo = said;
            }
            for (let tag = 1; tag <= upTo; tag++) expect(done.has(tag)).toBe(true);
            expect(done.has(upTo + 1)).toBe(false);
          }
          expect(upTo).toBe(order.length);
          expect(window.size()).toBe(0);
        },
      ),
    );
  });
});

describe('a payload that was consumed from a cluster', () => {
  const ref: DeviceRef = { accountID: 'demo', deviceID: 'truck-1', deviceNo: 7 };
  const delivered: Delivered = { device: ref, verb: 'events', payload: new Uint8Array([1]), turn: 3 };
  /** Every wait is over at once. */
  const clock: Clock = {
    ...createBenchClock(),
    after(_delayMs, run) {
      const timer = setImmediate(run);
      return () => clearImmediate(timer);
    },
  };
  const createUplinks = (
    onUplink: (device: DeviceRef) => Promise<void>,
    find: () => Promise<DeviceRef | null> = () => Promise.resolve(ref),
    isOver: () => Promise<boolean> = () => Promise.resolve(false),
  ) => {
    const kept: string[] = [];
    const uplinks = createClusterUplinks({
      clock,
      log: silent,
      find,
      onUplink: onUplinkOf(onUplink),
      onUnprocessable: (_device, { reason }) => Promise.resolve(void kept.push(reason)),
      isOver,
    });
    return { uplinks, kept };
  };
  const wanted = (): boolean => true;

  it('is tried until the store takes it, however long that is', async () => {
    let tries = 0;
    const { uplinks, kept } = createUplinks(() => {
      tries += 1;
      return tries < 50 ? Promise.reject(new AppError('storage', 'gone')) : Promise.resolve();
    });
    expect(await uplinks.handle(delivered, wanted)).toEqual({ kind: 'stored', device: ref });
    expect([tries, kept]).toEqual([50, []]);
  });

  it('is quarantined when it is refused although the store works, so that it delays no other', async () => {
    let tries = 0;
    const { uplinks, kept } = createUplinks(() => {
      tries += 1;
      return Promise.reject(new TypeError('cannot read it'));
    });
    expect(await uplinks.handle(delivered, wanted)).toEqual({ kind: 'stored', device: ref });
    expect([tries, kept]).toEqual([3, ['cannot read it']]);
  });

  it('is dropped when its device was deleted, and goes to a new one of the name', async () => {
    const gone = (device: DeviceRef): Promise<void> =>
      device.deviceNo === 7 ? Promise.reject(new AppError('not_found', 'deleted')) : Promise.resolve();
    const still = createUplinks(gone);
    expect(await still.uplinks.handle(delivered, wanted)).toEqual({ kind: 'dropped' });
    let asked = 0;
    const next = { ...ref, deviceNo: 8 };
    const renewed = createUplinks(gone, () => {
      asked += 1;
      return Promise.resolve(asked === 1 ? ref : next);
    });
    expect(await renewed.uplinks.handle(delivered, wanted)).toEqual({ kind: 'stored', device: next });
    const unknown = createUplinks(gone, () => Promise.resolve(null));
    expect(await unknown.uplinks.handle(delivered, wanted)).toEqual({ kind: 'dropped' });
  });

  it('asks for its device once, however many others of it wait for the answer', async () => {
    const answers: (() => void)[] = [];
    let isOut = true;
    const stored: number[] = [];
    const { uplinks } = createUplinks(
      (device) => Promise.resolve(void stored.push(device.deviceNo)),
      () =>
        new Promise((resolve, reject) => {
          answers.push(() => (isOut ? reject(new AppError('storage', 'gone')) : resolve(ref)));
        }),
    );
    const all = Array.from({ length: 20 }, () => uplinks.handle(delivered, wanted));
    expect(answers).toHaveLength(1);
    answers[0]?.();
    // Each is tried again after a fault of the store.
    await expect.poll(() => answers.length).toBe(2);
    isOut = false;
    answers[1]?.();
    expect(await Promise.all(all)).toEqual(all.map(() => ({ kind: 'stored', device: ref })));
    expect([answers.length, stored.length]).toEqual([2, 20]);
  });

  it('is ignored when it is not wanted any more', async () => {
    let tries = 0;
    const { uplinks, kept } = createUplinks(() => {
      tries += 1;
      return Promise.reject(new AppError('unavailable', 'not now'));
    });
    expect(await uplinks.handle(delivered, () => tries < 5)).toEqual({ kind: 'unwanted' });
    expect(kept).toEqual([]);
  });

  it('is reported as sent to a turn that is over, and only if its kind depends on turns', async () => {
    const find = () => Promise.resolve(ref);
    const { uplinks, kept } = createUplinks(
      () => Promise.resolve(),
      find,
      () => Promise.resolve(true),
    );
    expect(await uplinks.handle(delivered, wanted)).toEqual({ kind: 'over' });
    const { turn: _turn, ...event } = delivered;
    expect(await uplinks.handle(event, wanted)).toEqual({ kind: 'stored', device: ref });
    expect(kept).toEqual([]);
  });
});
