// The MQTT side of the broker when a RabbitMQ cluster stands in front: vehicles speak MQTT to the cluster, this process takes
// what they said from its queues over AMQP and publishes what they shall hear. Nothing is acknowledged before it is on disk.
// It holds no connection of a vehicle, and never says that it does.
import type { ChannelModel } from 'amqplib';
import { messageOf } from '../../src/core/errors.ts';
import type { DeviceAddress } from '../../src/core/topics.ts';
import type { Cancel, Entropy } from '../../src/ports.ts';
import { pause, settleWithin } from '../../src/settle.ts';
import { type ClusterUplinks, createClusterUplinks } from '../cluster-uplinks.ts';
import { parseUplinkKey } from '../core/cluster-access.ts';
import type { ClusterAddress } from '../core/cluster-url.ts';
import { hashSecret } from '../device-secret.ts';
import type { MqttServer, MqttServerOptions, TlsMaterial } from '../mqtt-server.ts';
import { createQueues } from '../queues.ts';
import type { DeviceRef } from '../store/devices.ts';
import type { ListenAddress } from './fastify-faults.ts';
import { type ClusterAuth, openClusterAuth } from './rabbitmq-auth.ts';
import { type Delivery, type Intake, type IntakeOptions, startIntake } from './rabbitmq-intake.ts';
import { type ClusterTls, type Link, openLink } from './rabbitmq-link.ts';
import type { Management } from './rabbitmq-management.ts';
import { createOutlet, type Outlet } from './rabbitmq-outlet.ts';
import { declareTopology, queues } from './rabbitmq-topology.ts';

export interface ClusterOptions {
  readonly address: ClusterAddress;
  readonly password: string;
  readonly tls: ClusterTls;
  readonly entropy: Entropy;
  /** Payloads of events, and as many of the rest, that are taken and not stored yet; 1 to 10,000. */
  readonly prefetch: number;
  readonly management: Management;
  /** Where RabbitMQ asks who may come in. */
  readonly auth: ListenAddress & { readonly wordHash: string | null; readonly tls: TlsMaterial | null };
  /** The device of that name today, or null. */
  readonly find: (device: DeviceAddress) => Promise<DeviceRef | null>;
  /** Higher than every turn that was given before, to whichever process. */
  readonly nextTurn: () => Promise<number>;
  /** Resolves when the login is on record. */
  readonly recordLogin: (device: DeviceRef, secretHash: string) => Promise<void>;
  /** A device has said `offline`. */
  readonly onGone: (device: DeviceRef) => void;
  /** Starts the background work that needs the cluster; gives the way to stop. */
  readonly watch: () => Cancel;
}

/** How long a shutdown waits for what was taken. */
const shutdownMs = 2500;
const turnRestMs = 1000;

interface Parts {
  readonly options: MqttServerOptions;
  readonly cluster: ClusterOptions;
  readonly uplinks: ClusterUplinks;
  readonly outlet: Outlet;
  readonly order: ReturnType<typeof createQueues>;
  intakes: readonly Intake[];
}

/** Takes a turn at the first delivery: until then another process may be at work. */
function createTurn({ options, cluster }: Parts) {
  let taken: Promise<number | null> | null = null;
  const take = async (isWanted: () => boolean): Promise<number | null> => {
    while (isWanted()) {
      try {
        return await cluster.nextTurn();
      } catch (thrown) {
        options.log.error('turn not taken', { reason: messageOf(thrown) });
        await pause(options.clock, turnRestMs);
      }
    }
    return null;
  };
  return (isWanted: () => boolean): Promise<number | null> => {
    taken ??= take(isWanted);
    return taken;
  };
}

function createTakers(parts: Parts) {
  const { options, cluster, uplinks, order } = parts;
  const turn = createTurn(parts);
  const parse = ({ routingKey, payload }: Delivery) => {
    const uplink = parseUplinkKey(routingKey);
    // No vehicle can publish that; whose it is nobody can say.
    if (uplink === null) options.log.warn('payload dropped', { key: routingKey.slice(0, 200) });
    return uplink === null ? null : { ...uplink, payload };
  };
  return {
    async events(delivery: Delivery, isWanted: () => boolean): Promise<boolean> {
      const uplink = parse(delivery);
      return uplink === null || (await uplinks.take(uplink, isWanted)).kind !== 'unwanted';
    },
    async sessions(delivery: Delivery, isWanted: () => boolean): Promise<boolean> {
      const uplink = parse(delivery);
      if (uplink === null) return true;
      const { accountID, deviceID } = uplink.device;
      // One after the other, also when the first has to wait: what a vehicle said last must stay.
      const taken = await order.run(`${accountID}/${deviceID}`, async () => {
        const mine = await turn(isWanted);
        return mine === null
          ? { kind: 'unwanted' as const }
          : uplinks.take({ ...uplink, turn: mine }, isWanted);
      });
      const isOffline = uplink.verb === 'presence' && Buffer.from(uplink.payload).equals(offline);
      if (taken.kind === 'stored' && isOffline) cluster.onGone(taken.device);
      return taken.kind !== 'unwanted';
    },
  };
}

const offline = Buffer.from('offline');

/** What one connection carries is of no use without it. */
function letGo(parts: Parts): void {
  for (const intake of parts.intakes) intake.drop();
  parts.intakes = [];
  parts.outlet.use(null);
}

async function setUp(parts: Parts, connection: ChannelModel): Promise<void> {
  const { clock, log } = parts.options;
  const { prefetch } = parts.cluster;
  await declareTopology(connection);
  const outlet = await connection.createConfirmChannel();
  // A channel that ends by itself takes its connection along: all of it is then set up anew.
  const end = (reason: string): void => {
    log.error('cluster channel ended', { reason });
    connection.close().catch(() => undefined);
  };
  const start = async (queue: string, take: IntakeOptions['take']): Promise<void> => {
    const channel = await connection.createChannel();
    channel.on('error', (error) => end(messageOf(error)));
    const onCancelled = (): void => end(`the queue ${queue} was removed or moved`);
    const intake = await startIntake(channel, { queue, prefetch, clock, log, take, onCancelled });
    parts.intakes = [...parts.intakes, intake];
  };
  outlet.on('error', (error) => end(messageOf(error)));
  parts.outlet.use(outlet);
  const takers = createTakers(parts);
  try {
    await start(queues.events.name, takers.events);
    await start(queues.sessions.name, takers.sessions);
  } catch (thrown) {
    letGo(parts);
    throw thrown;
  }
}

function openAuth({ options, cluster }: Parts): Promise<ClusterAuth> {
  const { clock, log, authenticate, isOverloaded, count = () => undefined } = options;
  const { auth, address, recordLogin } = cluster;
  return openClusterAuth(
    {
      clock,
      log,
      vhost: address.vhost,
      wordHash: auth.wordHash,
      tls: auth.tls,
      async logIn(device, secret) {
        const known = await authenticate(device, { secret, certificate: null });
        if (known === null) return false;
        await recordLogin(known, hashSecret(secret));
        return true;
      },
      isOverloaded,
      count,
    },
    auth,
  );
}

async function shutDown(parts: Parts, link: Link): Promise<void> {
  await settleWithin(
    parts.options.clock,
    Promise.all(parts.intakes.map((intake) => intake.stop(shutdownMs))),
    shutdownMs + 500,
  );
  await link.close();
  parts.outlet.use(null);
}

/**
 * Connects to the cluster and takes what vehicles sent. A cluster that does not answer yet is no fault: it is tried again.
 * @throws AppError `config` when the cluster cannot be used as it is set up, `port_in_use`.
 */
export async function createClusterServer(
  options: MqttServerOptions,
  cluster: ClusterOptions,
): Promise<MqttServer> {
  const {
    clock,
    log,
    onUplink,
    onUnprocessable = () => Promise.reject(new Error('nobody keeps it')),
  } = options;
  const uplinks = createClusterUplinks({ clock, log, find: cluster.find, onUplink, onUnprocessable });
  const outlet = createOutlet(clock);
  const parts: Parts = { options, cluster, uplinks, outlet, order: createQueues(), intakes: [] };
  // Before anything is taken: vehicles that cannot log in send nothing.
  const auth = await openAuth(parts);
  const { address, password, tls, entropy, management } = cluster;
  const link = await openLink({
    address,
    password,
    tls,
    clock,
    entropy,
    log,
    onUp: (connection) => setUp(parts, connection),
    onDown: () => letGo(parts),
  }).catch(async (thrown: unknown) => {
    await auth.close();
    throw thrown;
  });
  const stopWatching = cluster.watch();
  return {
    port: auth.port,
    websocketPort: null,
    renewTls: () => undefined,
    publish: (device, message) => outlet.publish(device, message),
    // Only the cluster knows; what nobody listens to is dropped there.
    listens: () => true,
    connected: () => null,
    kick(device, reason) {
      // What fails here is done by those who watch the logins.
      management.disconnect(device, reason).catch((thrown: unknown) => {
        log.warn('connection not ended at once', { ...device, reason: messageOf(thrown) });
      });
    },
    connectionCount: () => 0,
    fault: () => (link.isUp() ? null : 'has no connection to the cluster'),
    connectedDevices: () => [],
    async close() {
      stopWatching();
      await auth.close();
      await shutDown(parts, link);
    },
  };
}
