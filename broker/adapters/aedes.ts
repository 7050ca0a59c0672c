// The MQTT 3.1.1 server over aedes 1.2: only devices, only their own topics, nothing retained, nothing kept for later.
// PUBACK leaves only after `onUplink` resolved, in order. It must never let one client stall or end the process.
// Clean session 0 is accepted but nothing is kept: the CONNACK says so (session present 0).
import { createServer, type Server, type Socket } from 'node:net';
import { Aedes, type PublishPacket } from 'aedes';
import { AppError, messageOf } from '../../src/core/errors.ts';
import { type DeviceAddress, formatDeviceUser, formatTopic } from '../../src/core/topics.ts';
import { pause, settleWithin } from '../../src/settle.ts';
import { judgeConnect } from '../core/mqtt-access.ts';
import { createRates } from '../core/rate.ts';
import { createTakeovers } from '../core/takeovers.ts';
import type { Downlink, MqttLimits, MqttServer, MqttServerOptions } from '../mqtt-server.ts';
import {
  addressOf,
  authenticator,
  factsOf,
  forwardGate,
  publishGate,
  type ServerState,
  subscribeGate,
} from './aedes-gates.ts';
import { guardPacketSize, listensTo, type Session } from './aedes-session.ts';

const defaultMqttLimits: MqttLimits = {
  connections: 20_000,
  inFlightEach: 100,
  inFlightAll: 10_000,
  connects: { burst: 2000, perS: 500 },
  failures: { burst: 50, perS: 1 },
};

const connectTimeoutMs = 10_000;
const drainTimeoutMs = 10_000;
/** How long a shutdown waits for the answers in flight. */
const shutdownMs = 2500;

function createBroker(state: ServerState): Aedes {
  const broker = new Aedes({
    // With any other value one frozen subscriber stalls all others, and its backlog ends the process when it leaves.
    concurrency: 0,
    drainTimeout: drainTimeoutMs,
    connectTimeout: connectTimeoutMs,
    maxTopicLevels: 8,
    preConnect: (client, packet, done) => {
      state.verdicts.set(client, judgeConnect(factsOf(packet)));
      packet.clean = true;
      done(null, true);
    },
    authenticate: authenticator(state),
    authorizePublish: publishGate(state),
    authorizeSubscribe: subscribeGate(state),
    authorizeForward: forwardGate(state),
  });
  broker.on(
    'error' as 'closed',
    ((thrown: unknown) => {
      state.options.log.error('mqtt broker error', { reason: messageOf(thrown) });
    }) as () => void,
  );
  return broker;
}

/** Keeps one connection per user name: the newest, as MQTT-3.1.4-2 wants. */
function followSessions(state: ServerState, broker: Aedes): void {
  const { clock, log, onOffline } = state.options;
  const takeovers = createTakeovers();
  broker.on('client', (client) => {
    const session = state.bySession.get(client);
    if (session === undefined) return;
    const user = formatDeviceUser(session.device);
    const older = state.sessions.get(user);
    state.sessions.set(user, session);
    if (older !== undefined) {
      older.socket.destroy();
      const count = takeovers.note(user, clock.monoMs());
      if (count > 3) log.warn('clone suspected', { user, takeovers: count, address: addressOf(client) });
    }
    const ended = (): void => {
      state.pressure.waiting.delete(session);
      if (state.sessions.get(user) !== session) return;
      state.sessions.delete(user);
      if (!state.isClosing) onOffline(session.device);
    };
    if (session.socket.destroyed) ended();
    else session.socket.once('close', ended);
  });
  broker.on('clientError', (client, error) => {
    log.info('connection failed', { user: client.id.slice(0, 140), reason: error.message });
  });
}

function admit(state: ServerState, broker: Aedes): (socket: Socket) => void {
  const { clock, log } = state.options;
  const connects = createRates(state.limits.connects);
  return (socket) => {
    const address = socket.remoteAddress ?? '';
    if (state.isClosing || !connects.take(address, clock.monoMs())) {
      log.debug('connection turned away', { address });
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    const client = broker.handle(socket);
    guardPacketSize(client, (claimed) => {
      log.warn('packet too long', { address, claimed });
      socket.destroy();
    });
  };
}

function listen(server: Server, options: MqttServerOptions): Promise<number> {
  const { port, host } = options;
  return new Promise((resolve, reject) => {
    server.once('error', (thrown) => {
      const isTaken = 'code' in thrown && thrown.code === 'EADDRINUSE';
      const error = isTaken
        ? new AppError('port_in_use', `MQTT port ${port} on ${host} is taken`, {
            cause: thrown,
            hint: 'Stop the program that uses it, or choose another with --mqtt-port.',
          })
        : new AppError('config', `cannot listen on ${host}:${port}: ${messageOf(thrown)}`, {
            cause: thrown,
            hint: 'Check --mqtt-host and --mqtt-port.',
          });
      reject(error);
    });
    server.listen({ port, host, backlog: 2048 }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function sendTo(session: Session, message: Downlink): Promise<boolean> {
  const topic = formatTopic(session.device, message.verb);
  if (session.socket.destroyed || !listensTo(session.client, topic)) return Promise.resolve(false);
  const packet: PublishPacket = {
    cmd: 'publish',
    topic,
    payload: Buffer.from(message.payload),
    qos: message.qos,
    retain: false,
    dup: false,
  };
  return new Promise((resolve) => {
    session.client.publish(packet, (error) => resolve(!error && !session.socket.destroyed));
  });
}

async function shutDown(state: ServerState, server: Server, broker: Aedes): Promise<void> {
  const { clock } = state.options;
  state.isClosing = true;
  const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
  const sessions = [...state.sessions.values()];
  for (const session of sessions) session.halt();
  const answered = Promise.allSettled(sessions.map((session) => session.idle()));
  await settleWithin(clock, answered, shutdownMs);
  // One turn of the loop, so that the last answers reach their sockets before these close.
  await pause(clock, 20);
  await new Promise<void>((resolve) => broker.close(() => resolve()));
  for (const session of sessions) session.socket.destroy();
  await settleWithin(clock, stopped, 500);
}

/** Starts to listen. @throws AppError `port_in_use` or `config`. */
export async function createMqttServer(options: MqttServerOptions): Promise<MqttServer> {
  const limits = { ...defaultMqttLimits, ...options.limits };
  const state: ServerState = {
    options,
    limits,
    verdicts: new WeakMap(),
    bySession: new WeakMap(),
    sessions: new Map(),
    pressure: { inFlight: 0, highest: limits.inFlightAll, waiting: new Set() },
    failures: createRates(limits.failures),
    isClosing: false,
  };
  const broker = createBroker(state);
  await broker.listen();
  followSessions(state, broker);
  const server = createServer(admit(state, broker));
  server.maxConnections = limits.connections;
  const port = await listen(server, options).catch(async (thrown: unknown) => {
    await new Promise<void>((resolve) => broker.close(() => resolve()));
    throw thrown;
  });
  server.on('error', (thrown) => options.log.error('mqtt listener failed', { reason: messageOf(thrown) }));
  server.on('drop', () => options.log.warn('too many connections', { most: limits.connections }));
  const find = (device: DeviceAddress): Session | undefined => state.sessions.get(formatDeviceUser(device));
  return {
    port,
    publish: async (device, message) => {
      const session = find(device);
      return session === undefined ? false : sendTo(session, message);
    },
    connected: (device) => find(device)?.device ?? null,
    kick(device, reason) {
      options.log.warn('connection ended', { user: formatDeviceUser(device), reason });
      find(device)?.socket.destroy();
    },
    connectionCount: () => state.sessions.size,
    connectedDevices: () => [...state.sessions.values()].map(({ device }) => device),
    close: () => shutDown(state, server, broker),
  };
}
