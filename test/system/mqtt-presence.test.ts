// Who is connected, while the store fails for some seconds: what is recorded afterwards is what holds then, and not what was
// said by connections that have ended meanwhile. A command would else be bound to the wrong boot, or be recorded as sent without a receiver.
import { afterEach, expect, test } from 'vitest';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { helloOf } from '../support/broker/broker-bench.ts';
import { type LiveBroker, type LiveDevice, startLiveBroker } from '../support/broker/live-broker.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { publishPacket, type RawClient } from '../support/mqtt/raw-mqtt.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function open() {
  const live = await startLiveBroker();
  closers.push(() => live.broker.close());
  const device = await live.addDevice('acme', 'truck-1');
  return { live, device };
}
const sayHello = (client: RawClient, device: LiveDevice, boot: string): void =>
  client.send(publishPacket(device.topic('hello'), JSON.stringify(helloOf(boot)), 1));
const present = async ({ db }: LiveBroker, device: LiveDevice) => {
  const row = await findDevice(db, device);
  return [row?.isOnline, row?.boot];
};
const isFailing = ({ log }: LiveBroker) => log.lines.some(({ event }) => event === 'store_unavailable');
const isWell = ({ log }: LiveBroker) => log.lines.some(({ event }) => event === 'store_restored');

/** Resolves when all is stored that was waiting for the store. */
async function commitAfter(live: LiveBroker): Promise<void> {
  const other = await live.addDevice('acme', 'truck-2');
  const client = await live.login(other);
  sayHello(client, other, 'b1');
  await client.next('puback');
  client.end();
}

test('a vehicle that disconnected while its hello waited for the store does not count as connected', async () => {
  const { live, device } = await open();
  live.setFailing(true);
  const client = await live.login(device);
  sayHello(client, device, 'b1');
  await waitUntil('the outage', () => isFailing(live));
  client.end();
  await waitUntil('the end of the connection', () => live.broker.services.metrics().connections === 0);
  live.setFailing(false);
  await waitUntil('the store to work again', () => isWell(live));
  await commitAfter(live);
  expect(await present(live, device)).toEqual([false, null]);
});

test('the end of a connection that the store refused is recorded when the store works again', async () => {
  const { live, device } = await open();
  const client = await live.login(device);
  sayHello(client, device, 'b1');
  await client.next('puback');
  expect(await present(live, device)).toEqual([true, 'b1']);
  live.setFailing(true);
  client.end();
  await waitUntil('an end that is not recorded', () =>
    live.log.lines.some(({ event }) => event === 'offline_not_recorded'),
  );
  live.setFailing(false);
  await waitUntil('the end to be recorded', async () => (await present(live, device))[0] === false);
});

test('the hello of a new connection stands when that of the one before is tried again after it', async () => {
  const { live, device } = await open();
  const first = await live.login(device);
  const release = live.holdCommits();
  sayHello(first, device, 'b1');
  await waitUntil('the hello to be held', () => live.heldWrites() > 0);
  const second = await live.login(device);
  sayHello(second, device, 'b2');
  second.send({ cmd: 'pingreq' });
  await second.next('pingresp');
  // Only what the first one said is refused: the second one comes behind it, to a store that works.
  live.failUntilNoticed();
  release();
  await second.next('puback');
  await waitUntil('the store to work again', () => isWell(live));
  await commitAfter(live);
  expect(await present(live, device)).toEqual([true, 'b2']);
});
