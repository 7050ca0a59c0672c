// The packets of a light tracker against the MQTT library: what it sends is byte for byte what the library would send, and its
// answers are understood however the network cuts them.
import fc from 'fast-check';
import mqttPacket from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  connectBytes,
  disconnectBytes,
  pingBytes,
  publishBytes,
  readAnswers,
} from '../../simulator/core/traffic/mqtt-packets.ts';

const word = fc.string({ minLength: 1, maxLength: 64, unit: 'grapheme' });
const plain = (bytes: Uint8Array): readonly number[] => [...bytes];

describe('packets of a light tracker', () => {
  it('are those of the library', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 65_535 }), (user, secret, keepaliveS) => {
        const packet = mqttPacket.generate({
          cmd: 'connect',
          protocolId: 'MQTT',
          protocolVersion: 4,
          clean: true,
          clientId: user,
          username: user,
          password: Buffer.from(secret),
          keepalive: keepaliveS,
        });
        expect(plain(connectBytes({ user, secret, keepaliveS }))).toEqual(plain(packet));
      }),
    );
    const payloads = fc.uint8Array({ maxLength: 20_000 });
    fc.assert(
      fc.property(word, payloads, fc.integer({ min: 1, max: 65_535 }), (topic, payload, messageId) => {
        const head = { cmd: 'publish', qos: 1, dup: false, retain: false } as const;
        const packet = mqttPacket.generate({ ...head, topic, payload: Buffer.from(payload), messageId });
        expect(Buffer.compare(publishBytes(topic, payload, messageId), packet)).toBe(0);
      }),
    );
    expect(plain(pingBytes)).toEqual(plain(mqttPacket.generate({ cmd: 'pingreq' })));
    expect(plain(disconnectBytes)).toEqual(plain(mqttPacket.generate({ cmd: 'disconnect' })));
  });

  it('are answered in pieces of any size', () => {
    const answer = fc.oneof(
      fc.record({ kind: fc.constant('connack' as const), returnCode: fc.integer({ min: 0, max: 5 }) }),
      fc.record({ kind: fc.constant('puback' as const), messageId: fc.integer({ min: 1, max: 65_535 }) }),
      fc.record({ kind: fc.constant('pingresp' as const) }),
    );
    const bytesOf = (one: Answer): Uint8Array => {
      if (one.kind === 'connack')
        return mqttPacket.generate({ cmd: 'connack', returnCode: one.returnCode, sessionPresent: false });
      if (one.kind === 'puback') return mqttPacket.generate({ cmd: 'puback', messageId: one.messageId });
      return mqttPacket.generate({ cmd: 'pingresp' });
    };
    fc.assert(
      fc.property(fc.array(answer), fc.integer({ min: 1, max: 7 }), (answers, size) => {
        const bytes = Buffer.concat(answers.map(bytesOf));
        const found: Answer[] = [];
        let rest: Uint8Array = new Uint8Array(0);
        for (let at = 0; at < bytes.length; at += size) {
          const read = readAnswers(rest, bytes.subarray(at, at + size));
          expect(read).not.toBeNull();
          found.push(...(read?.answers ?? []));
          rest = read?.rest ?? rest;
        }
        expect(found).toEqual(answers);
        expect(rest).toHaveLength(0);
      }),
    );
  });

  it('end the connection when anything else comes', () => {
    const publish = mqttPacket.generate({
      cmd: 'publish',
      topic: 't',
      payload: 'x',
      qos: 0,
      dup: false,
      retain: false,
    });
    expect(readAnswers(new Uint8Array(0), publish)).toBeNull();
    expect(readAnswers(new Uint8Array(0), Uint8Array.from([0x20, 200]))).toBeNull();
  });
});
