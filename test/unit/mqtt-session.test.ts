// A logged-in connection whose client does not read what it is sent, and a server whose handler throws: nothing is held
// without end and nothing ends but the one connection. The stream is real, and full after eight bytes.
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import mqttPacket from 'mqtt-packet';
import { expect, test } from 'vitest';
import { createSession } from '../../broker/adapters/mqtt/aedes-session.ts';
import type { Completion } from '../../broker/core/completion.ts';
import type { PublishPacer } from '../../broker/ports/mqtt-server.ts';

const device = { accountID: 'acme', deviceID: 't', deviceNo: 1 };

/** Holds everything until its device's turn comes; a payload of one byte `!` overtakes. */
function createPacer() {
  const turns: (() => void)[] = [];
  const pacer: PublishPacer = {
    isHeld: () => true,
    mayOvertake: (_device, { payload }) => payload[0] === 0x21,
    wait(_device, goOn) {
      turns.push(goOn);
      return () => void turns.splice(turns.indexOf(goOn), 1);
    },
  };
  return { pacer, turns };
}

function bench(takesAll = true, pacer: PublishPacer | null = null) {
  const written: number[] = [];
  let taken: (() => void) | null = null;
  const socket = new Duplex({
    writableHighWaterMark: 8,
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      written.push(...chunk);
      taken = done;
    },
  });
  const reading: string[] = [];
  const answers: Completion[] = [];
  const begun: string[] = [];
  const failures: string[] = [];
  const pressure = {
    inFlight: 0,
    bytes: 0,
    highest: 1000,
    highestBytes: 1e6,
    waiting: new Set<() => void>(),
  };
  let publish: ((packet: Uint8Array) => boolean) | null = null;
  const session = createSession(
    {
      pressure,
      answers: { sessions: [] },
      inFlightMost: 100,
      pacer,
      held: { bytes: 0 },
      onUplink(_device, { payload }, answer) {
        if (!takesAll) throw new Error('a bug');
        begun.push(new TextDecoder().decode(payload));
        answers.push(answer);
      },
      onFailure: (_device, reason) => void failures.push(reason),
      onStall: () => void reading.push('stall'),
    },
    {
      device,
      // Of aedes' client the session uses this.
      client: {
        closed: false,
        waitForDrain: (done: () => void) => void socket.once('drain', done),
      } as never,
      socket,
      network: '127.0.0.1',
      reader: {
        serve: (lane) => {
          publish = (packet) => lane.publish(packet);
        },
        pause: () => void reading.push('pause'),
        resume: () => void reading.push('resume'),
      },
    },
  );
  const packet = (messageId: number, payload: string): Uint8Array =>
    mqttPacket.generate({
      cmd: 'publish',
      topic: 'fleet/v1/acme/t/events',
      payload,
      qos: messageId === 0 ? 0 : 1,
      ...(messageId === 0 ? {} : { messageId }),
      retain: false,
      dup: false,
    });
  return {
    socket,
    written,
    reading,
    answers,
    failures,
    pressure,
    session,
    begun,
    /** With QoS 0 under the number 0. */
    send: (messageId: number, payload = 'x') => publish?.(packet(messageId, payload)),
    drain: () => taken?.(),
  };
}

test('a client that does not read its PUBACKs is not read until it does', async () => {
  const { send, answers, reading, written, drain, pressure } = bench();
  for (let id = 1; id <= 3; id++) send(id);
  expect(pressure.inFlight).toBe(3);
  for (const answer of answers) answer.done();
  await turn();
  // All of the turn in one write.
  expect(written).toEqual([0x40, 2, 0, 1, 0x40, 2, 0, 2, 0x40, 2, 0, 3]);
  expect([reading, pressure.inFlight]).toEqual([['stall', 'pause'], 0]);
  drain();
  await turn();
  expect(reading).toEqual(['stall', 'pause', 'resume']);
});

test('a publish is completed once, and later completions of it are ignored', async () => {
  const { send, answers, written, failures, pressure, socket } = bench();
  send(1);
  send(2);
  answers[1]?.done();
  // Its turn has not come yet.
  answers[1]?.fail(new Error('late'));
  answers[0]?.done();
  answers[0]?.done();
  answers[0]?.fail(new Error('late'));
  await turn();
  expect([written.length, pressure.inFlight, failures, socket.destroyed]).toEqual([8, 0, [], false]);
});

test('a handler of publishes that throws ends the connection and not the process', () => {
  const { send, failures, pressure, socket } = bench(false);
  expect(send(1)).toBe(true);
  expect([failures, pressure.inFlight, socket.destroyed]).toEqual([['a bug'], 0, true]);
});

const acked = (written: readonly number[]): readonly number[] => written.filter((_byte, at) => at % 4 === 3);

test('publishes over the limit of their device wait, are answered in order, and weigh on no other connection', async () => {
  const { pacer, turns } = createPacer();
  const { send, answers, begun, written, pressure } = bench(true, pacer);
  for (let id = 1; id <= 3; id++) send(id, String(id));
  // An alarm does not wait behind the flood, its PUBACK does.
  send(4, '!');
  expect([begun, turns.length, pressure.inFlight]).toEqual([['!'], 1, 1]);
  answers[0]?.done();
  await turn();
  expect(acked(written)).toEqual([]);
  while (turns.length > 0) turns.shift()?.();
  expect(begun).toEqual(['!', '1', '2', '3']);
  for (const answer of answers) answer.done();
  await turn();
  expect([acked(written), pressure.inFlight]).toEqual([[1, 2, 3, 4], 0]);
});

test.each([
  ['a hundred publishes', Array.from({ length: 100 }, (_unused, at) => [at + 1, 'x'] as const)],
  ['128 KiB', [1, 2].map((id) => [id, 'x'.repeat(64 * 1024)] as const)],
  ['one with QoS 0', [[0, 'x']] as const],
])('of a client that waits no more than %s are read, until it goes on', async (_name, sent) => {
  const { pacer, turns } = createPacer();
  const { send, answers, reading, begun } = bench(true, pacer);
  for (const [id, payload] of sent.slice(0, -1)) send(id, payload);
  expect(reading).toEqual([]);
  for (const [id, payload] of sent.slice(-1)) send(id, payload);
  expect(reading).toEqual(['pause']);
  while (turns.length > 0) {
    turns.shift()?.();
    answers.at(-1)?.done();
  }
  expect([begun.length, reading]).toEqual([sent.length, ['pause', 'resume']]);
});

test.each([
  ['closes', (rig: ReturnType<typeof bench>) => void rig.socket.destroy()],
  ['ends with the service', (rig: ReturnType<typeof bench>) => rig.session.halt()],
])('a connection that %s gives up what waits, but for a QoS 0 publish that was read', async (_name, end) => {
  const { pacer, turns } = createPacer();
  const rig = bench(true, pacer);
  rig.send(1, 'comes again');
  rig.send(0, 'comes once');
  end(rig);
  await turn();
  expect([rig.begun, turns]).toEqual([['comes once'], []]);
  rig.answers[0]?.done();
  await rig.session.idle();
  expect([rig.written, rig.pressure.inFlight]).toEqual([[], 0]);
});
