// One of several brokers on a PostgreSQL database, for the ingest bench: the broker's parts as behind a cluster, but reached
// through the MQTT server of its own. No program of ours runs so: of two such brokers only what they store a second is of use.
// Argument: the database's URL. It prints its port and ends with its standard input.

import { createGuardedPost } from '../../broker/adapters/delivery/guarded-post.ts';
import { createWebhookSender } from '../../broker/adapters/delivery/webhook.ts';
import { createMqttServer } from '../../broker/adapters/mqtt/aedes.ts';
import { createPasswords } from '../../broker/adapters/passwords.ts';
import { createBroker } from '../../broker/broker.ts';
import { createServices } from '../../broker/services.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import { createEnrolmentCrypto } from '../../src/adapters/enrolment-crypto.ts';
import { createLog } from '../../src/adapters/log.ts';
import { personsCrypto } from '../../src/adapters/persons-crypto.ts';
import { createSigner, createVerifier, generateSigningKey } from '../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';

const [url = ''] = process.argv.slice(2);
const entropy = createSystemEntropy();
const { privatePem, publicKey } = generateSigningKey();
const broker = await createBroker({
  openMqttServer: createMqttServer,
  ingress: 'cluster',
  db: await openPostgres({ url }),
  clock: createSystemClock(),
  entropy,
  signer: createSigner(privatePem),
  log: createLog('warn'),
  mqtt: { host: '127.0.0.1', port: 0 },
});
const post = createGuardedPost({
  allowsPrivate: false,
  resolve: () => Promise.reject(new Error('nobody is asked')),
});
const services = createServices({
  persons: personsCrypto,
  broker: broker.services,
  passwords: createPasswords(),
  verifier: createVerifier(publicKey),
  senders: {
    webhook: createWebhookSender(post),
    push: async () => ({ kind: 'gone', fault: 'gone' }),
    email: null,
    vapidPublicKey: '',
    targets: { allowsPrivate: false, pushHosts: [] },
    close: async () => post.close(),
  },
  enrolment: {
    crypto: createEnrolmentCrypto(entropy),
    authority: null,
    codeHours: 1,
    mqttUrls: [],
    ca: null,
    publicKey,
  },
});
const end = async (): Promise<void> => {
  await broker.close(services.close());
  process.exit(0);
};
process.stdin.on('end', () => void end()).resume();
process.once('SIGTERM', () => void end());
process.stdout.write(`${broker.mqttPort}\n`);
