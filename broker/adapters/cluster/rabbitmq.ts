// The MQTT server port over a RabbitMQ cluster: vehicles speak MQTT to the cluster; this process consumes their publishes from
// its queues over AMQP, and publishes to them. Nothing is acknowledged before it is on disk.
// It holds no connection of a vehicle, and never says that it does.
import type { Channel } from 'amqplib';
import { messageOf } from '../../../src/core/errors.ts';
import type { DeviceAddress } from '../../../src/core/wire/topics.ts';
import type { Cancel, Entropy } from '../../../src/ports.ts';
import { pause, waitAtMost } from '../../../src/timeout.ts';
import { type ClusterUplinks, createClusterUplinks } from '../../cluster/cluster-uplinks.ts';
import { parseUplinkKey } from '../../core/cluster/cluster-access.ts';
import type { ClusterAddress } from '../../core/cluster/cluster-url.ts';
import type { DeviceRef } from '../../core/device-key.ts';
import type { MqttServer, MqttServerOptions } from '../../ports/mqtt-server.ts';
import { type TlsMaterial } from '../../ports/tls.ts';
import { createQueues } from '../../scheduling/queues.ts';
import { hashSecret } from '../../store/devices/device-secret.ts';
import type { SmallHttp } from '../http/small-http.ts';
import type { ListenAddress } from '../listen.ts';
import { openClusterAuth } from './rabbitmq-auth.ts';
import { type Delivery, type Intake, type IntakeOptions, startIntake } from './rabbitmq-intake.ts';
import { type ClusterTls, type Link, type LinkPair, openLink } from './rabbitmq-link.ts';
import type { Management } from './rabbitmq-management.ts';
import { createOutlet, type Outlet } from './rabbitmq-outlet.ts';
import { declareTopology, queues } from './rabbitmq-topology.ts';

export interface ClusterOptions {
  readonly address: ClusterAddress;
  readonly password: string;
  readonly tls: ClusterTls;
  readonly entropy: Entropy;
  /** Payloads of events, and as many of the rest, that are consumed and not stored yet; 1 to 10,000. */
  readonly prefetch: number;
  readonly management: Management;
  /** Listener for the HTTP authentication of RabbitMQ. */
  readonly auth: ListenAddress & { readonly pathSecretHash: string | null; readonly tls: TlsMaterial | null };
  /** The device of that name today, or null. */
  readonly find: (device: DeviceAddress) => Promise<DeviceRef | null>;
  /** Higher than every turn before, of any process. */
  readonly nextTurn: () => Promise<number>;
  /** True when a later turn has recorded something about the device. */
  readonly isTurnOver: (device: DeviceRef, turn: number) => Promise<boolean>;
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
/** Least time between two reconnects for a new turn. */
const turnEndMs = 5000;

interface ClusterServerState {
  readonly options: MqttServerOptions;
  readonly cluster: ClusterOptions;
  readonly uplinks: ClusterUplinks;
  readonly outlet: Outlet;
  readonly order: ReturnType<typeof createQueues>;
  intakes: readonly Intake[];
  isStopping: boolean;
  /** Monotonic; when the last connection was closed because its turn was over. */
  turnEndedMs: number;
}

/** Takes a turn at the first delivery: until then another process may be at work. */
function createTurn({ options, cluster }: ClusterServerState) {
  let taken: Promise<number | null> | null = null;
  const take = async (isWanted: () => boolean): Promise<number | null> => {
    while (isWanted()) {
      try {
        return await cluster.nextTurn();
      } catch (thrown) {
        options.log.error('cluster_turn_failed', { reason: messageOf(thrown) });
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

/**
 * A later turn exists, and yet sessions are delivered here: the cluster has come back to this process. Closes the connection, so
 * that the next one takes a new turn; not at once after the last time, as two bridges might alternate.
 */
function createTurnEnd(state: ClusterServerState, { taking }: LinkPair): () => void {
  const { clock, log } = state.options;
  let isEnding = false;
  return () => {
    if (isEnding) return;
    isEnding = true;
    const restMs = Math.max(0, state.turnEndedMs + turnEndMs - clock.monoMs());
    log.warn('cluster_turn_over', { restMs });
    clock.after(restMs, () => {
      state.turnEndedMs = clock.monoMs();
      taking.close().catch(() => undefined);
    });
  };
}

function createConsumers(state: ClusterServerState, pair: LinkPair) {
  const { options, cluster, uplinks, order } = state;
  const { log } = options;
  const turn = createTurn(state);
  const endTurn = createTurnEnd(state, pair);
  const parse = ({ routingKey, payload }: Delivery) => {
    const uplink = parseUplinkKey(routingKey);
    // No vehicle can publish that: its device is unknown.
    if (uplink === null) log.warn('payload_dropped', { key: routingKey.slice(0, 200) });
    return uplink === null ? null : { ...uplink, payload };
  };
  return {
    async events(delivery: Delivery, isWanted: () => boolean): Promise<boolean> {
      const uplink = parse(delivery);
      return uplink === null || (await uplinks.handle(uplink, isWanted)).kind !== 'unwanted';
    },
    async sessions(delivery: Delivery, isWanted: () => boolean): Promise<boolean> {
      const uplink = parse(delivery);
      if (uplink === null) return true;
      const { accountID, deviceID } = uplink.device;
      const isOffline = uplink.verb === 'presence' && Buffer.from(uplink.payload).equals(offline);
      const isOrdered = uplink.verb === 'hello' || isOffline;
      // One after the other, also when the first has to wait: what a vehicle said last must stay.
      const taken = await order.run(`${accountID}/${deviceID}`, async () => {
        const mine = await turn(isWanted);
        if (mine === null) return { kind: 'unwanted' as const };
        return uplinks.handle({ ...uplink, ...(isOrdered ? { turn: mine } : {}) }, isWanted);
      });
      if (taken.kind === 'over') {
        // Its successor has processed later messages: a redelivery would undo them.
        if (state.isStopping) return true;
        log.warn('cluster_turn_stale', { accountID, deviceID, verb: uplink.verb });
        endTurn();
        // Requeued in order with all that came after it, and consumed in the next turn.
        return false;
      }
      if (taken.kind === 'stored' && isOffline) cluster.onGone(taken.device);
      return taken.kind !== 'unwanted';
    },
  };
}

const offline = Buffer.from('offline');

/** What one connection carries is of no use without it. */
function dropChannels(state: ClusterServerState): void {
  for (const intake of state.intakes) intake.drop();
  state.intakes = [];
  state.outlet.use(null);
}

async function setUp(state: ClusterServerState, pair: LinkPair): Promise<void> {
  const { clock, log } = state.options;
  const { prefetch } = state.cluster;
  const { taking, publishing } = pair;
  // A channel that ends by itself takes its connection along: all of it is then set up anew.
  const end = (reason: string): void => {
    log.error('cluster_channel_closed', { reason });
    taking.close().catch(() => undefined);
  };
  const watch = <Some extends Channel>(channel: Some): Some => {
    channel.on('error', (error) => end(messageOf(error)));
    return channel;
  };
  /** What this set-up made: by the time it fails another one may have taken its place. */
  const own: Intake[] = [];
  const start = async (queue: string, take: IntakeOptions['take']): Promise<void> => {
    const channel = watch(await taking.createChannel());
    const onCancelled = (): void => end(`the queue ${queue} was removed or moved`);
    const intake = await startIntake(channel, { queue, prefetch, clock, log, take, onCancelled });
    own.push(intake);
    state.intakes = [...state.intakes, intake];
  };
  await declareTopology(taking);
  const outlet = watch(await publishing.createConfirmChannel());
  state.outlet.use(outlet);
  const consumers = createConsumers(state, pair);
  try {
    await start(queues.events.name, consumers.events);
    await start(queues.sessions.name, consumers.sessions);
  } catch (thrown) {
    for (const intake of own) intake.drop();
    state.intakes = state.intakes.filter((intake) => !own.includes(intake));
    state.outlet.release(outlet);
    throw thrown;
  }
}

function openAuth({ options, cluster }: ClusterServerState): Promise<SmallHttp> {
  const { clock, log, authenticate, isOverloaded, count = () => undefined } = options;
  const { auth, address, recordLogin } = cluster;
  return openClusterAuth(
    {
      clock,
      log,
      vhost: address.vhost,
      pathSecretHash: auth.pathSecretHash,
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

async function shutDown(state: ClusterServerState, link: Link): Promise<void> {
  state.isStopping = true;
  await waitAtMost(
    state.options.clock,
    Promise.all(state.intakes.map((intake) => intake.stop(shutdownMs))),
    shutdownMs + 500,
  );
  await link.close();
  state.outlet.use(null);
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
    onUnprocessable = () => Promise.reject(new Error('no handler for unprocessable payloads')),
  } = options;
  const { find, isTurnOver: isOver } = cluster;
  const uplinks = createClusterUplinks({ clock, log, find, onUplink, onUnprocessable, isOver });
  const outlet = createOutlet(clock);
  const state: ClusterServerState = {
    options,
    cluster,
    uplinks,
    outlet,
    order: createQueues(),
    intakes: [],
    isStopping: false,
    turnEndedMs: Number.NEGATIVE_INFINITY,
  };
  // Before anything is taken: vehicles that cannot log in send nothing.
  const auth = await openAuth(state);
  const { address, password, tls, entropy, management } = cluster;
  const link = await openLink({
    address,
    password,
    tls,
    clock,
    entropy,
    log,
    onUp: (pair) => setUp(state, pair),
    onDown: () => dropChannels(state),
    onBlocked: outlet.hold,
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
    // Only the cluster knows; a message without a subscription is dropped there.
    listens: () => true,
    connected: () => null,
    kick(device, reason) {
      // The check of revoked logins repeats what fails here.
      management.disconnect(device, reason).catch((thrown: unknown) => {
        log.warn('disconnect_failed', { ...device, reason: messageOf(thrown) });
      });
    },
    connectionCount: () => 0,
    fault() {
      if (!link.isUp()) return 'has no connection to the cluster';
      return outlet.isHeld() ? 'is held up by an alarm of the cluster' : null;
    },
    connectedDevices: () => [],
    async close() {
      stopWatching();
      await auth.close();
      await shutDown(state, link);
    },
  };
}
