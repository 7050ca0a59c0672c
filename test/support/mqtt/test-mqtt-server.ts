// The product's MQTT server with everything behind it left to the test: which login is accepted, and what becomes of a payload.
import { createMqttServer } from '../../../broker/adapters/mqtt/aedes.ts';
import type { MqttServer, MqttServerOptions } from '../../../broker/ports/mqtt-server.ts';
import { createSystemClock } from '../../../src/adapters/system.ts';
import { type BenchLog, createBenchLog } from '../broker/broker-bench.ts';
import { type HandleUplink, onUplinkOf } from '../broker/uplinks.ts';
import { connectPacket, connectRaw, type RawClient } from './raw-mqtt.ts';

export interface TestMqttServer {
  readonly server: MqttServer;
  readonly log: BenchLog;
  /** A logged-in connection of the device of account `acme`. */
  login(deviceID: string, changes?: object, from?: string): Promise<RawClient>;
}

const plenty = { burst: 1e9, perS: 1e9 };

type ServerChanges = Partial<Omit<MqttServerOptions, 'onUplink'>> & { readonly onUplink?: HandleUplink };

/** Every login is accepted and every payload is stored at once, but for `changes`. */
export async function openTestMqttServer({
  onUplink = async () => undefined,
  ...changes
}: ServerChanges = {}): Promise<TestMqttServer> {
  const log = createBenchLog();
  const server = await createMqttServer({
    port: 0,
    host: '127.0.0.1',
    clock: createSystemClock(),
    log,
    authenticate: async (device) => ({ ...device, deviceNo: 1 }),
    onUplink: onUplinkOf(onUplink),
    onOffline: () => undefined,
    isOverloaded: () => false,
    ...changes,
    limits: { connects: plenty, failures: plenty, ...changes.limits },
  });
  return {
    server,
    log,
    async login(deviceID, packet = {}, from = '127.0.0.1') {
      const client = await connectRaw(server.port, undefined, from);
      client.send(connectPacket(`acme/${deviceID}`, 'secret', packet));
      const { returnCode } = await client.next('connack');
      if (returnCode !== 0) throw new Error(`CONNACK ${returnCode}`);
      return client;
    },
  };
}

/** A topic of a device of account `acme`. */
export const topicOf = (deviceID: string, verb: string): string => `fleet/v1/acme/${deviceID}/${verb}`;
