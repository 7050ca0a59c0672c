// A broker in memory that welcomes a vehicle and acknowledges every event at once, and keeps the packets that it was sent.
import { generate } from 'mqtt-packet';
import { createSigner, generateSigningKey } from '../../../src/adapters/signing.ts';
import type { FleetEvent } from '../../../src/core/events/event.ts';
import { type DeviceAddress, formatTopic, shortEventsTopic } from '../../../src/core/wire/topics.ts';
import {
  decodeEvents,
  decodeHello,
  encodeJsonMessage,
  signedTypes,
  toRanges,
  type Welcome,
} from '../../../src/core/wire/wire.ts';
import type { MqttLinkHandlers, MqttMessage, OpenMqttLink } from '../../../src/ports.ts';

export interface EventPacket {
  readonly topic: string;
  /** With its MQTT header. */
  readonly bytes: number;
  readonly events: readonly FleetEvent[];
}

interface AnsweringNetwork {
  readonly openMqttLink: OpenMqttLink;
  readonly publicKey: string;
  /** Breaks the connection. Later ones are to a broker that offers the short topic or does not know it. */
  cut(offersShort: boolean): void;
}

/**
 * @param offersShort false: a broker that does not know the short topic, and ends a connection that uses it.
 * @param onPacket called with each packet of events.
 */
export function createAnsweringNetwork(
  device: DeviceAddress,
  offersShort: boolean,
  onPacket: (packet: EventPacket) => void,
): AnsweringNetwork {
  const { privatePem, publicKey } = generateSigningKey();
  const signer = createSigner(privatePem);
  let offers = offersShort;
  let current: MqttLinkHandlers | null = null;
  let messageId = 0;
  const answer = (handlers: MqttLinkHandlers, verb: 'welcome' | 'ack', payload: Uint8Array): void =>
    void setImmediate(() => {
      const message = { topic: formatTopic(device, verb), payload, qos: 0 } as const;
      if (handlers === current) handlers.onMessage(message, () => undefined);
    });
  const cut = (): void => {
    const last = current;
    current = null;
    last?.onDown('cut');
  };
  const welcome = (handlers: MqttLinkHandlers, payload: Uint8Array): void => {
    const hello = decodeHello(payload);
    if (hello === null) throw new Error('not a hello');
    const body: Welcome = {
      ...device,
      boot: hello.boot,
      nonce: hello.nonce,
      serverTimeMs: Date.UTC(2026, 10, 21, 8),
      upTo: 0,
      configVersion: 0,
      ...(offers ? { eventsTopic: shortEventsTopic } : {}),
    };
    const token = signer.sign(encodeJsonMessage(body), signedTypes.welcome);
    answer(handlers, 'welcome', new TextEncoder().encode(token));
  };
  const store = (handlers: MqttLinkHandlers, { topic, payload }: MqttMessage): void => {
    const isShort = topic === shortEventsTopic;
    if (isShort ? !offers : topic !== formatTopic(device, 'events')) return cut();
    const decoded = decodeEvents(payload);
    if (!decoded.ok || decoded.batch.boot === null) throw new Error('no events');
    const { boot, events } = decoded.batch;
    messageId = (messageId % 65_535) + 1;
    const packet = { cmd: 'publish', topic, payload: Buffer.from(payload), qos: 1, messageId } as const;
    onPacket({ topic, bytes: generate({ ...packet, dup: false, retain: false }).length, events });
    const ranges = toRanges(events.map(({ seq }) => seq));
    answer(handlers, 'ack', encodeJsonMessage({ boot, upTo: 0, ranges }));
  };
  return {
    publicKey,
    cut(offersNext) {
      offers = offersNext;
      cut();
    },
    openMqttLink(_options, handlers) {
      current = handlers;
      setImmediate(() => handlers.onUp());
      return {
        async publish(message) {
          if (handlers !== current) return;
          if (message.topic === formatTopic(device, 'hello')) welcome(handlers, message.payload);
          else if (message.topic !== formatTopic(device, 'presence')) store(handlers, message);
        },
        subscribe: async () => undefined,
        close: async () => undefined,
        destroy: () => undefined,
      };
    },
  };
}
