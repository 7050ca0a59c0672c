// Reads a connection on behalf of aedes 1.2: only complete, well-formed packets reach it, never more at once than is allowed, and only CONNECT before
// the login is done. Publishes of a vehicle on its own topics bypass aedes and go to its session. When aedes reads by itself it has no limit on size,
// and under back-pressure it may never read again. `aedes-internals.ts` lists what this needs of aedes beyond its types.
import type { Duplex } from 'node:stream';
import type { AedesOptions, Client } from 'aedes';
import { messageOf } from '../../../src/core/errors.ts';
import type { Clock } from '../../../src/ports.ts';
import type { Fault } from '../../core/mqtt/mqtt-frame.ts';
import { packetTypes } from '../../core/mqtt/mqtt-frame.ts';
import { createFramer } from '../../core/mqtt/mqtt-framer.ts';
import { handlePacket, type PacketInput, takeOverReading } from './aedes-internals.ts';

/** Options without which a single client stalls or ends the process. Every Aedes on a network needs them. */
export const safeAedesOptions = {
  // With any other value one frozen subscriber stalls all others, and its backlog ends the process when it leaves.
  concurrency: 0,
  /** A client that reads nothing for this long is dropped, ms. */
  drainTimeout: 10_000,
  /** Maximum time from the connection to the end of CONNECT, ms. */
  connectTimeout: 10_000,
} as const satisfies AedesOptions;

export interface ReaderLimits {
  /** Maximum size of a CONNECT, bytes: two names of 129, a secret, a will. */
  readonly connectBytes: number;
  /** Maximum size of any packet after it, bytes: a full payload, its topic and its header. */
  readonly packetBytes: number;
  /** Maximum number of packets of one connection, of any kind, at work in aedes. */
  readonly packetsEach: number;
  /** Maximum time from the connection to the end of the login, including the check of the secret, ms. */
  readonly connectMs: number;
}

export const readerLimits: ReaderLimits = {
  connectBytes: 4096,
  packetBytes: 64 * 1024 + 1024,
  packetsEach: 200,
  connectMs: 15_000,
};

/** Members shared by the readers of one server. */
export interface ReaderHost {
  readonly clock: Clock;
  readonly limits: ReaderLimits;
  /** The connection is about to end, because of what the client sent, or did not send in time. */
  onFault(client: Client, reason: string): void;
  /** False: the next publish may be passed on. True: it may not, and `wake` is called when there may be capacity. */
  holdFor?(wake: () => void): boolean;
  /** The client has acknowledged a QoS 1 message. */
  onPuback?(client: Client): void;
}

/** Receives publishes that bypass aedes. */
export interface PublishLane {
  /**
   * @param packet one complete, well-formed PUBLISH.
   * @returns false when it is not for this lane: aedes then gets it, like every other packet.
   */
  publish(packet: Uint8Array): boolean;
  /** The client has sent something that bypasses aedes. */
  onInput(): void;
}

export interface Reader {
  /** Passes publishes of the connection to this lane first; called once, at the login. */
  serve(lane: PublishLane): void;
  /** Passes on nothing more until `resume`, not even data that was already read. */
  pause(): void;
  resume(): void;
}

/** Ends the connection; with a return code, after a CONNACK that carries it (MQTT-3.1.4-5). */
function endFor(stream: Duplex, { returnCode }: Fault): void {
  if (returnCode === null) return void stream.destroy();
  stream.end(Uint8Array.from([0x20, 2, 0, returnCode]), () => void stream.destroy());
}

type Phase = 'connect' | 'login' | 'open' | 'over';

/** A class instead of closures, to save memory: one instance per connection. */
class ConnectionReader implements Reader {
  readonly #host: ReaderHost;
  readonly #client: Client;
  readonly #input: PacketInput;
  readonly #stream: Duplex;
  readonly #framer = createFramer();
  /** The same function each time: it is the key of a connection that waits for capacity. */
  readonly pump: () => void;
  #phase: Phase = 'connect';
  #isPaused = false;
  #isFull = false;
  #isPumping = false;
  #atWork = 0;
  #lane: PublishLane | null = null;
  /** The lane took a publish since the keep-alive timer was last refreshed. */
  #hasInput = false;

  constructor(host: ReaderHost, { client, stream }: Connection) {
    this.#host = host;
    this.#stream = stream;
    this.#client = client;
    this.pump = () => this.#run();
    this.#input = takeOverReading(client, stream, (error) => this.#done(error));
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

  /** Closes a connection whose login takes too long. */
  #watchLogin(client: Client): void {
    const { clock, limits } = this.#host;
    const cancel = clock.after(limits.connectMs, () => {
      this.#host.onFault(client, 'the login took too long');
      this.#stream.destroy();
    });
    this.#stream.once('close', cancel);
    client.once('connected', () => {
      cancel();
      // Removes everything of the login from the connection.
      this.#stream.removeListener('close', cancel);
      if (this.#phase === 'login') this.#phase = 'open';
      this.#run();
    });
  }

  #end(fault: Fault): void {
    this.#phase = 'over';
    this.#host.onFault(this.#client, fault.reason);
    endFor(this.#stream, fault);
  }

  #done(error?: Error | null): void {
    this.#atWork -= 1;
    if (this.#atWork <= this.#host.limits.packetsEach / 2) this.#isFull = false;
    if (error) this.#client.emit('error', error);
    else this.#run();
  }

  #handOn(type: number, bytes: Uint8Array): void {
    const client = this.#client;
    if (this.#phase === 'connect') this.#phase = 'login';
    else if (type === packetTypes.publish && this.#lane?.publish(bytes) === true) {
      this.#hasInput = true;
      return;
    }
    if (type === packetTypes.puback) this.#host.onPuback?.(client);
    this.#atWork += 1;
    this.#isFull ||= this.#atWork >= this.#host.limits.packetsEach;
    try {
      handlePacket(this.#input, bytes);
    } catch (thrown) {
      // An exception in a handler would end the process, and with it all connections.
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

  /** Handles one packet, or the next read; false: there is nothing more for now. */
  #advance(): boolean {
    const { limits } = this.#host;
    // Only publishes are limited: other packets must not wait for capacity.
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
    if (!this.#hasInput) return;
    this.#hasInput = false;
    this.#lane?.onInput();
  }
}

/** A connection that aedes has just received. */
interface Connection {
  readonly client: Client;
  readonly stream: Duplex;
}

export function createReader(host: ReaderHost, connection: Connection): Reader {
  return new ConnectionReader(host, connection);
}
