// One broker of several on a PostgreSQL database, as a process of its own behind a cluster that the parent plays: what devices
// send comes as messages, each answered when it may be acknowledged; what leaves for devices goes back. Serves HTTP as the
// program does.

import { createGuardedPost } from '../../../dist/broker/adapters/delivery/guarded-post.js';
import { createWebhookSender } from '../../../dist/broker/adapters/delivery/webhook.js';
import { createHttpServer } from '../../../dist/broker/adapters/http/fastify.js';
import { createPasswords } from '../../../dist/broker/adapters/passwords.js';
import { createBroker } from '../../../dist/broker/broker.js';
import { operations } from '../../../dist/broker/operations.js';
import { createServices } from '../../../dist/broker/services.js';
import { openPostgres } from '../../../dist/src/adapters/database/postgres.js';
import { createEnrolmentCrypto } from '../../../dist/src/adapters/enrolment-crypto.js';
import { createSigner } from '../../../dist/src/adapters/signing.js';
import { createSystemClock, createSystemEntropy } from '../../../dist/src/adapters/system.js';

const [url, privatePem] = process.argv.slice(2);
const clock = createSystemClock();
const entropy = createSystemEntropy();
const say = (event, fields) => process.send({ kind: 'log', event, fields });
const quiet = () => undefined;
const log = { debug: quiet, info: say, warn: say, error: say, with: () => log };
const wide = { burst: 1e6, perS: 1e6 };

/** The parent's cluster, as this broker sees it. */
async function openMqttServer({ onUplink }) {
  process.on('message', ({ no, device, verb, payload }) => {
    if (no === undefined) return;
    const message = { verb, payload: Buffer.from(payload, 'base64') };
    onUplink(device, message, {
      done: () => process.send({ kind: 'taken', no }),
      fail: (thrown) => process.send({ kind: 'refused', no, reason: String(thrown) }),
    });
  });
  return {
    port: 0,
    websocketPort: null,
    renewTls: quiet,
    async publish({ accountID, deviceID }, { verb, payload }) {
      const text = Buffer.from(payload).toString();
      process.send({ kind: 'downlink', user: `${accountID}/${deviceID}`, verb, text });
      return true;
    },
    listens: () => true,
    connected: () => null,
    connectedDevices: () => [],
    connectionCount: () => 0,
    kick: quiet,
    close: async () => undefined,
  };
}

const db = await openPostgres({ url, readersMost: 4 });
const broker = await createBroker({
  openMqttServer,
  ingress: 'cluster',
  db,
  clock,
  entropy,
  signer: createSigner(privatePem),
  log,
  mqtt: { host: '127.0.0.1', port: 0 },
});
const post = createGuardedPost({ allowsPrivate: true, resolve: () => Promise.reject(new Error('no names')) });
const gone = async () => ({ kind: 'gone', fault: 'gone' });
const services = createServices({
  broker: broker.services,
  passwords: createPasswords(),
  senders: {
    webhook: createWebhookSender(post),
    push: gone,
    email: null,
    vapidPublicKey: '',
    targets: { allowsPrivate: true, pushHosts: [] },
    close: async () => post.close(),
  },
  enrolment: {
    crypto: createEnrolmentCrypto(entropy),
    authority: null,
    codeHours: 1,
    mqttUrls: [],
    ca: null,
    publicKey: '',
  },
});
const http = await createHttpServer({
  services: services.api,
  operations,
  rates: { token: wide, failures: wide },
  version: '0.0.0',
  readiness: async () => [],
});
const port = await http.listen({ host: '127.0.0.1', port: 0 });
const end = async () => {
  await Promise.all([http.close(), services.close()]);
  await broker.close();
  process.exit(0);
};
process.on('message', ({ stop }) => {
  if (stop === true) void end();
});
process.on('disconnect', () => process.exit(0));
process.send({ kind: 'ready', port });
