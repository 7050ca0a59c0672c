// One raw MQTT client of a bench: connects as the agent does (will, four subscriptions), publishes, and measures the way to
// its PUBACK. A few hundred bytes and one socket; no timers, no library behind it.
import { connect as connectSocket, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import mqttPacket from 'mqtt-packet';
import { deviceOf, fleetAccount } from './fleet-orders.ts';
import { benchSecretOf } from './fleet-secret.ts';

export interface ClientPlace {
  readonly port: number;
  readonly from: string;
  readonly secureContext: SecureContext | null;
  /** A TLS session to come back to. */
  readonly session: Buffer | null;
}

export interface ClientHandlers {
  onReady(): void;
  /** The connection is over. `why`: `connack 3`, `reset`, `closed`, `time-out`, `session` once it was ready. */
  onEnd(why: string): void;
  onLatency(ms: number): void;
  /** The answer to a `ping`. */
  onPong(): void;
  onTicket(session: Buffer): void;
}

export interface RawFleetClient {
  readonly index: number;
  readonly socket: Socket;
  isReady(): boolean;
  isResumed(): boolean;
  /** Messages that wait for their PUBACK. */
  waiting(): number;
  /** @param payload in place of an event that says nothing new. */
  publish(payload?: string): void;
  ping(): void;
  end(): void;
}

const keepaliveS = 1800;
/** As the agent: from the connection to the CONNACK (here to the SUBACK). */
const connectMs = 20_000;
const pingreq = mqttPacket.generate({ cmd: 'pingreq' });
const downlinks = ['welcome', 'ack', 'commands', 'config'] as const;
export const topicOf = (index: number, verb: string): string =>
  `fleet/v1/${fleetAccount}/${deviceOf(index)}/${verb}`;

/** Its CONNECT. */
export function greetingOf(index: number): Buffer {
  const user = `${fleetAccount}/${deviceOf(index)}`;
  const packet = mqttPacket.generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clean: true,
    clientId: user,
    username: user,
    password: Buffer.from(benchSecretOf(deviceOf(index))),
    keepalive: keepaliveS,
    will: { topic: topicOf(index, 'presence'), payload: Buffer.from('offline'), qos: 1, retain: false },
  });
  return packet;
}

/** Its SUBSCRIBE. */
export function subscriptionOf(index: number): Buffer {
  return mqttPacket.generate({
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: downlinks.map((verb) => ({ topic: topicOf(index, verb), qos: 1 as const })),
  });
}

let sequence = 0;

/** One event as a tracker sends it, about 200 bytes; never the same number twice from one process. */
function eventOf(index: number): string {
  sequence += 1;
  const event = {
    seq: sequence,
    timestamp: 1_767_614_400 + sequence,
    statusCode: 61472,
    latitude: 43.65 + (index % 1000) * 0.0001,
    longitude: -79.38,
    speed: 54,
    heading: 270,
    hdop: 0.9,
    satellites: 11,
  };
  return JSON.stringify({ boot: `b${process.pid}`, events: [event] });
}

/** Calls for each packet: its type, where its body begins and where it ends. Keeps what is not whole. */
function createCutter(onPacket: (type: number, bytes: Buffer, body: number) => void) {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk: Buffer): void => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (bytes.length >= 2) {
      let [length, shift, at] = [0, 0, 1];
      while (at < bytes.length && at < 5) {
        const byte = bytes[at] ?? 0;
        length += (byte & 0x7f) << shift;
        shift += 7;
        at += 1;
        if (byte < 0x80) break;
      }
      if (((bytes[at - 1] ?? 0x80) & 0x80) !== 0 || bytes.length < at + length) break;
      onPacket((bytes[0] ?? 0) >> 4, bytes, at);
      bytes = bytes.subarray(at + length);
    }
    rest = bytes.length === 0 ? Buffer.alloc(0) : Buffer.from(bytes);
  };
}

function openSocket({ port, from, secureContext, session }: ClientPlace): Socket {
  const to = { port, host: '127.0.0.1', localAddress: from, noDelay: true };
  if (secureContext === null) return connectSocket(to);
  return connectTls({
    ...to,
    servername: 'localhost',
    secureContext,
    ...(session === null ? {} : { session }),
  });
}

/** Connects at once. */
export function openFleetClient(index: number, place: ClientPlace, handlers: ClientHandlers): RawFleetClient {
  const socket = openSocket(place);
  const topic = topicOf(index, 'events');
  const sentMs: number[] = [];
  let [why, isReady, isResumed, messageId] = ['closed', false, false, 0];
  const giveUp = setTimeout(() => {
    why = 'time-out';
    socket.destroy();
  }, connectMs);
  const cut = createCutter((type, bytes, body) => {
    if (type === 4) return handlers.onLatency(performance.now() - (sentMs.shift() ?? 0));
    if (type === 13) handlers.onPong();
    else if (type === 2 && bytes[body + 1] !== 0) why = `connack ${bytes[body + 1]}`;
    else if (type === 2) socket.write(subscriptionOf(index));
    else if (type === 9 && !isReady) {
      [isReady, why] = [true, 'session'];
      clearTimeout(giveUp);
      handlers.onReady();
    }
  });
  socket.on('data', cut);
  socket.once(place.secureContext === null ? 'connect' : 'secureConnect', () => {
    isResumed = 'isSessionReused' in socket && (socket as { isSessionReused(): boolean }).isSessionReused();
    socket.write(greetingOf(index));
  });
  socket.on('session', (session: Buffer) => handlers.onTicket(session));
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (!isReady && why === 'closed') why = error.code ?? 'error';
  });
  socket.once('close', () => {
    clearTimeout(giveUp);
    handlers.onEnd(why);
  });
  return {
    index,
    socket,
    isReady: () => isReady && !socket.destroyed,
    isResumed: () => isResumed,
    waiting: () => sentMs.length,
    publish(payload = eventOf(index)) {
      messageId = (messageId % 65_535) + 1;
      sentMs.push(performance.now());
      const packet = {
        cmd: 'publish',
        topic,
        payload,
        qos: 1,
        messageId,
        retain: false,
        dup: false,
      } as const;
      socket.write(mqttPacket.generate(packet));
    },
    ping: () => void socket.write(pingreq),
    end: () => void socket.destroy(),
  };
}
