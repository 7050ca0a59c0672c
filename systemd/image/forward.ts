// The broker of the practice fleet listens on loopback only, by its own rule. Inside of a container nobody would reach it: this takes
// connections at the container's own addresses and hands them on. The operator chose to publish the port.
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Hands connections to `port` at every other IPv4 address of this container on to 127.0.0.1. */
export function forwardToLoopback(port: number): void {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4');
  for (const { address } of addresses) {
    const server = createServer((client) => {
      const broker = connect(port, '127.0.0.1');
      client.pipe(broker).pipe(client);
      client.on('error', () => broker.destroy());
      broker.on('error', () => client.destroy());
    });
    server.on('error', (error) =>
      process.stderr.write(`${address}:${port} is not served: ${error.message}\n`),
    );
    server.listen(port, address).unref();
  }
}
