// Several brokers behind one real MQTT server, as behind a cluster: what a device sends is handed to them in turn, one after the
// other for each device, and whichever has something for a device publishes it there. None of them knows the connections.
import { createMqttServer } from '../../../broker/adapters/mqtt/aedes.ts';
import type { DeviceRef } from '../../../broker/core/device-key.ts';
import type {
  MqttServer,
  MqttServerOptions,
  OpenMqttServer,
  Uplink,
} from '../../../broker/ports/mqtt-server.ts';
import { createQueues } from '../../../broker/scheduling/queues.ts';
import { AppError } from '../../../src/core/errors.ts';
import { handleUplinkOf, onUplinkOf } from './uplinks.ts';

export interface TestCluster {
  /** The way in for one more broker. */
  readonly open: OpenMqttServer;
}

const offline: Uplink = { verb: 'presence', payload: new TextEncoder().encode('offline') };

/** A cluster that starts with its first broker and ends with its last one. */
export function createTestCluster(): TestCluster {
  const members: MqttServerOptions[] = [];
  const queues = createQueues();
  let server: Promise<MqttServer> | null = null;
  let turns = 0;
  const next = (): MqttServerOptions => {
    turns += 1;
    const member = members[turns % members.length];
    if (member === undefined) throw new AppError('unavailable', 'no broker is there');
    return member;
  };
  const deliver = (device: DeviceRef, message: Uplink): Promise<void> =>
    queues.run(device.deviceNo, () => handleUplinkOf(next().onUplink)(device, message));
  const start = (options: MqttServerOptions): Promise<MqttServer> =>
    createMqttServer({
      ...options,
      authenticate: (device, proof) => next().authenticate(device, proof),
      onUplink: onUplinkOf(deliver),
      onOffline: (device) => void deliver(device, offline).catch(() => undefined),
      isOverloaded: () => false,
    });
  return {
    async open(options) {
      members.push(options);
      server ??= start(options);
      const opened = await server;
      return {
        ...opened,
        connected: () => null,
        connectedDevices: () => [],
        async close() {
          members.splice(members.indexOf(options), 1);
          if (members.length === 0) await opened.close();
        },
      };
    },
  };
}
