// What a bridge asks of a cluster and sends through it: questions some at once, the management interface, and nothing that is
// written while the cluster holds publishers up.
import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import type { ConfirmChannel } from 'amqplib';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createManagement } from '../../broker/adapters/cluster/rabbitmq-management.ts';
import { createOutlet } from '../../broker/adapters/cluster/rabbitmq-outlet.ts';
import { queriesAtOnce, queryEach } from '../../broker/cluster/cluster-queries.ts';
import { createBenchClock } from '../support/broker/broker-bench.ts';

describe('questions to a cluster', () => {
  const ids = Array.from({ length: 100 }, (_, at) => at);

  it('are sent some at once, each exactly once, and those that failed are left in order', async () => {
    const asked: number[] = [];
    let open = 0;
    let most = 0;
    const { left, failures, isGivenUp } = await queryEach(ids, async (id) => {
      asked.push(id);
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      if (id % 40 === 0) throw new Error('no node answers');
    });
    expect([...asked].sort((a, b) => a - b)).toEqual(ids);
    expect([left, failures, isGivenUp, most]).toEqual([[0, 40, 80], 3, false, queriesAtOnce]);
  });

  it('end early when no node answers, and all of them are left', async () => {
    let asked = 0;
    const outcome = await queryEach(ids, () => {
      asked += 1;
      return Promise.reject(new Error('no node answers'));
    });
    expect(outcome.left).toEqual(ids);
    expect(outcome).toMatchObject({ reason: 'no node answers', isGivenUp: true });
    expect(asked).toBeLessThan(2 * queriesAtOnce);
  });
});

describe('what goes out through a cluster', () => {
  it('is not written while the cluster holds publishers up', async () => {
    const written: string[] = [];
    // The part of amqplib's channel that is used, with every publish confirmed.
    const channel = Object.assign(new EventEmitter(), {
      publish(...[, key, , , done]: Parameters<ConfirmChannel['publish']>) {
        written.push(key);
        done?.(null, {});
        return true;
      },
    }) as unknown as ConfirmChannel;
    const outlet = createOutlet(createBenchClock());
    const message = { verb: 'commands', payload: new Uint8Array([1]), qos: 1 } as const;
    const publish = () => outlet.publish({ accountID: 'demo', deviceID: 'truck-1' }, message);
    expect(await publish()).toBe(false);
    outlet.use(channel);
    expect(await publish()).toBe(true);
    outlet.hold(true);
    expect(await publish()).toBe(false);
    expect(written).toHaveLength(1);
    outlet.hold(false);
    expect(await publish()).toBe(true);
    outlet.release(new EventEmitter() as unknown as ConfirmChannel);
    expect(await publish()).toBe(true);
    outlet.release(channel);
    expect(await publish()).toBe(false);
    expect(written).toHaveLength(3);
  });
});

describe('the management of a cluster', () => {
  // A node has 1.5 s to answer; a machine that is held up for longer is no cluster that does not answer.
  beforeEach(() => void vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal));
  afterEach(() => void vi.restoreAllMocks());

  const open = async (answer: (url: string) => readonly [number, unknown]) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const [status, body] = answer(request.url ?? '');
      response.writeHead(status).end(JSON.stringify(body));
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const bound = server.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    return { asked, url: `http://127.0.0.1:${port}`, close: () => server.close() };
  };
  const access = { user: 'manager', password: 'word', ca: null } as const;

  it('is queried first at the node that answered last', async () => {
    const broken = await open(() => [500, {}]);
    const sound = await open(() => [200, [{}]]);
    const management = createManagement({ ...access, urls: [broken.url, sound.url] });
    for (let at = 0; at < 3; at++)
      expect(await management.isConnected({ accountID: 'demo', deviceID: 'truck-1' })).toBe(true);
    expect([broken.asked.length, sound.asked.length]).toEqual([1, 3]);
  });

  it('is good for nothing when its user may not end connections of others', async () => {
    let tags: unknown = ['administrator'];
    const node = await open(() => [200, { name: 'manager', tags }]);
    const { probe } = createManagement({ ...access, urls: [node.url] });
    await expect(probe()).resolves.toBeUndefined();
    tags = 'monitoring,administrator';
    await expect(probe()).resolves.toBeUndefined();
    tags = ['monitoring'];
    await expect(probe()).rejects.toThrow('administrator');
    node.close();
    await expect(probe()).rejects.toThrow('does not answer');
  });
});
