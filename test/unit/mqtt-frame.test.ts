// The packets that reach the MQTT library: what the specification (MQTT 3.1.1) wants refused is refused, to the byte;
// what another library writes is let through; however the bytes are cut, the packets are the same.
import fc from 'fast-check';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { createFramer } from '../../broker/core/mqtt/mqtt-framer.ts';
import { isText } from '../../broker/core/mqtt/mqtt-text.ts';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const connect = hex('10 0d 0004 4d515454 04 02 003c 0001 70');

/** What becomes of the bytes of a connection. */
function read(bytes: Uint8Array, bytesMost = 1000): readonly string[] {
  const framer = createFramer();
  framer.push(bytes);
  const seen: string[] = [];
  for (;;) {
    const cut = framer.next(bytesMost);
    if (cut.kind === 'more') return seen;
    if (cut.kind === 'fault') return [...seen, `${cut.fault.returnCode ?? 'closed'}: ${cut.fault.reason}`];
    seen.push(Buffer.from(cut.bytes).toString('hex'));
  }
}
const afterConnect = (packet: string): string =>
  read(Uint8Array.from([...connect, ...hex(packet)])).at(-1) ?? '';
const alone = (packet: string): string => read(hex(packet)).at(-1) ?? 'more';

describe('a CONNECT', () => {
  test.each([
    ['MQTT-3.1.2-1: another protocol name', '10 0d 0004 4d515455 04 02 003c 0001 70', 'closed'],
    ['MQTT-3.1.2-2: protocol level 5', '10 0d 0004 4d515454 05 02 003c 0001 70', '1'],
    ['MQTT-3.1.2-2: protocol level 132, a bridge', '10 0d 0004 4d515454 84 02 003c 0001 70', '1'],
    ['MQTT-3.1.2-3: the reserved flag', '10 0d 0004 4d515454 04 03 003c 0001 70', 'closed'],
    ['MQTT-3.1.2-11: will QoS without a will', '10 0d 0004 4d515454 04 0a 003c 0001 70', 'closed'],
    ['MQTT-3.1.2-14: will QoS 3', '10 13 0004 4d515454 04 1e 003c 0001 70 0001 70 0001 70', 'closed'],
    ['MQTT-3.1.2-22: password without user name', '10 10 0004 4d515454 04 42 003c 0001 70 0001 70', 'closed'],
    ['MQTT-3.1.2-19: user name flag, no user name', '10 0d 0004 4d515454 04 82 003c 0001 70', 'closed'],
    ['MQTT-3.1.2-18: user name, no flag', '10 10 0004 4d515454 04 02 003c 0001 70 0001 70', 'closed'],
    ['MQTT-3.1.3-8: empty client id with clean session 0', '10 0c 0004 4d515454 04 00 003c 0000', '2'],
    ['MQTT-1.5.3-2: U+0000 in the client id', '10 0e 0004 4d515454 04 02 003c 0002 7000', 'closed'],
    ['MQTT-1.5.3-1: a surrogate in the client id', '10 0f 0004 4d515454 04 02 003c 0003 eda080', 'closed'],
    ['MQTT-2.2.2-2: reserved flags in the header', '11 0d 0004 4d515454 04 02 003c 0001 70', 'closed'],
    ['bytes after the last field', '10 0e 0004 4d515454 04 02 003c 0001 70 00', 'closed'],
    ['an empty body', '10 00', 'closed'],
    ['MQTT-3.1.0-1: a PINGREQ in its place', 'c0 00', 'closed'],
    ['2.2.3: a length of five bytes', '10 80 80 80 80 01', 'closed'],
    ['a length beyond the limit, before any of it has come', '10 ff ff ff 7f', 'closed'],
  ])('%s', (_name, packet, end) => {
    expect(alone(packet)).toMatch(new RegExp(`^${end}: `));
  });

  test.each([
    ['a ClientHello of TLS 1.2', '16 03 01 02 00 01 00 01 fc 03 03', /TLS on a listener without TLS/],
    ['one in two pieces, of SSL 3', '16 03 00', /TLS on a listener without TLS/],
    ['PROXY protocol in text', Buffer.from('PROXY TCP4 10.0.0.1 ').toString('hex'), /PROXY protocol/],
    ['PROXY protocol in bytes', '0d 0a 0d 0a 00 0d 0a 51 55 49 54 0a 21 11', /PROXY protocol/],
    ['a request of HTTP', Buffer.from('GET / HTTP/1.1\r\n').toString('hex'), /HTTP on the port of MQTT/],
    ['a scanner of SSH', Buffer.from('SSH-2.0-x\r\n').toString('hex'), /SSH/],
    ['MQTT 5', '10 0d 0004 4d515454 05 02 003c 0001 70', /level 5 .*set the client to MQTT 3\.1\.1/],
    ['anything else', '7e 7e 01 00', /CONNECT is not first/],
  ])('that is %s in its place is refused with what to do', (_what, packet, reason) => {
    expect(alone(packet.replaceAll(' ', ''))).toMatch(reason);
  });

  test('MQTT-3.1.3-6: an empty client id with clean session 1 is let through', () => {
    expect(alone('10 0c 0004 4d515454 04 02 003c 0000')).toMatch(/^100c/);
  });

  test('MQTT-3.1.0-2: a second one ends the connection', () => {
    expect(afterConnect(Buffer.from(connect).toString('hex'))).toContain('second CONNECT');
  });
});

describe('a packet after CONNECT', () => {
  test.each([
    ['MQTT-2.3.1-1: PUBLISH with packet id 0', '32 05 0001 70 0000'],
    ['MQTT-2.3.1-1: SUBSCRIBE with packet id 0', '82 06 0000 0001 70 00'],
    ['MQTT-2.3.1-1: UNSUBSCRIBE with packet id 0', 'a2 05 0000 0001 70'],
    ['MQTT-2.3.1-1: PUBACK with packet id 0', '40 02 0000'],
    ['MQTT-3.3.1-2: DUP with QoS 0', '38 03 0001 70'],
    ['MQTT-3.3.1-4: QoS 3', '36 05 0001 70 0001'],
    ['MQTT-3.3.2-2: # in a topic name', '30 03 0001 23'],
    ['MQTT-3.3.2-2: + in a topic name', '30 03 0001 2b'],
    ['MQTT-4.7.3-1: an empty topic name', '30 02 0000'],
    ['MQTT-4.7.3-1: an empty topic filter', '82 05 0001 0000 00'],
    ['MQTT-4.7.1-2: # not in the last level', '82 08 0001 0003 232f61 00'],
    ['MQTT-4.7.1-2: # not alone in its level', '82 07 0001 0002 6123 00'],
    ['MQTT-4.7.1-3: + not alone in its level', 'a2 06 0001 0002 612b'],
    ['MQTT-1.5.3-2: U+0000 in a topic name', '30 04 0002 7000'],
    ['MQTT-1.5.3-1: a surrogate in a topic filter', 'a2 07 0001 0003 eda080'],
    ['1.5.3: a control character in a topic name', '30 04 0002 701f'],
    ['1.5.3: U+009F in a topic name', '30 04 0002 c29f'],
    ['MQTT-3.8.3-3: SUBSCRIBE without a filter', '82 02 0001'],
    ['MQTT-3.10.3-2: UNSUBSCRIBE without a filter', 'a2 02 0001'],
    ['MQTT-3-8.3-4: QoS 3 of a subscription', '82 06 0001 0001 70 03'],
    ['MQTT-3.8.1-1: SUBSCRIBE with flags 0', '80 06 0001 0001 70 00'],
    ['MQTT-3.6.1-1: PUBREL with flags 0', '60 02 0001'],
    ['MQTT-3.14.1-1: DISCONNECT with a flag', 'e1 00'],
    ['PINGREQ with a body', 'c0 01 00'],
    ['PUBACK with a third byte', '40 03 0001 00'],
    ['CONNACK from a client', '20 02 00 00'],
    ['type 0', '00 00'],
    ['type 15', 'f0 00'],
  ])('%s ends the connection', (_name, packet) => {
    expect(afterConnect(packet)).toMatch(/^closed: /);
  });

  test.each([
    ['a topic beyond the Basic Multilingual Plane (1.5.3.1)', '30 07 0005 41f0aa9b94'],
    ['a topic with U+FEFF, which is kept (MQTT-1.5.3-3)', '30 05 0003 efbbbf'],
    ['$SYS and shared subscriptions, which are a matter of rights', '82 09 0001 0004 24535953 00'],
    ['wildcards in their places', '82 0a 0001 0005 2b2f612f23 02'],
  ])('%s is let through', (_name, packet) => {
    expect(afterConnect(packet)).toBe(packet.replaceAll(' ', ''));
  });

  test.each([
    ['MQTT-2.2.2-2: type 0', '0a c0'],
    ['MQTT-2.2.2-2: SUBSCRIBE with flags 0', '80 80'],
    ['MQTT-2.2.2-2: PUBREL with flags 0', '60'],
    ['MQTT-3.3.1-4: QoS 3', '36 7f 0001'],
    ['SUBACK from a client', '90 7f'],
  ])('%s ends the connection before the packet is whole', (_name, packet) => {
    expect(afterConnect(packet)).toMatch(/^closed: /);
  });

  test('names 64 topic filters at most', () => {
    const packetOf = (count: number): string =>
      Buffer.from(
        mqttPacket.generate({
          cmd: 'subscribe',
          messageId: 1,
          subscriptions: Array.from({ length: count }, () => ({ topic: 'p', qos: 0 })),
        }),
      ).toString('hex');
    expect(afterConnect(packetOf(64))).toBe(packetOf(64));
    expect(afterConnect(packetOf(65))).toContain('more than 64');
  });
});

describe('any bytes', () => {
  const topic = fc.stringMatching(/^[a-z0-9/äß€𠜎]{1,40}$/u);
  const messageId = fc.integer({ min: 1, max: 65_535 });
  const packets = fc.array(
    fc.oneof(
      fc.record({ topic, messageId, payload: fc.uint8Array({ maxLength: 200 }) }).map(
        ({ payload, ...rest }): Packet => ({
          cmd: 'publish',
          qos: 1,
          dup: false,
          retain: false,
          payload: Buffer.from(payload),
          ...rest,
        }),
      ),
      fc.record({ topic, messageId }).map(
        ({ topic: name, messageId: id }): Packet => ({
          cmd: 'subscribe',
          messageId: id,
          subscriptions: [{ topic: name, qos: 1 }],
        }),
      ),
      messageId.map((id): Packet => ({ cmd: 'puback', messageId: id })),
      fc.constant<Packet>({ cmd: 'pingreq' }),
    ),
    { maxLength: 20 },
  );

  test('that another library writes come out packet by packet, however they are cut', () => {
    fc.assert(
      fc.property(packets, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (sent, cuts) => {
        const wanted = [connect, ...sent.map((packet) => mqttPacket.generate(packet))];
        const bytes = Buffer.concat(wanted);
        const framer = createFramer();
        const got: Uint8Array[] = [];
        const drain = (): void => {
          for (let cut = framer.next(1000); cut.kind !== 'more'; cut = framer.next(1000)) {
            if (cut.kind === 'fault') expect.fail(cut.fault.reason);
            got.push(cut.bytes);
          }
        };
        for (let at = 0, index = 0; at < bytes.length; index++) {
          const length = cuts[index % cuts.length] ?? 1;
          framer.push(Uint8Array.from(bytes.subarray(at, at + length)));
          at += length;
          drain();
          expect(framer.held).toBeLessThanOrEqual(1000);
        }
        // Compared at the end: what was given away must not have been written over since.
        expect(got.map((one) => Buffer.from(one).toString('hex'))).toEqual(
          wanted.map((one) => Buffer.from(one).toString('hex')),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('never make it throw nor hold more than a packet', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (noise, isAfterConnect) => {
        const framer = createFramer();
        framer.push(isAfterConnect ? Uint8Array.from([...connect, ...noise]) : noise);
        for (let cut = framer.next(200); cut.kind === 'packet'; cut = framer.next(200));
        expect(framer.held).toBeLessThanOrEqual(noise.length + connect.length);
      }),
      { numRuns: 3000 },
    );
  });

  test('are text exactly when the strict decoder of the platform takes them and nothing unwanted is in them', () => {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const reference = (bytes: Uint8Array): boolean => {
      try {
        const text = strict.decode(bytes);
        return !/\p{Cc}|\p{Noncharacter_Code_Point}/u.test(text);
      } catch {
        return false;
      }
    };
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.string({ unit: 'binary', maxLength: 4 }).map((text) => new TextEncoder().encode(text)),
      fc.constantFrom('eda080', 'efbfbf', 'efb790', 'c080', 'f4908080', 'f0808080', 'c2', 'e282').map(hex),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const bytes = Uint8Array.from(parts.flatMap((one) => [...one]));
        expect(isText(bytes, 0, bytes.length)).toBe(reference(bytes));
      }),
      { numRuns: 5000 },
    );
  });
});
