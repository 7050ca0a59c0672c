// MqttLink over mqtt.js, used as transport only: one attempt, one connection, no store, no replay, no reconnect; the
// outbox keeps the events. The PUBACK of a received message is sent by the caller, once the message is persisted. No
// error caused by the peer ever escapes, whatever bytes it sends.
import { Readable } from 'node:stream';
import { connect, type IClientOptions, type MqttClient } from 'mqtt';
import { generate } from 'mqtt-packet';
import { AppError, messageOf } from '../core/errors.ts';
import type { MqttLink, MqttLinkHandlers, MqttLinkOptions, MqttMessage, OpenMqttLink } from '../ports.ts';

/** Bytes received without a complete packet; our packets are far below. */
const inboundMost = 256 * 1024;
const closeTimeoutMs = 2000;

/** Return codes of CONNACK, MQTT 3.1.1 table 3.1. */
const refusals: Readonly<Record<number, string>> = {
  1: 'protocol version not accepted',
  2: 'client id rejected',
  3: 'server unavailable',
  4: 'bad user name or password',
  5: 'not authorised',
};

/**
 * A store that keeps nothing and stays usable once closed. mqtt.js would send the outgoing store's packets before it
 * reports a connection. Its own incoming store throws when it handles a PUBREL after the client's end.
 */
function emptyStore(): NonNullable<IClientOptions['outgoingStore']> {
  const store = {
    put: (_packet: unknown, done: () => void) => done(),
    get: (_packet: unknown, done: (error: Error) => void) => done(new Error('nothing is stored')),
    del: (packet: unknown, done: (error: null, packet: unknown) => void) => done(null, packet),
    close: (done: () => void) => done(),
    createStream: () => Readable.from([]),
  };
  return store as unknown as NonNullable<IClientOptions['outgoingStore']>;
}

function clientOptions(options: MqttLinkOptions): IClientOptions {
  const { will, username, password } = options;
  return {
    clientId: options.clientId,
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    keepalive: options.keepaliveS,
    connectTimeout: options.connectTimeoutMs,
    protocolVersion: 4,
    clean: true,
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    outgoingStore: emptyStore(),
    incomingStore: emptyStore(),
    ...(will === undefined ? {} : { will: { retain: false, ...will, payload: Buffer.from(will.payload) } }),
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.cert === undefined || options.key === undefined
      ? {}
      : { cert: options.cert, key: options.key }),
  };
}

/** The fault, as a helpful text. */
function reasonOf(thrown: unknown): string {
  const code: unknown =
    typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
  if (typeof code === 'number' && refusals[code] !== undefined) return `refused: ${refusals[code]}`;
  const text = messageOf(thrown);
  if (text === 'connack timeout') return 'time-out: no answer to the connection attempt';
  if (text !== '') return text;
  return typeof code === 'string' ? code : 'connection failed';
}

interface LinkState {
  readonly handlers: MqttLinkHandlers;
  client: MqttClient | null;
  /** `closing`: closed by the caller, so `onDown` is not called. */
  phase: 'open' | 'closing' | 'down';
  /** Bytes since the last whole packet. */
  unparsedBytes: number;
}

/** Ends the link once, and calls `onDown` unless the caller closed it. */
function bringDown(state: LinkState, reason: string, isSilent = false): void {
  if (state.phase === 'down') return;
  const isOurs = state.phase === 'closing';
  state.phase = 'down';
  state.client?.stream?.destroy();
  state.client?.end(true);
  if (!isOurs) state.handlers.onDown(reason, isSilent);
}

function guard(state: LinkState, work: () => void): void {
  try {
    work();
  } catch (thrown) {
    bringDown(state, `handling failed: ${messageOf(thrown)}`);
  }
}

type Publish = Parameters<MqttClient['handleMessage']>[0];
type PublishDone = Parameters<MqttClient['handleMessage']>[1];

/**
 * Passes a message on. With an error mqtt.js sends no PUBACK, and reads on: `acknowledge` sends it (mqtt.js 5.16).
 */
function receive(state: LinkState, packet: Publish, done: PublishDone): void {
  const { messageId, qos } = packet;
  const payload = typeof packet.payload === 'string' ? Buffer.from(packet.payload) : packet.payload;
  const message: MqttMessage = {
    topic: packet.topic,
    payload: new Uint8Array(payload),
    qos: qos === 0 ? 0 : 1,
  };
  let isAcknowledged = qos === 0;
  const acknowledge = (): void => {
    if (isAcknowledged || state.phase !== 'open' || messageId === undefined) return;
    isAcknowledged = true;
    state.client?.stream.write(generate({ cmd: 'puback', messageId }));
  };
  if (qos === 0) done();
  else done(new Error('acknowledged later'));
  if (state.phase === 'open') guard(state, () => state.handlers.onMessage(message, acknowledge));
}

function listen(state: LinkState, client: MqttClient): void {
  client.handleMessage = (packet, done) => receive(state, packet, done);
  client.on('connect', () => {
    if (state.phase === 'open') guard(state, () => state.handlers.onUp());
  });
  client.on('packetreceive', (packet) => {
    state.unparsedBytes = 0;
    // We subscribe with QoS 1 at most; the handshake of QoS 2 would keep state that nothing here bounds.
    if (packet.cmd === 'publish' && packet.qos === 2) bringDown(state, 'the peer sent a message of QoS 2');
  });
  // The message of mqtt.js 5.16 for a missing PINGRESP.
  client.on('error', (error) => bringDown(state, reasonOf(error), error.message === 'Keepalive timeout'));
  client.on('close', () => bringDown(state, 'the connection was closed'));
  client.stream.on('error', (error: Error) => bringDown(state, reasonOf(error)));
  client.stream.on('data', (chunk: Uint8Array) => {
    state.unparsedBytes += chunk.length;
    if (state.unparsedBytes > inboundMost)
      bringDown(state, `the peer sent more than ${inboundMost} bytes in one packet`);
  });
}

function publish(state: LinkState, message: MqttMessage): Promise<void> {
  return new Promise((resolve) => {
    const { client } = state;
    if (state.phase !== 'open' || client === null || !client.connected) return;
    const { topic, payload, qos, retain = false } = message;
    client.publish(topic, Buffer.from(payload), { qos, retain }, (error) => {
      if (state.phase !== 'open') return;
      if (error === undefined || error === null) resolve();
      else bringDown(state, `publish failed: ${reasonOf(error)}`);
    });
  });
}

function subscribe(state: LinkState, topics: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const { client } = state;
    if (state.phase !== 'open' || client === null || !client.connected) return;
    client.subscribe([...topics], { qos: 1 }, (error, granted) => {
      // A lost connection calls back with an error too, just before the link is down.
      setImmediate(() => {
        if (state.phase !== 'open') return;
        const refused = granted?.filter((grant) => grant.qos > 2).map((grant) => grant.topic) ?? [];
        if (!error && refused.length === 0) resolve();
        else
          reject(
            new AppError('unavailable', `subscription refused: ${error?.message ?? refused.join(', ')}`),
          );
      });
    });
  });
}

function close(state: LinkState): Promise<void> {
  const { client } = state;
  if (state.phase !== 'open' || client === null) return Promise.resolve();
  state.phase = 'closing';
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      bringDown(state, 'closed');
      resolve();
    };
    const timer = setTimeout(finish, closeTimeoutMs);
    if (!client.connected) finish();
    else client.stream.end(generate({ cmd: 'disconnect' }), finish);
  });
}

/** Starts one connection attempt. A fault, even of the options, comes through `onDown`, after this has returned. */
export const openMqttLink: OpenMqttLink = (options, handlers): MqttLink => {
  const state: LinkState = { handlers, client: null, phase: 'open', unparsedBytes: 0 };
  try {
    state.client = connect(options.url, clientOptions(options));
    listen(state, state.client);
  } catch (thrown) {
    setImmediate(() => bringDown(state, reasonOf(thrown)));
  }
  return {
    publish: (message) => publish(state, message),
    subscribe: (topics) => subscribe(state, topics),
    close: () => close(state),
    destroy: (reason) => bringDown(state, reason),
  };
};
