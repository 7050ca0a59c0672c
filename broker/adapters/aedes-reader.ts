// Reads a connection on behalf of aedes 1.2: only whole, well-formed packets reach it, never more at once than is allowed,
// and none but CONNECT before the login is done. What a vehicle publishes on its own topics goes past aedes to its session.
// aedes reads by itself otherwise: without a limit on size, and under back-pressure it may never read again. This leans on
// internals of aedes, all named in `Internals`; tests hold each of them.
import type { Duplex } from 'node:stream';
import type { AedesOptions, Client } from 'aedes';
import { messageOf } from '../../src/core/errors.ts';
import type { Clock } from '../../src/ports.ts';
import type { Fault } from '../core/mqtt-frame.ts';
import { packetTypes } from '../core/mqtt-frame.ts';
import { createFramer } from '../core/mqtt-framer.ts';

/** A parser of mqtt-packet, as aedes makes one for each connection. */
interface PacketParser {
  parse(bytes: Uint8Array): unknown;
  on(event: string, listener: (value: never) => void): unknown;
  listeners(event: string): unknown[];
  removeAllListeners(event?: string): unknown;
  client: unknown;
  /** While it is set, the next `parse` begins afresh. */
  error: unknown;
}

/** What aedes needs of a connection's parser when packets come from another one. */
interface ParserSeat {
  readonly client: Client;
  /** Packets before the login; aedes empties it. Nothing ever comes to stand in it. */
  _queue: readonly never[] | null;
  removeAllListeners(): void;
}

/** What we use of aedes that its types do not show. */
interface Internals {
  _parser: PacketParser | ParserSeat;
  /** Packets of the present batch that are not done; a packet that makes it 1 is handled at once. */
  _parsingBatch: number;
  /** Called for each packet when it is done, and at first for each `readable`. */
  _nextBatch: (error?: Error | null) => void;
  pause(): void;
  resume(): void;
}

type Handle = (this: ParserSeat, packet: unknown) => void;

/** Options without which a single client stalls or ends the process. Whoever makes an Aedes for a network takes them. */
export const safeAedesOptions = {
  // With any other value one frozen subscriber stalls all others, and its backlog ends the process when it leaves.
  concurrency: 0,
  /** A client that takes nothing for so long is dropped, in ms. */
  drainTimeout: 10_000,
  /** From the connection to the end of CONNECT, in ms. */
  connectTimeout: 10_000,
} as const satisfies AedesOptions;

export interface ReaderLimits {
  /** Bytes of a CONNECT: two names of 129, a secret, a will. */
  readonly connectBytes: number;
  /** Bytes of any packet after it: a full payload, its topic and its header. */
  readonly packetBytes: number;
  /** Packets of one connection, of whatever kind, that aedes may be at work on. */
  readonly packetsEach: number;
  /** From the connection to the end of the login, with the time that the check of the secret takes, in ms. */
  readonly connectMs: number;
}

export const readerLimits: ReaderLimits = {
  connectBytes: 4096,
  packetBytes: 64 * 1024 + 1024,
  packetsEach: 200,
  connectMs: 15_000,
};

/** What the readers of one server share. */
export interface ReaderHost {
  readonly clock: Clock;
  readonly limits: ReaderLimits;
  /** The connection is about to end for what the client sent, or did not send in time. */
  onFault(client: Client, reason: string): void;
  /** False when the next publish may be handed on. Else true, and `wake` is called when it is worth asking again. */
  holdFor?(wake: () => void): boolean;
  /** The client has acknowledged a QoS 1 message. */
  onPuback?(client: Client): void;
}

/** Takes publishes past aedes. */
export interface PublishLane {
  /**
   * @param packet one whole PUBLISH, well-formed.
   * @returns false when it is not for this lane: then aedes has it, as every other packet.
   */
  publish(packet: Uint8Array): boolean;
  /** The client has sent something of which aedes does not know. */
  heard(): void;
}

export interface Reader {
  /** Hands publishes of the connection to this lane first; once, at the login. */
  serve(lane: PublishLane): void;
  /** Hands on nothing more until `resume`; at once, also of what was read already. */
  pause(): void;
  resume(): void;
}

const nothing = (): void => undefined;

/** Ends the connection; with a return code, after a CONNACK that tells it (MQTT-3.1.4-5). */
function endFor(stream: Duplex, { returnCode }: Fault): void {
  if (returnCode === null) return void stream.destroy();
  stream.end(Uint8Array.from([0x20, 2, 0, returnCode]), () => void stream.destroy());
}

/**
 * One parser for all connections: it is given whole packets only, and so holds nothing between two of them. The one that
 * aedes makes for a connection has two streams in it, and would be a sixth of what an idle vehicle costs.
 */
const shared: { parser: PacketParser | null; packet: unknown; fault: unknown } = {
  parser: null,
  packet: null,
  fault: null,
};

/** Takes the parser out of a connection. Gives what aedes does with a packet. */
function unseat(
  client: Client,
  internals: Internals,
): { readonly seat: ParserSeat; readonly handle: Handle } {
  const parser = internals._parser as PacketParser;
  const [handle] = parser.listeners('packet') as Handle[];
  if (handle === undefined) throw new Error('this is not aedes 1.2');
  if (shared.parser === null) {
    parser.removeAllListeners();
    parser.client = null;
    parser.on('packet', (packet: unknown) => void (shared.packet = packet));
    parser.on('error', (fault: unknown) => void (shared.fault = fault));
    shared.parser = parser;
  }
  const seat: ParserSeat = { client, _queue: [], removeAllListeners: nothing };
  internals._parser = seat;
  return { seat, handle };
}

/** The packet in these bytes. @throws Error when it is none. */
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
  // What it may still hold is no part of the next packet.
  parser.error ??= new Error('not one whole packet');
  throw parser.error;
}

/** What may be handed on at the moment. */
type Phase = 'connect' | 'login' | 'open' | 'over';

/** A class for its memory alone, as the framer is. */
class ConnectionReader implements Reader {
  readonly #host: ReaderHost;
  readonly #seat: ParserSeat;
  readonly #handle: Handle;
  readonly #stream: Duplex;
  readonly #framer = createFramer();
  /** The same function each time: those that wait for room are told apart by it. */
  readonly pump: () => void;
  #phase: Phase = 'connect';
  #isPaused = false;
  #isFull = false;
  #isPumping = false;
  #atWork = 0;
  #lane: PublishLane | null = null;
  /** Something went into the lane since aedes was last told that the client is alive. */
  #isHeard = false;

  constructor(host: ReaderHost, { client, stream }: Connection) {
    this.#host = host;
    this.#stream = stream;
    const internals = client as unknown as Internals;
    const { seat, handle } = unseat(client, internals);
    this.#seat = seat;
    this.#handle = handle;
    this.pump = () => this.#run();
    const ownBatch = internals._nextBatch;
    internals._nextBatch = (error) => this.#done(error);
    // Only for the time of the login, in which nothing is handed on anyhow.
    internals.pause = nothing;
    internals.resume = nothing;
    stream.removeListener('readable', ownBatch);
    stream.on('readable', this.pump);
    this.#watchLogin(client);
  }

  serve(lane: PublishLane): void {
    this.#lane = lane;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#run();
  }

  /** Ends a connection whose login is not done in time. */
  #watchLogin(client: Client): void {
    const { clock, limits } = this.#host;
    const cancel = clock.after(limits.connectMs, () => {
      this.#host.onFault(client, 'the login took too long');
      this.#stream.destroy();
    });
    this.#stream.once('close', cancel);
    client.once('connected', () => {
      cancel();
      // Nothing of the login stays with the connection.
      this.#stream.removeListener('close', cancel);
      if (this.#phase === 'login') this.#phase = 'open';
      this.#run();
    });
  }

  #end(fault: Fault): void {
    this.#phase = 'over';
    this.#host.onFault(this.#seat.client, fault.reason);
    endFor(this.#stream, fault);
  }

  #done(error?: Error | null): void {
    this.#atWork -= 1;
    if (this.#atWork <= this.#host.limits.packetsEach / 2) this.#isFull = false;
    if (error) this.#seat.client.emit('error', error);
    else this.#run();
  }

  #handOn(type: number, bytes: Uint8Array): void {
    const { client } = this.#seat;
    if (this.#phase === 'connect') this.#phase = 'login';
    else if (type === packetTypes.publish && this.#lane?.publish(bytes) === true) {
      this.#isHeard = true;
      return;
    }
    if (type === packetTypes.puback) this.#host.onPuback?.(client);
    this.#atWork += 1;
    this.#isFull ||= this.#atWork >= this.#host.limits.packetsEach;
    (client as unknown as Internals)._parsingBatch = 0;
    try {
      this.#handle.call(this.#seat, parsePacket(bytes));
    } catch (thrown) {
      // An exception in a handler would end the process, and with it everybody else's connection.
      this.#end({ reason: `cannot be handled: ${messageOf(thrown)}`, returnCode: null });
    }
  }

  #mayHandOn(): boolean {
    return (
      (this.#phase === 'connect' || this.#phase === 'open') &&
      !this.#isPaused &&
      !this.#isFull &&
      !this.#stream.destroyed
    );
  }

  /** One packet, or the next read; false when there is nothing more for now. */
  #advance(): boolean {
    const { limits } = this.#host;
    // Nothing but a publish costs what is short: who has none shall not wait for those who have.
    const isPublish = this.#phase === 'open' && this.#framer.nextType() === packetTypes.publish;
    if (isPublish && this.#host.holdFor?.(this.pump) === true) return false;
    const cut = this.#framer.next(this.#phase === 'open' ? limits.packetBytes : limits.connectBytes);
    if (cut.kind === 'packet') this.#handOn(cut.type, cut.bytes);
    else if (cut.kind === 'fault') this.#end(cut.fault);
    else {
      const chunk = this.#stream.read() as Uint8Array | null;
      if (chunk === null) return false;
      this.#framer.push(chunk);
    }
    return true;
  }

  #run(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#mayHandOn() && this.#advance());
    this.#isPumping = false;
    if (!this.#isHeard) return;
    this.#isHeard = false;
    this.#lane?.heard();
  }
}

/** A connection that was just given to aedes. */
interface Connection {
  readonly client: Client;
  readonly stream: Duplex;
}

/** Takes over the reading of a connection. */
export function createReader(host: ReaderHost, connection: Connection): Reader {
  return new ConnectionReader(host, connection);
}
