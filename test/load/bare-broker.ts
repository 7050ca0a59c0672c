// The yardstick of the connection benches: aedes with its own defaults behind a plain listener, or behind TLS with the
// files in its arguments (certificate, key, and the authority of clients where they must show a certificate). It knows nobody, stores nothing and acknowledges everything.
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Aedes } from 'aedes';

const [certFile, keyFile, clientCaFile] = process.argv.slice(2);
const broker = await Aedes.createBroker({ heartbeatInterval: 60_000 });
const server =
  certFile === undefined || keyFile === undefined
    ? createServer({ noDelay: true }, broker.handle)
    : createTlsServer(
        {
          noDelay: true,
          cert: readFileSync(certFile),
          key: readFileSync(keyFile),
          ...(clientCaFile === undefined ? {} : { ca: readFileSync(clientCaFile), requestCert: true }),
        },
        broker.handle,
      );
server.on('tlsClientError', () => undefined);
server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ msg: 'broker_ready', mqttPort: port })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
