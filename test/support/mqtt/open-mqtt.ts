// An MQTT server for other people's test suites: aedes with the product's reader in front of it, and instead of the
// product's rules for devices a list of its own that lets any client do what those suites need. Nothing of the product is
// switched off: this is another composition of the same parts. `bare` leaves our parts away, for comparison.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Aedes, type AedesOptions } from 'aedes';
import { createReader, readerLimits, safeAedesOptions } from '../../../broker/adapters/mqtt/aedes-reader.ts';
import { createSystemClock } from '../../../src/adapters/system.ts';

interface OpenMqtt {
  readonly port: number;
  readonly broker: Aedes;
  close(): Promise<void>;
}

/** The topic that paho.mqtt.testing wants refused. */
const refusedFilter = 'test/nosubscribe';

const openRules: AedesOptions = {
  authorizeSubscribe: (_client, subscription, done) =>
    done(null, subscription.topic === refusedFilter ? null : subscription),
};

/** Starts on a free port of this machine. */
export async function startOpenMqtt(isBare: boolean, options: AedesOptions = openRules): Promise<OpenMqtt> {
  const broker = await Aedes.createBroker(isBare ? options : { ...options, ...safeAedesOptions });
  const host = { clock: createSystemClock(), limits: readerLimits, onFault: () => undefined };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.setNoDelay(true);
    const client = broker.handle(socket);
    if (isBare) return;
    createReader(host, { client, stream: socket });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    broker,
    async close() {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => broker.close(() => resolve()));
      await stopped;
    },
  };
}
