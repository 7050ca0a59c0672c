// An MQTT client that does exactly what a test says and nothing by itself: packets out, packets in, raw bytes when wanted.
import { connect as connectSocket, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { hangMs } from '../machine/wait-until.ts';

export interface RawClient {
  readonly socket: Socket;
  readonly received: Packet[];
  send(packet: Packet): void;
  sendBytes(bytes: Uint8Array): void;
  /** The next packet of that kind, also one that came before the call; rejects when the connection ends first. */
  next<C extends Packet['cmd']>(cmd: C): Promise<Extract<Packet, { cmd: C }>>;
  readonly closed: Promise<void>;
  isClosed(): boolean;
  end(): void;
}

/**
 * Opens a connection; it sends nothing.
 * @param tls what the client shows and trusts; without it there is no TLS.
 * @param from another address of the loopback.
 */
export async function connectRaw(
  port: number,
  tls?: ConnectionOptions,
  from = '127.0.0.1',
): Promise<RawClient> {
  const to = { port, host: '127.0.0.1', localAddress: from };
  const socket =
    tls === undefined ? connectSocket(to) : connectTls({ servername: 'localhost', ...to, ...tls });
  const received: Packet[] = [];
  const queue: Packet[] = [];
  const listeners = new Set<() => void>();
  let isOver = false;
  const parser = mqttPacket.parser({ protocolVersion: 4 });
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  parser.on('packet', (packet: Packet) => {
    received.push(packet);
    queue.push(packet);
    notify();
  });
  socket.on('data', (bytes) => parser.parse(bytes));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isOver = true;
      notify();
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once(tls === undefined ? 'connect' : 'secureConnect', resolve);
    socket.once('error', reject);
  });
  return {
    socket,
    received,
    send: (packet) => void socket.write(mqttPacket.generate(packet)),
    sendBytes: (bytes) => void socket.write(bytes),
    next: (cmd) =>
      new Promise((resolve, reject) => {
        const stop = (): void => {
          clearTimeout(timer);
          listeners.delete(look);
        };
        const look = (): void => {
          const index = queue.findIndex((packet) => packet.cmd === cmd);
          if (index >= 0) {
            stop();
            resolve(queue.splice(index, 1)[0] as never);
          } else if (isOver) {
            stop();
            reject(new Error(`the connection ended before ${cmd}`));
          }
        };
        const timer = setTimeout(() => {
          stop();
          reject(new Error(`no ${cmd} within ${hangMs} ms`));
        }, hangMs);
        listeners.add(look);
        look();
      }),
    closed,
    isClosed: () => isOver,
    end: () => void socket.destroy(),
  };
}

/** CONNECT of a device as the product's own agent sends it. */
export function connectPacket(user: string, password: string, changes: Partial<Packet> = {}): Packet {
  return {
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clean: true,
    clientId: user,
    username: user,
    password: Buffer.from(password),
    keepalive: 60,
    ...changes,
  } as Packet;
}

/** PUBLISH with QoS 1. */
export function publishPacket(
  topic: string,
  payload: string | Uint8Array,
  messageId: number,
  changes = {},
): Packet {
  const bytes = typeof payload === 'string' ? payload : Buffer.from(payload);
  return {
    cmd: 'publish',
    topic,
    payload: bytes,
    qos: 1,
    retain: false,
    dup: false,
    messageId,
    ...changes,
  };
}
