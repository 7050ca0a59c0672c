// A logged-in connection whose client does not read what it is sent, and a server whose handler throws: nothing is held
// without end and nothing ends but the one connection. The stream is real, and full after eight bytes.
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import mqttPacket from 'mqtt-packet';
import { expect, test } from 'vitest';
import { createSession } from '../../broker/adapters/mqtt/aedes-session.ts';
import type { Completion } from '../../broker/core/completion.ts';

const device = { accountID: 'acme', deviceID: 't', deviceNo: 1 };

function bench(takesAll = true) {
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
  const failures: string[] = [];
  const pressure = {
    inFlight: 0,
    bytes: 0,
    highest: 1000,
    highestBytes: 1e6,
    waiting: new Set<() => void>(),
  };
  let publish: ((packet: Uint8Array) => boolean) | null = null;
  createSession(
    {
      pressure,
      answers: { sessions: [] },
      inFlightMost: 100,
      onUplink(_device, _message, answer) {
        if (!takesAll) throw new Error('a bug');
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
  const packet = (messageId: number): Uint8Array =>
    mqttPacket.generate({
      cmd: 'publish',
      topic: 'fleet/v1/acme/t/events',
      payload: 'x',
      qos: 1,
      messageId,
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
    send: (messageId: number) => publish?.(packet(messageId)),
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
