// The yardstick of the bridges, for the ingest bench: it takes events from the cluster and acknowledges them, up to the newest of each
// turn of its loop, and does nothing else. Argument: JSON of `ConsumerOrder`. It prints how many it took so far, every 20 ms.
import { readFileSync } from 'node:fs';
import { type ConsumeMessage, connect } from 'amqplib';
import { bridgeUser } from '../support/cluster/rabbitmq.ts';

export interface ConsumerOrder {
  /** AMQP over TLS. */
  readonly port: number;
  readonly tls: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  readonly queue: string;
  readonly prefetch: number;
}

const { port, tls, queue, prefetch } = JSON.parse(process.argv[2] ?? '') as ConsumerOrder;
const connection = await connect(
  {
    protocol: 'amqps',
    hostname: 'localhost',
    port,
    username: bridgeUser.name,
    password: bridgeUser.password,
    vhost: 'fleet',
  },
  { ca: readFileSync(tls.caFile), cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) },
);
const channel = await connection.createChannel();
await channel.prefetch(prefetch);
let taken = 0;
let newest: ConsumeMessage | null = null;
await channel.consume(queue, (message) => {
  if (message === null) throw new Error('the cluster ended the consumer');
  taken += 1;
  if (newest === null)
    setImmediate(() => {
      if (newest !== null) channel.ack(newest, true);
      newest = null;
    });
  newest = message;
});
setInterval(() => process.stdout.write(`${taken}\n`), 20);
process.once('SIGTERM', () => process.exit(0));
