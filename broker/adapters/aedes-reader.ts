// Reads a connection on behalf of aedes 1.2: only whole, well-formed packets reach it, never more at once than is allowed,
// and none but CONNECT before the login is done. aedes reads by itself otherwise: without a limit on size, and under
// back-pressure it may never read again. It leans on internals of aedes, all named in `Internals`; tests hold each of them.
import type { Duplex } from 'node:stream';
import type { AedesOptions, Client } from 'aedes';
import { messageOf } from '../../src/core/errors.ts';
import type { Clock } from '../../src/ports.ts';
import type { Fault } from '../core/mqtt-frame.ts';
import { packetTypes } from '../core/mqtt-frame.ts';
import { createFramer } from '../core/mqtt-framer.ts';

/** What we use of aedes that its types do not show. */
interface Internals {
  readonly _parser: { parse(bytes: Uint8Array): unknown };
  /** Packets of the present batch that are not done; a packet that makes it 1 is handled at once. */
  _parsingBatch: number;
  /** Called for each packet when it is done, and at first for each `readable`. */
  _nextBatch: (error?: Error | null) => void;
  pause(): void;
  resume(): void;
}

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

export interface ReaderOptions {
  readonly client: Client;
  readonly stream: Duplex;
  readonly clock: Clock;
  readonly limits: ReaderLimits;
  /** The connection is about to end for what the client sent, or did not send in time. */
  readonly onFault: (reason: string) => void;
  /** False when the next packet may be handed on. Else true, and `wake` is called when it is worth asking again. */
  readonly holdFor?: (wake: () => void) => boolean;
  /** The client has acknowledged a QoS 1 message. */
  readonly onPuback?: () => void;
}

export interface Reader {
  /** Hands on nothing more until `resume`; at once, also of what was read already. */
  pause(): void;
  resume(): void;
}

/** Ends the connection; with a return code, after a CONNACK that tells it (MQTT-3.1.4-5). */
function endFor(stream: Duplex, { returnCode }: Fault): void {
  if (returnCode === null) return void stream.destroy();
  stream.end(Uint8Array.from([0x20, 2, 0, returnCode]), () => void stream.destroy());
}

/** Ends a connection whose login is not done in time. */
function watchLogin({ client, stream, clock, limits, onFault }: ReaderOptions): void {
  const cancel = clock.after(limits.connectMs, () => {
    onFault('the login took too long');
    stream.destroy();
  });
  client.once('connected', cancel);
  stream.once('close', cancel);
}

/** What may be handed on now. */
interface Gauge {
  phase: 'connect' | 'login' | 'open' | 'over';
  isPaused: boolean;
  isFull: boolean;
  atWork: number;
}

/** Takes over the reading of a connection that was just given to aedes. */
export function createReader(options: ReaderOptions): Reader {
  const { client, stream, limits, onFault } = options;
  const internals = client as unknown as Internals;
  const framer = createFramer();
  const gauge: Gauge = { phase: 'connect', isPaused: false, isFull: false, atWork: 0 };
  let isPumping = false;

  const end = (fault: Fault): void => {
    gauge.phase = 'over';
    onFault(fault.reason);
    endFor(stream, fault);
  };
  const handOn = (type: number, bytes: Uint8Array): void => {
    if (gauge.phase === 'connect') gauge.phase = 'login';
    if (type === packetTypes.puback) options.onPuback?.();
    gauge.atWork += 1;
    gauge.isFull ||= gauge.atWork >= limits.packetsEach;
    internals._parsingBatch = 0;
    try {
      internals._parser.parse(bytes);
    } catch (thrown) {
      // An exception in a handler would end the process, and with it everybody else's connection.
      end({ reason: `cannot be handled: ${messageOf(thrown)}`, returnCode: null });
    }
  };
  const mayHandOn = (): boolean =>
    (gauge.phase === 'connect' || gauge.phase === 'open') &&
    !gauge.isPaused &&
    !gauge.isFull &&
    !stream.destroyed;
  /** One packet, or the next read; false when there is nothing more for now. */
  const advance = (): boolean => {
    if (gauge.phase === 'open' && options.holdFor?.(pump) === true) return false;
    const cut = framer.next(gauge.phase === 'open' ? limits.packetBytes : limits.connectBytes);
    if (cut.kind === 'packet') handOn(cut.type, cut.bytes);
    else if (cut.kind === 'fault') end(cut.fault);
    else {
      const chunk = stream.read() as Uint8Array | null;
      if (chunk === null) return false;
      framer.push(chunk);
    }
    return true;
  };
  const pump = (): void => {
    if (isPumping) return;
    isPumping = true;
    while (mayHandOn() && advance());
    isPumping = false;
  };

  const ownBatch = internals._nextBatch;
  internals._nextBatch = (error) => {
    gauge.atWork -= 1;
    if (gauge.atWork <= limits.packetsEach / 2) gauge.isFull = false;
    if (error) client.emit('error', error);
    else pump();
  };
  // Only for the time of the login, in which nothing is handed on anyhow.
  internals.pause = () => undefined;
  internals.resume = () => undefined;
  stream.removeListener('readable', ownBatch);
  stream.on('readable', pump);
  client.once('connected', () => {
    if (gauge.phase === 'login') gauge.phase = 'open';
    pump();
  });
  watchLogin(options);
  return {
    pause() {
      gauge.isPaused = true;
    },
    resume() {
      gauge.isPaused = false;
      pump();
    },
  };
}
