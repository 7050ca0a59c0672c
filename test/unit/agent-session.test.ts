// What of the outbox goes into one packet of the agent's session.
import { expect, it } from 'vitest';
import { createSession } from '../../agent/session.ts';
import { createVirtualClock } from '../../simulator/clock.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { decodeEvents } from '../../src/core/wire/wire.ts';
import type { MqttLinkHandlers, MqttMessage } from '../../src/ports.ts';
import { open, record, silentLog } from '../support/storage/outbox-bench.ts';

/** A session that is up, on an outbox in memory. */
async function connected() {
  const boot = 'b1';
  const outbox = await open(':memory:', { boot });
  const packets: MqttMessage[] = [];
  let handlers: MqttLinkHandlers | null = null;
  let settle: () => void = () => undefined;
  const session = createSession({
    config: { accountID: 'acme', deviceID: 't', broker: { url: '', secret: '' } } as never,
    ports: {
      clock: createVirtualClock(),
      entropy: createSeededEntropy('session'),
      log: silentLog,
      openMqttLink(_options, given) {
        handlers = given;
        return {
          publish: async (message) => void packets.push(message),
          subscribe: async () => undefined,
          close: async () => undefined,
          destroy: () => undefined,
        };
      },
      verifier: { verify: () => null },
    },
    outbox,
    boot,
    hello: () => {
      throw new Error('no hello here');
    },
    dispatch: (event) => event.kind === 'delivery' && /fetched|empty/.test(event.input.kind) && settle(),
  });
  session.perform({ kind: 'connect', keepaliveS: 60 });
  (handlers as MqttLinkHandlers | null)?.onUp();
  return {
    outbox,
    /** Numbers of the events in the next packet; null when there is none. */
    async next(): Promise<readonly number[] | null> {
      await new Promise<void>((resolve) => {
        settle = resolve;
        session.perform({ kind: 'fetch', isShort: false, backlog: 0, urgentOnly: false });
      });
      const [packet] = packets.splice(0);
      if (packet === undefined) return null;
      const decoded = decodeEvents(packet.payload);
      return decoded.ok ? decoded.batch.events.map(({ seq }) => seq) : [];
    },
  };
}

it('sends a change of state and the positions stored with it in one packet, in their order', async () => {
  const { outbox, next } = await connected();
  await outbox.append([record(3, 1), record(3, 2), record(2, 3), record(3, 4)]);
  expect(await next()).toEqual([1, 2, 3, 4]);
  expect(await next()).toBeNull();
  await outbox.close();
});

it('sends an alarm before everything else, alone', async () => {
  const { outbox, next } = await connected();
  await outbox.append([record(3, 1), record(2, 2), record(1, 3), record(0, 4)]);
  expect(await next()).toEqual([4]);
  expect(await next()).toEqual([3]);
  expect(await next()).toEqual([1, 2]);
  await outbox.close();
});
