// Every member of aedes 1.2.0 and mqtt-packet 9.0.2 that is used or replaced here and that their types do not show; nothing
// else in this folder reaches past those types. `test/unit/aedes-internals.test.ts` fails when a version or a member changes.
//
// | Member | Use | Reason | Promise (`test/invariants.md`) |
// | --- | --- | --- | --- |
// | `client._parser`, its `packet` listener | replaced, called | aedes reads without a limit on size, and may never read again under back-pressure | A48, A49 |
// | `client._parser._queue`, `.removeAllListeners` | provided | aedes touches both when a connection logs in and when it closes | A48 |
// | `client._parsingBatch` | set to 0 | with another value aedes queues the CONNECT | A48 |
// | `client._nextBatch` | replaced | aedes calls it for each packet that is done: this limits the packets at work | A49 |
// | `client.resume` | replaced | aedes would count one packet more as done after the login | A49 |
// | `client._keepaliveInterval`, `._keepaliveTimer` | timer refreshed | publishes that bypass aedes keep the connection alive (MQTT-3.1.2-24) | A57 |
// | `client.waitForDrain` | called | one timer a client for a reader that stalls, shared with the writes of aedes | A49 |
// | `client.subscriptions` | read | granted QoS of a topic (MQTT-3.8.4-6) | A57 |
// | event `error` of the broker | listened to | missing in the types; without a listener it ends the process | A49 |
// | `packet.clean` in `preConnect` | set to true | no session outlives its connection, and none is stored | A57 |
// | `parser.client`, `parser.error` (mqtt-packet) | set | one parser for all connections, a sixth of the memory of an idle one: a set `error` makes the next `parse` begin afresh | A48 |
import type { Duplex } from 'node:stream';
import type { Aedes, Client, ConnectPacket } from 'aedes';

/** Versions that this was read from and is tested with. */
export const testedVersions = { aedes: '1.2.0', 'mqtt-packet': '9.0.2' } as const;

/** A parser of mqtt-packet; aedes makes one for each connection. */
interface PacketParser {
  parse(bytes: Uint8Array): unknown;
  on(event: string, listener: (value: never) => void): unknown;
  listeners(event: string): unknown[];
  removeAllListeners(event?: string): unknown;
  client: unknown;
  error: unknown;
}

type Handle = (this: PacketInput, packet: unknown) => void;

/** Replaces the parser of a connection, with the members that aedes needs when packets come from another one. */
export interface PacketInput {
  readonly client: Client;
  /** Handler of aedes for a packet. */
  readonly handle: Handle;
  /** Packets before the login; aedes empties it. It stays empty. */
  _queue: readonly never[] | null;
  removeAllListeners(): void;
}

interface ClientInternals {
  _parser: PacketParser | PacketInput;
  _parsingBatch: number;
  /** Called for each finished packet, and by aedes itself for each `readable`. */
  _nextBatch: (error?: Error | null) => void;
  readonly _keepaliveInterval: number;
  readonly _keepaliveTimer: { refresh(): void } | null;
  /** An object without a prototype. */
  readonly subscriptions: Readonly<Record<string, { readonly qos: number } | undefined>>;
  resume(): void;
  waitForDrain(done: () => void): void;
}

const internalsOf = (client: Client): ClientInternals => client as unknown as ClientInternals;
const nothing = (): void => undefined;

/**
 * One parser for all connections: it only receives complete packets, so it holds nothing between two of them. The parser that aedes makes for a
 * connection has two streams in it, and would be a sixth of the cost of an idle vehicle.
 */
const shared: { parser: PacketParser | null; packet: unknown; fault: unknown } = {
  parser: null,
  packet: null,
  fault: null,
};

function detachParser(client: Client): PacketInput {
  const internals = internalsOf(client);
  const parser = internals._parser as PacketParser;
  const [handle] = parser.listeners('packet') as Handle[];
  if (handle === undefined) throw new Error(`this is not aedes ${testedVersions.aedes}`);
  if (shared.parser === null) {
    parser.removeAllListeners();
    parser.client = null;
    parser.on('packet', (packet: unknown) => void (shared.packet = packet));
    parser.on('error', (fault: unknown) => void (shared.fault = fault));
    shared.parser = parser;
  }
  const input: PacketInput = { client, handle, _queue: [], removeAllListeners: nothing };
  internals._parser = input;
  return input;
}

/** Stops aedes from reading the connection; packets only reach it through `handlePacket`. @param onDone called for each of them. */
export function takeOverReading(
  client: Client,
  stream: Duplex,
  onDone: (error?: Error | null) => void,
): PacketInput {
  const input = detachParser(client);
  const internals = internalsOf(client);
  const ownBatch = internals._nextBatch;
  internals._nextBatch = onDone;
  // Only called at the end of the login.
  internals.resume = nothing;
  stream.removeListener('readable', ownBatch);
  return input;
}

/** The packet in these bytes. @throws Error when they are none. */
function parsePacket(bytes: Uint8Array): unknown {
  const { parser } = shared;
  if (parser === null) throw new Error('no connection has brought a parser');
  shared.packet = null;
  shared.fault = null;
  try {
    parser.parse(bytes);
  } catch (thrown) {
    shared.fault = thrown;
  }
  const { packet, fault } = shared;
  shared.packet = null;
  if (packet !== null && fault === null) return packet;
  // Bytes that it may still hold are no part of the next packet.
  parser.error ??= new Error('not one whole packet');
  throw parser.error;
}

/** Passes one complete packet to aedes. @throws Error when it is none, or aedes throws. */
export function handlePacket(input: PacketInput, bytes: Uint8Array): void {
  internalsOf(input.client)._parsingBatch = 0;
  input.handle.call(input, parsePacket(bytes));
}

/** Restarts the keep-alive timer of the connection, if it has one. */
export function refreshKeepAlive(client: Client): void {
  const { _keepaliveInterval, _keepaliveTimer } = internalsOf(client);
  if (_keepaliveInterval > 0) _keepaliveTimer?.refresh();
}

/** Calls `done` when the client has read; the connection ends when that takes longer than `drainTimeout`. */
export function whenDrained(client: Client, done: () => void): void {
  internalsOf(client).waitForDrain(done);
}

/** QoS of the client's subscription to exactly this topic; null: none. */
export function subscribedQos(client: Client, topic: string): number | null {
  return internalsOf(client).subscriptions[topic]?.qos ?? null;
}

export function onBrokerError(broker: Aedes, listener: (thrown: unknown) => void): void {
  broker.on('error' as 'closed', listener as () => void);
}

/** No session is kept, whatever the client requested. */
export function forceCleanSession(packet: ConnectPacket): void {
  packet.clean = true;
}
