// The MQTT 3.1.1 server over aedes 1.2: only devices, only their own topics, nothing retained, nothing kept for later. A PUBACK leaves only after
// `onUplink` reported the publish as stored, in order. It must never let one client stall or end the process. Clean session 0 is accepted but nothing
// is kept: the CONNACK says so (session present 0).
import type { Duplex } from 'node:stream';
import { Aedes, type Client, type ConnectPacket, type PublishPacket } from 'aedes';
import { messageOf } from '../../../src/core/errors.ts';
import { type DeviceAddress, formatDeviceUser, formatTopic } from '../../../src/core/wire/topics.ts';
import { pause, waitAtMost } from '../../../src/timeout.ts';
import { networkOf } from '../../core/accounts/source-network.ts';
import { judgeConnect } from '../../core/mqtt/mqtt-access.ts';
import { createTakeovers } from '../../core/mqtt/takeovers.ts';
import { createRates } from '../../core/scheduling/rate.ts';
import type { Downlink, MqttLimits, MqttServer, MqttServerOptions } from '../../ports/mqtt-server.ts';
import { connectionsWithin, descriptorLimit } from '../descriptor-limit.ts';
import {
  addressOf,
  authenticator,
  factsOf,
  forwardGate,
  publishGate,
  type ServerState,
  sessionOf,
  subscribeGate,
} from './aedes-gates.ts';
import { forceCleanSession, onBrokerError, subscribedQos } from './aedes-internals.ts';
import { createReader, type ReaderHost, readerLimits, safeAedesOptions } from './aedes-reader.ts';
import { holdFor, type Pressure, type Session, unacknowledgedMost } from './aedes-session.ts';
import { unroutedOptions } from './aedes-unrouted.ts';
import { type Listener, type Listening, openListener, type Peer } from './mqtt-listener.ts';

const defaultMqttLimits: MqttLimits = {
  connections: 20_000,
  inFlightEach: 100,
  inFlightAll: 10_000,
  bytesAll: 64 * 1024 * 1024,
  connects: { burst: 2000, perS: 500 },
  failures: { burst: 50, perS: 1 },
};

/** The will of every agent. */
const offline = Buffer.from('offline');

/** Copies the payload of a will out of the read buffer, which would otherwise stay in memory while the vehicle is connected. */
function copyWillPayload({ will }: ConnectPacket): void {
  if (!will) return;
  const payload = Buffer.from(will.payload);
  will.payload = payload.equals(offline) ? offline : payload;
}

/** Maximum time for which a shutdown waits for the answers in flight. */
const shutdownMs = 2500;

function createBroker(state: ServerState): Aedes {
  const broker = new Aedes({
    ...safeAedesOptions,
    ...unroutedOptions,
    maxTopicLevels: 8,
    preConnect: (client, packet, done) => {
      const connection = state.connections.get(client);
      if (connection !== undefined) connection.verdict = judgeConnect(factsOf(packet, connection.peer));
      forceCleanSession(packet);
      copyWillPayload(packet);
      done(null, true);
    },
    authenticate: authenticator(state),
    authorizePublish: publishGate(state),
    authorizeSubscribe: subscribeGate(state),
    authorizeForward: forwardGate(state),
  });
  onBrokerError(broker, (thrown) => {
    state.options.log.error('mqtt_server_failed', { reason: messageOf(thrown) });
  });
  return broker;
}

/** Keeps one connection per user name: the newest, as MQTT-3.1.4-2 demands. */
function followSessions(state: ServerState, broker: Aedes): void {
  const { clock, log, onOffline, onCloneSuspected } = state.options;
  const takeovers = createTakeovers();
  broker.on('client', (client) => {
    const session = sessionOf(state, client);
    if (session === null) return;
    // User name of its device, as `judgeConnect` demands; aedes keeps this text anyway.
    const user = client.id;
    const older = state.sessions.get(user);
    state.sessions.set(user, session);
    if (older !== undefined) {
      state.options.count?.('takeover');
      older.socket.destroy();
      const change = { user, from: older.network, to: session.network, nowMs: clock.monoMs() };
      const { count, moved, isSuspect } = takeovers.record(change);
      if (isSuspect) {
        const address = addressOf(state, client);
        log.warn('clone_suspected', { user, takeovers: count, fromOtherNetworks: moved, address });
        onCloneSuspected?.(session.device);
      }
    }
    const ended = (): void => {
      if (state.sessions.get(user) !== session) return;
      state.sessions.delete(user);
      if (!state.isClosing) onOffline(session.device);
    };
    if (session.socket.destroyed) ended();
    else session.socket.on('close', ended);
  });
  broker.on('clientError', (client, error) => {
    log.info('connection_failed', { user: client.id.slice(0, 140), reason: error.message });
  });
}

/** Refuses connections before anything is read, and passes accepted streams to aedes; shared by all listeners. */
function createGate(state: ServerState, broker: Aedes): Pick<Listening, 'admit' | 'onCrowd' | 'accept'> {
  const { clock, log } = state.options;
  const connects = createRates(state.limits.connects);
  let open = 0;
  const closed = (): void => void (open -= 1);
  const host: ReaderHost = {
    clock,
    limits: readerLimits,
    onFault(client, reason) {
      const device = sessionOf(state, client)?.device;
      const user = device === undefined ? '' : formatDeviceUser(device);
      log.warn('packet_refused', { user, address: addressOf(state, client), reason });
      state.options.count?.('refused_packet');
      if (device !== undefined) state.options.onRefused?.(device, reason);
    },
    holdFor: (wake) => holdFor(state.pressure, wake),
    onPuback: (client) => acknowledge(state, client),
  };
  return {
    admit(socket) {
      const address = socket.remoteAddress ?? '';
      const isFull = open >= state.limits.connections;
      if (isFull) log.warn('connection_limit_reached', { most: state.limits.connections });
      const refusal = state.isClosing
        ? 'refused_unavailable'
        : isFull
          ? 'refused_full'
          : connects.take(networkOf(address), clock.monoMs())
            ? null
            : 'refused_rate';
      if (refusal !== null) {
        log.debug('connection_rejected', { address });
        state.options.count?.(refusal);
        return false;
      }
      open += 1;
      socket.on('close', closed);
      return true;
    },
    onCrowd: () => state.options.count?.('refused_crowd'),
    accept(stream: Duplex, peer: Peer) {
      if (state.isClosing) return void stream.destroy();
      const client = broker.handle(stream);
      const reader = createReader(host, { client, stream });
      state.connections.set(client, { peer, reader, verdict: null, session: null });
    },
  };
}

/** Opens TCP and, if configured, WebSocket; both or none. @throws AppError `port_in_use` or `config`. */
async function openListeners(state: ServerState, broker: Aedes) {
  const { host, port, tls = null, websocket = null, log, clock } = state.options;
  const gate = { ...createGate(state, broker), log, clock };
  const mqtt = await openListener({ ...gate, host, port, tls, setting: 'mqtt', origins: null });
  if (websocket === null) return { mqtt, websocket: null };
  try {
    return { mqtt, websocket: await openListener({ ...gate, ...websocket, setting: 'ws' }) };
  } catch (thrown) {
    await mqtt.close();
    throw thrown;
  }
}

function acknowledge(state: ServerState, client: Client): void {
  const session = sessionOf(state, client);
  if (session !== null && session.unacknowledged > 0) session.unacknowledged -= 1;
}

function sendTo(session: Session, message: Downlink): Promise<boolean> {
  const topic = formatTopic(session.device, message.verb);
  const granted = subscribedQos(session.client, topic);
  if (session.socket.destroyed || granted === null) return Promise.resolve(false);
  // The lower QoS of the two (MQTT-3.8.4-6): a message with 0 is never acknowledged, and must not be waited for.
  const qos = granted === 0 ? 0 : message.qos;
  if (qos === 1 && session.unacknowledged >= unacknowledgedMost) {
    // The client reads and does not answer. Everything important is sent again on its next hello.
    session.socket.destroy();
    return Promise.resolve(false);
  }
  session.unacknowledged += qos;
  const packet: PublishPacket = {
    cmd: 'publish',
    topic,
    payload: Buffer.from(message.payload),
    qos,
    retain: false,
    dup: false,
  };
  return new Promise((resolve) => {
    session.client.publish(packet, (error) => resolve(!error && !session.socket.destroyed));
  });
}

async function shutDown(state: ServerState, listeners: readonly Listener[], broker: Aedes): Promise<void> {
  const { clock } = state.options;
  state.isClosing = true;
  const stopped = Promise.all(listeners.map((listener) => listener.close()));
  const sessions = [...state.sessions.values()];
  for (const session of sessions) session.halt();
  const answered = Promise.allSettled(sessions.map((session) => session.idle()));
  await waitAtMost(clock, answered, shutdownMs);
  // One turn of the loop, so that the last answers reach their sockets before these close.
  await pause(clock, 20);
  await new Promise<void>((resolve) => broker.close(() => resolve()));
  for (const session of sessions) session.socket.destroy();
  await waitAtMost(clock, stopped, 500);
}

/** The limits; the number of connections is capped by the sockets that the system allows. */
function limitsOf({ limits, log }: MqttServerOptions): MqttLimits {
  const wanted = { ...defaultMqttLimits, ...limits };
  const openFiles = descriptorLimit();
  const connections = connectionsWithin(wanted.connections, openFiles);
  if (connections < wanted.connections) {
    const remedy = 'raise LimitNOFILE of the unit, or ulimit -n';
    log.warn('open_files_limit_low', { openFiles, vehicles: connections, remedy });
  }
  return { ...wanted, connections };
}

/** Starts to listen. @throws AppError `port_in_use` or `config`. */
export async function createMqttServer(options: MqttServerOptions): Promise<MqttServer> {
  const limits = limitsOf(options);
  const pressure: Pressure = {
    inFlight: 0,
    bytes: 0,
    highest: limits.inFlightAll,
    highestBytes: limits.bytesAll,
    waiting: new Set(),
  };
  const state: ServerState = {
    options,
    limits,
    rules: {
      pressure,
      answers: { sessions: [] },
      onUplink: options.onUplink,
      pacer: options.pacer ?? null,
      held: { bytes: 0 },
      inFlightMost: limits.inFlightEach,
      onFailure: ({ accountID, deviceID }, reason) =>
        options.log.error('payload_not_stored', { accountID, deviceID, reason }),
      onStall: () => options.count?.('stalled'),
    },
    connections: new WeakMap(),
    sessions: new Map(),
    pressure,
    failures: createRates(limits.failures),
    isClosing: false,
  };
  const broker = createBroker(state);
  await broker.listen();
  followSessions(state, broker);
  const { mqtt, websocket } = await openListeners(state, broker).catch(async (thrown: unknown) => {
    await new Promise<void>((resolve) => broker.close(() => resolve()));
    throw thrown;
  });
  const listeners = websocket === null ? [mqtt] : [mqtt, websocket];
  const find = (device: DeviceAddress): Session | undefined => state.sessions.get(formatDeviceUser(device));
  return {
    port: mqtt.port,
    websocketPort: websocket?.port ?? null,
    renewTls(renewal) {
      if (renewal.mqtt !== null) mqtt.renew(renewal.mqtt);
      if (renewal.websocket !== null) websocket?.renew(renewal.websocket);
    },
    publish: async (device, message) => {
      const session = find(device);
      return session === undefined ? false : sendTo(session, message);
    },
    listens(device, verb) {
      const session = find(device);
      return session !== undefined && subscribedQos(session.client, formatTopic(device, verb)) !== null;
    },
    connected: (device) => find(device)?.device ?? null,
    kick(device, reason) {
      options.log.warn('connection_closed', { user: formatDeviceUser(device), reason });
      find(device)?.socket.destroy();
    },
    connectionCount: () => state.sessions.size,
    waitingCount: () => listeners.reduce((sum, listener) => sum + listener.waiting(), 0),
    connectedDevices: () => [...state.sessions.values()].map(({ device }) => device),
    close: () => shutDown(state, listeners, broker),
  };
}
