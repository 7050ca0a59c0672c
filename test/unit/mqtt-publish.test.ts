// A PUBLISH read without a library: what mqtt-packet finds in the same bytes, whatever they are, and a topic that is a
// device's own to the letter or not at all. What goes back is what mqtt-packet writes.
import fc from 'fast-check';
import mqttPacket, { type IPublishPacket, type Packet } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { createFramer } from '../../broker/core/mqtt/mqtt-framer.ts';
import { encodePubacks, readPublish, uplinkVerbAt } from '../../broker/core/mqtt/mqtt-publish.ts';
import { formatTopic, parseUplink, shortEventsTopic, uplinkVerbs } from '../../src/core/wire/topics.ts';

const connect = Uint8Array.from(Buffer.from('100d00044d5154540402003c000170', 'hex'));
const device = { accountID: 'acme', deviceID: 'truck-1' };

/** The PUBLISH in these bytes when the framer lets it through, as the server reads it. */
function judged(bytes: Uint8Array): Uint8Array | null {
  const framer = createFramer();
  framer.push(connect);
  framer.next(100);
  framer.push(bytes);
  const cut = framer.next(100_000);
  return cut.kind === 'packet' && cut.bytes.length === bytes.length ? cut.bytes : null;
}

/** What mqtt-packet finds in one whole packet; null when it finds fault. */
function parsed(bytes: Uint8Array): IPublishPacket | null {
  const parser = mqttPacket.parser();
  const found: Packet[] = [];
  let isFaulty = false;
  parser.on('packet', (packet) => void found.push(packet));
  parser.on('error', () => {
    isFaulty = true;
  });
  parser.parse(Buffer.from(bytes));
  const [packet] = found;
  return !isFaulty && packet?.cmd === 'publish' ? packet : null;
}

function expectSame(bytes: Uint8Array): void {
  const packet = parsed(bytes);
  const parts = readPublish(bytes);
  expect(packet).not.toBeNull();
  expect({
    qos: parts.qos,
    retain: parts.isRetained,
    messageId: parts.packetId === 0 ? undefined : parts.packetId,
    topic: Buffer.from(bytes.subarray(parts.topic, parts.topicEnd)).toString(),
    payload: Buffer.from(bytes.subarray(parts.payload)).toString('hex'),
  }).toEqual({
    qos: packet?.qos,
    retain: packet?.retain,
    messageId: packet?.messageId,
    topic: packet?.topic,
    payload: Buffer.from(packet?.payload ?? '').toString('hex'),
  });
  const topic = packet?.topic ?? '';
  const verb = topic === shortEventsTopic ? 'events' : parseUplink(topic, device);
  expect(uplinkVerbAt(bytes, parts, device)).toBe(verb);
}

const packets = fc
  .record({
    topic: fc.oneof(
      fc.constantFrom(...uplinkVerbs.map((verb) => formatTopic(device, verb))),
      fc.constantFrom(
        'fleet/v1/acme/truck-1/ack',
        'fleet/v1/acme/truck-10/events',
        'fleet/v1/acme/truck-/events',
        'fleet/v1/acme/truck-1/event',
        'fleet/v1/acme/truck-1/eventsx',
        'fleet/v1/acme/truck-1/',
        'fleet/v1/acme/truck-1',
        'fleet/v1/other/truck-1/events',
        'fleet/v1/acm/e/truck-1/events',
        'fleet/v2/acme/truck-1/events',
        '/fleet/v1/acme/truck-1/events',
        'f',
        shortEventsTopic,
        `${shortEventsTopic}/`,
        `${shortEventsTopic}${shortEventsTopic}`,
      ),
      fc.string({ minLength: 1, maxLength: 40 }),
    ),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      // A topic's end that goes on in the payload.
      fc.constantFrom('s', 'events', '/events', 'truck-1/events').map((text) => Buffer.from(text)),
      fc.uint8Array({ minLength: 17_000, maxLength: 17_000 }),
    ),
    qos: fc.constantFrom(0 as const, 1 as const, 2 as const),
    retain: fc.boolean(),
    dup: fc.boolean(),
    messageId: fc.integer({ min: 1, max: 65_535 }),
  })
  .map(({ payload, dup, qos, ...rest }) =>
    Uint8Array.from(
      mqttPacket.generate({
        cmd: 'publish',
        payload: Buffer.from(payload),
        dup: dup && qos > 0,
        qos,
        ...rest,
      }),
    ),
  );

describe('a PUBLISH', () => {
  test('is read as mqtt-packet reads it', () => {
    let read = 0;
    fc.assert(
      fc.property(packets, (bytes) => {
        const packet = judged(bytes);
        // Topics that MQTT forbids do not come this far.
        if (packet === null) return;
        read += 1;
        expectSame(packet);
      }),
      { numRuns: 2000 },
    );
    expect(read).toBeGreaterThan(500);
  });

  test('is read as mqtt-packet reads it also when bytes of it were changed, if it is let through at all', () => {
    let read = 0;
    const change = fc.record({ at: fc.nat(400), to: fc.nat(255) });
    fc.assert(
      fc.property(packets, fc.array(change, { minLength: 1, maxLength: 4 }), (bytes, changes) => {
        const mutated = Uint8Array.from(bytes);
        for (const { at, to } of changes) mutated[at % mutated.length] = to;
        const packet = judged(mutated);
        if (packet === null || (packet[0] ?? 0) >> 4 !== 3) return;
        read += 1;
        expectSame(packet);
      }),
      { numRuns: 5000 },
    );
    expect(read).toBeGreaterThan(500);
  });

  test('reads nothing of a topic beyond its end', () => {
    const cut = mqttPacket.generate({
      cmd: 'publish',
      topic: 'fleet/v1/acme/truck-1/event',
      payload: 's',
      qos: 0,
      retain: false,
      dup: false,
    });
    expect(uplinkVerbAt(cut, readPublish(cut), device)).toBeNull();
  });
});

test('PUBACKs are those that mqtt-packet writes, in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 65_535 }), { maxLength: 50 }), (ids) => {
      const expected = ids.map((messageId) => mqttPacket.generate({ cmd: 'puback', messageId }));
      expect(Buffer.from(encodePubacks(ids))).toEqual(Buffer.concat(expected));
    }),
  );
});
