// When events leave the vehicle and under which topic: a whole agent on a virtual clock in a town, and a broker in memory. Alarms leave as they are
// stored, changes of state within two seconds, positions within their window; nothing is lost and no order changes, over lost connections and
// between brokers that know the short topic and brokers that do not.
import { expect, it, onTestFinished } from 'vitest';
import { statusCodes, statusPriority } from '../../src/core/events/status-codes.ts';
import { formatTopic } from '../../src/core/wire/topics.ts';
import { createAnsweringNetwork, type EventPacket } from '../support/mqtt/answering-network.ts';
import { startVirtualVehicle } from '../support/virtual/virtual-vehicle.ts';

const device = { accountID: 'demo', deviceID: 'van-01' };
const windowS = 60;
/** Between two steps of the simulation nothing happens; storing and sending take some of them. */
const stepsMs = 1000;

async function drive(seed: string, offersShort: boolean) {
  const packets: (EventPacket & { readonly atMs: number })[] = [];
  const storedMs = new Map<number, number>();
  let nowMs = (): number => 0;
  const far = createAnsweringNetwork(device, offersShort, (packet) => {
    packets.push({ ...packet, atMs: nowMs() });
  });
  const onStored = (events: readonly { readonly seq: number }[]): void => {
    for (const { seq } of events) storedMs.set(seq, nowMs());
  };
  const one = await startVirtualVehicle({ seed, windowS, far, onStored });
  nowMs = () => one.vehicle.clock.monoMs();
  onTestFinished(() => one.close());
  return { ...one, far, packets, storedMs };
}

it('an alarm leaves when it is stored, a change of state within two seconds, a position within its window', async () => {
  const { vehicle, pass, packets, storedMs } = await drive('company', true);
  await pass(200);
  vehicle.panic(600);
  await pass(400);
  const longestMs = [0, 0, 0, 0];
  for (const { events, atMs } of packets.filter((packet) => packet.atMs > 10_000)) {
    for (const { seq, statusCode } of events) {
      const waitedMs = atMs - (storedMs.get(seq) ?? Number.NaN);
      const priority = statusPriority(statusCode);
      longestMs[priority] = Math.max(longestMs[priority] ?? 0, waitedMs);
    }
  }
  const [urgent = NaN, alarms = NaN, changes = NaN, positions = NaN] = longestMs;
  expect(Math.max(urgent, alarms)).toBeLessThan(stepsMs);
  expect(changes).toBeLessThan(2000 + stepsMs);
  expect(positions).toBeLessThan(windowS * 1000 + stepsMs);
  const codes = packets.flatMap(({ events }) => events.map(({ statusCode }) => statusCode));
  for (const { code } of [statusCodes.PANIC_ON, statusCodes.PANIC_OFF, statusCodes.MOTION_START])
    expect(codes).toContain(code);
});

it('sends everything that was stored, each class in its order, over lost connections and other brokers', async () => {
  const { pass, far, packets, storedMs, vehicle } = await drive('reconnects', true);
  const long = formatTopic(device, 'events');
  const topics: string[][] = [];
  for (const offersNext of [false, true, false, true]) {
    await pass(60);
    vehicle.panic(600);
    await pass(41);
    topics.push([...new Set(packets.splice(0).map((packet) => (check(packet), packet.topic)))]);
    far.cut(offersNext);
  }
  await pass(windowS + 40);
  for (const packet of packets) check(packet);
  // A connection uses the topic that its own broker offered, whatever the one before did.
  expect(topics).toEqual([['e'], [long], ['e'], [long]]);
  expect([...sent].sort((a, b) => a - b)).toEqual(
    [...storedMs.keys()].filter((seq) => seq <= Math.max(...sent)),
  );
});

const sent = new Set<number>();
const newest = [0, 0, 0, 0];
/** Notes what a packet holds; what is sent for the first time comes behind what was sent before of its class. */
function check({ events }: EventPacket): void {
  for (const { seq, statusCode } of events) {
    const priority = statusPriority(statusCode);
    if (!sent.has(seq)) expect(seq).toBeGreaterThan(newest[priority] ?? 0);
    sent.add(seq);
    newest[priority] = Math.max(newest[priority] ?? 0, seq);
  }
}

it('asks a broker that does not know the short topic for nothing that it does not know', async () => {
  const { pass, packets } = await drive('old', false);
  await pass(120);
  expect(packets.length).toBeGreaterThan(3);
  for (const { topic } of packets) expect(topic).toBe(formatTopic(device, 'events'));
});
