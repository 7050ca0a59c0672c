// Other brokers beside ours, for the ingest bench: RabbitMQ with a durable quorum queue, whose PUBACK comes after a write to the disk, and
// NATS JetStream as Debian has them, which leaves that to the system for two minutes. Nobody takes the events meanwhile: what they store
// is kept until the end.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';
import mqtt from 'mqtt';
import { queues } from '../../broker/adapters/cluster/rabbitmq-topology.ts';
import { bridgeUser, type RabbitBench, startRabbit } from '../support/cluster/rabbitmq.ts';
import { freePort } from '../support/machine/free-port.ts';
import { ingestAccount, type Place } from './ingest-servers.ts';

export interface Other {
  readonly name: 'rabbitmq' | 'nats';
  readonly servers: Place['servers'];
  close(): Promise<void>;
}

/** A queue that gets every event, as the bridges make it. */
async function makeQueue({ nodes, tls }: RabbitBench): Promise<void> {
  const files = { ca: tls.caFile, cert: tls.certFile, key: tls.keyFile };
  const { name: username, password } = bridgeUser;
  const [node] = nodes;
  const connection = await connect(
    { protocol: 'amqps', hostname: 'localhost', port: node?.amqps ?? 0, username, password, vhost: 'fleet' },
    Object.fromEntries(Object.entries(files).map(([name, path]) => [name, readFileSync(path)])),
  );
  const channel = await connection.createChannel();
  const { name } = queues.events;
  await channel.assertQueue(name, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  await channel.bindQueue(name, 'amq.topic', '#');
  await connection.close();
}

/** Its own users: it asks nobody about a login or a message. */
function addUsers({ ctl }: RabbitBench): void {
  const { accountID, devices, secret } = ingestAccount;
  const every = '<<".*">>, <<".*">>, <<".*">>';
  ctl(
    'eval',
    `lists:foreach(fun(N) ->
      User = iolist_to_binary(io_lib:format("${accountID}/truck-~5..0B", [N])),
      rabbit_auth_backend_internal:add_user(User, <<"${secret}">>, <<"bench">>),
      rabbit_auth_backend_internal:set_permissions(User, <<"fleet">>, ${every}, <<"bench">>)
    end, lists:seq(0, ${devices - 1})).`,
  );
}

async function startRabbitmq(): Promise<Other> {
  const rabbit = await startRabbit({ count: 1, authPort: await freePort(), schedulers: 2 });
  await makeQueue(rabbit);
  addUsers(rabbit);
  const pid = Number(/\d+/.exec(rabbit.ctl('eval', 'os:getpid().'))?.[0]);
  return {
    name: 'rabbitmq',
    servers: rabbit.nodes.map(({ mqtt: port }) => ({ port, child: { pid } })),
    close: rabbit.close,
  };
}

/** Makes a subscriber that is away: JetStream keeps messages as long as one wants them. */
async function addKeeper(port: number): Promise<void> {
  const url = `mqtt://127.0.0.1:${port}`;
  const keeper = await mqtt.connectAsync(url, { clientId: 'keeper', clean: false, reconnectPeriod: 0 });
  await keeper.subscribeAsync('#', { qos: 1 });
  await keeper.endAsync();
}

async function startNats(folder: string): Promise<Other> {
  const [port, natsPort] = [await freePort(), await freePort()];
  const file = join(folder, 'nats.conf');
  writeFileSync(
    file,
    `server_name: bench
listen: "127.0.0.1:${natsPort}"
jetstream { store_dir: "${join(folder, 'nats')}" }
mqtt { listen: "127.0.0.1:${port}" }
`,
  );
  const child: ChildProcess = spawn('nats-server', ['-c', file], { stdio: 'ignore' });
  const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
  for (let tries = 20; ; tries--) {
    try {
      await Promise.race([addKeeper(port), failed]);
      break;
    } catch (thrown) {
      if (tries === 0 || child.pid === undefined) throw thrown;
      await sleep(250);
    }
  }
  return {
    name: 'nats',
    servers: [{ port, child }],
    async close() {
      const ended = new Promise((resolve) => void child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Starts both. Needs the Debian packages rabbitmq-server and nats-server. */
export const startOthers = async (folder: string): Promise<readonly Other[]> => [
  await startRabbitmq(),
  await startNats(folder),
];
