// One tracker of the bench of neighbours: publishes with QoS 1 and calls back with each PUBACK, which come in order (MQTT-4.6.0-2).
import { connect } from 'node:net';
import { formatDeviceUser, formatTopic } from '../../src/core/wire/topics.ts';
import { connectBytes, publishBytes, text } from './mqtt-bytes.ts';

export interface Tracker {
  publish(payload: object, onAck: () => void): void;
  /** Messages that wait for their PUBACK. */
  waiting(): number;
  end(): void;
}

interface Target {
  readonly mqttPort: number;
  readonly accountID: string;
  readonly deviceID: string;
  readonly secret: string;
  readonly from: string;
}

/** @throws Error when the broker refuses it. */
export async function openTracker({ mqttPort, secret, from, ...device }: Target): Promise<Tracker> {
  const socket = connect({ port: mqttPort, host: '127.0.0.1', localAddress: from, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => socket.write(connectBytes(formatDeviceUser(device), secret)));
    socket.once('data', (bytes) => {
      if (bytes[0] === 0x20 && bytes[3] === 0) resolve();
      else reject(new Error(`${device.deviceID} was refused: ${bytes.toString('hex')}`));
    });
  });
  const topic = text(formatTopic(device, 'events'));
  const acks: (() => void)[] = [];
  let [sent, partial] = [0, 0];
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    const count = (partial + bytes.length) >> 2;
    partial = (partial + bytes.length) & 3;
    for (let at = 0; at < count; at++) acks.shift()?.();
  });
  return {
    publish(payload, onAck) {
      sent += 1;
      acks.push(onAck);
      socket.write(publishBytes(topic, (sent % 65_000) + 1, Buffer.from(JSON.stringify(payload))));
    },
    waiting: () => acks.length,
    end: () => socket.destroy(),
  };
}
